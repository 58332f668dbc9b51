//! KFFS: one weak classifier a column, taken one by one into an ensemble that votes.
//!
//!   column j votes for the class with the largest least-squares fit of the labels on (z_j, 1)
//!   each round takes the column whose ensemble has the fewest errors; weight = max(ln((1 − ε)/ε) + ln(c − 1), 0)
//!
//! A column's place is the round that took it: a late column's weight is that of the ensemble which it joined.
//!
//! cost    p rounds of n·p votes: bits and counts of bits for two classes; for more n·c·p fits and a table of c counts a row
//! source  TAKES, Alg. 2, which is ambiguous: docs/methods/kffs.md says how it is read; ln(c − 1): Zhu et al. 2009 (SAMME)
//! differs classes fewer than `theta` votes behind the most are undecided: the ensemble follows its newest voter if that vote is
//!         among them, else the class with most votes, the lower of equals; with theta = 1 these are ties. So a vote
//!         decides a row exactly where it comes within theta of the lead: for two classes where |v| ≤ theta, and elsewhere
//!         the error does not depend on the candidate. The forward selection that the paper builds on (Wu et al. 2008) has such
//!         a threshold, the paper's listing none

pub(crate) mod lines;
pub(crate) mod votes;

use self::votes::{PartVotes, is_set};
use super::{Accepts, Columns, N_FEATURES, Scores, Select};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, Stage, Values};

/// ε is kept this far from 0 and 1.
const CLIP: f64 = 1e-10;
/// Fits and weighted errors closer than this are equal: both are of labels 0 and ±1.
const EQUAL: f64 = 1e-12;

/// KFFS: kernel forward feature selection.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, select::{Columns, Kffs}};
///
/// let rows = Rows::dense(vec![3.0, 0.0, 1.0, 1.0, 2.0, 9.0, 3.0, 8.0], 4, 2)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let found = Kffs::default().score(&Columns::new(&rows, &labels, &Monitor::default()))?;
/// assert_eq!(found.order.unwrap(), [1, 0]); // the second column makes no error
/// assert_eq!(found.error_path[0], 0.0);
/// assert!((found.scores[1] - (1e10f64 - 1.0).ln()).abs() < 1e-6);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kffs {
    /// Whether rows that the ensemble gets right lose weight (lines 7 and 14 of Algorithm 2).
    pub reweight: bool,
    /// By how many votes a class must lead for the ensemble to decide.
    pub theta: usize,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kffs",
    stage: Stage::Select,
    file: "select/kffs.rs",
    source: "TAKES, Alg. 2",
    cost: "n·p² votes",
    parameters: &[N_FEATURES, REWEIGHT, THETA],
    help: "kernel forward feature selection: one weak classifier per column, taken one by one into an ensemble",
};

/// Whether rows that the ensemble gets right lose weight.
pub(crate) const REWEIGHT: Parameter =
    Parameter::new("reweight", Kind::Flag, "rows that the ensemble gets right lose weight").default("false");

/// By how many votes a class must lead.
pub(crate) const THETA: Parameter = Parameter::whole(
    "theta",
    1,
    "votes by which a class must lead for the ensemble to decide; below, the newest column does",
)
.default("1");

impl FromValues for Kffs {
    fn from_values(values: &Values) -> Self {
        Self { reweight: values.flag("reweight"), theta: values.count("theta").unwrap_or(1) }
    }
}

impl Default for Kffs {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for Kffs {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        Kffs::score(self, columns)
    }
}

impl Kffs {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("kffs", Accepts::Numbers)?;
        let (codes, c) = columns.labels("kffs")?.require_classes("kffs")?;
        let mut votes = PartVotes::of_columns(columns, codes, c, self.theta)?;
        let rounds = Rounds { n: columns.rows.n(), p: columns.rows.p(), c, monitor: columns.monitor };
        match (self.reweight, columns.weights) {
            (false, None) => rounds.run(&mut votes),
            (true, None) => rounds.weighted(&mut votes, &vec![1.0; columns.rows.n()], true),
            (reweight, Some(weights)) => rounds.weighted(&mut votes, weights, reweight),
        }
    }

    /// The score of each of p columns from what is asked of n rows of c classes, wherever these lie.
    pub(crate) fn score_voters(
        &self,
        voters: &mut impl Voters,
        (n, p, c): (usize, usize, usize),
        monitor: &Monitor,
    ) -> Result<Scores> {
        if self.reweight {
            return Err(Error::argument(
                "kffs with reweight = true looks at all rows at once\nhint: fit on a sample",
            ));
        }
        Rounds { n, p, c, monitor }.run(voters)
    }
}

/// What every round asks of the rows.
pub(crate) trait Voters {
    /// The rows that the ensemble is wrong about if each of these columns is taken next.
    fn errors(&mut self, left: &[usize]) -> Result<Vec<u64>>;

    /// Takes a column; the rows that the ensemble is wrong about with it.
    fn take(&mut self, column: usize) -> Result<u64>;
}

impl Voters for PartVotes {
    fn errors(&mut self, left: &[usize]) -> Result<Vec<u64>> {
        Ok(PartVotes::errors(self, left))
    }

    fn take(&mut self, column: usize) -> Result<u64> {
        Ok(PartVotes::take(self, column))
    }
}

/// The rounds over p columns, of n rows in c classes.
struct Rounds<'a> {
    n: usize,
    p: usize,
    c: usize,
    monitor: &'a Monitor,
}

/// What a round took.
struct Taken {
    /// Its place among the columns that were left.
    at: usize,
    /// The share of rows that the ensemble is wrong about with it.
    wrong: f64,
    /// ε, the share of these rows by their weights.
    epsilon: f64,
}

impl Rounds<'_> {
    /// Takes the column with the fewest errors in each round.
    fn run(&self, voters: &mut impl Voters) -> Result<Scores> {
        self.take_all(|left| {
            let errors = voters.errors(left)?;
            let at = (0..left.len()).min_by_key(|&at| errors[at]).unwrap_or(0);
            let errors = voters.take(left[at])?;
            let wrong = errors as f64 / self.n as f64;
            Ok(Taken { at, wrong, epsilon: wrong })
        })
    }

    /// Takes the column with the smallest sum of weighted errors. `reweight`: rows that the ensemble then gets right lose weight.
    fn weighted(&self, votes: &mut PartVotes, own: &[f64], reweight: bool) -> Result<Scores> {
        let all: f64 = own.iter().sum();
        let mut weights: Vec<f64> = own.iter().map(|w| w / all).collect();
        let share = |mistakes: &[u64]| {
            let wrong = (0..self.n).filter(|&i| is_set(mistakes, i));
            wrong.map(|i| own[i]).sum::<f64>() / all
        };
        self.take_all(|left| {
            let (at, epsilon) = votes.lightest(left, &weights, self.monitor)?;
            let mistakes = votes.take_column(left[at]);
            let wrong = share(&mistakes);
            if !reweight {
                return Ok(Taken { at, wrong, epsilon });
            }
            let lighter = {
                let epsilon = clipped(epsilon);
                (epsilon / ((1.0 - epsilon) * (self.c - 1) as f64)).min(1.0)
            };
            let rows = weights.iter_mut().enumerate();
            rows.filter(|(i, _)| !is_set(&mistakes, *i)).for_each(|(_, w)| *w *= lighter);
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|w| *w /= sum);
            Ok(Taken { at, wrong, epsilon })
        })
    }

    /// Rounds until no column is left.
    fn take_all(&self, mut round: impl FnMut(&[usize]) -> Result<Taken>) -> Result<Scores> {
        // Guessing errs on (c − 1)/c of the rows, where the weight becomes 0.
        let others = (self.c - 1) as f64;
        let mut left: Vec<usize> = (0..self.p).collect();
        let mut order = Vec::with_capacity(self.p);
        let mut found = Scores { scores: vec![0.0; self.p], ..Scores::default() };
        self.monitor.begin("choosing columns", self.p);
        while !left.is_empty() {
            self.monitor.check()?;
            let Taken { at, wrong, epsilon } = round(&left)?;
            let column = left.remove(at);
            let epsilon = clipped(epsilon);
            found.scores[column] = (((1.0 - epsilon) / epsilon).ln() + others.ln()).max(0.0);
            found.error_path.push(wrong);
            order.push(column);
            self.monitor.advance(1);
        }
        Ok(Scores { order: Some(order), ..found })
    }
}

fn clipped(epsilon: f64) -> f64 {
    epsilon.clamp(CLIP, 1.0 - CLIP)
}

#[cfg(test)]
mod tests;
