//! I-Relief: Relief in which every row is a neighbour with some probability, found with the weights themselves.
//!
//!   α_k ∝ exp(−d_w(i,k)/width) over misses, β_k the same over hits, γ_i = share of the hits in Σ_k exp(−d_w(i,k)/width)
//!   ν = mean_i γ_i(Σ α_k|Δ| − Σ β_k|Δ|),  w = max(ν, 0)/‖max(ν, 0)‖₂,  until w moves less than 1e−3
//!   d_w = Σ_j w_j|Δ_j|, first with all w_j = 1/√p
//!
//! cost    2·n²·p flops a round
//! stops   when ‖w − w_before‖₂ < 1e−3, when no column has ν > 0, or after 100 rounds with a warning
//! source  Sun 2007
//! differs exponents are relative to the nearest hit or miss, so that no row loses all its neighbours to underflow;
//!         the first weights have length 1 like all later ones, so that the width means the same in every round

use faer::Mat;

use super::relief::positive_unit;
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::weights::weight;
use crate::error::{Error, Result};
use crate::evidence::differences::{Differences, densified};
use crate::evidence::neighbours::queries;
use crate::evidence::parameters::N_QUERIES;
use crate::linalg::sum_in_order;
use crate::random::sample;
use crate::spec::{FromValues, MethodSpec, Parameter, SEED, Stage, Values};

const MOVED: f64 = 1e-3;
const ROUNDS: usize = 100;
/// Rows from which the median distance is taken.
const WIDTH_SAMPLE_ROWS: usize = 2_000;
/// Rows whose sums are added up together.
const QUERIES: usize = 32;

/// I-Relief.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, select::{Columns, IRelief}};
///
/// let rows = Rows::dense(vec![0.0, 0.3, 0.1, 0.9, 1.0, 0.2, 1.1, 0.8], 4, 2)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let found = IRelief::default().score(&Columns::new(&rows, &labels, &Monitor::default()))?;
/// assert_eq!(found.weights.unwrap(), [1.0, 0.0]); // the second column is not used
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IRelief {
    /// Width of the kernel exp(−d/width); None: the median distance.
    pub width: Option<f64>,
    /// Rows that are compared with all others, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "irelief",
    stage: Stage::Select,
    file: "select/irelief.rs",
    source: "Sun 2007",
    cost: "n²·p per round",
    parameters: &[N_FEATURES, WIDTH, N_QUERIES, SEED],
    help: "iterative Relief: neighbours are hidden variables, in a distance that uses the weights found",
};

const WIDTH: Parameter =
    Parameter::positive("width", "a row at distance d weighs exp(-d/width)").none("the median distance");

impl FromValues for IRelief {
    fn from_values(values: &Values) -> Self {
        Self { width: values.number("width"), n_queries: values.count("n_queries"), seed: values.seed() }
    }
}

impl Default for IRelief {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for IRelief {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn widens(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        IRelief::score(self, columns)
    }
}

impl IRelief {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("irelief", Accepts::Missing)?;
        let labels = columns.labels("irelief")?;
        let (codes, _) = labels.require_classes("irelief")?;
        if self.width.is_some_and(|width| !(width > 0.0 && width.is_finite())) {
            return Err(Error::argument("width must be a finite number above 0"));
        }
        let dense = densified(
            columns.rows.to_f64(),
            "for `irelief` sparse rows are",
            "use `relief`, which does not need that",
        )?;
        let differences = Differences::new(&dense, columns.categorical, false)?;
        let p = dense.p();
        let queries = queries(dense.n(), self.n_queries, self.seed);
        let mut weights = vec![1.0 / (p as f64).sqrt(); p];
        let width = self.width.unwrap_or_else(|| self.median(&differences, &weights));
        let mut warnings = labels.lonely_warning();
        let mut scores = vec![0.0; p];
        let mut moved = f64::INFINITY;
        for round in 0..=ROUNDS {
            if round == ROUNDS {
                warnings.push(format!(
                    "irelief: the weights still moved by {moved:.1e} in round {ROUNDS}, and the scores are those of that round; a larger \
                     width than {width:.3e} makes them converge"
                ));
                break;
            }
            let round = Round { differences: &differences, codes, width, weights: &weights };
            scores = finite(round.margins(&queries, columns)?, "irelief")?;
            let next = positive_unit(&scores);
            moved = next.iter().zip(&weights).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            weights = next;
            if moved < MOVED || weights.iter().all(|w| *w == 0.0) {
                break;
            }
        }
        Ok(Scores { scores, weights: Some(weights), warnings, ..Scores::default() })
    }

    /// The median of the distances between rows, or between a seeded sample of them; 1 if that is 0.
    fn median(&self, differences: &Differences, weights: &[f64]) -> f64 {
        let chosen = sample(differences.n(), WIDTH_SAMPLE_ROWS, self.seed);
        let mut distances = Vec::with_capacity(chosen.len() * chosen.len() / 2);
        for (at, &i) in chosen.iter().enumerate() {
            distances.extend(
                chosen[..at].iter().map(|&k| differences.weighted(i, k, weights)).filter(|d| d.is_finite()),
            );
        }
        distances.sort_unstable_by(f64::total_cmp);
        let Some(middle) = distances.len().checked_sub(1).map(|last| last / 2) else { return 1.0 };
        let median = f64::midpoint(distances[middle], distances[distances.len() / 2]);
        if median > 0.0 { median } else { 1.0 }
    }
}

/// One round: distances by the weights so far.
struct Round<'a, 'w> {
    differences: &'a Differences<'a>,
    codes: &'a [usize],
    width: f64,
    weights: &'w [f64],
}

impl Round<'_, '_> {
    /// ν.
    fn margins(&self, queries: &[usize], columns: &Columns) -> Result<Vec<f64>> {
        let p = self.differences.p();
        columns.monitor.begin("weighing neighbours", queries.len());
        let chunks: Vec<&[usize]> = queries.chunks(QUERIES).collect();
        let sum = sum_in_order(chunks.len(), p, 1, columns.monitor, |at| {
            let mut sum = vec![0.0; p];
            for &query in chunks[at] {
                if columns.monitor.check().is_ok() {
                    self.add(query, weight(columns.weights, query), &mut sum);
                }
            }
            columns.monitor.advance(chunks[at].len());
            Mat::from_fn(p, 1, |j, _| sum[j])
        })?;
        columns.monitor.check()?;
        let all = columns.query_total(queries);
        Ok((0..p).map(|j| sum[(j, 0)] / all).collect())
    }

    /// Adds γ(Σ α|Δ| − Σ β|Δ|) of one row, times what it counts.
    fn add(&self, query: usize, counts: f64, sum: &mut [f64]) {
        let p = sum.len();
        let own = self.codes[query];
        let others = (0..self.differences.n()).filter(|&k| k != query);
        let distances: Vec<(usize, f64)> =
            others.map(|k| (k, self.differences.weighted(query, k, self.weights))).collect();
        let side = |hit: bool| {
            let rows = distances.iter().filter(move |(k, _)| (self.codes[*k] == own) == hit);
            let nearest = rows.clone().fold(f64::INFINITY, |m, (_, d)| m.min(*d));
            let weight = move |d: f64| if d.is_finite() { (-(d - nearest) / self.width).exp() } else { 0.0 };
            (nearest, rows.map(move |&(k, d)| (k, weight(d))))
        };
        let ((near_hit, hits), (near_miss, misses)) = (side(true), side(false));
        let total =
            |rows: &mut dyn Iterator<Item = (usize, f64)>| rows.map(|(_, weight)| weight).sum::<f64>();
        let (all_hits, all_misses) = (total(&mut hits.clone()), total(&mut misses.clone()));
        // Both sums relative to the nearest of all.
        let nearest = near_hit.min(near_miss);
        let share = |sum: f64, near: f64| {
            if near.is_finite() { sum * (-(near - nearest) / self.width).exp() } else { 0.0 }
        };
        let (hit_share, miss_share) = (share(all_hits, near_hit), share(all_misses, near_miss));
        let gamma = if hit_share > 0.0 { counts * (hit_share / (hit_share + miss_share)) } else { 0.0 };
        if gamma == 0.0 {
            return;
        }
        let mut mean = vec![0.0; p];
        let mut count = vec![0.0; p];
        for (sign, total, rows) in
            [(1.0, all_misses, misses.collect::<Vec<_>>()), (-1.0, all_hits, hits.collect())]
        {
            if total == 0.0 {
                continue;
            }
            mean.fill(0.0);
            count.fill(0.0);
            let missing = self.differences.any_missing();
            for (k, weight) in rows.into_iter().filter(|(_, weight)| *weight > 0.0) {
                let have = missing.then_some(&mut count[..]);
                self.differences.add(query, k, 1, weight / total, &mut mean, have);
            }
            for j in 0..p {
                let mean = match (missing, count[j]) {
                    (false, _) => mean[j],
                    (true, 0.0) => 0.0,
                    (true, count) => mean[j] / count,
                };
                sum[j] += gamma * sign * mean;
            }
        }
    }
}
