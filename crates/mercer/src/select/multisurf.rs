//! MultiSURF: ReliefF in which every row nearer than usual is a neighbour, so there is no k.
//!
//!   neighbours of i: distance < mean − ½·sd of the distances from i to the other rows
//!
//! cost    n² distances and a third as many differences, p each
//! source  Urbanowicz, Olson, Schmitt, Meeker & Moore 2018
//! differs a distance that is below the limit by rounding alone is not below it; hits and misses are averaged as in
//!         `relieff`, so the classes' weights sum to 1

use super::relieff::Margins;
use super::{Columns, Scores, finite};
use crate::error::Result;
use crate::evidence::differences::Differences;
use crate::evidence::neighbours::{Metric, queries};

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
#[derive(Clone, Debug, Default)]
pub struct MultiSurf {
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

impl MultiSurf {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("multisurf", true)?;
        let labels = columns.labels("multisurf")?;
        let (codes, c) = labels.require_classes("multisurf")?;
        let differences = Differences::new(columns.rows, columns.categorical, true)?;
        let space = columns.space(&differences, self.metric.unwrap_or(Metric::Manhattan))?;
        let n = columns.rows.n();
        let queries = queries(n, self.n_queries, self.seed);
        let margins = Margins::new(&differences, codes, c, false);
        let parts = space.for_all_distances(&queries, columns.monitor, |found| {
            let mut sums = margins.begin();
            for (query, distances) in found {
                let near = nearer_than_usual(query, distances);
                let group = |class: usize| near.iter().copied().filter(move |&i| codes[i] == class);
                margins.add(query, (0..c).map(group), &mut sums);
            }
            sums
        })?;
        let scores = finite(margins.scores(&parts), "multisurf")?;
        Ok(Scores { scores, warnings: labels.lonely_warning(), ..Scores::default() })
    }
}

fn nearer_than_usual(query: usize, distances: &[f64]) -> Vec<usize> {
    let others = || distances.iter().enumerate().filter(|(i, d)| *i != query && d.is_finite());
    let n = others().count() as f64;
    let mean = others().map(|(_, d)| d).sum::<f64>() / n;
    let variance = others().map(|(_, d)| (d - mean) * (d - mean)).sum::<f64>() / n;
    let limit = mean - 0.5 * variance.sqrt() - NEARER * mean;
    others().filter(|(_, d)| **d < limit).map(|(i, _)| i).collect()
}
