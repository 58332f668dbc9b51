//! The kernel matrix of the training rows: columns on demand, every value counted, and what a kernel asks of rows.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::block::{PANEL, Panel};
use super::kernel::{Kernel, Shape, Statistic};
use super::own::{self, caught};
use super::pairs::Unit;
use super::panel_f32::{F32Panel, RANGE, squares_fit};
use super::products::distances_to;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::linalg::large::by_columns;
use crate::monitor::Monitor;
use crate::real::{Precision, Real};
use crate::size::{check_available, matrix_bytes};

/// What to do with a matrix of values that are too large.
const DIVIDE_MATRIX: &str = "divide the matrix by its largest value";

/// Strips in which half a kernel matrix is computed.
const STRIPS: usize = 8;

/// The kernel matrix of training rows, never whole: columns on demand, every value counted.
#[derive(Debug)]
pub struct Gram<'a> {
    kernel: Kernel,
    rows: &'a Rows<'a>,
    rounding: f64,
    precision: Precision,
    evaluations: AtomicU64,
}

impl<'a> Gram<'a> {
    /// Checks the rows against the kernel.
    pub fn new(kernel: Kernel, rows: &'a Rows<'a>) -> Result<Self> {
        Self::with_rounding(kernel, rows, f64::EPSILON)
    }

    /// [`new`](Self::new) for values whose relative rounding error is not that of float64.
    pub fn with_rounding(kernel: Kernel, rows: &'a Rows<'a>, rounding: f64) -> Result<Self> {
        check_rows(kernel, rows, 0)?;
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
        if kernel.shape.is_own() {
            own::check_symmetric(kernel, rows)?;
        }
        let diagonal = diagonal(kernel, rows);
        if diagonal.iter().all(|v| *v == 0.0) {
            return Err(all_zero());
        }
        if !diagonal.iter().sum::<f64>().is_finite() {
            return Err(Error::data(format!(
                "the sum of k(x,x) over the {} rows is too large for a number: the kernel `{}` overflows\n\
                 hint: {}",
                rows.n(),
                kernel.shape.name(),
                if kernel.shape == Shape::Precomputed {
                    DIVIDE_MATRIX
                } else {
                    "scale the columns, or lower gamma, coef0 and degree"
                }
            )));
        }
        Ok(Self { kernel, rows, rounding, precision: Precision::Double, evaluations: AtomicU64::new(0) })
    }

    /// Rows that were checked already, possibly none.
    pub(crate) fn unchecked(kernel: Kernel, rows: &'a Rows<'a>) -> Self {
        let evaluations = AtomicU64::new(0);
        Self { kernel, rows, rounding: f64::EPSILON, precision: Precision::Double, evaluations }
    }

    /// Whether all values are within the range of float32.
    pub(crate) fn fits_f32(&self) -> bool {
        let largest = diagonal(self.kernel, self.rows).into_iter().fold(0.0, f64::max);
        let products = self.kernel.shape.statistic() == Statistic::Product;
        (1.0 / RANGE..=RANGE).contains(&largest) && (!products || squares_fit(self.kernel, self.rows))
    }

    /// This matrix with panels, and what is made of them, in float32.
    pub(crate) fn in_f32(mut self) -> Self {
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
        diagonal(self.kernel, self.rows)
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
        panel.fill(&self.rows.slice_f64(range), out);
    }

    /// The training rows with these indices as landmarks in float32.
    pub(crate) fn f32_panel(&self, landmarks: &[usize]) -> F32Panel {
        let given = self.kernel.shape.statistic() == Statistic::Given;
        let rows = (!given).then(|| self.rows.select(landmarks));
        F32Panel::new(self.kernel, rows.as_ref(), self.panel(landmarks))
    }

    /// [`fill`](Self::fill) in float32.
    pub(crate) fn fill_f32(&self, panel: &F32Panel, range: Range<usize>, out: &mut [f32]) {
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
            (Rows::DenseF32(_), _) | (_, Statistic::Given) => self.panel(&[landmark]).fill(selected, out),
            (rows, _) => column_of(self.kernel, selected, rows, landmark, out),
        }
    }

    /// Whether each row is a copy of an earlier one, bit by bit.
    pub(crate) fn copies(&self) -> Vec<bool> {
        self.rows.first_equal().into_iter().enumerate().map(|(i, first)| first != i).collect()
    }

    /// All n² values, row-major.
    pub(crate) fn whole(&self, monitor: &Monitor) -> Result<Vec<f64>> {
        let n = self.n();
        check_available(matrix_bytes(n, n), || format!("kernel values of all pairs of {n} rows"))?;
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

    /// K's values on and below the diagonal; some of those above it are 0.
    pub(crate) fn lower_half(&self, monitor: &Monitor) -> Result<Mat<f64>> {
        let n = self.n();
        check_available(matrix_bytes(n, n), || format!("kernel values of all pairs of {n} rows"))?;
        // Each strip of columns begins at its first row; the landmarks of all strips together take about half of the matrix's memory.
        let strips = if STRIPS * self.rows.p() <= n { STRIPS } else { 1 };
        let width = n.div_ceil(strips).next_multiple_of(PANEL);
        let panels: Vec<Panel> =
            (0..n).step_by(width).map(|first| self.panel(&(first..n).collect::<Vec<_>>())).collect();
        // K is symmetric: some of its rows are so many of its columns.
        by_columns(n, n, PANEL, |range, out| {
            monitor.check()?;
            let strip = range.start / width;
            let first = strip * width;
            let mut values = vec![0.0; range.len() * (n - first)];
            self.fill(&panels[strip], range, &mut values);
            for (column, values) in out.chunks_exact_mut(n).zip(values.chunks_exact(n - first)) {
                column[first..].copy_from_slice(values);
            }
            Ok(())
        })
    }

    /// Counts values that were computed elsewhere.
    pub(crate) fn count(&self, values: usize) {
        self.evaluations.fetch_add(values as u64, Ordering::Relaxed);
    }
}

/// Values of some rows against one row of others.
pub(crate) fn column_of(kernel: Kernel, rows: &Rows, others: &Rows, landmark: usize, out: &mut [f64]) {
    match (rows, others, kernel.shape.statistic()) {
        // One sparse row needs no index of all p columns.
        (Rows::Sparse(csr), Rows::Sparse(others), statistic)
            if !matches!(statistic, Statistic::Cosine | Statistic::Value) =>
        {
            let (unit, own) = (Unit::of(kernel, rows.p()), others.row(landmark));
            out.iter_mut().enumerate().for_each(|(i, o)| *o = unit.direct(csr.row(i), own));
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
    match kernel.shape.statistic() {
        Statistic::Product => {
            let mut values =
                squared_norms_there(rows).unwrap_or_else(|| (0..n).map(|i| squared_norm(rows, i)).collect());
            kernel.finish(&mut values);
            values
        }
        Statistic::Cosine => {
            let is_zero = |i: usize| match rows {
                Rows::Dense(d) => d.row(i).iter().all(|v| *v == 0.0),
                Rows::DenseF32(d) => d.row(i).iter().all(|v| *v == 0.0),
                Rows::Sparse(s) => s.row(i).1.iter().all(|v| *v == 0.0),
            };
            (0..n).map(|i| if is_zero(i) { 0.0 } else { 1.0 }).collect()
        }
        // 2xx/(x+x) = x.
        Statistic::Additive => (0..n).map(|i| sum_of(rows, i)).collect(),
        Statistic::Value => match kernel.shape {
            Shape::Composite(composite) => composite.diagonal(kernel.gamma, rows),
            Shape::Own(own) => (0..n)
                .step_by(PANEL)
                .flat_map(|start| own.diagonal(&rows.slice(start..n.min(start + PANEL)).to_dense(), rows.p()))
                .collect(),
            _ => unreachable!("no other kernel has values for statistics"),
        },
        Statistic::Given => match rows {
            Rows::Dense(d) => (0..n).map(|i| d.row(i)[i]).collect(),
            Rows::DenseF32(d) => (0..n).map(|i| d.row(i)[i].into()).collect(),
            Rows::Sparse(_) => vec![1.0; n],
        },
        _ => vec![1.0; n],
    }
}

/// ‖x‖² of rows that lie on a GPU.
fn squared_norms_there(rows: &Rows) -> Option<Vec<f64>> {
    let view = rows.gpu_rows()?.whole()?;
    let norms = view.gpu().room(rows.n()).ok()?;
    view.gpu().squared_norms(view, &norms).ok()?;
    norms.to_vec().ok()
}

/// ‖x‖² of row i.
pub(super) fn squared_norm(rows: &Rows, i: usize) -> f64 {
    match rows {
        Rows::Dense(d) => d.row(i).iter().map(|v| v * v).sum(),
        Rows::DenseF32(d) => d.row(i).iter().map(|v| v.double() * v.double()).sum(),
        Rows::Sparse(s) => s.row(i).1.iter().map(|v| v * v).sum(),
    }
}

/// Σx of row i.
fn sum_of(rows: &Rows, i: usize) -> f64 {
    match rows {
        Rows::Dense(d) => d.row(i).iter().sum(),
        Rows::DenseF32(d) => d.row(i).iter().map(|v| v.double()).sum(),
        Rows::Sparse(s) => s.row(i).1.iter().sum(),
    }
}

fn check_symmetric(rows: &Rows, tolerance: f64) -> Result<()> {
    match rows {
        Rows::Dense(d) => check_halves(d.values(), rows.n(), tolerance),
        Rows::DenseF32(d) => check_halves(d.values(), rows.n(), tolerance),
        Rows::Sparse(_) => Ok(()),
    }
}

fn check_halves<T: Real>(values: &[T], n: usize, tolerance: f64) -> Result<()> {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.double().abs()));
    let at = |i: usize, j: usize| values[i * n + j].double();
    if !(largest * n as f64).is_finite() {
        return Err(Error::data(format!(
            "the precomputed kernel holds numbers up to {largest:.1e}, of which {n} cannot be added up\nhint: {DIVIDE_MATRIX}"
        )));
    }
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
    check_part(kernel, rows, first, None)
}

/// [`check_rows`] for rows that are some columns of others, whose places are given for the message.
pub(super) fn check_part(kernel: Kernel, rows: &Rows, first: usize, columns: Option<&[usize]>) -> Result<()> {
    kernel.check()?;
    let statistic = kernel.shape.statistic();
    if let Shape::Composite(composite) = kernel.shape {
        composite.check_rows(kernel.gamma, rows, first)?;
    }
    if kernel.shape.is_own() && rows.is_sparse() {
        return Err(Error::data(format!(
            "the kernel `{}` is a function of dense rows, but these are sparse\nhint: make them dense (toarray)",
            kernel.shape.name()
        )));
    }
    if matches!(statistic, Statistic::ChiSquared | Statistic::Additive)
        && let Some((at, value)) = first_negative(rows)
    {
        let place = if rows.is_sparse() {
            String::new()
        } else {
            let column = at % rows.p();
            let column = columns.map_or(column, |places| places[column]);
            format!(" at row {}, column {}", first + at / rows.p() + 1, column + 1)
        };
        return Err(Error::data(format!(
            "the kernel `{}` needs numbers of at least 0, but met {value}{place}\n\
             hint: scale to min-max, or use the kernel `rbf`",
            kernel.shape.name()
        )));
    }
    // No |k(x,x')| is larger than both k(x,x) and k(x',x'). With infinities among them nothing would ever converge.
    let may_overflow = matches!(statistic, Statistic::Product | Statistic::Additive)
        || matches!(kernel.shape, Shape::Composite(_)) && !kernel.shape.is_own();
    if may_overflow && let Some(i) = diagonal(kernel, rows).iter().position(|v| !v.is_finite()) {
        return Err(Error::data(format!(
            "k(x,x) of row {} is too large for a number: the kernel `{}` overflows\n\
             hint: scale the columns, or lower gamma, coef0 and degree",
            first + i + 1,
            kernel.shape.name()
        )));
    }
    Ok(())
}

/// The first negative number among those stored, and its place.
fn first_negative(rows: &Rows) -> Option<(usize, f64)> {
    fn first<T: Real>(values: &[T]) -> Option<(usize, f64)> {
        values.iter().map(|v| v.double()).enumerate().find(|(_, v)| *v < 0.0)
    }
    match rows {
        Rows::DenseF32(d) => first(d.values()),
        Rows::Dense(_) | Rows::Sparse(_) => first(rows.stored()),
    }
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
        let (rows, others) = (rows.to_f64(), others.to_f64());
        let panel = Panel::new(self, &others);
        let mut values = vec![0.0; rows.n() * panel.n_landmarks()];
        caught(|| {
            panel.fill_all(&rows, &mut values);
            Ok(())
        })?;
        Ok(MatRef::from_row_major_slice(&values, rows.n(), panel.n_landmarks()).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn half_of_the_matrix_is_that_of_the_whole_with_any_number_of_strips() {
        // Rows about the edges of panels; 20 columns of 100 rows are one strip, of 1 100 five.
        for n in [1, 100, 255, 256, 257, 1_100] {
            let rows = synth::generate(&format!("ringnorm?n={n}&seed=1")).expect("rows").rows;
            for kernel in [Kernel::rbf(0.05), Kernel { shape: Shape::Laplacian, gamma: 0.05 }] {
                let (gram, monitor) =
                    (Gram::new(kernel, &rows).expect("a kernel matrix"), Monitor::default());
                let (whole, half) =
                    (gram.whole(&monitor).expect("all"), gram.lower_half(&monitor).expect("half"));
                for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                    assert!(
                        (half[(i, j)] - whole[i * n + j]).abs() < 1e-14,
                        "{kernel:?}, {n} rows: {i}, {j}"
                    );
                }
            }
        }
    }
}
