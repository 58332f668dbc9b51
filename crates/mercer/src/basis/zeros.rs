//! A large matrix's memory, zero at first.
//!
//! Ordinary memory comes in pages of 4 kB, and 200 MB of it cost 50 ms of page faults on first touch: a sixth of the
//! whole fit at n = 50 000, m = 500. Where the system has huge pages they are asked for; only what must end as a `Vec`,
//! because the caller keeps it, is ordinary.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Smaller buffers gain nothing.
const LARGE: usize = 1 << 22;

/// n zeros.
pub(crate) enum Zeros {
    Heap(Vec<f64>),
    Pages(MmapMut),
}

impl Zeros {
    /// Memory for numbers that are used here and then dropped.
    pub(crate) fn passing(len: usize) -> Self {
        if len < LARGE {
            return Self::lasting(len);
        }
        match MmapMut::map_anon(len * size_of::<f64>()) {
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
        Self::Heap(vec![0.0; len])
    }

    pub(crate) fn into_vec(self) -> Vec<f64> {
        match self {
            Self::Heap(values) => values,
            Self::Pages(pages) => bytemuck::cast_slice(&pages).to_vec(),
        }
    }
}

impl Deref for Zeros {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Heap(values) => values,
            Self::Pages(pages) => bytemuck::cast_slice(pages),
        }
    }
}

impl DerefMut for Zeros {
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            Self::Heap(values) => values,
            Self::Pages(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}
