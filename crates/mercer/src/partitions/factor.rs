//! The rows' side of a growing factor where the rows lie in partitions.
//!
//! Pivots wait until something is asked about what is left of the rows; then they go out with the question, so that every pass
//! over the rows is one question. Of `nystrom`, whose landmarks are known beforehand, there is one pass in all.
//!
//! cost    of the coordinator: |candidates|·j kernel values a pass for their rows of G, which are recomputed here
//! differs each partition offers its share of the farthest rows, the first of those tied with its own largest, and the largest
//!         residual that it does not offer. Rows that are tied with the largest of all and were not offered are asked for
//!         before the first of them is taken, so that pivots are those of an ordinary fit, ties included

use std::collections::BTreeSet;

use faer::{Mat, MatRef};

use super::answer::{Reply, Taken};
use super::parted::{Parted, joined, unexpected};
use super::question::{Ask, FactorAsk, FactorQuestion, NewBlock};
use super::wire::Matrix;
use crate::basis::factor_rows::{FactorRows, Farthest, InOrder, NewPivots, Selected};
use crate::basis::pivoted::{NOT_PSD, PENDING, not_psd, triangular};
use crate::basis::sparse::Novelty;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::extract::at_once;
use crate::kernel::block::Panel;
use crate::kernel::gram::{all_zero, column_of};
use crate::kernel::{Kernel, gram};
use crate::linalg::product;
use crate::monitor::Monitor;

/// Partitions offer this many times their share of the rows asked for: the farthest rows are not spread evenly.
const MORE: usize = 2;

/// Pivots of `kobl` that wait for one pass: every pass is a task for each partition.
const WAITING: usize = 3 * PENDING;

/// What is left of rows in partitions.
pub(super) struct PartedFactor<'p, 'e> {
    parted: &'p Parted<'e>,
    kernel: Kernel,
    /// Whether partitions keep columns of G.
    keep: bool,
    largest: f64,
    trace: f64,
    /// The pivots that partitions know of.
    pivots: Vec<Rows<'static>>,
    /// Pivots that wait for the next question.
    new: Vec<NewBlock>,
}

impl<'p, 'e> PartedFactor<'p, 'e> {
    /// No pivots yet. `keep`: whether partitions keep the columns of G.
    pub(super) fn begin(parted: &'p Parted<'e>, kernel: Kernel, keep: bool) -> Result<Self> {
        let (mut largest, mut trace) = (0.0f64, 0.0);
        let mut low: Option<(usize, f64)> = None;
        for reply in parted.ask(Ask::Begin { kernel, keep })? {
            let Reply::Begun { largest: own, trace: sum, lowest } = reply else { return Err(unexpected()) };
            largest = largest.max(own);
            trace += sum;
            low = match (low, lowest) {
                (Some(a), Some(b)) => Some(if b.1 < a.1 { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        if let Some((row, value)) = low.filter(|(_, value)| *value < -NOT_PSD * largest) {
            return Err(not_psd(kernel, row, value));
        }
        if largest == 0.0 {
            return Err(all_zero());
        }
        Ok(Self { parted, kernel, keep, largest, trace, pivots: Vec::new(), new: Vec::new() })
    }

    /// The pivots so far, those that wait among them.
    pub(super) fn all_pivots(&self) -> Result<Rows<'static>> {
        let waiting = self.new.iter().map(|block| &block.pivots.rows);
        let all: Vec<&Rows> = self.pivots.iter().chain(waiting).collect();
        if all.is_empty() { self.nothing() } else { Rows::concatenated(&all) }
    }

    /// The question about what is left once the pivots that wait are taken out.
    fn question(&mut self, ask: FactorAsk) -> Result<Ask> {
        let new = std::mem::take(&mut self.new);
        self.pivots.extend(new.iter().map(|block| block.pivots.rows.clone()));
        let looked_at = !new.is_empty() || matches!(ask, FactorAsk::Products { .. });
        let pivots = if looked_at && !self.keep { self.all_pivots()? } else { self.nothing()? };
        Ok(Ask::Factor(FactorQuestion { kernel: self.kernel, largest: self.largest, new, pivots, ask }))
    }

    /// No rows.
    fn nothing(&self) -> Result<Rows<'static>> {
        Rows::dense(Vec::new(), 0, self.parted.p())
    }

    fn ask(&mut self, ask: FactorAsk) -> Result<Vec<Reply>> {
        let question = self.question(ask)?;
        self.parted.ask(question)
    }

    fn offers(&mut self, ask: FactorAsk) -> Result<(Vec<Taken>, Vec<f64>)> {
        let mut found = (Vec::new(), Vec::new());
        for reply in self.ask(ask)? {
            let Reply::Offered { rows, beaten } = reply else { return Err(unexpected()) };
            found.0.push(rows);
            found.1.push(beaten);
        }
        Ok(found)
    }

    fn sums(&mut self, ask: FactorAsk) -> Result<Vec<f64>> {
        let sum = |reply| if let Reply::Sum(sum) = reply { Ok(sum) } else { Err(unexpected()) };
        self.ask(ask)?.into_iter().map(sum).collect()
    }
}

impl FactorRows for PartedFactor<'_, '_> {
    fn n(&self) -> usize {
        self.parted.n()
    }

    fn largest(&self) -> f64 {
        self.largest
    }

    fn trace(&self) -> f64 {
        self.trace
    }

    fn rounding(&self) -> f64 {
        f64::EPSILON
    }

    fn panel_rounding(&self) -> f64 {
        f64::EPSILON
    }

    fn is_f32(&self) -> bool {
        false
    }

    fn pending(&self) -> usize {
        WAITING
    }

    fn select(&mut self, rows: &[usize]) -> Result<Selected> {
        let (rows, _) = self.parted.take(rows)?;
        Ok(Selected { diagonal: gram::diagonal(self.kernel, &rows), rows, residual: None })
    }

    fn kept_factor_rows(&self, _: &[usize], _: usize) -> Option<Mat<f64>> {
        None
    }

    fn against_pivots(&self, _: &[usize], selected: &Rows, out: &mut [f64]) {
        match self.all_pivots() {
            Ok(pivots) => Panel::new(self.kernel, &pivots).fill_all(selected, out),
            Err(e) => unreachable!("{e}"),
        }
    }

    fn column(&self, _: &[usize], selected: &Rows, position: usize, out: &mut [f64]) {
        column_of(self.kernel, selected, selected, position, out);
    }

    fn farthest(&mut self, count: usize, tie: f64, floor: f64) -> Result<Farthest> {
        let parts = self.parted.n_full();
        let share = if parts > 1 { (MORE * count).div_ceil(parts) } else { count };
        let (mut offered, beaten) = self.offers(FactorAsk::Farthest { count: share, tie, floor })?;
        let largest = offered.iter().flat_map(|taken| &taken.residual).copied().fold(0.0, f64::max);
        let mut outside = beaten.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if outside >= largest - tie {
            // A row that is tied with the largest of all may come before those that were offered.
            let (firsts, _) = self.offers(FactorAsk::FirstAbove { least: largest - tie })?;
            for (offered, first) in offered.iter_mut().zip(firsts) {
                if first.places.first().is_some_and(|place| !offered.places.contains(place)) {
                    offered.places.extend(&first.places);
                    offered.rows = Rows::concatenated(&[&offered.rows, &first.rows])?;
                    offered.diagonal.extend(first.diagonal);
                    offered.residual.extend(first.residual);
                }
            }
            outside = outside.max(largest - tie);
        }
        offered.retain(|taken| !taken.places.is_empty());
        let diagonal = offered.iter().flat_map(|taken| taken.diagonal.iter().copied()).collect();
        let residual = offered.iter().flat_map(|taken| taken.residual.iter().copied()).collect();
        if offered.is_empty() {
            let selected =
                Selected { rows: self.nothing()?, diagonal: Vec::new(), residual: Some(Vec::new()) };
            return Ok(Farthest { rows: Vec::new(), selected, beaten: f64::NEG_INFINITY });
        }
        let (places, rows, _) = joined(offered)?;
        let selected = Selected { rows, diagonal, residual: Some(residual) };
        Ok(Farthest { rows: places, selected, beaten: outside })
    }

    fn draw(&mut self, uniform: &[f64], floor: f64, retired: &BTreeSet<usize>) -> Result<Vec<usize>> {
        let retired: Vec<usize> = retired.iter().copied().collect();
        let sums = self.sums(FactorAsk::OpenSum { floor, retired: retired.clone() })?;
        let mut all = 0.0;
        let mut before = Vec::with_capacity(sums.len());
        for sum in &sums {
            before.push(all);
            all += sum;
        }
        if all <= 0.0 {
            return Ok(Vec::new());
        }
        let last = sums.iter().rposition(|sum| *sum > 0.0).unwrap_or(0);
        let part = |u: &f64| (before.partition_point(|b| *b <= u * all).max(1) - 1).min(last);
        // A partition without open rows has the sum of the one before it, which holds the row.
        let part = |u: &f64| (0..=part(u)).rev().find(|&at| sums[at] > 0.0).unwrap_or(last);
        let mut targets = vec![Vec::new(); sums.len()];
        let places: Vec<(usize, usize)> = uniform
            .iter()
            .map(|u| {
                let at = part(u);
                targets[at].push(u * all - before[at]);
                (at, targets[at].len() - 1)
            })
            .collect();
        let mut drawn = Vec::new();
        for reply in self.ask(FactorAsk::RowsAt { targets, floor, retired })? {
            let Reply::Drawn(rows) = reply else { return Err(unexpected()) };
            drawn.push(rows);
        }
        Ok(places.into_iter().map(|(part, at)| drawn[part][at]).collect())
    }

    fn in_order(
        &mut self,
        seed: u64,
        start: usize,
        count: usize,
        novelty: Novelty,
        floor: f64,
    ) -> Result<InOrder> {
        let n = self.n();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for reply in self.ask(FactorAsk::InOrder { n, seed, start, count, novelty, floor })? {
            let Reply::Ordered { rows, ranks } = reply else { return Err(unexpected()) };
            found.extend(ranks.into_iter().zip(rows));
        }
        found.sort_unstable();
        found.truncate(count);
        let end = found.last().filter(|_| found.len() == count).map_or(n, |(rank, _)| rank + 1);
        let (ranks, rows) = found.into_iter().unzip();
        Ok(InOrder { rows, ranks, end })
    }

    fn advance(&mut self, new: &NewPivots, _: &[usize], coefficients: &[Vec<f64>]) -> Result<()> {
        let part = if self.keep {
            Mat::new()
        } else {
            product(triangular(coefficients).transpose(), new.earlier.transpose())
        };
        self.new.push(NewBlock { pivots: new.clone(), part: Matrix(part) });
        Ok(())
    }

    fn products(
        &mut self,
        _: &[usize],
        selected: &Rows,
        g: MatRef<'_, f64>,
        _: &[usize],
        coefficients: &[Vec<f64>],
    ) -> Result<Mat<f64>> {
        let part =
            if self.keep { Mat::new() } else { product(triangular(coefficients).transpose(), g.transpose()) };
        let selected = selected.select(&(0..selected.n()).collect::<Vec<_>>());
        let question =
            self.question(FactorAsk::Products { selected, g: Matrix(g.to_owned()), part: Matrix(part) })?;
        match self.parted.ask_merged(question)? {
            Reply::Matrix(matrix) => Ok(matrix.0),
            _ => Err(unexpected()),
        }
    }

    fn residual_sum(&mut self) -> Result<f64> {
        Ok(self.sums(FactorAsk::Sum)?.iter().sum())
    }

    fn residuals(&self) -> (&[f64], u64) {
        (&[], 0)
    }

    fn whole(&self, _: &Monitor) -> Result<Vec<f64>> {
        Err(at_once("kfa with candidates = all"))
    }

    fn correct(&mut self, _: &[usize], _: &[f64]) {}
}
