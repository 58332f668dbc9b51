//! A weight for every input column, so that the kernel sees what matters: k(θ∗u, θ∗v).
//!
//!   f = ridge on the kernel's coordinates;  θ_j ← √mean_i (∂f(x_i)/∂x_j)², summed over the classes;  again with the new θ
//!   more columns than rows, first round:  θ_j ← √max(F_j − 1, 0)
//!
//! A round is one pass of that. γ is searched anew in every round, and folds decide how many rounds are used: 0 leaves all columns
//! as they are, and after a round that does not make the error smaller no other is tried. Weights are the mean of the folds' and
//! have a mean square of 1. Among more columns than rows slopes are mostly those of columns that fit by chance, so that the first
//! weights there are of each column alone, by the F-test: 1 is what F is on average where a column says nothing, and F − 1
//! estimates how much of its variance is due to the labels. These are learned from all rows in the end, because a part of so few
//! is much less.
//!
//! cost    3·(rounds + 1) bases of 200 on at most 2 000 rows, and their slopes, n·p·m·c flops a round; one search of γ by
//!         leave-one-out a round, three where there are few rows, all but the first among the neighbours of the width before
//! source  Radhakrishnan et al. 2024 (recursive feature machines, the diagonal); SKFE, sec. 3 (kernel parameters as a
//!         choice of features)
//! differs left-out error is that of rows which neither θ nor the ridge has seen: leave-one-out given θ is too kind, as θ
//!         was learned from the row that is left out

mod selector;

pub(crate) use selector::SPEC;

use super::{Columns, FTest};
use crate::basis::expansion::Expansion;
use crate::basis::loo::{Looked, best_place};
use crate::basis::predict::ridge_on;
use crate::basis::{Basis, Threshold};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};
use crate::kernel::gamma::grid;
use crate::kernel::{Kernel, Shape};
use crate::monitor::Monitor;
use crate::options::Options;
use crate::options::{DEFAULT_MEMORY, bytes};
use crate::random;
use crate::size::matrix_bytes;

/// Numbers that are kept of every column at least: slopes of a panel of rows, and weights of every round.
const NUMBERS_PER_COLUMN: usize = 100;

/// Rows looked at.
const ROWS: usize = 2_000;

/// Components of the bases.
const COMPONENTS: usize = 200;

/// Rows whose slopes are averaged.
const SLOPE_ROWS: usize = 1_000;

/// Parts of the rows that are left out in turn.
const FOLDS: usize = 3;

/// The mean left-out error must fall to this share for another round to be used, and to this share of the error of the mean.
const CLEARLY: f64 = 0.98;

/// Parts with so many rows agree on the width: the first one alone looks for it.
const AGREE: usize = 1_000;

/// Weights below this share of the largest are as good as 0; they stay above 0 so that the scaling can be undone.
const LEAST: f64 = 1e-9;

/// How weights of the input columns are found.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, select::input_weights::InputWeights, data::synth};
///
/// // The first of ten columns is a sine's argument, the others are noise.
/// let table = synth::generate("friedman?n=300&seed=1")?;
/// let labels = Labels::Numbers(table.rows.to_dense().chunks(10).map(|x| (6.0 * x[0]).sin()).collect());
/// let found = InputWeights::default().find(&table.rows, &labels, &Monitor::default())?;
/// assert!(found.weights[1..].iter().all(|w| *w < 0.3 * found.weights[0]));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputWeights {
    /// The kernel's formula.
    pub shape: Shape,
    /// The most rounds.
    pub rounds: usize,
    /// Seed of the sample and of the folds.
    pub seed: u64,
}

impl Default for InputWeights {
    fn default() -> Self {
        Self { shape: Shape::Rbf, rounds: 3, seed: 0 }
    }
}

/// Weights of the input columns.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundWeights {
    /// θ, one a column, with a mean square of 1.
    pub weights: Vec<f64>,
    /// Rounds that were used; 0: weights do not help, and all are 1.
    pub rounds: usize,
    /// Squared error of rows left out, relative to that of their mean, without weights and after every round tried.
    pub errors: Vec<f64>,
    /// The width that was found with these weights.
    pub gamma: f64,
    /// The rows that were looked at, in parts, with weights that have not seen the part, after as many rounds as are used; empty
    /// where no rounds were tried.
    pub held_out: Vec<HeldOut>,
}

/// Rows that were held out.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// Their places.
    pub rows: Vec<usize>,
    /// Weights that were learned from the other rows that were looked at.
    pub weights: Vec<f64>,
}

/// How rows that were held out fare after some rounds.
#[derive(Clone, Default)]
struct Tried {
    /// Their squared error, relative to that of the mean.
    error: f64,
    /// In how many parts they vary, and so have such an error.
    parts: u32,
    held_out: Vec<HeldOut>,
    /// The place of γ among the widths, in the last part.
    width: Option<usize>,
}

impl Tried {
    /// How those held out of one part of all the rows fare.
    fn add(&mut self, round: &Round, part: &Part, all: Looked) -> Result<()> {
        let (rows, labels) = (all.rows.select(&part.held_out), all.labels.select(&part.held_out));
        let counts = all.weights.map(|counts| counts.select(&part.held_out));
        let predicted =
            round.expansion.transform(&Scaling::of_factors(round.weights.clone()).apply(&rows)?)?;
        let means = part.labels.target_means(part.counts.as_ref());
        let (mut error, mut spread) = (0.0, 0.0);
        for (j, mean) in means.iter().enumerate() {
            for i in 0..rows.n() {
                let (target, count) = (labels.target(i, j), weight(counts.as_ref(), i));
                error += count * (target - predicted[(i, j)]).powi(2);
                spread += count * (target - mean).powi(2);
            }
        }
        if spread > 0.0 {
            self.error += error / spread;
            self.parts += 1;
        }
        self.held_out.push(HeldOut { rows: part.held_out.clone(), weights: round.weights.clone() });
        Ok(())
    }
}

/// Rows that are held out, and the others, with their labels and what each counts.
struct Part {
    held_out: Vec<usize>,
    rows: Rows<'static>,
    labels: Labels,
    counts: Option<Weights>,
}

impl Part {
    fn looked(&self) -> Looked<'_> {
        Looked { rows: &self.rows, labels: &self.labels, weights: self.counts.as_ref() }
    }
}

/// Which of the widths are tried, by their places.
#[derive(Clone, Copy)]
enum Width {
    /// This one alone.
    At(usize),
    /// Those about this one, while the error falls.
    Near(usize),
    /// All.
    Any,
}

/// Where the weights of the first round come from.
#[derive(Clone, Copy, PartialEq)]
enum First {
    /// The F-test of every column alone.
    Test,
    /// Slopes of predictions from all columns.
    Slopes,
}

impl First {
    fn of(rows: &Rows) -> Self {
        if rows.p() > rows.n() { Self::Test } else { Self::Slopes }
    }
}

/// The weights with which a round begins, and what ridge predicts with them.
struct Round {
    weights: Vec<f64>,
    /// The place of γ among the widths.
    width: usize,
    expansion: Expansion,
}

impl InputWeights {
    /// Weights for these rows, of which a sample is looked at if there are many.
    pub fn find(&self, rows: &Rows, labels: &Labels, monitor: &Monitor) -> Result<FoundWeights> {
        self.find_by(rows, labels, None, monitor)
    }

    /// [`find`](Self::find) by what each row counts.
    pub fn find_by(
        &self,
        rows: &Rows,
        labels: &Labels,
        counts: Option<&Weights>,
        monitor: &Monitor,
    ) -> Result<FoundWeights> {
        self.check(rows, labels)?;
        if let Some(present) = counts.and_then(Weights::present) {
            let counts = counts.map(|counts| counts.select(&present));
            let (rows, labels) = (rows.select(&present), labels.select(&present));
            let mut found = self.find_by(&rows, &labels, counts.as_ref(), monitor)?;
            found.renumber(&present);
            return Ok(found);
        }
        // Several targets in their standard deviations, so that slopes and errors of all count the same.
        let labels = &labels.standardised(counts).0;
        let chosen = self.places(rows.n());
        let (rows, labels) = (rows.to_f64().select(&chosen), labels.select(&chosen));
        let counts = counts.map(|counts| counts.select(&chosen));
        labels.require_two("input_weights")?;
        let looked = Looked { rows: &rows, labels: &labels, weights: counts.as_ref() };
        let mut tried = self.held_out(looked, monitor)?;
        let used = fewest_rounds(&tried);
        let errors = tried.iter().map(|round| round.error).collect();
        let Tried { held_out, width, .. } =
            if tried.is_empty() { Tried::default() } else { tried.swap_remove(used) };
        let first = First::of(&rows);
        let weights = if used > 0 && first == First::Test {
            self.rounds_of(looked, first, used, width, monitor)?.pop().map(|round| round.weights)
        } else {
            None
        };
        let weights = weights.unwrap_or_else(|| mean_weights(&held_out, rows.p()));
        let weighted = Scaling::of_factors(weights.clone()).apply(&rows)?;
        let width = width.map_or(Width::Any, Width::Near);
        let gamma = self.best_width(Looked { rows: &weighted, ..looked }, width, monitor)?.1;
        let mut found = FoundWeights { weights, rounds: used, errors, gamma, held_out };
        found.renumber(&chosen);
        Ok(found)
    }

    /// Weights after so many rounds, for these rows; all 1 where their labels are all the same.
    pub(crate) fn after(
        &self,
        rounds: usize,
        rows: &Rows,
        labels: &Labels,
        counts: Option<&Weights>,
        monitor: &Monitor,
    ) -> Result<Vec<f64>> {
        let chosen = self.places(rows.n());
        let (rows, labels) = (rows.select(&chosen), labels.select(&chosen));
        if labels.require_two("input_weights").is_err() {
            return Ok(vec![1.0; rows.p()]);
        }
        let counts = counts.map(|counts| counts.select(&chosen));
        let looked = Looked { rows: &rows, labels: &labels, weights: counts.as_ref() };
        let first = First::of(looked.rows);
        let last = self.rounds_of(looked, first, rounds, None, monitor)?.pop();
        Ok(last.map_or_else(|| vec![1.0; rows.p()], |round| round.weights))
    }

    /// The rows of n that are looked at.
    pub(crate) fn places(&self, n: usize) -> Vec<usize> {
        random::sample(n, ROWS, self.seed)
    }

    fn check(&self, rows: &Rows, labels: &Labels) -> Result<()> {
        if self.shape == Shape::Precomputed {
            return Err(Error::argument(
                "input weights multiply columns, which a precomputed kernel does not know\n\
                 hint: give rows and a kernel such as `rbf`",
            ));
        }
        if matches!(self.shape, Shape::Composite(_) | Shape::Own(_) | Shape::Match) {
            return Err(Error::argument(format!(
                "input weights are learned along the slopes of one kernel of all columns, not of `{}`\n\
                 hint: leave input_weights out, or use a kernel such as `rbf`",
                self.shape.name()
            )));
        }
        if rows.n() != labels.len() {
            return Err(Error::data(format!("{} rows, but {} labels", rows.n(), labels.len())));
        }
        if rows.n() < 2 * FOLDS || rows.p() == 0 {
            return Err(Error::data(format!(
                "the data has {} rows and {} columns; input weights need at least {} rows and 1 column",
                rows.n(),
                rows.p(),
                2 * FOLDS
            )));
        }
        let needed = matrix_bytes(NUMBERS_PER_COLUMN, rows.p());
        if needed > DEFAULT_MEMORY {
            return Err(Error::Memory(format!(
                "weights of {} columns need {}, but the budget is {}\n\
                 hint: leave input_weights out, or leave out columns that no row has",
                rows.p(),
                bytes(needed),
                bytes(DEFAULT_MEMORY)
            )));
        }
        rows.check_finite(None)?;
        labels.require_two("input_weights")
    }

    /// How rows that were held out fare after 0, 1, … rounds: another one is tried while their error falls.
    fn held_out(&self, looked: Looked, monitor: &Monitor) -> Result<Vec<Tried>> {
        let p = looked.rows.p();
        if self.rounds == 0 || p == 1 {
            return Ok(Vec::new());
        }
        let first = First::of(looked.rows);
        let parts: Vec<Part> = (0..FOLDS).map(|fold| self.part(looked, fold)).collect();
        // From labels that are all the same nothing can be learned.
        if parts.iter().any(|part| part.labels.require_two("input_weights").is_err()) {
            return Ok(Vec::new());
        }
        let mut weights = vec![vec![1.0; p]; FOLDS];
        let mut tried: Vec<Tried> = Vec::with_capacity(self.rounds + 1);
        loop {
            let mut one = Tried::default();
            let mut rounds = Vec::with_capacity(FOLDS);
            for (part, weights) in parts.iter().zip(weights) {
                let width = match one.width.or(tried.last().and_then(|last| last.width)) {
                    Some(found) if one.width.is_some() && part.rows.n() >= AGREE => Width::At(found),
                    known => known.map_or(Width::Any, Width::Near),
                };
                let round = self.round(part.looked(), weights, width, monitor)?;
                one.width = Some(round.width);
                one.add(&round, part, looked)?;
                rounds.push(round);
            }
            if one.parts == 0 {
                return Ok(tried);
            }
            one.error /= f64::from(one.parts);
            let falls = tried.last().is_none_or(|last| one.error < last.error);
            tried.push(one);
            if !falls || tried.len() > self.rounds {
                return Ok(tried);
            }
            let next = rounds.iter().zip(&parts).map(|(round, part)| {
                let is_first = tried.len() == 1;
                self.next(part.looked(), round, is_first.then_some(first), monitor)
            });
            // A round that not all parts reach is none.
            match next.collect::<Result<Option<Vec<_>>>>()? {
                Some(next) => weights = next,
                None => return Ok(tried),
            }
        }
    }

    /// One of the parts of the rows.
    fn part(&self, Looked { rows, labels, weights }: Looked, fold: usize) -> Part {
        let order = random::permutation(rows.n(), self.seed);
        let of = |inside: bool| -> Vec<usize> {
            let order = order.iter().enumerate();
            let mut part: Vec<usize> =
                order.filter(|(at, _)| (at % FOLDS == fold) == inside).map(|(_, &i)| i).collect();
            part.sort_unstable();
            part
        };
        let others = of(false);
        Part {
            held_out: of(true),
            rows: rows.select(&others),
            labels: labels.select(&others),
            counts: weights.map(|weights| weights.select(&others)),
        }
    }

    /// Round 0, with all weights 1, and those after it. Widths are tried near `width`, and then near that of the round before;
    /// None: all in round 0.
    fn rounds_of(
        &self,
        looked: Looked,
        first: First,
        rounds: usize,
        width: Option<usize>,
        monitor: &Monitor,
    ) -> Result<Vec<Round>> {
        let mut weights = vec![1.0; looked.rows.p()];
        let mut width = width.map_or(Width::Any, Width::Near);
        let mut found: Vec<Round> = Vec::with_capacity(rounds + 1);
        loop {
            let round = self.round(looked, weights, width, monitor)?;
            width = Width::Near(round.width);
            let next = if found.len() == rounds {
                None
            } else {
                self.next(looked, &round, found.is_empty().then_some(first), monitor)?
            };
            found.push(round);
            match next {
                Some(next) => weights = next,
                None => return Ok(found),
            }
        }
    }

    /// What ridge predicts with such weights.
    fn round(&self, looked: Looked, weights: Vec<f64>, width: Width, monitor: &Monitor) -> Result<Round> {
        let weighted = Scaling::of_factors(weights.clone()).apply(looked.rows)?;
        let (place, gamma) = self.best_width(Looked { rows: &weighted, ..looked }, width, monitor)?;
        let settings = Basis::kobl(Kernel { shape: self.shape, gamma })
            .n_components(COMPONENTS.min(weighted.n()))
            .threshold(Threshold::Constant(0.0));
        let options = Options::watched(monitor).with_coordinates();
        let (basis, z) = settings.fit_with(&weighted, None, &options)?;
        let z = z.ok_or_else(|| Error::Numerical("a basis gave no coordinates".into()))?;
        let ridge = ridge_on(&basis.expansion, &z, looked.labels, looked.weights, None, monitor)?;
        Ok(Round { weights, width: place, expansion: ridge.expansion })
    }

    /// The weights after a round; None where nothing can be learned.
    fn next(
        &self,
        looked: Looked,
        round: &Round,
        first: Option<First>,
        monitor: &Monitor,
    ) -> Result<Option<Vec<f64>>> {
        if first == Some(First::Test) {
            return tested_weights(looked, monitor);
        }
        let seen = looked.rows.select(&random::sample(looked.rows.n(), SLOPE_ROWS, self.seed));
        let seen = Scaling::of_factors(round.weights.clone()).apply(&seen)?;
        next_weights(&round.weights, &round.expansion, &seen, monitor)
    }

    /// The best width of rows whose columns are weighted, and its place.
    fn best_width(&self, looked: Looked, width: Width, monitor: &Monitor) -> Result<(usize, f64)> {
        let widths = if self.shape.uses_gamma() { grid(self.shape, looked.rows)? } else { vec![1.0] };
        monitor.begin("looking at the columns", 0);
        let place = match width {
            Width::At(place) => place.min(widths.len() - 1),
            Width::Near(place) => looked.best_near(place, self.shape, &widths, COMPONENTS, monitor)?.0,
            Width::Any => {
                let tried = looked.widths_tried(self.shape, &widths, COMPONENTS, monitor)?;
                best_place(&tried).map_or(0, |(place, _)| place)
            }
        };
        Ok((place, widths[place]))
    }
}

impl FoundWeights {
    /// Makes all weights 1, because they are of no use.
    pub(crate) fn leave_out(&mut self) {
        self.weights.fill(1.0);
        self.rounds = 0;
    }

    /// Makes all differences smaller: [`halfway`].
    pub(crate) fn go_halfway(&mut self) {
        self.weights = halfway(&self.weights);
        self.held_out.iter_mut().for_each(|part| part.weights = halfway(&part.weights));
    }

    /// Rows by their places in a larger set.
    fn renumber(&mut self, places: &[usize]) {
        for part in &mut self.held_out {
            part.rows.iter_mut().for_each(|row| *row = places[*row]);
        }
    }
}

/// The root of the mean square of what was learned without each part: it varies less from sample to sample than weights that are
/// learned once from all rows, and its mean square is 1 as well. All 1 where nothing was learned.
fn mean_weights(parts: &[HeldOut], p: usize) -> Vec<f64> {
    if parts.is_empty() {
        return vec![1.0; p];
    }
    let square = |j: usize| parts.iter().map(|part| part.weights[j].powi(2)).sum::<f64>();
    (0..p).map(|j| (square(j) / parts.len() as f64).sqrt()).collect()
}

/// θ of every column alone; None where no column goes with the labels, or there are too few rows for a test.
fn tested_weights(looked: Looked, monitor: &Monitor) -> Result<Option<Vec<f64>>> {
    let Looked { rows, labels, weights } = looked;
    let classes = match labels {
        Labels::Classes { names, .. } => names.len(),
        Labels::Numbers(_) | Labels::Several { .. } => 2,
    };
    if total(weights, rows.n()) <= classes as f64 {
        return Ok(None);
    }
    let columns = Columns { weights, ..Columns::new(rows, labels, monitor) };
    let scores = FTest::default().score(&columns)?.scores;
    // A column that leaves nothing is taken to leave about 1/n of its variance.
    let most = (rows.n() * rows.n()) as f64;
    Ok(relative(scores.into_iter().map(|f| (f.min(most) - 1.0).max(0.0).sqrt()).collect()))
}

/// θ after a round; None where the predictions do not depend on the columns.
fn next_weights(
    weights: &[f64],
    expansion: &Expansion,
    rows: &Rows,
    monitor: &Monitor,
) -> Result<Option<Vec<f64>>> {
    let slopes = expansion.input_importance(rows, monitor)?;
    // Slopes are along the weighted columns, so that the weight comes in once more.
    Ok(relative((0..weights.len()).map(|j| weights[j] * slopes.col(j).iter().sum::<f64>().sqrt()).collect()))
}

/// Weights with a mean square of 1, none of which is 0; None where all are.
fn relative(mut weights: Vec<f64>) -> Option<Vec<f64>> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    weights.iter_mut().for_each(|w| *w = (*w / largest).max(LEAST));
    Some(normalised(weights))
}

/// Weights between these and all alike: their roots, with a mean square of 1.
pub(crate) fn halfway(weights: &[f64]) -> Vec<f64> {
    normalised(weights.iter().map(|w| w.sqrt()).collect())
}

/// Weights with a mean square of 1.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let square = weights.iter().map(|w| w * w).sum::<f64>() / weights.len() as f64;
    weights.iter_mut().for_each(|w| *w /= square.sqrt());
    weights
}

/// The rounds to use: another one only where the error falls clearly, and below that of the mean.
fn fewest_rounds(tried: &[Tried]) -> usize {
    let mut used = 0;
    for round in 1..tried.len() {
        if tried[round].error < CLEARLY * tried[used].error.min(1.0) {
            used = round;
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Σ (a − ā)(b − b̄).
    fn product(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| (x - mean(a)) * (y - mean(b))).sum()
    }

    /// F of one column, written from its definition.
    fn f_of(x: &[f64], labels: &Labels) -> f64 {
        let n = x.len() as f64;
        match labels {
            Labels::Classes { codes, names } => {
                let c = names.len() as f64;
                let of = |g: usize| -> Vec<f64> {
                    x.iter().zip(codes).filter(|(_, code)| **code == g).map(|(v, _)| *v).collect()
                };
                let within: f64 = (0..names.len()).map(|g| product(&of(g), &of(g))).sum();
                (product(x, x) - within) / (c - 1.0) / (within / (n - c))
            }
            Labels::Numbers(y) => {
                let explained = product(x, y).powi(2) / (product(x, x) * product(y, y));
                explained / (1.0 - explained) * (n - 2.0)
            }
            Labels::Several { .. } => unreachable!("one target"),
        }
    }

    /// 40 rows of 60 columns, the first four of which make the target, as numbers and as three classes.
    fn wide() -> (Rows<'static>, [Labels; 2]) {
        let rows = synth::generate("friedman?n=40&p=60&seed=4").expect("rows").rows;
        let numbers: Vec<f64> =
            rows.to_dense().chunks(60).map(|x| 3.0 * x[0] - 2.0 * x[1] + x[2] - x[3]).collect();
        let classes: Vec<&str> = numbers
            .iter()
            .map(|v| if *v < -0.5 { "low" } else { ["mid", "high"][usize::from(*v > 1.0)] })
            .collect();
        let classes = Labels::classes(&classes);
        (rows, [Labels::Numbers(numbers), classes])
    }

    #[test]
    fn among_more_columns_than_rows_the_first_weights_are_by_the_f_test() {
        let (rows, targets) = wide();
        let values = rows.to_dense();
        for labels in targets {
            let found = InputWeights::default().after(1, &rows, &labels, None, &Monitor::default());
            let found = found.expect("weights");
            let column = |j: usize| -> Vec<f64> { values.chunks(60).map(|x| x[j]).collect() };
            let expected: Vec<f64> =
                (0..60).map(|j| (f_of(&column(j), &labels) - 1.0).max(0.0).sqrt()).collect();
            assert!(expected.contains(&0.0) && expected[0] > 1.0);
            let root = (expected.iter().map(|w| w * w).sum::<f64>() / 60.0).sqrt();
            for (j, (found, expected)) in found.iter().zip(&expected).enumerate() {
                // Weights stay above 0.
                assert!((found - expected / root).abs() < 1e-7, "column {j}");
            }
        }
    }

    #[test]
    fn as_many_rows_as_columns_are_enough_for_slopes() {
        let (rows, [labels, _]) = wide();
        let narrow: Vec<f64> = rows.to_dense().chunks(60).flat_map(|x| x[..40].to_vec()).collect();
        let narrow = Rows::dense(narrow, 40, 40).expect("rows");
        assert!(First::of(&rows) == First::Test && First::of(&narrow) == First::Slopes);
        let found = InputWeights::default().after(1, &narrow, &labels, None, &Monitor::default());
        let test =
            tested_weights(Looked { rows: &narrow, labels: &labels, weights: None }, &Monitor::default());
        let apart =
            found.expect("weights").into_iter().zip(test.expect("weights").expect("columns that matter"));
        assert!(apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) > 0.1);
    }

    #[test]
    fn a_column_that_separates_all_rows_leaves_others_some_weight() {
        let codes: Vec<String> = (0..12).map(|i| (i % 2).to_string()).collect();
        let labels = Labels::classes(&codes);
        let wave = |at: usize| ((at * at) as f64 * 0.37).sin();
        let value = |i: usize, j: usize| match j {
            0 => (i % 2) as f64,
            1 => (i % 2) as f64 + 0.6 * wave(i),
            _ => wave(31 * i + j),
        };
        let values: Vec<f64> = (0..12 * 20).map(|at| value(at / 20, at % 20)).collect();
        let rows = Rows::dense(values, 12, 20).expect("rows");
        let weights = InputWeights::default().after(1, &rows, &labels, None, &Monitor::default());
        let weights = weights.expect("weights");
        assert!(weights.iter().all(|w| w.is_finite()) && weights[0] > weights[1] && weights[1] > 0.3);
    }

    #[test]
    fn too_few_rows_for_a_test_are_not_weighted() {
        let labels = Labels::classes(&["a", "b", "c"]);
        let rows = Rows::dense((0..15).map(f64::from).collect::<Vec<_>>(), 3, 5).expect("rows");
        let weights = InputWeights::default().after(2, &rows, &labels, None, &Monitor::default());
        assert_eq!(weights.expect("weights"), [1.0; 5]);
    }
}
