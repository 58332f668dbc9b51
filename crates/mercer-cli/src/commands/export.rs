//! `mercer export`: a model in, an ONNX file out.

use std::io::{Write, stdout};

use clap::ArgMatches;
use mercer::basis::Precision;
use mercer::map::Model;
use mercer::onnx::{self, Export};
use mercer::options::bytes;
use mercer::{Error, Result};

use super::output_target::OutputTarget;
use crate::args;
use crate::context::Context;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let file = args::required(args, "model")?;
    let target = OutputTarget::checked(args::required(args, "output")?, &[file])?;
    target.check_not_a_terminal()?;
    let precision = if args.get_flag("float32") { Precision::Single } else { Precision::Double };
    let (features, encoded) = (args.get_flag("features"), args.get_flag("encoded"));
    let (model, _) = super::load(file)?;
    let export = Export { precision, features, encoded, ..Export::default() };
    let made = export.model(&model)?;
    match target {
        OutputTarget::File(path) => context.write(|| onnx::save(&made, path))?,
        OutputTarget::Stdout => {
            let mut out = stdout().lock();
            let written = out.write_all(&made).and_then(|()| out.flush());
            written.map_err(|source| Error::Io { path: "standard output".into(), source })?;
        }
    }
    let outputs = match &model {
        Model::Features(map) if map.predictor.is_some() && !features => {
            let classes = map.predictor.as_ref().is_some_and(|predictor| predictor.classes.is_some());
            if classes { "label and probabilities" } else { "a number" }.to_string()
        }
        Model::Features(map) => format!("{} features", map.n_features()),
        Model::Columns(selected) => format!("{} columns", selected.n_features()),
    };
    context.info(&format!("wrote {}: {outputs}, {}", target.name(), bytes(made.len() as u64)));
    Ok(())
}
