//! `mercer predict`: a model that predicts and rows in, classes or numbers out.

use clap::ArgMatches;
use faer::Mat;
use mercer::data::read::ReadOptions;
use mercer::data::{Table, write};
use mercer::map::Model;
use mercer::{Error, Labels, Result};

use super::output_target::OutputTarget;
use crate::args;
use crate::context::Context;

/// What the column of predictions is called where the model does not know the target's name.
const COLUMN: &str = "prediction";

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let (file, data) = (args::required(args, "model")?, args::required(args, "data")?);
    let keep = args::names(args, "keep");
    let target = OutputTarget::checked(args::text(args, "output").unwrap_or("-"), &[data, file])?;
    if let OutputTarget::File(output) = target {
        let bad_usage = |error: Error| Error::Argument(error.to_string());
        write::check_output(output).map_err(bad_usage)?;
    }
    super::one_from_input(file, data)?;
    let model = match super::load(file)?.0 {
        Model::Features(model) => model,
        Model::Columns(selected) => {
            return Err(Error::Argument(format!(
                "the model keeps columns by `{}` and predicts nothing\n\
                 hint: `mercer fit --method auto` makes a model that predicts; `mercer transform` writes the columns",
                selected.method
            )));
        }
    };
    let Some(predictor) = &model.predictor else {
        return Err(Error::Argument(format!(
            "the model makes features by `{}` and predicts nothing\n\
             hint: `mercer fit --method auto` makes a model that predicts; `mercer transform` writes features",
            model.method
        )));
    };
    let probabilities = args.get_flag("probabilities");
    if probabilities && predictor.classes.is_none() {
        return Err(Error::Argument(
            "--probabilities is given, but the model predicts numbers\nhint: leave it out".into(),
        ));
    }
    let device = args::device(args, context)?;
    let options = ReadOptions { keep, ..super::options_for(args, &model)? };
    let table = super::read_for_model(data, &options, context)?;
    let Table { rows, mut kept, .. } = table;
    let n = rows.n();
    let (predicted, shares) = context.work(|_| {
        let rows = rows.on(device)?;
        let shares = if probabilities { Some(predictor.probabilities(&rows)?) } else { None };
        Ok((predictor.predict(&rows)?, shares))
    })?;
    let (mut names, mut values) = (Vec::new(), Mat::zeros(n, 0));
    match predicted {
        Labels::Classes { codes, names } => {
            kept.push((COLUMN.into(), codes.into_iter().map(|code| names[code].clone()).collect()));
        }
        Labels::Numbers(numbers) => {
            names.push(COLUMN.to_string());
            values = Mat::from_fn(n, 1, |i, _| numbers[i]);
        }
        Labels::Several { values: numbers, count } => {
            names.extend((0..count).map(|j| format!("{COLUMN}{j}")));
            values = Mat::from_fn(n, count, |i, j| numbers[i * count + j]);
        }
    }
    if let (Some(shares), Some(classes)) = (shares, &predictor.classes) {
        names = classes.iter().map(|class| format!("p({class})")).collect();
        values = shares;
    }
    match target {
        OutputTarget::File(output) => {
            context.write(|| write::write_features(output, &names, values.as_ref(), &kept))?;
            context.info(&format!("wrote {output}: predictions for {n} rows"));
        }
        OutputTarget::Stdout => {
            write::write_csv(&mut std::io::stdout().lock(), &names, values.as_ref(), &kept)?;
        }
    }
    Ok(())
}
