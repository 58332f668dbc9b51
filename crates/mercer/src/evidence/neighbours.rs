//! Nearest hits (same class, not the row itself) and misses (another class) of every row, in the kernel's space.
//!
//!   d(x, x') = k(x,x) + k(x',x') − 2k(x,x');  stationary kernels: the input distance it is monotone in, because
//!   2 − 2k saturates in floating point
//!
//! cost    n² distances by matrix products, in panels; memory O(n·k) and a copy of the rows
//! differs ties go to the lower index; fewer than k available: those there are

use rayon::prelude::*;

use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::gram::diagonal;
use crate::kernel::kernel::Statistic;
use crate::kernel::{Kernel, Panel, Shape};
use crate::monitor::Monitor;

/// Rows that queries are compared with at a time.
const BASE: usize = 2_048;

/// A plain distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let n = rows.n();
        let own = diagonal(kernel, rows);
        let base: Vec<(usize, Panel)> =
            (0..n).step_by(BASE).map(|at| (at, base_panel(kernel, rows, at..n.min(at + BASE)))).collect();
        monitor.begin("finding neighbours", n);
        let all = rows;
        let starts: Vec<usize> = (0..n).step_by(PANEL).collect();
        let found: Vec<Vec<[Nearest; 2]>> = starts
            .into_par_iter()
            .map(|start| {
                let queries = start..n.min(start + PANEL);
                let mut nearest: Vec<[Nearest; 2]> =
                    queries.clone().map(|_| [Nearest::new(k), Nearest::new(k)]).collect();
                let rows = rows.slice(queries.clone());
                for (first, panel) in &base {
                    monitor.check()?;
                    let l = panel.n_landmarks();
                    let mut distances = vec![0.0; queries.len() * l];
                    if kernel.shape.is_stationary() {
                        panel.statistics(&rows, &mut distances);
                    } else {
                        panel.fill(&rows, &mut distances);
                    }
                    for (i, line) in queries.clone().zip(distances.chunks_exact(l)) {
                        for (j, &value) in (*first..).zip(line).filter(|(j, _)| *j != i) {
                            let kind = &mut nearest[i - start][usize::from(codes[i] != codes[j])];
                            match kernel.shape.statistic() {
                                // Distances from products are right to a few ulps; ties are decided by exact ones.
                                Statistic::SquaredDistance => {
                                    if kind.may_take(value / kernel.gamma) {
                                        kind.offer(all.squared_distance(i, all, j), j);
                                    }
                                }
                                Statistic::Manhattan => kind.offer(value, j),
                                _ => kind.offer(own[i] + own[j] - 2.0 * value, j),
                            }
                        }
                    }
                }
                monitor.advance(queries.len());
                Ok(nearest)
            })
            .collect::<Result<_>>()?;
        let (hits, misses) =
            found.into_iter().flatten().map(|[hit, miss]| (hit.indices(), miss.indices())).unzip();
        Ok(Self { hits, misses })
    }
}

fn base_panel(kernel: Kernel, rows: &Rows, range: std::ops::Range<usize>) -> Panel {
    let indices: Vec<usize> = range.collect();
    match kernel.shape {
        Shape::Precomputed => Panel::given(&indices, rows.p()),
        _ => Panel::new(kernel, &rows.select(&indices)),
    }
}

/// The k smallest of the distances offered, ascending; an equal distance that comes later stays behind.
struct Nearest {
    k: usize,
    best: Vec<(f64, usize)>,
}

impl Nearest {
    fn new(k: usize) -> Self {
        Self { k, best: Vec::with_capacity(k + 1) }
    }

    /// Whether a distance that is right to nine digits could be among the k smallest.
    fn may_take(&self, distance: f64) -> bool {
        self.best.len() < self.k || self.best.last().is_some_and(|worst| distance <= worst.0 * (1.0 + 1e-9))
    }

    fn offer(&mut self, distance: f64, index: usize) {
        if self.best.len() == self.k && self.best.last().is_none_or(|worst| distance >= worst.0) {
            return;
        }
        let at = self.best.partition_point(|b| b.0 <= distance);
        self.best.insert(at, (distance, index));
        self.best.truncate(self.k);
    }

    fn indices(&self) -> Vec<usize> {
        self.best.iter().map(|b| b.1).collect()
    }
}
