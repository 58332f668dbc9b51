//! `mercer methods`: the catalogue.

use clap::ArgMatches;
use mercer::Result;
use mercer::methods::{self, Card, METHODS};
use serde_json::{Value, json};

use crate::args;
use crate::talk::{print, table};

pub(crate) fn run(args: &ArgMatches) -> Result<()> {
    let card = args::text(args, "name").map(methods::method).transpose()?;
    let text = match (card, args::is_json(args)) {
        (None, false) => list(),
        (None, true) => format!("{:#}\n", methods::to_json()),
        (Some(card), false) => describe(card)?,
        (Some(card), true) => format!("{:#}\n", one(card)),
    };
    print(&text)
}

fn list() -> String {
    let head = ["method", "stage", "what it does"].map(String::from).to_vec();
    let line = |card: &Card| [card.name, card.stage.name(), card.help].map(String::from).to_vec();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(METHODS.iter().map(line)).collect();
    format!("{}\n`mercer methods NAME` says all about one.\n", table(&lines, usize::MAX))
}

fn describe(card: &Card) -> Result<String> {
    let facts = [("stage", card.stage.name()), ("source", card.source), ("cost", card.cost)];
    let facts: Vec<Vec<String>> =
        facts.iter().map(|(k, v)| vec![format!("  {k}"), (*v).to_string()]).collect();
    let mut text = format!("{}: {}\n\n{}\nParameters:\n", card.name, card.help, table(&facts, usize::MAX));
    for name in card.parameters {
        let parameter = methods::parameter(name)?;
        let mut lines = vec![("what", parameter.help.to_string()), ("allowed", parameter.allowed())];
        lines.extend(parameter.default.map(|default| ("default", default.into())));
        lines.extend(parameter.none.map(|none| ("left out", none.into())));
        let lines: Vec<Vec<String>> = lines.into_iter().map(|(k, v)| vec![format!("      {k}"), v]).collect();
        text.extend(["  --", &args::flag_name(name), "\n", &table(&lines, usize::MAX)]);
    }
    Ok(text)
}

/// The part of the catalogue that is about one method: its card with its parameters in full.
fn one(card: &Card) -> Value {
    let all = methods::to_json();
    let among = |list: &str, name: &str| {
        let entries = all[list].as_array().into_iter().flatten();
        entries.clone().find(|entry| entry["name"] == json!(name)).cloned().unwrap_or_default()
    };
    let mut found = among("methods", card.name);
    found["parameters"] = card.parameters.iter().map(|name| among("parameters", name)).collect();
    found
}
