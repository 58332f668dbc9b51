//! Moments of features and targets: counts, means and scatters, in one pass and in any order of the rows.
//!
//!   n,  w̄,  Σ (w − w̄)(w − w̄)ᵀ,  w = (z, y);   two parts: Σ + Σ' + n·n'/(n + n')·δδᵀ, δ = w̄' − w̄
//!
//! [`Moments::accumulate`] adds a panel of rows, [`Moments::merge`] the sums of another thread or machine, and
//! [`Moments::finish`] turns the sums into means and scatters.
//!
//! cost    (m + c)² flops per row, by matrix products
//! source  Chan, Golub & LeVeque 1983
//! differs every panel is summed about its own mean, and merging only adds: nothing cancels, however large the offset
//!         of the features and however the rows are ordered

use faer::{Mat, MatMut, MatRef};

use crate::data::weights::Weights;
use crate::error::{Error, Result};
use crate::linalg::large::copied;
use crate::linalg::{product, self_product};
use crate::real::Real;

/// Sizes of classes this close to a whole number, as a share of all rows, are whole but for rounding.
const WHOLE: f64 = 1e-12;

/// A standard deviation of at most this share of the mean is what rounding leaves of a constant.
const CONSTANT: f64 = 1e-14;

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
    n: f64,
    /// w̄ as a sum of two parts, m + c numbers each: with a large offset a single number would round differences of means.
    shift: Vec<f64>,
    mean: Vec<f64>,
    /// Σ (w − w̄)(w − w̄)ᵀ.
    scatter: Mat<f64>,
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
    /// Empty sums of m features and c targets.
    pub fn new(m: usize, c: usize) -> Self {
        let zeros = vec![0.0; m + c];
        Self { m, c, n: 0.0, shift: zeros.clone(), mean: zeros, scatter: Mat::zeros(m + c, m + c) }
    }

    /// Adds rows: z is h×m, y is h×c.
    pub fn accumulate(&mut self, z: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Result<()> {
        self.accumulate_in(z, y, None)
    }

    /// Adds rows that count differently: h weights.
    pub fn accumulate_by(&mut self, z: MatRef<'_, f64>, y: MatRef<'_, f64>, weights: &Weights) -> Result<()> {
        weights.check(z.nrows())?;
        self.accumulate_in(z, y, Some(weights))
    }

    /// Adds rows of float32 or float64 features: means are computed in float64, the product in the features' precision.
    pub(crate) fn accumulate_in<T: Real>(
        &mut self,
        z: MatRef<'_, T>,
        y: MatRef<'_, f64>,
        weights: Option<&[f64]>,
    ) -> Result<()> {
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
        let mut w = Mat::zeros(h, m + c);
        w.subcols_mut(0, m).copy_from(z);
        for (w, y) in w.subcols_mut(m, c).col_iter_mut().zip(y.col_iter()) {
            w.iter_mut().zip(y.iter()).for_each(|(w, y)| *w = T::of(*y));
        }
        self.merge(&Self::of_panel(w.as_mut(), m, weights))
    }

    /// Sums of rows of m features and, in the last columns, targets, which are left centred. `weights`: what each row counts.
    pub(crate) fn of_panel<T: Real>(mut w: MatMut<'_, T>, m: usize, weights: Option<&[f64]>) -> Self {
        let (h, all) = w.shape();
        let n = weights.map_or(h as f64, |weights| weights.iter().sum());
        if n == 0.0 {
            return Self::new(m, all - m);
        }
        let mut take_mean = || -> Vec<f64> {
            w.as_mut()
                .col_iter_mut()
                .map(|column| {
                    let sum = match weights {
                        None => T::sum_of(column.as_ref()),
                        Some(weights) => {
                            column.as_ref().iter().zip(weights).map(|(v, w)| v.double() * w).sum()
                        }
                    };
                    let mean = sum / n;
                    column.iter_mut().for_each(|v| *v = T::of(v.double() - mean));
                    mean
                })
                .collect()
        };
        // The second time yields what rounding left of the mean.
        let (shift, mean) = (take_mean(), take_mean());
        if let Some(weights) = weights {
            let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
            for column in w.as_mut().col_iter_mut() {
                column.iter_mut().zip(&roots).for_each(|(v, root)| *v = T::of(v.double() * root));
            }
        }
        Self { m, c: all - m, n, shift, mean, scatter: self_product(w.as_ref()) }
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if (self.m, self.c) != (other.m, other.c) {
            return Err(Error::argument(format!(
                "sums of {} features and {} targets cannot be merged with sums of {} and {}",
                self.m, self.c, other.m, other.c
            )));
        }
        if other.n > 0.0 {
            self.add(other.n, &other.shift, &other.mean, other.scatter.as_ref());
        }
        Ok(())
    }

    fn add(&mut self, n: f64, shift: &[f64], mean: &[f64], scatter: MatRef<'_, f64>) {
        if self.n == 0.0 {
            (self.n, self.scatter) = (n, scatter.to_owned());
            (self.shift, self.mean) = (shift.to_vec(), mean.to_vec());
            return;
        }
        let all = self.n + n;
        let apart: Vec<f64> =
            (0..self.mean.len()).map(|j| (shift[j] - self.shift[j]) + (mean[j] - self.mean[j])).collect();
        let weight = self.n * (n / all);
        for (j, (own, theirs)) in self.scatter.col_iter_mut().zip(scatter.col_iter()).enumerate() {
            for ((own, theirs), apart_i) in own.iter_mut().zip(theirs.iter()).zip(&apart) {
                *own += theirs + weight * (apart_i * apart[j]);
            }
        }
        self.mean.iter_mut().zip(&apart).for_each(|(mean, apart)| *mean += apart * (n / all));
        self.n = all;
    }

    /// The sums, to be stored or sent: m, n, the mean in two parts and the scatter.
    pub fn parts(&self) -> (usize, f64, &[f64], &[f64], &Mat<f64>) {
        (self.m, self.n, &self.shift, &self.mean, &self.scatter)
    }

    /// Sums from their [`parts`](Self::parts).
    pub fn from_parts(m: usize, n: f64, shift: Vec<f64>, mean: Vec<f64>, scatter: Mat<f64>) -> Result<Self> {
        let all = scatter.ncols();
        if m > all || scatter.nrows() != all || shift.len() != all || mean.len() != all {
            return Err(Error::argument(format!(
                "sums of {m} features with a scatter of {} × {all} and means of {} and {} numbers do not fit together",
                scatter.nrows(),
                shift.len(),
                mean.len()
            )));
        }
        Ok(Self { m, c: all - m, n, shift, mean, scatter })
    }

    /// Means and scatters of all rows added.
    pub fn finish(&self) -> Result<Summary> {
        let (m, c) = (self.m, self.c);
        if self.n == 0.0 {
            return Err(Error::data("no rows were added up"));
        }
        let mean: Vec<f64> = self.shift.iter().zip(&self.mean).map(|(a, b)| a + b).collect();
        Summary {
            n: self.n,
            mean: mean[..m].to_vec(),
            target_mean: mean[m..].to_vec(),
            total: copied(self.scatter.submatrix(0, 0, m, m)),
            cross: self.scatter.submatrix(0, m, m, c).to_owned(),
            target_total: self.scatter.submatrix(m, m, c, c).to_owned(),
        }
        .checked()
    }
}

impl Summary {
    /// This summary, unless its sums have overflowed.
    pub(crate) fn checked(self) -> Result<Self> {
        let finite = |values: &[f64], scatter: &Mat<f64>| {
            values.iter().enumerate().all(|(j, mean)| mean.is_finite() && scatter[(j, j)].is_finite())
        };
        if finite(&self.mean, &self.total) && finite(&self.target_mean, &self.target_total) {
            return Ok(self);
        }
        Err(Error::Numerical(
            "squares of the features or of the target are too large to be added up\n\
             hint: scale the columns or the target, or lower coef0 and degree of the kernel"
                .into(),
        ))
    }

    /// Divides every target by its standard deviation, so that all count the same; not a constant one, which has rounding alone.
    pub(crate) fn standardise_targets(&mut self) {
        let deviation = |j: usize| (self.target_total[(j, j)] / self.n).sqrt();
        let varies = |j: usize| deviation(j) > CONSTANT * self.target_mean[j].abs();
        let units: Vec<f64> =
            (0..self.target_mean.len()).map(|j| if varies(j) { deviation(j) } else { 1.0 }).collect();
        for (j, unit) in units.iter().enumerate() {
            self.target_mean[j] /= unit;
            self.cross.col_mut(j).iter_mut().for_each(|v| *v /= unit);
            self.target_total.col_mut(j).iter_mut().zip(&units).for_each(|(v, other)| *v /= unit * other);
        }
    }

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

    /// One-hot classes: the number of rows of each, or the sum of their weights.
    pub fn sizes(&self) -> Vec<f64> {
        let size = |share: &f64| {
            let (size, whole) = (self.n * share, (self.n * share).round());
            if (size - whole).abs() <= WHOLE * self.n { whole } else { size }
        };
        self.target_mean.iter().map(size).collect()
    }

    /// One-hot classes: √n_c (z̄_c − z̄) for every class that has rows, one per column; F Fᵀ is [`between`](Self::between).
    pub fn between_factor(&self) -> Mat<f64> {
        let sizes = self.sizes();
        let classes: Vec<usize> = (0..sizes.len()).filter(|&j| sizes[j] > 0.0).collect();
        Mat::from_fn(self.mean.len(), classes.len(), |i, at| {
            self.cross[(i, classes[at])] / sizes[classes[at]].sqrt()
        })
    }

    /// One-hot classes: Σ_c n_c (z̄_c − z̄)(z̄_c − z̄)ᵀ, m×m.
    pub fn between(&self) -> Mat<f64> {
        let factor = self.between_factor();
        product(factor.as_ref(), factor.transpose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (z, y) about an offset.
    fn data(n: usize, offset: f64) -> (Mat<f64>, Mat<f64>) {
        let value = |i: usize, j: usize| ((i * 7 + j * 5) % 11) as f64 / 8.0 + ((i * i + j) % 5) as f64;
        let z = Mat::from_fn(n, 3, |i, j| offset + value(i, j));
        (z, Mat::from_fn(n, 2, |i, j| f64::from(u8::from(i % 3 % 2 == j))))
    }

    fn of(z: &Mat<f64>, y: &Mat<f64>, panels: &[usize]) -> Summary {
        let mut all = Moments::new(z.ncols(), y.ncols());
        let mut start = 0;
        for &h in panels {
            let mut part = Moments::new(z.ncols(), y.ncols());
            part.accumulate(z.subrows(start, h), y.subrows(start, h)).expect("fits");
            all.merge(&part).expect("fits");
            start += h;
        }
        all.finish().expect("rows")
    }

    #[test]
    fn an_offset_of_a_hundred_million_leaves_the_scatter_exact() {
        // Eighths survive beside 2^27, so the scatter about it must be that about 0.
        let (near, y) = data(200, 0.0);
        let (far, _) = data(200, f64::from(1 << 27));
        let (near, far) = (of(&near, &y, &[200]), of(&far, &y, &[30, 100, 0, 70]));
        let size = near.total.norm_max();
        assert!((&near.total - &far.total).norm_max() < 1e-12 * size);
        assert!((&near.cross - &far.cross).norm_max() < 1e-12 * size);
        assert!((0..3).all(|j| (far.mean[j] - f64::from(1 << 27) - near.mean[j]).abs() < 1e-7));
    }

    #[test]
    fn sorted_rows_lose_nothing() {
        // The first panel lies at 0, the others a hundred million away: they scatter by eighths.
        let n = 1_000;
        let z = Mat::from_fn(n, 1, |i, _| if i == 0 { 0.0 } else { 1e8 + (i % 8) as f64 / 8.0 });
        let y = Mat::zeros(n, 0);
        let mut rest = Moments::new(1, 0);
        rest.accumulate(z.subrows(1, n - 1), y.subrows(1, n - 1)).expect("fits");
        let rest = rest.finish().expect("rows");
        let all = of(&z, &y, &[1, n - 1]);
        let jump = (n - 1) as f64 / n as f64 * rest.mean[0] * rest.mean[0];
        assert!((all.total[(0, 0)] - rest.total[(0, 0)] - jump).abs() <= 2.0 * f64::EPSILON * jump);
    }

    #[test]
    fn raw_moments_and_classes_come_back() {
        let (z, y) = data(60, 2.0);
        let found = of(&z, &y, &[11, 49]);
        assert!((found.gram() - z.transpose() * &z).norm_max() < 1e-11);
        assert!((found.sums() - z.transpose() * &y).norm_max() < 1e-11);
        assert_eq!(found.sizes(), [40.0, 20.0]);
        let factor = found.between_factor();
        assert!((found.between() - &factor * factor.transpose()).norm_max() < 1e-12);
        // Within and between make the total: rows about their class mean.
        let own = |i: usize, j: usize| found.sums()[(j, i % 3 % 2)] / found.sizes()[i % 3 % 2];
        let left = Mat::from_fn(60, 3, |i, j| z[(i, j)] - own(i, j));
        assert!((&found.total - found.between() - left.transpose() * &left).norm_max() < 1e-11);
    }

    #[test]
    fn sums_go_through_their_parts() {
        let (z, y) = data(20, 2.0);
        let mut sums = Moments::new(3, 2);
        sums.accumulate(z.as_ref(), y.as_ref()).expect("fits");
        let (m, n, shift, mean, scatter) = sums.parts();
        let again = Moments::from_parts(m, n, shift.to_vec(), mean.to_vec(), scatter.clone()).expect("fits");
        assert_eq!(again, sums);
        assert!(Moments::from_parts(6, n, shift.to_vec(), mean.to_vec(), scatter.clone()).is_err());
        assert!(Moments::from_parts(3, n, vec![0.0; 4], mean.to_vec(), scatter.clone()).is_err());
    }

    #[test]
    fn sums_that_overflow_are_refused_in_words() {
        let mut sums = Moments::new(1, 0);
        sums.accumulate(Mat::from_fn(2, 1, |i, _| i as f64 * 1e200).as_ref(), Mat::zeros(2, 0).as_ref())
            .expect("fits");
        assert!(sums.finish().expect_err("refused").to_string().contains("too large to be added up"));
        assert!(Moments::new(1, 0).finish().is_err());
    }
}
