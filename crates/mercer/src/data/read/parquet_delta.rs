//! How many strings a Parquet page claims, looked at before its decoder allocates as many lengths.
//!
//! Strings in the encodings DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY begin with their lengths as differences, and these with
//! their number, which the decoder believes. What cannot be parsed here is left to the decoder, which says what is wrong with it.
//!
//! cost    pages of columns in these encodings are unpacked once more
//! source  "Delta Encoding" in the encodings of the Parquet format

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::budget::Budget;
use crate::error::{Error, Result};
use crate::size::check_available;

/// Bytes of a length.
const LENGTH_BYTES: u64 = 4;

/// An error if a page of this column chunk claims more strings than it has values, or than memory has room for.
pub(super) fn check(
    path: &str,
    file: &Arc<File>,
    column: &ColumnChunkMetaData,
    rows: i64,
    budget: &Budget,
) -> Result<()> {
    let rows = usize::try_from(rows).unwrap_or(0);
    let Ok(mut pages) = SerializedPageReader::new(Arc::clone(file), column, rows, None) else {
        return Ok(());
    };
    while let Ok(Some(page)) = pages.get_next_page() {
        let is_delta_of_both = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => false,
            Encoding::DELTA_BYTE_ARRAY => true,
            _ => continue,
        };
        let (Some(bytes), values) = (values_of(&page, column), u64::from(page.num_values())) else {
            continue;
        };
        let Some((count, rest)) = deltas(bytes) else { continue };
        // Prefixes that are shared with the string before come first, then what follows them.
        let others = rest.filter(|_| is_delta_of_both).and_then(deltas).map_or(0, |(others, _)| others);
        let most = count.max(others);
        if most > values {
            return Err(Error::file(
                path,
                format!("a page of {values} values claims {most} strings\nhint: is the file whole?"),
            ));
        }
        let needed = (count + others) * LENGTH_BYTES;
        budget.check(needed, "lengths of strings")?;
        check_available(needed, || format!("{path}: {most} lengths of strings"))?;
    }
    Ok(())
}

/// Whether the decoder reads such a column as strings.
pub(super) fn may_apply(column: &ColumnChunkMetaData) -> bool {
    matches!(column.column_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY)
}

/// The values of a data page, which follow the levels.
fn values_of<'p>(page: &'p Page, column: &ColumnChunkMetaData) -> Option<&'p [u8]> {
    let levels = column.column_descr();
    match page {
        Page::DataPage { buf, num_values, def_level_encoding, rep_level_encoding, .. } => {
            let mut rest = &buf[..];
            let each = [
                (levels.max_rep_level(), *rep_level_encoding),
                (levels.max_def_level(), *def_level_encoding),
            ];
            for (most, encoding) in each.into_iter().filter(|(most, _)| *most > 0) {
                let length = if encoding == Encoding::RLE {
                    let length = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
                    4 + usize::try_from(length).ok()?
                } else {
                    let bits = u64::from(i16::BITS - most.leading_zeros());
                    usize::try_from((u64::from(*num_values) * bits).div_ceil(8)).ok()?
                };
                rest = rest.get(length..)?;
            }
            Some(rest)
        }
        Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => buf
            .get(usize::try_from(u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)).ok()?..),
        Page::DictionaryPage { .. } => None,
    }
}

/// The number of values that a run of differences claims, and the bytes behind it where its blocks are whole.
fn deltas(mut bytes: &[u8]) -> Option<(u64, Option<&[u8]>)> {
    let block = varint(&mut bytes)?;
    let parts = varint(&mut bytes)?;
    let count = varint(&mut bytes)?;
    varint(&mut bytes)?;
    Some((count, after_blocks(bytes, block.checked_div(parts)?, parts, count)))
}

/// The bytes behind the blocks of differences, of which there is one fewer than values.
fn after_blocks(mut bytes: &[u8], part_values: u64, parts: u64, count: u64) -> Option<&[u8]> {
    let mut left = count.saturating_sub(1);
    while left > 0 {
        varint(&mut bytes)?;
        let (widths, mut rest) = bytes.split_at_checked(usize::try_from(parts).ok()?)?;
        for width in widths.iter().take_while(|_| part_values > 0) {
            if left > 0 {
                let length = u64::from(*width).checked_mul(part_values)? / 8;
                rest = rest.get(usize::try_from(length).ok()?..)?;
            }
            left = left.saturating_sub(part_values);
        }
        if part_values == 0 || parts == 0 {
            return None;
        }
        bytes = rest;
    }
    Some(bytes)
}

/// A number of seven bits a byte, the lowest first.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_differences_say_how_many_they_are_and_where_they_end() {
        // Blocks of 128 in 4 parts; 34 values from 3 on: a least difference of 0, parts of 1 and 2 bits, then two unused.
        let mut run = vec![0x80, 1, 4, 34, 6, 0, 1, 2, 9, 9];
        run.extend([0; 4]);
        run.extend([0; 8]);
        run.extend([7, 7]);
        assert_eq!(deltas(&run), Some((34, Some(&[7, 7][..]))));
        assert_eq!(deltas(&run[..16]), Some((34, None)), "its blocks are cut off");
        assert_eq!(deltas(&[0x80, 1, 4, 1, 6, 5]), Some((1, Some(&[5][..]))), "one value needs no block");
        let absurd = [0x80, 1, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0];
        assert_eq!(deltas(&absurd), Some(((1 << 49) - 1, None)));
        assert_eq!(deltas(&[0x80, 1, 0, 5, 0]), None, "no parts");
        assert_eq!(deltas(&[0xff; 20]), None);
    }
}
