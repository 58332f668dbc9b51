//! Missing numbers, NaN, are filled by the median of their column over the training rows.
//!
//! cost    one partial sort a column that has missing values or may have them

use crate::data::rows::{F64Rows, Rows};
use crate::data::store::Growing;
use crate::error::{Error, Result};

/// The median of every column, without its missing values.
///
/// ```
/// use mercer::{Rows, data::encode::Medians};
///
/// let rows = Rows::dense(vec![1.0, f64::NAN, 3.0, 5.0], 4, 1)?;
/// let medians = Medians::fit(&rows);
/// assert_eq!(medians.values, [3.0]);
/// assert_eq!(medians.apply(&rows)?.to_dense(), [1.0, 3.0, 3.0, 5.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Medians {
    /// One number a column; 0 for a column without values.
    pub values: Vec<f64>,
}

impl Medians {
    /// Of dense rows; sparse ones have no missing values, and all their medians are 0.
    pub fn fit(rows: &Rows) -> Self {
        let rows = &*rows.to_f64();
        let F64Rows::Dense(dense) = rows.as_f64() else { return Self { values: vec![0.0; rows.p()] } };
        let p = rows.p();
        let column =
            |j: usize| dense.values().iter().skip(j).step_by(p.max(1)).copied().filter(|v| !v.is_nan());
        Self { values: (0..p).map(|j| median(column(j).collect())).collect() }
    }

    /// The rows with every NaN replaced.
    pub fn apply(&self, rows: &Rows) -> Result<Rows<'static>> {
        let rows = &*rows.to_f64();
        let (n, p) = (rows.n(), rows.p());
        if p != self.values.len() {
            return Err(Error::data(format!(
                "the rows have {p} columns, but the medians were learned on {}",
                self.values.len()
            )));
        }
        let F64Rows::Dense(dense) = rows.as_f64() else {
            return Ok(rows.select(&(0..n).collect::<Vec<_>>()));
        };
        let mut values = Growing::like(dense.store());
        let mut row = vec![0.0; p];
        for i in 0..n {
            for ((to, from), median) in row.iter_mut().zip(dense.row(i)).zip(&self.values) {
                *to = if from.is_nan() { *median } else { *from };
            }
            values.extend(&row)?;
        }
        Rows::from_store(values.finish()?, n, p)
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if below.len() > values.len() - 1 - middle {
        let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return lower / 2.0 + upper / 2.0;
    }
    upper
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_values_lies_between_two() {
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(median(vec![4.0]), 4.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
        assert_eq!(median(vec![9.0, 4.0, 1.0]), 4.0);
        assert_eq!(median(vec![9.0, 4.0, 1.0, 2.0]), 3.0);
        assert_eq!(median(vec![1e308, 1e308]), 1e308);
    }
}
