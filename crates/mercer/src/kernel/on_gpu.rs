//! Kernel values on a GPU: all rows of a piece against landmarks, by matrix products where the kernel allows.
//!
//!   γ‖x−y‖² = ‖u‖² + ‖v‖² − 2⟨u,v⟩,   u = √γ(x−μ), v = √γ(y−μ), μ the landmarks' mean
//!
//! The formulas are those of `products.rs` and [`Kernel::finish`](super::Kernel); `cuda/kernels.cu` has them again.
//!
//! cost    2p flops a value by matrix products, 3p for L1

use std::sync::Arc;

use super::kernel::{Kernel, Shape, Statistic};
use crate::cuda::{Buffer, Gpu, GpuShape, View};
use crate::data::rows::Rows;
use crate::error::{Error, Result};

/// A kernel as the GPU has it; None where it has no formula.
fn gpu_shape(kernel: Kernel) -> Option<GpuShape> {
    let (number, parameter, degree) = match kernel.shape {
        Shape::Rbf => (0, 0.0, 0),
        Shape::Laplacian => (1, 0.0, 0),
        Shape::Linear => (2, 0.0, 0),
        Shape::Poly { degree, coef0 } => (3, coef0, degree),
        Shape::Sigmoid { coef0 } => (4, coef0, 0),
        Shape::Cosine => (5, 0.0, 0),
        Shape::Matern12 => (6, 0.0, 0),
        Shape::Matern32 => (7, 0.0, 0),
        Shape::Matern52 => (8, 0.0, 0),
        Shape::Rq { alpha } => (9, alpha, 0),
        Shape::Chi2
        | Shape::AdditiveChi2
        | Shape::Match
        | Shape::Composite(_)
        | Shape::Own(_)
        | Shape::Precomputed => return None,
    };
    Some(GpuShape { number, gamma: kernel.gamma, parameter, degree })
}

impl Shape {
    /// Whether GPUs have a formula for it.
    pub(crate) fn is_on_gpus(self) -> bool {
        gpu_shape(Kernel { shape: self, gamma: 1.0 }).is_some()
    }
}

/// Rows on a GPU, but a kernel that has no formula there.
pub(crate) fn no_formula(shape: Shape) -> Error {
    Error::argument(format!(
        "the kernel `{}` is not computed on a GPU\n\
         hint: use rows in memory and the CPU (device = cpu), or another kernel (`rbf`, `laplacian`, `linear`, `poly`, `cosine`, …)",
        shape.name()
    ))
}

/// Landmarks on a GPU, prepared for a kernel.
pub(crate) struct GpuPanel {
    kernel: Kernel,
    shape: GpuShape,
    l: usize,
    p: usize,
    landmarks: Buffer<f64>,
    /// v, or landmarks of length 1, where they are not the landmarks themselves.
    points: Option<Buffer<f64>>,
    norms: Buffer<f64>,
    shift: Buffer<f64>,
}

/// What a piece of rows becomes on its way to kernel values.
pub(crate) struct GpuScratch {
    u: Buffer<f64>,
    norms: Buffer<f64>,
}

impl GpuScratch {
    /// For pieces of up to so many rows of p columns.
    pub(crate) fn new(gpu: &Arc<Gpu>, rows: usize, p: usize) -> Result<Self> {
        Ok(Self { u: gpu.room(rows * p)?, norms: gpu.room(rows)? })
    }
}

impl GpuPanel {
    /// Prepares landmarks.
    pub(crate) fn new(gpu: &Arc<Gpu>, kernel: Kernel, landmarks: &Rows) -> Result<Self> {
        let Some(shape) = gpu_shape(kernel) else { return Err(no_formula(kernel.shape)) };
        let (l, p) = (landmarks.n(), landmarks.p());
        let values = landmarks.to_dense();
        let mut shift = vec![0.0; p];
        for row in values.chunks_exact(p.max(1)) {
            shift.iter_mut().zip(row).for_each(|(s, v)| *s += v / l as f64);
        }
        let (landmarks, shift, norms) = (gpu.upload(&values)?, gpu.upload(&shift)?, gpu.room(l)?);
        let points = match kernel.shape.statistic() {
            Statistic::SquaredDistance => {
                let points = gpu.room(l * p)?;
                gpu.shifted(landmarks.matrix(p, l), &shift, kernel.gamma.sqrt(), &points, &norms)?;
                Some(points)
            }
            Statistic::Cosine => {
                let points = gpu.room(l * p)?;
                gpu.unit_length(landmarks.matrix(p, l), &points)?;
                Some(points)
            }
            _ => None,
        };
        Ok(Self { kernel, shape, l, p, landmarks, points, norms, shift })
    }

    /// Kernel values of a piece of rows, p×n, into `out`, l×n.
    pub(crate) fn fill(&self, rows: View, scratch: &GpuScratch, out: View) -> Result<()> {
        let (gpu, p, n) = (rows.gpu(), self.p, rows.columns);
        let landmarks = self.landmarks.matrix(p, self.l);
        let points = self.points.as_ref().unwrap_or(&self.landmarks).matrix(p, self.l);
        match self.kernel.shape.statistic() {
            Statistic::SquaredDistance => {
                let root = self.kernel.gamma.sqrt();
                gpu.shifted(rows, &self.shift, root, &scratch.u, &scratch.norms)?;
                gpu.multiply(-2.0, points.transposed(), scratch.u.matrix(p, n).plain(), 0.0, out)?;
                let norms = (&self.norms, &scratch.norms);
                gpu.values_from_distances(out, norms, (landmarks, rows), root, self.shape)
            }
            Statistic::Cosine => {
                gpu.unit_length(rows, &scratch.u)?;
                gpu.multiply(1.0, points.transposed(), scratch.u.matrix(p, n).plain(), 0.0, out)
            }
            Statistic::Manhattan => gpu.values_from_differences(out, landmarks, rows, self.kernel.gamma),
            _ => {
                gpu.multiply(1.0, points.transposed(), rows.plain(), 0.0, out)?;
                if self.kernel.shape == Shape::Linear {
                    return Ok(());
                }
                gpu.values_from_products(out, self.shape)
            }
        }
    }
}
