//! The range of each column, over one set of rows or many.
//!
//! cost    each stored number read once
//! differs a missing value (NaN) is skipped; a column without any value has the range 0

use rayon::prelude::*;

use serde::{Deserialize, Serialize};

use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::real::Real;

/// Rows that one thread looks at in one go.
const CHUNK_ROWS: usize = 512;

/// Smallest and largest value of each column.
///
/// ```
/// use mercer::{Rows, evidence::ranges::Ranges};
///
/// let mut ranges = Ranges::of(&Rows::dense(vec![1.0, f64::NAN, 2.0, 5.0], 2, 2)?);
/// ranges.merge(&Ranges::of(&Rows::dense(vec![7.0, 4.0], 1, 2)?))?;
/// assert_eq!((ranges.low, ranges.high), (vec![1.0, 4.0], vec![7.0, 5.0]));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranges {
    /// The smallest; infinite where there are none.
    pub low: Vec<f64>,
    /// The largest; minus infinity where there are none.
    pub high: Vec<f64>,
}

impl Ranges {
    /// Those of p columns without rows.
    pub fn none(p: usize) -> Self {
        Self { low: vec![f64::INFINITY; p], high: vec![f64::NEG_INFINITY; p] }
    }

    /// Those of these rows.
    pub fn of(rows: &Rows) -> Self {
        match rows {
            Rows::DenseF32(d) => Self::of_values(d.values(), rows.p()),
            Rows::Dense(d) => Self::of_values(d.values(), rows.p()),
            Rows::Sparse(s) => {
                let mut found = Self::none(rows.p());
                let mut stored = vec![0; rows.p()];
                for i in 0..rows.n() {
                    for (&j, &v) in s.row(i).0.iter().zip(s.row(i).1) {
                        let j = j as usize;
                        stored[j] += 1;
                        below(&mut found.low[j], v);
                        above(&mut found.high[j], v);
                    }
                }
                for j in (0..rows.p()).filter(|&j| stored[j] < rows.n()) {
                    below(&mut found.low[j], 0.0);
                    above(&mut found.high[j], 0.0);
                }
                found
            }
        }
    }

    /// Those of row-major rows.
    fn of_values<T: Real>(values: &[T], p: usize) -> Self {
        let see = |mut ranges: Self, values: &[T]| {
            for row in values.chunks_exact(p.max(1)) {
                ranges.low.iter_mut().zip(row).for_each(|(low, v)| below(low, v.double()));
                ranges.high.iter_mut().zip(row).for_each(|(high, v)| above(high, v.double()));
            }
            ranges
        };
        let widened = |mut ranges: Self, other: Self| {
            ranges.widen(&other);
            ranges
        };
        let chunks = values.par_chunks((CHUNK_ROWS * p).max(1));
        chunks.fold(|| Self::none(p), see).reduce(|| Self::none(p), widened)
    }

    /// Adds those of other rows.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let columns = [&self.low, &self.high, &other.low, &other.high].map(Vec::len);
        if columns.iter().any(|columns| *columns != self.low.len()) {
            return Err(Error::argument(format!(
                "ranges of {} columns cannot be merged with those of {}",
                columns[0], columns[2]
            )));
        }
        self.widen(other);
        Ok(())
    }

    fn widen(&mut self, other: &Self) {
        self.low.iter_mut().zip(&other.low).for_each(|(low, v)| below(low, *v));
        self.high.iter_mut().zip(&other.high).for_each(|(high, v)| above(high, *v));
    }

    /// Where the values of column j start, and how far they reach; 0 and 0 where all are missing.
    pub(crate) fn start_and_width(&self, j: usize) -> (f64, f64) {
        let (low, high) = (self.low[j], self.high[j]);
        if low > high { (0.0, 0.0) } else { (low, high - low) }
    }
}

// Comparisons with NaN are false.
fn below(low: &mut f64, v: f64) {
    *low = if v < *low { v } else { *low };
}

fn above(high: &mut f64, v: f64) {
    *high = if v > *high { v } else { *high };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::differences::Differences;
    use crate::evidence::neighbours::Metric;

    #[test]
    fn ranges_of_parts_are_those_of_all_rows() {
        let value =
            |at: i32| if at % 7 == 3 { f64::NAN } else { f64::from(at * at % 23) * f64::from(at % 3) };
        let dense = Rows::dense((0..30 * 4).map(value).collect::<Vec<_>>(), 30, 4).expect("rows");
        let narrow: Vec<f32> = dense.to_dense().iter().map(|v| *v as f32).collect();
        let narrow = Rows::dense_f32(narrow, 30, 4).expect("rows");
        for rows in [&dense, &dense.to_sparse(), &narrow] {
            for cuts in [[0, 0, 30, 30], [0, 1, 29, 30], [0, 10, 11, 30]] {
                let mut merged = Ranges::none(4);
                for cut in cuts.windows(2) {
                    merged.merge(&Ranges::of(&rows.slice(cut[0]..cut[1]))).expect("as many columns");
                }
                assert_eq!(merged, Ranges::of(&dense));
            }
        }
        assert!(Ranges::none(4).merge(&Ranges::none(3)).is_err());
    }

    #[test]
    fn given_ranges_are_those_of_the_rows_themselves_where_these_are_all() {
        let missing = f64::NAN;
        let values = vec![0.0, 2.0, missing, 3.0, 2.0, missing, 7.0, missing, missing, 1.5, 2.0, missing];
        let rows = Rows::dense(values, 4, 3).expect("rows");
        let own = Differences::new(&rows, &[], true).expect("differences");
        let given = Differences::with_ranges(&rows, &[], &Ranges::of(&rows)).expect("differences");
        for (i, j) in [(0, 1), (0, 2), (1, 3)] {
            for metric in [Metric::Manhattan, Metric::Euclidean] {
                assert_eq!(own.distance(metric, i, j), given.distance(metric, i, j));
            }
        }
        assert!(Differences::with_ranges(&rows, &[], &Ranges::none(2)).is_err());
        let all_missing = Differences::with_ranges(&rows, &[], &Ranges::none(3)).expect("differences");
        assert_eq!(all_missing.distance(Metric::Manhattan, 0, 1), 0.0);
    }
}
