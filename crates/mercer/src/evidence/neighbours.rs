//! Nearest neighbours by class, pooled or over all rows: in the kernel's space or by a plain distance between rows.
//!
//!   d(x, x') = k(x,x) + k(x',x') − 2k(x,x');  for kernels that are monotone in an input distance that distance itself,
//!   because 2 − 2k saturates in floating point
//!
//! cost    n² distances: through the float32 prefilter where its bounds are tight enough, otherwise by float64 matrix
//!         products (L1, missing values and categories: vectorised loops), in panels; memory O(n·k) and a copy of the rows
//! differs ties go to the lower index; with fewer than k rows all of them are neighbours; a row is never its own neighbour,
//!         but an equal row is. Distances from products lose a few digits to cancellation, so neighbours are ranked by
//!         distances computed from the rows' own numbers

use std::borrow::Cow;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::approximate::Search;
use super::differences::Differences;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::gram::diagonal;
use crate::kernel::kernel::Statistic;
use crate::kernel::pairs::pair_statistic;
use crate::kernel::{Kernel, Shape};
use crate::monitor::Monitor;

/// A plain distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// Root of the sum of squared differences.
    Euclidean,
    /// Sum of differences.
    Manhattan,
}

impl Metric {
    /// Every metric's name.
    pub const NAMES: [&'static str; 2] = ["euclidean", "manhattan"];

    /// The metric with this name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "euclidean" => Ok(Self::Euclidean),
            "manhattan" => Ok(Self::Manhattan),
            _ => Err(Error::argument(format!(
                "metric = `{name}` is not known; use one of {}",
                Self::NAMES.join(", ")
            ))),
        }
    }
}

/// The space in which distances are measured.
#[derive(Clone, Debug)]
pub enum Space<'a> {
    /// A plain distance between rows.
    Plain(Differences<'a>, Metric),
    /// Distances in the space of a kernel that no plain distance stands for: kernel, rows, k(x,x).
    Kernel(Kernel, Cow<'a, Rows<'a>>, Vec<f64>),
}

/// Groups of rows among which the nearest are found separately.
#[derive(Clone, Copy, Debug)]
pub enum Groups<'a> {
    /// All other rows.
    All,
    /// Group 0: rows of the same class; group 1: rows of other classes.
    HitsMisses(&'a [usize]),
    /// One group per class, by its code.
    Classes(&'a [usize], usize),
}

/// The nearest rows of one row, by group, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The row.
    pub query: usize,
    /// Indices of up to k rows per group.
    pub groups: Vec<Vec<usize>>,
}

/// For every row its nearest hits and misses, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// Indices of up to k rows of the same class.
    pub hits: Vec<Vec<usize>>,
    /// Indices of up to k rows of other classes.
    pub misses: Vec<Vec<usize>>,
}

impl Neighbours {
    /// Finds up to k hits and k misses of every row; `codes` are the rows' classes.
    ///
    /// ```
    /// use mercer::{Kernel, Monitor, Rows, evidence::neighbours::Neighbours};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 5.0, 6.0], 4, 1)?;
    /// let found = Neighbours::find(Kernel::rbf(1.0), &rows, &[0, 0, 1, 1], 1, &Monitor::default())?;
    /// assert_eq!(found.hits, [[1], [0], [3], [2]]);
    /// assert_eq!(found.misses, [[2], [2], [1], [1]]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are fewer codes than rows.
    pub fn find(kernel: Kernel, rows: &Rows, codes: &[usize], k: usize, monitor: &Monitor) -> Result<Self> {
        let every: Vec<usize> = (0..rows.n()).collect();
        Ok(Self::find_for(&every, kernel, rows, codes, k, Search::Exact, monitor)?.0)
    }

    /// Finds up to k hits and k misses of some rows, exactly or approximately; the lists of other rows stay empty. Also a
    /// note on the recall of an approximate search.
    pub(crate) fn find_for(
        queries: &[usize],
        kernel: Kernel,
        rows: &Rows,
        codes: &[usize],
        k: usize,
        search: Search,
        monitor: &Monitor,
    ) -> Result<(Self, Option<String>)> {
        let space = Space::of_kernel(kernel, rows)?;
        let groups = Groups::HitsMisses(codes);
        let (found, note) = space.nearest_by(search, groups, k, queries, monitor, <[Found]>::to_vec)?;
        let mut near = Self { hits: vec![Vec::new(); rows.n()], misses: vec![Vec::new(); rows.n()] };
        for Found { query, groups } in found.into_iter().flatten() {
            let mut groups = groups.into_iter();
            near.hits[query] = groups.next().unwrap_or_default();
            near.misses[query] = groups.next().unwrap_or_default();
        }
        Ok((near, note))
    }
}

impl<'a> Space<'a> {
    /// The space of a kernel. Precomputed: the rows are the square kernel matrix.
    pub fn of_kernel(kernel: Kernel, rows: &'a Rows<'a>) -> Result<Self> {
        let metric = match (kernel.shape, kernel.shape.statistic()) {
            (Shape::Linear, _) | (_, Statistic::SquaredDistance) => Metric::Euclidean,
            (_, Statistic::Manhattan) => Metric::Manhattan,
            _ => return Ok(Self::Kernel(kernel, rows.to_f64(), diagonal(kernel, rows))),
        };
        Ok(Self::Plain(Differences::new(rows, &[], false)?, metric))
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        match self {
            Self::Plain(differences, _) => differences.n(),
            Self::Kernel(_, rows, _) => rows.n(),
        }
    }

    /// The distance of two rows from their own numbers, exact enough to detect ties; euclidean and in a kernel's space: squared.
    ///
    /// ```
    /// use mercer::{Kernel, Rows, evidence::neighbours::Space};
    ///
    /// let rows = Rows::dense(vec![0.0, 3.0, 5.0], 3, 1)?;
    /// assert_eq!(Space::of_kernel(Kernel::rbf(0.1), &rows)?.distance(0, 1), 9.0); // that of the rows
    /// let given = Rows::dense(vec![2.0, 0.5, 0.5, 1.0], 2, 2)?;
    /// assert_eq!(Space::of_kernel(Kernel::precomputed(), &given)?.distance(0, 1), 2.0 + 1.0 - 2.0 * 0.5);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Plain(differences, metric) => differences.distance(*metric, i, j),
            Self::Kernel(kernel, rows, own) => {
                let mut value = [pair_statistic(*kernel, rows, i, j)];
                if kernel.shape.statistic() == Statistic::ChiSquared {
                    return value[0];
                }
                kernel.finish(&mut value);
                own[i] + own[j] - 2.0 * value[0]
            }
        }
    }

    /// Finds up to k rows per group for each of the queries; `hand_on` is called with panels of queries, and its results come
    /// back in the order of the queries, whatever the number of threads.
    ///
    /// ```
    /// use mercer::{Monitor, Rows, evidence::{differences::Differences, neighbours::{Groups, Metric, Space}}};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 5.0], 3, 1)?;
    /// let space = Space::Plain(Differences::new(&rows, &[], false)?, Metric::Euclidean);
    /// let nearest = space.nearest(Groups::All, 1, &[0, 2], &Monitor::default(), |found| found.to_vec())?;
    /// assert_eq!(nearest.concat()[1].groups, [[1]]); // of row 2
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a query is not below n or there are fewer codes than rows.
    pub fn nearest<T: Send>(
        &self,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[Found]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let base = self.base(self.n(), groups.classes(), self.strategy(self.n(), k))?;
        self.among(&base, groups, k, queries, monitor, hand_on)
    }
}

impl<'a> Groups<'a> {
    /// The rows' classes, if the groups depend on them.
    pub(super) fn classes(self) -> Option<&'a [usize]> {
        match self {
            Self::All => None,
            Self::HitsMisses(codes) | Self::Classes(codes, _) => Some(codes),
        }
    }

    /// Whether any class has at least this many of the n rows.
    pub(super) fn any_of(self, n: usize, rows: usize) -> bool {
        let Some(codes) = self.classes() else { return n >= rows };
        let mut sizes = vec![0; codes.iter().max().map_or(0, |most| most + 1)];
        codes[..n].iter().for_each(|&class| sizes[class] += 1);
        sizes.iter().any(|&size| size >= rows)
    }

    pub(super) fn count(self) -> usize {
        match self {
            Self::All => 1,
            Self::HitsMisses(_) => 2,
            Self::Classes(_, c) => c,
        }
    }

    /// The group of a row of this class for the query.
    pub(super) fn of(self, query: usize, class: usize) -> usize {
        match self {
            Self::All => 0,
            Self::HitsMisses(codes) => usize::from(codes[query] != class),
            Self::Classes(..) => class,
        }
    }
}

/// All rows, or a seeded sample of them, ascending.
pub(crate) fn queries(n: usize, wanted: Option<usize>, seed: u64) -> Vec<usize> {
    let mut chosen = crate::random::sample(n, wanted.unwrap_or(n), seed);
    chosen.sort_unstable();
    chosen
}

/// Sums over panels, in the order of the panels.
pub(crate) fn add_up(parts: &[Vec<f64>], range: Range<usize>) -> Vec<f64> {
    let mut sum = vec![0.0; range.len()];
    for part in parts {
        sum.iter_mut().zip(&part[range.clone()]).for_each(|(s, v)| *s += v);
    }
    sum
}
