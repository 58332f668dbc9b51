//! What a Parquet file says of its own size, looked at before its decoder believes it.
//!
//! The decoder calls itself for every level of the schema, allocates room for as many columns as one claims to have within it, a page
//! as large as its header claims and a dictionary of as many entries. It skips lists of any length, in the header of a page past
//! the end of the file, takes no bytes for booleans in them, and reads fields as what they should be. So metadata and headers that
//! cannot be parsed here are refused; a file that does not end as Parquet does is left to the decoder, which says so.
//!
//! cost    the metadata once, some kB for each page
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

/// The most structs and lists within each other; a header has three, metadata have eight.
const MOST_NESTED: usize = 12;

/// The most levels of a schema.
const MOST_LEVELS: usize = 100;

/// An error if the metadata cannot be parsed, or the schema nests deeper than the decoder's stack allows.
pub(super) fn check_metadata(path: &str, file: &File) -> Result<()> {
    let Some(footer) = footer(file) else { return Ok(()) };
    match levels(&footer) {
        None => Err(damaged(path, "its metadata are damaged")),
        Some(levels) if levels > MOST_LEVELS => Err(Error::file(
            path,
            format!("columns within columns, {levels} levels deep; at most {MOST_LEVELS} can be read"),
        )),
        Some(_) => Ok(()),
    }
}

fn damaged(path: &str, what: &str) -> Error {
    Error::file(path, format!("it cannot be read as Parquet: {what}\nhint: is the file whole?"))
}

/// The metadata at the end of the file; None if it does not end as a Parquet file does.
fn footer(mut file: &File) -> Option<Vec<u8>> {
    let end = file.seek(SeekFrom::End(-8)).ok()?;
    let (mut length, mut magic) = ([0; 4], [0; 4]);
    file.read_exact(&mut length).ok()?;
    file.read_exact(&mut magic).ok().filter(|()| magic == *b"PAR1")?;
    let start = end.checked_sub(u32::from_le_bytes(length).into())?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut footer = Vec::new();
    file.take(end - start).read_to_end(&mut footer).ok()?;
    Some(footer)
}

/// How deep the schema nests; None for metadata that cannot be parsed.
fn levels(footer: &[u8]) -> Option<usize> {
    let mut thrift = Thrift { bytes: footer, at: 0, has_lists: true };
    let (mut id, mut levels) = (0, None);
    while let Some(kind) = thrift.field(&mut id)? {
        match (id, kind) {
            (2, LIST) => levels = Some(levels_of_schema(&mut thrift)?),
            (_, kind) => thrift.skip(kind, 0)?,
        }
    }
    levels
}

/// The columns of a schema are a list in which each says how many of those after it are within it.
fn levels_of_schema(thrift: &mut Thrift) -> Option<usize> {
    let (length, _) = thrift.list()?;
    let mut unclaimed = length;
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
        unclaimed = unclaimed.checked_sub(within)?;
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
            let (largest, dictionary) = largest_pages(path, &file, column)?;
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

/// The bytes of the largest page of a column chunk, unpacked, and its largest dictionary.
fn largest_pages(path: &str, file: &File, column: &ColumnChunkMetaData) -> Result<(u64, Page)> {
    let (mut at, length) = column.byte_range();
    let end = at.saturating_add(length);
    let (mut largest, mut dictionary) = (0, Page::default());
    while at < end {
        let page = HEADER_BYTES.iter().find_map(|count| Page::at(file, at, *count));
        let page = page.ok_or_else(|| damaged(path, "the header of a page is damaged"))?;
        if page.entries > 0 {
            dictionary = Page {
                entries: page.entries.max(dictionary.entries),
                bytes: page.bytes.max(dictionary.bytes),
                ..page
            };
        } else {
            largest = page.bytes.max(largest);
        }
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
        let mut thrift = Thrift { bytes, at: 0, has_lists: false };
        let (mut page, mut stored, mut id) = (Self::default(), 0, 0);
        while let Some(kind) = thrift.field(&mut id)? {
            match (id, kind) {
                (1 | 4, I32) => drop(thrift.varint()?),
                (2, I32) => page.bytes = thrift.size()?,
                (3, I32) => stored = thrift.size()?,
                // Data, a dictionary, data of the second version.
                (5, STRUCT) => drop(thrift.first_size(&[I32, I32, I32, I32, STRUCT])?),
                (7, STRUCT) => page.entries = thrift.first_size(&[I32, I32, BOOLEAN])?,
                (8, STRUCT) => drop(thrift.first_size(&[I32, I32, I32, I32, I32, I32, BOOLEAN, STRUCT])?),
                // The decoder reads what a field should be, not what it says it is.
                (1..=5 | 7 | 8, _) => return None,
                (_, kind) => thrift.skip(kind, 0)?,
            }
        }
        page.until_next = stored.checked_add(thrift.at as u64)?;
        Some(page)
    }
}

// Types of the compact protocol; a boolean has two.
const BOOLEAN: u8 = 1;
const I32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Bytes in the Thrift compact protocol.
struct Thrift<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Whether there may be lists: the header of a page has none.
    has_lists: bool,
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

    /// A size as the format has them, which are of 32 bits.
    fn size(&mut self) -> Option<u64> {
        self.count().filter(|size| i32::try_from(*size).is_ok())
    }

    /// The first number of a struct whose fields have these types, from the first on; 0 if it has none.
    fn first_size(&mut self, kinds: &[u8]) -> Option<u64> {
        let (mut id, mut first) = (0, 0);
        while let Some(kind) = self.field(&mut id)? {
            let at = usize::try_from(id).ok()?.checked_sub(1)?;
            let known = kinds.get(at).copied();
            if known.is_some_and(|known| known != kind && (known, kind) != (BOOLEAN, BOOLEAN + 1)) {
                return None;
            }
            match known {
                Some(I32) if at == 0 => first = self.size()?,
                Some(I32) => drop(self.size()?),
                _ => self.skip(kind, 0)?,
            }
        }
        Some(first)
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
            LIST if self.has_lists => {
                let (length, kind) = self.list()?;
                for _ in 0..length {
                    // No list has booleans, on whose bytes decoders do not agree.
                    (kind > 2).then_some(())?;
                    self.skip(kind, nested + 1)?;
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
            bytes.push(0);
            bytes
        };
        assert_eq!(levels(&footer(&[2, 0, 0])), Some(1));
        assert_eq!(levels(&footer(&[2, 1, 0, 1, 1, 0])), Some(3));
        assert_eq!(levels(&footer(&[1; 120])), Some(120));
        assert_eq!(levels(&[]), None);
        // Room is made for as many columns as are claimed.
        assert_eq!(levels(&footer(&[2, 60, 0])), None);
    }

    #[test]
    fn metadata_with_lists_past_their_end_or_of_booleans_cannot_be_parsed() {
        let schema = [0x29, 0x1c, 0x48, 1, b'a', 0];
        let and = |field: &[u8]| levels(&[&schema[..], field, &[0]].concat());
        assert_eq!(and(&[]), Some(0));
        // Lists of numbers, of whose numbers there are two.
        assert_eq!(and(&[0x19, 0x25, 2, 4]), Some(0));
        assert_eq!(and(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 7, 2, 4]), None);
        // One of two booleans, and one of two billion.
        assert_eq!(and(&[0x19, 0x21, 1, 1]), None);
        assert_eq!(and(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7]), None);
    }

    #[test]
    fn the_header_of_a_page_has_no_lists() {
        // type 0, 8 bytes unpacked, 8 stored, and a field that no page has
        let header =
            |more: &[u8]| Page::of_header(&[&[0x15, 0, 0x15, 16, 0x15, 16][..], more, &[0]].concat());
        assert!(header(&[]).is_some() && header(&[0x65, 2]).is_some());
        assert!(header(&[0x69, 0x15, 2]).is_none());
    }

    #[test]
    fn a_header_whose_fields_have_other_types_is_no_header() {
        // A size that is text, one of more than 32 bits, and a dictionary whose entries are.
        assert!(Page::of_header(&[0x28, 1, b'a', 0]).is_none());
        assert!(Page::of_header(&[0x25, 0xfe, 0xff, 0xff, 0xff, 0x1f, 0]).is_none());
        assert!(Page::of_header(&[0x7c, 0x15, 4, 0x15, 0, 0x12, 0, 0]).is_some());
        assert!(Page::of_header(&[0x7c, 0x18, 1, b'a', 0, 0]).is_none());
    }

    #[test]
    fn a_header_that_nests_without_end_is_no_header() {
        assert!(Page::of_header(&vec![0x1c; 100_000]).is_none());
        assert!(Page::of_header(&vec![0x19; 100_000]).is_none());
    }
}
