//! Kernel values as panels: a few hundred rows against fixed landmark rows, by matrix products where the kernel allows.
//!
//!   γ‖x−y‖² = ‖u‖² + ‖v‖² − 2⟨u,v⟩,   u = √γ(x−μ), v = √γ(y−μ), μ the landmarks' mean
//!
//! cost    2p flops a value (product kernels, squared distances), 3p for L1 and χ²; sparse: the common columns only
//! differs where the sum above cancels to less than `CANCELLED` of its terms, the distance is computed from the
//!         difference of the rows, so equal rows are at distance 0 exactly and none is negative; γ is inside, so
//!         rows of any scale neither overflow nor vanish

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::kernel::{Kernel, Statistic};
use crate::data::rows::{Csr, Dense, Rows};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Rows a panel holds: its kernel values and features stay in the cache.
pub(crate) const PANEL: usize = 256;

/// Below this share of ‖u‖²+‖v‖² a squared distance has lost more than three digits.
const CANCELLED: f64 = 1e-3;

/// Landmark rows made ready for a kernel, to be met by any other rows.
#[derive(Debug)]
pub struct Panel {
    kernel: Kernel,
    l: usize,
    side: Side,
}

#[derive(Debug)]
enum Side {
    /// Points (l×p, row-major) whose products with a row are wanted; cosine: of length 1.
    Products { points: Vec<f64>, p: usize },
    /// √γ(y − shift) and its squared norms beside the rows themselves.
    Distances { rows: Rows<'static>, shift: Vec<f64>, points: Vec<f64>, norms: Vec<f64> },
    /// Transposed landmarks (p×l): L1 and χ² gain nothing from products.
    Columnwise { transposed: Vec<f64>, p: usize },
    /// Landmarks by column.
    Inverted { rows: Rows<'static>, index: Inverted, totals: Vec<f64> },
    /// Columns of a given kernel matrix with n columns.
    Given { columns: Vec<usize>, n: usize },
}

/// For each input column the landmarks that have it, with their values.
#[derive(Debug)]
struct Inverted {
    start: Vec<usize>,
    landmark: Vec<u32>,
    value: Vec<f64>,
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
        let mut values = vec![0.0; rows.n() * panel.l];
        panel.fill_all(rows, &mut values);
        Ok(MatRef::from_row_major_slice(&values, rows.n(), panel.l).to_owned())
    }
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

impl Panel {
    /// Makes landmark rows ready. The kernel must not be `precomputed`.
    pub fn new(kernel: Kernel, landmarks: &Rows) -> Self {
        let (l, p) = (landmarks.n(), landmarks.p());
        let statistic = kernel.shape.statistic();
        let side = match (landmarks, statistic) {
            (Rows::Sparse(csr), Statistic::Cosine) => {
                let rows = unit_length_sparse(csr, l);
                let Rows::Sparse(csr) = &rows else { unreachable!("sparse rows stay sparse") };
                let (index, totals) = (Inverted::new(csr, l, 1.0), vec![0.0; l]);
                Side::Inverted { rows, index, totals }
            }
            (Rows::Sparse(csr), _) => {
                let unit = Unit::of(kernel);
                let totals = (0..l).map(|i| unit.total(csr.row(i).1)).collect();
                let index = Inverted::new(csr, l, unit.root_gamma);
                Side::Inverted { rows: landmarks.select(&(0..l).collect::<Vec<_>>()), index, totals }
            }
            (Rows::Dense(d), Statistic::SquaredDistance) => {
                let mut shift = vec![0.0; p];
                for i in 0..l {
                    for (s, v) in shift.iter_mut().zip(d.row(i)) {
                        *s += v / l as f64;
                    }
                }
                let (points, norms) = shifted(d, l, &shift, kernel.gamma.sqrt());
                Side::Distances { rows: landmarks.select(&(0..l).collect::<Vec<_>>()), shift, points, norms }
            }
            (Rows::Dense(d), Statistic::Manhattan | Statistic::ChiSquared) => {
                let mut transposed = vec![0.0; p * l];
                for i in 0..l {
                    for (j, v) in d.row(i).iter().enumerate() {
                        transposed[j * l + i] = *v;
                    }
                }
                Side::Columnwise { transposed, p }
            }
            (Rows::Dense(d), Statistic::Cosine) => Side::Products { points: unit_length(d, l), p },
            (Rows::Dense(d), _) => Side::Products { points: d.values().to_vec(), p },
        };
        Self { kernel, l, side }
    }

    /// Columns of a precomputed kernel whose rows have n values.
    pub fn given(columns: &[usize], n: usize) -> Self {
        let side = Side::Given { columns: columns.to_vec(), n };
        Self { kernel: Kernel::precomputed(), l: columns.len(), side }
    }

    /// Number of landmarks.
    pub fn n_landmarks(&self) -> usize {
        self.l
    }

    /// Number of columns that rows must have.
    pub fn p(&self) -> usize {
        match &self.side {
            Side::Products { p, .. } | Side::Columnwise { p, .. } => *p,
            Side::Distances { rows, .. } | Side::Inverted { rows, .. } => rows.p(),
            Side::Given { n, .. } => *n,
        }
    }

    /// Kernel values of the rows against the landmarks, row-major into `out` (n×l). Sequential: callers share panels
    /// of rows out to threads.
    ///
    /// # Panics
    /// If `out` has another length than n·l or the rows another number of columns.
    pub fn fill(&self, rows: &Rows, out: &mut [f64]) {
        self.statistics(rows, out);
        self.kernel.finish(out);
    }

    /// What the kernel is a function of: products, or distances multiplied by γ.
    pub(crate) fn statistics(&self, rows: &Rows, out: &mut [f64]) {
        assert_eq!(rows.p(), self.p(), "rows must have the landmarks' columns");
        assert_eq!(out.len(), rows.n() * self.l, "out must hold n·l values");
        if out.is_empty() {
            return;
        }
        match (&self.side, rows) {
            (Side::Inverted { rows: landmarks, index, totals }, _) => {
                let mut rows = rows.to_sparse();
                if let (Statistic::Cosine, Rows::Sparse(csr)) = (self.kernel.shape.statistic(), &rows) {
                    rows = unit_length_sparse(csr, rows.n());
                }
                let (Rows::Sparse(rows), Rows::Sparse(landmarks)) = (&rows, landmarks) else {
                    unreachable!("to_sparse gives sparse rows, and these landmarks are sparse");
                };
                self.fill_sparse(rows, landmarks, index, totals, out);
            }
            (_, Rows::Sparse(_)) => {
                let dense =
                    Rows::dense(rows.to_dense(), rows.n(), rows.p()).unwrap_or_else(|e| unreachable!("{e}"));
                self.statistics(&dense, out);
            }
            (Side::Products { points, p }, Rows::Dense(d)) => {
                if self.kernel.shape.statistic() == Statistic::Cosine {
                    self.products(&unit_length(d, rows.n()), points, *p, 1.0, out);
                } else {
                    self.products(d.values(), points, *p, 1.0, out);
                }
            }
            (Side::Distances { rows: landmarks, shift, points, norms }, Rows::Dense(d)) => {
                let Rows::Dense(landmarks) = landmarks else { unreachable!("dense landmarks") };
                self.fill_distances(d, rows.n(), landmarks, shift, points, norms, out);
            }
            (Side::Columnwise { transposed, .. }, Rows::Dense(d)) => self.fill_columnwise(d, transposed, out),
            (Side::Given { columns, .. }, Rows::Dense(d)) => {
                for (i, out) in out.chunks_exact_mut(self.l).enumerate() {
                    let row = d.row(i);
                    out.iter_mut().zip(columns).for_each(|(o, &c)| *o = row[c]);
                }
            }
        }
    }

    /// [`fill`](Self::fill) for any number of rows, panels shared out to the threads of the current pool.
    pub fn fill_all(&self, rows: &Rows, out: &mut [f64]) {
        if self.l == 0 {
            return;
        }
        out.par_chunks_mut(PANEL * self.l).enumerate().for_each(|(panel, out)| {
            let start = panel * PANEL;
            self.fill(&rows.slice(start..start + out.len() / self.l), out);
        });
    }

    fn products(&self, rows: &[f64], points: &[f64], p: usize, factor: f64, out: &mut [f64]) {
        let n = out.len() / self.l;
        matmul(
            MatMut::from_row_major_slice_mut(out, n, self.l),
            Accum::Replace,
            MatRef::from_row_major_slice(rows, n, p),
            MatRef::from_row_major_slice(points, self.l, p).transpose(),
            factor,
            Par::Seq,
        );
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one enum variant")]
    fn fill_distances(
        &self,
        rows: &Dense,
        n: usize,
        landmarks: &Dense,
        shift: &[f64],
        points: &[f64],
        norms: &[f64],
        out: &mut [f64],
    ) {
        let root = self.kernel.gamma.sqrt();
        let (u, row_norms) = shifted(rows, n, shift, root);
        self.products(&u, points, shift.len(), -2.0, out);
        for (i, out) in out.chunks_exact_mut(self.l).enumerate() {
            if add_norms(out, row_norms[i], norms) {
                let row = rows.row(i);
                for (j, s) in out.iter_mut().enumerate() {
                    if is_cancelled(*s, row_norms[i] + norms[j]) {
                        *s = row.iter().zip(landmarks.row(j)).map(|(x, y)| (root * (x - y)).powi(2)).sum();
                    }
                }
            }
        }
    }

    fn fill_columnwise(&self, rows: &Dense, transposed: &[f64], out: &mut [f64]) {
        let chi2 = self.kernel.shape.statistic() == Statistic::ChiSquared;
        let gamma = self.kernel.gamma;
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for (i, out) in out.chunks_exact_mut(self.l).enumerate() {
                    out.fill(0.0);
                    for (&x, column) in rows.row(i).iter().zip(transposed.chunks_exact(self.l)) {
                        if chi2 {
                            for (o, &y) in out.iter_mut().zip(column) {
                                *o += chi2_term(x, y);
                            }
                        } else {
                            for (o, &y) in out.iter_mut().zip(column) {
                                *o += (x - y).abs();
                            }
                        }
                    }
                    out.iter_mut().for_each(|o| *o *= gamma);
                }
            },
        );
    }

    fn fill_sparse(&self, rows: &Csr, landmarks: &Csr, index: &Inverted, totals: &[f64], out: &mut [f64]) {
        let unit = Unit::of(self.kernel);
        for (i, out) in out.chunks_exact_mut(self.l).enumerate() {
            let (columns, values) = rows.row(i);
            out.fill(0.0);
            for (&j, &x) in columns.iter().zip(values) {
                let range = index.start[j as usize]..index.start[j as usize + 1];
                let x = x * unit.root_gamma;
                for (&at, &y) in index.landmark[range.clone()].iter().zip(&index.value[range]) {
                    out[at as usize] += unit.shared(x, y);
                }
            }
            let total = unit.total(values);
            for (j, o) in out.iter_mut().enumerate() {
                let s = match unit.statistic {
                    Statistic::Product | Statistic::Cosine | Statistic::Given => *o,
                    _ => {
                        let s = total + totals[j] - *o;
                        if is_cancelled(s, total + totals[j]) {
                            unit.direct((columns, values), landmarks.row(j))
                        } else {
                            s
                        }
                    }
                };
                *o = s;
            }
        }
    }
}

/// How a sparse pair statistic is put together: total(x) + total(y) − Σ shared over the common columns.
#[derive(Clone, Copy)]
struct Unit {
    statistic: Statistic,
    /// Multiplied into values before they are squared; for L1 and χ² it is γ itself, as they grow linearly.
    root_gamma: f64,
}

impl Unit {
    fn of(kernel: Kernel) -> Self {
        let statistic = kernel.shape.statistic();
        let root_gamma = match statistic {
            Statistic::SquaredDistance => kernel.gamma.sqrt(),
            Statistic::Manhattan | Statistic::ChiSquared => kernel.gamma,
            _ => 1.0,
        };
        Self { statistic, root_gamma }
    }

    fn total(self, values: &[f64]) -> f64 {
        match self.statistic {
            Statistic::Manhattan | Statistic::ChiSquared => {
                values.iter().map(|v| (v * self.root_gamma).abs()).sum()
            }
            _ => values.iter().map(|v| (v * self.root_gamma).powi(2)).sum(),
        }
    }

    #[inline(always)]
    fn shared(self, x: f64, y: f64) -> f64 {
        match self.statistic {
            Statistic::SquaredDistance => 2.0 * x * y,
            Statistic::Manhattan => x.abs() + y.abs() - (x - y).abs(),
            Statistic::ChiSquared => x + y - chi2_term(x, y),
            _ => x * y,
        }
    }

    /// The statistic by walking both rows side by side.
    fn direct(self, (a, x): (&[u32], &[f64]), (b, y): (&[u32], &[f64])) -> f64 {
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < a.len() || j < b.len() {
            let left = a.get(i).copied().unwrap_or(u32::MAX);
            let right = b.get(j).copied().unwrap_or(u32::MAX);
            let (u, v) = (if left <= right { x[i] } else { 0.0 }, if right <= left { y[j] } else { 0.0 });
            i += usize::from(left <= right);
            j += usize::from(right <= left);
            sum += match self.statistic {
                Statistic::SquaredDistance => (self.root_gamma * (u - v)).powi(2),
                Statistic::Manhattan => self.root_gamma * (u - v).abs(),
                Statistic::ChiSquared => self.root_gamma * chi2_term(u, v),
                _ => u * v,
            };
        }
        sum
    }
}

impl Inverted {
    fn new(csr: &Csr, l: usize, factor: f64) -> Self {
        let p = csr.p();
        let mut start = vec![0usize; p + 1];
        for i in 0..l {
            csr.row(i).0.iter().for_each(|&j| start[j as usize + 1] += 1);
        }
        for j in 0..p {
            start[j + 1] += start[j];
        }
        let mut next = start.clone();
        let mut landmark = vec![0; start[p]];
        let mut value = vec![0.0; start[p]];
        for i in 0..l {
            let (columns, values) = csr.row(i);
            for (&j, &v) in columns.iter().zip(values) {
                let at = &mut next[j as usize];
                landmark[*at] = i as u32;
                value[*at] = v * factor;
                *at += 1;
            }
        }
        Self { start, landmark, value }
    }
}

#[inline(always)]
fn chi2_term(x: f64, y: f64) -> f64 {
    let (difference, sum) = (x - y, x + y);
    if sum > 0.0 { difference * (difference / sum) } else { 0.0 }
}

/// Also true for NaN and infinity, which products of overflowing rows give.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "a branch would keep the loop from being vectorised")]
fn is_cancelled(s: f64, terms: f64) -> bool {
    let right = (s >= CANCELLED * terms) & (s < f64::INFINITY);
    !right
}

/// Adds the norms to −2⟨u,v⟩; whether any result has cancelled.
fn add_norms(out: &mut [f64], row_norm: f64, norms: &[f64]) -> bool {
    let cancelled = pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            // A count, because a flag that is set inside the loop would keep it from being vectorised.
            let mut cancelled = 0u64;
            for (o, &norm) in out.iter_mut().zip(norms) {
                let terms = row_norm + norm;
                *o += terms;
                cancelled += u64::from(is_cancelled(*o, terms));
            }
            cancelled
        },
    );
    cancelled > 0
}

/// root·(x − shift) for all rows, and the squared norms.
fn shifted(rows: &Dense, n: usize, shift: &[f64], root: f64) -> (Vec<f64>, Vec<f64>) {
    let mut u = Vec::with_capacity(n * shift.len());
    let mut norms = Vec::with_capacity(n);
    for i in 0..n {
        let start = u.len();
        u.extend(rows.row(i).iter().zip(shift).map(|(x, s)| root * (x - s)));
        norms.push(u[start..].iter().map(|v| v * v).sum());
    }
    (u, norms)
}

/// Rows divided by their length (by their largest number first, so that no square overflows); zero rows stay zero.
fn unit_length(rows: &Dense, n: usize) -> Vec<f64> {
    (0..n).flat_map(|i| unit_row(rows.row(i))).collect()
}

fn unit_row(row: &[f64]) -> impl Iterator<Item = f64> {
    let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let norm = row.iter().map(|v| (v / unit).powi(2)).sum::<f64>().sqrt();
    let norm = if norm > 0.0 { norm } else { 1.0 };
    row.iter().map(move |v| v / unit / norm)
}

/// The same for sparse rows.
fn unit_length_sparse(csr: &Csr, n: usize) -> Rows<'static> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        let (columns, row) = csr.row(i);
        indices.extend_from_slice(columns);
        values.extend(unit_row(row));
        indptr.push(indices.len());
    }
    Rows::sparse(indptr, indices, values, csr.p()).unwrap_or_else(|e| unreachable!("{e}"))
}

/// The kernel matrix of training rows, never whole: columns on demand, every value counted.
#[derive(Debug)]
pub struct Gram<'a> {
    kernel: Kernel,
    rows: &'a Rows<'a>,
    rounding: f64,
    evaluations: AtomicU64,
}

impl<'a> Gram<'a> {
    /// Checks the rows against the kernel.
    pub fn new(kernel: Kernel, rows: &'a Rows<'a>) -> Result<Self> {
        Self::with_rounding(kernel, rows, f64::EPSILON)
    }

    /// The same for values whose relative rounding error is not that of double precision.
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
        if diagonal(kernel, rows).iter().all(|v| *v == 0.0) {
            return Err(Error::data(
                "k(x,x) = 0 for every row: the rows are all zero in the kernel's space, so there is no basis\n\
                 hint: look at the rows, or use a kernel such as `rbf`",
            ));
        }
        Ok(Self { kernel, rows, rounding, evaluations: AtomicU64::new(0) })
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
        panel.fill(&self.rows.slice(range), out);
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
        match (selected, self.rows, self.kernel.shape.statistic()) {
            // One sparse row needs no index of all p columns.
            (Rows::Sparse(selected), Rows::Sparse(rows), statistic) if statistic != Statistic::Cosine => {
                let (unit, own) = (Unit::of(self.kernel), rows.row(landmark));
                out.iter_mut().enumerate().for_each(|(i, o)| *o = unit.direct(selected.row(i), own));
                self.kernel.finish(out);
            }
            _ => self.panel(&[landmark]).fill(selected, out),
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

fn check_symmetric(rows: &Rows, tolerance: f64) -> Result<()> {
    let Rows::Dense(d) = rows else { return Ok(()) };
    let largest = d.values().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for i in 0..rows.n() {
        for j in 0..i {
            if (d.row(i)[j] - d.row(j)[i]).abs() > tolerance * largest {
                return Err(Error::data(format!(
                    "a precomputed kernel must be symmetric, but it holds {} at ({}, {}) and {} at ({}, {})",
                    d.row(i)[j],
                    i + 1,
                    j + 1,
                    d.row(j)[i],
                    j + 1,
                    i + 1
                )));
            }
        }
    }
    Ok(())
}
