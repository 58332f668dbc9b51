//! Nearest neighbour: the judge that needs no training.
//!
//! cost    n·n' distances by matrix products, in panels; nothing of size n·n' is kept
//! differs ties go to the lower index

use rayon::prelude::*;

use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Panel};

/// Share of the test rows whose nearest training row (L2) has another class.
///
/// ```
/// use mercer::{Rows, evaluate::knn::nearest_neighbour_error};
///
/// let train = Rows::dense(vec![0.0, 10.0], 2, 1)?;
/// let test = Rows::dense(vec![1.0, 9.0, 4.0], 3, 1)?;
/// let error = nearest_neighbour_error(&train, &[0, 1], &test, &[0, 1, 1])?;
/// assert!((error - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn nearest_neighbour_error(train: &Rows, codes: &[usize], test: &Rows, right: &[usize]) -> Result<f64> {
    const ROWS: usize = 256;
    if train.p() != test.p() || train.n() != codes.len() || test.n() != right.len() || train.n() == 0 {
        return Err(Error::data("training rows, test rows and their classes do not fit together"));
    }
    // With γ = 1 the statistic of the rbf kernel is the squared distance.
    let panel = Panel::new(Kernel::rbf(1.0), train);
    let n = train.n();
    let wrong: usize = right
        .par_chunks(ROWS)
        .enumerate()
        .map(|(at, right)| {
            let mut distances = vec![0.0; right.len() * n];
            panel.statistics(&test.slice(at * ROWS..at * ROWS + right.len()), &mut distances);
            let nearest = distances.chunks_exact(n).map(|d| {
                let first = (f64::INFINITY, 0);
                d.iter().enumerate().fold(first, |best, (i, &d)| if d < best.0 { (d, i) } else { best }).1
            });
            nearest.zip(right).filter(|(i, right)| codes[*i] != **right).count()
        })
        .sum();
    Ok(wrong as f64 / test.n() as f64)
}
