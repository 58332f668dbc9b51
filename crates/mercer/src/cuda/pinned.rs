//! Memory of the host that a card reads and writes by itself.

use std::ffi::c_void;

use rayon::prelude::*;

use super::Card;

/// Numbers of at least so many bytes are copied from locked pages, several times as fast.
const LOCKED_BYTES: usize = 1 << 24;

/// Pages of the caller's that are locked while they are copied.
pub(super) struct Locked<'c> {
    card: &'c Card,
    pieces: Vec<(*mut c_void, usize)>,
    first: usize,
}

impl<'c> Locked<'c> {
    const PAGE: usize = 4_096;
    const PIECE: usize = 1 << 23;

    /// Locks the pages of many bytes, on all threads; if the system refuses, they are copied as they are.
    pub(super) fn of(card: &'c Card, start: *mut c_void, len: usize) -> Self {
        let mut locked = Self { card, pieces: Vec::new(), first: 0 };
        if len < LOCKED_BYTES {
            return locked;
        }
        // Whole pages: a page that two pieces share could be locked but once.
        let first = (start as usize).next_multiple_of(Self::PAGE) - start as usize;
        let last = (start as usize + len) / Self::PAGE * Self::PAGE - start as usize;
        let pieces: Vec<(usize, usize)> = (first..last)
            .step_by(Self::PIECE)
            .map(|at| (start as usize + at, Self::PIECE.min(last - at)))
            .collect();
        let lock = |&(at, bytes): &(usize, usize)| {
            let at = at as *mut c_void;
            // SAFETY: the pages are the caller's, who lends them for longer than this value lives.
            let code = unsafe {
                (card.libraries.driver.set_context)(card.context);
                (card.libraries.driver.register)(at, bytes, 0)
            };
            (code == 0, at as usize, bytes)
        };
        let found: Vec<(bool, usize, usize)> = pieces.par_iter().map(lock).collect();
        let complete = found.iter().all(|(done, ..)| *done);
        locked.pieces = found
            .iter()
            .filter(|(done, ..)| *done)
            .map(|&(_, at, bytes)| (at as *mut c_void, bytes))
            .collect();
        if complete {
            locked.first = first;
        } else {
            locked.release();
        }
        locked
    }

    /// Where copies begin, and their lengths: a copy must not reach over the end of a locked piece.
    pub(super) fn pieces(&self, len: usize) -> Vec<(usize, usize)> {
        if self.pieces.is_empty() {
            return vec![(0, len)];
        }
        let mut cuts = vec![0, self.first];
        self.pieces.iter().for_each(|(_, bytes)| cuts.push(cuts[cuts.len() - 1] + bytes));
        cuts.push(len);
        cuts.windows(2).filter(|cut| cut[1] > cut[0]).map(|cut| (cut[0], cut[1] - cut[0])).collect()
    }

    fn release(&mut self) {
        for (at, _) in self.pieces.drain(..) {
            // SAFETY: these pages were locked above.
            unsafe { (self.card.libraries.driver.unregister)(at) };
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if !self.pieces.is_empty() {
            // Copies may still be under way where one of them has failed.
            let _ = self.card.wait();
            self.release();
        }
    }
}
