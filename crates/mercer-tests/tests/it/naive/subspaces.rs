//! Naive SKFE: the alignment that it maximises, its gradient, and a slow ascent.

use super::extractors::{Extracted, classes_of, mean_of, orthonormal, sum_of_products};
use super::{
    Matrix, alignment, center_columns, dot, frobenius, jacobi_eigen, matmul, one_hot, subtract, transpose,
    width, zeros,
};

/// What `skfe` maximises over m×q matrices B: A(B) = ‖BᵀC‖²/(‖BᵀSB‖·‖YᵀY‖).
#[derive(Clone, Debug)]
pub struct Alignment {
    /// C = ZᵀY.
    pub c: Matrix,
    /// S = ZᵀZ.
    pub s: Matrix,
    /// ‖YᵀY‖.
    pub target: f64,
}

impl Alignment {
    /// Of one-hot classes; `center`: of Z and Y less their means.
    pub fn new(z: &Matrix, codes: &[usize], center: bool) -> Self {
        let y = one_hot(codes, classes_of(codes));
        let (z, y) = if center { (center_columns(z), center_columns(&y)) } else { (z.clone(), y) };
        let target = frobenius(&sum_of_products(&y, &y));
        Self { c: sum_of_products(&z, &y), s: sum_of_products(&z, &z), target }
    }

    /// BᵀSB.
    pub fn inner(&self, b: &Matrix) -> Matrix {
        matmul(&transpose(b), &matmul(&self.s, b))
    }

    /// A(B).
    pub fn value(&self, b: &Matrix) -> f64 {
        let top = frobenius(&matmul(&transpose(b), &self.c)).powi(2);
        top / (frobenius(&self.inner(b)) * self.target)
    }

    /// The matrix of ∂A/∂B_ij: 2·C Cᵀ B/(‖BᵀSB‖·‖YᵀY‖) − 2·A·S B BᵀSB/‖BᵀSB‖².
    pub fn gradient(&self, b: &Matrix) -> Matrix {
        let inner = self.inner(b);
        let norm = frobenius(&inner);
        let up = matmul(&self.c, &matmul(&transpose(&self.c), b));
        let down = matmul(&matmul(&self.s, b), &inner);
        let value = self.value(b);
        let mut slope = zeros(b.len(), width(b));
        for i in 0..b.len() {
            for j in 0..width(b) {
                slope[i][j] =
                    2.0 * up[i][j] / (norm * self.target) - 2.0 * value * down[i][j] / (norm * norm);
            }
        }
        slope
    }

    /// The gradient's part along the Grassmann manifold: (I − B Bᵀ)·gradient.
    pub fn slope_on_manifold(&self, b: &Matrix) -> Matrix {
        let gradient = self.gradient(b);
        let along = matmul(b, &matmul(&transpose(b), &gradient));
        subtract(&gradient, &along)
    }

    /// Steepest ascent from B with orthonormal columns: a step is kept if it rises, and the next one is twice as long;
    /// else it is halved.
    pub fn ascend(&self, start: &Matrix, steps: usize) -> Matrix {
        let (mut b, mut length) = (start.clone(), 1.0);
        let mut value = self.value(&b);
        for _ in 0..steps {
            let slope = self.slope_on_manifold(&b);
            let mut next = b.clone();
            for i in 0..b.len() {
                for j in 0..width(&b) {
                    next[i][j] += length * slope[i][j];
                }
            }
            let next = transpose(&orthonormal(&transpose(&next)));
            let risen = self.value(&next);
            if risen > value {
                (b, value) = (next, risen);
                length *= 2.0;
            } else {
                length /= 2.0;
            }
        }
        b
    }

    /// B rotated so that BᵀSB is diagonal, descending, as directions with fixed signs.
    pub fn finished(&self, z: &Matrix, b: &Matrix, center: bool) -> Extracted {
        let (values, rotation) = jacobi_eigen(&self.inner(b));
        let directions = transpose(&matmul(b, &rotation));
        let mean = if center { mean_of(z, |_| true) } else { vec![0.0; width(z)] };
        let offset = directions.iter().map(|v| dot(v, &mean)).collect();
        Extracted::signed(z, directions, offset, values)
    }
}

/// The alignment of the features' kernel F Fᵀ with the labels' Y Yᵀ, n×n each: A(W) of SKFE.
pub fn alignment_of_features(features: &Matrix, codes: &[usize], center: bool) -> f64 {
    let y = one_hot(codes, classes_of(codes));
    let kernel = |a: &Matrix| matmul(a, &transpose(a));
    alignment(&kernel(features), &kernel(&y), center)
}

/// Columns of B with B's span, orthonormal: what starts `skfe` from directions (rows) of another extractor.
pub fn start_at(directions: &Matrix) -> Matrix {
    transpose(&orthonormal(directions))
}
