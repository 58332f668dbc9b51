//! `mercer methods`: the catalogue.

use clap::ArgMatches;
use mercer::data::table::nearest_name;
use mercer::methods::{self, MethodSpec, Stage};
use mercer::{Error, Result};
use serde_json::{Value, json};

use super::learn;
use crate::args;
use crate::stdout::print;
use crate::text::table;

pub(crate) fn run(args: &ArgMatches) -> Result<()> {
    let all = methods::to_json();
    if args::text(args, "name") == Some(learn::NAME) {
        return match args::text(args, "format") {
            None | Some("text") => print(&describe_auto()),
            Some(_) => Err(Error::Argument(format!(
                "`{}` is not in the catalogue, so it is described as text alone\nhint: leave `--format` out",
                learn::NAME
            ))),
        };
    }
    let spec = args::text(args, "name").map(named).transpose()?;
    let text = match (spec, args::text(args, "format")) {
        (None, Some("json")) => format!("{:#}\n", parsed(&all)),
        (Some(spec), Some("json")) => format!("{:#}\n", one(spec, &parsed(&all))),
        (None, Some("markdown")) => page(),
        (Some(_), Some("markdown")) => {
            return Err(Error::Argument("markdown is for the whole catalogue: leave the name out".into()));
        }
        (None, _) => list(),
        (Some(spec), _) => describe(spec),
    };
    print(&text)
}

/// A method of the catalogue, or one that selects columns of the data alone.
fn named(name: &str) -> Result<&'static MethodSpec> {
    if let Some(spec) = methods::column_selector_specs().find(|spec| spec.name == name) {
        return Ok(spec);
    }
    methods::method(name).map_err(|error| {
        let names = methods::all().chain(methods::column_selector_specs()).map(|spec| spec.name);
        match nearest_name(names.chain([learn::NAME]), name) {
            Some(nearest) => Error::Argument(format!("{error}\nhint: did you mean `{nearest}`?")),
            None => error,
        }
    })
}

/// What `auto` is, which is no method of the catalogue: it chooses among bases and kernels itself.
fn describe_auto() -> String {
    let parameters =
        learn::PARAMETERS.map(|(name, what)| vec![format!("  --{}", args::flag_name(name)), what.into()]);
    format!(
        "{}: a predictor without choices: kernel, width, size and penalty are those that predict left-out rows best\n\n\
         Parameters:\n{}\nOn the command line: `mercer fit --method {}`, then `mercer predict`.\n",
        learn::NAME,
        table(&parameters, ..0),
        learn::NAME
    )
}

/// Whether a method is for `mercer select` alone.
fn is_for_columns_alone(spec: &MethodSpec) -> bool {
    methods::method(spec.name).is_err()
}

/// The stages with their headings and the flags that choose their methods.
const STAGES: [(Stage, &str, &str); 4] = [
    (
        Stage::Basis,
        "Bases: coordinates of the kernel's space",
        "`--method NAME`, or `--basis NAME` for another method's basis",
    ),
    (
        Stage::Select,
        "Selectors: scores of columns",
        "`mercer select --method NAME` for columns, `mercer fit --method eks --selector NAME` for coordinates",
    ),
    (Stage::Extract, "Extractors: directions in a basis' coordinates", "`--method NAME`"),
    (Stage::System, "Systems: a basis and a selector", "`--method NAME`"),
];

fn of_stage(stage: Stage) -> impl Iterator<Item = &'static MethodSpec> {
    methods::all().filter(move |spec| spec.stage == stage)
}

/// The page docs/methods/README.md.
fn page() -> String {
    let mut lines = vec![
        "# Methods\n\nGenerated from the catalogue by `make gen`. The header of each file says what its method computes, what it \
         costs, when it stops and where it differs from its source; [sources](../sources.md) lists the papers."
            .to_string(),
    ];
    for (stage, heading, how) in STAGES {
        lines.push(format!("\n## {heading}\n\nOn the command line: {how}.\n"));
        lines.push("| method | what it does | source | cost | file |\n|---|---|---|---|---|".into());
        lines.extend(of_stage(stage).map(|MethodSpec { name, help, source, cost, file, .. }| {
            let page = page_of(name);
            format!("| [`{name}`]({page}) | {help} | {source} | {cost} | [{file}](../../crates/mercer/src/{file}) |")
        }));
    }
    lines.push(
        "\n## Parameters\n\nSystems and extractors also have the parameters of their basis, and `eks` those of its selector. A name that an extractor and its basis share is the extractor's; the size of its basis is `basis_components`.\n".into(),
    );
    lines.push("| name | methods | allowed | default | what |\n|---|---|---|---|---|".into());
    lines.extend(methods::parameters().iter().map(|parameter| {
        let default = parameter.default.map_or_else(
            || format!("none: {}", parameter.none.as_deref().unwrap_or_default()),
            |value| format!("`{value}`"),
        );
        let (users, allowed) = (users(parameter.name), parameter.allowed.replace('|', "\\|"));
        format!("| `{}` | {users} | {allowed} | {default} | {} |", parameter.name, parameter.help)
    }));
    lines.push("\nThe command line writes `-` for `_`; Python calls the seed `random_state`.\n".into());
    lines.join("\n")
}

/// The page of a method; the variants of the F-test share one.
fn page_of(name: &str) -> String {
    let page = match name {
        "fpr" | "fdr" | "fwe" => "f",
        "surf-star" | "multisurf-star" => "surf",
        own => own,
    };
    format!("{page}.md")
}

/// The methods that have a parameter; a stage of which all methods have it is named as a whole.
fn users(parameter: &str) -> String {
    let has = |spec: &&MethodSpec| spec.has(parameter);
    let words = [
        (Stage::Basis, "every basis"),
        (Stage::Select, "every selector"),
        (Stage::Extract, "every extractor"),
        (Stage::System, "every system"),
    ];
    let mut users = Vec::new();
    for (stage, every) in words {
        if of_stage(stage).all(|spec| has(&spec)) {
            users.push(every);
        } else {
            users.extend(of_stage(stage).filter(has).map(|spec| spec.name));
        }
    }
    users.join(", ")
}

fn list() -> String {
    let width = methods::all().map(|spec| spec.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (stage, heading, how) in STAGES {
        lines.push(format!("{heading} ({how})"));
        let line = |spec: &MethodSpec| format!("  {:width$}  {}", spec.name, spec.help);
        lines.extend(of_stage(stage).map(line));
        if stage == Stage::Select {
            lines
                .extend(methods::column_selector_specs().filter(|spec| is_for_columns_alone(spec)).map(line));
        }
        lines.push(String::new());
    }
    lines.push("`mercer methods NAME` describes one of them.\n".into());
    lines.join("\n")
}

fn describe(spec: &MethodSpec) -> String {
    let facts = [("stage", spec.stage.name()), ("source", spec.source), ("cost", spec.cost)];
    let facts: Vec<Vec<String>> =
        facts.iter().map(|(k, v)| vec![format!("  {k}"), (*v).to_string()]).collect();
    let mut text = format!("{}: {}\n\n{}\nParameters:\n", spec.name, spec.help, table(&facts, ..0));
    for parameter in spec.parameters {
        let mut lines = vec![("what", parameter.help.to_string()), ("allowed", parameter.allowed())];
        match parameter.default {
            Some(default) => lines.push(("default", default.into())),
            None => lines.extend(parameter.none.map(|none| ("left out", none.into()))),
        }
        let lines: Vec<Vec<String>> = lines.into_iter().map(|(k, v)| vec![format!("      {k}"), v]).collect();
        text.extend(["  --", &args::flag_name(parameter.name), "\n", &table(&lines, ..0)]);
    }
    text.push_str(match (spec.stage, spec.name) {
        (Stage::System, "eks") => {
            "\nand those of its basis and its selector: `mercer methods BASIS`, `mercer methods SELECTOR`.\n"
        }
        // `akda-qr` has a basis of its own, and the kernel's parameters among its own.
        (Stage::Basis, _) | (Stage::Extract, "akda-qr") => "",
        (Stage::System | Stage::Extract, _) => "\nand those of its basis: `mercer methods BASIS`.\n",
        (Stage::Select, name) if is_for_columns_alone(spec) => {
            return format!("{text}\nOn the command line: `mercer select --method {name}`.\n");
        }
        (Stage::Select, name) => {
            return format!(
                "{text}\nOn the command line: `mercer select --method {name}` for columns, \
                 `mercer fit --method eks --selector {name}` for coordinates.\n"
            );
        }
    });
    text
}

/// The catalogue's entry of one method, with its parameters in full.
fn one(spec: &MethodSpec, all: &Value) -> Value {
    let among = |list: &str, name: &str| {
        let entries = all[list].as_array().into_iter().flatten();
        entries.clone().find(|entry| entry["name"] == json!(name)).cloned().unwrap_or_default()
    };
    if is_for_columns_alone(spec) {
        let parameters: Vec<Value> = spec
            .parameters
            .iter()
            .map(|p| json!({ "name": p.name, "default": p.default, "none": p.none, "help": p.help }))
            .collect();
        return json!({ "name": spec.name, "stage": spec.stage.name(), "source": spec.source, "cost": spec.cost,
                       "file": spec.file, "help": spec.help, "parameters": parameters });
    }
    let mut found = among("methods", spec.name);
    found["parameters"] = spec.parameters.iter().map(|p| among("parameters", p.name)).collect();
    found
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
