//! Kernel values as panels: a few hundred rows against fixed landmark rows, by matrix products where the kernel allows.
//!
//! cost    2p flops a value (product kernels, squared distances), 3p for L1 and χ²; sparse: the common columns only

use rayon::prelude::*;

use super::composite::Sum;
use super::kernel::{Kernel, Shape, Statistic};
use super::own::Own;
use super::pairs::{Inverted, Unit, additive_term, chi2_term, is_cancelled, unit_length_sparse};
use super::products::Products;
use crate::data::rows::{Csr, Dense, F64Rows, Rows};

/// Rows a panel holds: its kernel values and features stay in the cache.
pub(crate) const PANEL: usize = 256;

/// Landmarks whose sums are kept in registers at a time, where there is no product.
const TILE: usize = 32;

/// Landmark rows, prepared for a kernel.
#[derive(Debug)]
pub struct Panel {
    kernel: Kernel,
    l: usize,
    side: Side,
}

#[derive(Debug)]
enum Side {
    /// Points whose products with a row are wanted.
    Products(Products<f64>),
    /// Landmarks in tiles of [`TILE`], each column after column: L1 and χ² gain nothing from products.
    Columnwise { tiles: Vec<f64>, p: usize },
    /// Landmarks by column.
    Inverted { rows: Rows<'static>, index: Inverted, totals: Vec<f64> },
    /// Every factor of a sum of products.
    Sum(Box<Sum>),
    /// Landmarks for a function of the user's, row-major.
    Own { own: &'static Own, landmarks: Vec<f64>, p: usize },
    /// Columns of a given kernel matrix with n columns.
    Given { columns: Vec<usize>, n: usize },
}

impl Panel {
    /// Prepares landmark rows. The kernel must not be `precomputed`.
    pub fn new(kernel: Kernel, landmarks: &Rows) -> Self {
        let landmarks = &*landmarks.to_f64();
        let (l, p) = (landmarks.n(), landmarks.p());
        let statistic = kernel.shape.statistic();
        let side = match (landmarks.as_f64(), statistic) {
            (_, Statistic::Value) => match kernel.shape {
                Shape::Composite(composite) => {
                    Side::Sum(Box::new(Sum::new(composite, kernel.gamma, landmarks)))
                }
                Shape::Own(own) => Side::Own { own, landmarks: landmarks.to_dense(), p },
                _ => unreachable!("no other kernel has values for statistics"),
            },
            (F64Rows::Sparse(csr), Statistic::Cosine) => {
                let rows = unit_length_sparse(csr, l);
                let Rows::Sparse(csr) = &rows else { unreachable!("sparse rows stay sparse") };
                let (index, totals) = (Inverted::new(csr, l, 1.0), vec![0.0; l]);
                Side::Inverted { rows, index, totals }
            }
            (F64Rows::Sparse(csr), _) => {
                let unit = Unit::of(kernel, p);
                let totals = (0..l).map(|i| unit.total(csr.row(i).1)).collect();
                let index = Inverted::new(csr, l, unit.root_gamma);
                Side::Inverted { rows: landmarks.select(&(0..l).collect::<Vec<_>>()), index, totals }
            }
            (
                F64Rows::Dense(d),
                Statistic::Manhattan | Statistic::ChiSquared | Statistic::Additive | Statistic::Equal,
            ) => {
                let mut tiles = vec![0.0; l.div_ceil(TILE) * TILE * p];
                for i in 0..l {
                    let tile = &mut tiles[i / TILE * TILE * p..];
                    for (j, v) in d.row(i).iter().enumerate() {
                        tile[j * TILE + i % TILE] = *v;
                    }
                }
                Side::Columnwise { tiles, p }
            }
            (F64Rows::Dense(d), _) => Side::Products(
                Products::new(kernel, d, l, p).unwrap_or_else(|| unreachable!("it must not be precomputed")),
            ),
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
            Side::Products(products) => products.p(),
            Side::Columnwise { p, .. } | Side::Own { p, .. } => *p,
            Side::Sum(sum) => sum.p(),
            Side::Inverted { rows, .. } => rows.p(),
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
        match &self.side {
            Side::Sum(sum) => return sum.fill(rows, out),
            Side::Own { own, landmarks, p } => return own.fill(&rows.to_dense(), landmarks, *p, out),
            _ => {}
        }
        let wide = rows.to_f64();
        match (&self.side, wide.as_f64()) {
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
            (_, F64Rows::Sparse(_)) => {
                let dense =
                    Rows::dense(rows.to_dense(), rows.n(), rows.p()).unwrap_or_else(|e| unreachable!("{e}"));
                self.statistics(&dense, out);
            }
            (Side::Products(products), F64Rows::Dense(d)) => products.statistics(d.values(), out),
            (Side::Columnwise { tiles, p }, F64Rows::Dense(d)) => {
                let statistic = self.kernel.shape.statistic();
                let gamma = match statistic {
                    Statistic::Additive => 1.0,
                    Statistic::Equal => 1.0 / *p as f64,
                    _ => self.kernel.gamma,
                };
                let l = self.l;
                let columnwise = Columnwise { rows: d, tiles, p: *p, l, gamma, out };
                let arch = pulp::Arch::new();
                match statistic {
                    Statistic::ChiSquared => arch.dispatch(ChiSquared(columnwise)),
                    Statistic::Additive => arch.dispatch(Additive(columnwise)),
                    Statistic::Equal => arch.dispatch(Equal(columnwise)),
                    _ => arch.dispatch(Manhattan(columnwise)),
                }
            }
            (Side::Sum(_) | Side::Own { .. }, F64Rows::Dense(_)) => unreachable!("they came first"),
            (Side::Given { columns, .. }, F64Rows::Dense(d)) => {
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

    fn fill_sparse(&self, rows: &Csr, landmarks: &Csr, index: &Inverted, totals: &[f64], out: &mut [f64]) {
        let unit = Unit::of(self.kernel, rows.p());
        for (i, out) in out.chunks_exact_mut(self.l).enumerate() {
            let (columns, values) = rows.row(i);
            out.fill(0.0);
            for (&j, &x) in columns.iter().zip(values) {
                let range = index.range(j as usize);
                let x = x * unit.root_gamma;
                for (&at, &y) in index.landmark[range.clone()].iter().zip(&index.value[range]) {
                    out[at as usize] += unit.shared(x, y);
                }
            }
            let total = unit.total(values);
            for (j, o) in out.iter_mut().enumerate() {
                let s = match unit.statistic {
                    Statistic::Product | Statistic::Cosine | Statistic::Additive | Statistic::Given => *o,
                    Statistic::Equal => unit.equal(total + totals[j] - *o),
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
struct Additive<'a>(Columnwise<'a>);
struct Equal<'a>(Columnwise<'a>);

impl pulp::NullaryFnOnce for Additive<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.fill(additive_term);
    }
}

impl pulp::NullaryFnOnce for Equal<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.fill(
            #[inline(always)]
            |x, y| if x == y { 1.0 } else { 0.0 },
        );
    }
}

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
