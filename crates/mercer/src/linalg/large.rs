//! Large matrices whose memory is first touched by all threads: a page fault every 512 numbers costs more than the copy.

use std::mem::MaybeUninit;
use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::error::Result;

/// Matrices of fewer numbers are copied by one thread.
const LARGE: usize = 1 << 20;

/// Numbers that a thread copies at a time.
const PART: usize = 1 << 18;

/// A matrix whose numbers `fill` writes, column after column.
///
/// # Safety
/// Unless it returns an error, `fill` must write every number.
#[expect(unsafe_code, reason = "memory that nobody has written to is handed to those who will")]
pub(crate) unsafe fn filled(
    rows: usize,
    columns: usize,
    fill: impl FnOnce(&mut [MaybeUninit<f64>]) -> Result<()>,
) -> Result<Mat<f64>> {
    let mut matrix = Mat::<f64>::with_capacity(rows, columns);
    if matrix.col_stride().unsigned_abs() == rows {
        // SAFETY: there is room for so many columns, one after the other; `fill` writes them all, as the caller says.
        unsafe {
            let start: *mut MaybeUninit<f64> = matrix.as_ptr_mut().cast();
            ask_for_huge_pages(start.cast(), rows * columns * size_of::<f64>());
            fill(std::slice::from_raw_parts_mut(start, rows * columns))?;
            matrix.set_dims(rows, columns);
        }
        return Ok(matrix);
    }
    // Columns are some numbers apart.
    let mut values: Vec<MaybeUninit<f64>> = vec![MaybeUninit::new(0.0); rows * columns];
    fill(&mut values)?;
    // SAFETY: every number was written, here if not by `fill`.
    Ok(Mat::from_fn(rows, columns, |i, j| unsafe { values[j * rows + i].assume_init() }))
}

/// Asks for huge pages, of which few are touched where ordinary ones are many. Without them it is only slower.
///
/// # Safety
/// So many bytes must be there.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the system is told of memory")]
unsafe fn ask_for_huge_pages(start: *mut u8, bytes: usize) {
    const PAGE: usize = 4_096;
    let (first, last) = ((start as usize).next_multiple_of(PAGE), (start as usize + bytes) / PAGE * PAGE);
    if bytes >= LARGE * size_of::<f64>() && first < last {
        // SAFETY: whole pages of memory that is ours; their contents stay as they are.
        unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(unsafe_code, reason = "as on Linux")]
unsafe fn ask_for_huge_pages(_: *mut u8, _: usize) {}

/// A matrix of which `values_of` gives some columns at a time, one after the other.
pub(crate) fn by_columns(
    rows: usize,
    columns: usize,
    width: usize,
    values_of: impl Fn(Range<usize>, &mut [f64]) -> Result<()> + Sync,
) -> Result<Mat<f64>> {
    let height = rows.max(1);
    // SAFETY: every column is written.
    #[expect(unsafe_code, reason = "as for `filled`")]
    unsafe {
        filled(rows, columns, |values| {
            values.par_chunks_mut(width * height).enumerate().try_for_each(|(at, out)| {
                let mut part = vec![0.0; out.len()];
                let start = at * width;
                values_of(start..start + out.len() / height, &mut part)?;
                out.iter_mut().zip(&part).for_each(|(o, v)| {
                    o.write(*v);
                });
                Ok(())
            })
        })
    }
}

/// A copy of a matrix.
pub(crate) fn copied(matrix: MatRef<'_, f64>) -> Mat<f64> {
    let (rows, columns) = matrix.shape();
    if rows * columns < LARGE {
        return matrix.to_owned();
    }
    let width = PART.div_ceil(rows);
    // SAFETY: every column is copied.
    #[expect(unsafe_code, reason = "as for `filled`")]
    let copy = unsafe {
        filled(rows, columns, |values| {
            values.par_chunks_mut(width * rows).zip(matrix.par_col_chunks(width)).for_each(
                |(values, part)| {
                    for (values, column) in values.chunks_exact_mut(rows).zip(part.col_iter()) {
                        values.iter_mut().zip(column.iter()).for_each(|(v, c)| {
                            v.write(*c);
                        });
                    }
                },
            );
            Ok(())
        })
    };
    copy.unwrap_or_else(|_| unreachable!("copying cannot fail"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_equal_whatever_their_size() {
        for (rows, columns) in [(0, 0), (3, 5), (1_024, 1_024), (1_031, 1_030), (2, 700_000)] {
            let matrix = Mat::from_fn(rows, columns, |i, j| (i * 31 + j * 7) as f64);
            assert_eq!(copied(matrix.as_ref()), matrix);
            assert_eq!(copied(matrix.transpose()), matrix.transpose().to_owned());
            let given = by_columns(rows, columns, 100, |range, out| {
                for (column, j) in out.chunks_exact_mut(rows).zip(range) {
                    column.iter_mut().enumerate().for_each(|(i, v)| *v = matrix[(i, j)]);
                }
                Ok(())
            });
            assert_eq!(given.expect("columns"), matrix);
        }
    }

    #[test]
    fn an_error_leaves_no_matrix() {
        let none = by_columns(3, 300, 100, |range, _| match range.start {
            0 => Ok(()),
            _ => Err(crate::error::Error::Numerical("stop".into())),
        });
        assert!(none.is_err());
    }
}
