//! Is it good? Measures, folds and evaluators against the slow references.
//!
//! kernels      measures of a kernel against labels
//! folds        who is for training, who for testing
//! evaluators   every evaluator against its reference
//! nasty        data that breaks careless code
//! refusals     what is refused, in words
//! compare      methods side by side
//! diagnostics  the numbers that describe a fitted map
//! truth        what is said of noise, of linear targets and of rows not seen
//! advise       what is recommended, on data whose answer is known

mod advise;
mod kernels;
mod folds;
mod evaluators;
mod nasty;
mod refusals;
pub(crate) mod compare;
mod diagnostics;
mod truth;

use mercer::evaluate::{Evaluation, Evaluator, Predictions};
use mercer::{Labels, Monitor, Rows};

/// Classes by their codes, all of 0..c named.
fn classes(codes: &[usize]) -> Labels {
    let c = codes.iter().max().map_or(0, |most| most + 1);
    Labels::Classes { codes: codes.to_vec(), names: (0..c).map(|code| code.to_string()).collect() }
}

fn evaluation(evaluator: &Evaluator, train: &Rows, labels: &Labels, test: &Rows) -> Evaluation {
    evaluator
        .predict(train, labels, test, 0, &Monitor::default())
        .unwrap_or_else(|e| panic!("{evaluator:?}: {e}"))
}

fn codes_of(predictions: &Predictions) -> &[usize] {
    let Predictions::Classes(codes) = predictions else { panic!("classes were to be predicted") };
    codes
}

fn numbers_of(predictions: &Predictions) -> &[f64] {
    let Predictions::Numbers(values) = predictions else { panic!("numbers were to be predicted") };
    values
}

/// Every evaluator by default, and with its settings given.
fn every_evaluator() -> Vec<Evaluator> {
    let mut all: Vec<Evaluator> =
        Evaluator::NAMES.iter().map(|name| Evaluator::named(name).expect("a name")).collect();
    all.extend([
        Evaluator::Knn { n_neighbors: 3 },
        Evaluator::LinearSvm { c: Some(1.0) },
        Evaluator::RbfSvm { c: Some(10.0), gamma: Some(0.5) },
    ]);
    all
}
