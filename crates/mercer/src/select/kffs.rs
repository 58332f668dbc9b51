//! KFFS: one weak classifier a column, taken one by one into an ensemble that votes.
//!
//!   column j votes for the class with the largest least-squares fit of the labels on (z_j, 1)
//!   each round takes the column whose ensemble has the fewest errors; weight = max(ln((1 − ε)/ε) + ln(c − 1), 0)
//!
//! A column's place is the round that took it: a late column's weight is that of the ensemble which it joined.
//!
//! cost    p rounds of n·p votes: bits and counts of bits for two classes, a table of c entries a row for more
//! source  TAKES, Alg. 2, which is ambiguous: docs/methods/kffs.md says how it is read; ln(c − 1): Zhu et al. 2009 (SAMME)
//! differs classes fewer than `theta` votes behind the most are undecided: the ensemble follows its newest voter if that vote is
//!         among them, else the class with most votes, the lower of equals; with theta = 1 these are ties. So a vote
//!         decides a row exactly where it comes within theta of the lead: for two classes where |v| ≤ theta, and elsewhere
//!         the error does not depend on the candidate. The forward selection that the paper builds on (Wu et al. 2008) has such
//!         a threshold, the paper's listing none

use rayon::prelude::*;

use super::by_column::{Column, each_column};
use super::{Columns, N_FEATURES, Scores, Select};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, Stage, Values};

/// ε is kept this far from 0 and 1.
const CLIP: f64 = 1e-10;
/// Fits and weighted errors closer than this are equal: both are of labels 0 and ±1.
const EQUAL: f64 = 1e-12;

/// Columns that a thread takes at a time.
const COLUMNS_AT_ONCE: usize = 16;

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

    fn score(&self, columns: &Columns) -> Result<Scores> {
        Kffs::score(self, columns)
    }
}

impl Kffs {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("kffs", false)?;
        let (codes, c) = columns.labels("kffs")?.require_classes("kffs")?;
        let (n, p) = (columns.rows.n(), columns.rows.p());
        // Guessing errs on (c − 1)/c of the rows, where the weight becomes 0.
        let others = (c - 1) as f64;
        let mut ensemble = Ensemble::new(columns, codes, c, self.theta)?;
        let mut weights = self.reweight.then(|| vec![1.0 / n as f64; n]);
        let mut left: Vec<usize> = (0..p).collect();
        let mut found = Scores { scores: vec![0.0; p], order: Some(Vec::new()), ..Scores::default() };
        columns.monitor.begin("choosing columns", p);
        while !left.is_empty() {
            columns.monitor.check()?;
            let (at, wrong) = match &weights {
                None => (ensemble.fewest(&left), None),
                Some(weights) => ensemble.lightest(&left, weights, columns.monitor)?,
            };
            let column = left.remove(at);
            let mistakes = ensemble.take(column);
            let errors =
                mistakes.iter().map(|bits| bits.count_ones() as usize).sum::<usize>() as f64 / n as f64;
            let epsilon = wrong.unwrap_or(errors).clamp(CLIP, 1.0 - CLIP);
            found.scores[column] = (((1.0 - epsilon) / epsilon).ln() + others.ln()).max(0.0);
            found.order.iter_mut().for_each(|order| order.push(column));
            found.error_path.push(errors);
            if let Some(weights) = &mut weights {
                let lighter = (epsilon / ((1.0 - epsilon) * others)).min(1.0);
                let rows = weights.iter_mut().enumerate();
                rows.filter(|(i, _)| !is_set(&mistakes, *i)).for_each(|(_, w)| *w *= lighter);
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|w| *w /= sum);
            }
            columns.monitor.advance(1);
        }
        Ok(found)
    }
}

/// Rows as bits: 64 to a number.
const BITS: usize = u64::BITS as usize;

/// Numbers of bits that a thread takes at a time.
const WORDS: usize = 64;

fn is_set(bits: &[u64], i: usize) -> bool {
    bits[i / BITS] >> (i % BITS) & 1 == 1
}

/// The columns, each a voter, and what those that were taken say together.
enum Ensemble<'a> {
    Two(TwoClasses),
    Many(ManyClasses<'a>),
}

impl Ensemble<'_> {
    /// The place among those left of the column with which the ensemble makes the fewest errors.
    fn fewest(&self, left: &[usize]) -> usize {
        let errors: Vec<usize> = match self {
            Self::Two(two) => left.par_iter().map(|&column| two.errors(column)).collect(),
            Self::Many(many) => left.par_iter().map(|&column| many.mistakes(column).count()).collect(),
        };
        (0..left.len()).min_by_key(|&at| errors[at]).unwrap_or(0)
    }

    /// The column with the smallest sum of weighted errors, with the sum of the weights that the ensemble then gets wrong.
    fn lightest(&self, left: &[usize], weights: &[f64], monitor: &Monitor) -> Result<(usize, Option<f64>)> {
        let weigh = |&column: &usize| {
            monitor.check()?;
            Ok(match self {
                Self::Two(two) => two.mistakes(column).map(|i| weights[i]).sum(),
                Self::Many(many) => many.mistakes(column).map(|i| weights[i]).sum(),
            })
        };
        let errors: Vec<f64> = left.par_iter().map(weigh).collect::<Result<_>>()?;
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let best = errors.iter().position(|&e| e <= least + EQUAL).unwrap_or(0);
        Ok((best, Some(errors[best])))
    }

    /// Takes a column; the rows that the ensemble is wrong about then, as bits.
    fn take(&mut self, column: usize) -> Vec<u64> {
        match self {
            Self::Two(two) => two.take(column),
            Self::Many(many) => many.take(column),
        }
    }
}

/// Two classes: everything as bits, one a row.
struct TwoClasses {
    /// Of each column, the rows that it is wrong about.
    wrong: Vec<Vec<u64>>,
    /// Right votes less wrong ones, of each row.
    lead: Vec<i32>,
    /// The rows that the next vote decides: |lead| ≤ theta.
    open: Vec<u64>,
    /// The rows that stay wrong whatever the next vote is: lead < −theta.
    lost: Vec<u64>,
    theta: i32,
}

impl TwoClasses {
    fn new(wrong: Vec<Vec<u64>>, n: usize, theta: usize) -> Self {
        let words = n.div_ceil(BITS);
        let theta = i32::try_from(theta).unwrap_or(i32::MAX - 1);
        Self { wrong, lead: vec![0; n], open: vec![u64::MAX; words], lost: vec![0; words], theta }
    }

    /// The rows that the ensemble is wrong about if this column is taken next, as bits.
    fn with(&self, column: usize) -> impl Iterator<Item = u64> {
        let words = self.wrong[column].iter().zip(&self.open).zip(&self.lost);
        words.map(|((wrong, open), lost)| lost | (wrong & open))
    }

    fn errors(&self, column: usize) -> usize {
        self.with(column).map(|bits| bits.count_ones() as usize).sum()
    }

    /// The rows that a column gets wrong, ascending.
    fn mistakes(&self, column: usize) -> impl Iterator<Item = usize> {
        self.with(column).enumerate().flat_map(|(word, bits)| {
            (0..BITS).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * BITS + bit)
        })
    }

    fn take(&mut self, column: usize) -> Vec<u64> {
        let mistakes = self.with(column).collect();
        let theta = self.theta;
        let leads = self.lead.par_chunks_mut(WORDS * BITS).zip(self.wrong[column].par_chunks(WORDS));
        let known = self.open.par_chunks_mut(WORDS).zip(self.lost.par_chunks_mut(WORDS));
        leads.zip(known).for_each(|((lead, wrong), (open, lost))| {
            for (((lead, wrong), open), lost) in lead.chunks_mut(BITS).zip(wrong).zip(open).zip(lost) {
                (*open, *lost) = (0, 0);
                for (bit, lead) in lead.iter_mut().enumerate() {
                    *lead += 1 - 2 * (wrong >> bit & 1) as i32;
                    *open |= u64::from(lead.abs() <= theta) << bit;
                    *lost |= u64::from(*lead < -theta) << bit;
                }
            }
        });
        mistakes
    }
}

/// More classes: a vote is a class.
struct ManyClasses<'a> {
    /// Of each column, row by row.
    votes: Vec<Vec<u16>>,
    codes: &'a [usize],
    c: usize,
    /// How many voted for each class, row after row.
    counts: Vec<u32>,
    /// Whether the row is wrong for each next vote, row after row.
    wrong: Vec<bool>,
    theta: u32,
}

impl<'a> ManyClasses<'a> {
    fn new(votes: Vec<Vec<u16>>, codes: &'a [usize], c: usize, theta: usize) -> Self {
        let theta = u32::try_from(theta).unwrap_or(u32::MAX);
        let wrong = codes.iter().flat_map(|&class| (0..c).map(move |vote| vote != class)).collect();
        Self { votes, codes, c, counts: vec![0; codes.len() * c], wrong, theta }
    }

    /// The rows that the ensemble is wrong about if this column is taken next, ascending.
    fn mistakes(&self, column: usize) -> impl Iterator<Item = usize> {
        let rows = self.votes[column].iter().zip(self.wrong.chunks_exact(self.c)).enumerate();
        rows.filter(|(_, (vote, wrong))| wrong[usize::from(**vote)]).map(|(i, _)| i)
    }

    fn take(&mut self, column: usize) -> Vec<u64> {
        let theta = self.theta;
        let mut mistakes = vec![0; self.codes.len().div_ceil(BITS)];
        self.mistakes(column).for_each(|i| mistakes[i / BITS] |= 1 << (i % BITS));
        let rows = self.counts.par_chunks_exact_mut(self.c).zip(self.wrong.par_chunks_exact_mut(self.c));
        let voted = self.codes.par_iter().zip(&self.votes[column]);
        rows.zip(voted).with_min_len(WORDS * BITS).for_each(|((counts, wrong), (&class, &vote))| {
            counts[usize::from(vote)] += 1;
            wrong
                .iter_mut()
                .enumerate()
                .for_each(|(vote, wrong)| *wrong = winner(counts, vote, theta) != class);
        });
        mistakes
    }
}

/// The class that wins when one more votes.
fn winner(counts: &[u32], vote: usize, theta: u32) -> usize {
    let most = counts.iter().copied().max().unwrap_or(0);
    if (counts[vote] + 1).saturating_add(theta) > most {
        vote
    } else {
        counts.iter().position(|&n| n == most).unwrap_or(0)
    }
}

impl<'a> Ensemble<'a> {
    /// The voters, of whom none is taken yet.
    fn new(columns: &Columns, codes: &'a [usize], c: usize, theta: usize) -> Result<Self> {
        let (n, p) = (columns.rows.n(), columns.rows.p());
        if c > usize::from(u16::MAX) {
            return Err(Error::data(format!(
                "{c} classes are more than `kffs` can tell apart; at most 65535 are allowed"
            )));
        }
        columns.monitor.begin("fitting weak classifiers", p);
        let share: Vec<f64> = (0..c)
            .map(|class| codes.iter().filter(|&&code| code == class).count() as f64 / n as f64)
            .collect();
        let fits = |column: Column| column_votes(&column.whole(n), codes, &share);
        if c > 2 {
            let votes =
                each_column(columns.rows, COLUMNS_AT_ONCE, columns.monitor, |_, column| Ok(fits(column)))?;
            return Ok(Self::Many(ManyClasses::new(votes, codes, c, theta)));
        }
        let wrong = each_column(columns.rows, COLUMNS_AT_ONCE, columns.monitor, |_, column| {
            let mut bits = vec![0u64; n.div_ceil(BITS)];
            for (i, vote) in fits(column).into_iter().enumerate() {
                bits[i / BITS] |= u64::from(usize::from(vote) != codes[i]) << (i % BITS);
            }
            Ok(bits)
        })?;
        Ok(Self::Two(TwoClasses::new(wrong, n, theta)))
    }
}

/// The class with the largest fit for each row. Of equal fits the lower class wins, of two classes the higher.
fn column_votes(z: &[f64], codes: &[usize], share: &[f64]) -> Vec<u16> {
    let (n, c) = (z.len() as f64, share.len());
    let largest = z.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let mean = z.iter().map(|v| v / unit).sum::<f64>() / n;
    let centred: Vec<f64> = z.iter().map(|v| v / unit - mean).collect();
    let square: f64 = centred.iter().map(|v| v * v).sum();
    let constant = z.iter().all(|v| *v == z[0]);
    let mut slope = vec![0.0; c];
    if !constant && square > 0.0 {
        for (v, &class) in centred.iter().zip(codes) {
            slope[class] += v / square;
        }
        // Σ v = 0 up to rounding, so Σ v(y − share) is Σ v·y.
    }
    let fit = |class: usize, v: f64| share[class] + slope[class] * v;
    let vote = |&v: &f64| {
        if c == 2 {
            // Labels ±1: the fit is the difference of the two, and 0 votes for the higher class.
            return u16::from(share[1] - share[0] + (slope[1] - slope[0]) * v >= -EQUAL);
        }
        let largest = (0..c).map(|class| fit(class, v)).fold(f64::NEG_INFINITY, f64::max);
        (0..c).position(|class| fit(class, v) >= largest - EQUAL).unwrap_or(0) as u16
    };
    centred.iter().map(vote).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::random;

    /// Votes as bits and votes as classes are two ways to the same ensemble, beyond what one thread takes at a time, too.
    #[test]
    fn two_classes_are_many_classes_of_two() {
        for (n, theta) in [(1, 1), (64, 2), (WORDS * BITS + 1, 1), (9_001, 1), (9_001, 3)] {
            let (p, mut generator) = (9, random::generator(n as u64));
            let codes: Vec<usize> = (0..n).map(|_| generator.random_range(0..2)).collect();
            let votes: Vec<Vec<u16>> =
                (0..p).map(|_| (0..n).map(|_| generator.random_range(0..2)).collect()).collect();
            let wrong = votes.iter().map(|votes| {
                let mut bits = vec![0u64; n.div_ceil(BITS)];
                for i in (0..n).filter(|&i| usize::from(votes[i]) != codes[i]) {
                    bits[i / BITS] |= 1 << (i % BITS);
                }
                bits
            });
            let mut two = Ensemble::Two(TwoClasses::new(wrong.collect(), n, theta));
            let mut many = Ensemble::Many(ManyClasses::new(votes, &codes, 2, theta));
            let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 5) as f64).collect();
            let mut left: Vec<usize> = (0..p).collect();
            while !left.is_empty() {
                let lightest =
                    |of: &Ensemble| of.lightest(&left, &weights, &Monitor::default()).expect("no stop");
                assert_eq!(lightest(&two), lightest(&many));
                let at = two.fewest(&left);
                assert_eq!(at, many.fewest(&left));
                let column = left.remove(at);
                assert_eq!(two.take(column), many.take(column), "n = {n}, {} left", left.len());
            }
        }
    }
}
