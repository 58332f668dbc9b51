//! Moments: what rows of features and targets add up to, in one pass and in any order.
//!
//!   Σ w wᵀ,  w = (z − s, y − t, 1):  n, Σ z, Σ z zᵀ, Σ z yᵀ, Σ y, Σ y yᵀ in one symmetric matrix
//!
//! [`Moments::accumulate`] adds a panel of rows, [`Moments::merge`] what another thread or machine added up, and
//! [`Moments::finish`] turns the sums into means and scatters.
//!
//! cost    (m + c + 1)² flops a row, by matrix products
//! differs sums are about the first panel's means s and t, or large offsets would destroy the scatter; merging moves
//!         the other's sums to these

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::linalg::product;

/// Sums over rows of m features and c targets.
///
/// ```
/// use faer::mat;
/// use mercer::evidence::moments::Moments;
///
/// let (z, y) = (mat![[1.0], [3.0], [8.0]], mat![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
/// let mut all = Moments::new(1, 2);
/// all.accumulate(z.as_ref(), y.as_ref())?;
/// let mut halves = Moments::new(1, 2);
/// halves.accumulate(z.get(..1, ..), y.get(..1, ..))?;
/// let mut rest = Moments::new(1, 2);
/// rest.accumulate(z.get(1.., ..), y.get(1.., ..))?;
/// halves.merge(&rest)?;
/// let (all, halves) = (all.finish()?, halves.finish()?);
/// assert_eq!((all.mean[0], all.total[(0, 0)]), (4.0, 26.0)); // 9 + 1 + 16
/// assert_eq!(halves.total[(0, 0)], 26.0);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    m: usize,
    c: usize,
    /// s and t, once a panel has come.
    shift: Option<Vec<f64>>,
    sum: Mat<f64>,
}

/// Means and scatters.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of rows.
    pub n: f64,
    /// Mean features, m.
    pub mean: Vec<f64>,
    /// Mean targets, c: of one-hot classes, their shares.
    pub target_mean: Vec<f64>,
    /// Σ (z − z̄)(z − z̄)ᵀ, m×m.
    pub total: Mat<f64>,
    /// Σ (z − z̄)(y − ȳ)ᵀ, m×c.
    pub cross: Mat<f64>,
    /// Σ (y − ȳ)(y − ȳ)ᵀ, c×c.
    pub target_total: Mat<f64>,
}

impl Moments {
    /// Of no rows yet.
    pub fn new(m: usize, c: usize) -> Self {
        Self { m, c, shift: None, sum: Mat::zeros(m + c + 1, m + c + 1) }
    }

    /// The point about which sums are kept: s and t, m + c numbers. None: no rows yet.
    pub fn shift(&self) -> Option<&[f64]> {
        self.shift.as_deref()
    }

    /// Sums about another point from the start: panels that are to be merged in a fixed order should share it.
    pub fn about(m: usize, c: usize, shift: Vec<f64>) -> Result<Self> {
        if shift.len() != m + c {
            return Err(Error::argument(format!(
                "{} numbers to shift {m} features and {c} targets",
                shift.len()
            )));
        }
        Ok(Self { shift: Some(shift), ..Self::new(m, c) })
    }

    /// The sums alone, for panels that are added in order.
    pub(crate) fn into_sum(self) -> Mat<f64> {
        self.sum
    }

    /// Sums about a point that were added up elsewhere.
    pub(crate) fn from_sum(m: usize, c: usize, shift: Vec<f64>, sum: Mat<f64>) -> Self {
        Self { m, c, shift: Some(shift), sum }
    }

    /// Adds rows: z is h×m, y is h×c.
    pub fn accumulate(&mut self, z: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Result<()> {
        let (h, m, c) = (z.nrows(), self.m, self.c);
        if z.ncols() != m || y.ncols() != c || y.nrows() != h {
            return Err(Error::argument(format!(
                "features {h} × {} and targets {} × {} were given, but {m} features and {c} targets are added up",
                z.ncols(),
                y.nrows(),
                y.ncols()
            )));
        }
        if h == 0 {
            return Ok(());
        }
        let value = |i: usize, j: usize| if j < m { z[(i, j)] } else { y[(i, j - m)] };
        let shift = self.shift.get_or_insert_with(|| {
            (0..m + c).map(|j| (0..h).map(|i| value(i, j) / h as f64).sum()).collect()
        });
        let w = Mat::from_fn(h, m + c + 1, |i, j| if j < m + c { value(i, j) - shift[j] } else { 1.0 });
        self.sum += product(w.transpose(), w.as_ref());
        Ok(())
    }

    /// Adds what was added up elsewhere.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if (self.m, self.c) != (other.m, other.c) {
            return Err(Error::argument(format!(
                "sums of {} features and {} targets cannot be merged with sums of {} and {}",
                self.m, self.c, other.m, other.c
            )));
        }
        let (Some(from), last) = (&other.shift, self.m + self.c) else { return Ok(()) };
        let Some(to) = &self.shift else {
            *self = other.clone();
            return Ok(());
        };
        // w about the new point is M·w about the old one, with M = I but for the last column.
        let step: Vec<f64> = from.iter().zip(to).map(|(from, to)| from - to).collect();
        let mover = Mat::from_fn(last + 1, last + 1, |i, j| match (i == j, j == last) {
            (true, _) => 1.0,
            (false, true) => step[i],
            _ => 0.0,
        });
        let moved = product(product(mover.as_ref(), other.sum.as_ref()).as_ref(), mover.transpose());
        self.sum += moved;
        Ok(())
    }

    /// Means and scatters of all rows added.
    pub fn finish(&self) -> Result<Summary> {
        let (m, c, last) = (self.m, self.c, self.m + self.c);
        let n = self.sum[(last, last)];
        let Some(shift) = self.shift.as_ref().filter(|_| n > 0.0) else {
            return Err(Error::data("no rows were added up"));
        };
        let step: Vec<f64> = (0..last).map(|j| self.sum[(j, last)] / n).collect();
        let centred = |i: usize, j: usize| self.sum[(i, j)] - n * step[i] * step[j];
        let mean: Vec<f64> = shift.iter().zip(&step).map(|(shift, step)| shift + step).collect();
        Ok(Summary {
            n,
            target_mean: mean[m..].to_vec(),
            mean: mean[..m].to_vec(),
            total: Mat::from_fn(m, m, |i, j| centred(i, j)),
            cross: Mat::from_fn(m, c, |i, j| centred(i, m + j)),
            target_total: Mat::from_fn(c, c, |i, j| centred(m + i, m + j)),
        })
    }
}

impl Summary {
    /// Σ z zᵀ, m×m.
    pub fn gram(&self) -> Mat<f64> {
        Mat::from_fn(self.mean.len(), self.mean.len(), |i, j| {
            self.total[(i, j)] + self.n * self.mean[i] * self.mean[j]
        })
    }

    /// Σ z yᵀ, m×c: of one-hot classes, the sums of their rows.
    pub fn sums(&self) -> Mat<f64> {
        let y = &self.target_mean;
        Mat::from_fn(self.mean.len(), y.len(), |i, j| self.cross[(i, j)] + self.n * self.mean[i] * y[j])
    }

    /// One-hot classes: Σ_c n_c (z̄_c − z̄)(z̄_c − z̄)ᵀ, m×m.
    pub fn between(&self) -> Mat<f64> {
        let scaled = Mat::from_fn(self.mean.len(), self.target_mean.len(), |i, j| {
            let size = self.n * self.target_mean[j];
            if size > 0.0 { self.cross[(i, j)] / size.sqrt() } else { 0.0 }
        });
        product(scaled.as_ref(), scaled.transpose())
    }
}
