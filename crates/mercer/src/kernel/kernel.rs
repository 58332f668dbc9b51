//! Kernels: what they are called and what each one computes. One formula, one function, in one place.
//!
//!   k(x, x') = f(s)     s one statistic of the pair: inner product, squared distance, L1 distance or χ² sum
//!
//! Panels compute the statistic (`block.rs`) and call `Kernel::finish` on it; nothing else evaluates a kernel. Sums and products of
//! kernels (`composite.rs`) and functions of the user's (`own.rs`) have values for statistics.

use super::composite::Composite;
use super::own::Own;
use super::text::{self, Defaults};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::real::exp::{ElementWise, map_slice};

/// The kernel's formula, without its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// exp(−γ‖x−x'‖²)
    Rbf,
    /// exp(−γ‖x−x'‖₁)
    Laplacian,
    /// ⟨x,x'⟩
    Linear,
    /// (γ⟨x,x'⟩+c₀)^d
    Poly {
        /// d, at least 1.
        degree: u32,
        /// c₀, not negative.
        coef0: f64,
    },
    /// tanh(γ⟨x,x'⟩+c₀), not positive semi-definite
    Sigmoid {
        /// c₀.
        coef0: f64,
    },
    /// ⟨x,x'⟩/(‖x‖‖x'‖), 0 for a zero row
    Cosine,
    /// e^{−r}, r = √(2γ)‖x−x'‖
    Matern12,
    /// (1+√3r)e^{−√3r}
    Matern32,
    /// (1+√5r+5r²/3)e^{−√5r}
    Matern52,
    /// (1+γ‖x−x'‖²/α)^{−α}
    Rq {
        /// α, above 0.
        alpha: f64,
    },
    /// exp(−γΣ(x−x')²/(x+x')) on non-negative rows
    Chi2,
    /// Σ2xx'/(x+x') on non-negative rows, which `AdditiveChi2Sampler` of scikit-learn approximates (Vedaldi & Zisserman 2012)
    AdditiveChi2,
    /// The share of the columns in which both rows have the same number
    Match,
    /// A weighted sum of products of kernels on columns
    Composite(&'static Composite),
    /// A function of the user's
    Own(&'static Own),
    /// The rows are kernel values against the training rows.
    Precomputed,
}

/// The pair statistic that a kernel is a function of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistic {
    /// ⟨x,x'⟩
    Product,
    /// ⟨x,x'⟩ of rows of length 1
    Cosine,
    /// γ‖x−x'‖²
    SquaredDistance,
    /// γ‖x−x'‖₁
    Manhattan,
    /// γΣ(x−x')²/(x+x')
    ChiSquared,
    /// Σ2xx'/(x+x')
    Additive,
    /// Share of equal columns
    Equal,
    /// The kernel's value
    Value,
    /// The value itself
    Given,
}

/// A kernel with its width: a formula that can be evaluated.
///
/// ```
/// use mercer::{Kernel, Rows};
///
/// let rows = Rows::dense(vec![0.0, 0.0, 1.0, 1.0], 2, 2)?;
/// let k = Kernel::rbf(0.5).matrix(&rows, &rows)?;
/// assert_eq!(k[(0, 0)], 1.0);
/// assert!((k[(0, 1)] - (-1.0f64).exp()).abs() < 1e-15); // exp(−0.5·2)
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    /// The formula.
    pub shape: Shape,
    /// γ; not used by `linear`, `cosine`, `additive_chi2`, `match` and `precomputed`. Parts of a sum that have no γ of their own have
    /// this.
    pub gamma: f64,
}

impl Shape {
    /// Every kernel's name, in the order of the documentation.
    pub const NAMES: [&'static str; 14] = [
        "rbf",
        "laplacian",
        "linear",
        "poly",
        "sigmoid",
        "cosine",
        "matern12",
        "matern32",
        "matern52",
        "rq",
        "chi2",
        "additive_chi2",
        "match",
        "precomputed",
    ];

    /// The formula with this name and these settings; those it has no use for are ignored. Instead of a name it may be a sum of
    /// products, `0.5*rbf(gamma=0.1)+poly(columns=0:5)`, whose parts have these settings where they have none of their own.
    pub fn named(name: &str, degree: u32, coef0: f64, alpha: f64) -> Result<Self> {
        let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_word && name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Self::plain(name, degree, coef0, alpha);
        }
        text::read(name, Defaults { degree, coef0, alpha })
    }

    /// The formula with this name alone.
    pub(super) fn plain(name: &str, degree: u32, coef0: f64, alpha: f64) -> Result<Self> {
        let shape = match name {
            "rbf" => Self::Rbf,
            "laplacian" => Self::Laplacian,
            "linear" => Self::Linear,
            "poly" => Self::Poly { degree, coef0 },
            "sigmoid" => Self::Sigmoid { coef0 },
            "cosine" => Self::Cosine,
            "matern12" => Self::Matern12,
            "matern32" => Self::Matern32,
            "matern52" => Self::Matern52,
            "rq" => Self::Rq { alpha },
            "chi2" => Self::Chi2,
            "additive_chi2" => Self::AdditiveChi2,
            "match" => Self::Match,
            "precomputed" => Self::Precomputed,
            _ => {
                return Err(Error::argument(format!(
                    "kernel = `{name}` is not known; use one of {}, or sums and products of them",
                    Self::NAMES.join(", ")
                )));
            }
        };
        shape.check()?;
        Ok(shape)
    }

    /// The kernel's name; a sum or product as text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rbf => "rbf",
            Self::Laplacian => "laplacian",
            Self::Linear => "linear",
            Self::Poly { .. } => "poly",
            Self::Sigmoid { .. } => "sigmoid",
            Self::Cosine => "cosine",
            Self::Matern12 => "matern12",
            Self::Matern32 => "matern32",
            Self::Matern52 => "matern52",
            Self::Rq { .. } => "rq",
            Self::Chi2 => "chi2",
            Self::AdditiveChi2 => "additive_chi2",
            Self::Match => "match",
            Self::Composite(composite) => composite.text(),
            Self::Own(own) => own.text(),
            Self::Precomputed => "precomputed",
        }
    }

    /// Whether γ has a part in the formula.
    pub fn uses_gamma(self) -> bool {
        match self {
            Self::Composite(composite) => composite.uses_gamma(),
            Self::Linear
            | Self::Cosine
            | Self::AdditiveChi2
            | Self::Match
            | Self::Own(_)
            | Self::Precomputed => false,
            _ => true,
        }
    }

    /// Whether k depends on x − x' alone, so that k(x,x) = 1.
    pub fn is_stationary(self) -> bool {
        matches!(self.statistic(), Statistic::SquaredDistance | Statistic::Manhattan)
    }

    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Poly { degree, .. } if !(1..=1_000).contains(&degree) => {
                Err(Error::argument(format!("degree = {degree}, but the kernel `poly` needs 1 to 1000")))
            }
            Self::Poly { coef0, .. } if !(coef0 >= 0.0 && coef0.is_finite()) => Err(Error::argument(
                format!("coef0 = {coef0}, but the kernel `poly` needs a finite number of at least 0"),
            )),
            Self::Sigmoid { coef0 } if !coef0.is_finite() => {
                Err(Error::argument(format!("coef0 = {coef0}, but it must be finite")))
            }
            Self::Rq { alpha } if !(alpha > 0.0 && alpha.is_finite()) => Err(Error::argument(format!(
                "alpha = {alpha}, but the kernel `rq` needs a finite number above 0"
            ))),
            Self::Composite(composite) => composite.check(),
            _ => Ok(()),
        }
    }

    pub(crate) fn statistic(self) -> Statistic {
        match self {
            Self::Linear | Self::Poly { .. } | Self::Sigmoid { .. } => Statistic::Product,
            Self::Cosine => Statistic::Cosine,
            Self::Rbf | Self::Matern12 | Self::Matern32 | Self::Matern52 | Self::Rq { .. } => {
                Statistic::SquaredDistance
            }
            Self::Laplacian => Statistic::Manhattan,
            Self::Chi2 => Statistic::ChiSquared,
            Self::AdditiveChi2 => Statistic::Additive,
            Self::Match => Statistic::Equal,
            Self::Composite(_) | Self::Own(_) => Statistic::Value,
            Self::Precomputed => Statistic::Given,
        }
    }
}

impl Kernel {
    /// exp(−γ‖x−x'‖²).
    pub fn rbf(gamma: f64) -> Self {
        Self { shape: Shape::Rbf, gamma }
    }

    /// ⟨x,x'⟩.
    pub fn linear() -> Self {
        Self { shape: Shape::Linear, gamma: 1.0 }
    }

    /// The share of the columns in which both rows have the same number: for categories as codes.
    pub fn matching() -> Self {
        Self { shape: Shape::Match, gamma: 1.0 }
    }

    /// The rows are kernel values against the training rows.
    pub fn precomputed() -> Self {
        Self { shape: Shape::Precomputed, gamma: 1.0 }
    }

    /// An error unless the kernel can look at rows of so many columns.
    pub(crate) fn check_for(self, rows: &Rows) -> Result<()> {
        self.check()?;
        match self.shape {
            Shape::Composite(composite) => composite.check_columns(rows.p()),
            _ => Ok(()),
        }
    }

    pub(crate) fn check(self) -> Result<()> {
        self.shape.check()?;
        if let Shape::Composite(composite) = self.shape {
            composite.check_names()?;
        }
        if self.shape.uses_gamma() && !(self.gamma > 0.0 && self.gamma.is_finite()) {
            return Err(Error::argument(format!(
                "gamma = {}, but it must be a finite number above 0",
                self.gamma
            )));
        }
        Ok(())
    }

    /// Turns statistics (distances already multiplied by γ) into kernel values, in place.
    pub(crate) fn finish<T: Real>(self, values: &mut [T]) {
        let gamma = self.gamma;
        match self.shape {
            Shape::Linear
            | Shape::Cosine
            | Shape::AdditiveChi2
            | Shape::Match
            | Shape::Composite(_)
            | Shape::Own(_)
            | Shape::Precomputed => {}
            Shape::Poly { degree, coef0 } => {
                each(values, |v| (gamma * v + coef0).powi(degree.cast_signed()));
            }
            Shape::Sigmoid { coef0 } => each(values, |v| (gamma * v + coef0).tanh()),
            Shape::Rbf | Shape::Laplacian | Shape::Chi2 => map_slice(values, Exponential),
            Shape::Matern12 => map_slice(values, Matern::<1>),
            Shape::Matern32 => map_slice(values, Matern::<3>),
            Shape::Matern52 => map_slice(values, Matern::<5>),
            Shape::Rq { alpha } => each(values, |v| (1.0 + v / alpha).powf(-alpha)),
        }
    }

    /// Turns statistics s into ∂k/∂s, in place; where there is none, or it is beyond a number, 0.
    pub(crate) fn differentiate(self, values: &mut [f64]) {
        let gamma = self.gamma;
        match self.shape {
            Shape::Linear
            | Shape::Cosine
            | Shape::AdditiveChi2
            | Shape::Match
            | Shape::Composite(_)
            | Shape::Own(_)
            | Shape::Precomputed => values.fill(1.0),
            Shape::Poly { degree, coef0 } => {
                let power = degree.cast_signed() - 1;
                let slope = |s: f64| f64::from(degree) * gamma * (gamma * s + coef0).powi(power);
                values.iter_mut().for_each(|v| *v = slope(*v));
            }
            Shape::Sigmoid { coef0 } => {
                values.iter_mut().for_each(|v| *v = gamma * (1.0 - (gamma * *v + coef0).tanh().powi(2)));
            }
            Shape::Rbf | Shape::Laplacian | Shape::Chi2 => {
                self.finish(values);
                values.iter_mut().for_each(|v| *v = -*v);
            }
            Shape::Matern12 | Shape::Matern32 | Shape::Matern52 | Shape::Rq { .. } => {
                let slope = |s: f64| self.slope(s).filter(|slope| slope.is_finite()).unwrap_or(0.0);
                values.iter_mut().for_each(|v| *v = -slope(*v));
            }
        }
    }

    /// −∂k/∂s at statistic s = γ‖x−x'‖², for the kernels of a squared distance; None for others.
    /// At s = 0 `matern12` has no derivative: infinity.
    pub(crate) fn slope(self, s: f64) -> Option<f64> {
        let r = (2.0 * s).sqrt();
        match self.shape {
            Shape::Rbf => Some((-s).exp()),
            Shape::Matern12 => Some((-r).exp() / r),
            Shape::Matern32 => Some(3.0 * (-(3.0f64.sqrt() * r)).exp()),
            Shape::Matern52 => {
                let t = 5.0f64.sqrt() * r;
                Some(5.0 / 3.0 * (1.0 + t) * (-t).exp())
            }
            Shape::Rq { alpha } => Some((1.0 + s / alpha).powf(-alpha - 1.0)),
            _ => None,
        }
    }
}

/// What is not vectorised is computed in float64.
fn each<T: Real>(values: &mut [T], f: impl Fn(f64) -> f64) {
    values.iter_mut().for_each(|v| *v = T::of(f(v.double())));
}

#[derive(Clone, Copy)]
struct Exponential;

impl<T: Real> ElementWise<T> for Exponential {
    #[inline(always)]
    fn apply<const FMA: bool>(self, s: T) -> T {
        (-s).exp::<FMA>()
    }
}

/// Matérn of order `TWICE_NU`/2 as a function of s = γ‖x−x'‖² = r²/2.
#[derive(Clone, Copy)]
struct Matern<const TWICE_NU: u8>;

impl<T: Real, const TWICE_NU: u8> ElementWise<T> for Matern<TWICE_NU> {
    #[inline(always)]
    fn apply<const FMA: bool>(self, s: T) -> T {
        // Far beyond where the value is 0, and short of where its factor would overflow.
        let t = (T::of(2.0 * f64::from(TWICE_NU)) * s.least(T::of(1e6))).root();
        let factor = match TWICE_NU {
            1 => T::ONE,
            3 => T::ONE + t,
            _ => T::ONE + t + t * t / T::of(3.0),
        };
        factor * (-t).exp::<FMA>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_derivatives_of_the_values() {
        for shape in [Shape::Rbf, Shape::Matern12, Shape::Matern32, Shape::Matern52, Shape::Rq { alpha: 1.7 }]
        {
            let kernel = Kernel { shape, gamma: 1.0 };
            for s in [0.01, 0.3, 2.0] {
                let h = 1e-6;
                let mut around = [s - h, s + h];
                kernel.finish(&mut around);
                let difference = (around[0] - around[1]) / (2.0 * h);
                let slope = kernel.slope(s).expect("smooth");
                assert!((difference - slope).abs() < 1e-8, "{shape:?} at {s}: {difference} for {slope}");
            }
        }
    }

    #[test]
    fn names_and_shapes_go_both_ways() {
        for name in Shape::NAMES {
            assert_eq!(Shape::named(name, 3, 1.0, 1.0).expect("known").name(), name);
        }
        let text = Shape::named("rbff", 3, 1.0, 1.0).expect_err("unknown").to_string();
        assert!(text.contains("`rbff`") && text.contains("matern52"), "{text}");
    }
}
