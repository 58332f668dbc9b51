//! What a Parquet file says of its own size, looked at before its decoder believes it.
//!
//! The decoder calls itself for every level of the schema, and allocates a page as large as its header claims and a dictionary
//! of as many entries. It skips lists of any length in the header of a page, also past the end of the file, so that such a header
//! is refused here. What else cannot be parsed is left to the decoder, which says what is wrong with it.
//!
//! cost    some kB for each page
//! source  the Thrift compact protocol; `FileMetaData` and `PageHeader` of the Parquet format

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::budget::Budget;
use super::parquet_delta::{self, varint};
use crate::error::{Error, Result};

/// The bytes of a header that are looked at, and those of one whose statistics are long.
const HEADER_BYTES: [u64; 2] = [1 << 12, 1 << 24];

/// The most structs and lists within each other; a header has three.
const MOST_NESTED: usize = 8;

/// The most levels of a schema.
const MOST_LEVELS: usize = 100;

/// An error if the schema nests deeper than the decoder's stack allows.
pub(super) fn check_schema(path: &str, file: &File) -> Result<()> {
    match footer(file).and_then(|footer| levels(&footer)) {
        Some(levels) if levels > MOST_LEVELS => Err(Error::file(
            path,
            format!("columns within columns, {levels} levels deep; at most {MOST_LEVELS} can be read"),
        )),
        _ => Ok(()),
    }
}

/// The metadata at the end of the file.
fn footer(mut file: &File) -> Option<Vec<u8>> {
    let end = file.seek(SeekFrom::End(-8)).ok()?;
    let mut length = [0; 4];
    file.read_exact(&mut length).ok()?;
    let start = end.checked_sub(u32::from_le_bytes(length).into())?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut footer = Vec::new();
    file.take(end - start).read_to_end(&mut footer).ok()?;
    Some(footer)
}

/// How deep the schema nests. Its columns are a list in which each says how many of those after it are within it.
fn levels(footer: &[u8]) -> Option<usize> {
    let mut thrift = Thrift { bytes: footer, at: 0 };
    let mut id = 0;
    loop {
        match (thrift.field(&mut id)?, id) {
            (Some(LIST), 2) => break,
            (Some(kind), _) => thrift.skip(kind, 0)?,
            (None, _) => return None,
        }
    }
    let (length, _) = thrift.list()?;
    let (mut open, mut deepest): (Vec<u64>, usize) = (Vec::new(), 0);
    for _ in 0..length {
        if let Some(left) = open.last_mut() {
            *left = left.saturating_sub(1);
        }
        let (mut id, mut within) = (0, 0);
        while let Some(kind) = thrift.field(&mut id)? {
            match (id, kind) {
                (5, I32) => within = thrift.count()?,
                (_, kind) => thrift.skip(kind, 0)?,
            }
        }
        if within > 0 {
            open.push(within);
        }
        deepest = deepest.max(open.len());
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(deepest)
}

/// Checks the pages of these columns, ascending: those of a row group that are in memory at the same time, one of each column and its
/// dictionary, must fit into the budget.
pub(super) fn check(
    path: &str,
    file: File,
    metadata: &ParquetMetaData,
    columns: &[usize],
    budget: &Budget,
) -> Result<()> {
    let file = Arc::new(file);
    let schema = metadata.file_metadata().schema_descr();
    for group in metadata.row_groups() {
        let mut all = 0u64;
        let is_wanted = |leaf: usize| columns.binary_search(&schema.get_column_root_idx(leaf)).is_ok();
        let wanted =
            || group.columns().iter().enumerate().filter(|(leaf, _)| is_wanted(*leaf)).map(|(_, c)| c);
        for column in wanted() {
            let (largest, dictionary) = largest_pages(path, &file, column, group.num_rows())?;
            all = all.saturating_add(largest).saturating_add(dictionary.bytes);
            if dictionary.entries > dictionary.bytes.saturating_add(1).saturating_mul(8) {
                let Page { bytes, entries, .. } = dictionary;
                return Err(Error::file(
                    path,
                    format!(
                        "it claims {entries} different values in {bytes} bytes\nhint: is the file whole?"
                    ),
                ));
            }
        }
        budget.check(all, "pages, once unpacked,")?;
        for column in wanted().filter(|column| parquet_delta::may_apply(column)) {
            parquet_delta::check(path, &file, column, group.num_rows(), budget)?;
        }
    }
    Ok(())
}

/// The bytes of the largest page of a column chunk of so many rows, unpacked, and its largest dictionary.
fn largest_pages(path: &str, file: &File, column: &ColumnChunkMetaData, rows: i64) -> Result<(u64, Page)> {
    let (mut at, length) = column.byte_range();
    let end = at.saturating_add(length);
    let claimed = u64::try_from(column.num_values().max(rows)).unwrap_or(0);
    let (mut largest, mut dictionary, mut values) = (0, Page::default(), 0u64);
    while at < end {
        let page = match HEADER_BYTES.iter().find_map(|count| Page::at(file, at, *count)) {
            Some(page) => page,
            // Nobody reads on.
            None if values >= claimed => break,
            None => {
                let what =
                    "it cannot be read as Parquet: the header of a page is damaged\nhint: is the file whole?";
                return Err(Error::file(path, what));
            }
        };
        if page.entries > 0 {
            dictionary = Page {
                entries: page.entries.max(dictionary.entries),
                bytes: page.bytes.max(dictionary.bytes),
                ..page
            };
        } else {
            largest = page.bytes.max(largest);
        }
        values = values.saturating_add(page.values);
        at = at.saturating_add(page.until_next);
    }
    Ok((largest, dictionary))
}

/// What a page's header says.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    /// Bytes once it is unpacked.
    bytes: u64,
    /// Entries of a dictionary; 0 for other pages.
    entries: u64,
    /// Values of a page of data; 0 for others.
    values: u64,
    /// Bytes of the header and of what follows it.
    until_next: u64,
}

impl Page {
    /// The page at this place, whose header is looked for in so many bytes.
    fn at(mut file: &File, place: u64, count: u64) -> Option<Self> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(place)).ok()?;
        file.take(count).read_to_end(&mut bytes).ok()?;
        Self::of_header(&bytes)
    }

    fn of_header(bytes: &[u8]) -> Option<Self> {
        let mut thrift = Thrift { bytes, at: 0 };
        let (mut page, mut stored, mut id) = (Self::default(), 0, 0);
        while let Some(kind) = thrift.field(&mut id)? {
            match (id, kind) {
                (2, I32) => page.bytes = thrift.count()?,
                (3, I32) => stored = thrift.count()?,
                // Data, a dictionary, data of the second version.
                (part @ (5 | 7 | 8), STRUCT) => {
                    let mut id = 0;
                    while let Some(kind) = thrift.field(&mut id)? {
                        match (id, kind) {
                            (1, I32) if part == 7 => page.entries = thrift.count()?,
                            (1, I32) => page.values = thrift.count()?,
                            (_, kind) => thrift.skip(kind, 0)?,
                        }
                    }
                }
                (_, kind) => thrift.skip(kind, 0)?,
            }
        }
        page.until_next = stored.checked_add(thrift.at as u64)?;
        Some(page)
    }
}

// Types of the compact protocol.
const I32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Bytes in the Thrift compact protocol.
struct Thrift<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut rest = self.bytes.get(self.at..)?;
        let value = varint(&mut rest)?;
        self.at = self.bytes.len() - rest.len();
        Some(value)
    }

    /// A signed number that must not be negative.
    fn count(&mut self) -> Option<u64> {
        let zigzag = self.varint()?;
        (zigzag & 1 == 0).then_some(zigzag >> 1)
    }

    /// The type of the next field, whose id is updated; None at the end of the struct.
    #[expect(clippy::option_option, reason = "the outer one is for bytes that end too early")]
    fn field(&mut self, id: &mut u64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match u64::from(byte >> 4) {
            0 => self.count()?,
            more => *id + more,
        };
        Some(Some(byte & 0x0f))
    }

    /// The length and the type of a list.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        Some((length, byte & 0x0f))
    }

    fn skip(&mut self, kind: u8, nested: usize) -> Option<()> {
        if nested > MOST_NESTED {
            return None;
        }
        match kind {
            // Booleans are in the type.
            1 | 2 => {}
            3 => self.at = self.at.checked_add(1)?,
            4..=6 => drop(self.varint()?),
            7 => self.at = self.at.checked_add(8)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            LIST | 10 => {
                let (length, kind) = self.list()?;
                for _ in 0..length {
                    // Here a boolean has a byte.
                    self.skip(kind.max(3), nested + 1)?;
                    self.bytes.get(self.at - 1)?;
                }
            }
            STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, nested + 1)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_how_large_its_page_is() {
        // type 2, 100 bytes unpacked, 30 stored, a dictionary of 7 entries in PLAIN
        let header = [0x15, 4, 0x15, 200, 1, 0x15, 60, 0x4c, 0x15, 14, 0x15, 0, 0, 0];
        let page = Page::of_header(&header).expect("a header");
        assert_eq!((page.bytes, page.entries, page.until_next), (100, 7, 30 + header.len() as u64));
        for end in 0..header.len() {
            assert!(Page::of_header(&header[..end]).is_none(), "{end} bytes");
        }
    }

    #[test]
    fn a_schema_is_as_deep_as_columns_are_within_each_other() {
        // version 1, then columns as (a name of one letter, how many are within it)
        let footer = |within: &[u8]| {
            let mut bytes = vec![0x15, 2, 0x19, 0xfc, within.len() as u8];
            within.iter().for_each(|count| bytes.extend([0x48, 1, b'a', 0x15, 2 * count, 0]));
            bytes
        };
        assert_eq!(levels(&footer(&[2, 0, 0])), Some(1));
        assert_eq!(levels(&footer(&[2, 1, 0, 1, 1, 0])), Some(3));
        assert_eq!(levels(&footer(&[1; 120])), Some(120));
        assert_eq!(levels(&[]), None);
    }

    #[test]
    fn a_header_that_nests_without_end_is_no_header() {
        assert!(Page::of_header(&vec![0x1c; 100_000]).is_none());
        assert!(Page::of_header(&vec![0x19; 100_000]).is_none());
    }
}
