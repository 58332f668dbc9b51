//! SURF, SURF*, MultiSURF and MultiSURF*: ReliefF without k. Every row within a radius is a neighbour.
//!
//!   near: distance < T (surf), distance < mean_i − ½·sd_i (multisurf), far: > T, > mean_i + ½·sd_i
//!   score_j = mean_i (margin_j of the near rows), with a star less margin_j of the far rows; margin_j as in `relieff`
//!   T: mean distance of all pairs; mean_i, sd_i: of the distances from row i to the other rows
//!   numbers: a hit is a row whose number differs by less than their sd, all others are misses of one kind
//!
//! cost    n² distances and a third as many differences, p each; `surf` half of them; a star twice as many; `surf` and
//!         `surf-star` find the distances twice
//! source  Greene, Penrod, Kiralis & Moore 2009 (SURF); Greene, Himmelstein, Kiralis & Moore 2010 (SURF*);
//!         Granizo-Mackenzie & Moore 2013 (MultiSURF*); Urbanowicz, Olson, Schmitt, Meeker & Moore 2018 (MultiSURF, numbers)
//! differs a distance that is beyond its limit by rounding alone is not beyond it; hits and misses are averaged as in
//!         `relieff`, so the classes' weights sum to 1; with `n_queries` T is the mean distance from the queries

use std::borrow::Cow;

use super::relieff::{Margins, sizes};
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::labels::Labels;
use crate::data::needs::Needs;
use crate::data::weights::Weights;
use crate::error::Result;
use crate::evidence::differences::sum_in_lanes;
use crate::evidence::neighbours::{Metric, Space, add_up, queries};
use crate::evidence::parameters::{MANHATTAN, METRIC, N_QUERIES};
use crate::monitor::Monitor;
use crate::spec::{MethodSpec, SEED, Stage, Values};

/// Beyond the limit by this share of the mean distance, or it is rounding.
const NEARER: f64 = 1e-12;

/// Who is near: rows within which distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Radius {
    /// The mean distance of all pairs of rows.
    Mean,
    /// For each row the mean of its distances less half their standard deviation, so that few are near where rows lie
    /// far apart.
    #[default]
    OfRow,
}

/// MultiSURF; with other fields SURF, SURF* and MultiSURF*.
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
    /// Who is near.
    pub radius: Radius,
    /// Whether far rows count too, with the opposite sign. It finds columns that matter together; a column that matters
    /// alone it may place last.
    pub star: bool,
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

pub(crate) const SURF: MethodSpec = MethodSpec {
    name: "surf",
    source: "Greene et al. 2009",
    help: "SURF: ReliefF with every row nearer than the mean distance as a neighbour",
    ..MULTISURF
};

pub(crate) const SURF_STAR: MethodSpec = MethodSpec {
    name: "surf-star",
    source: "Greene et al. 2010",
    help: "SURF*: SURF in which far rows count with the opposite sign; for columns that matter only together",
    ..MULTISURF
};

pub(crate) const MULTISURF: MethodSpec = MethodSpec {
    name: "multisurf",
    stage: Stage::Select,
    file: "select/multisurf.rs",
    source: "Urbanowicz et al. 2018",
    cost: "n²·p",
    parameters: &[N_FEATURES, METRIC.none(MANHATTAN), N_QUERIES, SEED],
    help: "MultiSURF: ReliefF with every row clearly nearer than average as a neighbour",
};

pub(crate) const MULTISURF_STAR: MethodSpec = MethodSpec {
    name: "multisurf-star",
    source: "Granizo-Mackenzie & Moore 2013",
    help: "MultiSURF*: MultiSURF in which far rows count with the opposite sign; for columns that matter only together",
    ..MULTISURF
};

impl MultiSurf {
    /// The selector behind one of the four names.
    pub(crate) fn from_values(spec: &MethodSpec, values: &Values) -> Self {
        Self {
            radius: if spec.name.starts_with("multi") { Radius::OfRow } else { Radius::Mean },
            star: spec.name.ends_with("star"),
            metric: Metric::from_values(values),
            n_queries: values.count("n_queries"),
            seed: values.seed(),
        }
    }
}

impl Default for MultiSurf {
    fn default() -> Self {
        Self::from_values(&MULTISURF, &Values::defaults(&MULTISURF))
    }
}

impl Select for MultiSurf {
    fn spec(&self) -> &'static MethodSpec {
        match (self.radius, self.star) {
            (Radius::Mean, false) => &SURF,
            (Radius::Mean, true) => &SURF_STAR,
            (Radius::OfRow, false) => &MULTISURF,
            (Radius::OfRow, true) => &MULTISURF_STAR,
        }
    }

    fn needs(&self) -> Needs {
        Needs::Labels
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
        let name = self.spec().name;
        columns.check(name, Accepts::Missing)?;
        let labels = columns.labels(name)?;
        self.needs().check(name, Some(labels))?;
        let kinds = Kinds::of(labels, columns.weights);
        let differences = columns.differences(true)?;
        let space = columns.space(&differences, self.metric.unwrap_or(Metric::Manhattan))?;
        let n = columns.rows.n();
        let queries = queries(n, self.n_queries, self.seed);
        let shared = match self.radius {
            Radius::OfRow => None,
            Radius::Mean => Some(Limits::about(mean_distance(&space, &queries, columns.monitor)?, 0.0)),
        };
        let margins = Margins::new(&differences, &kinds.own, &kinds.sizes, columns.weights, false);
        let parts = space.for_all_distances(&queries, columns.monitor, |found| {
            let mut sums = margins.begin();
            let mut chosen = vec![0; n];
            let mut groups = vec![Vec::new(); kinds.sizes.len()];
            for (query, distances) in found {
                let limits =
                    shared.unwrap_or_else(|| pulp::Arch::new().dispatch(LimitsOf { query, distances }));
                let signs = if self.star { &[(1.0, false), (-1.0, true)][..] } else { &[(1.0, false)] };
                for &(sign, far) in signs {
                    let chosen = &mut chosen[..];
                    let count = pulp::Arch::new().dispatch(Within { query, distances, limits, far, chosen });
                    groups.iter_mut().for_each(Vec::clear);
                    chosen[..count].iter().for_each(|&i| groups[kinds.group(query, i)].push(i));
                    margins.add_groups(query, &groups, sign, &mut sums);
                }
                margins.count(query, &mut sums);
            }
            sums
        })?;
        let scores = finite(margins.scores(&parts), name)?;
        Ok(Scores { scores, warnings: labels.lonely_warning(), ..Scores::default() })
    }
}

/// Which rows are hits of which, and misses of what kind.
struct Kinds<'a> {
    labels: &'a Labels,
    /// The kind of a row's hits.
    own: Cow<'a, [usize]>,
    /// What the rows of each kind count, among all.
    sizes: Vec<f64>,
    /// Numbers that differ by less are alike.
    alike: f64,
}

impl<'a> Kinds<'a> {
    fn of(labels: &'a Labels, weights: Option<&Weights>) -> Self {
        match labels {
            Labels::Classes { codes, names, .. } => Self {
                labels,
                own: Cow::Borrowed(codes),
                sizes: sizes(codes, names.len(), weights),
                alike: 0.0,
            },
            Labels::Numbers(numbers) => Self {
                labels,
                own: Cow::Owned(vec![0; numbers.len()]),
                // Only the share of misses among all that are not hits is asked for, and it is 1.
                sizes: vec![0.0, 1.0],
                alike: standard_deviation(numbers),
            },
            Labels::Several { .. } => unreachable!("several targets were refused"),
        }
    }

    /// 0 or the class: which group of the query's neighbours row i belongs to.
    fn group(&self, query: usize, i: usize) -> usize {
        match self.labels {
            Labels::Numbers(numbers) => usize::from((numbers[query] - numbers[i]).abs() >= self.alike),
            _ => self.own[i],
        }
    }
}

/// √(Σ (v − mean)²/(n − 1)).
fn standard_deviation(numbers: &[f64]) -> f64 {
    let n = numbers.len() as f64;
    // By the largest first: squares of huge or tiny numbers leave the range of a double.
    let unit = numbers.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let mean = numbers.iter().map(|v| v / unit).sum::<f64>() / n;
    let squares = numbers.iter().map(|v| (v / unit - mean).powi(2)).sum::<f64>();
    unit * (squares / (n - 1.0)).sqrt()
}

/// The mean distance from the queries to the other rows.
fn mean_distance(space: &Space, queries: &[usize], monitor: &Monitor) -> Result<f64> {
    let parts = space.for_all_distances(queries, monitor, |found| {
        let mut sums = vec![0.0; 2];
        for (query, distances) in found {
            let others = [&distances[..query], &distances[query + 1..]];
            for part in others {
                let (count, sum) = pulp::Arch::new().dispatch(
                    #[inline(always)]
                    || (power_sum::<0>(part, 0.0), power_sum::<1>(part, 0.0)),
                );
                sums[0] += count;
                sums[1] += sum;
            }
        }
        sums
    })?;
    let [count, sum] = [add_up(&parts, 0..1)[0], add_up(&parts, 1..2)[0]];
    Ok(if count > 0.0 { sum / count } else { 0.0 })
}

/// Nearer than the first is near, farther than the second is far.
#[derive(Clone, Copy)]
struct Limits {
    near: f64,
    far: f64,
}

impl Limits {
    #[inline(always)]
    fn about(mean: f64, half: f64) -> Self {
        Self { near: mean - half - NEARER * mean, far: mean + half + NEARER * mean }
    }
}

/// The limits of one row.
struct LimitsOf<'a> {
    query: usize,
    distances: &'a [f64],
}

// A type of its own, because closures inside closures would not be inlined into the dispatch, and so not be vectorised.
impl pulp::NullaryFnOnce for LimitsOf<'_> {
    type Output = Limits;

    #[inline(always)]
    fn call(self) -> Limits {
        let (before, after) = (&self.distances[..self.query], &self.distances[self.query + 1..]);
        let n = power_sum::<0>(before, 0.0) + power_sum::<0>(after, 0.0);
        let mean = (power_sum::<1>(before, 0.0) + power_sum::<1>(after, 0.0)) / n;
        let variance = (power_sum::<2>(before, mean) + power_sum::<2>(after, mean)) / n;
        Limits::about(mean, 0.5 * variance.sqrt())
    }
}

/// Finds who is near, or who is far.
struct Within<'a> {
    query: usize,
    distances: &'a [f64],
    limits: Limits,
    far: bool,
    /// Their indices come into the first places.
    chosen: &'a mut [usize],
}

impl pulp::NullaryFnOnce for Within<'_> {
    /// How many there are.
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        // Where gaps have made a distance infinite it is neither near nor far.
        let (from, to) =
            if self.far { (self.limits.far, f64::INFINITY) } else { (f64::NEG_INFINITY, self.limits.near) };
        let mut count = 0;
        for (i, &d) in self.distances.iter().enumerate() {
            // Written always and counted if it is wanted: a branch would be guessed wrong every third time.
            self.chosen[count] = i;
            count += usize::from(d < to) & usize::from(d > from) & usize::from(i != self.query);
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
