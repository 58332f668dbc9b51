//! Kernel values as panels: a few hundred rows against fixed landmark rows, by matrix products where the kernel allows.
//!
//!   γ‖x−y‖² = ‖u‖² + ‖v‖² − 2⟨u,v⟩,   u = √γ(x−μ), v = √γ(y−μ), μ the landmarks' mean
//!
//! cost    2p flops a value (product kernels, squared distances), 3p for L1 and χ²; sparse: the common columns only
//! differs where the sum above cancels to less than 1e−3 of its terms, the distance is computed from the
//!         difference of the rows, so equal rows are at distance 0 exactly and none is negative; γ is inside, so
//!         rows of any scale neither overflow nor vanish

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::kernel::{Kernel, Statistic};
use super::pairs::{Inverted, Unit, chi2_term, is_cancelled, unit_length_sparse, unit_row};
use crate::data::rows::{Csr, Dense, Rows};

/// Rows a panel holds: its kernel values and features stay in the cache.
pub(crate) const PANEL: usize = 256;

/// Landmarks whose sums are kept in registers at a time, where there is no product.
const TILE: usize = 32;

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
    /// Landmarks in tiles of [`TILE`], each column after column: L1 and χ² gain nothing from products.
    Columnwise { tiles: Vec<f64>, p: usize },
    /// Landmarks by column.
    Inverted { rows: Rows<'static>, index: Inverted, totals: Vec<f64> },
    /// Columns of a given kernel matrix with n columns.
    Given { columns: Vec<usize>, n: usize },
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
                let mut tiles = vec![0.0; l.div_ceil(TILE) * TILE * p];
                for i in 0..l {
                    let tile = &mut tiles[i / TILE * TILE * p..];
                    for (j, v) in d.row(i).iter().enumerate() {
                        tile[j * TILE + i % TILE] = *v;
                    }
                }
                Side::Columnwise { tiles, p }
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
            (Side::Columnwise { tiles, p }, Rows::Dense(d)) => {
                let (l, gamma) = (self.l, self.kernel.gamma);
                let columnwise = Columnwise { rows: d, tiles, p: *p, l, gamma, out };
                if self.kernel.shape.statistic() == Statistic::ChiSquared {
                    pulp::Arch::new().dispatch(ChiSquared(columnwise));
                } else {
                    pulp::Arch::new().dispatch(Manhattan(columnwise));
                }
            }
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

/// γ·Σ_j term(x_j, y_j), with the sums of a tile of landmarks in registers.
struct Columnwise<'a> {
    rows: &'a Dense<'a>,
    tiles: &'a [f64],
    p: usize,
    l: usize,
    gamma: f64,
    out: &'a mut [f64],
}

impl Columnwise<'_> {
    #[inline(always)]
    fn fill(self, term: impl Fn(f64, f64) -> f64) {
        for (at, tile) in self.tiles.chunks_exact((TILE * self.p).max(1)).enumerate() {
            for (i, out) in self.out.chunks_exact_mut(self.l).enumerate() {
                let mut sums = [0.0; TILE];
                for (&x, column) in self.rows.row(i).iter().zip(tile.as_chunks::<TILE>().0) {
                    for (sum, &y) in sums.iter_mut().zip(column) {
                        *sum += term(x, y);
                    }
                }
                for (o, sum) in out[at * TILE..].iter_mut().zip(sums) {
                    *o = self.gamma * sum;
                }
            }
        }
    }
}

// Types of their own, because a closure of this size would not be inlined into the dispatch, and so not be vectorised.
struct Manhattan<'a>(Columnwise<'a>);
struct ChiSquared<'a>(Columnwise<'a>);

impl pulp::NullaryFnOnce for Manhattan<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.fill(
            #[inline(always)]
            |x, y| (x - y).abs(),
        );
    }
}

impl pulp::NullaryFnOnce for ChiSquared<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.fill(chi2_term);
    }
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
