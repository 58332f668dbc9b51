//! Numbers in the memory of a GPU, and their way there and back.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytemuck::Pod;
use faer::{Mat, MatMut, MatRef};

use super::event::{Event, Lane};
use super::library::Address;
use super::{Gpu, View};
use crate::error::Result;
use crate::linalg::large::filled;

/// So many bytes and more come back through locked memory, several times as fast.
const PINNED_BYTES: usize = 1 << 20;

/// Numbers on a GPU.
pub(crate) struct Buffer<T> {
    pub(super) gpu: Arc<Gpu>,
    pub(super) address: Address,
    pub(super) len: usize,
    /// Whose memory it is, if it was not taken here.
    owner: Option<Arc<dyn Any + Send + Sync>>,
    numbers: PhantomData<T>,
}

impl<T> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} numbers on {:?}", self.len, self.gpu)
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.owner.is_none() && self.gpu.enter().is_ok() {
            let bytes = size_in_memory::<T>(self.len);
            self.gpu.used.fetch_sub(bytes as u64, Ordering::Relaxed);
            if !self.gpu.keep(bytes, self.address) {
                // SAFETY: it was taken for this buffer; the driver waits for work that uses it, in both streams.
                unsafe { (self.gpu.libraries.driver.free)(self.address) };
            }
        }
    }
}

impl<T: Pod> Buffer<T> {
    pub(super) fn new(
        gpu: &Arc<Gpu>,
        address: Address,
        len: usize,
        owner: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Self {
        Self { gpu: Arc::clone(gpu), address, len, owner, numbers: PhantomData }
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Copies numbers to this place; they may be changed when this returns.
    pub(crate) fn write(&self, at: usize, numbers: &[T]) -> Result<()> {
        let to = self.place(at, numbers.len());
        let bytes = bytemuck::cast_slice(numbers);
        // SAFETY: there is room for so many bytes.
        self.gpu.with_pinned(Lane::Computing, |pinned| unsafe { pinned.write(&self.gpu, to, bytes) })
    }

    /// Copies numbers to the beginning beside what the GPU computes, once the mark is reached: nothing that was begun after it
    /// may use this memory. What is begun from now on waits for the numbers.
    pub(crate) fn write_beside(&self, numbers: &[T], free: &Event) -> Result<()> {
        let (gpu, to) = (&self.gpu, self.place(0, numbers.len()));
        gpu.follow(Lane::Copying, free)?;
        gpu.with_pinned(Lane::Copying, |pinned| {
            // SAFETY: there is room for so many bytes.
            unsafe { pinned.write(gpu, to, bytemuck::cast_slice(numbers)) }?;
            gpu.follow(Lane::Computing, pinned.last())
        })
    }

    /// Copies the numbers from this place on.
    pub(crate) fn read(&self, at: usize, numbers: &mut [T]) -> Result<()> {
        // SAFETY: there is room for so many.
        unsafe { self.read_to(at, numbers.as_mut_ptr(), numbers.len()) }
    }

    /// Copies the numbers at the beginning beside what the GPU computes, as they are when the mark is reached.
    pub(crate) fn read_beside(&self, numbers: &mut [T], ready: &Event) -> Result<()> {
        let (gpu, from) = (&self.gpu, self.place(0, numbers.len()));
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(numbers);
        gpu.follow(Lane::Copying, ready)?;
        // SAFETY: both sides have so many bytes.
        gpu.with_pinned(Lane::Copying, |pinned| unsafe {
            pinned.read(gpu, from, bytes.as_mut_ptr(), bytes.len())
        })
    }

    /// Copies so many numbers from this place on.
    ///
    /// # Safety
    /// There must be room for them.
    unsafe fn read_to(&self, at: usize, to: *mut T, count: usize) -> Result<()> {
        let (gpu, from, bytes) = (&self.gpu, self.place(at, count), count * size_of::<T>());
        if bytes >= PINNED_BYTES {
            // SAFETY: both sides have so many bytes.
            return gpu
                .with_pinned(Lane::Computing, |pinned| unsafe { pinned.read(gpu, from, to.cast(), bytes) });
        }
        gpu.enter()?;
        // SAFETY: both sides have so many bytes.
        let code = unsafe { (gpu.libraries.driver.from_gpu)(to.cast(), from, bytes, gpu.stream) };
        gpu.check(code, "copying from the GPU")?;
        gpu.wait()
    }

    /// The address from which so many numbers lie.
    fn place(&self, at: usize, count: usize) -> Address {
        assert!(at + count <= self.len, "{count} numbers at {at} of {}", self.len);
        self.address + (at * size_of::<T>()) as u64
    }

    /// All numbers.
    pub(crate) fn to_vec(&self) -> Result<Vec<T>> {
        let mut numbers = vec![T::zeroed(); self.len];
        self.read(0, &mut numbers)?;
        Ok(numbers)
    }

    /// The first of them.
    pub(crate) fn first(&self, count: usize) -> Result<Vec<T>> {
        let mut numbers = vec![T::zeroed(); count];
        self.read(0, &mut numbers)?;
        Ok(numbers)
    }

    /// Makes every byte 0.
    pub(crate) fn clear(&self) -> Result<()> {
        self.gpu.enter()?;
        let driver = &self.gpu.libraries.driver;
        // SAFETY: the bytes are those of the buffer.
        let code = unsafe { (driver.fill)(self.address, 0, self.len * size_of::<T>(), self.gpu.stream) };
        self.gpu.check(code, "clearing memory")
    }
}

impl Buffer<f64> {
    /// A matrix in it: `rows` numbers a column, columns `stride` numbers apart.
    pub(crate) fn view(&self, at: usize, rows: usize, columns: usize, stride: usize) -> View<'_> {
        assert!(rows <= stride || columns <= 1, "columns of {rows} numbers {stride} apart");
        assert!(
            rows == 0 || columns == 0 || at + (columns - 1) * stride + rows <= self.len,
            "{rows}×{columns} at {at} with stride {stride} in {}",
            self.len
        );
        View { buffer: self, at, rows, columns, stride: stride.max(1) }
    }

    /// A matrix from here, column after column.
    pub(crate) fn write_matrix(&self, matrix: MatRef<'_, f64>) -> Result<()> {
        let (rows, columns) = matrix.shape();
        if let Some(values) = in_one_piece(matrix) {
            return self.write(0, values);
        }
        let columns: Vec<f64> = (0..columns).flat_map(|j| matrix.col(j).iter().copied()).collect();
        assert_eq!(columns.len(), rows * matrix.ncols());
        self.write(0, &columns)
    }

    /// A matrix that begins with it, columns one after the other, brought here.
    pub(crate) fn read_matrix(&self, rows: usize, columns: usize) -> Result<Mat<f64>> {
        // SAFETY: all numbers are copied.
        unsafe { filled(rows, columns, |values| self.read_to(0, values.as_mut_ptr().cast(), values.len())) }
    }

    /// A matrix that begins with it, columns one after the other.
    pub(crate) fn matrix(&self, rows: usize, columns: usize) -> View<'_> {
        self.view(0, rows, columns, rows)
    }
}

/// The numbers of a matrix whose columns lie one after the other.
fn in_one_piece(matrix: MatRef<'_, f64>) -> Option<&[f64]> {
    let (rows, columns) = matrix.shape();
    let together = matrix.row_stride() == 1 && (columns <= 1 || matrix.col_stride() == rows.cast_signed());
    if !together || rows == 0 || columns == 0 {
        return None;
    }
    // SAFETY: so many numbers lie there, as was seen, and are borrowed as long as the matrix is.
    Some(unsafe { std::slice::from_raw_parts(matrix.as_ptr(), rows * columns) })
}

/// The numbers of a matrix whose rows lie one after the other.
#[expect(clippy::needless_pass_by_value, reason = "who has it lends the numbers")]
pub(crate) fn rows_in_one_piece<T: Pod>(matrix: MatMut<'_, T>) -> Option<&mut [T]> {
    let (rows, columns) = matrix.shape();
    let together = matrix.col_stride() == 1 && (rows <= 1 || matrix.row_stride() == columns.cast_signed());
    if !together || rows == 0 || columns == 0 {
        return None;
    }
    // SAFETY: so many numbers lie there, as was seen, and are lent as long as the matrix is.
    Some(unsafe { std::slice::from_raw_parts_mut(matrix.as_ptr_mut(), rows * columns) })
}

/// Bytes that numbers take, in steps of which the next buffer is likely to have the same.
pub(super) fn size_in_memory<T>(len: usize) -> usize {
    (len * size_of::<T>()).max(1).next_multiple_of(if len * size_of::<T>() < 1 << 20 {
        4_096
    } else {
        1 << 20
    })
}
