//! Relief: columns in which the nearest misses are farther away than the nearest hits.
//!
//!   z_j = Σ_i (Σ_{k misses} |Δ_j|^power − Σ_{k hits} |Δ_j|^power),  score = z/n,  w = max(z, 0)/‖max(z, 0)‖₂
//!
//! cost    neighbours, then 2·n·k·p differences
//! source  Kira & Rendell 1992; the corrected derivation of SK-Relief, sec. 3
//! differs misses come from all other classes; a row whose class has no other contributes its misses only; gaps and
//!         categories as in evidence/differences.rs. With weights Σ_i and n are weighted: a row counts as a query

use super::neighbourhood::Neighbourhood;
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::weights::{Weights, weight};
use crate::error::Result;
use crate::evidence::approximate::Search;
use crate::evidence::differences::Differences;
use crate::evidence::neighbours::{Found, Groups, Metric, add_up, queries};
use crate::evidence::parameters::{METRIC, N_QUERIES, NEIGHBOR_COUNT, NEIGHBORS, NeighborCount};
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, SEED, Stage, Values};

/// Relief.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, select::{Columns, Relief}};
///
/// let rows = Rows::dense(vec![0.0, 3.0, 0.1, 0.0, 1.0, 3.1, 1.1, 0.2], 4, 2)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let found = Relief::default().score(&Columns::new(&rows, &labels, &Monitor::default()))?;
/// assert!(found.scores[0] > 0.0 && found.scores[1] < 0.0); // the second column is the same in both classes
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Relief {
    /// Hits and misses that each row is compared with.
    pub n_neighbors: NeighborCount,
    /// 1: differences; 2: their squares.
    pub power: u32,
    /// The distance in the columns' own space; None: euclidean.
    pub metric: Option<Metric>,
    /// How neighbours are found.
    pub neighbors: Search,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

/// Kinds of neighbours: hits and misses.
const KINDS: usize = 2;

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "relief",
    stage: Stage::Select,
    file: "select/relief.rs",
    source: "SK-Relief, sec. 3; Kira & Rendell 1992",
    cost: "n² distances, n·k·p",
    parameters: &[
        N_FEATURES,
        NEIGHBOR_COUNT.default("1"),
        POWER,
        METRIC.none("euclidean; in a kernel's space its own distance"),
        NEIGHBORS,
        N_QUERIES,
        SEED,
    ],
    help: "Relief: columns in which the nearest rows of other classes are farther away than those of the own",
};

/// Differences or their squares.
pub(crate) const POWER: Parameter =
    Parameter::new("power", Kind::Choice(&["1", "2"]), "differences (1) or their squares (2)").default("1");

impl FromValues for Relief {
    fn from_values(values: &Values) -> Self {
        Self {
            n_neighbors: NeighborCount::from_values(values),
            power: if values.text("power") == Some("2") { 2 } else { 1 },
            metric: Metric::from_values(values),
            neighbors: Search::from_values(values),
            n_queries: values.count("n_queries"),
            seed: values.seed(),
        }
    }
}

impl Default for Relief {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for Relief {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn seeks_neighbours(&self) -> bool {
        true
    }

    fn n_neighbors(&self, n: usize) -> Option<usize> {
        Some(self.n_neighbors.of(n, KINDS))
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn metric(&self) -> Option<Metric> {
        self.metric
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        Relief::score(self, columns)
    }
}

impl Relief {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("relief", Accepts::Missing)?;
        let labels = columns.labels("relief")?;
        let (codes, _) = labels.require_classes("relief")?;
        let differences = columns.differences(false)?;
        let space = columns.space(&differences, self.metric.unwrap_or(Metric::Euclidean))?;
        let queries = queries(columns.rows.n(), self.n_queries, self.seed);
        let k = self.n_neighbors.of(columns.rows.n(), KINDS);
        let (parts, note) = space.nearest_by(
            self.neighbors,
            Groups::HitsMisses(codes),
            k,
            &queries,
            columns.monitor,
            |found: &[Found]| self.sums(&differences, found, columns.weights),
        )?;
        let all = columns.query_total(&queries);
        let scores = finish(&parts, all, labels.lonely_warning().into_iter().chain(note).collect())?;
        // A row has the other rows of its class as hits, and those of all other classes as misses.
        let sizes = labels.class_sizes();
        let most = |size: &usize| (size - 1).max(codes.len() - size);
        let n_neighbors = sizes.iter().filter(|size| **size > 0).map(most).max().map(|most| most.min(k));
        Ok(Scores { n_neighbors, ..scores })
    }

    /// The score of every column from rows and their hits and misses (groups 0 and 1), found elsewhere.
    pub(crate) fn score_neighbourhood(&self, near: &Neighbourhood) -> Result<Scores> {
        near.check("relief", 2)?;
        near.labels.require_classes("relief")?;
        let differences = near.differences(false)?;
        let parts = near.panels(|found| self.sums(&differences, found, None));
        finish(&parts, near.queries.len() as f64, near.lonely_warning())
    }

    /// Σ over a panel of rows: what misses differ by less what hits differ by.
    fn sums(&self, differences: &Differences, found: &[Found], weights: Option<&Weights>) -> Vec<f64> {
        let mut z = vec![0.0; differences.p()];
        for Found { query, groups } in found {
            for (group, sign) in groups.iter().zip([-1.0, 1.0]) {
                for &neighbour in group {
                    let counts = sign * weight(weights, *query);
                    differences.add(*query, neighbour, self.power, counts, &mut z, None);
                }
            }
        }
        z
    }
}

/// Scores and weights from the sums over panels of rows that count so much together.
fn finish(parts: &[Vec<f64>], queries: f64, warnings: Vec<String>) -> Result<Scores> {
    let z = add_up(parts, 0..parts.first().map_or(0, Vec::len));
    let scores = finite(z.iter().map(|z| z / queries).collect(), "relief")?;
    let weights = Some(positive_unit(&scores));
    Ok(Scores { scores, weights, warnings, ..Scores::default() })
}

/// max(z, 0)/‖max(z, 0)‖₂; all 0 where nothing is positive.
pub(super) fn positive_unit(z: &[f64]) -> Vec<f64> {
    let largest = z.iter().fold(0.0f64, |m, v| m.max(*v));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let positive: Vec<f64> = z.iter().map(|v| v.max(0.0) / unit).collect();
    let norm = positive.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 { positive.iter().map(|v| v / norm).collect() } else { positive }
}
