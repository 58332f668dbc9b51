//! Matrices in the memory of a GPU.

use std::ffi::c_int;
use std::sync::Arc;

use super::library::{AS_IT_IS, Address, TRANSPOSED};
use super::{Buffer, Gpu};

/// A matrix on the GPU, column after column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'b> {
    pub(super) buffer: &'b Buffer<f64>,
    pub(super) at: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) stride: usize,
}

impl<'b> View<'b> {
    pub(super) fn address(&self) -> Address {
        self.buffer.address + 8 * self.at as u64
    }

    pub(crate) fn gpu(&self) -> &'b Arc<Gpu> {
        &self.buffer.gpu
    }

    /// Some of its columns.
    pub(crate) fn columns(self, start: usize, count: usize) -> Self {
        assert!(start + count <= self.columns, "columns {start} to {} of {}", start + count, self.columns);
        Self { at: self.at + start * self.stride, columns: count, ..self }
    }

    /// Some of its rows.
    pub(crate) fn rows(self, start: usize, count: usize) -> Self {
        assert!(start + count <= self.rows, "rows {start} to {} of {}", start + count, self.rows);
        Self { at: self.at + start, rows: count, ..self }
    }

    /// As it is in a product.
    pub(crate) fn plain(self) -> Operand<'b> {
        Operand { view: self, transposed: false }
    }

    /// Transposed in a product.
    pub(crate) fn transposed(self) -> Operand<'b> {
        Operand { view: self, transposed: true }
    }
}

/// A matrix in a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand<'b> {
    pub(super) view: View<'b>,
    transposed: bool,
}

impl Operand<'_> {
    pub(super) fn shape(&self) -> (usize, usize) {
        let View { rows, columns, .. } = self.view;
        if self.transposed { (columns, rows) } else { (rows, columns) }
    }

    pub(super) fn code(&self) -> c_int {
        if self.transposed { TRANSPOSED } else { AS_IT_IS }
    }
}
