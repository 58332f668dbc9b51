//! `mercer transform`: a model and rows in, features or selected columns out.

use clap::ArgMatches;
use mercer::data::read::{EncodeMode, ReadOptions};
use mercer::data::{Table, write};
use mercer::map::Model;
use mercer::{Error, Result};

use super::output_target::OutputTarget;
use crate::args;
use crate::context::Context;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let (file, data) = (args::required(args, "model")?, args::required(args, "data")?);
    let keep = args::names(args, "keep");
    let target = OutputTarget::checked(args::text(args, "output").unwrap_or("-"), &[data, file])?;
    if let OutputTarget::File(output) = target {
        let bad_usage = |error: Error| Error::Argument(error.to_string());
        write::check_output(output)
            .and_then(|()| write::check_kept(output, keep.len()))
            .map_err(bad_usage)?;
    }
    super::one_from_input(file, data)?;
    let device = args::device(args, context)?;
    let (model, _) = super::load(file)?;
    // Of selected columns with names nothing else is read.
    let model = match model {
        Model::Columns(selected) if selected.columns.is_empty() => {
            return Err(Error::Argument("the model keeps no column, so there is nothing to write".into()));
        }
        Model::Columns(selected) if selected.input_names.is_some() => {
            Model::Columns(selected.of_kept_inputs())
        }
        other => other,
    };
    let options = match &model {
        Model::Features(map) => super::options_for(args, map),
        Model::Columns(selected) => {
            super::options_for_inputs(args, selected.input_names.clone(), selected.n_inputs)
                .map(|options| ReadOptions { encode: EncodeMode::Keep, ..options })
        }
    }?;
    let table = super::read_for_model(data, &ReadOptions { keep, ..options }, context)?;
    let memory = args::memory(args) / 2;
    let Table { rows, kept, .. } = table;
    let n = rows.n();
    let features = context.work(|monitor| match &model {
        Model::Features(map) => map.transform_within(&map.rows_on(rows, device)?, memory, monitor),
        Model::Columns(selected) => selected.transform_within(&rows, memory),
    })?;
    let (names, what) = match &model {
        Model::Features(map) => (map.feature_names.clone(), "features"),
        Model::Columns(selected) => (selected.feature_names(), "columns"),
    };
    let (names, kept) = (&names, &kept);
    match target {
        OutputTarget::File(output) => {
            context.write(|| write::write_features(output, names, features.view(), kept))?;
            context.info(&format!("wrote {output}: {} rows of {} {what}", n, names.len()));
        }
        OutputTarget::Stdout => {
            write::write_csv(&mut std::io::stdout().lock(), names, features.view(), kept)?;
        }
    }
    Ok(())
}
