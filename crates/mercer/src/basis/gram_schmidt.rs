//! Gram–Schmidt on the images of the rows, in the order given.
//!
//!   w_j = (φ(x_j) − Σ_{i<j} ⟨φ(x_j), w_i⟩ w_i) / ‖…‖,   w_j = Σ a_ji φ(x_i)
//!
//! Computed as a Cholesky factorisation of K in the order of the rows, with L Lᵀ = K over the rows accepted so far:
//!
//!   ⟨φ(x), w⟩ = L⁻¹ k(x, accepted),   coefficients of what is left of x: −L⁻ᵀ L⁻¹ k(x, accepted)
//!
//! cost    2·n·m² flops by triangular solves in blocks of rows (two Cholesky factorisations where all rows are accepted), up to
//!         9·n·m² more where rows are nearly dependent; n·m kernel values, and m for each skipped row for the residual;
//!         2·m² numbers of memory, 3·m² for nearly dependent rows
//! stops   at the end of the rows, or at the cap
//! source  EKS, Alg. 1 and sec. 4.2.2; SK-Relief, sec. 3
//! differs a squared residual below −1e−6·(m+1)·max k means that the kernel is not positive semi-definite (the bound of
//!         the pivoted bases, 1e−8, is inside the rounding that the rule below allows);
//!         a block of rows is orthogonalised a second time, with the kernel values themselves, where the coefficients a of
//!         one of its rows have eps·max k·‖a‖₁² > 1e−9 (the papers' loss of orthogonality is what one pass leaves then);
//!         within a block it is always twice; skipped is
//!         a row whose residual norm is at most tol·√k(x,x), or whose coefficients have eps·max k·‖a‖₁² > 1e−6, beyond
//!         which no double-precision A can be orthonormal; so rows that are clearly new can be skipped once nearly
//!         dependent ones are in, and "at full rank Z Zᵀ = K" is `kobl`'s law and not this one's.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::fitted::Stop;
use super::pivoted::{loss_limit, not_psd};
use crate::error::Result;
use crate::kernel::Gram;
use crate::kernel::parameters::with_kernel;
use crate::linalg::self_product;
use crate::monitor::{Growth, Monitor, Stage};
use crate::spec::{MethodSpec, Parameter, SEED, Stage as SpecStage, Values};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "gram-schmidt",
    stage: SpecStage::Basis,
    file: "basis/gram_schmidt.rs",
    source: "EKS, Alg. 1; K-Relief, 3",
    cost: "n·m² flops, m² memory",
    parameters: &with_kernel::<3, 9>([super::N_COMPONENTS.none("all rows that are independent"), TOL, SEED]),
    help: "Gram-Schmidt: rows in their own order, made orthogonal to those before",
};

const TOL: Parameter = Parameter::share(
    "tol",
    false,
    false,
    "residual norm, relative to sqrt k(x,x), at which a row is skipped",
)
.default("1e-6");

/// Residual norms up to this share of √k(x,x) make it skip a row.
pub(crate) fn default_tol() -> f64 {
    Values::defaults(&SPEC).number("tol").unwrap_or_default()
}

/// Rows that are orthogonalised together.
const BLOCK: usize = 128;

/// Of the largest loss that a coefficient row may cause, the share at which its block is orthogonalised again.
const REFINED: f64 = 1e-3;

/// Accepted rows in order, their residual norms, and the coefficients over them.
pub(crate) struct Orthogonal {
    pub(crate) pivots: Vec<usize>,
    pub(crate) norms: Vec<f64>,
    pub(crate) coefficients: Mat<f64>,
    pub(crate) stop: Stop,
}

/// Orthogonalises the rows in their order.
pub(crate) fn run(gram: &Gram, cap: usize, tol: f64, monitor: &Monitor) -> Result<Orthogonal> {
    let n = gram.n();
    let diagonal = gram.diagonal();
    let rules = Rules {
        gram,
        largest: diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs())),
        tol: tol.max((10.0 * gram.rounding()).sqrt()),
        diagonal,
    };
    let mut basis =
        Orthogonal { pivots: Vec::new(), norms: Vec::new(), coefficients: Mat::new(), stop: Stop::Rule };
    let mut l = Square(Mat::new());
    let mut a = Square(Mat::new());
    let mut among: Option<Square> = None; // K over the accepted rows, once a block is orthogonalised again
    // Rows that are skipped leave those after them cheaper, and the cap may end it.
    monitor.enter(Stage {
        name: "orthogonalising rows",
        total: n,
        done: 0,
        growth: Growth::Square,
        open: true,
    });
    for start in (0..n).step_by(BLOCK) {
        monitor.check()?;
        let rows: Vec<usize> = (start..n.min(start + BLOCK)).collect();
        let (b, m) = (rows.len(), basis.pivots.len());
        let cross = gram.block(&basis.pivots, &rows);
        let cross = MatRef::from_row_major_slice(&cross, m, b).to_owned();
        let within = gram.block(&rows, &rows);
        let within = MatRef::from_row_major_slice(&within, b, b);

        let factors = Factors { l: l.part(m), a: a.part(m) };
        let mut t = cross.clone();
        factors.solve(&mut t, Factors::forward);
        let mut x = t.clone();
        factors.solve(&mut x, Factors::backward);
        let mut rest = Remainder { inner: within - self_product(t.as_ref()), t, x };
        let mut decided = rules.decide(&rest, &rows, cap - m)?;
        if decided.needs_refining {
            let among = among.get_or_insert_with(|| Square::of(&gram.block(&basis.pivots, &basis.pivots), m));
            rest.refine(cross.as_ref(), within, among.part(m), a.part(m));
            decided = rules.decide(&rest, &rows, cap - m)?;
        }
        basis.stop = decided.stop;

        let total = m + decided.accepted.len();
        let positions: Vec<usize> = decided.accepted.iter().map(|row| row.position).collect();
        l.grow(total, cap);
        a.grow(total, cap);
        among.iter_mut().for_each(|among| among.grow(total, cap));
        a.0.submatrix_mut(m, 0, positions.len(), m).copy_from(decided.over_earlier.transpose());
        for (at, row) in decided.accepted.into_iter().enumerate() {
            let i = m + at;
            for j in 0..m {
                l.0[(i, j)] = rest.t[(j, row.position)];
            }
            for (other, &j) in positions[..=at].iter().enumerate() {
                l.0[(i, m + other)] = row.products.get(other).copied().unwrap_or(row.norm);
                a.0[(i, m + other)] = row.over_block[j];
            }
            if let Some(Square(among)) = &mut among {
                for j in 0..m {
                    (among[(i, j)], among[(j, i)]) = (cross[(j, row.position)], cross[(j, row.position)]);
                }
                for (other, &j) in positions.iter().enumerate() {
                    among[(i, m + other)] = within[(row.position, j)];
                }
            }
            basis.norms.push(row.norm);
        }
        basis.pivots.extend(positions.iter().map(|&i| rows[i]));
        monitor.advance(b);
        if basis.stop == Stop::Cap {
            break;
        }
    }
    basis.coefficients = a.part(basis.pivots.len()).to_owned();
    Ok(basis)
}

/// What the accepted rows leave of a block of rows.
struct Remainder {
    /// Inner products with the basis, m×b.
    t: Mat<f64>,
    /// Minus the coefficients over the accepted rows, m×b.
    x: Mat<f64>,
    /// Inner products among the block, b×b.
    inner: Mat<f64>,
}

impl Remainder {
    /// Takes out what the first pass has left of the basis, from the kernel values themselves.
    fn refine(
        &mut self,
        cross: MatRef<'_, f64>,
        within: MatRef<'_, f64>,
        among: MatRef<'_, f64>,
        a: MatRef<'_, f64>,
    ) {
        let m = cross.nrows();
        let mut left = cross.to_owned();
        add_product(&mut left, among, self.x.as_ref(), -1.0);
        let mut more = Mat::zeros(m, cross.ncols());
        add_product(&mut more, a, left.as_ref(), 1.0);
        self.t += &more;
        add_product(&mut self.x, a.transpose(), more.as_ref(), 1.0);
        left.copy_from(cross);
        add_product(&mut left, among, self.x.as_ref(), -1.0);
        self.inner.copy_from(within);
        add_product(&mut self.inner, self.x.transpose(), left.as_ref(), -1.0);
        add_product(&mut self.inner, cross.transpose(), self.x.as_ref(), -1.0);
    }
}

/// A row that was accepted.
struct Accepted {
    position: usize,
    norm: f64,
    /// Inner products with the vectors of the block's rows that were accepted before.
    products: Vec<f64>,
    over_block: Vec<f64>,
}

/// What became of the rows of a block.
struct Decided {
    accepted: Vec<Accepted>,
    /// Coefficients over the rows accepted before the block, one column a row.
    over_earlier: Mat<f64>,
    needs_refining: bool,
    stop: Stop,
}

impl Decided {
    /// The largest loss of orthogonality that rounding in a row of coefficients may cause.
    fn loss(&self, rules: &Rules) -> f64 {
        let rows = self.accepted.iter().zip(self.over_earlier.col_iter());
        let sizes = rows.map(|(row, over_earlier)| size(&row.over_block) + over_earlier.norm_l1());
        rules.loss(sizes.fold(0.0, f64::max))
    }

    fn refined_where(self, needs_refining: bool) -> Self {
        Self { needs_refining: needs_refining && self.over_earlier.nrows() > 0, ..self }
    }
}

/// Which rows are skipped.
struct Rules<'a> {
    gram: &'a Gram<'a>,
    diagonal: Vec<f64>,
    /// max k(x,x)
    largest: f64,
    tol: f64,
}

impl Rules<'_> {
    /// Orthogonalises what is left of a block's rows, one after the other, each twice.
    fn decide(&self, rest: &Remainder, rows: &[usize], room: usize) -> Result<Decided> {
        // Mostly no row has large coefficients; then those of all rows are one product.
        let limit = loss_limit(self.gram.rounding());
        if let Some(decided) = self.orthogonalise(rest, rows, room, false)? {
            let loss = decided.loss(self);
            if loss <= limit {
                return Ok(decided.refined_where(loss > REFINED * limit));
            }
        }
        let decided = self.orthogonalise(rest, rows, room, true)?;
        Ok(decided.unwrap_or_else(|| unreachable!("every row was looked at")).refined_where(true))
    }

    /// The loss of orthogonality that rounding in coefficients with this sum of magnitudes may cause.
    fn loss(&self, size: f64) -> f64 {
        self.gram.rounding() * self.largest * size * size
    }

    /// Skips rows of which too little is left and, where asked to look at them, those whose coefficients are too large;
    /// None if they turn out to be so without looking.
    fn orthogonalise(
        &self,
        rest: &Remainder,
        rows: &[usize],
        room: usize,
        look: bool,
    ) -> Result<Option<Decided>> {
        let (b, m) = (rows.len(), rest.x.nrows());
        let mut accepted: Vec<Accepted> = Vec::new();
        let mut images: Vec<Vec<f64>> = Vec::new(); // rest.inner·over_block of the accepted
        let mut stop = Stop::Rule;
        for i in 0..b {
            if accepted.len() == room {
                stop = Stop::Cap;
                break;
            }
            let mut t = vec![0.0; b];
            t[i] = 1.0;
            let mut products = vec![0.0; images.len()];
            for _ in 0..2 {
                for ((earlier, image), sum) in accepted.iter().zip(&images).zip(&mut products) {
                    let product = dot(image, &t);
                    t.iter_mut().zip(&earlier.over_block).for_each(|(t, e)| *t -= product * e);
                    *sum += product;
                }
            }
            let mut image = combine(rest.inner.as_ref(), &t);
            let square = dot(&image, &t);
            if square < -loss_limit(self.gram.rounding()) * (m + 1) as f64 * self.largest {
                if !look {
                    return Ok(None);
                }
                return Err(not_psd(self.gram.kernel(), rows[i], square));
            }
            let norm = square.max(0.0).sqrt();
            let own = self.diagonal[rows[i]].max(0.0).sqrt();
            if norm <= self.tol * own || norm == 0.0 {
                continue;
            }
            t.iter_mut().chain(&mut image).for_each(|v| *v /= norm);
            let others = if look { size(&combine(rest.x.as_ref(), &t)) } else { 0.0 };
            if self.loss(size(&t) + others) > loss_limit(self.gram.rounding()) {
                if !look {
                    return Ok(None);
                }
                continue;
            }
            images.push(image);
            accepted.push(Accepted { position: i, norm, products, over_block: t });
        }
        let combinations = Mat::from_fn(b, accepted.len(), |i, at| accepted[at].over_block[i]);
        let mut over_earlier = Mat::zeros(m, accepted.len());
        add_product(&mut over_earlier, rest.x.as_ref(), combinations.as_ref(), -1.0);
        Ok(Some(Decided { accepted, over_earlier, needs_refining: false, stop }))
    }
}

/// L and A = L⁻¹ over the accepted rows. A block on the diagonal of A is the inverse of L's.
struct Factors<'a> {
    l: MatRef<'a, f64>,
    a: MatRef<'a, f64>,
}

impl Factors<'_> {
    /// Solves for fixed blocks of columns, so that the bits do not depend on the number of threads.
    fn solve(&self, sides: &mut Mat<f64>, one: fn(&Self, MatMut<'_, f64>)) {
        const COLUMNS: usize = 64;
        if sides.nrows() > 0 {
            sides.as_mut().par_col_chunks_mut(COLUMNS).for_each(|sides| one(self, sides));
        }
    }

    /// L⁻¹·side in its place.
    fn forward(&self, mut side: MatMut<'_, f64>) {
        let m = side.nrows();
        for start in (0..m).step_by(BLOCK) {
            let h = BLOCK.min(m - start);
            let (done, rest) = side.as_mut().split_at_row_mut(start);
            let mut here = rest.subrows_mut(0, h);
            let before = self.l.submatrix(start, 0, h, start);
            matmul(here.as_mut(), Accum::Add, before, done.as_ref(), -1.0, Par::Seq);
            let known = here.to_owned();
            matmul(here, Accum::Replace, self.a.submatrix(start, start, h, h), known.as_ref(), 1.0, Par::Seq);
        }
    }

    /// L⁻ᵀ·side in its place.
    fn backward(&self, mut side: MatMut<'_, f64>) {
        let m = side.nrows();
        for start in (0..m).step_by(BLOCK).rev() {
            let h = BLOCK.min(m - start);
            let (here, done) = side.as_mut().subrows_mut(start, m - start).split_at_row_mut(h);
            let mut here = here;
            let after = self.l.submatrix(start + h, start, m - start - h, h).transpose();
            matmul(here.as_mut(), Accum::Add, after, done.as_ref(), -1.0, Par::Seq);
            let known = here.to_owned();
            let inverse = self.a.submatrix(start, start, h, h).transpose();
            matmul(here, Accum::Replace, inverse, known.as_ref(), 1.0, Par::Seq);
        }
    }
}

/// A square matrix that grows.
struct Square(Mat<f64>);

impl Square {
    /// From m² numbers, row-major.
    fn of(values: &[f64], m: usize) -> Self {
        Self(MatRef::from_row_major_slice(values, m, m).to_owned())
    }

    /// Its first m rows and columns.
    fn part(&self, m: usize) -> MatRef<'_, f64> {
        self.0.submatrix(0, 0, m, m)
    }

    /// Makes room for so many rows and columns, of at most `cap`.
    fn grow(&mut self, needed: usize, cap: usize) {
        let size = self.0.nrows();
        if needed > size {
            let wider = (2 * size).clamp(needed, cap.max(needed));
            self.0.resize_with(wider, wider, |_, _| 0.0);
        }
    }
}

fn add_product(out: &mut Mat<f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, factor: f64) {
    /// Columns a thread computes at a time: fixed, so that the bits do not depend on the number of threads.
    const COLUMNS: usize = 32;
    if a.ncols() > 0 && b.ncols() > 0 {
        out.as_mut()
            .par_col_chunks_mut(COLUMNS)
            .zip(b.par_col_chunks(COLUMNS))
            .for_each(|(out, b)| matmul(out, Accum::Add, a, b, factor, Par::Seq));
    }
}

/// Σ a·b in eight sums, which the processor adds side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
    }
    a_rest.iter().zip(b_rest).map(|(a, b)| a * b).chain(sums).sum()
}

/// Σ|v|
fn size(values: &[f64]) -> f64 {
    values.iter().map(|v| v.abs()).sum()
}

/// M·t, without the columns whose t is 0.
fn combine(matrix: MatRef<'_, f64>, t: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; matrix.nrows()];
    for (column, &t) in matrix.col_iter().zip(t).filter(|(_, t)| **t != 0.0) {
        sum.iter_mut().zip(column.iter()).for_each(|(sum, v)| *sum += t * v);
    }
    sum
}
