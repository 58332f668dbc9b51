//! One file a command. Each reads its arguments, calls the library and says what came of it.

pub(crate) mod fit;
pub(crate) mod transform;
pub(crate) mod inspect;
pub(crate) mod methods;
pub(crate) mod demo;

use std::fs;
use std::path::Path;

use clap::ArgMatches;
use mercer::data::read::ReadOptions;
use mercer::data::table::plain_names;
use mercer::{Error, FeatureMap, Result};

use crate::args;

/// How rows for a model are read: its inputs by name, or by place where it has no names.
fn options_for(args: &ArgMatches, model: &FeatureMap) -> ReadOptions {
    let inputs = model.input_names.clone();
    ReadOptions {
        header: args::header_option(args),
        by_place: inputs.is_none(),
        columns: Some(inputs.unwrap_or_else(|| plain_names(model.expansion.landmarks.p()))),
        ..ReadOptions::default()
    }
}

/// An error if what is to be written is what is read: the rows would be gone.
fn not_itself(output: &str, inputs: &[&str]) -> Result<()> {
    let Ok(place) = fs::canonicalize(output) else { return Ok(()) };
    match inputs.iter().find(|input| fs::canonicalize(input).is_ok_and(|input| input == place)) {
        Some(input) => Err(Error::Argument(format!(
            "the output {output} would overwrite {input}, which is read\nhint: give it another name"
        ))),
        None => Ok(()),
    }
}

/// The name without its folder: a model is no place for the layout of a disk.
fn file_name(source: &str) -> &str {
    match source {
        "-" => "standard input",
        _ if source.starts_with("synth:") => source,
        _ => Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or(source),
    }
}
