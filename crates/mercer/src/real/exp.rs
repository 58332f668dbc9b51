//! e^x for whole slices of non-positive x, written so that the compiler vectorises it inside a `pulp` dispatch.
//!
//!   x = k·ln 2 + r,  |r| ≤ ln 2 / 2,  e^x = 2^k · e^r,  e^r by its Taylor polynomial of degree 13 (error < 5e−18);
//!   in float32 of degree 7 (error < 6e−9)
//!
//! cost    about 0.6 ns a value with AVX-512 (bench/), against 5 for `f64::exp`
//! differs below −100 (float32: −43) the result is 0: products of smaller kernel values would be subnormal and
//!         slow everything down

use super::Real;

/// Below this the result is 0.
const FLUSH: f64 = -100.0;

/// Adding and subtracting 1.5·2⁵² rounds to an integer, which then stands in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Likewise in float32: the square of e⁻⁴³ is just normal.
const FLUSH_SINGLE: f32 = -43.0;

/// 1.5·2²³.
const ROUND_SINGLE: f32 = 12_582_912.0;

/// `a·b + c`: one instruction where there is one. `mul_add` without it would be a function call.
#[inline(always)]
fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// e^x for x ≤ 0 (also fine for x < 700), 0 below −100.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let shifted = fma::<FMA>(x.max(FLUSH), std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = fma::<FMA>(k, -LN2_LOW, fma::<FMA>(k, -LN2_HIGH, x.max(FLUSH)));
    let r2 = r * r;
    let r4 = r2 * r2;
    // Estrin's scheme: short chains keep the units busy.
    let p01 = fma::<FMA>(r, 1.0, 1.0);
    let p23 = fma::<FMA>(r, 1.0 / 6.0, 0.5);
    let p45 = fma::<FMA>(r, 1.0 / 120.0, 1.0 / 24.0);
    let p67 = fma::<FMA>(r, 1.0 / 5_040.0, 1.0 / 720.0);
    let p89 = fma::<FMA>(r, 1.0 / 362_880.0, 1.0 / 40_320.0);
    let p1011 = fma::<FMA>(r, 1.0 / 39_916_800.0, 1.0 / 3_628_800.0);
    let p1213 = fma::<FMA>(r, 1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0);
    let low = fma::<FMA>(p23, r2, p01);
    let middle = fma::<FMA>(p67, r2, p45);
    let high = fma::<FMA>(p1213, r4, fma::<FMA>(p1011, r2, p89));
    let e_r = fma::<FMA>(fma::<FMA>(high, r4, middle), r4, low);
    // The exponent field is raised by k; e_r lies in [0.7, 1.42], so it never leaves the normal range.
    let value = f64::from_bits(e_r.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < FLUSH { 0.0 } else { value }
}

#[inline(always)]
fn fma_single<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// e^x for x ≤ 0 in float32, 0 below −43.
#[inline(always)]
pub(crate) fn exp_f32<const FMA: bool>(x: f32) -> f32 {
    // The high part has so few digits that its product with k is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let shifted = fma_single::<FMA>(x.max(FLUSH_SINGLE), std::f32::consts::LOG2_E, ROUND_SINGLE);
    let k = shifted - ROUND_SINGLE;
    let r = fma_single::<FMA>(k, -LN2_LOW, fma_single::<FMA>(k, -LN2_HIGH, x.max(FLUSH_SINGLE)));
    let r2 = r * r;
    let p01 = 1.0 + r;
    let p23 = fma_single::<FMA>(r, 1.0 / 6.0, 0.5);
    let p45 = fma_single::<FMA>(r, 1.0 / 120.0, 1.0 / 24.0);
    let p67 = fma_single::<FMA>(r, 1.0 / 5_040.0, 1.0 / 720.0);
    let high = fma_single::<FMA>(p67, r2, p45);
    let e_r = fma_single::<FMA>(fma_single::<FMA>(high, r2, p23), r2, p01);
    let value = f32::from_bits(e_r.to_bits().wrapping_add(shifted.to_bits() << 23));
    if x < FLUSH_SINGLE { 0.0 } else { value }
}

/// Replaces each value by `f(value)`, where `f` is told at compile time whether fused multiply-add is one instruction.
pub(crate) fn map_slice<T: Real>(values: &mut [T], op: impl ElementWise<T>) {
    match pulp::Arch::new() {
        pulp::Arch::Scalar => values.iter_mut().for_each(|v| *v = op.apply::<false>(*v)),
        arch => arch.dispatch(
            #[inline(always)]
            || {
                for v in values.iter_mut() {
                    *v = op.apply::<true>(*v);
                }
            },
        ),
    }
}

/// A function of one number that can be compiled for several instruction sets.
pub(crate) trait ElementWise<T>: Copy {
    /// The function; `FMA` is for [`exp`].
    fn apply<const FMA: bool>(self, x: T) -> T;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Exp;
    impl<T: Real> ElementWise<T> for Exp {
        #[inline(always)]
        fn apply<const FMA: bool>(self, x: T) -> T {
            x.exp::<FMA>()
        }
    }

    #[test]
    fn exp_is_right_to_the_last_two_bits_with_and_without_fused_multiply_add() {
        let x: Vec<f64> = (0..200_000).map(|i| -f64::from(i) * 0.000_499_7).collect();
        let mut fast = x.clone();
        map_slice(&mut fast, Exp);
        for (&x, &fast) in x.iter().zip(&fast) {
            let right = x.exp();
            assert!((fast - right).abs() <= 2.0 * f64::EPSILON * right, "{x}: {fast} for {right}");
            assert!((exp::<false>(x) - right).abs() <= 2.0 * f64::EPSILON * right);
        }
        assert_eq!(exp::<true>(0.0).to_bits(), 1.0f64.to_bits());
    }

    #[test]
    fn single_exp_is_right_to_the_last_two_bits_too() {
        let x: Vec<f32> = (0..200_000).map(|i| -(i as f32) * 0.000_214_9).collect();
        let mut fast = x.clone();
        map_slice(&mut fast, Exp);
        for (&x, &fast) in x.iter().zip(&fast) {
            let right = f64::from(x).exp();
            let limit = 2.0 * f64::from(f32::EPSILON) * right;
            assert!((f64::from(fast) - right).abs() <= limit, "{x}: {fast} for {right}");
            assert!((f64::from(exp_f32::<false>(x)) - right).abs() <= limit);
        }
        assert_eq!(exp_f32::<true>(0.0).to_bits(), 1.0f32.to_bits());
        for x in [-43.1, -1e30, f32::NEG_INFINITY] {
            assert_eq!(exp_f32::<true>(x).to_bits(), 0);
            assert_eq!(exp_f32::<false>(x).to_bits(), 0);
        }
    }

    #[test]
    fn far_below_zero_the_result_is_zero_not_subnormal() {
        for x in [-100.1, -745.0, -1e300, f64::NEG_INFINITY] {
            assert_eq!(exp::<true>(x).to_bits(), 0);
            assert_eq!(exp::<false>(x).to_bits(), 0);
        }
    }
}
