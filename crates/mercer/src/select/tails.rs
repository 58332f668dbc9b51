//! Upper tails of F and of Student's t, from the regularised incomplete beta function.
//!
//!   P(F > f) = I_x(d₂/2, d₁/2),   x = d₂/(d₂ + d₁f);      P(T > t) = ½ P(F > t²),  F with 1 and ν degrees of freedom
//!
//!   I_x(a, b) = x^a y^b/B(a, b) · continued fraction,   y = 1 − x; above the mean of x, 1 − I_y(b, a)
//!
//! cost    7 steps of the fraction on average, 49 at most, over 1 to 500 and 1 to 10⁷ degrees of freedom
//! source  Didonato & Morris 1992 (the fraction and the factor before it); DLMF 5.11.1 (Stirling's series)
//! differs small a and b are shifted up to where Stirling's series is accurate, instead of using other expansions; x and y
//!         are both computed from f, because 1 − x loses digits where x is near 1

/// P(F > f), F with d1 and d2 degrees of freedom, to about 1e−12 of itself however small it is.
pub(crate) fn f_upper(f: f64, d1: f64, d2: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    // With f/d₂ as one number, neither d₁f nor the sum overflows before the result is 0.
    let ratio = d1 * (f / d2);
    if ratio.is_infinite() { 0.0 } else { upper(1.0 / (1.0 + ratio), ratio / (1.0 + ratio), d1, d2) }
}

/// P(T > t), one-sided, T Student's t with `dof` degrees of freedom.
pub(crate) fn t_upper(t: f64, dof: f64) -> f64 {
    let tail = f_upper(t * t, 1.0, dof);
    if t > 0.0 { 0.5 * tail } else { 1.0 - 0.5 * tail }
}

/// I_x(d2/2, d1/2), with y = 1 − x given, because 1 − x loses digits where x is near 1.
fn upper(x: f64, y: f64, d1: f64, d2: f64) -> f64 {
    let (a, b) = (0.5 * d2, 0.5 * d1);
    if x <= 0.0 {
        return 0.0;
    }
    // The fraction converges fast on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_factor(a, b, x, y).exp() * fraction(a, b, x, y)
    } else {
        1.0 - ln_factor(b, a, y, x).exp() * fraction(b, a, y, x)
    }
}

/// 1/(β₀ + α₁/(β₁ + α₂/(β₂ + …))), by Lentz's method.
fn fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    /// Far more terms than are ever needed.
    const MAX_TERMS: usize = 10_000;
    let away_from_zero = |v: f64| if v.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { v };
    let lambda = -past_mean(a, b, x, y);
    let beta = |m: f64| {
        let last = (a + m) / (a + 2.0 * m + 1.0) * (lambda + 1.0 + m * (1.0 + y));
        m + m * (b - m) * x / (a + 2.0 * m - 1.0) + last
    };
    // Not β(0): a = 1 would make it 0/0.
    let mut value = away_from_zero(a / (a + 1.0) * (lambda + 1.0));
    let (mut c, mut d) = (value, 0.0);
    for m in 1..MAX_TERMS {
        let m = m as f64;
        let between = (a + m - 1.0) / (a + 2.0 * m - 1.0) * x;
        let alpha = between * ((a + b + m - 1.0) / (a + 2.0 * m - 1.0) * x) * m * (b - m);
        d = 1.0 / away_from_zero(beta(m) + alpha * d);
        c = away_from_zero(beta(m) + alpha / c);
        value *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    1.0 / value
}

/// (a+b)·x − a, from the smaller of x and y, which is known to its last digit.
fn past_mean(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x < y { (a + b) * x - a } else { b - (a + b) * y }
}

/// ln(x^a y^b/B(a, b)) for x + y = 1.
fn ln_factor(a: f64, b: f64, x: f64, y: f64) -> f64 {
    /// From here on eight terms of Stirling's series are exact to float64.
    const STIRLING_MIN: f64 = 10.0;
    // x^a y^b/B(a, b) = x^(a+1) y^b/B(a+1, b) · a/((a+b)·x), and likewise for b.
    let (mut a, mut b, mut ln_shift) = (a, b, 0.0);
    while a < STIRLING_MIN {
        ln_shift += (a / (a + b)).ln() - x.ln();
        a += 1.0;
    }
    while b < STIRLING_MIN {
        ln_shift += (b / (a + b)).ln() - y.ln();
        b += 1.0;
    }
    let sum = a + b;
    // The logarithms of x and y relative to their means a/(a+b), b/(a+b), less their first-order terms, which cancel:
    // a·(past/a) + b·(−past/b) = 0.
    let past = past_mean(a, b, x, y);
    let deviance = a * ln_less_first(past / a, x * sum / a) + b * ln_less_first(-past / b, y * sum / b);
    let root = 0.5 * (a * (b / sum) / std::f64::consts::TAU).ln();
    deviance + root + stirling_rest(sum) - stirling_rest(a) - stirling_rest(b) + ln_shift
}

/// ln(1 + e) − e, with 1 + e given too.
fn ln_less_first(e: f64, one_plus_e: f64) -> f64 {
    if e.abs() > 0.3 {
        return one_plus_e.ln() - e;
    }
    // ln(1+e) = 2·artanh(s), s = e/(2+e); 2s − e = −s·e.
    let s = e / (2.0 + e);
    let square = s * s;
    let series = (1..12).rev().fold(0.0, |sum, k| square * (1.0 / f64::from(2 * k + 1) + sum));
    2.0 * s * series - s * e
}

/// lnΓ(z) − (z − ½)·ln z + z − ½·ln 2π for z ≥ 10.
fn stirling_rest(z: f64) -> f64 {
    const TERMS: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1_260.0,
        -1.0 / 1_680.0,
        1.0 / 1_188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3_617.0 / 122_400.0,
    ];
    let square = 1.0 / (z * z);
    TERMS.iter().rev().fold(0.0, |sum, term| sum * square + term) / z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(is: f64, should: f64, tolerance: f64) {
        assert!((is - should).abs() <= tolerance * should, "{is:e} instead of {should:e}");
    }

    #[test]
    fn f_tails_are_their_closed_forms() {
        for f in [1e-9, 0.01, 0.7, 1.0, 3.0, 50.0, 1e6, 1e30] {
            for d in [1.0, 2.0, 3.0, 10.0, 99.0, 5_000.0, 1e6] {
                // d₁ = 2: (1 + 2f/d₂)^(−d₂/2);  d₂ = 2: 1 − (d₁f/(2 + d₁f))^(d₁/2).
                assert_close(f_upper(f, 2.0, d), (-0.5 * d * (2.0 * f / d).ln_1p()).exp(), 4e-13);
                let below = -0.5 * d * (2.0 / (d * f)).ln_1p();
                assert_close(f_upper(f, d, 2.0), -below.exp_m1(), 4e-13);
            }
        }
    }

    #[test]
    fn t_tails_are_their_closed_forms() {
        for t in [1e-8f64, 0.3, 1.0, 7.0, 1e3, 1e9, 1e150] {
            // One degree of freedom: Cauchy; two: ½(1 − t/√(2 + t²)).
            assert_close(t_upper(t, 1.0), (1.0 / t).atan() / std::f64::consts::PI, 2e-12);
            let root = (2.0 + t * t).sqrt();
            assert_close(t_upper(t, 2.0), 1.0 / (root * (root + t)), 2e-12);
            assert_close(t_upper(-t, 3.0), 1.0 - t_upper(t, 3.0), 1e-15);
        }
        assert_eq!(t_upper(0.0, 5.0), 0.5);
    }

    #[test]
    fn far_tails_are_those_of_forty_digit_arithmetic() {
        // From the hypergeometric form of the incomplete beta function. SciPy 1.17 gives twice the fifth.
        for (f, d1, d2, p) in [
            (9.999_999_999_999_346e249, 1.0, 2.0, 1.000_000_000_000_065e-250),
            (3_684.718_138_543_139, 1.0, 569.0, 1.000_000_000_000_156e-250),
            (388.206_970_010_604_3, 3.0, 99_998.0, 9.999_999_999_999_008e-251),
            (164.157_519_142_693_1, 9.0, 18_844.0, 1.000_000_000_030_147e-300),
            (148.992_008_533_465_9, 49.0, 569.0, 4.632_234_761_263_063e-291),
            (3.006_064_838_771_266_5, 499.0, 9_999_990.0, 1.000_000_000_000_012e-100),
        ] {
            assert_close(f_upper(f, d1, d2), p, 4e-12);
        }
    }

    #[test]
    fn the_two_tails_add_up_to_one() {
        // P(F > f) + P(1/F > 1/f) = 1 on both sides of the mean, where the two ways of computing it meet.
        for (d1, d2) in [(1.0, 1.0), (1.0, 9.0), (5.0, 3.0), (40.0, 70.0), (3.0, 1e5), (1e4, 1e6)] {
            for f in [0.2, 0.9, 0.99, 1.0, 1.01, 1.2, 4.0] {
                assert_close(f_upper(f, d1, d2) + f_upper(1.0 / f, d2, d1), 1.0, 1e-13);
            }
        }
    }

    #[test]
    fn ends_are_exact() {
        assert_eq!(f_upper(0.0, 3.0, 7.0), 1.0);
        assert_eq!(f_upper(f64::MAX, 3.0, 70.0), 0.0);
        assert_eq!(f_upper(f64::INFINITY, 3.0, 7.0), 0.0);
        assert_eq!(t_upper(f64::INFINITY, 7.0), 0.0);
        assert_eq!(t_upper(f64::NEG_INFINITY, 7.0), 1.0);
        assert!(f_upper(f64::MIN_POSITIVE, 1.0, 1e7) <= 1.0);
    }
}
