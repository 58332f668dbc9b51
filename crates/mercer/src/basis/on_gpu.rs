//! z(x) = A·k(x, landmarks) − b of rows that lie on a GPU, in pieces of rows.
//!
//! cost    as `expansion.rs`; memory there a piece of kernel values beside the result

use std::any::Any;
use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::expansion::{Blocks, Expansion, Landmarks};
use crate::cuda::{Buffer, Event, Gpu, View, rows_in_one_piece};
use crate::data::gpu_view::Staging;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::on_gpu::{GpuPanel, GpuScratch, no_formula};
use crate::linalg::Cholesky;
use crate::monitor::Monitor;
use crate::real::{Precision, Real};

/// Rows of A that are multiplied at a time: a triangular A costs half the flops of a full one.
const BLOCK_ROWS: usize = 512;

/// Rows that are computed at a time.
const PIECE_ROWS: usize = 65_536;

/// At least so many rows, whatever the memory.
const LEAST_ROWS: usize = 256;

/// An expansion on a GPU, prepared for rows there.
pub(crate) struct Applied<'a> {
    rows: &'a Rows<'a>,
    gpu: Arc<Gpu>,
    panel: GpuPanel,
    blocks: Blocks,
    /// A, q×l.
    a: Buffer<f64>,
    offset: Option<Buffer<f64>>,
    /// Kernel values of a piece, l×piece.
    k: Buffer<f64>,
    scratch: GpuScratch,
    staging: Staging,
    l: usize,
    q: usize,
    /// Rows of a piece.
    piece: usize,
}

/// The Cholesky factor of a positive definite matrix, of which the lower half is read; None if it is not.
///
/// Blocks of columns from the left: the block on the diagonal is factored here, the rest is divided by it and taken out of what
/// follows there.
pub(crate) fn cholesky_there(
    gpu: &Arc<Gpu>,
    matrix: MatRef<'_, f64>,
    monitor: &Monitor,
) -> Result<Option<Mat<f64>>> {
    const BLOCK: usize = 128;
    let m = matrix.nrows();
    let a = upload_matrix(gpu, matrix)?;
    let all = a.matrix(m, m);
    for start in (0..m).step_by(BLOCK) {
        monitor.check()?;
        let b = BLOCK.min(m - start);
        let diagonal = gpu.room(b * b)?;
        let own = all.rows(start, b).columns(start, b);
        gpu.copy(own, diagonal.matrix(b, b), 1.0)?;
        let Some(factor) = Cholesky::new(diagonal.read_matrix(b, b)?) else { return Ok(None) };
        let factor = Mat::from_fn(b, b, |i, j| if j <= i { factor.lower(i, j) } else { 0.0 });
        diagonal.write_matrix(factor.as_ref())?;
        gpu.copy(diagonal.matrix(b, b), own, 1.0)?;
        let rest = m - start - b;
        if rest == 0 {
            break;
        }
        // L_21 = A_21 L_11⁻ᵀ, by the transposed block; A_22 − L_21 L_21ᵀ in its lower half.
        let inverse = gpu.room(b * b)?;
        gpu.identity(&inverse, b)?;
        gpu.solve(diagonal.matrix(b, b), inverse.matrix(b, b))?;
        let below = all.rows(start + b, rest).columns(start, b);
        let copy = gpu.room(rest * b)?;
        gpu.copy(below, copy.matrix(rest, b), 1.0)?;
        gpu.multiply(1.0, copy.matrix(rest, b).plain(), inverse.matrix(b, b).transposed(), 0.0, below)?;
        let next = all.rows(start + b, rest).columns(start + b, rest);
        gpu.self_subtract(below, next)?;
    }
    a.read_matrix(m, m).map(Some)
}

/// Rows that a thread copies at a time.
const COPIED_ROWS: usize = 256;

/// Rows whose features are brought here while those of as many others are computed.
const BROUGHT_ROWS: usize = 16_384;

/// Features of a piece that are brought here.
struct Brought {
    z: Buffer<f64>,
    single: Option<Buffer<f32>>,
    /// After they were computed.
    ready: Event,
}

impl Brought {
    fn new(gpu: &Arc<Gpu>, numbers: usize, precision: Precision) -> Result<Self> {
        let single = if precision == Precision::Single { Some(gpu.room(numbers)?) } else { None };
        Ok(Self { z: gpu.room(numbers)?, single, ready: Event::new(gpu)? })
    }

    /// The first of them, beside what the GPU computes meanwhile.
    fn read<T: Real>(&self, to: &mut [T]) -> Result<()> {
        match &self.single {
            Some(single) => single.read_beside(bytemuck::cast_slice_mut(to), &self.ready),
            None => self.z.read_beside(bytemuck::cast_slice_mut(to), &self.ready),
        }
    }
}

/// A matrix on the GPU, column after column.
pub(crate) fn upload_matrix(gpu: &Arc<Gpu>, matrix: MatRef<'_, f64>) -> Result<Buffer<f64>> {
    let there = gpu.room(matrix.nrows() * matrix.ncols())?;
    there.write_matrix(matrix)?;
    Ok(there)
}

impl<'a> Applied<'a> {
    /// The rows must lie on a GPU.
    pub(crate) fn new(expansion: &Expansion, rows: &'a Rows<'a>) -> Result<Self> {
        let Some(view) = rows.gpu_rows() else { unreachable!("the rows are on a GPU") };
        let Landmarks::Rows(landmarks) = &expansion.landmarks else {
            return Err(no_formula(expansion.kernel.shape));
        };
        let gpu = Arc::clone(view.gpu());
        let (l, q, p) = (landmarks.n(), expansion.n_features(), rows.p());
        let panel = GpuPanel::new(&gpu, expansion.kernel, landmarks)?;
        let a = upload_matrix(&gpu, expansion.matrix.as_ref())?;
        let has_offset = expansion.offset.iter().any(|b| *b != 0.0);
        let offset = if has_offset { Some(gpu.upload(&expansion.offset)?) } else { None };
        // Values, features and rows of a piece take a quarter of what is left at most.
        let most = gpu.available()? / 4 / (8 * (l + 2 * q + 3 * p + 2)) as u64;
        let piece = PIECE_ROWS.min(rows.n()).min(usize::try_from(most).unwrap_or(usize::MAX));
        let piece = piece.max(LEAST_ROWS.min(rows.n())).max(1);
        let (k, scratch) = (gpu.room(l * piece)?, GpuScratch::new(&gpu, piece, p)?);
        let staging = view.staging(piece)?;
        let blocks = Blocks::in_blocks_of(expansion.matrix.as_ref(), BLOCK_ROWS);
        Ok(Self { rows, gpu, panel, blocks, a, offset, k, scratch, staging, l, q, piece })
    }

    /// Where pieces begin.
    fn pieces(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (n, piece) = (self.rows.n(), self.piece);
        (0..n).step_by(piece).map(move |start| (start, piece.min(n - start)))
    }

    /// Rows that are computed at a time.
    pub(crate) fn piece(&self) -> usize {
        self.piece
    }

    /// Room for the features of a piece.
    fn room(&self) -> Result<Buffer<f64>> {
        self.gpu.room(self.q * self.piece)
    }

    /// Features of the rows of a piece, q×count, into `out`.
    pub(crate) fn fill(&self, start: usize, count: usize, out: View) -> Result<()> {
        let rows = self.rows.gpu_rows().unwrap_or_else(|| unreachable!("the rows are on a GPU"));
        self.fill_of(rows.piece(start, count, &self.staging)?, out)
    }

    /// Features of at most a piece of rows, p×count, into `out`.
    pub(crate) fn fill_of(&self, rows: View, out: View) -> Result<()> {
        let k = self.k.view(0, self.l, rows.columns, self.l);
        self.panel.fill(rows, &self.scratch, k)?;
        let a = self.a.matrix(self.q, self.l);
        for &(start, height, width) in self.blocks.iter() {
            let (a, k) = (a.rows(start, height).columns(0, width), k.rows(0, width));
            self.gpu.multiply(1.0, a.plain(), k.plain(), 0.0, out.rows(start, height))?;
        }
        match &self.offset {
            Some(offset) => self.gpu.subtract(out, offset),
            None => Ok(()),
        }
    }

    /// Features of all rows, left on the GPU.
    pub(crate) fn all_there(&self, monitor: &Monitor) -> Result<Rows<'static>> {
        let (n, q) = (self.rows.n(), self.q);
        let out = self.gpu.room(n * q)?;
        self.each_piece(monitor, |start, count| {
            self.fill(start, count, out.matrix(q, n).columns(start, count))
        })?;
        self.gpu.wait()?;
        Ok(Rows::computed(out, n, q))
    }

    /// Features of all rows, n×q and row after row, to an address on the GPU.
    ///
    /// # Safety
    /// As for [`FeatureMap::transform_to_address`](crate::FeatureMap::transform_to_address).
    #[expect(unsafe_code, reason = "an address is believed")]
    pub(crate) unsafe fn all_to_address(
        &self,
        address: u64,
        precision: Precision,
        owner: Arc<dyn Any + Send + Sync>,
        monitor: &Monitor,
    ) -> Result<()> {
        let (n, q) = (self.rows.n(), self.q);
        match precision {
            Precision::Double => {
                // SAFETY: as the caller says.
                let out: Buffer<f64> = unsafe { self.gpu.borrow(address, n * q, owner)? };
                self.each_piece(monitor, |start, count| {
                    self.fill(start, count, out.matrix(q, n).columns(start, count))
                })?;
            }
            Precision::Single => {
                // SAFETY: as the caller says.
                let out: Buffer<f32> = unsafe { self.gpu.borrow(address, n * q, owner)? };
                let z = self.room()?;
                self.each_piece(monitor, |start, count| {
                    let z = z.matrix(q, count);
                    self.fill(start, count, z)?;
                    self.gpu.narrow(z, &out, start * q)
                })?;
            }
        }
        self.gpu.wait()
    }

    /// Features of all rows into memory here, n×q.
    pub(crate) fn all<T: Real>(&self, mut out: MatMut<'_, T>, monitor: &Monitor) -> Result<()> {
        let q = self.q;
        if let Some(out) = rows_in_one_piece(out.as_mut()) {
            return self.bring(T::PRECISION, monitor, |from, start, count| {
                from.read(&mut out[start * q..(start + count) * q])
            });
        }
        let mut here = vec![T::of(0.0); q * self.piece.min(BROUGHT_ROWS)];
        self.bring(T::PRECISION, monitor, |from, start, count| {
            from.read(&mut here[..q * count])?;
            let parts = out.as_mut().subrows_mut(start, count).par_row_chunks_mut(COPIED_ROWS);
            parts.zip(here[..q * count].par_chunks((COPIED_ROWS * q).max(1))).for_each(|(mut out, here)| {
                for (i, row) in here.chunks_exact(q.max(1)).enumerate() {
                    out.as_mut().row_mut(i).iter_mut().zip(row).for_each(|(o, v)| *o = *v);
                }
            });
            Ok(())
        })
    }

    /// Features of all rows: `take` is called with those of a piece, its first row and their number while the next are computed.
    fn bring(
        &self,
        precision: Precision,
        monitor: &Monitor,
        mut take: impl FnMut(&Brought, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let (n, q, piece) = (self.rows.n(), self.q, self.piece.min(BROUGHT_ROWS));
        let room = || Brought::new(&self.gpu, q * piece, precision);
        let rooms = [room()?, room()?];
        monitor.begin("transforming rows", n);
        let mut before = None;
        for (turn, start) in (0..n).step_by(piece).enumerate() {
            monitor.check()?;
            let (room, count) = (&rooms[turn % 2], piece.min(n - start));
            let z = room.z.matrix(q, count);
            self.fill(start, count, z)?;
            if let Some(single) = &room.single {
                self.gpu.narrow(z, single, 0)?;
            }
            self.gpu.mark(&room.ready)?;
            if let Some((room, start, count)) = before.replace((room, start, count)) {
                take(room, start, count)?;
                monitor.advance(count);
            }
        }
        let Some((room, start, count)) = before else { return Ok(()) };
        take(room, start, count)?;
        monitor.advance(count);
        Ok(())
    }

    /// Squared distances of the rows' images from the span, of those k(x,x).
    pub(crate) fn residuals(&self, diagonal: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
        let (residual, z, bad) = (self.gpu.upload(diagonal)?, self.room()?, self.gpu.upload(&[u64::MAX])?);
        self.each_piece(monitor, |start, count| {
            let z = z.matrix(self.q, count);
            self.fill(start, count, z)?;
            self.gpu.take(z, &residual, start, f64::NEG_INFINITY, &bad)
        })?;
        residual.to_vec()
    }

    fn each_piece(&self, monitor: &Monitor, mut work: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        monitor.begin("transforming rows", self.rows.n());
        for (start, count) in self.pieces() {
            monitor.check()?;
            work(start, count)?;
            monitor.advance(count);
        }
        Ok(())
    }
}
