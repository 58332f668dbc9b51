//! Dense landmarks that rows meet by matrix products, in float64 or float32: kernels of products and of squared
//! distances.
//!
//!   γ‖x−y‖² = ‖u‖² + ‖v‖² − 2⟨u,v⟩,   u = √γ(x−μ), v = √γ(y−μ), μ the landmarks' mean
//!
//! cost    2p flops a value
//! differs where the sum above cancels to less than 1e−3 of its terms (float32: 1/32), the distance is computed in
//!         double precision from the difference of the rows, so equal rows are at distance 0 exactly and none is negative;
//!         γ is inside, and u is found in float64, so rows of any scale neither overflow nor vanish

use std::borrow::Cow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::kernel::{Kernel, Statistic};
use super::pairs::{is_cancelled, unit_row};
use crate::data::rows::Dense;
use crate::real::Real;

/// l landmarks of p columns, prepared.
#[derive(Debug)]
pub(crate) struct Products<T> {
    l: usize,
    p: usize,
    side: Side<T>,
    /// v, or the landmarks themselves (cosine: of length 1); l×p, row-major.
    points: Vec<T>,
}

#[derive(Debug)]
enum Side<T> {
    Products,
    Cosines,
    Distances(Distances<T>),
}

#[derive(Debug)]
struct Distances<T> {
    root: f64,
    shift: Vec<f64>,
    /// ‖v‖².
    norms: Vec<T>,
    landmarks: Vec<f64>,
}

impl<T: Real> Products<T> {
    /// Prepares landmarks; None for kernels that are no function of products or squared distances.
    pub(crate) fn new(kernel: Kernel, landmarks: &Dense, l: usize, p: usize) -> Option<Self> {
        let (side, points) = match kernel.shape.statistic() {
            Statistic::Product => (Side::Products, cast(landmarks.values()).into_owned()),
            Statistic::Cosine => (Side::Cosines, cast(&unit_length(landmarks.values(), p)).into_owned()),
            Statistic::SquaredDistance => {
                let (root, shift) = (kernel.gamma.sqrt(), mean(landmarks, l, p));
                let (points, norms) = shifted(landmarks.values(), &shift, root);
                let landmarks = landmarks.values().to_vec();
                (Side::Distances(Distances { root, shift, norms, landmarks }), points)
            }
            _ => return None,
        };
        Some(Self { l, p, side, points })
    }

    pub(crate) fn p(&self) -> usize {
        self.p
    }

    /// What the kernel is a function of: products, or distances multiplied by γ; row-major into `out` (n×l).
    /// Rows may be in another precision than the result.
    pub(crate) fn statistics<S: Real>(&self, rows: &[S], out: &mut [T]) {
        if self.p == 0 {
            return out.fill(T::ZERO);
        }
        match &self.side {
            Side::Products => self.multiply(&cast(rows), T::ONE, out),
            Side::Cosines => self.multiply(&cast(&unit_length(rows, self.p)), T::ONE, out),
            Side::Distances(distances) => {
                let (u, row_norms) = shifted(rows, &distances.shift, distances.root);
                self.multiply(&u, T::of(-2.0), out);
                for (i, out) in out.chunks_exact_mut(self.l).enumerate() {
                    if add_norms(out, row_norms[i], &distances.norms) {
                        distances.look_again(&rows[i * self.p..(i + 1) * self.p], row_norms[i], out);
                    }
                }
            }
        }
    }

    fn multiply(&self, rows: &[T], factor: T, out: &mut [T]) {
        let n = out.len() / self.l;
        matmul(
            MatMut::from_row_major_slice_mut(out, n, self.l),
            Accum::Replace,
            MatRef::from_row_major_slice(rows, n, self.p),
            MatRef::from_row_major_slice(&self.points, self.l, self.p).transpose(),
            factor,
            Par::Seq,
        );
    }
}

impl<T: Real> Distances<T> {
    /// Distances of one row that have cancelled, from the differences.
    fn look_again<S: Real>(&self, row: &[S], row_norm: T, out: &mut [T]) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                let landmarks = self.landmarks.chunks_exact(row.len());
                for ((s, &norm), landmark) in out.iter_mut().zip(&self.norms).zip(landmarks) {
                    if is_cancelled(*s, row_norm + norm) {
                        *s = T::of(S::squared_distance(row, landmark, self.root));
                    }
                }
            },
        );
    }
}

/// γ‖x−y‖² of rows x and one row y, with root = √γ: as [`Products`] of that one landmark would give them, without products.
pub(crate) fn distances_to(y: &[f64], rows: &Dense, root: f64, out: &mut [f64]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (i, o) in out.iter_mut().enumerate() {
                *o = f64::squared_distance(rows.row(i), y, root);
            }
        },
    );
}

/// Adds the norms to −2⟨u,v⟩; whether any result has cancelled.
fn add_norms<T: Real>(out: &mut [T], row_norm: T, norms: &[T]) -> bool {
    let cancelled = pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            // A count, because a flag that is set inside the loop would keep it from being vectorised.
            let mut cancelled = 0u32;
            for (o, &norm) in out.iter_mut().zip(norms) {
                let terms = row_norm + norm;
                *o += terms;
                cancelled += u32::from(is_cancelled(*o, terms));
            }
            cancelled
        },
    );
    cancelled > 0
}

/// Numbers in the precision that is wanted, as they are if they are in it.
fn cast<S: Real, T: Real>(values: &[S]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(values) {
        Ok(same) if size_of::<S>() == size_of::<T>() => Cow::Borrowed(same),
        _ => values.iter().map(|v| T::of(v.double())).collect(),
    }
}

fn mean(rows: &Dense, n: usize, p: usize) -> Vec<f64> {
    let mut mean = vec![0.0; p];
    for i in 0..n {
        for (s, v) in mean.iter_mut().zip(rows.row(i)) {
            *s += v / n as f64;
        }
    }
    mean
}

/// root·(x − shift) for all rows, and the squared norms. The rows may be in another precision than the result.
fn shifted<S: Real, T: Real>(rows: &[S], shift: &[f64], root: f64) -> (Vec<T>, Vec<T>) {
    let p = shift.len().max(1);
    let mut u = vec![T::ZERO; rows.len()];
    let mut norms = vec![T::ZERO; rows.len() / p];
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for ((row, u), norm) in rows.chunks_exact(p).zip(u.chunks_exact_mut(p)).zip(&mut norms) {
                u.iter_mut().zip(row).zip(shift).for_each(|((u, x), s)| *u = T::of(root * (x.double() - s)));
                *norm = T::of(sum_of_squares(u));
            }
        },
    );
    (u, norms)
}

/// Σv² in eight sums: in one, every number would wait for the one before.
#[inline(always)]
fn sum_of_squares<T: Real>(values: &[T]) -> f64 {
    let square = |v: &T| v.double() * v.double();
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, v)| *sum += square(v));
    }
    sums.iter().sum::<f64>() + rest.iter().map(square).sum::<f64>()
}

/// Rows divided by their length (by their largest number first, so that no square overflows); zero rows stay zero.
fn unit_length<T: Real>(rows: &[T], p: usize) -> Vec<T> {
    rows.chunks_exact(p.max(1)).flat_map(unit_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::Rows;
    use crate::data::synth;

    #[test]
    fn distances_to_one_row_are_bit_by_bit_those_by_products() {
        let rows = synth::generate("ringnorm?n=50&seed=1").expect("rows").rows;
        // Every 20 numbers a row, then every 3, of which no eight can be summed at a time.
        for p in [20, 3] {
            let rows = Rows::dense(rows.to_dense()[..30 * p].to_vec(), 30, p).expect("rows");
            let Rows::Dense(dense) = &rows else { unreachable!("they are dense") };
            let Rows::Dense(one) = rows.select(&[7]) else { unreachable!("they are dense") };
            let (mut direct, mut by_products) = (vec![0.0; 30], vec![0.0; 30]);
            distances_to(dense.row(7), dense, 0.3f64.sqrt(), &mut direct);
            let products = Products::<f64>::new(Kernel::rbf(0.3), &one, 1, p).expect("distances");
            products.statistics(dense.values(), &mut by_products);
            assert_eq!(direct, by_products);
            assert_eq!(direct[7], 0.0);
        }
    }
}
