//! The other fitted model: some of the input columns, as they are or multiplied by weights.
//!
//!   f(x) = (x_j)_{j kept}      or      (w_j·x_j)_{j kept}
//!
//! Nothing is scaled or compared, so values are copied bit by bit, NaN included.

use std::path::Path;

use super::{Facts, StoredFeatures};
use crate::data::rows::Rows;
use crate::data::store::Scratch;
use crate::data::table::plain_names;
use crate::error::{Error, Result};
use crate::select::{Scores, Selection};
use crate::whole_file::{finish, temporary};

/// The format of files that hold selected columns; programs before it say that the file is newer than they are.
pub const COLUMNS_FORMAT_VERSION: u64 = 2;

/// Columns that a selector has kept, with the scores of all of them.
///
/// ```
/// use mercer::map::SelectedColumns;
/// use mercer::select::{Columns, FTest, Keep};
/// use mercer::{Labels, Monitor, Rows};
///
/// let rows = Rows::dense(vec![7.0, 1.0, 3.0, 7.5, 0.9, 1.0, 7.0, 5.0, 2.0, 7.5, 5.5, 3.0], 4, 3)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let scores = FTest::default().score(&Columns::new(&rows, &labels, &Monitor::default()))?;
/// let selected = SelectedColumns::new("f", &scores, &scores.keep(Keep::Count(1)));
/// assert_eq!(selected.transform(&rows)?.to_dense(), [1.0, 0.9, 5.0, 5.5]);
/// let path = std::env::temp_dir().join("mercer-doc-columns.mercer");
/// selected.save(&path)?;
/// assert_eq!(SelectedColumns::load(&path)?, selected);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectedColumns {
    /// The selector.
    pub method: String,
    /// Number of input columns.
    pub n_inputs: usize,
    /// Names of the input columns, by which new rows are matched; None: by place.
    pub input_names: Option<Vec<String>>,
    /// The columns kept, ascending.
    pub columns: Vec<usize>,
    /// What each of them is multiplied by; None: they stay as they are.
    pub weights: Option<Vec<f64>>,
    /// The score of every input column, high is good.
    pub scores: Vec<f64>,
    /// The place of every input column; 1 is the best.
    pub ranking: Vec<usize>,
    /// Probability of scores as good by chance, one an input column, where there is one.
    pub pvalues: Option<Vec<f64>>,
    /// Share of resamples in which an input column is kept, where that was looked at.
    pub stability: Option<Vec<f64>>,
    /// How it was made: number of rows, settings, seed.
    pub facts: Facts,
}

impl SelectedColumns {
    /// What a selector has found and kept; columns have no names yet.
    pub fn new(method: &str, scores: &Scores, selection: &Selection) -> Self {
        Self {
            method: method.into(),
            n_inputs: scores.scores.len(),
            columns: selection.columns.clone(),
            scores: scores.scores.clone(),
            ranking: selection.ranking.clone(),
            pvalues: scores.pvalues.clone(),
            facts: Facts {
                penalty: scores.penalty,
                error_path: scores.error_path.clone(),
                ..Facts::default()
            },
            ..Self::default()
        }
    }

    /// Number of columns kept.
    pub fn n_features(&self) -> usize {
        self.columns.len()
    }

    /// Names of the columns kept; `x3` is the third of columns without names.
    pub fn feature_names(&self) -> Vec<String> {
        let names = self.input_names.clone().unwrap_or_else(|| plain_names(self.n_inputs));
        self.columns.iter().map(|&j| names[j].clone()).collect()
    }

    /// Whether each input column is kept.
    pub fn support(&self) -> Vec<bool> {
        let mut support = vec![false; self.n_inputs];
        self.columns.iter().for_each(|&j| support[j] = true);
        support
    }

    /// The input columns, best first.
    pub fn best(&self) -> Vec<usize> {
        let mut best: Vec<usize> = (0..self.n_inputs).collect();
        best.sort_by_key(|&j| self.ranking[j]);
        best
    }

    /// The kept columns of rows: dense rows stay dense, in their precision, and sparse ones sparse.
    ///
    /// ```
    /// use mercer::{Rows, map::SelectedColumns};
    ///
    /// let selected = SelectedColumns { n_inputs: 3, columns: vec![0, 2], ..SelectedColumns::default() };
    /// let rows = Rows::sparse(vec![0, 1, 3], vec![2, 0, 1], vec![9.0, 7.0, 8.0], 3)?;
    /// let kept = selected.transform(&rows)?;
    /// assert!(kept.is_sparse());
    /// assert_eq!(kept.to_dense(), [0.0, 9.0, 7.0, 0.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn transform(&self, rows: &Rows) -> Result<Rows<'static>> {
        self.check(rows)?;
        let (n, k) = (rows.n(), self.columns.len());
        match rows {
            Rows::Dense(dense) => {
                let mut out = Vec::with_capacity(n * k);
                (0..n).for_each(|i| out.extend(self.kept().map(|(j, w)| times(dense.row(i)[j], w))));
                Rows::dense(out, n, k)
            }
            Rows::DenseF32(dense) => {
                let mut out = Vec::with_capacity(n * k);
                let times = |v: f32, w: Option<f64>| w.map_or(v, |w| v * w as f32);
                (0..n).for_each(|i| out.extend(self.kept().map(|(j, w)| times(dense.row(i)[j], w))));
                Rows::dense_f32(out, n, k)
            }
            Rows::Sparse(csr) => {
                let places = self.places();
                let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for i in 0..n {
                    let (columns, row) = csr.row(i);
                    for (j, v) in columns.iter().zip(row) {
                        if let Some(at) = places[*j as usize] {
                            indices.push(at as u32);
                            values.push(times(*v, self.weight(at)));
                        }
                    }
                    indptr.push(indices.len());
                }
                Rows::sparse(indptr, indices, values, k)
            }
        }
    }

    /// The kept columns of rows in at most this many bytes of memory, as [`FeatureMap`](super::FeatureMap) has its features:
    /// more than that lies in a file without a name in the folder for temporary files (`TMPDIR`).
    ///
    /// ```
    /// use mercer::{Rows, map::SelectedColumns};
    ///
    /// let selected = SelectedColumns { n_inputs: 2, columns: vec![1], ..SelectedColumns::default() };
    /// let kept = selected.transform_within(&Rows::dense(vec![1.0, 2.0, 3.0, 4.0], 2, 2)?, 8)?;
    /// assert_eq!(kept.view(), faer::mat![[2.0], [4.0]]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn transform_within(&self, rows: &Rows, memory: u64) -> Result<StoredFeatures> {
        self.check(rows)?;
        let (n, k) = (rows.n(), self.columns.len());
        let mut values = Scratch::zeros(n * k, memory)?;
        let places = if rows.is_sparse() { self.places() } else { Vec::new() };
        for (i, out) in values.chunks_exact_mut(k.max(1)).enumerate() {
            match rows {
                Rows::Dense(dense) => {
                    self.kept().enumerate().for_each(|(at, (j, w))| out[at] = times(dense.row(i)[j], w));
                }
                Rows::DenseF32(dense) => {
                    let wide = |j: usize| f64::from(dense.row(i)[j]);
                    self.kept().enumerate().for_each(|(at, (j, w))| out[at] = times(wide(j), w));
                }
                Rows::Sparse(csr) => {
                    let (columns, row) = csr.row(i);
                    for (j, v) in columns.iter().zip(row) {
                        if let Some(at) = places[*j as usize] {
                            out[at] = times(*v, self.weight(at));
                        }
                    }
                }
            }
        }
        Ok(StoredFeatures::new(values, n, k))
    }

    /// The model whose inputs are the kept columns alone, for rows of which nothing else was read.
    ///
    /// ```
    /// use mercer::map::SelectedColumns;
    ///
    /// let selected = SelectedColumns {
    ///     n_inputs: 3,
    ///     columns: vec![2],
    ///     scores: vec![0.1, 0.2, 0.9],
    ///     ranking: vec![3, 2, 1],
    ///     input_names: Some(vec!["a".into(), "b".into(), "c".into()]),
    ///     ..SelectedColumns::default()
    /// };
    /// let narrow = selected.of_kept_inputs();
    /// assert_eq!((narrow.n_inputs, narrow.feature_names()), (1, vec!["c".to_string()]));
    /// ```
    pub fn of_kept_inputs(&self) -> Self {
        let of = |values: &Vec<f64>| -> Vec<f64> { self.columns.iter().map(|&j| values[j]).collect() };
        let mut best: Vec<usize> = (0..self.columns.len()).collect();
        best.sort_by_key(|&at| self.ranking[self.columns[at]]);
        let mut ranking = vec![0; best.len()];
        best.iter().enumerate().for_each(|(place, &at)| ranking[at] = place + 1);
        Self {
            n_inputs: self.columns.len(),
            input_names: self.input_names.as_ref().map(|_| self.feature_names()),
            columns: (0..self.columns.len()).collect(),
            scores: of(&self.scores),
            pvalues: self.pvalues.as_ref().map(of),
            stability: self.stability.as_ref().map(of),
            ranking,
            ..self.clone()
        }
    }

    /// Writes the model, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut file = temporary(path)?;
        self.write_to(&mut file, &path.display().to_string())?;
        finish(file, path)
    }

    /// Writes the model to anything that takes bytes; `name` is what errors call it.
    pub fn write_to(&self, out: &mut impl std::io::Write, name: &str) -> Result<()> {
        self.check_itself().map_err(Error::argument)?;
        let bytes = self.to_bytes().map_err(|e| Error::file(name, e.to_string()))?;
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|e| Error::io(name, e))
    }

    /// Reads a model of selected columns, checking all of it; [`Model::load`](super::Model::load) reads any model.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        match super::Model::load(&path)? {
            super::Model::Columns(selected) => Ok(selected),
            super::Model::Features(map) => Err(Error::file(
                path.as_ref(),
                format!("the model makes features by `{}`; it holds no selected columns", map.method),
            )),
        }
    }

    /// Why its parts do not fit together, if they do not.
    pub(super) fn check_itself(&self) -> std::result::Result<(), String> {
        let (p, k) = (self.n_inputs, self.columns.len());
        if p == 0 {
            return Err("selected columns of no input columns".into());
        }
        if !self.columns.is_sorted_by(|a, b| a < b) || self.columns.last().is_some_and(|j| *j >= p) {
            return Err(format!("the columns kept must ascend, each once, and be below {p}"));
        }
        let numbers = |values: &[f64]| values.iter().all(|v| v.is_finite());
        let lists = [
            ("scores", Some(&self.scores), p),
            ("p-values", self.pvalues.as_ref(), p),
            ("stability", self.stability.as_ref(), p),
            ("weights", self.weights.as_ref(), k),
        ];
        for (what, values, wanted) in lists {
            if values.is_some_and(|values| values.len() != wanted || !numbers(values)) {
                return Err(format!("{what} must be {wanted} finite numbers"));
            }
        }
        let mut places = self.ranking.clone();
        places.sort_unstable();
        if places.into_iter().ne(1..=p) {
            return Err(format!("the ranking must hold every place from 1 to {p} once"));
        }
        match &self.input_names {
            Some(names) if names.len() != p => Err(format!("{} names for {p} input columns", names.len())),
            _ => Ok(()),
        }
    }

    fn check(&self, rows: &Rows) -> Result<()> {
        if rows.p() == self.n_inputs {
            return Ok(());
        }
        Err(Error::data(format!(
            "X has {} features, but the columns were selected among {}",
            rows.p(),
            self.n_inputs
        )))
    }

    /// The kept columns with their weights.
    fn kept(&self) -> impl Iterator<Item = (usize, Option<f64>)> {
        self.columns.iter().enumerate().map(|(at, &j)| (j, self.weight(at)))
    }

    fn weight(&self, at: usize) -> Option<f64> {
        self.weights.as_ref().map(|weights| weights[at])
    }

    /// The place of every input column among those kept.
    fn places(&self) -> Vec<Option<usize>> {
        let mut places = vec![None; self.n_inputs];
        self.columns.iter().enumerate().for_each(|(at, &j)| places[j] = Some(at));
        places
    }
}

fn times(value: f64, weight: Option<f64>) -> f64 {
    weight.map_or(value, |weight| value * weight)
}
