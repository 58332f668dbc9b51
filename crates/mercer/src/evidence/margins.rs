//! Margins: what the differences to neighbours add up to.
//!
//!   Σ ω (z_i − z_j)(z_i − z_j)ᵀ over hits, and over misses: m×m each
//!
//! [`Margins::accumulate`] adds pairs of rows, [`Margins::merge`] what another thread or machine added up;
//! [`scatter`] does both for rows and lists of neighbours.
//!
//! cost    m² flops a pair by matrix products on panels of pairs, summed in the order of the panels
//! differs differences are taken before they are multiplied, so that neither an offset nor far clusters cost digits

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::linalg::{product, self_product, sum_in_order};
use crate::monitor::Monitor;

/// Which kind of neighbours a pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Of the same class.
    Hit,
    /// Of different classes.
    Miss,
}

/// Sums of outer products of differences.
///
/// ```
/// use faer::mat;
/// use mercer::evidence::margins::{Margins, Side};
///
/// let mut margins = Margins::new(1);
/// margins.accumulate(Side::Miss, mat![[0.0], [2.0]].as_ref(), mat![[3.0], [3.0]].as_ref(), None)?;
/// margins.accumulate(Side::Hit, mat![[0.0]].as_ref(), mat![[2.0]].as_ref(), Some(&[0.5]))?;
/// assert_eq!((margins.misses[(0, 0)], margins.hits[(0, 0)]), (10.0, 2.0));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Margins {
    /// Σ over hits, m×m.
    pub hits: Mat<f64>,
    /// Σ over misses, m×m.
    pub misses: Mat<f64>,
}

impl Margins {
    /// Of no pairs yet.
    pub fn new(m: usize) -> Self {
        Self { hits: Mat::zeros(m, m), misses: Mat::zeros(m, m) }
    }

    /// Adds pairs: the i-th rows of `a` and `b`, each pairs×m, with weight ω_i (1 without weights).
    pub fn accumulate(
        &mut self,
        side: Side,
        a: MatRef<'_, f64>,
        b: MatRef<'_, f64>,
        weights: Option<&[f64]>,
    ) -> Result<()> {
        let (pairs, m) = (a.nrows(), self.hits.ncols());
        let fits = a.ncols() == m && b.ncols() == m && b.nrows() == pairs;
        if !fits || weights.is_some_and(|w| w.len() != pairs) {
            return Err(Error::argument(format!(
                "pairs of {} × {} and {} × {} were given, but both sides need as many rows, {m} columns, and a weight a pair",
                pairs,
                a.ncols(),
                b.nrows(),
                b.ncols()
            )));
        }
        let difference = |i: usize, j: usize| a[(i, j)] - b[(i, j)];
        let plain = Mat::from_fn(pairs, m, difference);
        let weighted = Mat::from_fn(pairs, m, |i, j| weights.map_or(1.0, |w| w[i]) * plain[(i, j)]);
        let sum = product(weighted.transpose(), plain.as_ref());
        match side {
            Side::Hit => self.hits += sum,
            Side::Miss => self.misses += sum,
        }
        Ok(())
    }

    /// Adds what was added up elsewhere.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.hits.ncols() != other.hits.ncols() {
            return Err(Error::argument(format!(
                "sums of {} features cannot be merged with sums of {}",
                self.hits.ncols(),
                other.hits.ncols()
            )));
        }
        self.hits += &other.hits;
        self.misses += &other.misses;
        Ok(())
    }
}

/// Pairs whose differences are multiplied together, about.
const PAIRS: usize = 1_024;

/// Σ ω ΔΔᵀ over every row and its neighbours; `z` is n×m, and ω_i ≥ 0 is the weight of row i's pairs.
///
/// ```
/// use faer::mat;
/// use mercer::{Monitor, evidence::margins::scatter};
///
/// let z = mat![[0.0], [2.0], [5.0]];
/// let sum = scatter(z.as_ref(), &[vec![1], vec![0, 2], vec![]], |_| 1.0, &Monitor::default())?;
/// assert_eq!(sum[(0, 0)], 4.0 + 4.0 + 9.0);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Panics
/// If a neighbour's index is not below n.
pub fn scatter(
    z: MatRef<'_, f64>,
    neighbours: &[Vec<usize>],
    weight: impl Fn(usize) -> f64 + Sync,
    monitor: &Monitor,
) -> Result<Mat<f64>> {
    let m = z.ncols();
    let longest = neighbours.iter().map(Vec::len).max().unwrap_or(0);
    let height = (PAIRS / longest.max(1)).max(1);
    monitor.begin("adding up differences", neighbours.len());
    sum_in_order(neighbours.len().div_ceil(height), m, m, monitor, |at| {
        let rows = at * height..neighbours.len().min((at + 1) * height);
        let pairs: Vec<(usize, usize, f64)> = rows
            .clone()
            .flat_map(|i| {
                let root = weight(i).max(0.0).sqrt();
                neighbours[i].iter().map(move |&j| (i, j, root))
            })
            .collect();
        let differences = Mat::from_fn(pairs.len(), m, |a, c| {
            let (i, j, root) = pairs[a];
            (z[(i, c)] - z[(j, c)]) * root
        });
        monitor.advance(rows.len());
        self_product(differences.as_ref())
    })
}
