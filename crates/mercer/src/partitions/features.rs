//! Sums over the features of rows in partitions.

use faer::{Mat, MatRef};

use super::answer::Reply;
use super::parted::{Parted, unexpected};
use super::question::Ask;
use crate::basis::expansion::Expansion;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::evidence::moments::Summary;
use crate::extract::{Comparison, FeatureSums, Targets};
use crate::linalg::Deciding;
use crate::real::Precision;

/// Features of rows in partitions, in float64.
pub(super) struct PartedFeatures<'p, 'e> {
    pub(super) parted: &'p Parted<'e>,
    /// The basis.
    pub(super) expansion: &'p Expansion,
    /// Whether the partitions keep the features as the columns of G.
    pub(super) of_factor: bool,
}

impl FeatureSums for PartedFeatures<'_, '_> {
    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn moments(&self, targets: Targets) -> Result<Summary> {
        let expansion = self.expansion.clone();
        let ask = Ask::Moments { expansion, targets, of_factor: self.of_factor };
        match self.parted.ask_merged(ask)? {
            Reply::Moments(moments) => moments.finish(),
            _ => Err(unexpected()),
        }
    }

    fn margin(&self, _: &Comparison) -> Result<(Mat<f64>, Option<String>)> {
        Err(Error::argument("not built"))
    }

    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
        // The map itself: it needs no coordinates.
        let expansion = self.expansion.composed(matrix, offset, &[]);
        match self.parted.ask_merged(Ask::Signs { expansion })? {
            Reply::Signs(found) => Ok(found.iter().map(Deciding::sign).collect()),
            _ => Err(unexpected()),
        }
    }

    fn some(&self, rows: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        self.parted.take(rows)
    }

    fn class_means(&self) -> Result<Rows<'static>> {
        self.parted.class_means()
    }
}
