//! Numbers in memory, in a memory-mapped temporary file if they are too many, or on a GPU.
//!
//! The file is in the folder for temporary files (`TMPDIR`), has no name there, and is removed with its last user. Its pages
//! belong to the page cache, which the system reclaims when memory is short.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use memmap2::{Mmap, MmapMut};

use crate::cuda::{Buffer, Gpu};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::size::check_available;

/// Read-only numbers.
#[derive(Clone)]
pub(crate) enum Store<'a, T: Clone> {
    /// Owned or borrowed.
    Memory(Cow<'a, [T]>),
    /// In a memory-mapped temporary file.
    File(Arc<Mmap>),
    /// On a GPU.
    Gpu(OnGpu<'a, T>),
}

/// Numbers on a GPU, in float64 there, which are brought here when they are looked at.
#[derive(Clone)]
pub(crate) struct OnGpu<'a, T: Clone> {
    here: Option<Box<Store<'a, T>>>,
    /// Where they were not here at first.
    brought: Arc<OnceLock<Vec<T>>>,
    pub(super) there: There,
    bring: fn(&Buffer<f64>) -> Result<Vec<T>>,
}

/// Where numbers of a GPU are.
#[derive(Clone)]
pub(crate) enum There {
    /// All of them there.
    Whole(Arc<Buffer<f64>>),
    /// Here: they are copied there piece by piece.
    InPieces(Arc<Gpu>),
}

impl There {
    pub(super) fn gpu(&self) -> &Arc<Gpu> {
        match self {
            Self::Whole(numbers) => numbers.gpu(),
            Self::InPieces(gpu) => gpu,
        }
    }

    /// All numbers, where they are there.
    pub(super) fn whole(&self) -> Option<&Buffer<f64>> {
        match self {
            Self::Whole(numbers) => Some(numbers),
            Self::InPieces(_) => None,
        }
    }
}

impl<'a, T: Real> OnGpu<'a, T> {
    /// Numbers on the GPU, and here, if they are; they must be where they go there in pieces.
    pub(super) fn new(here: Option<Store<'a, T>>, there: There) -> Self {
        let here = here.map(Box::new);
        let bring = |there: &Buffer<f64>| Ok(there.to_vec()?.into_iter().map(T::of).collect());
        Self { here, brought: Arc::default(), there, bring }
    }
}

impl<T: Pod> OnGpu<'_, T> {
    /// Whether looking at the numbers costs no copy.
    pub(super) fn is_here(&self) -> bool {
        self.here.is_some() || self.brought.get().is_some()
    }

    /// Brings them here, so that looking at them cannot fail.
    pub(super) fn fetch(&self) -> Result<&[T]> {
        match (&self.here, self.brought.get()) {
            (Some(here), _) => Ok(here),
            (None, Some(brought)) => Ok(brought),
            (None, None) => {
                let Some(there) = self.there.whole() else { unreachable!("numbers in pieces are here") };
                let brought = (self.bring)(there)?;
                Ok(self.brought.get_or_init(|| brought))
            }
        }
    }
}

impl<T: Pod> Store<'_, T> {
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

impl<T: Pod> Deref for Store<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Memory(values) => values,
            Self::File(pages) => bytemuck::cast_slice(pages),
            Self::Gpu(numbers) => numbers.fetch().unwrap_or_else(|error| panic!("{error}")),
        }
    }
}

impl<'a, T: Pod, I: Into<Cow<'a, [T]>>> From<I> for Store<'a, T> {
    fn from(values: I) -> Self {
        Self::Memory(values.into())
    }
}

impl<T: Pod + PartialEq> PartialEq for Store<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Store<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Numbers that are being collected, in memory up to a limit.
#[derive(Debug)]
pub(crate) struct Growing<T> {
    memory: Vec<T>,
    /// Numbers that may be in memory.
    most: usize,
    file: Option<BufWriter<File>>,
    written: usize,
}

impl<T: Pod> Growing<T> {
    /// Nothing yet; up to this many bytes stay in memory.
    pub(crate) fn new(most_bytes: u64) -> Self {
        let most = usize::try_from(most_bytes / size_of::<T>() as u64).unwrap_or(usize::MAX);
        Self { memory: Vec::new(), most, file: None, written: 0 }
    }

    /// Nothing yet; stored like these numbers, in memory or in a file.
    pub(crate) fn like(store: &Store<T>) -> Self {
        let mut growing = Self::new(if store.is_file() { 0 } else { u64::MAX });
        if !store.is_file() {
            growing.memory.reserve_exact(store.len());
        }
        growing
    }

    pub(crate) fn len(&self) -> usize {
        self.written + self.memory.len()
    }

    pub(crate) fn push(&mut self, value: T) -> Result<()> {
        self.memory.push(value);
        if self.memory.len() > self.most { self.write_out() } else { Ok(()) }
    }

    pub(crate) fn extend(&mut self, values: &[T]) -> Result<()> {
        self.memory.extend_from_slice(values);
        if self.memory.len() > self.most { self.write_out() } else { Ok(()) }
    }

    /// Writes the numbers in memory to the file; from then on memory is only a small buffer.
    fn write_out(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::with_capacity(
                1 << 20,
                tempfile::tempfile().map_err(|e| temporary_file_error(&e))?,
            )),
        };
        file.write_all(bytemuck::cast_slice(&self.memory)).map_err(|e| temporary_file_error(&e))?;
        self.written += self.memory.len();
        self.memory = Vec::new();
        self.most = (1 << 16) / size_of::<T>();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Store<'static, T>> {
        if self.file.is_some() && !self.memory.is_empty() {
            self.write_out()?;
        }
        let Some(file) = self.file else {
            // The numbers stay in memory for long.
            self.memory.shrink_to_fit();
            return Ok(Store::Memory(Cow::Owned(self.memory)));
        };
        let file = file.into_inner().map_err(|e| temporary_file_error(e.error()))?;
        map(&file).map(|pages| Store::File(Arc::new(pages))).map_err(|e| temporary_file_error(&e))
    }
}

/// Numbers with random access, initially zero: in memory up to a limit, else in a temporary file.
#[derive(Debug)]
pub(crate) enum Scratch {
    Memory(Vec<f64>),
    File(MmapMut),
}

impl Scratch {
    pub(crate) fn zeros(len: usize, most_bytes: u64) -> Result<Self> {
        let bytes = (len * size_of::<f64>()) as u64;
        if bytes <= most_bytes || len == 0 {
            check_available(bytes, || format!("{len} numbers"))?;
            return Ok(Self::Memory(vec![0.0; len]));
        }
        let mut file = tempfile::tempfile().map_err(|e| temporary_file_error(&e))?;
        // Written, not only given a length: a full disk is an error here, but a crash (SIGBUS) once the file is mapped.
        std::io::copy(&mut std::io::repeat(0).take(bytes), &mut file)
            .map_err(|e| temporary_file_error(&e))?;
        map_mut(&file).map(Self::File).map_err(|e| temporary_file_error(&e))
    }
}

impl Deref for Scratch {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Memory(values) => values,
            Self::File(pages) => bytemuck::cast_slice(pages),
        }
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            Self::Memory(values) => values,
            Self::File(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}

/// Maps a file into memory for reading and writing.
#[expect(unsafe_code, reason = "as for `map`")]
fn map_mut(file: &File) -> std::io::Result<MmapMut> {
    // SAFETY: as for `map`; the one mapping is the only way to these bytes.
    unsafe { MmapMut::map_mut(file) }
}

/// Maps a file into memory for reading.
#[expect(
    unsafe_code,
    reason = "mapping a file is unsafe, because others may change it; this one has no name"
)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: `file` was made by `tempfile()`, which leaves it without a name, and only this module has held it. It is not
    // written to any more, so the bytes stay as they are as long as they are mapped.
    unsafe { Mmap::map(file) }
}

fn temporary_file_error(error: &std::io::Error) -> Error {
    Error::io(
        std::env::temp_dir().display().to_string(),
        std::io::Error::new(
            error.kind(),
            format!(
                "rows beyond the memory budget go to a temporary file there: {error}\nhint: set TMPDIR to another folder, or raise the memory budget (MERCER_MEMORY)"
            ),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_read_back_from_a_file() {
        for most in [0, 100, 4_000, u64::MAX] {
            let mut growing = Growing::new(most);
            let mut expected = Vec::new();
            for i in 0..30_000 {
                growing.push(f64::from(i)).expect("pushed");
                expected.push(f64::from(i));
                if i % 1000 == 7 {
                    growing.extend(&[0.5; 77]).expect("extended");
                    expected.extend([0.5; 77]);
                }
                assert_eq!(growing.len(), expected.len());
            }
            let store = growing.finish().expect("kept");
            assert_eq!(store.is_file(), most < u64::MAX);
            assert_eq!(*store, expected[..]);
            assert_eq!(store.clone(), store);
        }
        assert!(Growing::<f64>::new(0).finish().expect("empty").is_empty());
    }

    #[test]
    fn scratch_is_zero_wherever_it_is() {
        for most in [0, 1_000, 1 << 20] {
            let mut scratch = Scratch::zeros(10_000, most).expect("made");
            assert_eq!(matches!(scratch, Scratch::Memory(_)), most == 1 << 20);
            assert!(scratch.iter().all(|v| *v == 0.0));
            scratch[9_999] = 3.5;
            assert_eq!(scratch[9_999], 3.5);
        }
    }
}
