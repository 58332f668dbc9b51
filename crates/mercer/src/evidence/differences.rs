//! Differences: how far two rows are apart in each column, and what that adds up to.
//!
//!   d_j(a, b) = |a_j − b_j|, divided by the column's range if wanted; categories: 0 if equal, else 1
//!   distance  = Σ d_j (manhattan) or Σ d_j² (euclidean, squared: the order is the same)
//!
//! differs a value may be missing (NaN): the pair is skipped in that column, and the distance is the sum over the
//!         columns that both rows have × p/(their number), so that a row with gaps is not near to everything; where
//!         they share none it is infinite. The alternative, an expectation over the class, needs a density a column
//!         and would let the class decide who is near.

use std::borrow::Cow;

use rayon::prelude::*;

use super::neighbours::Metric;
use super::ranges::Ranges;
use crate::data::rows::{Dense, F64Rows, Rows};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::options::{DEFAULT_MEMORY, bytes};
use crate::real::Real;

/// Beyond these magnitudes squares overflow or vanish.
const SQUARABLE: std::ops::Range<f64> = 1e-100..1e100;

/// Rows and the way in which their columns differ.
#[derive(Clone, Debug)]
pub struct Differences<'a> {
    /// The rows as they came; dense if there are gaps or categories.
    rows: Cow<'a, Rows<'a>>,
    /// These rows, shifted and divided by the range, or multiplied by a power of two that lets them be squared. None where
    /// only pairs of rows are looked at.
    prepared: Option<Cow<'a, Rows<'a>>>,
    /// ∞ for a constant column.
    range: Option<Vec<f64>>,
    /// 1/range, or 1; empty for sparse rows without ranges, and if a range is too small to have an inverse.
    factor: Vec<f64>,
    /// Which columns hold categories; empty: none.
    nominal: Box<[bool]>,
    missing: bool,
    unit: f64,
    /// Where the rows were given.
    device: Device,
}

impl<'a> Differences<'a> {
    /// Prepares rows. `by_range`: divide each column by its range, a constant one by infinity.
    ///
    /// ```
    /// use mercer::{Rows, evidence::differences::Differences, evidence::neighbours::Metric};
    ///
    /// let rows = Rows::dense(vec![0.0, 7.0, 10.0, 8.0, 5.0, f64::NAN], 3, 2)?;
    /// let differences = Differences::new(&rows, &[1], true)?;
    /// assert_eq!(differences.distance(Metric::Manhattan, 0, 1), 2.0); // a whole range, another category
    /// assert_eq!(differences.distance(Metric::Manhattan, 0, 2), 1.0); // half a range, seen in one column of two
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn new(rows: &'a Rows<'a>, categorical: &[usize], by_range: bool) -> Result<Self> {
        rows.fetch()?;
        let found = Self::of(rows.to_f64(), categorical, by_range.then(|| Ranges::of(rows)).as_ref())?;
        Ok(found.on(rows.device()))
    }

    /// Prepares rows that are some of many: each column is divided by its range over all of them.
    ///
    /// ```
    /// use mercer::Rows;
    /// use mercer::evidence::{differences::Differences, neighbours::Metric, ranges::Ranges};
    ///
    /// let (all, some) = (Rows::dense(vec![0.0, 1.0, 10.0], 3, 1)?, Rows::dense(vec![0.0, 1.0], 2, 1)?);
    /// let differences = Differences::with_ranges(&some, &[], &Ranges::of(&all))?;
    /// assert_eq!(differences.distance(Metric::Manhattan, 0, 1), 0.1);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn with_ranges(rows: &'a Rows<'a>, categorical: &[usize], ranges: &Ranges) -> Result<Self> {
        Self::of(rows.to_f64(), categorical, Some(ranges))
    }

    /// Differences of float64 rows that may be its own, divided by ranges where they are given.
    pub(crate) fn of(
        rows: Cow<'a, Rows<'a>>,
        categorical: &[usize],
        ranges: Option<&Ranges>,
    ) -> Result<Self> {
        let missing = rows.stored().iter().any(|v| v.is_nan());
        let mut nominal = if categorical.is_empty() { Vec::new() } else { vec![false; rows.p()] };
        categorical.iter().for_each(|&j| nominal[j] = true);
        let rows = if rows.is_sparse() && (missing || !nominal.is_empty()) {
            let hint = "fill the gaps, or encode the categories as columns of 0 and 1";
            let what = "sparse rows with missing values or categories are";
            densified(rows, what, hint)?
        } else {
            rows
        };
        // Sparse rows may have billions of columns, and are compared by their own.
        let factor = if rows.is_sparse() { Vec::new() } else { vec![1.0; rows.p()] };
        let mut found = Self {
            prepared: Some(rows.clone()),
            rows,
            range: None,
            factor,
            nominal: nominal.into(),
            missing,
            unit: 1.0,
            device: Device::Cpu,
        };
        match ranges {
            Some(ranges) => found.divide_by(ranges)?,
            None => found.make_squarable()?,
        }
        Ok(found)
    }

    /// Differences of pairs of rows without gaps and categories, read where they lie, float32 rows too: for columns whose
    /// neighbours are sought elsewhere.
    pub(crate) fn of_pairs(rows: &'a Rows<'a>, ranges: Option<&Ranges>) -> Result<Self> {
        let mut found = Self {
            prepared: None,
            rows: Cow::Borrowed(rows),
            range: None,
            factor: if rows.is_sparse() { Vec::new() } else { vec![1.0; rows.p()] },
            nominal: Box::default(),
            missing: false,
            unit: 1.0,
            device: rows.device(),
        };
        if let Some(ranges) = ranges {
            found.divide_by(ranges)?;
        }
        Ok(found)
    }

    fn divide_by(&mut self, ranges: &Ranges) -> Result<()> {
        if ranges.low.len() != self.p() || ranges.high.len() != self.p() {
            return Err(Error::argument(format!(
                "{} columns, but ranges of {}",
                self.p(),
                ranges.low.len().min(ranges.high.len())
            )));
        }
        let (low, range): (Vec<f64>, Vec<f64>) = (0..self.p()).map(|j| ranges.start_and_width(j)).unzip();
        if let Some(j) = (0..range.len()).find(|&j| !range[j].is_finite() && !self.is_nominal(j)) {
            return Err(Error::Numerical(format!(
                "the range of column {} is not a finite number\nhint: scale the columns first",
                j + 1
            )));
        }
        let scaled = |j: usize, v: f64, shift: f64| match range[j] {
            _ if self.is_nominal(j) => v,
            range if range > 0.0 => (v - shift) / range,
            // A constant column differs nowhere; what is missing stays so.
            _ => v * 0.0,
        };
        // Shifted where that does not fill in zeros: large offsets would cost digits.
        if self.prepared.is_some() {
            let values = map_values(&self.rows, |j, v| scaled(j, v, low[j]), |j, v| scaled(j, v, 0.0))?;
            self.prepared = Some(Cow::Owned(values));
        }
        let inverse = |range: &f64| if *range > 0.0 { 1.0 / range } else { 0.0 };
        self.factor = range.iter().map(inverse).collect();
        if self.factor.iter().any(|f| !f.is_finite()) {
            self.factor.clear();
        }
        self.range = Some(range.into_iter().map(|r| if r > 0.0 { r } else { f64::INFINITY }).collect());
        Ok(())
    }

    fn make_squarable(&mut self) -> Result<()> {
        let largest =
            self.rows.stored().iter().fold(0.0f64, |m, v| if v.is_nan() { m } else { m.max(v.abs()) });
        if largest == 0.0 || SQUARABLE.contains(&largest) {
            return Ok(());
        }
        // A power of two: the numbers keep their digits, and equal differences stay equal.
        self.unit = 2.0f64.powi(-(largest.log2().clamp(-1_000.0, 1_000.0) as i32));
        let scaled = |j: usize, v: f64| if self.is_nominal(j) { v } else { v * self.unit };
        self.prepared = Some(Cow::Owned(map_values(&self.rows, scaled, scaled)?));
        Ok(())
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.rows.n()
    }

    /// Number of columns.
    pub fn p(&self) -> usize {
        self.rows.p()
    }

    /// Whether any value is missing.
    pub fn any_missing(&self) -> bool {
        self.missing
    }

    /// The rows with ranges and units divided out.
    pub(crate) fn prepared(&self) -> &Rows<'a> {
        self.prepared.as_deref().unwrap_or_else(|| unreachable!("only pairs of these rows are looked at"))
    }

    /// The prepared rows, which are known to be dense.
    pub(crate) fn dense(&self) -> &Dense<'_> {
        match self.prepared().as_f64() {
            F64Rows::Dense(rows) => rows,
            F64Rows::Sparse(_) => unreachable!("gaps, categories, trees and prefilters are of dense rows"),
        }
    }

    /// These differences of rows that were given on a device.
    pub(crate) fn on(self, device: Device) -> Self {
        Self { device, ..self }
    }

    /// Where the rows were given.
    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// Whether they were given on a GPU.
    pub(crate) fn is_on_gpu(&self) -> bool {
        matches!(self.device, Device::Cuda(_))
    }

    /// Whether all columns are numbers that are there.
    pub(crate) fn is_plain(&self) -> bool {
        !self.missing && self.nominal.is_empty()
    }

    /// Which columns hold categories; empty: none.
    pub(crate) fn nominal(&self) -> &[bool] {
        &self.nominal
    }

    pub(crate) fn is_nominal(&self, j: usize) -> bool {
        self.nominal.get(j).copied().unwrap_or(false)
    }

    /// Whether row i has a value in column j.
    pub(crate) fn has(&self, i: usize, j: usize) -> bool {
        match &*self.rows {
            Rows::Dense(d) => !d.row(i)[j].is_nan(),
            Rows::DenseF32(_) | Rows::Sparse(_) => true,
        }
    }

    fn difference(&self, j: usize, a: f64, b: f64) -> f64 {
        if self.is_nominal(j) {
            return if a.is_nan() || b.is_nan() { f64::NAN } else { f64::from(a != b) };
        }
        match &self.range {
            Some(range) => (a - b).abs() / range[j],
            None => (a - b).abs() * self.unit,
        }
    }

    /// The power of two by which distances without ranges are multiplied (euclidean: twice), 1 for all but outlandish rows.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// The distance of two rows, from their own numbers: equal distances are equal numbers. Euclidean: squared.
    pub fn distance(&self, metric: Metric, i: usize, k: usize) -> f64 {
        let term = |d: f64| if metric == Metric::Euclidean { d * d } else { d };
        match &*self.rows {
            Rows::DenseF32(d) => {
                let pairs = d.row(i).iter().zip(d.row(k)).enumerate();
                pairs.map(|(j, (a, b))| term(self.difference(j, a.double(), b.double()))).sum()
            }
            Rows::Dense(d) => {
                if self.nominal.is_empty() {
                    let (a, b, range) = (d.row(i), d.row(k), self.range.as_deref());
                    let sum = pulp::Arch::new().dispatch(Distance { a, b, range, unit: self.unit, metric });
                    // The distance of two whole rows must not depend on gaps that others have.
                    if !sum.is_nan() {
                        return sum;
                    }
                }
                let pairs = d.row(i).iter().zip(d.row(k)).enumerate();
                let (mut sum, mut present) = (0.0, 0usize);
                for d in pairs.map(|(j, (a, b))| self.difference(j, *a, *b)).filter(|d| !d.is_nan()) {
                    sum += term(d);
                    present += 1;
                }
                if present == 0 { f64::INFINITY } else { sum * (self.p() as f64 / present as f64) }
            }
            Rows::Sparse(_) => {
                let mut sum = 0.0;
                self.rows.walk_pair(i, k, |j, a, b| sum += term(self.difference(j, a, b)));
                sum
            }
        }
    }

    /// Σ w_j·d_j of two dense rows; with gaps the sum over the columns that both have × Σw/(the sum of their weights).
    pub(crate) fn weighted(&self, i: usize, k: usize, weights: &[f64]) -> f64 {
        let (Rows::Dense(d), Rows::Dense(original)) = (self.prepared(), &*self.rows) else {
            unreachable!("weighted distances are of dense rows")
        };
        if self.is_plain() {
            return weighted_plain(d.row(i), d.row(k), weights) / self.unit;
        }
        let (mut sum, mut there, mut all) = (0.0, 0.0, 0.0);
        for (j, (a, b)) in original.row(i).iter().zip(original.row(k)).enumerate() {
            let d = self.difference(j, *a, *b);
            all += weights[j];
            if !d.is_nan() {
                sum += weights[j] * if self.is_nominal(j) { d } else { d / self.unit };
                there += weights[j];
            }
        }
        if there > 0.0 { sum * (all / there) } else { f64::INFINITY }
    }

    /// Adds weight·d_j^power of two rows to the sums of the columns, and the weight to the counts of the columns that
    /// both have, where counts are kept.
    pub(crate) fn add(
        &self,
        i: usize,
        k: usize,
        power: u32,
        weight: f64,
        sums: &mut [f64],
        counts: Option<&mut [f64]>,
    ) {
        match (&*self.rows, counts) {
            (Rows::DenseF32(d), counts) => {
                // No range of float32 numbers is too small to have an inverse, and none of them is missing.
                counts.into_iter().flatten().for_each(|count| *count += weight);
                add_plain(d.row(i), d.row(k), &self.factor, power, weight, sums);
            }
            (Rows::Dense(d), None) if self.is_plain() && self.factor.len() == self.p() => {
                add_plain(d.row(i), d.row(k), &self.factor, power, weight, sums);
            }
            (Rows::Dense(d), mut counts) => {
                for (j, (a, b)) in d.row(i).iter().zip(d.row(k)).enumerate() {
                    let d = self.difference(j, *a, *b);
                    if !d.is_nan() {
                        let d = if self.is_nominal(j) { d } else { d / self.unit };
                        sums[j] += weight * if power == 2 { d * d } else { d };
                        if let Some(counts) = &mut counts {
                            counts[j] += weight;
                        }
                    }
                }
            }
            (Rows::Sparse(_), _) => self.rows.walk_pair(i, k, |j, a, b| {
                let d = self.difference(j, a, b) / self.unit;
                sums[j] += weight * if power == 2 { d * d } else { d };
            }),
        }
    }
}

impl Differences<'_> {
    /// Adds Σ d_j, and Σ d_j² where that is wanted, over the neighbours of a row to the sums of the columns; counts as
    /// [`add`](Self::add).
    pub(crate) fn add_all(
        &self,
        i: usize,
        neighbours: &[usize],
        linear: &mut [f64],
        mut square: Option<&mut [f64]>,
        mut counts: Option<&mut [f64]>,
    ) {
        let factor = &self.factor;
        match (&*self.rows, &mut counts) {
            (Rows::DenseF32(rows), counts) => {
                counts.iter_mut().flat_map(|counts| counts.iter_mut()).for_each(|count| {
                    *count += neighbours.len() as f64;
                });
                let rows = rows.values();
                pulp::Arch::new().dispatch(GroupSums { rows, i, neighbours, factor, linear, square });
            }
            (Rows::Dense(rows), None) if self.is_plain() && self.factor.len() == self.p() => {
                let rows = rows.values();
                pulp::Arch::new().dispatch(GroupSums { rows, i, neighbours, factor, linear, square });
            }
            _ => {
                for &neighbour in neighbours {
                    self.add(i, neighbour, 1, 1.0, linear, counts.as_deref_mut());
                    if let Some(square) = &mut square {
                        self.add(i, neighbour, 2, 1.0, square, None);
                    }
                }
            }
        }
    }
}

/// Differences of a row to its neighbours, with the sums of a few columns in registers.
struct GroupSums<'a, T> {
    /// All rows, row-major.
    rows: &'a [T],
    i: usize,
    neighbours: &'a [usize],
    factor: &'a [f64],
    linear: &'a mut [f64],
    square: Option<&'a mut [f64]>,
}

// A type of its own, because a closure of this size would not be inlined into the dispatch, and so not be vectorised.
impl<T: Real> pulp::NullaryFnOnce for GroupSums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let p = self.factor.len();
        let mut at = 0;
        while at + LANES <= p {
            self.columns::<LANES>(at);
            at += LANES;
        }
        while at < p {
            self.columns::<1>(at);
            at += 1;
        }
    }
}

impl<T: Real> GroupSums<'_, T> {
    #[inline(always)]
    fn columns<const WIDTH: usize>(&mut self, at: usize) {
        let p = self.factor.len();
        let own: [f64; WIDTH] = std::array::from_fn(|lane| self.rows[self.i * p + at + lane].double());
        let (mut linear, mut square) = ([0.0; WIDTH], [0.0; WIDTH]);
        let squares = self.square.is_some();
        for &neighbour in self.neighbours {
            let Some(other) = self.rows[neighbour * p + at..].first_chunk::<WIDTH>() else { continue };
            for lane in 0..WIDTH {
                let d = own[lane] - other[lane].double();
                linear[lane] += d.abs();
                if squares {
                    square[lane] += d * d;
                }
            }
        }
        let factor = &self.factor[at..at + WIDTH];
        for ((sum, d), f) in self.linear[at..].iter_mut().zip(linear).zip(factor) {
            *sum += d * f;
        }
        if let Some(sums) = &mut self.square {
            for ((sum, d), f) in sums[at..].iter_mut().zip(square).zip(factor) {
                *sum += d * (f * f);
            }
        }
    }
}

/// The rows, dense: as they are or as a copy, unless that would take more than the usual memory.
pub(crate) fn densified<'a>(rows: Cow<'a, Rows<'a>>, what: &str, hint: &str) -> Result<Cow<'a, Rows<'a>>> {
    if !rows.is_sparse() {
        return Ok(rows);
    }
    let needed = 8 * (rows.n() as u64) * (rows.p() as u64);
    if needed > DEFAULT_MEMORY {
        return Err(Error::Memory(format!(
            "{what} made dense, which takes {}, but the budget is {}\nhint: {hint}",
            bytes(needed),
            bytes(DEFAULT_MEMORY)
        )));
    }
    Ok(Cow::Owned(Rows::dense(rows.to_dense(), rows.n(), rows.p())?))
}

/// Sums that are kept side by side, so that a loop is vectorised.
const LANES: usize = 16;

/// The distance of two rows without gaps and categories.
struct Distance<'a> {
    a: &'a [f64],
    b: &'a [f64],
    range: Option<&'a [f64]>,
    unit: f64,
    metric: Metric,
}

// A type of its own, because closures inside closures would not be inlined into the dispatch, and so not be vectorised.
impl pulp::NullaryFnOnce for Distance<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let (a, b, unit) = (self.a, self.b, self.unit);
        match (self.range, self.metric) {
            (Some(range), Metric::Manhattan) => sum_in_lanes(
                [a, b, range],
                #[inline(always)]
                |[a, b, range]| (a - b).abs() / range,
            ),
            (Some(range), Metric::Euclidean) => sum_in_lanes(
                [a, b, range],
                #[inline(always)]
                |[a, b, range]| ((a - b) / range) * ((a - b) / range),
            ),
            (None, Metric::Manhattan) => sum_in_lanes(
                [a, b],
                #[inline(always)]
                |[a, b]| (a - b).abs() * unit,
            ),
            (None, Metric::Euclidean) => sum_in_lanes(
                [a, b],
                #[inline(always)]
                |[a, b]| ((a - b) * unit) * ((a - b) * unit),
            ),
        }
    }
}

fn weighted_plain(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            sum_in_lanes(
                [a, b, weights],
                #[inline(always)]
                |[a, b, weight]| weight * (a - b).abs(),
            )
        },
    )
}

/// Σ term over the numbers that stand at the same place of slices of one length.
#[inline(always)]
pub(crate) fn sum_in_lanes<const N: usize>(slices: [&[f64]; N], term: impl Fn([f64; N]) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    // Whole chunks, because a place that may lie beyond a slice would keep the loop from being vectorised.
    let chunks = slices.map(|slice| slice.as_chunks::<LANES>());
    let whole = chunks[0].0.len();
    let wholes = chunks.map(|(chunks, _)| &chunks[..whole]);
    for at in 0..whole {
        let here = wholes.map(|chunks| &chunks[at]);
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += term(here.map(|chunk| chunk[lane]));
        }
    }
    let rest = chunks.map(|(_, rest)| rest);
    sums.iter().sum::<f64>() + (0..rest[0].len()).map(|j| term(rest.map(|rest| rest[j]))).sum::<f64>()
}

fn add_plain<T: Real>(a: &[T], b: &[T], factor: &[f64], power: u32, weight: f64, sums: &mut [f64]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            if power == 2 {
                for (((s, a), b), f) in sums.iter_mut().zip(a).zip(b).zip(factor) {
                    let d = (a.double() - b.double()) * f;
                    *s += weight * (d * d);
                }
            } else {
                for (((s, a), b), f) in sums.iter_mut().zip(a).zip(b).zip(factor) {
                    *s += weight * ((a.double() - b.double()) * f).abs();
                }
            }
        },
    );
}

/// Rows that one thread prepares at a time.
const CHUNK_ROWS: usize = 512;

/// New rows with every stored value replaced, by one rule for dense rows and by another for sparse ones.
fn map_values(
    rows: &Rows,
    dense: impl Fn(usize, f64) -> f64 + Sync,
    sparse: impl Fn(usize, f64) -> f64,
) -> Result<Rows<'static>> {
    let (n, p) = (rows.n(), rows.p());
    match rows.as_f64() {
        F64Rows::Dense(d) => {
            let mut values = vec![0.0; n * p];
            let chunk = (CHUNK_ROWS * p).max(1);
            values.par_chunks_mut(chunk).zip(d.values().par_chunks(chunk)).for_each(|(new, old)| {
                for (new, old) in new.chunks_exact_mut(p).zip(old.chunks_exact(p)) {
                    new.iter_mut().zip(old).enumerate().for_each(|(j, (new, &v))| *new = dense(j, v));
                }
            });
            Rows::dense(values, n, p)
        }
        F64Rows::Sparse(s) => {
            let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..n {
                let (columns, stored) = s.row(i);
                indices.extend_from_slice(columns);
                values.extend(columns.iter().zip(stored).map(|(&j, &v)| sparse(j as usize, v)));
                indptr.push(indices.len());
            }
            Rows::sparse(indptr, indices, values, p)
        }
    }
}
