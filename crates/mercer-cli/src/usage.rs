//! The definition of the command line. The methods' parameters, their ranges and their help come from the library's
//! catalogue, which also checks their values, so that error texts are those of the library.

mod flags;

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use clap_complete::Shell;
use mercer::evaluate::{Evaluator, Measure};
use mercer::kernel::Gamma;
use mercer::methods::{self, Kind, MethodSpec, SharedParameter, Stage};

use crate::args::flag_name;
use flags::{
    checkpoint, data, device, format, list, memory, model, output, parameter, reading, report, seed, share,
    table_format, target, text, weights, words,
};

/// Parameters that `compare` has as lists or for all methods at once.
const COMPARE_LISTS: [&str; 3] = ["gamma", "n_features", "seed"];

const MAIN_EXAMPLES: &str = "\
Examples:
  mercer demo
  mercer advise train.csv --target class
  mercer compare train.csv --target class --report report.html
  mercer fit train.csv --target class --method takes -o model.mercer
  mercer transform model.mercer new.csv -o features.parquet
  mercer select train.csv --target class --method relieff --n-features 10 -o chosen.csv
  mercer fit train.csv --target class --method auto -o model.mercer
  mercer predict model.mercer new.csv -o predictions.csv
  mercer export model.mercer -o model.onnx
  mercer inspect model.mercer --importance train.csv

Results go to stdout, messages to stderr; the file name - stands for stdin or stdout.
Exit: 0 done, 1 failed, 2 bad usage, 130 interrupted.";

const FIT_EXAMPLES: &str = "\
Examples:
  mercer fit train.csv --target class --method auto -o model.mercer
  mercer fit train.csv --target class --method takes -o model.mercer
  mercer fit train.csv --target class --method eks --basis kobl --selector relieff --n-features 20 -o model.mercer
  mercer fit train.csv --target class --method klfe --basis kobl --n-components 10 -o model.mercer --report model.html
  mercer fit rows.parquet --method rpcholesky --n-components 200 --gamma median -o model.mercer
  mercer fit 'synth:ringnorm?n=2000&seed=1' --method csi --gamma loo -o model.mercer
  mercer fit rows.parquet --method kobl --n-components 2000 --checkpoint kept -o model.mercer";

const SELECT_EXAMPLES: &str = "\
Examples:
  mercer select train.csv --target class --method relieff --n-features 10
  mercer select train.csv --target class --method f --n-features 0.2 -o chosen.csv -m chosen.mercer
  mercer select train.csv --target price --method mi --n-features 5 --permutations 200 --resamples 50
  mercer transform chosen.mercer new.csv -o columns.csv";

const TRANSFORM_EXAMPLES: &str = "\
Examples:
  mercer transform model.mercer new.csv -o features.parquet
  mercer transform model.mercer new.csv --keep id,class | head";

const PREDICT_EXAMPLES: &str = "\
Examples:
  mercer predict model.mercer new.csv -o predictions.csv
  mercer predict model.mercer new.csv --probabilities --keep id | head";

const EXPORT_EXAMPLES: &str = "\
Examples:
  mercer export model.mercer -o model.onnx
  mercer export model.mercer --float32 -o model.onnx";

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
  mercer compare train.csv --target price --evaluators ridge --repeats 3 --format csv -o table.csv
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
        .after_help(MAIN_EXAMPLES)
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
            select(),
            transform(),
            predict(),
            export(),
            inspect(),
            compare(),
            advise(),
            methods(),
            demo(),
            completions(),
            man(),
        ])
}

/// The command line with the values that its flags take, for completions; otherwise the library checks them.
pub(crate) fn for_completions() -> Command {
    let words = |words: Vec<&'static str>| PossibleValuesParser::new(words);
    let fits: Vec<&str> = fits().map(|spec| spec.name).collect();
    let parameters = |mut command: Command, all: Vec<SharedParameter>| {
        for parameter in all {
            // Where a number is allowed it goes through as well: completions only propose.
            let choices = parameter.words;
            if choices.is_empty() {
                continue;
            }
            if command.get_arguments().any(|arg| arg.get_id() == parameter.name) {
                command = command.mut_arg(parameter.name, |arg| arg.value_parser(words(choices)));
            }
        }
        command
    };
    let (all, fitted) =
        (methods::all().map(|spec| spec.name).collect(), [fits.clone(), vec!["auto"]].concat());
    command()
        .mut_subcommand("fit", |fit| {
            parameters(fit, methods::parameters()).mut_arg("method", |arg| arg.value_parser(words(fitted)))
        })
        .mut_subcommand("select", |select| {
            let selectors = methods::column_selector_specs().map(|spec| spec.name).collect();
            parameters(select, methods::column_selector_parameters())
                .mut_arg("method", |arg| arg.value_parser(words(selectors)))
        })
        .mut_subcommand("compare", |compare| {
            let compared = [vec!["all"], fits].concat();
            parameters(compare, methods::parameters())
                .mut_arg("methods", |arg| arg.value_parser(words(compared)))
                .mut_arg("gammas", |arg| arg.value_parser(words(Gamma::RULES.to_vec())))
                .mut_arg("evaluators", |arg| arg.value_parser(words(Evaluator::NAMES.to_vec())))
        })
        .mut_subcommand("methods", |m| m.mut_arg("name", |arg| arg.value_parser(words(all))))
        .mut_subcommands(|command| {
            let has_device = command.get_arguments().any(|arg| arg.get_id() == "device");
            if !has_device {
                return command;
            }
            command.mut_arg("device", |arg| arg.value_parser(words(vec!["cpu", "cuda", "auto"])))
        })
}

/// Turns `--weighted true` into `--weighted=true`. The value of such a flag is optional, so the parser accepts it only after
/// `=`; otherwise a file name that follows would be taken for the value.
pub(crate) fn join_flag_values(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let flags: Vec<(String, &[&str])> = methods::parameters()
        .iter()
        .filter_map(|p| match p.parameter.kind {
            Kind::Flag => Some((format!("--{}", flag_name(p.name)), &[][..])),
            Kind::FlagOr(rules) => Some((format!("--{}", flag_name(p.name)), rules)),
            _ => None,
        })
        .collect();
    let is_value = |flag: &OsString, word: &OsString| {
        let values = flags.iter().find(|(name, _)| flag == &**name).map(|(_, rules)| rules);
        values.is_some_and(|rules| ["true", "false"].iter().chain(*rules).any(|value| word == value))
    };
    let mut join_flag_values: Vec<OsString> = Vec::new();
    for word in words {
        match join_flag_values.last_mut() {
            Some(last) if is_value(last, &word) => {
                last.push("=");
                last.push(word);
            }
            _ => join_flag_values.push(word),
        }
    }
    join_flag_values
}

/// The methods that a model can be fitted with.
pub(crate) fn fits() -> impl Iterator<Item = &'static MethodSpec> {
    methods::all().filter(|spec| spec.stage != Stage::Select)
}

fn fit() -> Command {
    let names: Vec<&str> = fits().map(|spec| spec.name).collect();
    Command::new("fit")
        .about("Learn a map from rows to features, and store it")
        .after_help(FIT_EXAMPLES)
        .arg(data())
        .arg(target())
        .arg(Arg::new("method").long("method").value_name("NAME").required(true).help(format!(
            "One of {}, see `mercer methods`; or auto: a model that predicts, for `mercer predict`",
            names.join(", ")
        )))
        .arg(output("model.mercer", "File for the model; - for standard output").required(true))
        .arg(report("the fitted features"))
        .args(reading())
        .arg(memory("the fit"))
        .args(weights())
        .arg(device())
        .arg(checkpoint("the basis"))
        .args(methods::parameters().iter().map(parameter))
}

fn select() -> Command {
    let names: Vec<&str> = methods::column_selector_specs().map(|spec| spec.name).collect();
    let count = |name: &'static str, value: &'static str| {
        Arg::new(name).long(name).value_name(value).value_parser(value_parser!(u32))
    };
    let parameters = methods::column_selector_parameters();
    let own = parameters.iter().filter(|parameter| parameter.name != "seed");
    Command::new("select")
        .about("Score the columns of a file, and keep the best")
        .after_help(SELECT_EXAMPLES)
        .arg(data())
        .arg(target())
        .arg(
            Arg::new("method")
                .long("method")
                .value_name("NAME")
                .required(true)
                .help(format!("One of {}, see `mercer methods`", names.join(", "))),
        )
        .arg(output("FILE", "File for the table [default: standard output, also -]"))
        .arg(
            Arg::new("model")
                .long("model")
                .short('m')
                .value_name("chosen.mercer")
                .value_hint(ValueHint::FilePath)
                .help("File for a model with which `mercer transform` keeps these columns, unscaled; - for standard output"),
        )
        .arg(table_format())
        .arg(count("resamples", "R").default_value("10").help(
            "Random halves of the rows on which the selection is made again; the column `stability` is the share of them that \
             keep a column; 0: none",
        ))
        .arg(count("permutations", "N").default_value("0").help(
            "p-values by this many permutations of the labels; 0: the method's own, where it has them",
        ))
        .arg(list(
            "categorical-features",
            "Columns of numbers that are names of categories, which `mi` counts and the Relief family compares as equal or not",
        ))
        .arg(seed("0"))
        .args(reading())
        .mut_arg("scale", |scale| {
            scale.help("Scaling of the inputs before they are scored; the model keeps them unscaled [default: standard]")
        })
        .arg(memory("the rows"))
        .args(weights())
        .arg(device())
        .args(own.map(parameter))
}

fn compare() -> Command {
    let number = |name: &'static str, value: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).default_value(default).help(help)
    };
    let parameters = methods::parameters();
    let set = parameters.iter().filter(|parameter| !COMPARE_LISTS.contains(&parameter.name));
    Command::new("compare")
        .about("Compare the features of many methods by cross-validation")
        .after_help(COMPARE_EXAMPLES)
        .arg(data())
        .arg(target())
        .arg(words("methods", "methods", "NAME,…").help(
            "The methods; the baselines `raw`, `kknn`, `rbf-svm` and `dummy` are always added [default: all that can handle the target]",
        ))
        .arg(words("gammas", "gamma", "X|RULE,…").help(format!(
            "Values of the kernel's γ, or rules that choose it on each training part: a number > 0 | {} [default: loo]",
            Gamma::RULES.join(" | ")
        )))
        .arg(words("sizes", "n-features", "N,…").help(
            "Numbers of features; own: each method's own [default: own; with --report also a few numbers for its chart]",
        ))
        .arg(words("evaluators", "evaluators", "NAME,…").alias("judges").default_value("knn,ridge").help(format!(
            "Models that are fitted on the features: {}",
            Evaluator::NAMES.join(", ")
        )))
        .arg(
            Arg::new("score").long("score").value_name("NAME").help(format!(
                "What methods are compared by: {}; f1 is the mean over the classes (macro) [default: accuracy, balanced-accuracy where \
                 classes are uneven, r2]",
                Measure::ALL.map(Measure::name).join(", ")
            )),
        )
        .arg(
            number("knn", "K", "1", "Number of neighbours of the evaluator `knn`")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(number("folds", "K", "5", "Number of folds, each the test part once").value_parser(value_parser!(u32).range(2..)))
        .arg(
            number("repeats", "R", "1", "How many times the rows are split into folds")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(
            Arg::new("test-share")
                .long("test-share")
                .value_name("SHARE")
                .conflicts_with("folds")
                .value_parser(share)
                .help("Instead of folds: random splits with this share of the rows for testing, as many as --repeats"),
        )
        .arg(
            Arg::new("groups")
                .long("groups")
                .value_name("COL")
                .allow_negative_numbers(true)
                .conflicts_with("test-share")
                .help("Keep rows with the same value of this column together in a fold; it is not used as an input"),
        )
        .arg(
            Arg::new("ordered")
                .long("ordered")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["test-share", "groups", "repeats"])
                .help("The rows are in the order of time: each fold is tested by what was learned from the rows before it"),
        )
        .arg(seed("0"))
        .arg(table_format())
        .arg(output("FILE", "File for the table [default: standard output, also -]"))
        .arg(report("the comparison"))
        .args(reading())
        .arg(memory("the comparison"))
        .arg(device())
        .arg(checkpoint("finished results"))
        .args(set.map(parameter))
}

fn advise() -> Command {
    Command::new("advise")
        .about("Recommend whether to use a kernel, and which method, kernel width and basis size")
        .after_help(ADVISE_EXAMPLES)
        .arg(data())
        .arg(target())
        .arg(seed("0"))
        .arg(format())
        .arg(report("the advice"))
        // Refused with a hint: a misspelt flag would be suggested.
        .arg(Arg::new("groups").long("groups").value_name("COL").allow_negative_numbers(true).hide(true))
        .args(reading())
        .arg(memory("the search"))
        .arg(device())
        .arg(checkpoint("finished results"))
}

fn transform() -> Command {
    Command::new("transform")
        .about("Turn rows into features with a stored model")
        .after_help(TRANSFORM_EXAMPLES)
        .arg(model())
        .arg(data())
        .arg(output("FILE", "File for the features [default: CSV on standard output, also -]"))
        .arg(list("keep", "Columns of DATA to write before the features").allow_negative_numbers(true))
        .args(text())
        .arg(memory("the features"))
        .arg(device())
}

fn predict() -> Command {
    Command::new("predict")
        .about("Predict classes or numbers with a stored model")
        .after_help(PREDICT_EXAMPLES)
        .arg(
            model()
                .help("A model that `mercer fit --method auto` or `mercer.save` wrote; - for standard input"),
        )
        .arg(data())
        .arg(output("FILE", "File for the predictions [default: CSV on standard output, also -]"))
        .arg(
            Arg::new("probabilities")
                .long("probabilities")
                .action(ArgAction::SetTrue)
                .help("Write the probability of every class as well"),
        )
        .arg(list("keep", "Columns of DATA to write before the predictions").allow_negative_numbers(true))
        .args(text())
        .arg(memory("the predictions"))
        .arg(device())
}

fn export() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("export")
        .about("Write a stored model as an ONNX file, which runs without mercer")
        .after_help(EXPORT_EXAMPLES)
        .arg(model())
        .arg(output("model.onnx", "File for the graph; - for standard output").required(true))
        .arg(flag("float32", "Take and give float32 numbers [default: float64]"))
        .arg(flag("features", "Give features, also where the model predicts"))
        .arg(flag(
            "encoded",
            "Take the columns of a table that is encoded already, as `mercer inspect` lists them",
        ))
}

fn inspect() -> Command {
    Command::new("inspect")
        .about("Show what a model contains, and which inputs its features use")
        .after_help(INSPECT_EXAMPLES)
        .arg(model())
        .arg(
            Arg::new("importance")
                .long("importance")
                .value_name("DATA")
                .num_args(0..=1)
                .default_missing_value("")
                .help("How much the features, or the predictions of `auto`, depend on each input: mean squared derivatives with respect to the scaled inputs, over the rows of DATA; without DATA over the model's landmarks"),
        )
        .args(text())
        .arg(memory("`--importance`"))
        .arg(format())
}

fn methods() -> Command {
    Command::new("methods")
        .about("List the methods, or describe one")
        .after_help(METHODS_EXAMPLES)
        .arg(Arg::new("name").value_name("NAME").help("The method"))
        .arg(format().value_parser(PossibleValuesParser::new(["text", "json", "markdown"])))
}

fn demo() -> Command {
    Command::new("demo")
        .about("Compare every method on synthetic data, in less than a minute")
        .after_help("Example:\n  mercer demo --seed 7 --report demo.html")
        .arg(seed("0").help("Seed of the synthetic data"))
        .arg(
            report("the comparison")
                .help("Write the HTML report here; - for standard output [default: in the temporary folder]"),
        )
}

fn completions() -> Command {
    Command::new("completions")
        .about("Print the completion script of a shell")
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
        .about("Print or write the manual pages")
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
    fn the_command_line_for_completions_is_consistent() {
        for_completions().debug_assert();
    }

    #[test]
    fn a_flag_takes_the_true_or_false_behind_it_and_nothing_else() {
        let words = |text: &str| join_flag_values(text.split(' ').map(OsString::from)).join(" ".as_ref());
        assert_eq!(words("fit a.csv --weighted false -o m"), "fit a.csv --weighted=false -o m");
        assert_eq!(
            words("fit --weighted a.csv --center=true true"),
            "fit --weighted a.csv --center=true true"
        );
        assert_eq!(words("fit true --method takes"), "fit true --method takes");
        assert_eq!(words("fit --weighted sqrt --center sqrt"), "fit --weighted=sqrt --center sqrt");
    }
}
