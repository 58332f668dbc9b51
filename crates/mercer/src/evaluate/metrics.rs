//! Measures of a kernel against labels: alignment and relevant dimension.
//!
//! The measures of a basis, reconstruction cost and loss of orthogonality, are methods of
//! [`FittedBasis`](crate::FittedBasis).

use faer::{Mat, MatRef};

use crate::basis::relevant::dimension;
use crate::data::labels::Labels;
use crate::error::{Error, Result};
use crate::linalg::{center_columns, center_gram, eigen, product};
use crate::monitor::Monitor;

/// ⟨K, YYᵀ⟩ / (‖K‖ ‖YYᵀ‖), Frobenius; both centred first if asked for (Cortes et al. 2012). Y: one-hot classes, or the
/// numbers.
///
/// ```
/// use faer::mat;
/// use mercer::{Labels, evaluate::metrics::kernel_alignment};
///
/// let labels = Labels::classes(&["a", "a", "b"]);
/// let ideal = mat![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// assert!((kernel_alignment(ideal.as_ref(), &labels, false)? - 1.0).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn kernel_alignment(k: MatRef<'_, f64>, labels: &Labels, centered: bool) -> Result<f64> {
    check_square(k, labels)?;
    let mut k = k.to_owned();
    let mut y = targets(labels);
    if centered {
        center_gram(&mut k);
        center_columns(&mut y);
    }
    let across = product(y.transpose(), product(k.as_ref(), y.as_ref()).as_ref());
    let along = product(y.transpose(), y.as_ref());
    let norms = k.norm_l2() * along.norm_l2();
    if norms == 0.0 {
        return Err(Error::data("the kernel or the labels are all zero, so there is no alignment"));
    }
    Ok(across.diagonal().column_vector().sum() / norms)
}

/// The relevant dimension of the labels in the kernel's spectrum, and the noise variance beyond it.
///
///   d minimises (d/n)·log(Σ_{i≤d} s_i²/d) + ((n−d)/n)·log(Σ_{i>d} s_i²/(n−d)),   s_i = u_iᵀy
///
/// with `u_i` the eigenvectors of the centred K in descending order (RDE; Braun, Buhmann & Müller 2008).
///
/// cost    one n×n eigendecomposition
/// differs d stays below the numerical rank of the centred K: beyond it eigenvectors are arbitrary, and the constant
///         one, in which the centred labels have nothing, would always win
///
/// ```
/// use mercer::{Kernel, Labels, Monitor, Rows, evaluate::metrics::relevant_dimension};
///
/// // The labels are a straight line, and so is the first component of the linear kernel.
/// let x: Vec<f64> = (0..40).flat_map(|i| [f64::from(i), 0.1 * f64::from(i % 3)]).collect();
/// let labels = Labels::Numbers((0..40).map(|i| 0.5 * f64::from(i)).collect());
/// let rows = Rows::dense(x, 40, 2)?;
/// let k = Kernel::linear().matrix(&rows, &rows)?;
/// let (dimension, noise) = relevant_dimension(k.as_ref(), &labels, &Monitor::default())?;
/// assert_eq!(dimension, 1);
/// assert!(noise < 1e-3);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn relevant_dimension(k: MatRef<'_, f64>, labels: &Labels, monitor: &Monitor) -> Result<(usize, f64)> {
    /// Eigenvalues up to this share of the largest count as rounding errors.
    const RANK_TOLERANCE: f64 = 1e-10;
    check_square(k, labels)?;
    let n = k.nrows();
    let mut k = k.to_owned();
    let magnitude = (0..n).map(|i| k[(i, i)]).fold(0.0, f64::max);
    center_gram(&mut k);
    labels.require_two("relevant_dimension")?;
    let (y, c, units) = labels.centered();
    let y = MatRef::from_row_major_slice(&y, n, c);
    let (values, vectors) = eigen(k, monitor)?;
    let floor = (RANK_TOLERANCE * values[0]).max(n as f64 * f64::EPSILON * magnitude);
    let rank = values.iter().take_while(|v| **v > floor).count();
    if rank < 2 {
        return Err(Error::data(format!("the centred kernel has rank {rank}; at least 2 is needed")));
    }
    let s = product(vectors.transpose(), y);
    let energy: Vec<f64> = (0..n).map(|i| s.row(i).squared_norm_l2()).collect();
    let total: f64 = energy.iter().sum();
    let (dimension, noise) = dimension(&energy, total, n, rank).unwrap_or((1, 0.0));
    // Of several targets the noise is that of targets in their standard deviations.
    let unit = if c == 1 { units[0] } else { 1.0 };
    Ok((dimension, noise * unit * unit))
}

fn check_square(k: MatRef<'_, f64>, labels: &Labels) -> Result<()> {
    if k.nrows() == k.ncols() && k.nrows() == labels.len() && k.nrows() > 0 {
        let finite = (0..k.ncols()).all(|j| k.col(j).iter().all(|v| v.is_finite()));
        return if finite { Ok(()) } else { Err(Error::data("the kernel matrix holds NaN or infinity")) };
    }
    Err(Error::data(format!(
        "a kernel matrix of the labelled rows is needed: it is {} × {}, and there are {} labels",
        k.nrows(),
        k.ncols(),
        labels.len()
    )))
}

fn targets(labels: &Labels) -> Mat<f64> {
    let (y, c) = labels.one_hot();
    MatRef::from_row_major_slice(&y, labels.len(), c).to_owned()
}
