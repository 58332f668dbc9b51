//! `mercer demo`: every basis, and one extractor on top, on made-up data, judged by the nearest neighbour.

use clap::ArgMatches;
use mercer::data::{Scale, Scaling, Task, synth};
use mercer::evaluate::knn::nearest_neighbour_error;
use mercer::{Klfe, Labels, Result, Rows, methods};

use crate::args;
use crate::context::Context;
use crate::talk::{print, short, table};

/// Rows made, and how many of them are for training.
const ROWS: usize = 1000;
const TRAINING: usize = 400;

/// Each basis with the settings that differ from the defaults.
const BASES: [(&str, &[(&str, &str)]); 7] = [
    ("gram-schmidt", &[]),
    ("kobl", &[]),
    ("sparse", &[]),
    ("rpcholesky", &[("n_components", "100")]),
    ("nystrom", &[("n_components", "100")]),
    ("csi", &[("n_components", "100")]),
    ("kpca", &[("n_components", "10"), ("center", "true")]),
];

const WHAT_IT_SHOWS: &str = "
Two normals around nearly one centre, a wide and a narrow one: the nearest neighbour errs often, because rows of the wide
class lie far from everything, each other included.
  gram-schmidt keeps all that the kernel sees, and so every distance: it errs exactly as the columns do. So, nearly, does
  any basis with a small residual. Coordinates alone are no better than what they were made from.
  A smaller basis leaves something out, and what it leaves out is luck: rows drawn at random and principal components
  lose the wide class's far-off directions, which helps here; kobl takes just these rows first, which does not.
  klfe asks the labels which mixtures of kobl's coordinates separate the classes, and needs ten.";

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let seed = args::required(args, "seed")?;
    let made = synth::generate(&format!("ringnorm?n={ROWS}&seed={seed}"))?;
    let labels = Labels::decide(made.target.expect("ringnorm has classes"), Task::Classes)?;
    let (codes, _) = labels.require_classes("demo")?;
    let [train, test] = [made.rows.slice(0..TRAINING), made.rows.slice(TRAINING..ROWS)];
    let scaling = Scaling::fit(Scale::Standard, &train).0.expect("the standard scaling is one");
    let [train, test] = [scaling.apply(&train)?, scaling.apply(&test)?];
    let error = |train: &Rows, test: &Rows| {
        let error = nearest_neighbour_error(train, &codes[..TRAINING], test, &codes[TRAINING..])?;
        Ok(format!("{:.1} %", 100.0 * error))
    };

    let heads = ["features", "number", "1-NN error", "residual", "kernel values"];
    let mut lines = vec![heads.map(String::from).to_vec()];
    lines.push(vec!["the columns".into(), train.p().to_string(), error(&train, &test)?]);
    let training_labels = labels.select(&(0..TRAINING).collect::<Vec<_>>());
    let mut last = None;
    for (name, own) in BASES {
        let given = [("gamma", "0.05"), ("seed", seed)];
        let mut basis = methods::basis(name, &[own, &given].concat())?;
        basis.monitor = context.monitor.clone();
        let (fitted, _) = context.work(|_| basis.fit_with(&train, Some(&training_labels), false))?;
        let features = |rows: &Rows| Ok(Rows::from_mat(fitted.expansion.transform(rows)?.as_ref()));
        lines.push(vec![
            name.into(),
            fitted.n_components().to_string(),
            error(&features(&train)?, &features(&test)?)?,
            short(fitted.residual),
            fitted.n_kernel_evaluations.to_string(),
        ]);
        if name == "kobl" {
            let extractor = Klfe { n_components: Some(10), n_neighbors: 1 };
            let map = context.work(|_| extractor.fit(&train, &training_labels, fitted.clone()))?;
            let features = |rows: &Rows| Ok(Rows::from_mat(map.transform(rows)?.as_ref()));
            let error = error(&features(&train)?, &features(&test)?)?;
            last = Some(vec!["klfe on kobl".into(), map.n_features().to_string(), error]);
        }
    }
    lines.extend(last);
    context.say(&format!(
        "ringnorm, seed {seed}: {TRAINING} training and {} test rows, standardised; rbf kernel, gamma = 0.05\n",
        ROWS - TRAINING
    ));
    print(&table(&lines, 1..))?;
    context.say(WHAT_IT_SHOWS);
    Ok(())
}
