//! ReliefF: Relief with k hits and k misses of each other class, weighted by how frequent the class is.
//!
//!   score_j = mean_i (Σ_{C ≠ class(i)} P(C)/(1 − P(class(i)))·mean_{k misses of C} d_j − mean_{k hits} d_j)
//!   d_j = |Δ_j| over the column's range
//!
//! cost    neighbours, then n·k·c·p differences
//! source  Robnik-Šikonja & Kononenko 2003; p-values: STIR, Le, Urbanowicz, Moore & McKinney 2019
//! differs means are over the neighbours there are. The p-values are of a one-sided pooled t-test of all miss
//!         differences against all hit differences; neighbours are not independent, so they rank, and do not prove

use super::neighbourhood::Neighbourhood;
use super::tails::t_upper;
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::weights::{Weights, weight};
use crate::error::Result;
use crate::evidence::approximate::Search;
use crate::evidence::differences::Differences;
use crate::evidence::neighbours::{Found, Groups, Metric, add_up, queries};
use crate::evidence::parameters::{MANHATTAN, METRIC, N_QUERIES, NEIGHBOR_COUNT, NEIGHBORS, NeighborCount};
use crate::spec::{FromValues, MethodSpec, SEED, Stage, Values};

/// ReliefF.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, select::{Columns, ReliefF}};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 10.0, 11.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let relieff = ReliefF { n_neighbors: 1.into(), ..ReliefF::default() };
/// let found = relieff.score(&Columns::new(&rows, &labels, &Monitor::default()))?;
/// assert!((found.scores[0] - ((10.0 + 9.0 + 9.0 + 10.0) / 4.0 - 1.0) / 11.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReliefF {
    /// Hits, and misses of each other class, that a row is compared with.
    pub n_neighbors: NeighborCount,
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// How neighbours are found.
    pub neighbors: Search,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

/// Kinds of neighbours: hits, and misses of a class.
const KINDS: usize = 2;

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "relieff",
    stage: Stage::Select,
    file: "select/relieff.rs",
    source: "Robnik-Šikonja & Kononenko 2003",
    cost: "n² distances, n·k·c·p",
    parameters: &[
        N_FEATURES,
        NEIGHBOR_COUNT.default("10"),
        METRIC.none(MANHATTAN),
        NEIGHBORS,
        N_QUERIES,
        SEED,
    ],
    help: "ReliefF: Relief with k neighbours of the own and of each other class, by column range",
};

impl FromValues for ReliefF {
    fn from_values(values: &Values) -> Self {
        Self {
            n_neighbors: NeighborCount::from_values(values),
            metric: Metric::from_values(values),
            neighbors: Search::from_values(values),
            n_queries: values.count("n_queries"),
            seed: values.seed(),
        }
    }
}

impl Default for ReliefF {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for ReliefF {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
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
        ReliefF::score(self, columns)
    }
}

impl ReliefF {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("relieff", Accepts::Missing)?;
        let labels = columns.labels("relieff")?;
        let (codes, c) = labels.require_classes("relieff")?;
        let differences = columns.differences(true)?;
        let space = columns.space(&differences, self.metric.unwrap_or(Metric::Manhattan))?;
        let queries = queries(columns.rows.n(), self.n_queries, self.seed);
        let k = self.n_neighbors.of(columns.rows.n(), KINDS);
        let sizes = sizes(codes, c, columns.weights);
        let margins = Margins::new(&differences, codes, &sizes, columns.weights, true);
        let (parts, note) = space.nearest_by(
            self.neighbors,
            Groups::Classes(codes, c),
            k,
            &queries,
            columns.monitor,
            |found: &[Found]| margins.sums(found),
        )?;
        let scores = margins.finish(&parts, labels.lonely_warning().into_iter().chain(note).collect())?;
        // A class is where rows of the others have their misses.
        let n_neighbors = labels.class_sizes().into_iter().max().map(|most| most.min(k));
        Ok(Scores { n_neighbors, ..scores })
    }

    /// The score of every column from rows and their neighbours of each class, found elsewhere.
    #[expect(clippy::unused_self, reason = "as in `Relief` and `RReliefF`, whose settings matter here")]
    pub(crate) fn score_neighbourhood(&self, near: &Neighbourhood) -> Result<Scores> {
        near.check("relieff", near.sizes.len())?;
        let (codes, _) = near.labels.require_classes("relieff")?;
        let differences = near.differences(true)?;
        let sizes: Vec<f64> = near.sizes.iter().map(|&size| size as f64).collect();
        let margins = Margins::new(&differences, codes, &sizes, None, true);
        margins.finish(&near.panels(|found| margins.sums(found)), near.lonely_warning())
    }
}

/// What the rows of each of c classes count.
pub(super) fn sizes(codes: &[usize], c: usize, weights: Option<&Weights>) -> Vec<f64> {
    let mut sizes = vec![0.0; c];
    codes.iter().enumerate().for_each(|(i, &class)| sizes[class] += weight(weights, i));
    sizes
}

/// Hit and miss differences, averaged and weighted row by row, as sums over panels of rows: the scores, the rows that
/// have the column, and for hits and misses the number, sum and sum of squares of the differences.
pub(super) struct Margins<'a> {
    differences: &'a Differences<'a>,
    codes: &'a [usize],
    prior: Vec<f64>,
    weights: Option<&'a Weights>,
    /// Whether squares are added up, for p-values.
    squares: bool,
}

/// Places of the sums: p numbers each.
const SCORE: usize = 0;
const ROWS: usize = 1;
const HITS: usize = 2;
const MISSES: usize = 5;
const SUMS: usize = 8;

impl<'a> Margins<'a> {
    /// Classes of the rows, and how many rows each has among all that there are.
    pub(super) fn new(
        differences: &'a Differences<'a>,
        codes: &'a [usize],
        sizes: &[f64],
        weights: Option<&'a Weights>,
        squares: bool,
    ) -> Self {
        let n = sizes.iter().sum::<f64>();
        let prior = sizes.iter().map(|size| size / n).collect();
        Self { differences, codes, prior, weights, squares }
    }

    pub(super) fn begin(&self) -> Vec<f64> {
        vec![0.0; SUMS * self.differences.p()]
    }

    /// The sums of a panel of rows.
    fn sums(&self, found: &[Found]) -> Vec<f64> {
        let mut sums = self.begin();
        for Found { query, groups } in found {
            self.add_groups(*query, groups, 1.0, &mut sums);
            self.count(*query, &mut sums);
        }
        sums
    }

    /// Scores and p-values from the sums of all panels.
    fn finish(&self, parts: &[Vec<f64>], warnings: Vec<String>) -> Result<Scores> {
        let pvalues = Some(self.pvalues(parts));
        let scores = finite(self.scores(parts), "relieff")?;
        Ok(Scores { scores, pvalues, warnings, ..Scores::default() })
    }

    /// Adds a row's neighbours of each class, by a sign.
    pub(super) fn add_groups(&self, query: usize, groups: &[Vec<usize>], sign: f64, sums: &mut [f64]) {
        let p = self.differences.p();
        let own = self.codes[query];
        let counts_for = weight(self.weights, query);
        let mut linear = vec![0.0; p];
        let mut square = vec![0.0; p];
        let mut count = vec![0.0; p];
        for (class, neighbours) in groups.iter().enumerate() {
            [&mut linear, &mut square, &mut count].into_iter().for_each(|v| v.fill(0.0));
            let counts = self.differences.any_missing().then_some(&mut count[..]);
            let squares = self.squares.then_some(&mut square[..]);
            self.differences.add_all(query, neighbours, &mut linear, squares, counts);
            if !self.differences.any_missing() {
                count.fill(neighbours.len() as f64);
            }
            let share = if class == own { -1.0 } else { self.prior[class] / (1.0 - self.prior[own]) };
            let kind = if class == own { HITS } else { MISSES };
            for j in (0..p).filter(|&j| count[j] > 0.0) {
                sums[SCORE * p + j] += sign * counts_for * share * (linear[j] / count[j]);
                sums[kind * p + j] += counts_for * count[j];
                sums[(kind + 1) * p + j] += counts_for * linear[j];
                sums[(kind + 2) * p + j] += counts_for * square[j];
            }
        }
    }

    /// Counts a row in the columns that it has.
    pub(super) fn count(&self, query: usize, sums: &mut [f64]) {
        let (p, counts_for) = (self.differences.p(), weight(self.weights, query));
        for j in (0..p).filter(|&j| self.differences.has(query, j)) {
            sums[ROWS * p + j] += counts_for;
        }
    }

    pub(super) fn scores(&self, parts: &[Vec<f64>]) -> Vec<f64> {
        let p = self.differences.p();
        let (score, rows) = (self.sum(parts, SCORE), self.sum(parts, ROWS));
        (0..p).map(|j| if rows[j] > 0.0 { score[j] / rows[j] } else { 0.0 }).collect()
    }

    fn pvalues(&self, parts: &[Vec<f64>]) -> Vec<f64> {
        let of = |kind: usize| [0, 1, 2].map(|at| self.sum(parts, kind + at));
        let ([n_hits, hits, hits2], [n_misses, misses, misses2]) = (of(HITS), of(MISSES));
        (0..self.differences.p())
            .map(|j| pooled_t([n_misses[j], misses[j], misses2[j]], [n_hits[j], hits[j], hits2[j]]))
            .collect()
    }

    fn sum(&self, parts: &[Vec<f64>], at: usize) -> Vec<f64> {
        let p = self.differences.p();
        add_up(parts, at * p..(at + 1) * p)
    }
}

/// Chance that the first mean exceeds the second by as much, from number, sum and sum of squares of each.
fn pooled_t([n, sum, square]: [f64; 3], [n2, sum2, square2]: [f64; 3]) -> f64 {
    let freedom = n + n2 - 2.0;
    if n < 1.0 || n2 < 1.0 || freedom < 1.0 {
        return 1.0;
    }
    // Differences lie in [0, 1], so their sums of squares do not cancel beyond what a test can use.
    let scatter = (square - sum * sum / n).max(0.0) + (square2 - sum2 * sum2 / n2).max(0.0);
    let apart = sum / n - sum2 / n2;
    let error = (scatter / freedom * (1.0 / n + 1.0 / n2)).sqrt();
    if error > 0.0 {
        t_upper(apart / error, freedom)
    } else if apart > 0.0 {
        0.0
    } else {
        1.0
    }
}
