//! Extractors become maps: `Gda { .. }.fit(&rows, &labels, basis)`.

use super::FeatureMap;
use crate::basis::FittedBasis;
use crate::data::either::Either;
use crate::data::labels::Labels;
use crate::error::Result;
use crate::extract::{
    AkdaQr, Coordinates, Directions, Extractor, Gda, Kanmm, Klfe, Kmfa, Koc, Kpca, Kpls, Limits, Skfe,
};
use crate::monitor::Monitor;

impl Extractor {
    /// Fits on rows in the coordinates of a basis that was fitted on them; the directions tell how it went.
    pub fn fit<'l, 'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: impl Into<Option<&'l Labels>>,
        basis: FittedBasis,
        monitor: &Monitor,
    ) -> Result<(FeatureMap, Directions)> {
        let (rows, labels) = (rows.into(), labels.into());
        let limits = Limits::default();
        let directions =
            self.directions(&Coordinates { rows, labels, basis: &basis, features: None, limits, monitor })?;
        let map = FeatureMap::from_directions(self.name(), FeatureMap::from(basis), &directions)?;
        Ok((map, directions))
    }
}

macro_rules! fit {
    ($($extractor:ident),*) => {$(
        impl $extractor {
            /// Fits on labelled rows in the coordinates of a basis that was fitted on them.
            pub fn fit<'l, 'r>(
                &self,
                rows: impl Into<Either<'r>>,
                labels: impl Into<Option<&'l Labels>>,
                basis: FittedBasis,
            ) -> Result<FeatureMap> {
                let extractor = Extractor::$extractor(self.clone());
                Ok(extractor.fit(rows, labels, basis, &Monitor::default())?.0)
            }
        }
    )*};
}

fit!(Klfe, Skfe, Gda, Koc, AkdaQr, Kpls, Kmfa, Kanmm, Kpca);
