//! Laplacian score: columns that vary little between neighbours, for how much they vary at all.
//!
//!   L = f̃ᵀ(D − S)f̃ / f̃ᵀDf̃,  f̃ = f − (fᵀD1/1ᵀD1)·1,  score = −L
//!   S: exp(−d²/t) where one is among the k nearest of the other, t the mean d² of the n·k pairs; D its row sums
//!
//! cost    neighbours, then 2·n·k differences a column
//! source  He, Cai & Niyogi 2005; EKS, sec. 4.1
//! differs the score is negative, so that high is good; a constant column gets −2, the least there is

use super::by_column::{Column, each_column, ends};
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::needs::Needs;
use crate::error::Result;
use crate::evidence::differences::Differences;
use crate::evidence::neighbours::{Found, Groups, Metric, Space};
use crate::spec::{FromValues, MethodSpec, N_NEIGHBORS, Stage, Values};

/// Variance up to this share of the mean square is rounding.
const CONSTANT: f64 = 1e-24;

/// Columns that a thread takes at a time.
const COLUMNS_AT_ONCE: usize = 16;

/// Laplacian score.
///
/// ```
/// use mercer::{Monitor, Rows, select::{Columns, Laplacian}};
///
/// // Two clusters: the first column separates them, the second varies within them.
/// let rows = Rows::dense(vec![0.0, 0.0, 0.0, 1.0, 9.0, 0.0, 9.0, 1.0], 4, 2)?;
/// let columns = Columns { rows: (&rows).into(), labels: None, space: None, categorical: &[], weights: None, monitor: &Monitor::default() };
/// let found = Laplacian { n_neighbors: 1 }.score(&columns)?;
/// assert!(found.scores[0] == 0.0 && (found.scores[1] + 2.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Laplacian {
    /// Neighbours in the graph.
    pub n_neighbors: usize,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "laplacian",
    stage: Stage::Select,
    file: "select/laplacian.rs",
    source: "He, Cai & Niyogi 2005",
    cost: "n² distances, n·k·p",
    parameters: &[N_FEATURES, N_NEIGHBORS.default("5")],
    help: "Laplacian score: columns that vary little between neighbours; needs no labels",
};

impl FromValues for Laplacian {
    fn from_values(values: &Values) -> Self {
        Self { n_neighbors: values.count("n_neighbors").unwrap_or(1) }
    }
}

impl Default for Laplacian {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for Laplacian {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    fn widens(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        Laplacian::score(self, columns)
    }
}

impl Laplacian {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("laplacian", Accepts::Numbers)?;
        let (n, p) = (columns.rows.n(), columns.rows.p());
        let edges = self.edges(columns)?;
        let mut degree = vec![0.0; n];
        for &(i, k, weight) in &edges {
            degree[i] += weight;
            degree[k] += weight;
        }
        let total: f64 = degree.iter().sum();
        columns.monitor.begin("scoring columns", p);
        let scores = each_column(columns.rows, COLUMNS_AT_ONCE, columns.monitor, |_, column| {
            let mut f = column.whole(n).into_owned();
            let (low, high) = ends(&f);
            let unit = Column::unit(low, high);
            f.iter_mut().for_each(|f| *f *= unit);
            let mean = f.iter().zip(&degree).map(|(f, d)| f * (d / total)).sum::<f64>();
            let variance: f64 = f.iter().zip(&degree).map(|(f, d)| (f - mean) * (f - mean) * d).sum();
            let size: f64 = f.iter().zip(&degree).map(|(f, d)| f * f * d).sum();
            let between: f64 =
                edges.iter().map(|&(i, k, weight)| weight * (f[i] - f[k]) * (f[i] - f[k])).sum();
            Ok(if variance > CONSTANT * size { -between / variance } else { -2.0 })
        })?;
        Ok(Scores { scores: finite(scores, "laplacian")?, ..Scores::default() })
    }

    /// Every edge once, with its weight.
    fn edges(&self, columns: &Columns) -> Result<Vec<(usize, usize, f64)>> {
        let n = columns.rows.n();
        let differences = Differences::of(columns.rows.to_f64(), &[], None)?;
        let every: Vec<usize> = (0..n).collect();
        let space = Space::Plain(differences.clone(), Metric::Euclidean);
        let pairs =
            space.nearest(Groups::All, self.n_neighbors, &every, columns.monitor, |found: &[Found]| {
                let of = |found: &Found| {
                    let (i, near) = (found.query, found.groups[0].clone());
                    near.into_iter().map(move |k| (i, k)).collect::<Vec<_>>()
                };
                found
                    .iter()
                    .flat_map(of)
                    .map(|(i, k)| (i.min(k), i.max(k), differences.distance(Metric::Euclidean, i, k)))
                    .collect::<Vec<_>>()
            })?;
        let mut edges = pairs.concat();
        // Halved before they are added: distances may be as large as numbers get.
        let width = edges.iter().map(|e| e.2 / edges.len() as f64).sum::<f64>();
        edges.sort_unstable_by_key(|e| (e.0, e.1));
        edges.dedup_by_key(|e| (e.0, e.1));
        for edge in &mut edges {
            edge.2 = if width > 0.0 { (-edge.2 / width).exp() } else { 1.0 };
        }
        Ok(edges)
    }
}
