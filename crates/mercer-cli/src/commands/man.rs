//! `mercer man`: manual pages, generated from the same list of flags as the help.

use std::path::Path;

use clap::{ArgMatches, Command};
use clap_mangen::Man;
use mercer::data::write::write_text;
use mercer::{Error, Result};

use crate::args;
use crate::context::Context;
use crate::stdout::print;
use crate::text::plural;
use crate::usage;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let pages = pages()?;
    if let Some(folder) = args::text(args, "dir") {
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::Argument(format!("the folder `{folder}` cannot be made: {error}")))?;
        for (name, page) in &pages {
            let file = Path::new(folder).join(format!("{name}.1"));
            context.write(|| write_text(&file.display().to_string(), page))?;
        }
        context.info(&format!("wrote {} to {folder}", plural(pages.len(), "page")));
        return Ok(());
    }
    let wanted = args::text(args, "command").map_or("mercer".into(), |command| format!("mercer-{command}"));
    if let Some((_, page)) = pages.iter().find(|(name, _)| *name == wanted) {
        return print(page);
    }
    let names: Vec<&str> = pages.iter().filter_map(|(name, _)| name.strip_prefix("mercer-")).collect();
    let given = args::text(args, "command").unwrap_or_default();
    Err(Error::Argument(format!("there is no command `{given}`; use one of {}", names.join(", "))))
}

/// The page of the program and that of every command, with their names.
fn pages() -> Result<Vec<(String, String)>> {
    let mut whole = usage::command().disable_help_subcommand(true);
    whole.build();
    let mut pages = vec![("mercer".to_string(), page(&whole, "mercer")?)];
    for command in whole.get_subcommands() {
        let name = format!("mercer-{}", command.get_name());
        pages.push((name.clone(), page(command, &name)?));
    }
    Ok(pages)
}

fn page(command: &Command, name: &str) -> Result<String> {
    let mut roff = Vec::new();
    // No date, so that the same version generates the same page.
    Man::new(command.clone().name(name.to_string()))
        .title(name.to_uppercase())
        .source(concat!("mercer ", env!("CARGO_PKG_VERSION")))
        .manual("mercer")
        .render(&mut roff)
        .map_err(|source| Error::Io { path: format!("the page {name}"), source })?;
    Ok(String::from_utf8_lossy(&roff).into_owned())
}
