//! Rows that are computed with on a GPU, as a whole there or, where they do not fit, piece by piece.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::rows::Rows;
use crate::cuda::{Buffer, Event, Gpu, View};
use crate::error::Result;

/// Rows on a GPU.
#[derive(Clone, Copy)]
pub(crate) struct GpuView<'r> {
    rows: &'r Rows<'r>,
    gpu: &'r Arc<Gpu>,
    /// All of them, p×n; None: they are copied there piece by piece.
    whole: Option<View<'r>>,
}

/// Room on the GPU for pieces of rows, where they are copied there.
pub(crate) struct Staging(Option<Rooms>);

/// Two rooms in turn: a piece is copied into one while the other is computed with.
struct Rooms {
    rooms: [Room; 2],
    next: AtomicUsize,
}

struct Room {
    numbers: Buffer<f64>,
    /// For float32 rows on their way.
    single: Option<Buffer<f32>>,
    /// After what was last computed with it.
    free: Event,
}

impl<'r> GpuView<'r> {
    pub(super) fn new(rows: &'r Rows<'r>, gpu: &'r Arc<Gpu>, whole: Option<View<'r>>) -> Self {
        Self { rows, gpu, whole }
    }

    pub(crate) fn gpu(&self) -> &'r Arc<Gpu> {
        self.gpu
    }

    /// All rows, p×n, where they are there.
    pub(crate) fn whole(&self) -> Option<View<'r>> {
        self.whole
    }

    /// Room for pieces of up to so many rows.
    pub(crate) fn staging(&self, rows: usize) -> Result<Staging> {
        if self.whole.is_some() {
            return Ok(Staging(None));
        }
        let (gpu, many) = (self.gpu, rows * self.rows.p());
        let room = || {
            let single = if matches!(self.rows, Rows::DenseF32(_)) { Some(gpu.room(many)?) } else { None };
            let room = Room { numbers: gpu.room(many)?, single, free: Event::new(gpu)? };
            gpu.mark(&room.free)?;
            Ok(room)
        };
        Ok(Staging(Some(Rooms { rooms: [room()?, room()?], next: AtomicUsize::new(0) })))
    }

    /// The rows of a piece, p×count, until the next but one is asked for. Where they are copied there, that is done beside what
    /// the GPU computes with the piece before.
    pub(crate) fn piece<'s>(&self, start: usize, count: usize, staging: &'s Staging) -> Result<View<'s>>
    where
        'r: 's,
    {
        let (Staging(staged), p) = (staging, self.rows.p());
        let (piece, Rooms { rooms, next }) = match (self.whole, staged) {
            (Some(whole), _) => return Ok(whole.columns(start, count)),
            (None, Some(rooms)) => (self.rows.slice(start..start + count), rooms),
            (None, None) => unreachable!("rows that come piece by piece have room for them"),
        };
        let turn = next.fetch_xor(1, Ordering::Relaxed) % 2;
        // What was begun so far uses the other room.
        self.gpu.mark(&rooms[1 - turn].free)?;
        let room = &rooms[turn];
        match (&piece, &room.single) {
            (Rows::Dense(rows), _) => room.numbers.write_beside(rows.values(), &room.free)?,
            (Rows::DenseF32(rows), Some(single)) => {
                single.write_beside(rows.values(), &room.free)?;
                self.gpu.widen(single, &room.numbers)?;
            }
            _ => unreachable!("rows on a GPU are dense"),
        }
        Ok(room.numbers.matrix(p, count))
    }

    /// Rows by their indices, p×h.
    pub(crate) fn select(&self, indices: &[usize]) -> Result<Buffer<f64>> {
        let (h, p) = (indices.len(), self.rows.p());
        let out = self.gpu.room(p * h)?;
        match self.whole {
            Some(whole) => self.gpu.gather(whole, indices, out.matrix(p, h))?,
            None => self.write(&self.rows.select(indices), &out)?,
        }
        Ok(out)
    }

    fn write(&self, rows: &Rows, to: &Buffer<f64>) -> Result<()> {
        match rows {
            Rows::Dense(rows) => to.write(0, rows.values()),
            Rows::DenseF32(rows) => self.gpu.widen(&self.gpu.upload(rows.values())?, to),
            Rows::Sparse(_) => unreachable!("rows on a GPU are dense"),
        }
    }
}
