//! `mercer methods`: the catalogue.

use clap::ArgMatches;
use mercer::methods::{self, Card, METHODS, PARAMETERS};
use mercer::{Error, Result};
use serde_json::{Value, json};

use crate::args;
use crate::talk::{print, table};

pub(crate) fn run(args: &ArgMatches) -> Result<()> {
    let card = args::text(args, "name").map(methods::method).transpose()?;
    let text = match (card, args::text(args, "format")) {
        (None, Some("json")) => format!("{:#}\n", methods::to_json()),
        (Some(card), Some("json")) => format!("{:#}\n", one(card)),
        (None, Some("markdown")) => page(),
        (Some(_), Some("markdown")) => {
            return Err(Error::Argument("markdown is for the whole catalogue: leave the name out".into()));
        }
        (None, _) => list(),
        (Some(card), _) => describe(card)?,
    };
    print(&text)
}

/// The page docs/methods/README.md.
fn page() -> String {
    let mut text = String::from(
        "# Methods\n\nMade from the catalogue by `make gen`. Each file's head says what its method computes, what it costs, \
         when it stops and where it differs from its source.\n\n| method | stage | what it does | source | cost | file |\n\
         |---|---|---|---|---|---|\n",
    );
    for Card { name, stage, help, source, cost, .. } in METHODS {
        let (stage, file) = (stage.name(), name.replace('-', "_"));
        let line = format!(
            "| [`{name}`]({name}.md) | {stage} | {help} | {source} | {cost} | [{stage}/{file}.rs](../../crates/mercer/src/{stage}/{file}.rs) |\n"
        );
        text.push_str(&line);
    }
    text.push_str(
        "\n## Parameters\n\n| name | methods | allowed | default | what |\n|---|---|---|---|---|\n",
    );
    for parameter in PARAMETERS {
        let users: Vec<&str> = METHODS
            .iter()
            .filter(|card| card.parameters.contains(&parameter.name))
            .map(|card| card.name)
            .collect();
        let users = if users.len() == METHODS.len() { "all".to_string() } else { users.join(", ") };
        let default = parameter.default.map_or_else(
            || format!("none: {}", parameter.none.unwrap_or_default()),
            |value| format!("`{value}`"),
        );
        let allowed = parameter.allowed().replace('|', "\\|");
        let line =
            format!("| `{}` | {users} | {allowed} | {default} | {} |\n", parameter.name, parameter.help);
        text.push_str(&line);
    }
    text.push_str("\nThe command line writes `-` for `_`; Python calls the seed `random_state`.\n");
    text
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
