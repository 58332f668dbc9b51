//! The kernel matrix of the training rows: columns on demand, every value counted, and what a kernel asks of rows.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::block::{PANEL, Panel};
use super::kernel::{Kernel, Statistic};
use super::pairs::Unit;
use super::products::distances_to;
use super::single::{RANGE, SinglePanel, squares_fit};
use crate::data::either::Either;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::real::{Precision, Real};

/// The kernel matrix of training rows, never whole: columns on demand, every value counted.
#[derive(Debug)]
pub struct Gram<'a> {
    kernel: Kernel,
    rows: Either<'a>,
    rounding: f64,
    precision: Precision,
    evaluations: AtomicU64,
}

impl<'a> Gram<'a> {
    /// Checks the rows against the kernel.
    pub fn new(kernel: Kernel, rows: impl Into<Either<'a>>) -> Result<Self> {
        Self::with_rounding(kernel, rows, f64::EPSILON)
    }

    /// The same for values whose relative rounding error is not that of double precision.
    pub fn with_rounding(kernel: Kernel, rows: impl Into<Either<'a>>, rounding: f64) -> Result<Self> {
        let rows = rows.into();
        check_parts(kernel, rows)?;
        if kernel.shape.statistic() == Statistic::Given {
            if rows.is_sparse() || rows.n() != rows.p() {
                return Err(Error::data(format!(
                    "a precomputed kernel must be a dense square matrix, but it is {} × {}{}",
                    rows.n(),
                    rows.p(),
                    if rows.is_sparse() { " and sparse" } else { "" }
                )));
            }
            check_symmetric(rows, 1e-8f64.max(10.0 * rounding))?;
        }
        if diagonal_of(kernel, rows).iter().all(|v| *v == 0.0) {
            return Err(all_zero());
        }
        Ok(Self { kernel, rows, rounding, precision: Precision::Double, evaluations: AtomicU64::new(0) })
    }

    /// Whether all values are within the range of single precision.
    pub(crate) fn fits_single(&self) -> bool {
        let largest = diagonal_of(self.kernel, self.rows).into_iter().fold(0.0, f64::max);
        let products = self.kernel.shape.statistic() == Statistic::Product;
        (1.0 / RANGE..=RANGE).contains(&largest)
            && (!products || parts(self.rows).all(|(_, part)| squares_fit(self.kernel, &part)))
    }

    /// The same with panels, and what is made of them, in single precision.
    pub(crate) fn in_single(mut self) -> Self {
        self.precision = Precision::Single;
        self
    }

    /// The relative rounding error of panels of values.
    pub(crate) fn panel_rounding(&self) -> f64 {
        match self.precision {
            Precision::Double => self.rounding,
            Precision::Single => self.rounding.max(f64::from(f32::EPSILON)),
        }
    }

    /// What panels of values are computed in.
    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    /// The relative rounding error of the values.
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Number of training rows.
    pub fn n(&self) -> usize {
        self.rows.n()
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Kernel values computed so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Counts on from what an earlier run has computed.
    pub(crate) fn set_evaluations(&self, count: u64) {
        self.evaluations.store(count, Ordering::Relaxed);
    }

    /// k(x,x) of every row.
    pub fn diagonal(&self) -> Vec<f64> {
        self.count(self.n());
        diagonal_of(self.kernel, self.rows)
    }

    /// The training rows with these indices as landmarks.
    pub fn panel(&self, landmarks: &[usize]) -> Panel {
        match self.kernel.shape.statistic() {
            Statistic::Given => Panel::given(landmarks, self.n()),
            _ => Panel::new(self.kernel, &self.rows.select(landmarks)),
        }
    }

    /// Values of the rows in a range against a panel's landmarks, row-major into `out`.
    pub fn fill(&self, panel: &Panel, range: Range<usize>, out: &mut [f64]) {
        self.count(out.len());
        panel.fill(&self.rows.part(range), out);
    }

    /// The training rows with these indices as landmarks in single precision.
    pub(crate) fn single_panel(&self, landmarks: &[usize]) -> SinglePanel {
        let given = self.kernel.shape.statistic() == Statistic::Given;
        let rows = (!given).then(|| self.rows.select(landmarks));
        SinglePanel::new(self.kernel, rows.as_ref(), self.panel(landmarks))
    }

    /// [`fill`](Self::fill) in single precision.
    pub(crate) fn fill_single(&self, panel: &SinglePanel, range: Range<usize>, out: &mut [f32]) {
        self.count(out.len());
        panel.fill(self.rows, range, out);
    }

    /// Values of selected rows against a panel's landmarks, row-major into `out`.
    pub(crate) fn against(&self, panel: &Panel, selected: &Rows, out: &mut [f64]) {
        self.count(out.len());
        panel.fill_all(selected, out);
    }

    /// Values among chosen rows, row-major |rows|×|columns|.
    pub fn block(&self, rows: &[usize], columns: &[usize]) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() * columns.len()];
        self.count(out.len());
        self.panel(columns).fill_all(&self.rows.select(rows), &mut out);
        out
    }

    /// Copies of chosen training rows, for [`column`](Self::column).
    pub(crate) fn select(&self, rows: &[usize]) -> Rows<'static> {
        self.rows.select(rows)
    }

    /// Values of selected rows against one training row.
    pub(crate) fn column(&self, selected: &Rows, landmark: usize, out: &mut [f64]) {
        self.count(out.len());
        match (self.rows, self.kernel.shape.statistic()) {
            (Either::Single(_), _) | (_, Statistic::Given) => self.panel(&[landmark]).fill(selected, out),
            (Either::Double(rows), _) => column_of(self.kernel, selected, rows, landmark, out),
        }
    }

    /// All n² values, row-major.
    pub(crate) fn whole(&self, monitor: &Monitor) -> Result<Vec<f64>> {
        let n = self.n();
        let all: Vec<usize> = (0..n).collect();
        let panel = self.panel(&all);
        let mut out = vec![0.0; n * n];
        out.par_chunks_mut(PANEL * n).enumerate().try_for_each(|(at, out)| {
            monitor.check()?;
            self.fill(&panel, at * PANEL..at * PANEL + out.len() / n, out);
            Ok(())
        })?;
        Ok(out)
    }

    fn count(&self, values: usize) {
        self.evaluations.fetch_add(values as u64, Ordering::Relaxed);
    }
}

/// Values of some rows against one row of others.
pub(crate) fn column_of(kernel: Kernel, rows: &Rows, others: &Rows, landmark: usize, out: &mut [f64]) {
    match (rows, others, kernel.shape.statistic()) {
        // One sparse row needs no index of all p columns.
        (Rows::Sparse(rows), Rows::Sparse(others), statistic) if statistic != Statistic::Cosine => {
            let (unit, own) = (Unit::of(kernel), others.row(landmark));
            out.iter_mut().enumerate().for_each(|(i, o)| *o = unit.direct(rows.row(i), own));
            kernel.finish(out);
        }
        (Rows::Dense(rows), Rows::Dense(others), Statistic::SquaredDistance) => {
            distances_to(others.row(landmark), rows, kernel.gamma.sqrt(), out);
            kernel.finish(out);
        }
        _ => Panel::new(kernel, &others.select(&[landmark])).fill(rows, out),
    }
}

/// There is no basis of nothing.
pub(crate) fn all_zero() -> Error {
    Error::data(
        "k(x,x) = 0 for every row: the rows are all zero in the kernel's space, so there is no basis\n\
         hint: look at the rows, or use a kernel such as `rbf`",
    )
}

/// k(x,x) of every row; the diagonal of a precomputed kernel's square matrix.
pub(crate) fn diagonal(kernel: Kernel, rows: &Rows) -> Vec<f64> {
    let n = rows.n();
    let squares = || -> Vec<f64> {
        (0..n)
            .map(|i| match rows {
                Rows::Dense(d) => d.row(i).iter().map(|v| v * v).sum(),
                Rows::Sparse(s) => s.row(i).1.iter().map(|v| v * v).sum(),
            })
            .collect()
    };
    match (kernel.shape.statistic(), rows) {
        (Statistic::Product, _) => {
            let mut values = squares();
            kernel.finish(&mut values);
            values
        }
        (Statistic::Cosine, _) => {
            let is_zero = |i: usize| match rows {
                Rows::Dense(d) => d.row(i).iter().all(|v| *v == 0.0),
                Rows::Sparse(s) => s.row(i).1.iter().all(|v| *v == 0.0),
            };
            (0..n).map(|i| if is_zero(i) { 0.0 } else { 1.0 }).collect()
        }
        (Statistic::Given, Rows::Dense(d)) => (0..n).map(|i| d.row(i)[i]).collect(),
        _ => vec![1.0; n],
    }
}

/// The same of rows in either precision.
pub(crate) fn diagonal_of(kernel: Kernel, rows: Either) -> Vec<f64> {
    match (rows, kernel.shape.statistic()) {
        (Either::Double(rows), _) => diagonal(kernel, rows),
        (Either::Single(rows), Statistic::Given) => {
            (0..rows.n()).map(|i| f64::from(rows.slice(i..i + 1)[i])).collect()
        }
        (Either::Single(_), Statistic::Product | Statistic::Cosine) => {
            parts(rows).flat_map(|(_, part)| diagonal(kernel, &part)).collect()
        }
        _ => vec![1.0; rows.n()],
    }
}

/// Panels of rows in double precision, each with its place; all at once where they are in it.
fn parts(rows: Either<'_>) -> impl Iterator<Item = (usize, Rows<'_>)> {
    let n = rows.n();
    let step = if matches!(rows, Either::Single(_)) { PANEL } else { n.max(1) };
    (0..n).step_by(step).map(move |start| (start, rows.part(start..n.min(start + step))))
}

/// [`check_rows`] of rows in either precision.
pub(crate) fn check_parts(kernel: Kernel, rows: Either) -> Result<()> {
    kernel.check()?;
    match kernel.shape.statistic() {
        Statistic::Product | Statistic::ChiSquared => {
            parts(rows).try_for_each(|(first, part)| check_rows(kernel, &part, first))
        }
        _ => Ok(()),
    }
}

fn check_symmetric(rows: Either, tolerance: f64) -> Result<()> {
    match rows {
        Either::Double(Rows::Dense(d)) => check_halves(d.values(), rows.n(), tolerance),
        Either::Double(Rows::Sparse(_)) => Ok(()),
        Either::Single(s) => check_halves(s.slice(0..s.n()), s.n(), tolerance),
    }
}

fn check_halves<T: Real>(values: &[T], n: usize, tolerance: f64) -> Result<()> {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.double().abs()));
    let at = |i: usize, j: usize| values[i * n + j].double();
    for i in 0..n {
        for j in 0..i {
            if (at(i, j) - at(j, i)).abs() > tolerance * largest {
                return Err(Error::data(format!(
                    "a precomputed kernel must be symmetric, but it holds {} at ({}, {}) and {} at ({}, {})",
                    at(i, j),
                    i + 1,
                    j + 1,
                    at(j, i),
                    j + 1,
                    i + 1
                )));
            }
        }
    }
    Ok(())
}

/// What a kernel asks of rows: parameters in range, χ² no negative number, products that do not overflow. `first` is the
/// place of the first of these rows among all, for the message.
pub(crate) fn check_rows(kernel: Kernel, rows: &Rows, first: usize) -> Result<()> {
    kernel.check()?;
    if kernel.shape.statistic() == Statistic::ChiSquared
        && let Some(at) = rows.stored().iter().position(|v| *v < 0.0)
    {
        let value = rows.stored()[at];
        let place = if rows.is_sparse() {
            String::new()
        } else {
            format!(" at row {}, column {}", first + at / rows.p() + 1, at % rows.p() + 1)
        };
        return Err(Error::data(format!(
            "the kernel `chi2` needs numbers of at least 0, but met {value}{place}\n\
             hint: scale to min-max, or use the kernel `rbf`"
        )));
    }
    // No |k(x,x')| is larger than both k(x,x) and k(x',x'). With infinities among them nothing would ever converge.
    if kernel.shape.statistic() == Statistic::Product
        && let Some(i) = diagonal(kernel, rows).iter().position(|v| !v.is_finite())
    {
        return Err(Error::data(format!(
            "k(x,x) of row {} is too large for a number: the kernel `{}` overflows\n\
             hint: scale the columns, or lower gamma, coef0 and degree",
            first + i + 1,
            kernel.shape.name()
        )));
    }
    Ok(())
}

impl Kernel {
    /// k(x, y) for all rows x and y: an n×l matrix.
    pub fn matrix(self, rows: &Rows, others: &Rows) -> Result<Mat<f64>> {
        check_rows(self, rows, 0)?;
        check_rows(self, others, 0)?;
        if self.shape.statistic() == Statistic::Given {
            return Err(Error::argument("the kernel is precomputed: there is nothing to evaluate"));
        }
        if rows.p() != others.p() {
            return Err(Error::data(format!(
                "rows of {} and of {} columns do not match",
                rows.p(),
                others.p()
            )));
        }
        let panel = Panel::new(self, others);
        let mut values = vec![0.0; rows.n() * panel.n_landmarks()];
        panel.fill_all(rows, &mut values);
        Ok(MatRef::from_row_major_slice(&values, rows.n(), panel.n_landmarks()).to_owned())
    }
}
