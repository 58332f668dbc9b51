//! `mercer transform`: a model and rows in, features out.

use clap::ArgMatches;
use faer::Mat;
use mercer::data::read::{self, ReadOptions};
use mercer::data::write;
use mercer::{FeatureMap, Result};

use crate::args;
use crate::context::Context;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let (file, source) = (args::required(args, "model")?, args::required(args, "data")?);
    let output = args::text(args, "output").filter(|output| *output != "-");
    let keep = args::names(args, "keep");
    if let Some(output) = output {
        write::check_output(output)?;
        write::check_kept(output, keep.len())?;
        super::not_itself(output, &[source, file])?;
    }
    let model = FeatureMap::load(file)?;
    let options = ReadOptions { keep, ..super::options_for(args, &model) };
    let table = read::read(source, &options)?;
    let mut features = Mat::zeros(table.rows.n(), model.n_features());
    context.work(|monitor| model.transform_into(&table.rows, features.as_mut(), monitor))?;
    let (names, kept) = (&model.feature_names, &table.kept);
    match output {
        Some(output) => {
            context.write(|| write::write_features(output, names, features.as_ref(), kept))?;
            context.say(&format!("wrote {output}: {} rows of {} features", table.rows.n(), names.len()));
        }
        None => write::write_csv(&mut std::io::stdout().lock(), names, features.as_ref(), kept)?,
    }
    Ok(())
}
