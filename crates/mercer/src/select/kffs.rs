//! KFFS: one weak classifier a column, taken one by one into an ensemble that votes.
//!
//!   column j votes for the class with the largest least-squares fit of the labels on (z_j, 1)
//!   each round takes the column whose ensemble has the fewest errors; weight = max(ln((1 − ε)/ε), 0)
//!
//! cost    p rounds of n·p votes: bits and counts of bits for two classes, a table of c entries a row for more
//! source  takes.txt Alg. 2, as METHODS §5 reads it
//! differs a tied ensemble follows its newest voter if that vote is among the tied, else the lower class. So a vote
//!         decides a row exactly where it comes within one of the lead: for two classes where |v| ≤ 1, and elsewhere
//!         the error does not depend on the candidate

use rayon::prelude::*;

use super::by_column::{Column, each_column};
use super::{Columns, Scores};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// ε is kept this far from 0 and 1.
const CLIP: f64 = 1e-10;
/// Fits and weighted errors closer than this are equal: both are of labels 0 and ±1.
const EQUAL: f64 = 1e-12;

/// Columns that a thread takes at a time.
const MOST: usize = 16;

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
#[derive(Clone, Debug, Default)]
pub struct Kffs {
    /// Whether rows that the ensemble gets right lose weight (lines 7 and 14 of Algorithm 2).
    pub reweight: bool,
}

impl Kffs {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("kffs", false)?;
        let (codes, c) = columns.labels("kffs")?.require_classes("kffs")?;
        let (n, p) = (columns.rows.n(), columns.rows.p());
        let votes = votes(columns, codes, c)?;
        let mut ensemble = Ensemble { codes, counts: vec![0; n * c], c };
        let mut weights = self.reweight.then(|| vec![1.0 / n as f64; n]);
        let mut left: Vec<usize> = (0..p).collect();
        let mut found = Scores { scores: vec![0.0; p], order: Some(Vec::new()), ..Scores::default() };
        columns.monitor.begin("choosing columns", p);
        while !left.is_empty() {
            columns.monitor.check()?;
            let (at, wrong) = match &weights {
                None => votes.fewest(&ensemble, &left),
                Some(weights) => votes.lightest(&ensemble, &left, weights, columns.monitor)?,
            };
            let column = left.remove(at);
            let right = ensemble.take(|i| votes.vote(column, i));
            let errors = right.iter().filter(|right| !**right).count() as f64 / n as f64;
            let epsilon = wrong.unwrap_or(errors).clamp(CLIP, 1.0 - CLIP);
            found.scores[column] = ((1.0 - epsilon) / epsilon).ln().max(0.0);
            found.order.iter_mut().for_each(|order| order.push(column));
            found.error_path.push(errors);
            if let Some(weights) = &mut weights {
                let lighter = epsilon / (1.0 - epsilon);
                weights.iter_mut().zip(&right).filter(|(_, right)| **right).for_each(|(w, _)| *w *= lighter);
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|w| *w /= sum);
            }
            columns.monitor.advance(1);
        }
        Ok(found)
    }
}

/// How many voted for each class, row by row.
struct Ensemble<'a> {
    codes: &'a [usize],
    counts: Vec<u32>,
    c: usize,
}

impl Ensemble<'_> {
    /// Adds one vote a row; whether each row is right then.
    fn take(&mut self, vote: impl Fn(usize) -> usize) -> Vec<bool> {
        let mut right = Vec::with_capacity(self.codes.len());
        for (i, &class) in self.codes.iter().enumerate() {
            let (vote, counts) = (vote(i), &mut self.counts[i * self.c..(i + 1) * self.c]);
            right.push(winner(counts, vote) == class);
            counts[vote] += 1;
        }
        right
    }
}

/// The class that wins when one more votes.
fn winner(counts: &[u32], vote: usize) -> usize {
    let most = counts.iter().copied().max().unwrap_or(0);
    if counts[vote] + 1 >= most { vote } else { counts.iter().position(|&n| n == most).unwrap_or(0) }
}

/// What each column says about each row.
enum Votes {
    /// Two classes: a bit a row, set where the column is wrong.
    Two { wrong: Vec<Vec<u64>>, codes: Vec<usize> },
    /// The class itself.
    Many(Vec<Vec<u16>>),
}

/// Whether the row is wrong for each possible vote, row after row.
fn table(ensemble: &Ensemble) -> Vec<bool> {
    let lines = ensemble.codes.iter().zip(ensemble.counts.chunks_exact(ensemble.c));
    lines
        .flat_map(|(&class, counts)| (0..counts.len()).map(move |vote| winner(counts, vote) != class))
        .collect()
}

impl Votes {
    fn vote(&self, column: usize, i: usize) -> usize {
        match self {
            Self::Two { wrong, codes } => codes[i] ^ (wrong[column][i / 64] >> (i % 64) & 1) as usize,
            Self::Many(votes) => votes[column][i] as usize,
        }
    }

    /// The place among those left of the column whose ensemble makes the fewest errors.
    fn fewest(&self, ensemble: &Ensemble, left: &[usize]) -> (usize, Option<f64>) {
        let table = table(ensemble);
        let errors: Vec<usize> = match self {
            Self::Two { wrong, .. } => {
                let (open, lost) = open_rows(&table);
                let count = |column: &usize| {
                    let bits = wrong[*column].iter().zip(&open).map(|(w, o)| (w & o).count_ones() as usize);
                    lost + bits.sum::<usize>()
                };
                left.par_iter().map(count).collect()
            }
            Self::Many(votes) => {
                let c = ensemble.c;
                let count = |column: &usize| {
                    let lines = votes[*column].iter().zip(table.chunks_exact(c));
                    lines.map(|(&vote, wrong)| usize::from(wrong[vote as usize])).sum()
                };
                left.par_iter().map(count).collect()
            }
        };
        let best = (0..left.len()).min_by_key(|&at| errors[at]).unwrap_or(0);
        (best, None)
    }

    /// The same by weighted errors, with the sum of the weights that the winner gets wrong.
    fn lightest(
        &self,
        ensemble: &Ensemble,
        left: &[usize],
        weights: &[f64],
        monitor: &Monitor,
    ) -> Result<(usize, Option<f64>)> {
        let (table, c) = (table(ensemble), ensemble.c);
        let weigh = |&column: &usize| {
            monitor.check()?;
            let wrong = |i: &usize| table[i * c + self.vote(column, *i)];
            Ok((0..weights.len()).filter(wrong).map(|i| weights[i]).sum())
        };
        let errors: Vec<f64> = left.par_iter().map(weigh).collect::<Result<_>>()?;
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let best = errors.iter().position(|&e| e <= least + EQUAL).unwrap_or(0);
        Ok((best, Some(errors[best])))
    }
}

/// Two classes: the rows that a vote decides, as bits, and how many of the others are wrong.
fn open_rows(table: &[bool]) -> (Vec<u64>, usize) {
    let mut open = vec![0u64; (table.len() / 2).div_ceil(64)];
    let mut lost = 0;
    for (i, line) in table.chunks_exact(2).enumerate() {
        if line[0] == line[1] {
            lost += usize::from(line[0]);
        } else {
            open[i / 64] |= 1 << (i % 64);
        }
    }
    (open, lost)
}

fn votes(columns: &Columns, codes: &[usize], c: usize) -> Result<Votes> {
    let (n, p) = (columns.rows.n(), columns.rows.p());
    if c > usize::from(u16::MAX) {
        return Err(Error::data(format!(
            "{c} classes are more than `kffs` can tell apart; at most 65535 are allowed"
        )));
    }
    columns.monitor.begin("fitting weak classifiers", p);
    let share: Vec<f64> =
        (0..c).map(|class| codes.iter().filter(|&&code| code == class).count() as f64 / n as f64).collect();
    let fits = |column: Column| column_votes(&column.whole(n), codes, &share);
    if c > 2 {
        let votes = each_column(columns.rows, MOST, columns.monitor, |_, column| Ok(fits(column)))?;
        return Ok(Votes::Many(votes));
    }
    let wrong = each_column(columns.rows, MOST, columns.monitor, |_, column| {
        let mut bits = vec![0u64; n.div_ceil(64)];
        for (i, vote) in fits(column).into_iter().enumerate() {
            bits[i / 64] |= u64::from(usize::from(vote) != codes[i]) << (i % 64);
        }
        Ok(bits)
    })?;
    Ok(Votes::Two { wrong, codes: codes.to_vec() })
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
