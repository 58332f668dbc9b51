//! A large matrix's memory, zero at first.
//!
//! Ordinary memory comes in pages of 4 kB, and 200 MB of it cost 50 ms of page faults on first touch: a sixth of the
//! whole fit at n = 50 000, m = 500. Where the system has huge pages they are asked for; only what must end as a `Vec`,
//! because the caller keeps it, is ordinary.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Smaller buffers gain nothing.
const LARGE: usize = 1 << 22;

/// n zeros.
pub(crate) enum Zeros<T> {
    Heap(Vec<T>),
    Pages(MmapMut),
}

impl<T: Pod> Zeros<T> {
    /// Memory for numbers that are used here and then dropped.
    pub(crate) fn passing(len: usize) -> Self {
        if len < LARGE {
            return Self::lasting(len);
        }
        match MmapMut::map_anon(len * size_of::<T>()) {
            Ok(pages) => {
                // Without huge pages it is only slower.
                #[cfg(target_os = "linux")]
                let _ = pages.advise(memmap2::Advice::HugePage);
                Self::Pages(pages)
            }
            Err(_) => Self::lasting(len),
        }
    }

    /// Memory that [`into_vec`](Self::into_vec) can hand on without a copy.
    pub(crate) fn lasting(len: usize) -> Self {
        Self::Heap(vec![T::zeroed(); len])
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        match self {
            Self::Heap(values) => values,
            Self::Pages(pages) => bytemuck::cast_slice(&pages).to_vec(),
        }
    }
}

impl<T: Pod> Deref for Zeros<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Heap(values) => values,
            Self::Pages(pages) => bytemuck::cast_slice(pages),
        }
    }
}

impl<T: Pod> DerefMut for Zeros<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Heap(values) => values,
            Self::Pages(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}
