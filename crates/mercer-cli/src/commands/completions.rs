//! `mercer completions`: what a shell needs to complete commands.

use clap::ArgMatches;
use clap_complete::{Shell, generate};
use mercer::{Error, Result};

use crate::talk::print_bytes;
use crate::usage;

pub(crate) fn run(args: &ArgMatches) -> Result<()> {
    let shell = *args
        .get_one::<Shell>("shell")
        .ok_or_else(|| Error::Argument("name a shell: bash, zsh, fish, powershell or elvish".into()))?;
    let mut script = Vec::new();
    generate(shell, &mut usage::with_words(), "mercer", &mut script);
    print_bytes(&script)
}
