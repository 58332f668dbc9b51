//! RReliefF: near rows with different targets should differ in the column, near rows with equal ones should not.
//!
//!   score_j = N_dCdA/N_dC − (N_dA − N_dCdA)/(n − N_dC)
//!   N_dC = Σ w·dC, N_dA = Σ w·d_j, N_dCdA = Σ w·dC·d_j over rows and neighbours; dC: target difference over its range
//!   w = exp(−(rank/σ)²), normalised over each row's neighbours
//!
//! cost    neighbours, then 2·n·k·p differences
//! source  Robnik-Šikonja & Kononenko 2003
//! differs on classes the codes 0..c−1 are the numbers (EKS, Table 4.2); a term whose denominator is 0 counts 0

use super::neighbourhood::Neighbourhood;
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::labels::Labels;
use crate::data::needs::Needs;
use crate::data::weights::{Weights, weight};
use crate::error::{Error, Result};
use crate::evidence::approximate::Search;
use crate::evidence::differences::Differences;
use crate::evidence::neighbours::{Found, Groups, Metric, add_up, queries};
use crate::evidence::parameters::{MANHATTAN, METRIC, N_QUERIES, NEIGHBOR_COUNT, NEIGHBORS, NeighborCount};
use crate::spec::{FromValues, MethodSpec, Parameter, SEED, Stage, Values};

/// RReliefF.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, select::{Columns, RReliefF}};
///
/// let rows = Rows::dense(vec![0.0, 5.0, 1.0, 1.0, 2.0, 4.0, 3.0, 2.0], 4, 2)?;
/// let labels = Labels::Numbers(vec![0.0, 1.0, 2.0, 3.0]); // the first column
/// let rrelieff = RReliefF { n_neighbors: 2.into(), ..RReliefF::default() };
/// let found = rrelieff.score(&Columns::new(&rows, &labels, &Monitor::default()))?;
/// assert!(found.scores[0] > found.scores[1]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RReliefF {
    /// Neighbours that a row is compared with.
    pub n_neighbors: NeighborCount,
    /// How fast a neighbour's weight exp(−(rank/σ)²) falls with its rank.
    pub sigma: f64,
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// How neighbours are found.
    pub neighbors: Search,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

/// Kinds of neighbours: all are alike.
const KINDS: usize = 1;

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "rrelieff",
    stage: Stage::Select,
    file: "select/rrelieff.rs",
    source: "Robnik-Šikonja & Kononenko 2003",
    cost: "n² distances, n·k·p",
    parameters: &[
        N_FEATURES,
        NEIGHBOR_COUNT.default("70"),
        SIGMA,
        METRIC.none(MANHATTAN),
        NEIGHBORS,
        N_QUERIES,
        SEED,
    ],
    help: "regression ReliefF: near rows with different targets should differ in the column",
};

const SIGMA: Parameter =
    Parameter::positive("sigma", "a neighbour of rank r weighs exp(-(r/sigma)^2)").default("20");

impl FromValues for RReliefF {
    fn from_values(values: &Values) -> Self {
        Self {
            n_neighbors: NeighborCount::from_values(values),
            sigma: values.number("sigma").unwrap_or_default(),
            metric: Metric::from_values(values),
            neighbors: Search::from_values(values),
            n_queries: values.count("n_queries"),
            seed: values.seed(),
        }
    }
}

impl Default for RReliefF {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for RReliefF {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn needs(&self) -> Needs {
        Needs::Labels
    }

    fn seeks_neighbours(&self) -> bool {
        true
    }

    fn n_neighbors(&self, n: usize) -> Option<usize> {
        Some(self.n_neighbors.of(n, KINDS))
    }

    fn metric(&self) -> Option<Metric> {
        self.metric
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        RReliefF::score(self, columns)
    }
}

impl RReliefF {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("rrelieff", Accepts::Missing)?;
        let labels = columns.labels("rrelieff")?;
        labels.require_one("rrelieff")?;
        labels.require_two("rrelieff")?;
        let target = scaled(labels, target_range(labels));
        let differences = columns.differences(true)?;
        let space = columns.space(&differences, self.metric.unwrap_or(Metric::Manhattan))?;
        let queries = queries(columns.rows.n(), self.n_queries, self.seed);
        let k = self.n_neighbors.of(columns.rows.n(), KINDS);
        let (parts, note) = space.nearest_by(
            self.neighbors,
            Groups::All,
            k,
            &queries,
            columns.monitor,
            |found: &[Found]| self.sums(&differences, &target, found, columns.weights),
        )?;
        let n_neighbors = Some(k.min(columns.rows.n() - 1));
        Ok(Scores { n_neighbors, ..finish(&parts, note.into_iter().collect())? })
    }

    /// The score of every column from rows and their neighbours (group 0), found elsewhere.
    pub(crate) fn score_neighbourhood(&self, near: &Neighbourhood) -> Result<Scores> {
        near.check("rrelieff", 1)?;
        let range = match (near.target_range, &near.labels) {
            (Some(range), _) => range,
            (None, Labels::Classes { .. }) => {
                let mut present = (0..near.sizes.len()).filter(|&class| near.sizes[class] > 0);
                let first = present.next().unwrap_or(0);
                (first as f64, present.next_back().unwrap_or(first) as f64)
            }
            (None, Labels::Numbers(_) | Labels::Several { .. }) => {
                return Err(Error::argument("`rrelieff` needs the range of the target over all rows"));
            }
        };
        match &near.labels {
            Labels::Classes { .. } => near.labels.require_two("rrelieff")?,
            // As all rows with one number would be refused.
            Labels::Numbers(_) if range.0 == range.1 => {
                Labels::Numbers(vec![range.0]).require_two("rrelieff")?;
            }
            Labels::Numbers(_) => (),
            Labels::Several { .. } => near.labels.require_one("rrelieff")?,
        }
        let target = scaled(&near.labels, range);
        let differences = near.differences(true)?;
        finish(&near.panels(|found| self.sums(&differences, &target, found, None)), Vec::new())
    }

    /// N_dA, N_dCdA, and per column the weights and N_dC of the pairs that have it, over a panel of rows.
    fn sums(
        &self,
        differences: &Differences,
        target: &[f64],
        found: &[Found],
        weights: Option<&Weights>,
    ) -> Vec<f64> {
        let (p, missing) = (differences.p(), differences.any_missing());
        let mut sums = vec![0.0; 4 * p];
        for Found { query, groups } in found {
            for (&neighbour, by_rank) in groups[0].iter().zip(self.weights(groups[0].len())) {
                let weight = weight(weights, *query) * by_rank;
                let apart = weight * (target[*query] - target[neighbour]).abs();
                let (plain, rest) = sums.split_at_mut(p);
                let (both, counts) = rest.split_at_mut(p);
                let (all, targets) = counts.split_at_mut(p);
                differences.add(*query, neighbour, 1, weight, plain, missing.then_some(&mut *all));
                differences.add(*query, neighbour, 1, apart, both, missing.then_some(&mut *targets));
                if !missing {
                    all.iter_mut().for_each(|v| *v += weight);
                    targets.iter_mut().for_each(|v| *v += apart);
                }
            }
        }
        sums
    }

    /// Weights of a row's neighbours by rank, with sum 1. Relative to the first, so that a small σ leaves the nearest.
    fn weights(&self, count: usize) -> Vec<f64> {
        let square = |rank: usize| ((rank + 1) as f64 / self.sigma).powi(2);
        let weights: Vec<f64> = (0..count).map(|rank| (square(0) - square(rank)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect()
    }
}

/// Scores from the sums over panels of rows.
fn finish(parts: &[Vec<f64>], warnings: Vec<String>) -> Result<Scores> {
    let p = parts.first().map_or(0, Vec::len) / 4;
    let [plain, both, all, targets] = [0, 1, 2, 3].map(|at| add_up(parts, at * p..(at + 1) * p));
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let score = |j: usize| {
        // Weights of a row sum to 1 up to rounding, which must not pass for a pair with equal targets.
        let equal = all[j] - targets[j];
        let equal = if equal > 1e-12 * all[j] { equal } else { 0.0 };
        share(both[j], targets[j]) - share(plain[j] - both[j], equal)
    };
    let scores = finite((0..p).map(score).collect(), "rrelieff")?;
    Ok(Scores { scores, warnings, ..Scores::default() })
}

/// The numbers, or the codes of classes.
fn numbers(labels: &Labels) -> Vec<f64> {
    match labels {
        Labels::Numbers(values) => values.clone(),
        Labels::Classes { codes, .. } => codes.iter().map(|&code| code as f64).collect(),
        Labels::Several { .. } => unreachable!("several targets are refused before"),
    }
}

/// The smallest and the largest number, or code of a class.
pub(crate) fn target_range(labels: &Labels) -> (f64, f64) {
    let values = numbers(labels);
    (
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    )
}

/// Numbers, or the codes of classes, over the range of all rows.
fn scaled(labels: &Labels, (low, high): (f64, f64)) -> Vec<f64> {
    numbers(labels).iter().map(|v| (v - low) / (high - low)).collect()
}
