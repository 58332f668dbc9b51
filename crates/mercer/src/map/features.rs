//! Features of more rows than memory has room for.

use faer::{MatMut, MatRef};

use super::FeatureMap;
use crate::data::rows::Rows;
use crate::data::store::Scratch;
use crate::error::Result;
use crate::monitor::Monitor;

/// Features of rows, n×q: in memory or, where they are too many for it, in a file that is paged in as they are read.
#[derive(Debug)]
pub struct StoredFeatures {
    values: Scratch,
    n: usize,
    q: usize,
}

impl StoredFeatures {
    /// Features that are n·q numbers, row after row.
    pub(super) fn new(values: Scratch, n: usize, q: usize) -> Self {
        Self { values, n, q }
    }

    /// All of them.
    pub fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.n, self.q)
    }
}

impl FeatureMap {
    /// Features of every row in at most this many bytes of memory. More than that lies in a file without a name in the folder
    /// for temporary files (`TMPDIR`), which goes with the result.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).fit(&rows)?);
    /// let features = map.transform_within(&rows, 10, &Monitor::default())?;
    /// assert_eq!(features.view(), map.transform(&rows)?);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn transform_within(&self, rows: &Rows, memory: u64, monitor: &Monitor) -> Result<StoredFeatures> {
        let (n, q) = (rows.n(), self.n_features());
        let mut values = Scratch::zeros(n * q, memory)?;
        self.transform_into(rows, MatMut::from_row_major_slice_mut(&mut values, n, q), monitor)?;
        Ok(StoredFeatures { values, n, q })
    }
}
