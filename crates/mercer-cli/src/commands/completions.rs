//! `mercer completions`: completion scripts for shells.

use clap::ArgMatches;
use clap_complete::{Shell, generate};
use mercer::{Error, Result};

use crate::stdout::print_bytes;
use crate::usage;

pub(crate) fn run(args: &ArgMatches) -> Result<()> {
    let shell = *args
        .get_one::<Shell>("shell")
        .ok_or_else(|| Error::Argument("name a shell: bash, zsh, fish, powershell or elvish".into()))?;
    let mut script = Vec::new();
    generate(shell, &mut usage::for_completions(), "mercer", &mut script);
    print_bytes(&script)
}
