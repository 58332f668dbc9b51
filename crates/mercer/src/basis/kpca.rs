//! Kernel principal components: eigenvectors of K, or of the centred HKH.
//!
//!   K U = U Λ,   z(x) = Λ^{−1/2} Uᵀ k(x),   centred: z(x) = Λ^{−1/2} Uᵀ (k(x) − K1/n)
//!
//! cost    n² kernel values and memory; all components: one n×n eigendecomposition; the top m ≪ n: block Lanczos,
//!         n²·d flops with d a few times m. Beyond the memory budget, with n_components: a factor G of random
//!         pivots, which leave less of the trace than the farthest rows would, n·l² flops, l = max(1 000, 2m); all components of such a K are refused
//! stops   m = n_components; else the smallest m with `tol` of the trace; else all above 1e−10 of the largest
//! source  KLFE, sec. 4.3 and eq. 57 (uncentred, in the span); Schölkopf, Smola & Müller 1998
//! differs signs: the row with the largest |feature| is positive. The share that was left out is always reported.
//!         A kernel that is not positive semi-definite is refused unless `n_components` are asked for and so many eigenvalues
//!         are positive, with a warning

use faer::linalg::matmul::matmul;
use faer::{Accum, ColRef, Mat, MatMut, MatRef, Par, Scale};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::fitted::Stop;
use super::pivoted::{FactorStorage, Pivoted, not_psd};
use super::rpcholesky;
use crate::error::{Error, Result};
use crate::kernel::Gram;
use crate::kernel::block::PANEL;
use crate::kernel::parameters::with_kernel;
use crate::linalg::{
    center_columns, eigen, positive_signs, product, scaled_transpose, sum_in_order, tall_product,
};
use crate::monitor::Monitor;
use crate::random;
use crate::spec::{Kind, MethodSpec, Parameter, SEED, Stage};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kpca",
    stage: Stage::Basis,
    file: "basis/kpca.rs",
    source: "KLFE, sec. 4.3; Schölkopf, Smola & Müller 1998",
    cost: "n² kernel values; n³ flops for all, n²·m for a few",
    parameters: &with_kernel::<4, 10>([
        super::N_COMPONENTS.none("all above 1e-10 of the largest eigenvalue, or as many as tol keeps"),
        TOL,
        CENTER.default("false"),
        SEED,
    ]),
    help: "kernel principal components, centred or not, as a basis",
};

const TOL: Parameter = Parameter::share("tol", false, false, "share of the trace to keep")
    .none("every eigenvalue above 1e-10 of the largest");

/// Whether components are those of the centred kernel.
pub(crate) const CENTER: Parameter =
    Parameter::new("center", Kind::Flag, "centre in the kernel's space, as classical kernel PCA does");

/// Eigenvalues up to this share of the largest are rounding.
const RANK: f64 = 1e-10;

/// Eigenvalues below minus this, relative to max k(x,x), are no rounding.
const PSD: f64 = 1e-8;

/// A Ritz pair has converged when its residual is this small relative to the largest eigenvalue.
const CONVERGED: f64 = 1e-12;

/// Columns that the Krylov space grows by.
const BLOCK: usize = 32;

/// Components as coefficients over landmarks.
pub(crate) struct Components {
    /// None: every training row is a landmark.
    pub(crate) pivots: Option<Vec<usize>>,
    pub(crate) coefficients: Mat<f64>,
    pub(crate) offset: Vec<f64>,
    /// The mean image as weights of the landmarks, if centred.
    pub(crate) origin: Option<Vec<f64>>,
    pub(crate) eigenvalues: Vec<f64>,
    /// Share of the (centred) trace that the components leave out.
    pub(crate) residual: f64,
    pub(crate) stop: Stop,
    /// A sum of eigenvalues below 0, or the lowest of them, where the kernel is not positive semi-definite.
    pub(crate) negative: Option<f64>,
}

/// How many components to keep.
#[derive(Clone, Copy)]
pub(crate) struct Keep {
    pub(crate) cap: Option<usize>,
    pub(crate) share: Option<f64>,
}

impl Keep {
    /// The number of eigenvalues (descending) to keep, and what decided it; those up to `noise` do not count.
    fn count(self, values: &[f64], trace: f64, noise: f64) -> (usize, Stop) {
        let positive = values.iter().take_while(|v| **v > (RANK * values[0]).max(noise)).count();
        match (self.cap, self.share) {
            (Some(cap), _) if cap <= positive => (cap, Stop::Cap),
            (None, Some(share)) => {
                let mut sum = 0.0;
                let enough = values[..positive].iter().position(|v| {
                    sum += v;
                    sum >= share * trace
                });
                enough.map_or((positive, Stop::Rank), |at| (at + 1, Stop::Rule))
            }
            _ => (positive, Stop::Rank),
        }
    }
}

/// Components from the whole kernel matrix.
pub(crate) fn exact(gram: &Gram, keep: Keep, centered: bool, monitor: &Monitor) -> Result<Components> {
    let n = gram.n();
    monitor.begin("eigenvectors of the kernel matrix", 0);
    let mut k = gram.whole(monitor)?;
    let means: Vec<f64> = k.chunks_exact(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let largest = (0..n).map(|i| k[i * n + i]).fold(0.0, f64::max);
    if centered {
        let all = means.iter().sum::<f64>() / n as f64;
        k.par_chunks_exact_mut(n).zip(&means).for_each(|(row, own)| {
            row.iter_mut().zip(&means).for_each(|(v, mean)| *v += all - mean - own);
        });
    }
    let trace: f64 = (0..n).map(|i| k[i * n + i]).sum();
    monitor.check()?;
    let few = keep.cap.filter(|m| n >= 16 * BLOCK && *m <= n / 6);
    let top = match few {
        Some(m) => lanczos(&k, n, m, monitor)?,
        None => None,
    };
    let negative = -PSD.max(1e4 * gram.rounding()) * largest;
    let below;
    let (values, vectors) = if let Some((values, vectors)) = top {
        // All that can be seen of negative eigenvalues from the other end: the positive ones exceed the trace.
        let left = trace - values.iter().sum::<f64>();
        below = Some(left).filter(|left| *left < negative * n as f64);
        (values, vectors)
    } else {
        // Symmetric: its rows may as well be its columns, which are copied faster.
        let whole = MatRef::from_column_major_slice(&k, n, n).to_owned();
        drop(k);
        let (values, vectors) = eigen(whole, monitor)?;
        below = values.last().copied().filter(|v| *v < negative);
        (values, vectors)
    };
    // So many components as were asked for may all be positive, though the kernel is not: as in scikit-learn's `KernelPCA`.
    let noise = n as f64 * gram.rounding() * largest;
    if let Some(below) = below.filter(|_| keep.count(&values, trace, noise).1 != Stop::Cap) {
        return Err(not_psd(gram.kernel(), 0, below));
    }
    // What rounding leaves is relative to K as it was, before centring cancelled most of it.
    let (m, stop) = keep.count(&values, trace, noise);
    if m == 0 {
        return Err(Error::data(
            "nothing is left after centring: all rows are equal in the kernel's space, or there is only one sample",
        ));
    }
    let mut vectors = vectors.subcols(0, m).to_owned();
    if centered {
        // They are orthogonal to the constant but for rounding, which the roots of small eigenvalues would magnify.
        center_columns(&mut vectors);
    }
    let signs = positive_signs(vectors.as_ref());
    let scale = |i: usize| signs[i] / values[i].sqrt();
    let coefficients = scaled_transpose(vectors.as_ref(), scale);
    let offset = if centered {
        let means = ColRef::from_slice(&means);
        (0..m).map(|i| scale(i) * (means.transpose() * vectors.col(i))).collect()
    } else {
        vec![0.0; m]
    };
    let kept: f64 = values[..m].iter().sum();
    let eigenvalues = values[..m].to_vec();
    let residual = (1.0 - kept / trace).max(0.0);
    let origin = centered.then(|| vec![1.0 / n as f64; n]);
    Ok(Components {
        pivots: None,
        coefficients,
        offset,
        origin,
        eigenvalues,
        residual,
        stop,
        negative: below,
    })
}

/// Components from a factor of random pivots with at most `l` columns, for kernel matrices that do not fit.
pub(crate) fn from_factor(
    gram: &Gram,
    keep: Keep,
    centered: bool,
    l: usize,
    seed: u64,
    monitor: &Monitor,
) -> Result<Components> {
    let n = gram.n();
    let mut factor = Pivoted::new(gram, l, FactorStorage::Returned, monitor)?;
    monitor.begin("choosing pivots", l);
    rpcholesky::grow(&mut factor, seed)?;
    let a = factor.coefficients();
    let pivots = factor.pivots.clone();
    let unexplained: f64 = factor.rows.residual.iter().sum();
    let mut z = factor.into_features().map(|features| features.to_dense()).unwrap_or_default();
    let l = pivots.len();
    let mean = if centered { column_means(&z, l) } else { vec![0.0; l] };
    z.par_chunks_mut(l).for_each(|row| row.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m));
    let (values, vectors) = eigen(covariance(&z, l, monitor)?, monitor)?;
    let trace = values.iter().map(|v| v.max(0.0)).sum::<f64>() + unexplained;
    let (m, stop) = keep.count(&values, trace, 0.0);
    let features = tall_product(MatRef::from_row_major_slice(&z, n, l), vectors.subcols(0, m));
    monitor.check()?;
    let signs = positive_signs(features.as_ref());
    let rotation = Mat::from_fn(m, l, |i, j| vectors[(j, i)] * signs[i]);
    let offset = (0..m).map(|i| (0..l).map(|j| rotation[(i, j)] * mean[j]).sum()).collect();
    let coefficients = product(rotation.as_ref(), a.as_ref());
    let residual = (1.0 - values[..m].iter().sum::<f64>() / trace).max(0.0);
    let origin = centered.then(|| (0..l).map(|i| (0..l).map(|j| mean[j] * a[(j, i)]).sum()).collect());
    let eigenvalues = values[..m].to_vec();
    let pivots = Some(pivots);
    Ok(Components { pivots, coefficients, offset, origin, eigenvalues, residual, stop, negative: None })
}

fn column_means(z: &[f64], l: usize) -> Vec<f64> {
    let mut sums = vec![0.0; l];
    for row in z.chunks_exact(l) {
        sums.iter_mut().zip(row).for_each(|(s, v)| *s += v);
    }
    let n = (z.len() / l) as f64;
    sums.into_iter().map(|s| s / n).collect()
}

/// ZᵀZ.
fn covariance(z: &[f64], l: usize, monitor: &Monitor) -> Result<Mat<f64>> {
    let panels: Vec<&[f64]> = z.chunks(8 * PANEL * l).collect();
    sum_in_order(panels.len(), l, l, monitor, |at| {
        let panel = MatRef::from_row_major_slice(panels[at], panels[at].len() / l, l);
        product(panel.transpose(), panel)
    })
}

/// The m largest eigenpairs of a symmetric matrix by block Lanczos with full reorthogonalisation; None if the Krylov
/// space would have to grow past half of n.
fn lanczos(k: &[f64], n: usize, m: usize, monitor: &Monitor) -> Result<Option<(Vec<f64>, Mat<f64>)>> {
    let most = n / 2;
    let mut generator = random::generator(0);
    let mut space: Mat<f64> = Mat::zeros(n, 0);
    let mut block = Mat::from_fn(n, BLOCK, |_, _| StandardNormal.sample(&mut generator));
    let scale = largest_norm(&block);
    orthonormalize(space.as_ref(), &mut block, scale, &mut generator);
    let mut t: Mat<f64> = Mat::new();
    let (mut next_look, mut last_look) = (m + BLOCK, None);
    loop {
        monitor.check()?;
        let d = space.ncols();
        if d + BLOCK > most {
            return Ok(None);
        }
        space.resize_with(n, d + BLOCK, |i, j| block[(i, j - d)]);
        let mut next = times(k, n, block.as_ref());
        let products = inner_products(space.as_ref(), next.as_ref());
        t.resize_with(d + BLOCK, d + BLOCK, |_, _| 0.0);
        for j in 0..BLOCK {
            for i in 0..d + BLOCK {
                t[(i, d + j)] = products[(i, j)];
                t[(d + j, i)] = products[(i, j)];
            }
        }
        let scale = largest_norm(&next);
        subtract(&mut next, space.as_ref(), products.as_ref());
        let coupling = orthonormalize(space.as_ref(), &mut next, scale, &mut generator);
        block = next;
        let d = d + BLOCK;
        if d < next_look {
            continue;
        }
        let (values, vectors) = eigen(t.clone(), monitor)?;
        let last = vectors.subrows(d - BLOCK, BLOCK).subcols(0, m);
        let residuals = product(coupling.as_ref(), last);
        let residual = (0..m).map(|j| residuals.col(j).norm_l2()).fold(0.0, f64::max) / values[0];
        if residual <= CONVERGED {
            let ritz = product(space.as_ref(), vectors.subcols(0, m));
            return Ok(Some((values[..m].to_vec(), ritz)));
        }
        // A look costs d³: the next comes when the residual's fall promises an end, at the latest a fifth on.
        let (before, then) = last_look.replace((d, residual)).unwrap_or((d, residual));
        let rate = (then / residual).ln() / (d - before) as f64;
        let promised = (residual / CONVERGED).ln() / rate;
        let further = if promised >= 0.0 { promised.min(d as f64 / 5.0) } else { d as f64 / 5.0 };
        next_look = d + further as usize;
    }
}

/// K·V by panels of rows.
fn times(k: &[f64], n: usize, v: MatRef<'_, f64>) -> Mat<f64> {
    let b = v.ncols();
    let mut out = vec![0.0; n * b];
    out.par_chunks_mut(PANEL * b).zip(k.par_chunks(PANEL * n)).for_each(|(out, k)| {
        let rows = k.len() / n;
        let out = MatMut::from_row_major_slice_mut(out, rows, b);
        matmul(out, Accum::Replace, MatRef::from_row_major_slice(k, rows, n), v, 1.0, Par::Seq);
    });
    MatRef::from_row_major_slice(&out, n, b).to_owned()
}

/// Rows of a tall matrix that a thread takes at a time: fixed, so that the bits do not depend on the number of threads.
const SUM_ROWS: usize = 512;

/// AᵀB for two tall matrices, panels of rows added up in their order.
fn inner_products(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let panels = a.par_row_chunks(SUM_ROWS).zip(b.par_row_chunks(SUM_ROWS));
    let parts: Vec<Mat<f64>> = panels.map(|(a, b)| product(a.transpose(), b)).collect();
    parts.iter().fold(Mat::zeros(a.ncols(), b.ncols()), |sum, part| sum + part)
}

/// B − A·C in the place of a tall B.
fn subtract(b: &mut Mat<f64>, a: MatRef<'_, f64>, c: MatRef<'_, f64>) {
    if c.nrows() > 0 {
        let panels = b.par_row_chunks_mut(SUM_ROWS).zip(a.par_row_chunks(SUM_ROWS));
        panels.for_each(|(b, a)| matmul(b, Accum::Add, a, c, -1.0, Par::Seq));
    }
}

fn largest_norm(block: &Mat<f64>) -> f64 {
    block.col_iter().map(|column| column.norm_l2()).fold(0.0, f64::max)
}

/// Makes a block that is nearly orthogonal to the space wholly so, and orthonormal. Returns R, upper triangular, with block
/// = new block·R up to the part in the space; directions that vanish beside `scale` are replaced by random ones and get a zero
/// row in R.
fn orthonormalize(
    space: MatRef<'_, f64>,
    block: &mut Mat<f64>,
    scale: f64,
    generator: &mut impl rand::Rng,
) -> Mat<f64> {
    let b = block.ncols();
    let mut r = Mat::zeros(b, b);
    let clear = |block: &mut Mat<f64>| {
        let products = inner_products(space, block.as_ref());
        subtract(block, space, products.as_ref());
    };
    clear(block);
    for j in 0..b {
        let mut vanished = false;
        for pass in 0..3 {
            let (earlier, rest) = block.as_mut().split_at_col_mut(j);
            let mut own = rest.col_mut(0);
            // One after another: the next takes what this one has left.
            for (i, earlier) in earlier.as_ref().col_iter().enumerate() {
                let product = earlier.transpose() * own.as_ref();
                own -= Scale(product) * earlier;
                if !vanished {
                    r[(i, j)] += product;
                }
            }
            let norm = own.norm_l2();
            if pass == 1 {
                if norm <= 1e-14 * scale {
                    vanished = true;
                    let mut fresh = Mat::from_fn(block.nrows(), 1, |_, _| StandardNormal.sample(generator));
                    clear(&mut fresh);
                    clear(&mut fresh);
                    block.col_mut(j).copy_from(fresh.col(0));
                } else {
                    r[(j, j)] = norm;
                    break;
                }
            }
        }
        let norm = block.col(j).norm_l2();
        block.col_mut(j).iter_mut().for_each(|v| *v /= norm);
    }
    r
}
