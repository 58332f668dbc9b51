//! `mercer demo`: every basis, every system and every extractor on made-up data, judged by the nearest neighbour.

use clap::ArgMatches;
use mercer::data::{Scale, Scaling, Task, synth};
use mercer::evaluate::knn::nearest_neighbour_error;
use mercer::{Basis, FeatureMap, Labels, Result, Rows, methods};

use crate::args;
use crate::context::Context;
use crate::talk::{percent, print, short, table};

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

/// Systems with the settings that differ from the defaults.
const SYSTEMS: [(&str, &[(&str, &str)]); 3] = [("takes", &[]), ("k-relief", &[]), ("sk-relief", &[])];

/// Extractors with the settings that differ from the defaults.
const EXTRACTORS: [(&str, &[(&str, &str)]); 8] = [
    ("klfe", &[("basis", "kobl"), ("n_components", "10")]),
    ("kanmm", &[("basis", "kobl"), ("n_components", "10")]),
    ("kmfa", &[("basis", "kobl"), ("n_components", "10")]),
    ("kpls", &[("basis", "kobl")]),
    ("gda", &[("basis", "kobl")]),
    ("koc", &[("basis", "kobl")]),
    ("skfe", &[]),
    ("akda-qr", &[]),
];

const WHAT_IT_SHOWS: &str = "
Two normals around nearly one centre, a wide and a narrow one: the nearest neighbour errs often, because rows of the wide
class lie far from everything, each other included.
  gram-schmidt keeps all that the kernel sees, and so every distance: it errs exactly as the columns do. So, nearly, does
  any basis with a small residual. Coordinates alone are no better than what they were made from.
  A smaller basis leaves something out, and what it leaves out is luck: rows drawn at random and principal components
  lose the wide class's far-off directions, which helps here; kobl takes just these rows first, which does not.
  The rest ask the labels. Systems keep some coordinates: k-relief and sk-relief the ten in which the nearest rows of the
  other class are farther away than those of the same class; takes weighs kobl's by how well they vote, keeps nearly all,
  and is only sometimes helped by it: try another --seed.
  Extractors mix directions out of all of kobl's coordinates: klfe, kanmm and kmfa by near rows of the same and of the
  other class; kpls, gda, koc and skfe by means and scatters, in two features or one. akda-qr needs no more of the kernel
  than its values with the two class means.";

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
        Ok(percent(error))
    };

    let heads = ["features", "number", "1-NN error", "residual", "kernel values"];
    let mut lines = vec![heads.map(String::from).to_vec()];
    lines.push(vec!["the columns".into(), train.p().to_string(), error(&train, &test)?]);
    let training_labels = labels.select(&(0..TRAINING).collect::<Vec<_>>());
    let judged = |name: String, map: &FeatureMap| {
        let [train, test] = [&train, &test].map(|rows| map.transform(rows));
        let [train, test] = [Rows::from_mat(train?.as_ref()), Rows::from_mat(test?.as_ref())];
        Ok(vec![name, map.n_features().to_string(), error(&train, &test)?])
    };
    let fit = |basis: Basis| {
        let basis = basis.monitor(&context.monitor);
        context.work(|_| basis.fit_supervised(&train, &training_labels))
    };
    let given = [("gamma", "0.05"), ("seed", seed)];
    for (name, own) in BASES {
        let fitted = fit(methods::basis(name, &[own, &given].concat())?)?;
        let more = [short(fitted.residual), fitted.n_kernel_evaluations.to_string()];
        lines.push([judged(name.into(), &FeatureMap::from(fitted))?, more.to_vec()].concat());
    }
    for (name, own) in SYSTEMS {
        let settings = [own, &given].concat();
        let basis = methods::system_basis(name, &settings, TRAINING, &mut Vec::new())?;
        let title = format!("{name} on {}", basis.method.name());
        let (system, basis) = (methods::system(name, &settings)?, fit(basis)?);
        let found = context.work(|m| system.clone().monitor(m).fit(&train, &training_labels, basis))?;
        lines.push(judged(title, &found.map)?);
    }
    for (name, own) in EXTRACTORS {
        let settings = [own, &given].concat();
        let extractor = methods::extractor(name, &settings)?;
        let basis = methods::extractor_basis(name, &settings, TRAINING, &mut Vec::new())?;
        let basis = extractor.basis(basis, &train, Some(&training_labels))?;
        let below = if basis.landmarks.is_some() { "class means" } else { basis.method.name() };
        let basis = fit(basis)?;
        let (map, _) = context.work(|monitor| extractor.fit(&train, &training_labels, basis, monitor))?;
        lines.push(judged(format!("{name} on {below}"), &map)?);
    }
    context.say(&format!(
        "ringnorm, seed {seed}: {TRAINING} training and {} test rows, standardised; rbf kernel, gamma = 0.05\n",
        ROWS - TRAINING
    ));
    print(&table(&lines, 1..))?;
    context.say(WHAT_IT_SHOWS);
    Ok(())
}
