//! Directions from sums alone: rows that came in batches and are gone.
//!
//! differs there are no rows whose features could decide on signs: the largest coefficient of a direction is positive

use faer::MatRef;

use super::coordinates::{Comparison, Coordinates, FeatureSums, Targets, at_once};
use super::{Directions, Extractor};
use crate::basis::FittedBasis;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::target::TargetSummary;
use crate::error::{Error, Result};
use crate::evidence::moments::{Moments, Summary};
use crate::monitor::Monitor;
use crate::real::Precision;
use faer::Mat;

/// Methods whose directions come from sums.
pub(crate) const BY_SUMS: [&str; 4] = ["gda", "kpls", "koc", "kpca"];

/// What was added up of the features.
struct Sums(Summary);

impl FeatureSums for Sums {
    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn moments(&self, targets: Targets) -> Result<Summary> {
        let mut summary = self.0.clone();
        if let Targets::Scaled { mean, unit } = targets {
            summary.target_mean.iter_mut().for_each(|v| *v = (*v - mean) / unit);
            summary.cross *= faer::Scale(1.0 / unit);
            summary.target_total *= faer::Scale(1.0 / unit / unit);
        }
        Ok(summary)
    }

    fn signs(&self, matrix: MatRef<'_, f64>, _: &[f64]) -> Result<Vec<f64>> {
        let largest = |i: usize| {
            matrix.row(i).iter().copied().fold(0.0f64, |m, v| if v.abs() > m.abs() { v } else { m })
        };
        Ok((0..matrix.nrows()).map(|i| if largest(i) < 0.0 { -1.0 } else { 1.0 }).collect())
    }

    fn margin(&self, comparison: &Comparison) -> Result<(Mat<f64>, Option<String>)> {
        Err(at_once(comparison.method))
    }

    fn some(&self, _: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        Err(at_once("a sample of the rows"))
    }

    fn class_means(&self) -> Result<Rows<'static>> {
        Err(at_once("class means"))
    }
}

impl Extractor {
    /// The directions in the coordinates of a basis from what batches of rows added up to: their coordinates and, beside
    /// them, one-hot classes, numbers, or nothing. For `gda`, `kpls`, `koc` and `kpca`.
    ///
    /// ```
    /// use faer::mat;
    /// use mercer::data::TargetSummary;
    /// use mercer::evidence::moments::Moments;
    /// use mercer::extract::{Extractor, Gda};
    /// use mercer::{Basis, Kernel, Labels, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
    /// let labels = Labels::classes(&["a", "a", "b", "b"]);
    /// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
    /// let z = basis.expansion.transform(&rows)?;
    /// let one_hot = mat![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
    /// let mut moments = Moments::new(1, 2);
    /// moments.accumulate(z.get(..2, ..), one_hot.get(..2, ..))?;
    /// moments.accumulate(z.get(2.., ..), one_hot.get(2.., ..))?;
    /// let gda = Extractor::from(Gda { reg: 0.0, n_components: None });
    /// let found = gda.from_sums(&moments, Some(TargetSummary::of(&labels)), &basis, &Monitor::default())?;
    /// assert!((found.eigenvalues[0] - 16.0 / 17.0).abs() < 1e-12);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn from_sums(
        &self,
        moments: &Moments,
        target: Option<TargetSummary>,
        basis: &FittedBasis,
        monitor: &Monitor,
    ) -> Result<Directions> {
        if !BY_SUMS.contains(&self.name()) {
            return Err(Error::argument(format!(
                "`{}` does not come from sums over rows; {} do",
                self.name(),
                BY_SUMS.map(|name| format!("`{name}`")).join(", ")
            )));
        }
        let summary = moments.finish()?;
        let (m, n) = (summary.mean.len(), summary.n as usize);
        if m != basis.n_components() {
            return Err(Error::argument(format!(
                "sums of {m} coordinates were given for a basis of {}",
                basis.n_components()
            )));
        }
        self.directions(Coordinates::elsewhere(n, target, basis, Box::new(Sums(summary)), monitor))
    }
}
