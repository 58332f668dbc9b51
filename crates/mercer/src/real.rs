//! The numbers that panels are computed in: float64, or float32 for rows and features that are.
//!
//! Only what is done once a kernel value or once a feature is generic: products, norms and e^x. What is done once a row or
//! once a map stays in float64, as it costs nothing there.

pub(crate) mod exp;

use std::iter::Sum;
use std::ops::Neg;

use bytemuck::Pod;
use faer::traits::RealField;
use faer::{ColRef, Mat};

use crate::error::{Error, Result};
use exp::{exp, exp_f32};

/// What panels are computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 53 bits.
    Double,
    /// 24 bits.
    Single,
}

impl Precision {
    /// The names of both.
    pub const NAMES: [&'static str; 2] = ["double", "single"];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Single => "single",
        }
    }

    /// The precision with this name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "double" => Ok(Self::Double),
            "single" => Ok(Self::Single),
            _ => Err(Error::argument(format!(
                "precision = `{name}` is not known; use one of {}",
                Self::NAMES.join(", ")
            ))),
        }
    }
}

impl Precision {
    /// What rounding may leave, relative to what it was taken from: in float64 this, in float32, which has half
    /// the digits, the root of it.
    pub(crate) fn tolerance(self, double: f64) -> f64 {
        match self {
            Self::Double => double,
            Self::Single => double.sqrt(),
        }
    }

    /// Bytes a number.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Double => 8,
            Self::Single => 4,
        }
    }
}

/// f64 or f32.
pub(crate) trait Real: RealField + Copy + Pod + Neg<Output = Self> + Sum + Send + Sync {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Below this share of ‖u‖²+‖v‖² a squared distance has lost too many digits.
    const CANCELLED: Self;
    /// ∞.
    const INFINITY: Self;
    /// Which of the two it is.
    const PRECISION: Precision;

    /// The nearest to a number in float64.
    fn of(value: f64) -> Self;
    /// In double precision.
    fn double(self) -> f64;
    /// The smaller of two.
    fn least(self, other: Self) -> Self;
    /// The sum of a column, in float64.
    fn sum_of(column: ColRef<'_, Self>) -> f64;
    /// A matrix in float64; no copy of one that is.
    fn widened(matrix: Mat<Self>) -> Mat<f64>;
    /// √x.
    fn root(self) -> Self;
    /// e^x for x ≤ 0; `FMA`: fused multiply-add is one instruction.
    fn exp<const FMA: bool>(self) -> Self;
    /// Σ(root·(x−y))², in float64, because differences of float32 numbers may need more digits; in eight sums, because
    /// in one every column would wait for the one before.
    #[inline(always)]
    fn squared_distance(x: &[Self], y: &[f64], root: f64) -> f64 {
        let term = |x: Self, y: f64| {
            let difference = root * (x.double() - y);
            difference * difference
        };
        let (x, rest) = x.as_chunks::<8>();
        let (y, their_rest) = y.as_chunks::<8>();
        let mut sums = [0.0; 8];
        for (x, y) in x.iter().zip(y) {
            for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                *sum += term(*x, *y);
            }
        }
        sums.iter().sum::<f64>() + rest.iter().zip(their_rest).map(|(x, y)| term(*x, *y)).sum::<f64>()
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const CANCELLED: Self = 1e-3;
    const INFINITY: Self = Self::INFINITY;
    const PRECISION: Precision = Precision::Double;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        self.min(other)
    }

    fn sum_of(column: ColRef<'_, Self>) -> f64 {
        column.sum()
    }

    fn widened(matrix: Mat<Self>) -> Mat<f64> {
        matrix
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn exp<const FMA: bool>(self) -> Self {
        exp::<FMA>(self)
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    // With s·|k'(s)| below 0.4 for every kernel of a distance, values keep an error of a few 1e−6 at worst.
    const CANCELLED: Self = 1.0 / 32.0;
    const INFINITY: Self = Self::INFINITY;
    const PRECISION: Precision = Precision::Single;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        self.min(other)
    }

    fn sum_of(column: ColRef<'_, Self>) -> f64 {
        let Some(column) = column.try_as_col_major() else {
            return column.iter().map(|v| f64::from(*v)).sum();
        };
        // In eight sums, because in one every number would wait for the one before.
        let (chunks, rest) = column.as_slice().as_chunks::<8>();
        let mut sums = [0.0; 8];
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, v)| *sum += f64::from(*v));
        }
        sums.iter().sum::<f64>() + rest.iter().map(|v| f64::from(*v)).sum::<f64>()
    }

    fn widened(matrix: Mat<Self>) -> Mat<f64> {
        Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| f64::from(matrix[(i, j)]))
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn exp<const FMA: bool>(self) -> Self {
        exp_f32::<FMA>(self)
    }
}
