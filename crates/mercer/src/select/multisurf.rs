//! MultiSURF: ReliefF in which every row nearer than usual is a neighbour, so there is no k.
//!
//!   neighbours of i: distance < mean − ½·sd of the distances from i to the other rows
//!
//! cost    n² distances and a third as many differences, p each
//! source  Urbanowicz, Olson, Schmitt, Meeker & Moore 2018
//! differs a distance that is below the limit by rounding alone is not below it; hits and misses are averaged as in
//!         `relieff`, so the classes' weights sum to 1

use super::relieff::{Margins, sizes};
use super::{Columns, N_FEATURES, Scores, Select, finite};
use crate::error::Result;
use crate::evidence::differences::sum_in_lanes;
use crate::evidence::neighbours::{Metric, queries};
use crate::evidence::parameters::{MANHATTAN, METRIC, N_QUERIES};
use crate::spec::{FromValues, MethodSpec, SEED, Stage, Values};

/// Nearer than the limit by this share of the mean distance, or it is rounding.
const NEARER: f64 = 1e-12;

/// MultiSURF.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, select::{Columns, MultiSurf}};
///
/// let rows = Rows::dense(vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], 4, 2)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]); // the first column
/// let found = MultiSurf::default().score(&Columns::new(&rows, &labels, &Monitor::default()))?;
/// assert_eq!(found.scores, [1.0, -1.0]); // of three others at 1, 1 and 2, two are near: a hit and a miss
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultiSurf {
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "multisurf",
    stage: Stage::Select,
    file: "select/multisurf.rs",
    source: "Urbanowicz et al. 2018",
    cost: "n²·p",
    parameters: &[N_FEATURES, METRIC.none(MANHATTAN), N_QUERIES, SEED],
    help: "MultiSURF: ReliefF with every row clearly nearer than average as a neighbour",
};

impl FromValues for MultiSurf {
    fn from_values(values: &Values) -> Self {
        Self {
            metric: Metric::from_values(values),
            n_queries: values.count("n_queries"),
            seed: values.seed(),
        }
    }
}

impl Default for MultiSurf {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for MultiSurf {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn seeks_neighbours(&self) -> bool {
        true
    }

    fn metric(&self) -> Option<Metric> {
        self.metric
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        MultiSurf::score(self, columns)
    }
}

impl MultiSurf {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("multisurf", true)?;
        let labels = columns.labels("multisurf")?;
        let (codes, c) = labels.require_classes("multisurf")?;
        let differences = columns.differences(true)?;
        let space = columns.space(&differences, self.metric.unwrap_or(Metric::Manhattan))?;
        let n = columns.rows.n();
        let queries = queries(n, self.n_queries, self.seed);
        let margins =
            Margins::new(&differences, codes, &sizes(codes, c, columns.weights), columns.weights, false);
        let parts = space.for_all_distances(&queries, columns.monitor, |found| {
            let mut sums = margins.begin();
            let mut near = vec![0; n];
            let mut groups = vec![Vec::new(); c];
            for (query, distances) in found {
                let count = pulp::Arch::new().dispatch(NearerThanUsual { query, distances, near: &mut near });
                groups.iter_mut().for_each(Vec::clear);
                near[..count].iter().for_each(|&i| groups[codes[i]].push(i));
                margins.add(query, &groups, &mut sums);
            }
            sums
        })?;
        let scores = finite(margins.scores(&parts), "multisurf")?;
        Ok(Scores { scores, warnings: labels.lonely_warning(), ..Scores::default() })
    }
}

/// Finds who is near.
struct NearerThanUsual<'a> {
    query: usize,
    distances: &'a [f64],
    /// Their indices come into the first places.
    near: &'a mut [usize],
}

// A type of its own, because closures inside closures would not be inlined into the dispatch, and so not be vectorised.
impl pulp::NullaryFnOnce for NearerThanUsual<'_> {
    /// How many are near.
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        let (before, after) = (&self.distances[..self.query], &self.distances[self.query + 1..]);
        let n = power_sum::<0>(before, 0.0) + power_sum::<0>(after, 0.0);
        let mean = (power_sum::<1>(before, 0.0) + power_sum::<1>(after, 0.0)) / n;
        let variance = (power_sum::<2>(before, mean) + power_sum::<2>(after, mean)) / n;
        let limit = mean - 0.5 * variance.sqrt() - NEARER * mean;
        let mut count = 0;
        for (i, &d) in self.distances.iter().enumerate() {
            // Written always and counted if it is near: a branch would be guessed wrong every third time.
            self.near[count] = i;
            count += usize::from(d < limit) & usize::from(i != self.query);
        }
        count
    }
}

/// Σ (d − from)^POWER over the distances, without those that gaps have made infinite.
#[inline(always)]
fn power_sum<const POWER: u32>(distances: &[f64], from: f64) -> f64 {
    sum_in_lanes(
        [distances],
        #[inline(always)]
        |[d]| {
            let term = match POWER {
                0 => 1.0,
                1 => d - from,
                _ => (d - from) * (d - from),
            };
            if d < f64::INFINITY { term } else { 0.0 }
        },
    )
}
