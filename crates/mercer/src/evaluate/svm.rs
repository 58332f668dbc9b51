//! Support vector machine with the rbf kernel: one-vs-one classification, or ε-insensitive regression.
//!
//! Classes: one machine for each pair of classes, each with one vote; of tied classes the first wins. Numbers: regression on
//! the standardised target, ε = 0.1.
//!
//! cost    one problem of `smo.rs` per pair of classes; choosing C takes 3 folds × 3 values, each warm-started
//!         from the one before; 512 MB of cached kernel values for all problems that are solved at the same time
//! source  Cortes & Vapnik 1995; Drucker et al. 1996; scikit-learn's `SVC` and `SVR` solve the same problems
//! differs rows whose squares would overflow or underflow are multiplied by a power of two, if γ is set by rule

use faer::Mat;
use rayon::prelude::*;

use super::evaluator::{Evaluation, Evaluator, check_rows};
use super::inner_folds::{self, Chosen};
use super::measures::Predictions;
use super::rescale::rescaled;
use super::smo::{KernelRows, Smo, Solution};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::block::PANEL;
use crate::kernel::{Kernel, Panel, Shape, gamma};
use crate::monitor::Monitor;

/// Bytes of cached kernel values, over all problems that are solved at the same time.
const KERNEL_CACHE_BYTES: usize = 512 << 20;

/// ε: errors up to this cost nothing, in units of the target's standard deviation.
const EPSILON: f64 = 0.1;

/// Values of C that are tried.
const C_GRID: [f64; 3] = [1.0, 10.0, 100.0];

pub(super) fn predict(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    c: Option<f64>,
    gamma: Option<f64>,
    seed: u64,
    monitor: &Monitor,
) -> Result<Evaluation> {
    let scaled = if gamma.is_none() { rescaled(train, test) } else { None };
    let (train, test) = scaled.as_ref().map_or((train, test), |(train, test)| (train, test));
    let Chosen { c, mut warnings } = match c {
        Some(c) => Chosen { c, warnings: Vec::new() },
        None => inner_folds::choose(train, labels, &C_GRID, seed, |train, labels, test| {
            let machines = Machine::fit(train, labels, &C_GRID, gamma, inner_folds::INNER_FOLDS, monitor)?;
            machines.iter().map(|machine| machine.predict(train, test, monitor)).collect()
        })?,
    };
    let Some(machine) = Machine::fit(train, labels, &[c], gamma, 1, monitor)?.pop() else {
        unreachable!("one value of C has one machine")
    };
    if !machine.converged {
        warnings.push(format!(
            "`rbf-svm` with c = {c} stopped before it converged; scale the columns, or lower c"
        ));
    }
    let (predictions, scores) = machine.predict_scored(train, test, monitor)?;
    Ok(Evaluation { support: machine.support.len(), warnings, scores, ..Evaluation::of(predictions) })
}

/// Dual coefficients of the training rows and the bias, for two classes (the first is positive) or for numbers (in units of
/// their standard deviation): the decision function is Σ coefficient·k(row, x) + bias. For comparison with other programs.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, evaluate::svm};
///
/// let rows = Rows::dense(vec![-1.0, 1.0], 2, 1)?;
/// let labels = Labels::classes(&["a", "b"]);
/// let (coefficients, bias) = svm::dual(&rows, &labels, 1e3, 1.0, &Monitor::default())?;
/// // a·(1 − e⁻⁴) = 1 on the margin, by symmetry.
/// let a = 1.0 / (1.0 - (-4.0f64).exp());
/// assert!((coefficients[0] - a).abs() < 1e-3 && (coefficients[1] + a).abs() < 1e-3 && bias.abs() < 1e-6);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn dual(rows: &Rows, labels: &Labels, c: f64, gamma: f64, monitor: &Monitor) -> Result<(Vec<f64>, f64)> {
    Evaluator::RbfSvm { c: Some(c), gamma: Some(gamma) }.check(labels)?;
    let rows = &*rows.to_f64();
    check_rows(rows, labels, rows)?;
    let kernel = Kernel::rbf(gamma);
    let mut kernel_rows = KernelRows::new(kernel, rows, KERNEL_CACHE_BYTES);
    let mut problem = match labels {
        Labels::Classes { .. } => {
            let (codes, _) = labels.require_classes("rbf-svm")?;
            Smo::classes(&mut kernel_rows, codes.iter().map(|&code| code == 0).collect())
        }
        Labels::Numbers(values) => {
            Smo::numbers(&mut kernel_rows, &TargetScale::of(values).standard(values), EPSILON)
        }
        Labels::Several { .. } => unreachable!("several targets are refused by `check_rows`"),
    };
    let solution = problem.solve(c, monitor)?;
    Ok((solution.coefficients, solution.bias))
}

/// Mean and standard deviation of a target.
#[derive(Clone, Copy)]
struct TargetScale {
    mean: f64,
    deviation: f64,
}

impl TargetScale {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().map(|v| v / n).sum::<f64>();
        // In units of the largest deviation, so that no square overflows or vanishes.
        let largest = values.iter().fold(0.0f64, |m, v| m.max((v - mean).abs()));
        let square = values.iter().map(|v| ((v - mean) / largest).powi(2)).sum::<f64>() / n;
        let deviation = if largest > 0.0 { square.sqrt() * largest } else { 1.0 };
        Self { mean, deviation }
    }

    fn standard(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|v| (v - self.mean) / self.deviation).collect()
    }
}

/// A fitted machine: its support vectors and decision functions.
struct Machine {
    kernel: Kernel,
    /// Training rows, ascending.
    support: Vec<usize>,
    decisions: Vec<Decision>,
    output: Output,
    converged: bool,
}

#[derive(Clone, Copy)]
enum Output {
    /// The class with most one-vs-one votes, of this many classes.
    Classes(usize),
    Numbers(TargetScale),
}

/// A decision function: coefficients of support vectors, by their position among all support vectors.
struct Decision {
    classes: (usize, usize),
    terms: Vec<(usize, f64)>,
    bias: f64,
}

/// One binary or regression problem: its rows, and for classes which two.
struct Subproblem {
    rows: Vec<usize>,
    classes: (usize, usize),
}

impl Machine {
    /// One machine per value of C; `at_once`: how many such fits may run at the same time.
    fn fit(
        rows: &Rows,
        labels: &Labels,
        grid: &[f64],
        gamma: Option<f64>,
        at_once: usize,
        monitor: &Monitor,
    ) -> Result<Vec<Self>> {
        let gamma = gamma.map_or_else(|| gamma::scale(Shape::Rbf, rows), Ok)?;
        let kernel = Kernel::rbf(gamma);
        let (subproblems, output) = match labels {
            Labels::Classes { codes, names } => (pairs(codes, names.len()), Output::Classes(names.len())),
            Labels::Numbers(values) => {
                let all = Subproblem { rows: (0..rows.n()).collect(), classes: (0, 0) };
                (vec![all], Output::Numbers(TargetScale::of(values)))
            }
            Labels::Several { .. } => unreachable!("several targets are refused by `check_rows`"),
        };
        let bytes = KERNEL_CACHE_BYTES / (at_once * subproblems.len()).clamp(1, rayon::current_num_threads());
        monitor.begin("fitting support vectors", subproblems.len());
        let solved: Result<Vec<Vec<Solution>>> = subproblems
            .par_iter()
            .map(|subproblem| {
                let found = subproblem.solve(kernel, rows, labels, grid, bytes, monitor);
                monitor.advance(1);
                found
            })
            .collect();
        let solved = solved?;
        let machine = |at: usize| Self::assembled(kernel, output, rows.n(), &subproblems, &solved, at);
        Ok((0..grid.len()).map(machine).collect())
    }

    fn assembled(
        kernel: Kernel,
        output: Output,
        n: usize,
        subproblems: &[Subproblem],
        solved: &[Vec<Solution>],
        at: usize,
    ) -> Self {
        let nonzero = || {
            subproblems.iter().zip(solved).flat_map(|(subproblem, solutions)| {
                subproblem.rows.iter().zip(&solutions[at].coefficients).filter(|(_, a)| **a != 0.0)
            })
        };
        let mut place = vec![usize::MAX; n];
        nonzero().for_each(|(&i, _)| place[i] = 0);
        let support: Vec<usize> = (0..n).filter(|&i| place[i] == 0).collect();
        support.iter().enumerate().for_each(|(to, &i)| place[i] = to);
        let decisions = subproblems
            .iter()
            .zip(solved)
            .map(|(subproblem, solutions)| {
                let coefficients = subproblem.rows.iter().zip(&solutions[at].coefficients);
                let terms = coefficients.filter(|(_, a)| **a != 0.0).map(|(&i, &a)| (place[i], a)).collect();
                Decision { classes: subproblem.classes, terms, bias: solutions[at].bias }
            })
            .collect();
        let converged = solved.iter().all(|solutions| solutions[at].converged);
        Self { kernel, support, decisions, output, converged }
    }

    fn predict(&self, train: &Rows, test: &Rows, monitor: &Monitor) -> Result<Predictions> {
        Ok(self.predict_scored(train, test, monitor)?.0)
    }

    /// With a score a class: its votes, and the sum of their decision values squeezed into less than a vote.
    fn predict_scored(
        &self,
        train: &Rows,
        test: &Rows,
        monitor: &Monitor,
    ) -> Result<(Predictions, Option<Mat<f64>>)> {
        let panel = Panel::new(self.kernel, &train.select(&self.support));
        let starts: Vec<usize> = (0..test.n()).step_by(PANEL).collect();
        let parts: Result<Vec<Vec<Vec<f64>>>> = starts
            .into_par_iter()
            .map(|start| {
                monitor.check()?;
                let rows = test.slice(start..test.n().min(start + PANEL));
                let l = self.support.len();
                let mut values = vec![0.0; rows.n() * l];
                panel.fill(&rows, &mut values);
                Ok((0..rows.n()).map(|i| self.answer(&values[i * l..(i + 1) * l])).collect())
            })
            .collect();
        let answers: Vec<Vec<f64>> = parts?.into_iter().flatten().collect();
        Ok(match self.output {
            Output::Classes(c) => {
                let most = |scores: &Vec<f64>| {
                    // Decision values do not break ties of votes.
                    let most = scores.iter().map(|v| v.round()).fold(0.0, f64::max);
                    scores.iter().position(|v| v.round() == most).unwrap_or(0)
                };
                let predicted = answers.iter().map(most).collect();
                let scores = Mat::from_fn(answers.len(), c, |i, j| answers[i][j]);
                (Predictions::Classes(predicted), Some(scores))
            }
            Output::Numbers(_) => (Predictions::Numbers(answers.iter().map(|one| one[0]).collect()), None),
        })
    }

    /// The score of every class, or the number, from a row's kernel values against the support vectors.
    fn answer(&self, line: &[f64]) -> Vec<f64> {
        let value = |decision: &Decision| {
            decision.terms.iter().map(|&(at, a)| a * line[at]).sum::<f64>() + decision.bias
        };
        match self.output {
            Output::Numbers(unit) => {
                vec![self.decisions.first().map_or(0.0, value) * unit.deviation + unit.mean]
            }
            Output::Classes(c) => {
                let (mut votes, mut sums) = (vec![0usize; c], vec![0.0; c]);
                for decision in &self.decisions {
                    let (first, second) = decision.classes;
                    let value = value(decision);
                    votes[if value > 0.0 { first } else { second }] += 1;
                    sums[first] += value;
                    sums[second] -= value;
                }
                let score = |(votes, sum): (usize, f64)| votes as f64 + sum / (3.0 * (sum.abs() + 1.0));
                votes.into_iter().zip(sums).map(score).collect()
            }
        }
    }
}

/// One subproblem per pair of the classes that have rows.
fn pairs(codes: &[usize], c: usize) -> Vec<Subproblem> {
    let mut members = vec![Vec::new(); c];
    codes.iter().enumerate().for_each(|(i, &code)| members[code].push(i));
    let present: Vec<usize> = (0..c).filter(|&code| !members[code].is_empty()).collect();
    let mut out = Vec::new();
    for (at, &first) in present.iter().enumerate() {
        for &second in &present[at + 1..] {
            let mut rows = [members[first].as_slice(), &members[second]].concat();
            rows.sort_unstable();
            out.push(Subproblem { rows, classes: (first, second) });
        }
    }
    out
}

impl Subproblem {
    fn solve(
        &self,
        kernel: Kernel,
        rows: &Rows,
        labels: &Labels,
        grid: &[f64],
        bytes: usize,
        monitor: &Monitor,
    ) -> Result<Vec<Solution>> {
        let own = rows.select(&self.rows);
        let mut kernel_rows = KernelRows::new(kernel, &own, bytes);
        let mut problem = match labels {
            Labels::Classes { codes, .. } => Smo::classes(
                &mut kernel_rows,
                self.rows.iter().map(|&i| codes[i] == self.classes.0).collect(),
            ),
            Labels::Numbers(values) => {
                Smo::numbers(&mut kernel_rows, &TargetScale::of(values).standard(values), EPSILON)
            }
            Labels::Several { .. } => unreachable!("several targets are refused by `check_rows`"),
        };
        grid.iter().map(|&c| problem.solve(c, monitor)).collect()
    }
}
