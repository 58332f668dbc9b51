//! Votes of columns on rows, bit-packed for two classes, and the ensemble of the columns that were taken.
//!
//! The state is that of one partition's rows; errors of several partitions add up.

use std::ops::Range;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::EQUAL;
use super::lines::{Line, Lines};
use crate::data::weights::{total, weight};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::options::{DEFAULT_MEMORY, bytes};
use crate::select::Columns;
use crate::select::by_column::{Column, each_column};

/// Columns that a thread takes at a time.
const COLUMNS_AT_ONCE: usize = 16;

/// Rows of a partition whose features are computed at a time: whole words of bits.
const PANEL_ROWS: usize = 16 * BITS;

/// Rows as bits: 64 to a number.
pub(super) const BITS: usize = u64::BITS as usize;

/// Numbers of bits that a thread takes at a time.
pub(super) const WORDS: usize = 64;

pub(super) fn is_set(bits: &[u64], i: usize) -> bool {
    bits[i / BITS] >> (i % BITS) & 1 == 1
}

/// How many rows are set.
pub(super) fn count(bits: &[u64]) -> u64 {
    bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
}

/// The votes of every column on the rows of one partition, and what the columns that were taken say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum PartVotes {
    /// Of two classes.
    Two(TwoClasses),
    /// Of more.
    Many(ManyClasses),
}

impl PartVotes {
    /// The votes of rows that lie together, all columns at hand; none is taken yet.
    pub(super) fn of_columns(columns: &Columns, codes: &[usize], c: usize, theta: usize) -> Result<Self> {
        let (n, p) = (columns.rows.n(), columns.rows.p());
        check_classes(n, c)?;
        columns.monitor.begin("fitting weak classifiers", p);
        let weights = columns.weights;
        let mut share = vec![0.0; c];
        codes.iter().enumerate().for_each(|(i, &class)| share[class] += weight(weights, i));
        let all = total(weights, n);
        share.iter_mut().for_each(|share| *share /= all);
        let fits = |column: Column| {
            let (line, centred) = Line::fit(&column.whole(n), codes, c, weights);
            centred.into_iter().map(|v| line.vote(&share, v)).collect::<Vec<u16>>()
        };
        if c > 2 {
            let votes =
                each_column(columns.rows, COLUMNS_AT_ONCE, columns.monitor, |_, column| Ok(fits(column)))?;
            return Ok(Self::Many(ManyClasses::new(votes, codes, c, theta)));
        }
        let wrong = each_column(columns.rows, COLUMNS_AT_ONCE, columns.monitor, |_, column| {
            let mut bits = vec![0u64; n.div_ceil(BITS)];
            fits(column).into_iter().zip(codes).enumerate().for_each(|(i, (vote, &class))| {
                bits[i / BITS] |= u64::from(usize::from(vote) != class) << (i % BITS);
            });
            Ok(bits)
        })?;
        Ok(Self::Two(TwoClasses::new(wrong, n, theta)))
    }

    /// The votes of one partition's n rows on m columns, by lines that were fitted to all rows; no column is taken yet.
    /// `features` gives the columns of a range of rows.
    pub(crate) fn of(
        (n, m): (usize, usize),
        codes: &[usize],
        lines: &Lines,
        theta: usize,
        features: impl Fn(Range<usize>) -> Result<Mat<f64>>,
    ) -> Result<Self> {
        let c = lines.share.len();
        check_classes(n, c)?;
        if codes.len() != n || lines.columns.len() != m || codes.iter().any(|&class| class >= c) {
            return Err(Error::argument(format!(
                "{n} rows and {m} columns with {} classes of rows and {} lines do not fit together",
                codes.len(),
                lines.columns.len()
            )));
        }
        let words = n.div_ceil(BITS);
        let mut wrong = vec![vec![0u64; if c == 2 { words } else { 0 }]; m];
        let mut votes = vec![vec![0u16; if c == 2 { 0 } else { n }]; m];
        for start in (0..n).step_by(PANEL_ROWS) {
            let rows = start..n.min(start + PANEL_ROWS);
            let z = features(rows.clone())?;
            if (z.nrows(), z.ncols()) != (rows.len(), m) {
                return Err(Error::argument(format!(
                    "features of {} × {} were given for {} rows and {m} columns",
                    z.nrows(),
                    z.ncols(),
                    rows.len()
                )));
            }
            wrong.par_iter_mut().zip(&mut votes).enumerate().for_each(|(j, (wrong, votes))| {
                let line = &lines.columns[j];
                for (i, &v) in rows.clone().zip(z.col(j).iter()) {
                    let vote = line.vote(&lines.share, line.centred(v));
                    if c == 2 {
                        wrong[i / BITS] |= u64::from(usize::from(vote) != codes[i]) << (i % BITS);
                    } else {
                        votes[i] = vote;
                    }
                }
            });
        }
        Ok(match c {
            2 => Self::Two(TwoClasses::new(wrong, n, theta)),
            _ => Self::Many(ManyClasses::new(votes, codes, c, theta)),
        })
    }

    /// The rows that the ensemble is wrong about if each of these columns is taken next.
    pub(crate) fn errors(&self, left: &[usize]) -> Vec<u64> {
        match self {
            Self::Two(two) => left.par_iter().map(|&column| two.errors(column)).collect(),
            Self::Many(many) => left.par_iter().map(|&column| many.mistakes(column).count() as u64).collect(),
        }
    }

    /// Takes a column; the rows that the ensemble is wrong about with it.
    pub(crate) fn take(&mut self, column: usize) -> u64 {
        count(&self.take_column(column))
    }

    /// The column with the smallest sum of weighted errors, with the sum of the weights that the ensemble then gets wrong.
    pub(super) fn lightest(
        &self,
        left: &[usize],
        weights: &[f64],
        monitor: &Monitor,
    ) -> Result<(usize, f64)> {
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
        Ok((best, errors[best]))
    }

    /// Bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Two(two) => 8 * two.wrong.iter().map(Vec::len).sum::<usize>() + 5 * two.lead.len(),
            Self::Many(many) => {
                let votes: usize = many.votes.iter().map(Vec::len).sum();
                2 * votes + 4 * many.counts.len() + 10 * many.codes.len()
            }
        }
    }

    /// Takes a column; the rows that the ensemble is wrong about then, as bits.
    pub(super) fn take_column(&mut self, column: usize) -> Vec<u64> {
        match self {
            Self::Two(two) => two.take(column),
            Self::Many(many) => many.take(column),
        }
    }
}

/// Two classes: everything as bits, one a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TwoClasses {
    /// Of each column, the rows that it is wrong about. A copy shares them.
    pub(crate) wrong: Arc<Vec<Vec<u64>>>,
    /// Right votes less wrong ones, of each row.
    pub(crate) lead: Vec<i32>,
    /// The rows that the next vote decides: |lead| ≤ theta.
    pub(crate) open: Vec<u64>,
    /// The rows that stay wrong whatever the next vote is: lead < −theta.
    pub(crate) lost: Vec<u64>,
    /// By how many votes a class must lead.
    pub(crate) theta: i32,
}

impl TwoClasses {
    pub(super) fn new(wrong: Vec<Vec<u64>>, n: usize, theta: usize) -> Self {
        let words = n.div_ceil(BITS);
        let theta = i32::try_from(theta).unwrap_or(i32::MAX - 1);
        Self {
            wrong: wrong.into(),
            lead: vec![0; n],
            open: vec![u64::MAX; words],
            lost: vec![0; words],
            theta,
        }
    }

    /// The rows that the ensemble is wrong about if this column is taken next, as bits.
    fn with(&self, column: usize) -> impl Iterator<Item = u64> {
        let words = self.wrong[column].iter().zip(&self.open).zip(&self.lost);
        words.map(|((wrong, open), lost)| lost | (wrong & open))
    }

    fn errors(&self, column: usize) -> u64 {
        self.with(column).map(|bits| u64::from(bits.count_ones())).sum()
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ManyClasses {
    /// Of each column, row by row. A copy shares them.
    pub(crate) votes: Arc<Vec<Vec<u16>>>,
    /// The rows' own classes.
    pub(crate) codes: Vec<u16>,
    /// Number of classes.
    pub(crate) c: usize,
    /// How many voted for each class, row after row.
    pub(crate) counts: Vec<u32>,
    /// The class with most votes of each row, the lowest of several, and its votes.
    pub(crate) leader: Vec<(u16, u32)>,
    /// By how many votes a class must lead.
    pub(crate) theta: u32,
}

impl ManyClasses {
    pub(super) fn new(votes: Vec<Vec<u16>>, codes: &[usize], c: usize, theta: usize) -> Self {
        let theta = u32::try_from(theta).unwrap_or(u32::MAX);
        Self {
            votes: votes.into(),
            codes: codes.iter().map(|&class| class as u16).collect(),
            c,
            counts: vec![0; codes.len() * c],
            leader: vec![(0, 0); codes.len()],
            theta,
        }
    }

    /// The rows that the ensemble is wrong about if this column is taken next, ascending.
    fn mistakes(&self, column: usize) -> impl Iterator<Item = usize> {
        let votes = self.votes[column].iter().enumerate();
        votes.filter(|&(i, &vote)| self.is_wrong(i, vote)).map(|(i, _)| i)
    }

    /// Whether the ensemble is wrong about a row if this is the next vote.
    fn is_wrong(&self, i: usize, vote: u16) -> bool {
        let (class, (leader, most)) = (self.codes[i], self.leader[i]);
        // The class voted for wins if it then comes within theta of the lead; else the leader does. Votes are counted only where
        // it matters who wins: the table of counts is large.
        let wins = || (self.counts[i * self.c + usize::from(vote)] + 1).saturating_add(self.theta) > most;
        if vote == class { leader != class && !wins() } else { leader != class || wins() }
    }

    fn take(&mut self, column: usize) -> Vec<u64> {
        let mut mistakes = vec![0; self.codes.len().div_ceil(BITS)];
        self.mistakes(column).for_each(|i| mistakes[i / BITS] |= 1 << (i % BITS));
        let counts = self.counts.chunks_exact_mut(self.c);
        for ((counts, leader), &vote) in counts.zip(&mut self.leader).zip(&self.votes[column]) {
            let count = &mut counts[usize::from(vote)];
            *count += 1;
            if *count > leader.1 || (*count == leader.1 && vote < leader.0) {
                *leader = (vote, *count);
            }
        }
        mistakes
    }
}

/// Bytes that the table of n rows' votes for c classes takes.
pub(crate) fn table_bytes(n: usize, c: usize) -> u64 {
    if c == 2 { 5 * n as u64 } else { n as u64 * (4 * c as u64 + 10) }
}

/// An error unless there are two classes or more, a vote has room for them, and the table of votes has some in memory.
fn check_classes(n: usize, c: usize) -> Result<()> {
    match c {
        0 | 1 => Err(Error::data("`kffs` needs at least 2 classes")),
        _ if c > usize::from(u16::MAX) => Err(Error::data(format!(
            "{c} classes are more than `kffs` can distinguish; at most 65535 are allowed"
        ))),
        _ if table_bytes(n, c) > DEFAULT_MEMORY => Err(Error::Memory(format!(
            "`kffs` counts the votes for {c} classes of {n} rows, which takes {}, but the budget is {}\n\
             hint: merge classes, or fit on a sample of the rows",
            bytes(table_bytes(n, c)),
            bytes(DEFAULT_MEMORY)
        ))),
        _ => Ok(()),
    }
}
