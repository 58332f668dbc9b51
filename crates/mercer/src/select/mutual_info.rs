//! Mutual information of a column and the labels, from nearest neighbours.
//!
//!   classes: ψ(n) + mean ψ(k_i) − mean ψ(n_{c_i}) − mean ψ(m_i)      m_i: rows nearer to x_i than its k-th neighbour
//!                                                                    of the same class, itself included
//!   numbers: ψ(n) + ψ(k) − mean ψ(a_i + 1) − mean ψ(b_i + 1)         a_i, b_i: other rows nearer in x, or in y, than the
//!                                                                    k-th neighbour in max(|Δx|, |Δy|)
//!
//!   categories: Σ p(x,c) ln(p(x,c)/(p(x)·p(c))) with classes, by counting; with numbers the estimate for classes, the
//!               column being the classes and the numbers being the column
//!
//! cost    classes: n·log n a column; numbers: n·log n plus the rows between a row and its k-th neighbour along one axis,
//!         about n·√(k·n) for columns that say little
//! source  classes: Ross 2014; numbers: Kraskov et al. 2004 (their first estimate); as scikit-learn computes them
//! differs columns are divided by their standard deviation, and noise of 1e−10 is added only to those with ties: the
//!         same to each, another to the target, so that a column's score does not depend on the others. k is at most
//!         the class's other rows; a class of one row is left out. Estimates below 0 are 0. With weights, numbers of rows
//!         of classes are sums of weights and means are weighted; for numbers only the mean is

use std::ops::Range;

use rand_distr::{Distribution, StandardNormal};

use super::by_column::{Column, each_column, ends};
use super::{Accepts, Columns, N_FEATURES, Scores, Select};
use crate::data::labels::Labels;
use crate::data::needs::Needs;
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::random;
use crate::spec::{FromValues, MethodSpec, N_NEIGHBORS, Stage, Values};

/// Noise that separates equal values, in standard deviations (or of the mean magnitude, if that is larger).
const NOISE: f64 = 1e-10;

/// Values are rounded to multiples of this many standard deviations, 2⁻³³.
const STEP: f64 = 1.0 / 8_589_934_592.0;

/// Rows from which the axis to search along is chosen.
const PROBES: usize = 32;

/// Mutual information of a column and the labels, from nearest neighbours.
#[derive(Clone, Debug)]
pub struct MutualInfo {
    /// Neighbours that the estimate is made from.
    pub n_neighbors: usize,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "mi",
    stage: Stage::Select,
    file: "select/mutual_info.rs",
    source: "Kraskov et al. 2004; Ross 2014",
    cost: "n·log n·p; numbers: n^1.5·p",
    parameters: &[N_FEATURES, N_NEIGHBORS.default("3")],
    help: "mutual information with the labels, from nearest neighbours",
};

impl FromValues for MutualInfo {
    fn from_values(values: &Values) -> Self {
        Self { n_neighbors: values.count("n_neighbors").unwrap_or(1) }
    }
}

impl Default for MutualInfo {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for MutualInfo {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn needs(&self) -> Needs {
        Needs::Targets
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        MutualInfo::score(self, columns)
    }
}

impl MutualInfo {
    /// The estimate for every column, in nats.
    ///
    /// ```
    /// use mercer::select::{Columns, MutualInfo};
    /// use mercer::{Labels, Monitor, Rows};
    ///
    /// // The nearest of the same class is at distance 1, 1, 2 and 2; nearer than that are only the rows themselves, so
    /// // m = 1 and what is left is ψ(4) + ψ(1) − ψ(2) − ψ(1) = 1/2 + 1/3.
    /// let rows = Rows::dense(vec![0.0, 1.0, 10.0, 12.0], 4, 1)?;
    /// let labels = Labels::classes(&["a", "a", "b", "b"]);
    /// let monitor = Monitor::default();
    /// let found = MutualInfo { n_neighbors: 1 }.score(&Columns::new(&rows, &labels, &monitor))?;
    /// assert!((found.scores[0] - 5.0 / 6.0).abs() < 1e-15);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("mi", Accepts::Categories)?;
        let labels = columns.labels("mi")?;
        labels.require_two("mi")?;
        if self.n_neighbors == 0 {
            return Err(Error::argument("n_neighbors = 0, but it must be a whole number of at least 1"));
        }
        if let Labels::Several { count, .. } = labels {
            return self.score_several(columns, *count);
        }
        let n = columns.rows.n();
        let target = Target::new(labels, self.n_neighbors, columns.weights)?;
        let noise = noise(n, 0);
        columns.monitor.begin("estimating mutual information", columns.rows.p());
        let scores = each_column(columns.rows, 1, columns.monitor, |j, column| {
            if columns.categorical.contains(&j) {
                return self.of_categories(&column.whole(n), columns, &noise);
            }
            Axis::new(column, n, &noise).map_or(Ok(0.0), |x| target.estimate(&x, columns.monitor))
        })?;
        Ok(Scores { scores, ..Scores::default() })
    }

    /// The estimate for a column of categories; 0 where nothing varies, or nothing is seen twice.
    fn of_categories(&self, values: &[f64], columns: &Columns, noise: &[f64]) -> Result<f64> {
        let codes = codes_of(values);
        let n_categories = codes.iter().max().map_or(0, |most| most + 1);
        if n_categories < 2 || n_categories == values.len() {
            return Ok(0.0);
        }
        match columns.labels("mi")? {
            Labels::Classes { codes: classes, .. } => Ok(counted(&codes, classes, columns.weights)),
            Labels::Numbers(numbers) => {
                let Some(y) = Axis::new(Column::Dense(numbers), numbers.len(), noise) else { return Ok(0.0) };
                let found =
                    Classes::new(&codes, n_categories, self.n_neighbors, columns.weights)?.estimate(&y);
                Ok(found.max(0.0))
            }
            Labels::Several { .. } => unreachable!("each target comes by itself"),
        }
    }
}

/// The place of every value among the distinct ones.
fn codes_of(values: &[f64]) -> Vec<usize> {
    // + 0.0: minus zero is zero.
    let mut distinct: Vec<f64> = values.iter().map(|v| v + 0.0).collect();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    values.iter().map(|v| distinct.partition_point(|other| other < v)).collect()
}

/// Mutual information of two codes by the frequencies of their pairs, in nats.
fn counted(x: &[usize], y: &[usize], weights: Option<&Weights>) -> f64 {
    let count = |i: usize| weight(weights, i);
    let sums = |codes: &[usize]| {
        let mut sums = vec![0.0; codes.iter().max().map_or(0, |most| most + 1)];
        codes.iter().enumerate().for_each(|(i, &code)| sums[code] += count(i));
        sums
    };
    let (of_x, of_y) = (sums(x), sums(y));
    let all: f64 = of_x.iter().sum();
    // Sorted, because a table of all pairs may be larger than the rows.
    let mut rows: Vec<usize> = (0..x.len()).collect();
    rows.sort_by_key(|&i| (x[i], y[i]));
    let term = |run: &[usize]| {
        let (i, both) = (run[0], run.iter().map(|&i| count(i)).sum::<f64>());
        if both == 0.0 { 0.0 } else { both / all * (both / of_x[x[i]] * (all / of_y[y[i]])).ln() }
    };
    rows.chunk_by(|&a, &b| (x[a], y[a]) == (x[b], y[b])).map(term).sum::<f64>().max(0.0)
}

impl MutualInfo {
    /// The mean of the estimates for each target; those that do not vary count 0.
    fn score_several(&self, columns: &Columns, count: usize) -> Result<Scores> {
        let mut scores = vec![0.0; columns.rows.p()];
        for j in 0..count {
            let labels = columns.labels("mi")?.only(j);
            if labels.require_two("mi").is_err() {
                continue;
            }
            let found = self.score(&Columns { labels: Some(&labels), ..*columns })?;
            scores.iter_mut().zip(found.scores).for_each(|(own, new)| *own += new / count as f64);
        }
        Ok(Scores { scores, ..Scores::default() })
    }
}

/// What the columns are compared with.
enum Target {
    Classes(Classes),
    Numbers { y: Axis, k: usize, psi: Vec<f64>, weights: Option<Weights> },
}

impl Target {
    fn new(labels: &Labels, k: usize, weights: Option<&Weights>) -> Result<Self> {
        let n = labels.len();
        match labels {
            Labels::Classes { codes, names } => {
                Ok(Self::Classes(Classes::new(codes, names.len(), k, weights)?))
            }
            Labels::Several { .. } => unreachable!("each target comes by itself"),
            Labels::Numbers(_) if k >= n => Err(Error::argument(format!(
                "n_neighbors = {k}, but {n} rows have at most {} neighbours; lower it",
                n - 1
            ))),
            Labels::Numbers(values) => {
                let y = Axis::new(Column::Dense(values), n, &noise(n, 1));
                let y = y.ok_or_else(|| Error::data("`mi` looks at the target, but it is constant"))?;
                Ok(Self::Numbers { y, k, psi: psi(n), weights: weights.cloned() })
            }
        }
    }

    fn estimate(&self, x: &Axis, monitor: &Monitor) -> Result<f64> {
        let estimate = match self {
            Self::Classes(classes) => classes.estimate(x),
            Self::Numbers { y, k, psi, weights } => with_numbers(x, y, *k, psi, weights.as_ref(), monitor)?,
        };
        Ok(estimate.max(0.0))
    }
}

/// A column in its standard deviation's units, equal values separated, with its rows in ascending order.
struct Axis {
    sorted: Vec<f64>,
    /// The row of each sorted value.
    order: Vec<u32>,
    /// The place of each row among them.
    place: Vec<u32>,
}

impl Axis {
    /// None for a constant column.
    fn new(column: Column, n: usize, noise: &[f64]) -> Option<Self> {
        let mut values = vec![0.0; n];
        column.visit(|i, v| values[i] = v);
        let (low, high) = ends(&values);
        if low == high {
            return None;
        }
        let unit = Column::unit(low, high);
        let mean = unit * low + values.iter().map(|v| unit * v - unit * low).sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| (unit * v - mean).powi(2)).sum::<f64>() / n as f64;
        let deviation = variance.sqrt();
        // Values that differ by rounding alone are equal: in a basis' coordinates many are 0 but for it.
        values.iter_mut().for_each(|v| *v = (unit * *v / deviation / STEP).round() * STEP);
        // A sparse column with two zeros need not be sorted to know that it has ties.
        let zeros = n - column.values().len();
        let plain = if zeros < 2 { Some(Self::sort(&values)) } else { None };
        if let Some(axis) = plain
            && axis.sorted.windows(2).all(|w| w[0] < w[1])
        {
            return Some(axis);
        }
        let magnitude = values.iter().map(|v| v.abs()).sum::<f64>() / n as f64;
        let size = NOISE * magnitude.max(1.0);
        values.iter_mut().zip(noise).for_each(|(v, noise)| *v += size * noise);
        Some(Self::sort(&values))
    }

    fn sort(values: &[f64]) -> Self {
        let mut pairs: Vec<(f64, u32)> = values.iter().zip(0..).map(|(&v, i)| (v, i)).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (sorted, order): (Vec<f64>, Vec<u32>) = pairs.into_iter().unzip();
        let mut place = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&row, at)| place[row as usize] = at);
        Self { sorted, order, place }
    }
}

/// ψ(m) + Euler's constant for m = 1..=n, at index m; the constant cancels in both estimates.
fn psi(n: usize) -> Vec<f64> {
    let mut values = vec![0.0; n + 1];
    for m in 2..=n {
        values[m] = values[m - 1] + 1.0 / (m - 1) as f64;
    }
    values
}

/// n numbers from the standard normal distribution, always the same.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut generator = random::generator(seed);
    (0..n).map(|_| StandardNormal.sample(&mut generator)).collect()
}

/// How many of the ascending values are nearer than `radius` to the one at `place`, itself and its equals included.
fn nearer(sorted: &[f64], place: usize, radius: f64) -> usize {
    nearer_places(sorted, place, radius).len()
}

/// The places of those that are nearer than `radius` to the one at `place`, itself and its equals included.
fn nearer_places(sorted: &[f64], place: usize, radius: f64) -> Range<usize> {
    let x = sorted[place];
    let near = |v: &f64| {
        let distance = (v - x).abs();
        distance < radius || distance == 0.0
    };
    let first = sorted[..place].partition_point(|v| !near(v));
    let end = place + sorted[place..].partition_point(near);
    first..end
}

/// The rows of each class that has two or more.
struct Classes {
    codes: Vec<usize>,
    /// Where each class's rows begin when they are put together; none for a class that is left out.
    start: Vec<Option<usize>>,
    /// Number of rows in each class.
    size: Vec<usize>,
    k: usize,
    /// Rows that are not left out.
    n: usize,
    /// ψ(n) + mean ψ(k_i) − mean ψ(n_{c_i}).
    constant: f64,
    psi: Vec<f64>,
    /// What each row counts, 1 on average.
    weights: Option<Vec<f64>>,
}

impl Classes {
    fn new(codes: &[usize], names: usize, k: usize, weights: Option<&Weights>) -> Result<Self> {
        let mut size = vec![0; names];
        codes.iter().for_each(|&g| size[g] += 1);
        let psi = psi(codes.len());
        let (mut n, mut sum) = (0, 0.0);
        let mut start = vec![None; names];
        for g in (0..names).filter(|&g| size[g] > 1) {
            start[g] = Some(n);
            n += size[g];
            sum += size[g] as f64 * (psi[k.min(size[g] - 1)] - psi[size[g]]);
        }
        if n == 0 {
            return Err(Error::data(
                "`mi` looks for neighbours of the same class, but every class has one row",
            ));
        }
        let weights = weights.map(|weights| {
            let mean = weights.total() / weights.len() as f64;
            weights.iter().map(|w| w / mean).collect()
        });
        let constant = psi[n] + sum / n as f64;
        Ok(Self { codes: codes.to_vec(), start, size, k, n, constant, psi, weights })
    }

    fn estimate(&self, x: &Axis) -> f64 {
        if let Some(weights) = &self.weights {
            return self.weighted(x, weights);
        }
        let mut all = Vec::with_capacity(self.n);
        // The values of each class, ascending, and their places among all.
        let (mut own, mut place) = (vec![0.0; self.n], vec![0; self.n]);
        let mut next = self.start.clone();
        for (&v, &row) in x.sorted.iter().zip(&x.order) {
            if let Some(at) = &mut next[self.codes[row as usize]] {
                own[*at] = v;
                place[*at] = all.len();
                all.push(v);
                *at += 1;
            }
        }
        let mut sum = 0.0;
        for (g, start) in self.start.iter().enumerate() {
            let Some(start) = *start else { continue };
            let run = start..start + self.size[g];
            let k = self.k.min(self.size[g] - 1);
            for (radius, &place) in neighbour_distances(&own[run.clone()], k).zip(&place[run]) {
                sum += self.psi[nearer(&all, place, radius)];
            }
        }
        self.constant - sum / self.n as f64
    }
}

impl Classes {
    /// The estimate where rows count differently: every number of rows is the sum of what they count, and every mean is
    /// weighted.
    fn weighted(&self, x: &Axis, weights: &[f64]) -> f64 {
        let kept = |row: &usize| self.start[self.codes[*row]].is_some();
        let rows: Vec<usize> = x.order.iter().map(|&row| row as usize).filter(kept).collect();
        let values: Vec<f64> = rows.iter().map(|&row| x.sorted[x.place[row] as usize]).collect();
        let before = running(rows.iter().map(|&row| weights[row]));
        let all = before[rows.len()];
        let mut sum = 0.0;
        for g in (0..self.size.len()).filter(|&g| self.start[g].is_some()) {
            let places: Vec<usize> = (0..rows.len()).filter(|&at| self.codes[rows[at]] == g).collect();
            let own: Vec<f64> = places.iter().map(|&at| values[at]).collect();
            let own_before = running(places.iter().map(|&at| weights[rows[at]]));
            let size = own_before[own.len()];
            let radii = neighbour_distances(&own, self.k.min(own.len() - 1));
            for (i, radius) in radii.enumerate() {
                let row = weights[rows[places[i]]];
                // The k nearest of the class are those within the radius, less the row itself.
                let near = nearer_places(&own, i, radius * (1.0 + 4.0 * f64::EPSILON));
                let neighbours = own_before[near.end] - own_before[near.start] - row;
                let nearer = nearer_places(&values, places[i], radius);
                let nearer = before[nearer.end] - before[nearer.start];
                sum += row * (digamma(all) + digamma(neighbours) - digamma(size) - digamma(nearer));
            }
        }
        sum / all
    }
}

/// Sums of the numbers before each, and of all.
fn running(values: impl Iterator<Item = f64>) -> Vec<f64> {
    std::iter::once(0.0)
        .chain(values.scan(0.0, |sum, v| {
            *sum += v;
            Some(*sum)
        }))
        .collect()
}

/// ψ(x) for x > 0: by its recurrence up to 6, then its asymptotic series, whose next term is below 1e−9.
fn digamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x.max(f64::MIN_POSITIVE), 0.0);
    while x < 6.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    shift + x.ln() - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
}

/// The distance of each of the ascending values to its k-th nearest other.
fn neighbour_distances(sorted: &[f64], k: usize) -> impl Iterator<Item = f64> {
    // The k nearest and the value itself are k + 1 in a row, and that window never moves back.
    let mut first = 0;
    sorted.iter().enumerate().map(move |(i, x)| {
        while first + k < i || sorted.get(first + k + 1).is_some_and(|after| after - x < x - sorted[first]) {
            first += 1;
        }
        (x - sorted[first]).max(sorted[first + k] - x)
    })
}

/// Kraskov's estimate for two columns of numbers.
fn with_numbers(
    x: &Axis,
    y: &Axis,
    k: usize,
    psi: &[f64],
    weights: Option<&Weights>,
    monitor: &Monitor,
) -> Result<f64> {
    let n = x.sorted.len();
    // The search may go along either axis; how far it has to go is seen from a few rows.
    let mut along_x = Search::new(x, y, k);
    let mut along_y = Search::new(y, x, k);
    for row in (0..n).step_by(n.div_ceil(PROBES)) {
        along_x.radius(x.place[row] as usize);
        along_y.radius(y.place[row] as usize);
    }
    let (mut search, along, across) =
        if along_x.visited < along_y.visited { (along_x, x, y) } else { (along_y, y, x) };
    let mut sum = 0.0;
    for (place, &row) in along.order.iter().enumerate() {
        if place % 128 == 0 {
            monitor.check()?;
        }
        let radius = search.radius(place);
        let counts = weight(weights, row as usize);
        sum += counts * psi[nearer(&along.sorted, place, radius)];
        sum += counts * psi[nearer(&across.sorted, across.place[row as usize] as usize, radius)];
    }
    Ok(psi[n] + psi[k] - sum / total(weights, n))
}

/// Looks for neighbours in two columns, outwards along one of them.
struct Search<'a> {
    along: &'a [f64],
    /// The other column in the same order.
    across: Vec<f64>,
    /// The k smallest distances so far, ascending.
    nearest: Vec<f64>,
    visited: usize,
}

impl<'a> Search<'a> {
    fn new(along: &'a Axis, across: &Axis, k: usize) -> Self {
        let other = |&row: &u32| across.sorted[across.place[row as usize] as usize];
        let across = along.order.iter().map(other).collect();
        Self { along: &along.sorted, across, nearest: vec![f64::INFINITY; k], visited: 0 }
    }

    /// The distance max(|Δx|, |Δy|) of the row at this place to its k-th nearest other.
    fn radius(&mut self, place: usize) -> f64 {
        let (x, y) = (self.along[place], self.across[place]);
        let (mut before, mut after) = (place, place + 1);
        let last = self.nearest.len() - 1;
        self.nearest.fill(f64::INFINITY);
        loop {
            let left = if before > 0 { x - self.along[before - 1] } else { f64::INFINITY };
            let right = self.along.get(after).map_or(f64::INFINITY, |v| v - x);
            // Whatever lies farther along this axis alone is farther; also when k rows at distance 0 were found.
            if left.min(right) >= self.nearest[last] {
                return self.nearest[last];
            }
            let (apart, at) = if left <= right {
                before -= 1;
                (left, before)
            } else {
                after += 1;
                (right, after - 1)
            };
            self.visited += 1;
            let distance = apart.max((self.across[at] - y).abs());
            if distance < self.nearest[last] {
                let mut slot = last;
                while slot > 0 && self.nearest[slot - 1] > distance {
                    self.nearest[slot] = self.nearest[slot - 1];
                    slot -= 1;
                }
                self.nearest[slot] = distance;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::Rows;
    use crate::data::synth;

    fn columns(n: usize) -> Vec<f64> {
        synth::generate(&format!("friedman?n={n}&seed=5")).expect("rows").rows.to_dense()
    }

    fn scores(rows: &Rows, labels: &Labels, n_neighbors: usize) -> Vec<f64> {
        MutualInfo { n_neighbors }
            .score(&Columns::new(rows, labels, &Monitor::default()))
            .expect("scores")
            .scores
    }

    fn kth(mut distances: Vec<f64>, k: usize) -> f64 {
        distances.sort_by(f64::total_cmp);
        distances[k - 1]
    }

    #[test]
    fn neighbour_distances_are_those_of_all_pairs() {
        // Also with ties, in which the window must still hold the value itself.
        let mut values: Vec<f64> = columns(20).iter().map(|v| (v * 40.0).round()).collect();
        values.sort_by(f64::total_cmp);
        for n in [2, 3, 17, 200] {
            for k in [1, 2, 5, 150].into_iter().filter(|&k| k < n) {
                for (i, found) in neighbour_distances(&values[..n], k).enumerate() {
                    let others = (0..n).filter(|&j| j != i).map(|j| (values[i] - values[j]).abs()).collect();
                    assert_eq!(found, kth(others, k), "{n} {k} {i}");
                }
            }
        }
    }

    #[test]
    fn the_search_along_either_axis_finds_the_neighbours_of_all_pairs() {
        let x = columns(80);
        let axis = |j: usize| {
            let values: Vec<f64> = (0..80).map(|i| x[i * 10 + j]).collect();
            Axis::new(Column::Dense(&values), 80, &[0.0; 80]).expect("not constant")
        };
        let (a, b) = (axis(0), axis(1));
        let value = |axis: &Axis, i: usize| axis.sorted[axis.place[i] as usize];
        for k in [1, 4, 79] {
            let (mut along_a, mut along_b) = (Search::new(&a, &b, k), Search::new(&b, &a, k));
            for i in 0..80 {
                let distance =
                    |j: usize| (value(&a, i) - value(&a, j)).abs().max((value(&b, i) - value(&b, j)).abs());
                let expected = kth((0..80).filter(|&j| j != i).map(distance).collect(), k);
                assert_eq!(along_a.radius(a.place[i] as usize), expected);
                assert_eq!(along_b.radius(b.place[i] as usize), expected);
            }
        }
    }

    #[test]
    fn rows_nearer_than_nothing_are_the_equal_ones() {
        assert_eq!(nearer(&[0.0, 1.0, 1.0, 1.0, 2.0], 2, 0.0), 3);
        assert_eq!(nearer(&[0.0, 1.0, 1.0, 1.0, 2.0], 2, 1.0), 3);
        assert_eq!(nearer(&[0.0, 1.0, 1.0, 1.0, 2.0], 2, 1.5), 5);
    }

    #[test]
    fn a_class_of_one_row_is_left_out() {
        let rows = Rows::dense(columns(31), 31, 10).expect("rows");
        let codes: Vec<usize> = (0..31).map(|i| if i == 30 { 2 } else { i % 2 }).collect();
        let labels = Labels::Classes { codes, names: vec!["a".into(), "b".into(), "c".into()] };
        let rest: Vec<usize> = (0..30).collect();
        assert_eq!(scores(&rows, &labels, 3), scores(&rows.select(&rest), &labels.select(&rest), 3));
        let singles = Labels::classes(&(0..15).map(|i| i.to_string()).collect::<Vec<_>>());
        let few = rows.slice(0..15);
        let error = MutualInfo::default().score(&Columns::new(&few, &singles, &Monitor::default()));
        assert!(error.expect_err("refused").to_string().contains("every class has one row"));
    }

    #[test]
    fn zeros_left_out_units_and_constant_columns_make_no_difference() {
        let mut x = columns(50);
        x.iter_mut().enumerate().filter(|(at, _)| at % 10 > 6).for_each(|(at, v)| {
            *v = if at % 10 == 9 { 3.0 } else { (*v * 2.0).floor() };
        });
        let rows = Rows::dense(x.clone(), 50, 10).expect("rows");
        let y: Vec<f64> = (0..50).map(|i| 4.0 * x[i * 10] + x[i * 10 + 1]).collect();
        let classes = Labels::classes(&y.iter().map(|v| v.floor().to_string()).collect::<Vec<_>>());
        for labels in [classes, Labels::Numbers(y)] {
            let found = scores(&rows, &labels, 3);
            assert!(found[0] > 0.1 && found[9] == 0.0);
            assert_eq!(found, scores(&rows.to_sparse(), &labels, 3));
            let scaled = Rows::dense(x.iter().map(|v| v * 2f64.powi(900)).collect::<Vec<_>>(), 50, 10);
            assert_eq!(found, scores(&scaled.expect("rows"), &labels, 3));
        }
    }
}
