//! Memory of the host that a GPU reads and writes by itself: numbers go through two halves of it, so that one is filled or
//! emptied here while the other is copied.
//!
//! A half is not touched before the copies that use it are done. It belongs to one lane, whose copies are done in order, so
//! that the mark after its last copy stands for all.
//!
//! cost    16 MiB a pair of halves; a copy here beside each by the GPU, which is several times as fast as from other memory

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::PoisonError;

use rayon::prelude::*;

use super::event::{Event, Lane};
use super::library::{Address, Handle, Libraries};
use super::{Gpu, OUT_OF_MEMORY};
use crate::error::{Error, Result};

/// Bytes of a half.
const HALF: usize = 1 << 23;

/// Where numbers of a half begin.
const ALIGNED: usize = 256;

/// So many bytes and more are copied here by all threads, so many each at a time.
const SHARED_BYTES: usize = 1 << 20;
const SHARE: usize = 1 << 18;

/// Pairs that are kept for a lane.
const MOST_KEPT: usize = 4;

/// Two halves.
pub(super) struct Pinned {
    libraries: &'static Libraries,
    context: Handle,
    lane: Lane,
    start: *mut u8,
    halves: [Half; 2],
    /// The half that is filled.
    turn: usize,
}

struct Half {
    /// Bytes from the beginning that were given out since it was last waited for.
    taken: usize,
    /// After its last copy.
    done: Event,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Pinned {}

impl Pinned {
    fn new(gpu: &Gpu, lane: Lane) -> Result<Self> {
        gpu.enter()?;
        let mut start: *mut c_void = std::ptr::null_mut();
        // SAFETY: a place for the address.
        let code = unsafe { (gpu.libraries.driver.allocate_here)(&raw mut start, 2 * HALF, 0) };
        if code == OUT_OF_MEMORY {
            return Err(Error::Memory(
                "the system could not lock 17 MB of memory for copies to the GPU\n\
                 hint: close what else uses much memory, or compute on the CPU (device = cpu)"
                    .into(),
            ));
        }
        gpu.check(code, "locking memory")?;
        let half = || Event::new(gpu).map(|done| Half { taken: 0, done });
        Ok(Self {
            libraries: gpu.libraries,
            context: gpu.context,
            lane,
            start: start.cast(),
            halves: [half()?, half()?],
            turn: 0,
        })
    }

    /// Copies bytes to the GPU in this lane. They may be changed when this returns.
    ///
    /// # Safety
    /// There must be room for them at the address.
    pub(super) unsafe fn write(&mut self, gpu: &Gpu, to: Address, bytes: &[u8]) -> Result<()> {
        let mut begun = 0;
        while begun < bytes.len() {
            if self.halves[self.turn].taken == HALF {
                self.turn = 1 - self.turn;
                gpu.wait_for(&self.halves[self.turn].done)?;
                self.halves[self.turn].taken = 0;
            }
            let half = &mut self.halves[self.turn];
            let len = (bytes.len() - begun).min(HALF - half.taken);
            // SAFETY: the place is inside the half, and no copy uses it any more.
            let code = unsafe {
                let at = self.start.add(self.turn * HALF + half.taken);
                copy(bytes.as_ptr().add(begun), at, len);
                let stream = gpu.stream_of(self.lane);
                (gpu.libraries.driver.to_gpu)(to + begun as u64, at.cast(), len, stream)
            };
            half.taken = (half.taken + len).next_multiple_of(ALIGNED);
            gpu.check(code, "copying to the GPU")?;
            gpu.mark_in(self.lane, &half.done)?;
            begun += len;
        }
        Ok(())
    }

    /// The mark after the last copy.
    pub(super) fn last(&self) -> &Event {
        &self.halves[self.turn].done
    }

    /// Copies so many bytes from the GPU in this lane, and waits for them.
    ///
    /// # Safety
    /// There must be so many at both addresses.
    pub(super) unsafe fn read(&mut self, gpu: &Gpu, from: Address, to: *mut u8, len: usize) -> Result<()> {
        let bytes = |piece: usize| HALF.min(len - piece * HALF);
        for half in &mut self.halves {
            gpu.wait_for(&half.done)?;
            half.taken = 0;
        }
        let pieces = len.div_ceil(HALF);
        for piece in 0..=pieces {
            if piece < pieces {
                // SAFETY: the half was emptied, and both sides have so many bytes.
                let code = unsafe {
                    let (at, from) = (self.start.add(piece % 2 * HALF), from + (piece * HALF) as u64);
                    let stream = gpu.stream_of(self.lane);
                    (gpu.libraries.driver.from_gpu)(at.cast(), from, bytes(piece), stream)
                };
                gpu.check(code, "copying from the GPU")?;
                gpu.mark_in(self.lane, &self.halves[piece % 2].done)?;
            }
            if let Some(before) = piece.checked_sub(1) {
                gpu.wait_for(&self.halves[before % 2].done)?;
                // SAFETY: the copy is done, and there is room for it.
                unsafe { copy(self.start.add(before % 2 * HALF), to.add(before * HALF), bytes(before)) };
            }
        }
        Ok(())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: it was locked above, and copies that use it are waited for.
        unsafe {
            (self.libraries.driver.set_context)(self.context);
            for half in &self.halves {
                (self.libraries.driver.wait_for_event)(half.done.handle);
            }
            (self.libraries.driver.free_here)(self.start.cast());
        }
    }
}

impl Gpu {
    /// Lends two halves of a lane. No lock is held meanwhile: threads that wait for each other may take over other work of the
    /// GPU.
    pub(super) fn with_pinned<R>(
        &self,
        lane: Lane,
        work: impl FnOnce(&mut Pinned) -> Result<R>,
    ) -> Result<R> {
        let kept = &self.pinned[lane as usize];
        let own = kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut pinned = own.map_or_else(|| Pinned::new(self, lane), Ok)?;
        let result = work(&mut pinned);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_KEPT {
            kept.push(pinned);
        }
        result
    }
}

/// Copies bytes, on all threads if they are many.
///
/// # Safety
/// There must be so many on both sides, which do not overlap.
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: as the caller says; whatever the bytes are, they are not looked at.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(from.cast::<MaybeUninit<u8>>(), len),
            std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<u8>>(), len),
        )
    };
    if len < SHARED_BYTES {
        to.copy_from_slice(from);
    } else {
        to.par_chunks_mut(SHARE).zip(from.par_chunks(SHARE)).for_each(|(to, from)| to.copy_from_slice(from));
    }
}
