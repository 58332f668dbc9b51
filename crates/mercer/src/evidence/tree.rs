//! k-d tree: nearest neighbours of rows of few columns without comparing most of the rows.
//!
//! cost    n·log n to build; log n boxes and a few leaves per query while p is small, all of them when it is large
//! differs a box is skipped only if it is farther away than the k-th best so far, so all rows of equal distance are offered
//!         and the lower index wins, as in every search

use super::neighbours::Metric;
use crate::data::rows::Dense;

/// The most rows of a leaf.
const LEAF_ROWS: usize = 16;

/// Rows ordered by leaf.
#[derive(Debug)]
pub(crate) struct Tree {
    metric: Metric,
    p: usize,
    /// Row indices, leaf by leaf.
    indices: Vec<usize>,
    /// Their numbers in that order.
    points: Vec<f64>,
    nodes: Vec<Node>,
    /// Bounding boxes: smallest and largest value in each column, 2·p numbers per node.
    boxes: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    start: usize,
    end: usize,
    /// The second half; the first is the next node. 0: a leaf.
    second: usize,
}

impl Tree {
    /// A tree of these rows.
    pub(crate) fn new(rows: &Dense, indices: &[usize], p: usize, metric: Metric) -> Self {
        let mut tree = Self {
            metric,
            p,
            indices: indices.to_vec(),
            points: Vec::with_capacity(indices.len() * p),
            nodes: Vec::new(),
            boxes: Vec::new(),
        };
        tree.grow(rows, 0, indices.len());
        for &i in &tree.indices {
            tree.points.extend_from_slice(rows.row(i));
        }
        tree
    }

    fn grow(&mut self, rows: &Dense, start: usize, end: usize) {
        let node = self.nodes.len();
        self.nodes.push(Node { start, end, second: 0 });
        let first = self.boxes.len();
        for j in 0..self.p {
            let values = self.indices[start..end].iter().map(|&i| rows.row(i)[j]);
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            self.boxes.extend([low, high]);
        }
        let width = |j: usize| self.boxes[first + 2 * j + 1] - self.boxes[first + 2 * j];
        let widest = (0..self.p).max_by(|&a, &b| width(a).total_cmp(&width(b))).unwrap_or(0);
        if end - start <= LEAF_ROWS || width(widest) <= 0.0 {
            return;
        }
        let middle = usize::midpoint(start, end);
        self.indices[start..end].select_nth_unstable_by(middle - start, |&a, &b| {
            rows.row(a)[widest].total_cmp(&rows.row(b)[widest])
        });
        self.grow(rows, start, middle);
        self.nodes[node].second = self.nodes.len();
        self.grow(rows, middle, end);
    }

    /// Offers every row whose distance is not above the bound that `offer` gives back, nearest boxes first.
    pub(crate) fn visit(&self, query: &[f64], bound: f64, mut offer: impl FnMut(usize, f64) -> f64) {
        let mut bound = bound;
        let mut waiting = vec![(0, self.to_box(query, 0))];
        while let Some((at, distance)) = waiting.pop() {
            if distance > bound {
                continue;
            }
            let Node { start, end, second } = self.nodes[at];
            if second == 0 {
                for (&i, point) in
                    self.indices[start..end].iter().zip(self.points[start * self.p..].chunks_exact(self.p))
                {
                    let distance = self.sum(query.iter().zip(point).map(|(a, b)| a - b));
                    if distance <= bound {
                        bound = offer(i, distance);
                    }
                }
                continue;
            }
            let mut halves = [at + 1, second].map(|half| (half, self.to_box(query, half)));
            halves.sort_by(|a, b| b.1.total_cmp(&a.1));
            waiting.extend(halves);
        }
    }

    /// The least distance that a point in the node's box can have.
    fn to_box(&self, query: &[f64], node: usize) -> f64 {
        let sides = self.boxes[2 * self.p * node..].chunks_exact(2);
        self.sum(query.iter().zip(sides).map(|(x, side)| (side[0] - x).max(x - side[1]).max(0.0)))
    }

    fn sum(&self, differences: impl Iterator<Item = f64>) -> f64 {
        match self.metric {
            Metric::Euclidean => differences.map(|d| d * d).sum(),
            Metric::Manhattan => differences.map(f64::abs).sum(),
        }
    }
}
