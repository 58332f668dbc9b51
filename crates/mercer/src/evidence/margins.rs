//! Margins: scatters of the differences between rows and their neighbours.
//!
//!   Σ ω (z_i − z_j)(z_i − z_j)ᵀ over hits, and over misses: m×m each
//!
//! [`Margins::accumulate`] adds pairs of rows, [`Margins::merge`] the sums of another thread or machine. Where all rows are
//! in memory, [`scatter`] needs one product per row instead of one per pair:
//!
//!   Σ_ij ω_ij (z_i − z_j)(z_i − z_j)ᵀ = Zᵀ E,   e_i = Σ_j (ω_ij + ω_ji)(z_i − z_j)
//!
//! cost    accumulate: 2·m² flops per pair; scatter: m² flops per row and 4·m per pair, summed in the order of the panels
//! differs Z is centred first, which changes nothing but rounding. The remaining rounding error is that of the features times
//!         the differences, as in a sum over pairs

use std::ops::Range;

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::linalg::{lower_product, mirror, product, sum_in_order};
use crate::monitor::Monitor;
use crate::real::Real;

/// The kind of a pair of neighbours.
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
    /// Empty sums of m features.
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

    /// Adds the sums of other pairs.
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

/// Rows of a panel that is multiplied at once.
const PANEL_ROWS: usize = 1_024;

/// Neighbours of every row, and the weight ω_i of row i's pairs.
pub type Pairs<'a> = (&'a [Vec<usize>], &'a (dyn Fn(usize) -> f64 + Sync));

/// Σ ω ΔΔᵀ over the pairs of every row with its neighbours; `z` is n×m.
///
/// ```
/// use faer::mat;
/// use mercer::{Monitor, evidence::margins::scatter};
///
/// let z = mat![[0.0], [2.0], [4.0]];
/// let (misses, hits) = ([vec![1], vec![0, 2], vec![]], [vec![2], vec![], vec![0]]);
/// let sum = scatter(z.as_ref(), &[(&misses, &|_| 1.0), (&hits, &|_| -0.25)], &Monitor::default())?;
/// assert_eq!(sum[(0, 0)], 4.0 + 4.0 + 4.0 - 0.25 * (16.0 + 16.0));
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Panics
/// If a neighbour's index is not below n, or if there are not n lists.
pub fn scatter(z: MatRef<'_, f64>, lists: &[Pairs], monitor: &Monitor) -> Result<Mat<f64>> {
    scatter_in(z, lists, monitor)
}

/// [`scatter`] of float32 or float64 features: differences are computed in float64, products in the features' precision.
pub(crate) fn scatter_in<T: Real>(z: MatRef<'_, T>, lists: &[Pairs], monitor: &Monitor) -> Result<Mat<f64>> {
    let (n, m) = (z.nrows(), z.ncols());
    let edges = Edges::new(n, lists);
    let means: Vec<f64> = z.col_iter().map(|column| T::sum_of(column) / n as f64).collect();
    monitor.begin("adding up differences", n);
    let mut sum = sum_in_order(n.div_ceil(PANEL_ROWS), m, m, monitor, |at| {
        let rows = at * PANEL_ROWS..n.min((at + 1) * PANEL_ROWS);
        monitor.advance(rows.len());
        edges.scatter(z, &means, rows)
    })?;
    mirror(&mut sum);
    Ok(sum)
}

/// Σ ω ΔΔᵀ over the pairs of some rows, from the features `z` of these rows and all their neighbours, whose indices among
/// all rows are `places`, ascending. Single-threaded.
pub(crate) fn scatter_of_few<T: Real>(
    z: MatRef<'_, T>,
    places: &[usize],
    rows: &[usize],
    lists: &[Pairs],
) -> Mat<f64> {
    let at = |i: &usize| places.binary_search(i).unwrap_or_else(|_| unreachable!("row {i} is among these"));
    let own: Vec<usize> = rows.iter().map(at).collect();
    let near: Vec<Vec<Vec<usize>>> = lists
        .iter()
        .map(|(neighbours, _)| {
            let mut local = vec![Vec::new(); places.len()];
            for (&own, &i) in own.iter().zip(rows) {
                local[own] = neighbours[i].iter().map(at).collect();
            }
            local
        })
        .collect();
    let weights: Vec<_> = lists.iter().map(|&(_, weight)| move |own: usize| weight(places[own])).collect();
    let lists: Vec<Pairs> = near
        .iter()
        .zip(&weights)
        .map(|(near, weight)| (&near[..], weight as &(dyn Fn(usize) -> f64 + Sync)))
        .collect();
    let means: Vec<f64> = z.col_iter().map(|column| T::sum_of(column) / z.nrows() as f64).collect();
    let mut sum = Edges::new(z.nrows(), &lists).scatter(z, &means, 0..z.nrows());
    mirror(&mut sum);
    sum
}

/// Pairs in compressed rows, each stored for both of its rows: ω_ij for i and for j.
struct Edges {
    start: Vec<usize>,
    other: Vec<(usize, f64)>,
}

impl Edges {
    fn new(n: usize, lists: &[Pairs]) -> Self {
        let pairs = || {
            lists.iter().flat_map(|&(neighbours, weight)| {
                assert_eq!(neighbours.len(), n, "neighbours of every row");
                let of = move |(i, js): (usize, &'_ Vec<usize>)| {
                    let weight = weight(i);
                    js.iter().map(|&j| (i, j, weight)).collect::<Vec<_>>()
                };
                neighbours.iter().enumerate().flat_map(of)
            })
        };
        let mut start = vec![0; n + 1];
        pairs().for_each(|(i, j, _)| {
            start[i + 1] += 1;
            start[j + 1] += 1;
        });
        (0..n).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let mut other = vec![(0, 0.0); start[n]];
        for (i, j, weight) in pairs() {
            for (from, to) in [(i, j), (j, i)] {
                other[next[from]] = (to, weight);
                next[from] += 1;
            }
        }
        Self { start, other }
    }

    fn of(&self, i: usize) -> &[(usize, f64)] {
        &self.other[self.start[i]..self.start[i + 1]]
    }

    /// The contribution of these rows to the lower half of ZᵀE, with `z` centred.
    fn scatter<T: Real>(&self, z: MatRef<'_, T>, means: &[f64], rows: Range<usize>) -> Mat<f64> {
        let m = z.ncols();
        let mut e = Mat::<T>::zeros(rows.len(), m);
        for (e, z) in e.col_iter_mut().zip(z.col_iter()) {
            let apart = |i: usize, &(j, weight): &(usize, f64)| weight * (z[i].double() - z[j].double());
            for (e, i) in e.iter_mut().zip(rows.clone()) {
                *e = T::of(self.of(i).iter().map(|pair| apart(i, pair)).sum());
            }
        }
        let centred = Mat::from_fn(rows.len(), m, |i, c| T::of(z[(rows.start + i, c)].double() - means[c]));
        lower_product(centred.transpose(), e.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_a_row_is_the_sum_over_pairs() {
        let (n, m) = (2_500, 4);
        let value = |i: usize, j: usize| ((i * i * 31 + j * j * 17 + i * j * 7) as f64 * 0.37).sin();
        // Two clusters far apart and far from 0, whose rows differ by little.
        let z = Mat::from_fn(n, m, |i, j| 1e4 + 100.0 * (i % 2) as f64 + value(i, j));
        let near = |step: usize| -> Vec<Vec<usize>> {
            (0..n).map(|i| (1..=i % 4).map(|k| (i + step * k) % n).collect()).collect()
        };
        let (hits, misses) = (near(2), near(1));
        let weight = |i: usize| 1.0 / (1 + i % 3) as f64;
        let fast = scatter(z.as_ref(), &[(&misses, &|_| 1.0), (&hits, &|i| -weight(i))], &Monitor::default());
        let fast = fast.expect("sums");
        let mut slow = Margins::new(m);
        for (side, list) in [(Side::Miss, &misses), (Side::Hit, &hits)] {
            let pairs: Vec<(usize, usize)> =
                list.iter().enumerate().flat_map(|(i, js)| js.iter().map(move |&j| (i, j))).collect();
            let a = Mat::from_fn(pairs.len(), m, |at, j| z[(pairs[at].0, j)]);
            let b = Mat::from_fn(pairs.len(), m, |at, j| z[(pairs[at].1, j)]);
            let weights: Vec<f64> = pairs.iter().map(|p| weight(p.0)).collect();
            let weights = (side == Side::Hit).then_some(&weights[..]);
            slow.accumulate(side, a.as_ref(), b.as_ref(), weights).expect("fits");
        }
        let difference = (&fast - (&slow.misses - &slow.hits)).norm_max();
        assert!(difference < 1e-11 * slow.misses.norm_max(), "{difference}");
        let hits_alone = scatter(z.as_ref(), &[(&hits, &weight)], &Monitor::default()).expect("sums");
        let difference = (&hits_alone - &slow.hits).norm_max();
        assert!(difference < 1e-11 * slow.hits.norm_max(), "{difference}");
    }
}
