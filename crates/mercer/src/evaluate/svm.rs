//! Support vector machine with the rbf kernel: class against class, or numbers with an error of ε for nothing.
//!
//! Classes: one machine a pair of classes, each with a vote; of classes with as many votes the first. Numbers: the target
//! with mean 0 and deviation 1, ε = 0.1.
//!
//! cost    a problem of [`smo`](super::smo) a pair; with c to be chosen 3 folds × 3 weights, each weight from the
//!         solution for the one before; kernel values within 512 MB for all that are solved at a time
//! source  METHODS §7; Cortes & Vapnik 1995; Drucker et al. 1996; the same problems as scikit-learn's `SVC` and `SVR`
//! differs rows too large or small for their squares are multiplied by a power of two, if γ is by rule

use rayon::prelude::*;

use super::inner::{self, Chosen};
use super::judge::Judged;
use super::measures::Predictions;
use super::smo::{Lines, Smo, Solution};
use super::tame::squarable;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::block::PANEL;
use crate::kernel::{Kernel, Panel, Shape, gamma};
use crate::monitor::Monitor;

/// Bytes of kernel values that are kept, over all problems that are solved at a time.
const KEPT: usize = 512 << 20;

/// Errors up to this cost nothing, in units of the target's deviation.
const EPSILON: f64 = 0.1;

/// Weights of the errors that are tried.
const WEIGHTS: [f64; 3] = [1.0, 10.0, 100.0];

pub(super) fn predict(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    c: Option<f64>,
    gamma: Option<f64>,
    seed: u64,
    monitor: &Monitor,
) -> Result<Judged> {
    let tamed = if gamma.is_none() { squarable(train, test) } else { None };
    let (train, test) = tamed.as_ref().map_or((train, test), |(train, test)| (train, test));
    let Chosen { c, mut warnings } = match c {
        Some(c) => Chosen { c, warnings: Vec::new() },
        None => inner::choose(train, labels, &WEIGHTS, seed, |train, labels, test| {
            let machines = Machine::fit(train, labels, &WEIGHTS, gamma, inner::FOLDS, monitor)?;
            machines.iter().map(|machine| machine.predict(train, test, monitor)).collect()
        })?,
    };
    let Some(machine) = Machine::fit(train, labels, &[c], gamma, 1, monitor)?.pop() else {
        unreachable!("one weight has one machine")
    };
    if !machine.converged {
        warnings.push(format!(
            "`rbf-svm` with c = {c} stopped before it converged; scale the columns, or lower c"
        ));
    }
    let predictions = machine.predict(train, test, monitor)?;
    Ok(Judged { predictions, support: machine.support.len(), warnings })
}

/// What each training row adds: Σ coefficient·k(row, x), and the bias, for two classes (the first is positive) or for
/// numbers (in units of their deviation). For comparison with other programs.
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
    super::judge::Judge::RbfSvm { c: Some(c), gamma: Some(gamma) }.check(labels)?;
    super::judge::check_rows(rows, labels, rows)?;
    let kernel = Kernel::rbf(gamma);
    let mut lines = Lines::new(kernel, rows, KEPT);
    let mut problem = match labels {
        Labels::Classes { .. } => {
            let (codes, _) = labels.require_classes("rbf-svm")?;
            Smo::classes(&mut lines, codes.iter().map(|&code| code == 0).collect())
        }
        Labels::Numbers(values) => Smo::numbers(&mut lines, &Unit::of(values).standard(values), EPSILON),
    };
    let solution = problem.solve(c, monitor)?;
    Ok((solution.coefficients, solution.bias))
}

/// Mean and deviation of a target.
#[derive(Clone, Copy)]
struct Unit {
    mean: f64,
    deviation: f64,
}

impl Unit {
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

/// A fitted machine: who its support vectors are, and how they speak.
struct Machine {
    kernel: Kernel,
    /// Training rows, ascending.
    support: Vec<usize>,
    voices: Vec<Voice>,
    answer: Answer,
    converged: bool,
}

#[derive(Clone, Copy)]
enum Answer {
    /// Votes of pairs of so many classes.
    Classes(usize),
    Numbers(Unit),
}

/// One problem's solution: coefficients of support vectors by their place among them.
struct Voice {
    classes: (usize, usize),
    terms: Vec<(usize, f64)>,
    bias: f64,
}

/// A problem: the rows it is about, and for classes which two.
struct Question {
    rows: Vec<usize>,
    classes: (usize, usize),
}

impl Machine {
    /// One machine a weight; `at_once`: how many such fits may run beside each other.
    fn fit(
        rows: &Rows,
        labels: &Labels,
        weights: &[f64],
        gamma: Option<f64>,
        at_once: usize,
        monitor: &Monitor,
    ) -> Result<Vec<Self>> {
        let gamma = gamma.map_or_else(|| gamma::scale(Shape::Rbf, rows), Ok)?;
        let kernel = Kernel::rbf(gamma);
        let (questions, answer) = match labels {
            Labels::Classes { codes, names } => (pairs(codes, names.len()), Answer::Classes(names.len())),
            Labels::Numbers(values) => {
                let all = Question { rows: (0..rows.n()).collect(), classes: (0, 0) };
                (vec![all], Answer::Numbers(Unit::of(values)))
            }
        };
        let bytes = KEPT / (at_once * questions.len()).clamp(1, rayon::current_num_threads());
        monitor.begin("fitting support vectors", questions.len());
        let solved: Result<Vec<Vec<Solution>>> = questions
            .par_iter()
            .map(|question| {
                let found = question.solve(kernel, rows, labels, weights, bytes, monitor);
                monitor.advance(1);
                found
            })
            .collect();
        let solved = solved?;
        let machine = |at: usize| Self::assembled(kernel, answer, rows.n(), &questions, &solved, at);
        Ok((0..weights.len()).map(machine).collect())
    }

    fn assembled(
        kernel: Kernel,
        answer: Answer,
        n: usize,
        questions: &[Question],
        solved: &[Vec<Solution>],
        at: usize,
    ) -> Self {
        let spoken = || {
            questions.iter().zip(solved).flat_map(|(question, solutions)| {
                question.rows.iter().zip(&solutions[at].coefficients).filter(|(_, a)| **a != 0.0)
            })
        };
        let mut place = vec![usize::MAX; n];
        spoken().for_each(|(&i, _)| place[i] = 0);
        let support: Vec<usize> = (0..n).filter(|&i| place[i] == 0).collect();
        support.iter().enumerate().for_each(|(to, &i)| place[i] = to);
        let voices = questions
            .iter()
            .zip(solved)
            .map(|(question, solutions)| {
                let coefficients = question.rows.iter().zip(&solutions[at].coefficients);
                let terms = coefficients.filter(|(_, a)| **a != 0.0).map(|(&i, &a)| (place[i], a)).collect();
                Voice { classes: question.classes, terms, bias: solutions[at].bias }
            })
            .collect();
        let converged = solved.iter().all(|solutions| solutions[at].converged);
        Self { kernel, support, voices, answer, converged }
    }

    fn predict(&self, train: &Rows, test: &Rows, monitor: &Monitor) -> Result<Predictions> {
        let panel = Panel::new(self.kernel, &train.select(&self.support));
        let starts: Vec<usize> = (0..test.n()).step_by(PANEL).collect();
        let parts: Result<Vec<Vec<f64>>> = starts
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
        let answers = parts?.into_iter().flatten();
        Ok(match self.answer {
            Answer::Classes(_) => Predictions::Classes(answers.map(|code| code as usize).collect()),
            Answer::Numbers(_) => Predictions::Numbers(answers.collect()),
        })
    }

    /// The class or the number, from a row's kernel values against the support vectors.
    fn answer(&self, line: &[f64]) -> f64 {
        let says = |voice: &Voice| voice.terms.iter().map(|&(at, a)| a * line[at]).sum::<f64>() + voice.bias;
        match self.answer {
            Answer::Numbers(unit) => self.voices.first().map_or(0.0, says) * unit.deviation + unit.mean,
            Answer::Classes(c) => {
                let mut votes = vec![0usize; c];
                for voice in &self.voices {
                    let (first, second) = voice.classes;
                    votes[if says(voice) > 0.0 { first } else { second }] += 1;
                }
                let most = votes.iter().copied().max().unwrap_or(0);
                votes.iter().position(|&v| v == most).unwrap_or(0) as f64
            }
        }
    }
}

/// A question for each pair of the classes that have rows.
fn pairs(codes: &[usize], c: usize) -> Vec<Question> {
    let mut members = vec![Vec::new(); c];
    codes.iter().enumerate().for_each(|(i, &code)| members[code].push(i));
    let present: Vec<usize> = (0..c).filter(|&code| !members[code].is_empty()).collect();
    let mut out = Vec::new();
    for (at, &first) in present.iter().enumerate() {
        for &second in &present[at + 1..] {
            let mut rows = [members[first].as_slice(), &members[second]].concat();
            rows.sort_unstable();
            out.push(Question { rows, classes: (first, second) });
        }
    }
    out
}

impl Question {
    fn solve(
        &self,
        kernel: Kernel,
        rows: &Rows,
        labels: &Labels,
        weights: &[f64],
        bytes: usize,
        monitor: &Monitor,
    ) -> Result<Vec<Solution>> {
        let own = rows.select(&self.rows);
        let mut lines = Lines::new(kernel, &own, bytes);
        let mut problem = match labels {
            Labels::Classes { codes, .. } => {
                Smo::classes(&mut lines, self.rows.iter().map(|&i| codes[i] == self.classes.0).collect())
            }
            Labels::Numbers(values) => Smo::numbers(&mut lines, &Unit::of(values).standard(values), EPSILON),
        };
        weights.iter().map(|&c| problem.solve(c, monitor)).collect()
    }
}
