//! Which training rows a map uses: how many a prediction needs, and which of them carry the features.
//!
//!   share of landmark l = Σ_q v_q·A_ql²/‖A_q‖² / Σ_q v_q      A q×l the map's matrix, v_q the variance of feature q
//!
//! Every feature gives its variance to the landmarks in proportion to its squared coefficients. Variances are those over
//! the landmarks themselves, because a model has no other rows.
//!
//! cost    l·min(l, 1 000) kernel values and 2·q·l·min(l, 1 000) flops
//! source  EKS, sec. 5, asks for "important data points" and gives no rule; this one is ours
//! differs a precomputed kernel's values between landmarks are not in a model: there every feature counts the same

use faer::Mat;

use super::{FeatureMap, Predictor};
use crate::basis::{Landmarks, Method};
use crate::error::{Error, Result};

/// The most landmarks over which variances are taken, evenly spaced.
const VARIANCE_ROWS: usize = 1_000;

/// Training rows that carry a map's features, the most important first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportantPoints {
    /// Their indices; rows without a share are left out.
    pub rows: Vec<usize>,
    /// Their shares, which sum to 1.
    pub shares: Vec<f64>,
}

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
            return no_rows("centres of k-means clusters, or points moved from there");
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

    /// Training rows that carry the features, the most important first; rows with equal shares in their own order. The rule
    /// is the share of a landmark in the squared coefficients of each feature, averaged over the features by their variance
    /// over the landmarks. An error where landmarks are no training rows.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 9.0, 3.0], 3, 1)?; // far apart: every row is a coordinate of its own
    /// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(9.0)).fit(&rows)?);
    /// let important = map.important_points()?;
    /// assert_eq!(important.rows.len(), 3);
    /// assert!(important.shares.iter().all(|share| (share - 1.0 / 3.0).abs() < 1e-12));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn important_points(&self) -> Result<ImportantPoints> {
        let rows = self.landmark_rows()?;
        let shares = landmark_shares(&self.expansion.matrix, &self.variances()?);
        let mut order: Vec<usize> =
            self.supports().enumerate().filter_map(|(l, used)| used.then_some(l)).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(rows[a].cmp(&rows[b])));
        Ok(ImportantPoints {
            rows: order.iter().map(|&l| rows[l]).collect(),
            shares: order.iter().map(|&l| shares[l]).collect(),
        })
    }

    /// The variance of each feature over the landmarks; all 1 where it is not known or all are 0.
    fn variances(&self) -> Result<Vec<f64>> {
        let q = self.n_features();
        let Landmarks::Rows(rows) = &self.expansion.landmarks else { return Ok(vec![1.0; q]) };
        let (l, seen) = (rows.n(), rows.n().min(VARIANCE_ROWS));
        let sample = rows.select(&(0..seen).map(|i| i * l / seen).collect::<Vec<_>>());
        let features = self.expansion.transform(&sample)?;
        let variance = |column: faer::ColRef<'_, f64>| {
            let mean = column.sum() / seen as f64;
            column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / seen as f64
        };
        let variances: Vec<f64> = features.col_iter().map(variance).collect();
        let all: f64 = variances.iter().sum();
        Ok(if all > 0.0 && all.is_finite() { variances } else { vec![1.0; q] })
    }
}

/// Each landmark's share in features of these variances.
fn landmark_shares(matrix: &Mat<f64>, variances: &[f64]) -> Vec<f64> {
    let mut shares = vec![0.0; matrix.ncols()];
    for (row, variance) in matrix.row_iter().zip(variances) {
        // Divided before they are squared, so that nothing overflows.
        let norm = row.norm_l2();
        if norm > 0.0 {
            shares.iter_mut().zip(row.iter()).for_each(|(share, a)| *share += variance * (a / norm).powi(2));
        }
    }
    let all: f64 = shares.iter().sum();
    if all > 0.0 {
        shares.iter_mut().for_each(|share| *share /= all);
    }
    shares
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
