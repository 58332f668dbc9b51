//! Extractors become maps: `Gda { .. }.fit(&rows, &labels, basis)`.

use super::FeatureMap;
use crate::basis::FittedBasis;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::extract::{
    AkdaQr, Coordinates, Directions, Extractor, Gda, Kanmm, Klfe, Kmfa, Koc, Kpca, Kpls, Skfe,
};
use crate::options::Options;

impl Extractor {
    /// Fits on rows in the coordinates of a basis that was fitted on them; the directions tell how it went. `features` are
    /// the rows' coordinates, where the caller has them already.
    pub fn fit<'l>(
        &self,
        rows: &Rows,
        labels: impl Into<Option<&'l Labels>>,
        basis: FittedBasis,
        features: Option<&Rows>,
        options: &Options,
    ) -> Result<(FeatureMap, Directions)> {
        let coordinates = Coordinates::new(rows, labels.into(), &basis, features, options)?;
        let directions = self.directions(coordinates)?;
        let map = FeatureMap::from_directions(self.name(), FeatureMap::from(basis), &directions)?;
        Ok((map, directions))
    }
}

macro_rules! fit {
    ($($extractor:ident),*) => {$(
        impl $extractor {
            /// Fits on labelled rows in the coordinates of a basis that was fitted on them. What the user should know is
            /// in the map's `warnings`.
            pub fn fit<'l>(
                &self,
                rows: &Rows,
                labels: impl Into<Option<&'l Labels>>,
                basis: FittedBasis,
            ) -> Result<FeatureMap> {
                let extractor = Extractor::from(self.clone());
                Ok(extractor.fit(rows, labels, basis, None, &Options::default())?.0)
            }
        }
    )*};
}

fit!(Klfe, Skfe, Gda, Koc, AkdaQr, Kpls, Kmfa, Kanmm, Kpca);
