//! Sums over the features of rows that lie on a GPU: computed there, and only what they add up to is brought here.
//!
//! cost    (m + c)² flops a row for moments, m² a pair for margins, by matrix products; 2·q·m for signs
//! differs moments are summed about the mean of a few rows, spread over all, in place of every panel's own

use std::sync::Arc;

use faer::{Mat, MatRef};

use super::coordinates::{Comparison, FeatureSums, Source, Targets};
use crate::basis::expansion::Expansion;
use crate::basis::on_gpu::{Applied, upload_matrix};
use crate::cuda::{Buffer, Gpu, View};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::evidence::margins::Pairs;
use crate::evidence::moments::Summary;
use crate::linalg::Deciding;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::real::Precision;

/// Rows about whose mean moments are summed.
const MEAN_ROWS: usize = 1_024;

/// Rows or pairs that are added up at a time.
const PIECE_ROWS: usize = 65_536;

/// Features of rows on a GPU.
pub(super) struct GpuSource<'a> {
    rows: &'a Rows<'a>,
    labels: Option<&'a Labels>,
    expansion: &'a Expansion,
    /// Coordinates of all rows there, where they were kept.
    features: Option<&'a Rows<'a>>,
    /// For what a GPU has no part in.
    here: Source<'a, f64>,
    gpu: Arc<Gpu>,
    monitor: &'a Monitor,
}

impl<'a> GpuSource<'a> {
    pub(super) fn new(
        rows: &'a Rows<'a>,
        labels: Option<&'a Labels>,
        expansion: &'a Expansion,
        features: Option<&'a Rows<'a>>,
        options: &'a Options,
    ) -> Self {
        let Some(view) = rows.gpu_rows() else { unreachable!("the rows are on a GPU") };
        let gpu = Arc::clone(view.gpu());
        let features = features.filter(|features| features.gpu_rows().is_some());
        let here = Source::with(rows, labels, expansion, super::coordinates::Given::Nothing, options);
        Self { rows, labels, expansion, features, here, gpu, monitor: &options.monitor }
    }

    fn n(&self) -> usize {
        self.rows.n()
    }

    fn m(&self) -> usize {
        self.expansion.n_features()
    }

    /// All features there, m×n, where they were kept.
    fn kept(&self) -> Option<View<'_>> {
        self.features.and_then(Rows::gpu_rows).and_then(|view| view.whole())
    }

    /// Rows of a piece so that so many numbers a row take a quarter of what is left at most.
    fn piece(&self, numbers: usize) -> Result<usize> {
        let most = self.gpu.available()? / 4 / (8 * numbers.max(1)) as u64;
        Ok(PIECE_ROWS
            .min(self.n())
            .min(usize::try_from(most).unwrap_or(usize::MAX))
            .max(256.min(self.n()))
            .max(1))
    }

    /// Features of some rows, m×h.
    fn at(&self, rows: &[usize], applied: Option<&Applied>) -> Result<Buffer<f64>> {
        let (m, h) = (self.m(), rows.len());
        let out = self.gpu.room(m * h)?;
        match (self.kept(), applied, self.rows.gpu_rows()) {
            (Some(z), ..) => self.gpu.gather(z, rows, out.matrix(m, h))?,
            (None, Some(applied), Some(view)) => {
                let p = self.rows.p();
                let points = view.select(rows)?;
                for start in (0..h).step_by(applied.piece()) {
                    let count = applied.piece().min(h - start);
                    let points = points.matrix(p, h).columns(start, count);
                    applied.fill_of(points, out.matrix(m, h).columns(start, count))?;
                }
            }
            _ => unreachable!("features are kept or computed"),
        }
        Ok(out)
    }

    /// What computes features, where they were not kept.
    fn applied(&self) -> Result<Option<Applied<'a>>> {
        if self.kept().is_some() { Ok(None) } else { Applied::new(self.expansion, self.rows).map(Some) }
    }

    /// Means and scatters of features and targets of all rows.
    fn summary(&self, targets: Targets) -> Result<Summary> {
        let (n, m, c) = (self.n(), self.m(), targets.count(self.labels));
        let (gpu, all) = (&self.gpu, m + c);
        self.monitor.begin("adding up features", n);
        let applied = self.applied()?;
        // The point that all is summed about.
        let few: Vec<usize> = (0..MEAN_ROWS.min(n)).map(|at| at * n / MEAN_ROWS.min(n)).collect();
        let (z, ones) = (self.at(&few, applied.as_ref())?, gpu.room(few.len().max(PIECE_ROWS))?);
        gpu.fill(&ones, 1.0)?;
        let mean = gpu.room(m)?;
        let part = 1.0 / few.len() as f64;
        let z = z.matrix(m, few.len());
        gpu.multiply(part, z.plain(), ones.matrix(few.len(), 1).plain(), 0.0, mean.matrix(m, 1))?;
        let mut shift = mean.to_vec()?;
        let target = |i: usize, j: usize| targets.value(self.labels, i, j);
        let mut sums = vec![0.0; c];
        match (targets, self.labels) {
            (Targets::Labels, Some(Labels::Classes { codes, .. })) => {
                codes.iter().for_each(|&code| sums[code] += 1.0);
            }
            _ => (0..n).for_each(|i| sums.iter_mut().enumerate().for_each(|(j, sum)| *sum += target(i, j))),
        }
        shift.extend(sums.iter().map(|sum| sum / n as f64));
        let shift_there = gpu.upload(&shift)?;
        let (codes, numbers) = match (targets, self.labels) {
            (Targets::Labels, Some(Labels::Classes { codes, .. })) => {
                let codes: Vec<u32> = codes.iter().map(|&code| code as u32).collect();
                (Some(gpu.upload(&codes)?), None)
            }
            _ if c > 0 => {
                let numbers: Vec<f64> = (0..n).flat_map(|i| (0..c).map(move |j| target(i, j))).collect();
                (None, Some(gpu.upload(&numbers)?))
            }
            _ => (None, None),
        };
        let piece = self.piece(all + if applied.is_some() { m } else { 0 })?;
        let piece = applied.as_ref().map_or(piece, |applied| piece.min(applied.piece()));
        let (w, room) = (gpu.room(all * piece)?, if applied.is_some() { m * piece } else { 0 });
        let z = gpu.room(room)?;
        let (scatter, sum) = (gpu.zeros(all * all)?, gpu.zeros(all)?);
        for start in (0..n).step_by(piece) {
            self.monitor.check()?;
            let count = piece.min(n - start);
            let z = match (self.kept(), &applied) {
                (Some(kept), _) => kept.columns(start, count),
                (None, Some(applied)) => {
                    applied.fill(start, count, z.matrix(m, count))?;
                    z.matrix(m, count)
                }
                (None, None) => unreachable!("features are kept or computed"),
            };
            gpu.with_targets(z, &shift_there, start, (codes.as_ref(), numbers.as_ref()), c, &w)?;
            let w = w.matrix(all, count);
            gpu.self_multiply(w, 1.0, scatter.matrix(all, all))?;
            gpu.multiply(1.0, w.plain(), ones.matrix(count, 1).plain(), 1.0, sum.matrix(all, 1))?;
            self.monitor.advance(count);
        }
        let mean: Vec<f64> = sum.to_vec()?.into_iter().map(|s| s / n as f64).collect();
        gpu.mirror(scatter.matrix(all, all))?;
        // Σ (w − shift)(w − shift)ᵀ less n·δδᵀ is that about the mean.
        let off = gpu.upload(&mean)?;
        let off = off.matrix(all, 1);
        gpu.multiply(-(n as f64), off.plain(), off.transposed(), 1.0, scatter.matrix(all, all))?;
        let mean: Vec<f64> = shift.iter().zip(&mean).map(|(shift, off)| shift + off).collect();
        let part = |down: (usize, usize), across: (usize, usize)| {
            let packed = gpu.room(down.1 * across.1)?;
            let own = scatter.matrix(all, all).rows(down.0, down.1).columns(across.0, across.1);
            gpu.copy(own, packed.matrix(down.1, across.1), 1.0)?;
            packed.read_matrix(down.1, across.1)
        };
        Summary {
            n: n as f64,
            target_mean: mean[m..].to_vec(),
            mean: mean[..m].to_vec(),
            total: part((0, m), (0, m))?,
            cross: part((0, m), (m, c))?,
            target_total: part((m, c), (m, c))?,
        }
        .checked()
    }

    /// Values that decide on signs, of features that `fill` computes piece by piece.
    fn deciding(
        &self,
        q: usize,
        piece: usize,
        fill: impl Fn(usize, usize, View) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let n = self.n();
        self.monitor.begin("choosing signs", n);
        let mut found = vec![Deciding::new(Precision::Double); q];
        let equal = Deciding::new(Precision::Double).parts().0;
        let out = self.gpu.room(q * piece)?;
        for start in (0..n).step_by(piece) {
            self.monitor.check()?;
            let count = piece.min(n - start);
            fill(start, count, out.matrix(q, count))?;
            let (first, most) = self.gpu.deciding(out.matrix(q, count), equal)?;
            for (found, (first, most)) in found.iter_mut().zip(first.into_iter().zip(most)) {
                found.see(first);
                found.see(most);
            }
            self.monitor.advance(count);
        }
        Ok(found.iter().map(Deciding::sign).collect())
    }
}

impl FeatureSums for GpuSource<'_> {
    fn precision(&self) -> Precision {
        Precision::Double
    }

    fn moments(&self, targets: Targets) -> Result<Summary> {
        self.summary(targets)
    }

    fn margin(&self, comparison: &Comparison) -> Result<(Mat<f64>, Option<String>)> {
        let (found, note) = comparison.found(self.rows, self.labels, self.monitor)?;
        Ok((comparison.sum(self, &found.hits, &found.misses)?, note))
    }

    fn some(&self, rows: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        self.here.some(rows)
    }

    fn class_means(&self) -> Result<Rows<'static>> {
        self.rows.fetch()?;
        self.here.class_means()
    }

    fn scatter(&self, lists: &[Pairs]) -> Result<Mat<f64>> {
        let (m, gpu) = (self.m(), &self.gpu);
        let applied = self.applied()?;
        // √|ω|, by sign: a product of a matrix with itself is never negative.
        let mut pairs: [Vec<(u32, u32, f64)>; 2] = [Vec::new(), Vec::new()];
        for (near, weight) in lists {
            for (i, near) in near.iter().enumerate().filter(|(_, near)| !near.is_empty()) {
                let weight = weight(i);
                let list = &mut pairs[usize::from(weight < 0.0)];
                list.extend(near.iter().map(|&j| (i as u32, j as u32, weight.abs().sqrt())));
            }
        }
        let piece = self.piece(3 * m)?;
        let all: usize = pairs.iter().map(Vec::len).sum();
        self.monitor.begin("adding up differences", all);
        let mut sums = Vec::new();
        for list in &pairs {
            let sum = gpu.zeros(m * m)?;
            for part in list.chunks(piece) {
                self.monitor.check()?;
                let side = |of: fn(&(u32, u32, f64)) -> u32| -> Result<Buffer<f64>> {
                    let rows: Vec<usize> = part.iter().map(|pair| of(pair) as usize).collect();
                    self.at(&rows, applied.as_ref())
                };
                let (left, right) = (side(|pair| pair.0)?, side(|pair| pair.1)?);
                let weights: Vec<f64> = part.iter().map(|pair| pair.2).collect();
                let (left, right) = (left.matrix(m, part.len()), right.matrix(m, part.len()));
                gpu.apart(left, right, &weights)?;
                gpu.self_multiply(left, 1.0, sum.matrix(m, m))?;
                self.monitor.advance(part.len());
            }
            gpu.mirror(sum.matrix(m, m))?;
            sums.push(sum.read_matrix(m, m)?);
        }
        Ok(&sums[0] - &sums[1])
    }

    fn differences(&self, pairs: &[(usize, usize)]) -> Result<Mat<f64>> {
        let (m, applied) = (self.m(), self.applied()?);
        let side = |of: fn(&(usize, usize)) -> usize| -> Result<Vec<f64>> {
            self.at(&pairs.iter().map(of).collect::<Vec<_>>(), applied.as_ref())?.to_vec()
        };
        let (ours, theirs) = (side(|pair| pair.0)?, side(|pair| pair.1)?);
        Ok(Mat::from_fn(m, pairs.len(), |j, at| ours[at * m + j] - theirs[at * m + j]))
    }

    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
        let (q, m) = matrix.shape();
        let Some(kept) = self.kept() else {
            let map = self.expansion.composed(matrix, offset, &[]);
            let applied = Applied::new(&map, self.rows)?;
            return self.deciding(q, applied.piece(), |start, count, out| applied.fill(start, count, out));
        };
        let matrix = upload_matrix(&self.gpu, matrix)?;
        let offset = if offset.is_empty() { None } else { Some(self.gpu.upload(offset)?) };
        self.deciding(q, self.piece(q)?, |start, count, out| {
            let z = kept.columns(start, count);
            self.gpu.multiply(1.0, matrix.matrix(q, m).plain(), z.plain(), 0.0, out)?;
            offset.as_ref().map_or(Ok(()), |offset| self.gpu.subtract(out, offset))
        })
    }
}
