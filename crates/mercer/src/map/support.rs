//! Which training rows a map uses.

use super::{FeatureMap, Predictor};
use crate::basis::{Landmarks, Method};
use crate::error::{Error, Result};

impl FeatureMap {
    /// How many landmarks the features of a row need: those with a coefficient that is not 0 in any feature. They are training
    /// rows, unless they are class means (`akda-qr`), centres (`kmeans`) or rows that were given as landmarks.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0, 7.0], 4, 1)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).n_components(3).fit(&rows)?);
    /// assert_eq!(map.n_support(), 3);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn n_support(&self) -> usize {
        self.supports().filter(|used| *used).count()
    }

    /// Whether each landmark has a coefficient that is not 0.
    fn supports(&self) -> impl Iterator<Item = bool> {
        self.expansion.matrix.col_iter().map(|column| column.iter().any(|v| *v != 0.0))
    }

    /// The training row that each landmark is; an error where landmarks are no training rows.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 7.0], 3, 1)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).n_components(2).fit(&rows)?);
    /// assert_eq!(map.landmark_rows()?, [0, 2]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn landmark_rows(&self) -> Result<Vec<usize>> {
        let l = self.expansion.landmarks.len();
        let no_rows = |what: &str| {
            Err(Error::argument(format!("the landmarks of this model are {what}, not training rows")))
        };
        if self.method == "akda-qr" {
            return no_rows("class means");
        }
        if self.facts.basis.as_ref().unwrap_or(&self.method) == Method::Kmeans.name() {
            return no_rows("centres of k-means clusters");
        }
        if self.facts.landmarks_given == Some(true) {
            return no_rows("rows that were given as landmarks");
        }
        match &self.expansion.landmarks {
            Landmarks::Columns { indices, .. } => Ok(indices.clone()),
            Landmarks::Rows(_) if self.pivots.len() == l => Ok(self.pivots.clone()),
            Landmarks::Rows(_) if self.pivots.is_empty() && self.facts.rows == Some(l) => {
                Ok((0..l).collect())
            }
            Landmarks::Rows(_) => no_rows("rows that the model does not number"),
        }
    }
}

impl Predictor {
    /// How many training rows a prediction needs: the landmarks of all members, each once.
    pub fn n_support(&self) -> usize {
        let used = |member: &FeatureMap| -> Option<Vec<usize>> {
            let rows = member.landmark_rows().ok()?;
            Some(
                rows.into_iter()
                    .zip(member.supports())
                    .filter_map(|(row, used)| used.then_some(row))
                    .collect(),
            )
        };
        match self.members.iter().map(used).collect::<Option<Vec<_>>>() {
            Some(rows) => {
                let mut rows = rows.concat();
                rows.sort_unstable();
                rows.dedup();
                rows.len()
            }
            None => self.members.iter().map(FeatureMap::n_support).sum(),
        }
    }
}
