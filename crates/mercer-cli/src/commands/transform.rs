//! `mercer transform`: a model and rows in, features out.

use clap::ArgMatches;
use mercer::data::read::{self, ReadOptions};
use mercer::data::write;
use mercer::{Error, Result};

use super::output_target::OutputTarget;
use super::source;
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
    let (model, _) = super::load(file)?;
    let options = ReadOptions { keep, ..super::options_for(args, &model) };
    let table = read::read(data, &options)?;
    source::tell(&table, context);
    let memory = args::memory(args) / 2;
    let features = context.work(|monitor| model.transform_within(&table.rows, memory, monitor))?;
    let (names, kept) = (&model.feature_names, &table.kept);
    match target {
        OutputTarget::File(output) => {
            context.write(|| write::write_features(output, names, features.view(), kept))?;
            context.info(&format!("wrote {output}: {} rows of {} features", table.rows.n(), names.len()));
        }
        OutputTarget::Stdout => {
            write::write_csv(&mut std::io::stdout().lock(), names, features.view(), kept)?;
        }
    }
    Ok(())
}
