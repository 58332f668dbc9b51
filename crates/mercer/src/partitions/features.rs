//! Sums over the features of rows in partitions.

use faer::{Mat, MatRef};

use super::answer::Reply;
use super::parted::{Parted, unexpected};
use super::question::Ask;
use super::select::compares_every_row;
use super::wire::Matrix;
use crate::basis::expansion::Expansion;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::evidence::moments::Summary;
use crate::evidence::partition::{GroupKind, SearchSpace};
use crate::extract::{Comparison, FeatureSums, Given, Source, Targets};
use crate::linalg::Deciding;
use crate::options::Options;
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

    fn margin(&self, comparison: &Comparison) -> Result<(Mat<f64>, Option<String>)> {
        let Comparison { method, every, queries, kernel, k, .. } = *comparison;
        if every {
            return Err(compares_every_row(method));
        }
        let space = SearchSpace::Kernel(kernel);
        let found = self.parted.involved(queries, k, GroupKind::HitsMisses, space)?;
        let nobody = vec![Vec::new(); found.rows.n()];
        let mut sides = [nobody.clone(), nobody];
        for (&query, groups) in found.queries.iter().zip(&found.groups) {
            sides.iter_mut().zip(groups).for_each(|(side, group)| side[query].clone_from(group));
        }
        let [hits, misses] = sides;
        let options = Options::default();
        let few = Source::<f64>::with(&found.rows, None, self.expansion, Given::Nothing, &options);
        Ok((comparison.sum(&few, &hits, &misses)?, None))
    }

    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
        // The map itself needs no coordinates; where these are kept they are faster.
        let expansion = self.expansion.composed(matrix, offset, &[]);
        let along = self.of_factor.then(|| (Matrix(matrix.to_owned()), offset.to_vec()));
        match self.parted.ask_merged(Ask::Signs { expansion, along })? {
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
