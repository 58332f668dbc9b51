//! k-means: centres that are the means of the rows nearest to them.
//!
//!   min Σ_i min_c ‖x_i − c‖²
//!
//! cost    2·n·k·p flops by matrix products for the first centres, and as many for each of at most 10 rounds
//! stops   when no row changes its cluster, when a round lowers the sum by less than a thousandth, or after 10 rounds
//! source  Lloyd 1982; first centres: Arthur & Vassilvitskii 2007 (k-means++)
//! differs first centres are proposed in blocks in proportion to the squared distances of the last pass, and a proposal is
//!         accepted with probability (its squared distance now) / (then), which gives the law of one at a time. Rows are
//!         shifted by their mean and scaled to at most 1, so that squares neither cancel nor overflow. A cluster that
//!         loses all its rows takes the row farthest from its centre; where fewer than k rows are distinct, there are fewer
//!         clusters. Every centre is the mean of its rows, added in their order

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::monitor::Monitor;
use crate::random;

/// Rounds of assigning rows and averaging them.
const ROUNDS: usize = 10;

/// A round that lowers the sum of squared distances by less than this share is the last.
const ENOUGH: f64 = 1e-3;

/// First centres that are proposed between two passes over the rows.
const PROPOSALS: usize = 64;

/// Squared distances up to this, relative to both squared norms, are rounding: the rows are equal.
const EQUAL: f64 = 1e-12;

/// Rows in clusters.
pub(crate) struct Clusters {
    /// The mean of each cluster's rows, one after the other: k·p numbers.
    pub(crate) centres: Vec<f64>,
    /// The cluster of each row; every cluster has rows.
    pub(crate) labels: Vec<usize>,
}

impl Clusters {
    /// At most `count` clusters of the rows: fewer where fewer rows are distinct.
    pub(crate) fn of(rows: &Rows, count: usize, seed: u64, monitor: &Monitor) -> Result<Self> {
        monitor.begin("clustering rows", ROUNDS + 1);
        let points = Points::new(rows)?;
        let chosen = points.first_centres(count, &mut random::generator(seed), monitor)?;
        let mut found = Self { centres: rows.select(&chosen).to_dense(), labels: Vec::new() };
        let mut sum = f64::INFINITY;
        for _ in 0..ROUNDS {
            monitor.advance(1);
            let (labels, mut distances) = points.nearest(&found.centres, monitor)?;
            let (last, now) = (sum, distances.iter().sum::<f64>());
            if labels == found.labels {
                break;
            }
            (found.labels, sum) = (labels, now);
            let clusters = found.centres.len() / rows.p();
            found.fill_empty(clusters, &mut distances);
            found.centres = points.means(&found.labels, clusters);
            if now > last * (1.0 - ENOUGH) {
                break;
            }
        }
        Ok(found)
    }

    /// Number of rows in each cluster.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.labels.iter().max().map_or(0, |most| most + 1)];
        self.labels.iter().for_each(|&label| sizes[label] += 1);
        sizes
    }

    /// Gives every empty cluster the row farthest from its centre; clusters for which there is none are removed.
    fn fill_empty(&mut self, clusters: usize, distances: &mut [f64]) {
        let mut sizes = self.sizes();
        sizes.resize(clusters, 0);
        for empty in (0..clusters).rev() {
            if sizes[empty] > 0 {
                continue;
            }
            let may_go = |&row: &usize| distances[row] > 0.0 && sizes[self.labels[row]] > 1;
            let farther = |a: usize, b: usize| if distances[b] > distances[a] { b } else { a };
            if let Some(row) = (0..distances.len()).filter(may_go).reduce(farther) {
                sizes[self.labels[row]] -= 1;
                (self.labels[row], distances[row], sizes[empty]) = (empty, 0.0, 1);
            } else {
                self.labels.iter_mut().for_each(|label| *label -= usize::from(*label > empty));
                sizes.remove(empty);
            }
        }
    }
}

/// Rows, shifted and scaled.
struct Points<'a> {
    rows: &'a Rows<'a>,
    mean: Vec<f64>,
    scale: f64,
    /// Squared norm of each, shifted and scaled.
    squares: Vec<f64>,
}

impl<'a> Points<'a> {
    fn new(rows: &'a Rows<'a>) -> Result<Self> {
        let (n, p) = (rows.n(), rows.p());
        let mut mean = vec![0.0; p];
        (0..n).for_each(|i| add_row(rows, i, 1.0 / n as f64, &mut mean));
        let mut points = Self { rows, mean, scale: 1.0, squares: Vec::new() };
        let panels = || (0..n.div_ceil(PANEL)).into_par_iter().map(|at| at * PANEL..n.min((at + 1) * PANEL));
        let most = |range: Range<usize>| points.panel(range).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let most = panels().map(most).reduce(|| 0.0, f64::max);
        if !most.is_finite() {
            return Err(Error::Numerical(
                "the rows are so far apart that their differences are no finite numbers\nhint: scale the columns".into(),
            ));
        }
        if most > 0.0 {
            // The largest is 1, unless it is so small that its inverse is no number.
            points.scale = most.recip().min(f64::MAX);
        }
        let squares = |range| points.panel(range).chunks_exact(p).map(squared).collect::<Vec<_>>();
        points.squares = panels().flat_map_iter(squares).collect();
        Ok(points)
    }

    /// Shifted and scaled rows, row-major.
    fn panel(&self, range: Range<usize>) -> Vec<f64> {
        self.moved(self.rows.slice_f64(range).to_dense())
    }

    fn moved(&self, mut values: Vec<f64>) -> Vec<f64> {
        for row in values.chunks_exact_mut(self.mean.len()) {
            row.iter_mut().zip(&self.mean).for_each(|(v, mean)| *v = (*v - mean) * self.scale);
        }
        values
    }

    /// Rows to begin with as centres.
    fn first_centres(
        &self,
        count: usize,
        generator: &mut ChaCha8Rng,
        monitor: &Monitor,
    ) -> Result<Vec<usize>> {
        let n = self.rows.n();
        let mut nearest = vec![f64::INFINITY; n];
        let mut chosen = vec![((random::uniform(generator) * n as f64) as usize).min(n - 1)];
        let mut new = chosen.clone();
        loop {
            let centres = self.moved(self.rows.select(&new).to_dense());
            let see = |near: &mut f64, distances: &[f64]| {
                *near = distances.iter().copied().fold(*near, f64::min);
            };
            self.each_distance(&centres, &mut nearest, monitor, see)?;
            let mut sum = 0.0;
            let add = |d: &f64| {
                sum += d;
                sum
            };
            let cumulated: Vec<f64> = nearest.iter().map(add).collect();
            if chosen.len() >= count || sum <= 0.0 {
                return Ok(chosen);
            }
            let propose = |_| {
                let target = random::uniform(generator) * sum;
                cumulated.partition_point(|&c| c <= target).min(n - 1)
            };
            let proposals: Vec<usize> = (0..PROPOSALS).map(propose).collect();
            new.clear();
            let mut rows: Vec<Vec<f64>> = Vec::new();
            for row in proposals {
                if chosen.len() == count {
                    break;
                }
                let own = self.panel(row..row + 1);
                let to = |other: &Vec<f64>| own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
                let now = rows.iter().map(to).fold(nearest[row], f64::min);
                if random::uniform(generator) * nearest[row] < now {
                    rows.push(own);
                    new.push(row);
                    chosen.push(row);
                }
            }
        }
    }

    /// The nearest centre of each row, the first of those that are equally near, and the squared distance from it.
    fn nearest(&self, centres: &[f64], monitor: &Monitor) -> Result<(Vec<usize>, Vec<f64>)> {
        let centres = self.moved(centres.to_vec());
        let mut nearest = vec![(0, f64::INFINITY); self.rows.n()];
        self.each_distance(&centres, &mut nearest, monitor, |near, distances| {
            for (at, &distance) in distances.iter().enumerate() {
                if distance < near.1 {
                    *near = (at, distance);
                }
            }
        })?;
        Ok(nearest.into_iter().unzip())
    }

    /// Calls `see` with what is kept of each row and its squared distances from the centres, which are shifted and scaled.
    fn each_distance<T: Send>(
        &self,
        centres: &[f64],
        kept: &mut [T],
        monitor: &Monitor,
        see: impl Fn(&mut T, &[f64]) + Sync,
    ) -> Result<()> {
        let p = self.mean.len();
        let own: Vec<f64> = centres.chunks_exact(p).map(squared).collect();
        let k = own.len();
        let centres = MatRef::from_row_major_slice(centres, k, p);
        kept.par_chunks_mut(PANEL).enumerate().try_for_each(|(at, kept)| {
            monitor.check()?;
            let range = at * PANEL..at * PANEL + kept.len();
            let rows = self.panel(range.clone());
            let mut distances = vec![0.0; kept.len() * k];
            matmul(
                MatMut::from_row_major_slice_mut(&mut distances, kept.len(), k),
                Accum::Replace,
                MatRef::from_row_major_slice(&rows, kept.len(), p),
                centres.transpose(),
                -2.0,
                Par::Seq,
            );
            let rows = distances.chunks_exact_mut(k).zip(&self.squares[range]).zip(kept);
            for ((distances, square), kept) in rows {
                for (d, own) in distances.iter_mut().zip(&own) {
                    let both = square + own;
                    *d += both;
                    if *d <= EQUAL * both {
                        *d = 0.0;
                    }
                }
                see(kept, distances);
            }
            Ok(())
        })
    }

    /// The mean of each cluster's rows, which are added in their order.
    fn means(&self, labels: &[usize], clusters: usize) -> Vec<f64> {
        let p = self.mean.len();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); clusters];
        labels.iter().enumerate().for_each(|(row, &label)| members[label].push(row));
        members.retain(|rows| !rows.is_empty());
        let mut means = vec![0.0; members.len() * p];
        means.par_chunks_mut(p).zip(&members).for_each(|(mean, rows)| {
            rows.iter().for_each(|&row| add_row(self.rows, row, 1.0 / rows.len() as f64, mean));
        });
        means
    }
}

fn squared(row: &[f64]) -> f64 {
    row.iter().map(|v| v * v).sum()
}

/// Adds a multiple of a row.
fn add_row(rows: &Rows, i: usize, factor: f64, sum: &mut [f64]) {
    match rows {
        Rows::Dense(d) => sum.iter_mut().zip(d.row(i)).for_each(|(s, v)| *s += factor * v),
        Rows::DenseF32(d) => sum.iter_mut().zip(d.row(i)).for_each(|(s, v)| *s += factor * f64::from(*v)),
        Rows::Sparse(s) => {
            let (columns, values) = s.row(i);
            columns.iter().zip(values).for_each(|(&j, v)| sum[j as usize] += factor * v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &Rows, count: usize, seed: u64) -> Clusters {
        Clusters::of(rows, count, seed, &Monitor::default()).expect("clusters")
    }

    /// n rows of p numbers between 0 and 1, in `groups` far-apart groups.
    fn grouped(n: usize, p: usize, groups: usize) -> Vec<f64> {
        let mut generator = random::generator(5);
        (0..n * p).map(|at| random::uniform(&mut generator) + 100.0 * ((at / p) % groups) as f64).collect()
    }

    /// Lloyd's rounds as they are written, from the same first centres.
    fn slow(values: &[f64], p: usize, mut centres: Vec<f64>) -> (Vec<f64>, Vec<usize>) {
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let (mut labels, mut last) = (Vec::new(), f64::INFINITY);
        for _ in 0..ROUNDS {
            let mut sum = 0.0;
            let mut now = Vec::new();
            for row in values.chunks(p) {
                let all: Vec<f64> = centres.chunks(p).map(|c| distance(row, c)).collect();
                let best =
                    (0..all.len()).reduce(|a, b| if all[b] < all[a] { b } else { a }).expect("centres");
                sum += all[best];
                now.push(best);
            }
            if now == labels {
                break;
            }
            labels = now;
            for (c, centre) in centres.chunks_mut(p).enumerate() {
                let own: Vec<&[f64]> =
                    values.chunks(p).zip(&labels).filter(|(_, l)| **l == c).map(|(row, _)| row).collect();
                assert!(!own.is_empty(), "the example has no empty cluster");
                for (j, v) in centre.iter_mut().enumerate() {
                    *v = own.iter().map(|row| row[j]).sum::<f64>() / own.len() as f64;
                }
            }
            if sum > last * (1.0 - ENOUGH) {
                break;
            }
            last = sum;
        }
        (centres, labels)
    }

    #[test]
    fn rounds_are_those_of_lloyd() {
        for (n, p, groups, k) in [(700, 3, 4, 4), (400, 2, 1, 9), (300, 1, 3, 6), (90, 40, 2, 5)] {
            let values = grouped(n, p, groups);
            let rows = Rows::dense(values.clone(), n, p).expect("rows");
            let first = Points::new(&rows).expect("points").first_centres(
                k,
                &mut random::generator(1),
                &Monitor::default(),
            );
            let first = rows.select(&first.expect("rows")).to_dense();
            let (centres, labels) = slow(&values, p, first);
            for rows in [rows.clone(), rows.to_sparse()] {
                let found = of(&rows, k, 1);
                assert_eq!(found.labels, labels);
                assert!(found.centres.iter().zip(&centres).all(|(a, b)| (a - b).abs() < 1e-10));
            }
        }
    }

    #[test]
    fn far_groups_are_found_at_any_scale_and_offset() {
        let plain = grouped(300, 2, 6);
        for (scale, offset) in [(1.0, 0.0), (1e-200, 0.0), (1e200, 0.0), (1.0, 1e9)] {
            let values: Vec<f64> = plain.iter().map(|v| v * scale + offset).collect();
            let found = of(&Rows::dense(values, 300, 2).expect("rows"), 6, 0);
            assert_eq!(found.sizes(), [50; 6], "{scale} {offset}");
        }
    }

    #[test]
    fn there_are_no_more_clusters_than_distinct_rows() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 5) + 0.1).collect();
        for count in [1, 3, 5, 7, 400] {
            let found = of(&Rows::dense(values.clone(), 400, 1).expect("rows"), count, 2);
            assert_eq!(found.centres.len(), count.min(5));
            assert!(found.sizes().iter().all(|&size| size > 0));
        }
        let equal = of(&Rows::dense(vec![3.0; 20], 10, 2).expect("rows"), 4, 0);
        assert_eq!((equal.sizes(), equal.centres.len()), (vec![10], 2));
        assert!(equal.centres.iter().all(|v| (v - 3.0).abs() < 1e-15));
    }

    #[test]
    fn an_empty_cluster_takes_the_farthest_row_or_is_removed() {
        let mut clusters = Clusters { centres: Vec::new(), labels: vec![0, 0, 0, 3] };
        clusters.fill_empty(4, &mut [0.5, 2.0, 1.0, 9.0]);
        assert_eq!(clusters.labels, [0, 2, 1, 3]);
        let mut clusters = Clusters { centres: Vec::new(), labels: vec![0, 0, 2] };
        clusters.fill_empty(3, &mut [0.0, 0.0, 0.0]);
        assert_eq!(clusters.labels, [0, 0, 1]);
    }

    #[test]
    fn first_centres_are_drawn_in_proportion_to_squared_distances() {
        // From 0 the others are drawn as 1 : 9 : 90 of their squared distances.
        let rows = Rows::dense(vec![0.0, 1.0, 3.0, 90f64.sqrt()], 4, 1).expect("rows");
        let points = Points::new(&rows).expect("points");
        let (mut from_zero, mut second) = (0.0f64, [0.0f64; 4]);
        for seed in 0..6_000 {
            let chosen =
                points.first_centres(2, &mut random::generator(seed), &Monitor::default()).expect("rows");
            if chosen[0] == 0 {
                from_zero += 1.0;
                second[chosen[1]] += 1.0;
            }
        }
        for (row, share) in [(1, 0.01), (2, 0.09), (3, 0.9)] {
            assert!((second[row] / from_zero - share).abs() < 0.03, "{second:?} of {from_zero}");
        }
    }
}
