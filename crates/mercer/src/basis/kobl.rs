//! KOBL: pivots by largest residual norm, until what is left is small.
//!
//!   accept the (j+1)-th while r_{j+1}² ≥ tol·v             r the pivot norms, v what varies ([`variance`](super::variance))
//!   with `threshold`, the paper's rule: while r_{j+1}/r_1 ≥ f(j/n)
//!
//! cost    n·m² flops, about 1.4·n·(m+1) kernel values at most; 1.5·n·(m+1) + m² is asserted in tests/it/basis.rs
//! stops   by the rule above, at the cap, or where only rounding is left (`RANK`; in float32 of the coordinates, too)
//! source  TAKES, sec. 3.1 (KOBL); pivoted Cholesky: Harbrecht, Peters & Schneider 2012
//! differs the paper's rule holds r against r_1 = √k(x,x), so that a wide kernel, whose values are all near k(x,x), ends it at
//!         once; `takes` keeps it. The paper updates every residual after every pivot. Residuals only fall, so an old one is an upper bound:
//!         a few hundred candidates are kept exact, and as long as the best of them beats every other row's old
//!         residual it is the true maximum. Pivots are those of the paper's loop, ties included. Copies
//!         of a row lose every tie with the first of them, so that they are no candidates

use super::candidates::Candidates;
use super::factor_rows::{FactorRows, Farthest, Steps};
use super::fitted::Stop;
use super::pivoted::{Pivoted, TIE};
use super::settings::{N_COMPONENTS, PRECISION};
use crate::error::{Error, Result};
use crate::kernel::parameters::with_kernel;
use crate::spec::{Kind, MethodSpec, Parameter, SEED, Stage, Values};
use std::str::FromStr;
use std::sync::Arc;

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kobl",
    stage: Stage::Basis,
    file: "basis/kobl.rs",
    source: "TAKES, sec. 3.1",
    cost: "n·m² flops, n·m kernel values",
    parameters: &with_kernel::<5, 11>([
        N_COMPONENTS.none("as many as the stop rule keeps, at most 1000 beyond 5000 rows"),
        THRESHOLD,
        TOL,
        PRECISION,
        SEED,
    ]),
    help: "kernel orthogonal basis learner: the row farthest from the span so far, until little of the variance is left",
};

const THRESHOLD: Parameter = Parameter::new(
    "threshold",
    Kind::Text {
        name: "threshold",
        allowed: "linear | a number in [0, 1] | power:A | values:F0,F1,…",
        check: |text| text.parse::<Threshold>().map(drop),
    },
    "f in the paper's stop rule r/r1 < f(j/n): `linear`, a constant in [0, 1] (0: only n_components stops it), `power:A` \
     for t^A, or `values:F0,F1,…` for its values at places from 0 to 1, with straight lines between",
)
.none("tol decides; in `takes` linear");

/// What is left of a row, relative to what varies, at which it is small.
pub(super) const TOL: Parameter = Parameter::share(
    "tol",
    false,
    false,
    "squared distance from the span, relative to the variance in the kernel's space, at which the basis ends",
)
.default("0.03");

/// What is small unless told otherwise.
pub(crate) fn default_tol() -> f64 {
    Values::defaults(&SPEC).number("tol").unwrap_or_default()
}

/// When a basis ends.
#[derive(Clone, Debug)]
pub(crate) enum StopRule {
    /// r_{j+1}/r_1 < f(j/n).
    Threshold(Threshold),
    /// r_{j+1}² below this.
    Least(f64),
}

/// f in r_{j+1}/r_1 ≥ f(j/n).
#[derive(Clone, Debug)]
pub enum Threshold {
    /// f(t) = t.
    Linear,
    /// f(t) = t^a, a > 0.
    Power(f64),
    /// One f for all t, in [0, 1]; with 0 only the cap stops it.
    Constant(f64),
    /// f at equally spaced places from 0 to 1, in [0, 1] and never falling; straight lines between.
    Values(Arc<[f64]>),
    /// Any increasing function with values in [0, 1].
    Function(fn(f64) -> f64),
}

impl Threshold {
    pub(crate) fn at(&self, t: f64) -> f64 {
        match self {
            Self::Linear => t,
            Self::Power(a) => t.powf(*a),
            Self::Constant(f) => *f,
            Self::Values(values) => {
                let place = t.clamp(0.0, 1.0) * (values.len() - 1) as f64;
                let before = (place as usize).min(values.len() - 2);
                let share = place - before as f64;
                values[before] + share * (values[before + 1] - values[before])
            }
            Self::Function(f) => f(t),
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Power(a) if !(*a > 0.0 && a.is_finite()) => Err(Error::argument(format!(
                "threshold = power {a}, but the power must be finite and above 0"
            ))),
            Self::Constant(f) if !(0.0..=1.0).contains(f) => {
                Err(Error::argument(format!("threshold = {f}, but a constant must lie between 0 and 1")))
            }
            Self::Values(values) if values.len() < 2 => {
                Err(Error::argument("threshold = one value, but at least two are needed, f(0) and f(1)"))
            }
            Self::Values(values) => {
                let outside = values.iter().find(|f| !(0.0..=1.0).contains(*f));
                if let Some(f) = outside {
                    return Err(Error::argument(format!(
                        "threshold has the value {f}, but all must lie between 0 and 1"
                    )));
                }
                let falls = values.windows(2).position(|pair| pair[1] < pair[0]);
                let place = |at: usize| at as f64 / (values.len() - 1) as f64;
                falls.map_or(Ok(()), |at| {
                    Err(Error::argument(format!(
                        "threshold falls from {} at {} to {} at {}, but it must never fall",
                        values[at],
                        place(at),
                        values[at + 1],
                        place(at + 1)
                    )))
                })
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Threshold {
    type Err = Error;

    /// `linear`, a number in [0, 1], `power:A`, or `values:F0,F1,…`.
    fn from_str(text: &str) -> Result<Self> {
        if let Some(values) = text.strip_prefix("values:") {
            let number = |one: &str| one.trim().parse::<f64>();
            let values: std::result::Result<Vec<f64>, _> = values.split(',').map(number).collect();
            let values = values.map_err(|_| {
                Error::argument(
                    "threshold = values:…, but after the colon there must be numbers, with commas between",
                )
            })?;
            let threshold = Self::Values(values.into());
            return threshold.check().map(|()| threshold);
        }
        let refused = || {
            Error::argument(format!(
                "threshold = {text}, but it must be `linear`, a number between 0 and 1, `power:A` with A above 0, or `values:F0,F1,…`"
            ))
        };
        let threshold = match text.strip_prefix("power:") {
            _ if text == "linear" => Self::Linear,
            Some(power) => Self::Power(power.parse().map_err(|_| refused())?),
            None => Self::Constant(text.parse().map_err(|_| refused())?),
        };
        threshold.check().map_err(|_| refused())?;
        Ok(threshold)
    }
}

/// Grows the factor to its end.
pub(crate) fn grow<R: FactorRows>(factor: &mut Pivoted<R>, rule: &StopRule) -> Result<Stop> {
    let n = factor.n();
    let tie = TIE * factor.largest;
    let floor = factor.floor();
    let mut first = None;
    // A few times as many candidates as pivots that wait.
    let pending = factor.rows.pending();
    let first_active = 10 * pending / 3;
    let mut pass = pending;
    let mut active = first_active.min(2 * n / 5).max(1);
    let most_active = (n / 128).clamp(first_active, 4_096).min(2 * n / 5).max(1);
    if let [square, count] = factor.place[..] {
        first = Some(f64::from_bits(square)).filter(|square| !square.is_nan());
        active = (count as usize).clamp(1, most_active.max(active));
    }
    loop {
        factor.check()?;
        let Farthest { rows, selected, beaten } = factor.rows.farthest(active, tie, floor)?;
        let mut candidates = Candidates::of(factor, rows, selected);
        candidates.plan(factor, Steps::Greedy { tie, most: pass.min(factor.room()) })?;
        let stop = loop {
            let accepted = factor.pivots.len() + candidates.eliminated.len();
            if candidates.eliminated.len() == factor.room() {
                break Some(Stop::Cap);
            }
            let Some((best, square, largest)) = candidates.best(tie) else { break None };
            // Right after a flush every residual is exact; later on only the candidates' are.
            if !candidates.eliminated.is_empty() && largest - tie <= beaten {
                break None;
            }
            let first = *first.get_or_insert(square);
            let is_small = match rule {
                StopRule::Threshold(threshold) => {
                    (square / first).sqrt() < threshold.at(accepted as f64 / n as f64)
                }
                // The first always counts: of rows that are all equal there is one.
                StopRule::Least(least) => accepted > 0 && square < *least,
            };
            if is_small {
                break Some(Stop::Rule);
            }
            if square <= floor {
                break Some(Stop::Rank);
            }
            if candidates.eliminated.len() == pass {
                break None;
            }
            if !candidates.eliminate(factor, best)? {
                break Some(Stop::Rank);
            }
        };
        if factor.rows.keeps_coefficients() {
            // What is planned and then not used is lost.
            pass = (2 * candidates.eliminated.len()).clamp(pending / 8, pending);
        }
        if candidates.eliminated.len() < pending / 2 {
            active = (2 * active).min(most_active);
        }
        factor.flush(&mut candidates)?;
        if let Some(stop) = stop {
            return Ok(stop);
        }
        factor.save(|| vec![first.unwrap_or(f64::NAN).to_bits(), active as u64])?;
    }
}
