//! What may be typed. The methods' parameters, their ranges and their help come from the library's catalogue, which also
//! checks their values: a wrong one gets the same words here as anywhere.

mod flags;

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use clap_complete::Shell;
use mercer::data::Task;
use mercer::evaluate::judge::Judge;
use mercer::kernel::Gamma;
use mercer::methods::{Card, Kind, METHODS, PARAMETERS, Stage};

use crate::args::flag_name;
use flags::{
    checkpoint, data, format, header, list, memory, model, output, parameter, reading, report, seed, share,
    target, words,
};

pub(crate) const TASKS: [(&str, Task); 3] =
    [("auto", Task::Auto), ("classes", Task::Classes), ("numbers", Task::Numbers)];

/// What `compare` varies or sets for all methods, in place of the parameters of these names.
const VARIED: [&str; 3] = ["gamma", "n_features", "seed"];

const EXAMPLES: &str = "\
Examples:
  mercer demo
  mercer advise train.csv --target class
  mercer compare train.csv --target class --report report.html
  mercer fit train.csv --target class --method takes -o model.mercer
  mercer transform model.mercer new.csv -o features.parquet
  mercer inspect model.mercer --importance train.csv

Standard output is data, standard error is talk; a file called - is one of the standard ones.
Exit: 0 done, 1 failed, 2 bad usage, 130 interrupted.";

const FIT_EXAMPLES: &str = "\
Examples:
  mercer fit train.csv --target class --method takes -o model.mercer
  mercer fit train.csv --target class --method eks --basis kobl --selector relieff --n-features 20 -o model.mercer
  mercer fit train.csv --target class --method klfe --basis kobl --n-components 10 -o model.mercer --report model.html
  mercer fit rows.parquet --method rpcholesky --n-components 200 --gamma median -o model.mercer
  mercer fit 'synth:ringnorm?n=2000&seed=1' --method csi --gamma loo -o model.mercer
  mercer fit rows.parquet --method kobl --n-components 2000 --checkpoint kept -o model.mercer";

const TRANSFORM_EXAMPLES: &str = "\
Examples:
  mercer transform model.mercer new.csv -o features.parquet
  mercer transform model.mercer new.csv --keep id,class | head";

const INSPECT_EXAMPLES: &str = "\
Examples:
  mercer inspect model.mercer
  mercer inspect model.mercer --importance train.csv
  mercer inspect model.mercer --importance train.csv --format json";

const METHODS_EXAMPLES: &str = "\
Examples:
  mercer methods
  mercer methods takes";

const COMPARE_EXAMPLES: &str = "\
Examples:
  mercer compare train.csv --target class --report report.html
  mercer compare train.csv --target class --methods klfe,gda,takes --gamma scale,loo --n-features own,5,10
  mercer compare train.csv --target price --judges ridge --repeats 3 --format csv -o table.csv
  mercer compare 'synth:ringnorm?n=1000&seed=1' --test-share 0.5 --repeats 4 --basis kobl";

const ADVISE_EXAMPLES: &str = "\
Examples:
  mercer advise train.csv --target class
  mercer advise train.csv --target class --report advice.html
  sh -c \"$(mercer advise train.csv --target class -q | tail -1)\"";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  mercer completions bash > ~/.local/share/bash-completion/completions/mercer
  mercer completions zsh > \"${fpath[1]}/_mercer\"
  mercer completions fish > ~/.config/fish/completions/mercer.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  mercer man compare | man -l -
  mercer man --dir ~/.local/share/man/man1";

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("mercer")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Feature selection and feature extraction in kernel space")
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("threads")
                .long("threads")
                .value_name("N")
                .env("MERCER_NUM_THREADS")
                .value_parser(value_parser!(u16).range(1..))
                .global(true)
                .help_heading("Options of every command")
                .help("Threads; the results do not depend on it"),
        )
        .arg(
            Arg::new("quiet")
                .long("quiet")
                .short('q')
                .action(ArgAction::SetTrue)
                .global(true)
                .help_heading("Options of every command")
                .help("Only warnings and errors on standard error"),
        )
        .subcommands([
            fit(),
            transform(),
            inspect(),
            compare(),
            advise(),
            methods(),
            demo(),
            completions(),
            man(),
        ])
}

/// The command line with the words that its flags take, which the library checks when they are typed: for completions.
pub(crate) fn with_words() -> Command {
    let words = |words: Vec<&'static str>| PossibleValuesParser::new(words);
    let fits: Vec<&str> = fits().map(|card| card.name).collect();
    let parameters = |mut command: Command| {
        for parameter in PARAMETERS {
            let choices = match parameter.kind {
                Kind::Choice(choices) => choices.to_vec(),
                // A number goes through as well: completions only propose.
                Kind::NumberOr(rules) => rules.to_vec(),
                Kind::Flag => vec!["true", "false"],
                _ => continue,
            };
            if command.get_arguments().any(|arg| arg.get_id() == parameter.name) {
                command = command.mut_arg(parameter.name, |arg| arg.value_parser(words(choices)));
            }
        }
        command
    };
    let (all, methods) = (METHODS.iter().map(|card| card.name).collect(), fits.clone());
    command()
        .mut_subcommand("fit", |fit| {
            parameters(fit).mut_arg("method", |arg| arg.value_parser(words(methods)))
        })
        .mut_subcommand("compare", |compare| {
            let compared = [vec!["all"], fits].concat();
            parameters(compare)
                .mut_arg("methods", |arg| arg.value_parser(words(compared)))
                .mut_arg("gammas", |arg| arg.value_parser(words(Gamma::RULES.to_vec())))
                .mut_arg("judges", |arg| arg.value_parser(words(Judge::NAMES.to_vec())))
        })
        .mut_subcommand("methods", |m| m.mut_arg("name", |arg| arg.value_parser(words(all))))
}

/// `--weighted true` as `--weighted=true`: the value of a flag that needs none is part of its word, or the file behind it
/// would be taken for one.
pub(crate) fn joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let flags = PARAMETERS.iter().filter(|p| matches!(p.kind, Kind::Flag));
    let flags: Vec<String> = flags.map(|p| format!("--{}", flag_name(p.name))).collect();
    let mut joined: Vec<OsString> = Vec::new();
    for word in words {
        match joined.last_mut() {
            Some(last) if (word == "true" || word == "false") && flags.iter().any(|f| *last == **f) => {
                last.push("=");
                last.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// The methods that a model can be fitted with.
fn fits() -> impl Iterator<Item = &'static Card> {
    METHODS.iter().filter(|card| card.stage != Stage::Select)
}

fn fit() -> Command {
    let names: Vec<&str> = fits().map(|card| card.name).collect();
    Command::new("fit")
        .about("Learn a map from rows to features, and store it")
        .after_help(FIT_EXAMPLES)
        .arg(data())
        .arg(target())
        .arg(
            Arg::new("method")
                .long("method")
                .value_name("NAME")
                .required(true)
                .help(format!("One of {}; see `mercer methods`", names.join(", "))),
        )
        .arg(output("model.mercer", "File for the model; - for standard output").required(true))
        .arg(report("what was fitted"))
        .args(reading())
        .arg(memory("the fit"))
        .arg(checkpoint("the basis"))
        .args(PARAMETERS.iter().map(parameter))
}

fn compare() -> Command {
    let number = |name: &'static str, value: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).default_value(default).help(help)
    };
    let set = PARAMETERS.iter().filter(|parameter| !VARIED.contains(&parameter.name));
    Command::new("compare")
        .about("Judge the features of many methods on rows that they were not fitted on")
        .after_help(COMPARE_EXAMPLES)
        .arg(data())
        .arg(target())
        .arg(words("methods", "methods", "NAME,…").help(
            "The methods; `raw`, `kknn` and `rbf-svm` are always beside them [default: all that can serve such a target]",
        ))
        .arg(words("gammas", "gamma", "X|RULE,…").help(format!(
            "Widths γ of the kernel, or rules that find one in every training part: a number > 0 | {} [default: scale]",
            Gamma::RULES.join(" | ")
        )))
        .arg(words("sizes", "n-features", "N,…").help(
            "Numbers of features; own: each method's own [default: own; with --report also a few sizes for its chart]",
        ))
        .arg(words("judges", "judges", "NAME,…").default_value("knn,ridge").help(format!(
            "Who predicts from the features: {}",
            Judge::NAMES.join(", ")
        )))
        .arg(
            number("knn", "K", "1", "Neighbours that the judge `knn` asks")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(number("folds", "K", "5", "Parts of the rows, each tested once").value_parser(value_parser!(u32).range(2..)))
        .arg(
            number("repeats", "R", "1", "How often the rows are cut into parts anew")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(
            Arg::new("test-share")
                .long("test-share")
                .value_name("SHARE")
                .conflicts_with("folds")
                .value_parser(share)
                .help("In place of folds: cut off this share of the rows for testing, as often as --repeats says"),
        )
        .arg(seed("0"))
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("HOW")
                .value_parser(PossibleValuesParser::new(["text", "json", "csv", "markdown"]))
                .help("Form of the table [default: text, or what the end of the output's name tells]"),
        )
        .arg(output("FILE", "File for the table; without it, or with -, standard output"))
        .arg(report("the comparison"))
        .args(reading())
        .arg(memory("the comparison"))
        .arg(checkpoint("what was compared"))
        .args(set.map(parameter))
}

fn advise() -> Command {
    Command::new("advise")
        .about("Say whether a kernel helps, and which method, width and size to start with")
        .after_help(ADVISE_EXAMPLES)
        .arg(data())
        .arg(target())
        .arg(seed("0"))
        .arg(format())
        .arg(report("the advice"))
        .args(reading())
        .arg(memory("the work"))
        .arg(checkpoint("what was found"))
}

fn transform() -> Command {
    Command::new("transform")
        .about("Turn rows into features with a stored model")
        .after_help(TRANSFORM_EXAMPLES)
        .arg(model())
        .arg(data())
        .arg(output("FILE", "File for the features; without it, or with -, CSV on standard output"))
        .arg(list("keep", "Columns of DATA to be written beside the features").allow_negative_numbers(true))
        .args(header())
        .arg(memory("the features"))
}

fn inspect() -> Command {
    Command::new("inspect")
        .about("Say what is in a model, and which inputs its features use")
        .after_help(INSPECT_EXAMPLES)
        .arg(model())
        .arg(
            Arg::new("importance")
                .long("importance")
                .value_name("DATA")
                .num_args(0..=1)
                .default_missing_value("")
                .help("How much the features depend on each input: mean squared slopes over the rows of DATA, as the kernel sees the inputs; without DATA over the model's own landmarks"),
        )
        .args(header())
        .arg(memory("`--importance`"))
        .arg(format())
}

fn methods() -> Command {
    Command::new("methods")
        .about("List the methods, or say all about one")
        .after_help(METHODS_EXAMPLES)
        .arg(Arg::new("name").value_name("NAME").help("The method"))
        .arg(format().value_parser(PossibleValuesParser::new(["text", "json", "markdown"])))
}

fn demo() -> Command {
    Command::new("demo")
        .about("See every method at work on made-up data, in less than a minute")
        .after_help("Example:\n  mercer demo --seed 7 --report demo.html")
        .arg(seed("0").help("Another seed makes other data"))
        .arg(
            report("what is seen")
                .help("Write the page here; - for standard output [default: into the temporary folder]"),
        )
}

fn completions() -> Command {
    Command::new("completions")
        .about("Write what a shell needs to complete commands")
        .after_help(COMPLETIONS_EXAMPLES)
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(Shell))
                .help("The shell"),
        )
}

fn man() -> Command {
    Command::new("man")
        .about("Write the manual pages")
        .after_help(MAN_EXAMPLES)
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .help("The command [default: the page of mercer itself]"),
        )
        .arg(
            Arg::new("dir")
                .long("dir")
                .value_name("DIR")
                .conflicts_with("command")
                .value_hint(ValueHint::DirPath)
                .help("Write all pages into this folder"),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn the_command_line_with_words_is_consistent() {
        with_words().debug_assert();
    }

    #[test]
    fn a_flag_takes_the_true_or_false_behind_it_and_nothing_else() {
        let words = |text: &str| joined(text.split(' ').map(OsString::from)).join(" ".as_ref());
        assert_eq!(words("fit a.csv --weighted false -o m"), "fit a.csv --weighted=false -o m");
        assert_eq!(
            words("fit --weighted a.csv --center=true true"),
            "fit --weighted a.csv --center=true true"
        );
        assert_eq!(words("fit true --method takes"), "fit true --method takes");
    }
}
