//! One file per command: each reads its arguments, calls the library and reports the results.

pub(crate) mod fit;
mod learn;
pub(crate) mod select;
pub(crate) mod predict;
pub(crate) mod transform;
pub(crate) mod export;
pub(crate) mod inspect;
pub(crate) mod compare;
pub(crate) mod advise;
pub(crate) mod methods;
pub(crate) mod demo;
pub(crate) mod completions;
pub(crate) mod man;
mod output_target;
mod source;
mod page;
mod ranking;
mod column_table;

use std::fs;
use std::io::Read;

use clap::ArgMatches;
use mercer::data::Table;
use mercer::data::read::{self, EncodeMode, MOST_COLUMNS, ReadOptions};
use mercer::data::table::nearest_name;
use mercer::map::Model;
use mercer::methods::{self as catalogue, Stage};
use mercer::{Error, FeatureMap, Result};

use crate::context::Context;
use crate::text::first;
use crate::{args, quote, usage};

/// The most columns that a note names.
const NAMES_SHOWN: usize = 5;

/// How rows for a model are read: its inputs by name, or by position where it has no names; encoded as its training rows were.
fn options_for(args: &ArgMatches, model: &FeatureMap) -> Result<ReadOptions> {
    if let Some(encoder) = &model.encoder {
        return Ok(ReadOptions {
            by_place: encoder.by_place,
            columns: Some(encoder.inputs()),
            encode: EncodeMode::Apply(encoder.clone()),
            ..args::text_options(args)
        });
    }
    options_for_inputs(args, model.input_names.clone(), model.expansion.landmarks.p())
}

/// How rows of these inputs are read: by name, or p of them by position.
fn options_for_inputs(args: &ArgMatches, inputs: Option<Vec<String>>, p: usize) -> Result<ReadOptions> {
    if p > MOST_COLUMNS {
        return Err(Error::Argument(format!(
            "the model has {p} input columns, but at most {MOST_COLUMNS} can be read from a file\n\
             hint: use it in Python, where sparse rows have up to 4294967296 columns"
        )));
    }
    Ok(ReadOptions {
        by_place: inputs.is_none(),
        // By position only their number counts.
        columns: Some(inputs.unwrap_or_else(|| vec![String::new(); p])),
        ..args::text_options(args)
    })
}

/// Reads rows for a model, and tells what the user should know of them.
fn read_for_model(data: &str, options: &ReadOptions, context: &Context) -> Result<Table> {
    let table = read::read(data, options)?;
    source::tell(&table, context);
    if let Some(columns) = options.columns.as_ref().filter(|_| !table.named && !options.by_place) {
        context.info(&format!(
            "{} has no column names: its first {} columns are taken by position, as {}",
            file_name(data),
            columns.len(),
            first(&columns.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(), NAMES_SHOWN)
        ));
    }
    Ok(table)
}

/// A model and its size in bytes, from a file or from standard input (`-`).
fn load(file: &str) -> Result<(Model, u64)> {
    let (bytes, name) = if file == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        (read.map(|_| bytes), "standard input")
    } else {
        (fs::read(file), file)
    };
    let bytes = bytes.map_err(|source| Error::Io { path: name.into(), source })?;
    Ok((Model::read_from(&bytes[..], name)?, bytes.len() as u64))
}

/// An error if both the model and the rows would be read from standard input.
fn one_from_input(model: &str, data: &str) -> Result<()> {
    if model == "-" && data == "-" {
        return Err(Error::Argument(
            "the model and the rows cannot both come from standard input\nhint: name a file for one of them"
                .into(),
        ));
    }
    Ok(())
}

/// The name of data in a model or a report, without folders.
fn file_name(source: &str) -> &str {
    if source == "-" { "standard input" } else { quote::name(source) }
}

/// An error unless this is a method that makes features. It names the flag, and the methods with the word that the flag takes, too.
fn check_makes_features(name: &str, flag: &str, other: &str) -> Result<()> {
    match catalogue::all().find(|spec| spec.name == name) {
        Some(spec) if spec.stage != Stage::Select => Ok(()),
        Some(_) => Err(Error::Argument(format!(
            "`{name}` is a selector: it scores columns, and needs a basis for coordinates in kernel space\n\
             hint: `{flag} eks --selector {name}`; `mercer select --method {name}` keeps columns of the data"
        ))),
        None => {
            let names: Vec<&str> = [other].into_iter().chain(usage::fits().map(|spec| spec.name)).collect();
            let nearest = nearest_name(names.iter().copied(), name);
            let hint =
                nearest.map(|nearest| format!("\nhint: did you mean `{nearest}`?")).unwrap_or_default();
            Err(Error::Argument(format!(
                "method = `{name}` is not known; use one of {}{hint}",
                names.join(", ")
            )))
        }
    }
}
