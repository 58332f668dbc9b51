//! Nearest neighbour: the judge that needs no training.
//!
//! cost    n·n' distances by matrix products, in panels; nothing of size n·n' is kept
//! differs ties go to the lower index

use rayon::prelude::*;

use super::measures::Predictions;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::{Kernel, Panel};
use crate::monitor::Monitor;

/// Training rows that queries are compared with at a time.
const BASE: usize = 2_048;

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
    if train.p() != test.p() || train.n() != codes.len() || test.n() != right.len() {
        return Err(Error::data("training rows, test rows and their classes do not fit together"));
    }
    if train.n() == 0 || test.n() == 0 {
        return Err(Error::data("at least one training row and one test row are needed"));
    }
    // With γ = 1 the statistic of the rbf kernel is the squared distance.
    let base: Vec<(usize, Panel)> = (0..train.n())
        .step_by(BASE)
        .map(|at| (at, Panel::new(Kernel::rbf(1.0), &train.slice(at..train.n().min(at + BASE)))))
        .collect();
    let wrong: usize = right
        .par_chunks(PANEL)
        .enumerate()
        .map(|(at, right)| {
            let queries = test.slice(at * PANEL..at * PANEL + right.len());
            let mut nearest = vec![(f64::INFINITY, 0); right.len()];
            for (first, panel) in &base {
                let l = panel.n_landmarks();
                let mut distances = vec![0.0; right.len() * l];
                panel.statistics(&queries, &mut distances);
                for (i, (best, line)) in nearest.iter_mut().zip(distances.chunks_exact(l)).enumerate() {
                    for (j, &distance) in (*first..).zip(line) {
                        // Distances from products are right to a few ulps; ties are decided by exact ones.
                        if distance <= best.0 * (1.0 + 1e-9) {
                            let exact = queries.squared_distance(i, train, j);
                            if exact < best.0 {
                                *best = (exact, j);
                            }
                        }
                    }
                }
            }
            nearest.iter().zip(right).filter(|(best, right)| codes[best.1] != **right).count()
        })
        .sum();
    Ok(wrong as f64 / test.n() as f64)
}

/// Majority (numbers: mean) of the k nearest training rows, L2.
pub fn predict(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    k: usize,
    monitor: &Monitor,
) -> Result<Predictions> {
    predict_in_kernel(Kernel::linear(), train, labels, test, k, monitor)
}

/// KKNN: neighbours by the kernel's distance.
pub fn predict_in_kernel(
    kernel: Kernel,
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    k: usize,
    monitor: &Monitor,
) -> Result<Predictions> {
    let _ = (kernel, train, labels, test, k, monitor);
    Err(Error::argument("not yet"))
}
