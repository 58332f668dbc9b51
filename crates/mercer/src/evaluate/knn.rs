//! Nearest neighbours, on features or in the kernel's own space (KKNN).
//!
//! cost    n·n' distances: through the float32 prefilter where its bounds are tight enough, otherwise by float64 matrix
//!         products, in panels; nothing of size n·n' is stored. Few columns and many rows: a k-d tree
//! differs ties of distances go to the lower index, tied votes to the class of the nearest row among the tied. Distances
//!         from products lose a few digits to cancellation, so neighbours are ranked by distances computed from the
//!         rows' own numbers

use std::sync::OnceLock;

use faer::Mat;
use rayon::prelude::*;

use super::evaluator::{Evaluation, check_rows};
use super::measures::Predictions;
use super::rescale::rescaled;
use crate::data::labels::Labels;
use crate::data::rows::{Dense, Rows};
use crate::error::{Error, Result};
use crate::evidence::nearest::Nearest;
use crate::evidence::neighbours::Metric;
use crate::evidence::prefilter::{Block, Candidates, Frame, Tiles};
use crate::evidence::search::{BASE_ROWS, QUERY_ROWS, tree_pays};
use crate::evidence::tree::Tree;
use crate::kernel::gram::diagonal;
use crate::kernel::kernel::Statistic;
use crate::kernel::{Kernel, Panel, Shape};
use crate::monitor::Monitor;

/// Majority vote (numbers: mean) of the k nearest training rows in L2 distance; of all of them where there are fewer.
///
/// ```
/// use mercer::{Labels, Monitor, Rows, evaluate::{knn, measures::Predictions}};
///
/// let train = Rows::dense(vec![0.0, 1.0, 10.0], 3, 1)?;
/// let test = Rows::dense(vec![7.0], 1, 1)?;
/// let monitor = Monitor::default();
/// let labels = Labels::classes(&["a", "a", "b"]);
/// assert_eq!(knn::predict(&train, &labels, &test, 1, &monitor)?, Predictions::Classes(vec![1]));
/// assert_eq!(knn::predict(&train, &labels, &test, 2, &monitor)?, Predictions::Classes(vec![1])); // a tie: the nearest
/// assert_eq!(knn::predict(&train, &labels, &test, 3, &monitor)?, Predictions::Classes(vec![0]));
/// let labels = Labels::Numbers(vec![1.0, 2.0, 6.0]);
/// assert_eq!(knn::predict(&train, &labels, &test, 2, &monitor)?, Predictions::Numbers(vec![4.0]));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn predict(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    k: usize,
    monitor: &Monitor,
) -> Result<Predictions> {
    predict_in_kernel(Kernel::linear(), train, labels, test, k, monitor)
}

/// Majority vote (numbers: mean) of the k nearest training rows in the kernel's space (KKNN). Precomputed: the training
/// rows are the square kernel matrix, the test rows their kernel values against the training rows.
///
/// ```
/// use mercer::{Kernel, Labels, Monitor, Rows, Shape, evaluate::{knn, measures::Predictions}};
///
/// // By angle, not by distance.
/// let train = Rows::dense(vec![9.0, 9.0, 1.0, 0.0], 2, 2)?;
/// let test = Rows::dense(vec![1.0, 0.8], 1, 2)?;
/// let labels = Labels::classes(&["diagonal", "flat"]);
/// let cosine = Kernel { shape: Shape::Cosine, gamma: 1.0 };
/// let near = knn::predict_in_kernel(cosine, &train, &labels, &test, 1, &Monitor::default())?;
/// assert_eq!(near, Predictions::Classes(vec![0]));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn predict_in_kernel(
    kernel: Kernel,
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    k: usize,
    monitor: &Monitor,
) -> Result<Predictions> {
    check_rows(&train.to_f64(), labels, &test.to_f64())?;
    match labels {
        Labels::Classes { codes, names } => {
            let vote = |near: &[usize]| majority(near, codes, names.len());
            of_nearest_in_kernel(kernel, train, test, k, monitor, vote).map(Predictions::Classes)
        }
        Labels::Numbers(values) => {
            let mean = |near: &[usize]| near.iter().map(|&j| values[j]).sum::<f64>() / near.len() as f64;
            of_nearest_in_kernel(kernel, train, test, k, monitor, mean).map(Predictions::Numbers)
        }
        Labels::Several { .. } => unreachable!("several targets are refused by `check_rows`"),
    }
}

/// Distances of each row's nearest, and which they are.
type Neighbours = (Vec<Vec<f64>>, Vec<Vec<usize>>);

/// The k nearest training rows of every test row in the kernel's space, nearest first, and their distances. Precomputed: as
/// in [`predict_in_kernel`]; k(x,x) of test rows is not known then, and squared distances less that are returned.
///
/// ```
/// use mercer::{Kernel, Monitor, Rows, evaluate::knn};
///
/// let train = Rows::dense(vec![0.0, 1.0, 10.0], 3, 1)?;
/// let test = Rows::dense(vec![7.0], 1, 1)?;
/// let (distances, near) = knn::nearest_in_kernel(Kernel::linear(), &train, &test, 2, &Monitor::default())?;
/// assert_eq!(near, [[2, 1]]);
/// assert_eq!(distances, [[3.0, 6.0]]);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn nearest_in_kernel(
    kernel: Kernel,
    train: &Rows,
    test: &Rows,
    k: usize,
    monitor: &Monitor,
) -> Result<Neighbours> {
    let near = of_nearest_in_kernel(kernel, train, test, k, monitor, <[usize]>::to_vec)?;
    let (train, test) = (&*train.to_f64(), &*test.to_f64());
    let is_given = kernel.shape == Shape::Precomputed;
    let own = diagonal(kernel, train);
    let others = if is_given { vec![0.0; test.n()] } else { diagonal(kernel, test) };
    let values = if is_given { test.to_dense() } else { Vec::new() };
    let of_row = |i: usize| -> Result<Vec<f64>> {
        monitor.check()?;
        let between: Vec<f64> = if is_given {
            near[i].iter().map(|&j| values[i * test.p() + j]).collect()
        } else {
            let found = kernel.matrix(&test.slice(i..i + 1), &train.select(&near[i]))?;
            found.row(0).iter().copied().collect()
        };
        let squares = near[i].iter().zip(between).map(|(&j, k)| own[j] + others[i] - 2.0 * k);
        Ok(squares.map(|s| if is_given { s } else { s.max(0.0).sqrt() }).collect())
    };
    let distances: Result<Vec<Vec<f64>>> = (0..test.n()).into_par_iter().map(of_row).collect();
    Ok((distances?, near))
}

/// The value of `answer` on the k nearest training rows of every test row, nearest first.
fn of_nearest_in_kernel<T: Send>(
    kernel: Kernel,
    train: &Rows,
    test: &Rows,
    k: usize,
    monitor: &Monitor,
    answer: impl Fn(&[usize]) -> T + Sync,
) -> Result<Vec<T>> {
    let (train, test) = (&*train.to_f64(), &*test.to_f64());
    kernel.check()?;
    if k == 0 {
        return Err(Error::argument("n_neighbors = 0, but at least 1 is needed"));
    }
    if kernel.shape == Shape::Precomputed && train.n() != train.p() {
        return Err(Error::data(format!(
            "the kernel `precomputed` needs the square kernel matrix of the training rows, but it is {} × {}",
            train.n(),
            train.p()
        )));
    }
    let metric = match (kernel.shape, kernel.shape.statistic()) {
        (Shape::Linear, _) | (_, Statistic::SquaredDistance) => Some(Metric::Euclidean),
        (_, Statistic::Manhattan) => Some(Metric::Manhattan),
        _ => None,
    };
    let scaled = if metric.is_some() { rescaled(train, test) } else { None };
    let (train, test) = scaled.as_ref().map_or((train, test), |(train, test)| (train, test));
    Distances::new(kernel, metric, train).of_nearest(test, k.min(train.n()), monitor, answer)
}

/// [`predict`], with the votes: scores are their shares, and probabilities count the classes' shares of all rows as one more
/// vote.
pub(super) fn vote(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    k: usize,
    monitor: &Monitor,
) -> Result<Evaluation> {
    let Labels::Classes { codes, names } = labels else {
        return Ok(Evaluation::of(predict(train, labels, test, k, monitor)?));
    };
    let c = names.len();
    let mut shares = vec![0.0; c];
    codes.iter().for_each(|&code| shares[code] += 1.0 / codes.len() as f64);
    let scaled = rescaled(train, test);
    let (train, test) = scaled.as_ref().map_or((train, test), |(train, test)| (train, test));
    let distances = Distances::new(Kernel::linear(), Some(Metric::Euclidean), train);
    let of = |near: &[usize]| -> (usize, Vec<usize>) {
        (majority(near, codes, c), near.iter().map(|&j| codes[j]).collect())
    };
    let found = distances.of_nearest(test, k.min(train.n()), monitor, of)?;
    let (predicted, votes): (Vec<usize>, Vec<Vec<usize>>) = found.into_iter().unzip();
    let predictions = Predictions::Classes(predicted);
    let count = |i: usize, j: usize| votes[i].iter().filter(|&&code| code == j).count() as f64;
    let scores = Mat::from_fn(votes.len(), c, |i, j| count(i, j) / votes[i].len() as f64);
    let probabilities =
        Mat::from_fn(votes.len(), c, |i, j| (count(i, j) + shares[j]) / (votes[i].len() + 1) as f64);
    Ok(Evaluation { scores: Some(scores), probabilities: Some(probabilities), ..Evaluation::of(predictions) })
}

/// Share of the test rows whose nearest training row (L2) has another class.
///
/// ```
/// use mercer::{Rows, evaluate::knn::nearest_neighbour_error};
///
/// let train = Rows::dense(vec![0.0, 10.0], 2, 1)?;
/// let test = Rows::dense(vec![1.0, 9.0, 4.0], 3, 1)?;
/// let error = nearest_neighbour_error(&train, &[0, 1], &test, &[0, 1, 1])?;
/// assert!((error - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn nearest_neighbour_error(train: &Rows, codes: &[usize], test: &Rows, right: &[usize]) -> Result<f64> {
    let c = codes.iter().chain(right).max().map_or(0, |most| most + 1);
    let labels = |codes: &[usize]| Labels::Classes {
        codes: codes.to_vec(),
        names: (0..c).map(|code| code.to_string()).collect(),
    };
    let predicted = predict(train, &labels(codes), test, 1, &Monitor::default())?;
    Ok(1.0 - super::measures::Measure::Accuracy.of(&labels(right), &predicted)?)
}

/// The class with most votes; of tied ones that of the nearest row.
fn majority(near: &[usize], codes: &[usize], c: usize) -> usize {
    if let [only] = near {
        return codes[*only];
    }
    let mut votes = vec![0usize; c];
    near.iter().for_each(|&j| votes[codes[j]] += 1);
    let most = votes.iter().copied().max().unwrap_or(0);
    near.iter().map(|&j| codes[j]).find(|&code| votes[code] == most).unwrap_or(0)
}

/// Training rows prepared for distance computations.
struct Distances<'a> {
    kernel: Kernel,
    /// None: distances are those of the kernel's space.
    metric: Option<Metric>,
    train: &'a Rows<'a>,
    /// k(x,x) of the training rows, for distances in the kernel's space.
    own: Vec<f64>,
    index: Index,
    /// [`BASE_ROWS`] rows each, computed when they are first needed.
    panels: Vec<OnceLock<Panel>>,
}

enum Index {
    Tree(Tree),
    /// In float32, [`BASE_ROWS`] rows each.
    Prefilter(Frame, Vec<Tiles>),
    None,
}

impl<'a> Distances<'a> {
    fn new(kernel: Kernel, metric: Option<Metric>, train: &'a Rows<'a>) -> Self {
        let (n, p) = (train.n(), train.p());
        let own = if metric.is_none() { diagonal(kernel, train) } else { Vec::new() };
        // With γ = 1 the statistics of these two kernels are the distances (L2: squared).
        let kernel = match metric {
            Some(Metric::Euclidean) => Kernel::rbf(1.0),
            Some(Metric::Manhattan) => Kernel { shape: Shape::Laplacian, gamma: 1.0 },
            None => kernel,
        };
        let index = match (train, metric) {
            (Rows::Dense(rows), Some(metric)) if tree_pays(n, p) => {
                Index::Tree(Tree::new(rows, &(0..n).collect::<Vec<_>>(), p, metric))
            }
            (Rows::Dense(rows), Some(metric)) if p > 0 => {
                let frame = Frame::new(rows, n, p, metric);
                let tiles =
                    |start: usize| Tiles::new(&frame, (start..n.min(start + BASE_ROWS)).map(|i| rows.row(i)));
                let starts: Vec<usize> = (0..n).step_by(BASE_ROWS).collect();
                let tiles = starts.into_par_iter().map(tiles).collect();
                Index::Prefilter(frame, tiles)
            }
            _ => Index::None,
        };
        let panels = (0..n).step_by(BASE_ROWS).map(|_| OnceLock::new()).collect();
        Self { kernel, metric, train, own, index, panels }
    }

    /// The training rows from `start` on, for distances by products or sums.
    fn panel(&self, start: usize) -> Panel {
        let end = self.train.n().min(start + BASE_ROWS);
        match self.kernel.shape {
            Shape::Precomputed => Panel::given(&(start..end).collect::<Vec<_>>(), self.train.p()),
            _ => Panel::new(self.kernel, &self.train.slice(start..end)),
        }
    }

    /// The value of `answer` on the k nearest of each test row, nearest first.
    fn of_nearest<T: Send>(
        &self,
        test: &Rows,
        k: usize,
        monitor: &Monitor,
        answer: impl Fn(&[usize]) -> T + Sync,
    ) -> Result<Vec<T>> {
        monitor.begin("finding neighbours", test.n());
        let starts: Vec<usize> = (0..test.n()).step_by(QUERY_ROWS).collect();
        let panels: Result<Vec<Vec<T>>> = starts
            .into_par_iter()
            .map(|start| {
                let queries = alike(self.train, test.slice(start..test.n().min(start + QUERY_ROWS)))?;
                let mut nearest: Vec<Nearest> = (0..queries.n()).map(|_| Nearest::new(k)).collect();
                let found = match (&self.index, &queries) {
                    (Index::Tree(tree), Rows::Dense(rows)) => {
                        self.visit(tree, rows, &queries, &mut nearest);
                        true
                    }
                    (Index::Prefilter(frame, tiles), Rows::Dense(rows)) => {
                        let block = Block::new(frame, (0..queries.n()).map(|i| rows.row(i)));
                        block.is_some_and(|block| self.prefilter(&block, tiles, &queries, k, &mut nearest))
                    }
                    _ => false,
                };
                if !found {
                    for (at, panel) in self.panels.iter().enumerate() {
                        monitor.check()?;
                        let panel = panel.get_or_init(|| self.panel(at * BASE_ROWS));
                        self.compare(at * BASE_ROWS, panel, &queries, &mut nearest);
                    }
                }
                monitor.check()?;
                monitor.advance(queries.n());
                Ok(nearest.iter().map(|nearest| answer(&nearest.indices())).collect())
            })
            .collect();
        Ok(panels?.into_iter().flatten().collect())
    }

    fn visit(&self, tree: &Tree, rows: &Dense, queries: &Rows, nearest: &mut [Nearest]) {
        for (i, nearest) in nearest.iter_mut().enumerate() {
            tree.visit(rows.row(i), nearest.bound(), |j, distance| {
                nearest.offer(self.exact(queries, i, j, distance), j);
                nearest.bound()
            });
        }
    }

    /// Whether few enough candidates were left; false: the caller compares all rows in float64.
    fn prefilter(
        &self,
        block: &Block,
        tiles: &[Tiles],
        queries: &Rows,
        k: usize,
        nearest: &mut [Nearest],
    ) -> bool {
        let mut near: Vec<Candidates> = (0..queries.n()).map(|_| Candidates::new(k)).collect();
        let of: Vec<usize> = (0..queries.n()).collect();
        for (at, tiles) in tiles.iter().enumerate() {
            block.scan(tiles, at * BASE_ROWS, &mut near, &of);
            if Candidates::are_too_many(&near) {
                return false;
            }
        }
        for (i, (near, nearest)) in near.iter_mut().zip(nearest).enumerate() {
            near.rows().for_each(|j| nearest.offer(self.exact(queries, i, j, 0.0), j));
        }
        true
    }

    fn compare(&self, first: usize, panel: &Panel, queries: &Rows, nearest: &mut [Nearest]) {
        let l = panel.n_landmarks();
        let mut distances = vec![0.0; queries.n() * l];
        if self.metric.is_some() || self.kernel.shape.statistic() == Statistic::ChiSquared {
            panel.statistics(queries, &mut distances);
        } else {
            panel.fill(queries, &mut distances);
            // k(x,x) of the query is left out: it is the same for all training rows.
            for line in distances.chunks_exact_mut(l) {
                line.iter_mut().zip(&self.own[first..]).for_each(|(d, own)| *d = own - 2.0 * *d);
            }
        }
        for (i, (nearest, line)) in nearest.iter_mut().zip(distances.chunks_exact(l)).enumerate() {
            nearest.scan(line, |nearest, at, distance| {
                nearest.offer(self.exact(queries, i, first + at, distance), first + at);
            });
        }
    }

    fn exact(&self, queries: &Rows, i: usize, j: usize, distance: f64) -> f64 {
        match self.metric {
            Some(Metric::Euclidean) => queries.squared_distance(i, self.train, j),
            Some(Metric::Manhattan) => queries.sum_of_differences(i, self.train, j, f64::abs),
            None => distance,
        }
    }
}

/// A panel of queries in the training rows' storage, dense or sparse.
fn alike<'q>(train: &Rows, queries: Rows<'q>) -> Result<Rows<'q>> {
    match (train.is_sparse(), queries.is_sparse()) {
        (true, false) => {
            let sparse = queries.to_sparse();
            Ok(sparse.select(&(0..sparse.n()).collect::<Vec<_>>()))
        }
        (false, true) => Rows::dense(queries.to_dense(), queries.n(), queries.p()),
        _ => Ok(queries),
    }
}
