//! What a Parquet file says of its own size, looked at before its decoder believes it.
//!
//! The decoder calls itself for every level of the schema, allocates room for as many columns as one claims to have within it, a page
//! as large as its header claims and a dictionary of as many entries. It skips lists of any length, in the header of a page past
//! the end of the file, takes no bytes for booleans in them, and reads a field as what it should be, whatever the file says that it
//! is: the bytes after one of another type are read as something else. So metadata and headers whose fields do not have the types of
//! the format are refused; a file that does not end as Parquet does is left to the decoder, which says so.
//!
//! cost    the metadata twice, some kB for each page
//! source  the Thrift compact protocol; `FileMetaData` and `PageHeader` of the Parquet format

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use self::Kind::{Any, Boolean, Byte, Bytes, Double, List, Number, Size, Struct};
use super::budget::Budget;
use super::parquet_delta::{self, varint};
use crate::error::{Error, Result};

/// The bytes of a header that are looked at, and those of one whose statistics are long.
const HEADER_BYTES: [u64; 2] = [1 << 12, 1 << 24];

/// The most structs and lists within each other; a header has three, metadata have eight.
const MOST_NESTED: usize = 12;

/// The most levels of a schema.
const MOST_LEVELS: usize = 100;

/// What the decoder makes of a byte of metadata takes no more bytes than this, columns aside, which take so many each.
const BYTES_OF_A_BYTE: u64 = 16;
const BYTES_OF_A_COLUMN: u64 = 700;

/// An error if the metadata cannot be parsed or take too much memory, or the schema nests deeper than the decoder's stack allows.
pub(super) fn check_metadata(path: &str, file: &File, budget: &Budget) -> Result<()> {
    let Some((start, length)) = footer(file) else { return Ok(()) };
    let fits = |columns: u64| {
        let columns = columns.saturating_mul(BYTES_OF_A_COLUMN);
        budget.check(length.saturating_mul(BYTES_OF_A_BYTE).saturating_add(columns), "metadata")
    };
    fits(0)?;
    let schema = bytes_at(file, start, length).and_then(|footer| Schema::of_metadata(&footer));
    let Schema { columns, levels } = schema.ok_or_else(|| damaged(path, "its metadata are damaged"))?;
    fits(columns)?;
    if levels > MOST_LEVELS {
        return Err(Error::file(
            path,
            format!("columns within columns, {levels} levels deep; at most {MOST_LEVELS} can be read"),
        ));
    }
    Ok(())
}

fn damaged(path: &str, what: &str) -> Error {
    Error::file(path, format!("it cannot be read as Parquet: {what}\nhint: is the file whole?"))
}

/// Where the metadata at the end of the file start, and their length; None if it does not end as a Parquet file does.
fn footer(mut file: &File) -> Option<(u64, u64)> {
    let end = file.seek(SeekFrom::End(-8)).ok()?;
    let (mut length, mut magic) = ([0; 4], [0; 4]);
    file.read_exact(&mut length).ok()?;
    file.read_exact(&mut magic).ok().filter(|()| magic == *b"PAR1")?;
    let length = u32::from_le_bytes(length).into();
    Some((end.checked_sub(length)?, length))
}

/// So many bytes from a place on, or those that there are.
fn bytes_at(mut file: &File, place: u64, count: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(place)).ok()?;
    file.take(count).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What a schema says of its columns: a list in which each says how many of those after it are within it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Schema {
    columns: u64,
    /// How deep they nest.
    levels: usize,
}

impl Schema {
    /// All columns, and the deepest, where metadata have several schemas; None for metadata that cannot be parsed or have none.
    fn of_metadata(footer: &[u8]) -> Option<Self> {
        Thrift::new(footer).check_fields(METADATA, 0)?;
        let mut thrift = Thrift::new(footer);
        let (mut id, mut all) = (0, None);
        while let Some(kind) = thrift.field(&mut id)? {
            match id {
                2 => {
                    let Self { columns, levels } = all.unwrap_or(Self { columns: 0, levels: 0 });
                    let next = Self::at(&mut thrift)?;
                    all = Some(Self {
                        columns: columns.saturating_add(next.columns),
                        levels: levels.max(next.levels),
                    });
                }
                _ => thrift.skip(kind)?,
            }
        }
        all
    }

    fn at(thrift: &mut Thrift) -> Option<Self> {
        let (columns, _) = thrift.list()?;
        let mut unclaimed = columns;
        let (mut open, mut levels): (Vec<u64>, usize) = (Vec::new(), 0);
        for _ in 0..columns {
            if let Some(left) = open.last_mut() {
                *left = left.saturating_sub(1);
            }
            let (mut id, mut within) = (0, 0);
            while let Some(kind) = thrift.field(&mut id)? {
                match id {
                    5 => within = thrift.size()?,
                    _ => thrift.skip(kind)?,
                }
            }
            unclaimed = unclaimed.checked_sub(within)?;
            if within > 0 {
                open.push(within);
            }
            levels = levels.max(open.len());
            while open.last() == Some(&0) {
                open.pop();
            }
        }
        Some(Self { columns, levels })
    }
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
    fn at(file: &File, place: u64, count: u64) -> Option<Self> {
        Self::of_header(&bytes_at(file, place, count)?)
    }

    fn of_header(bytes: &[u8]) -> Option<Self> {
        Thrift::new(bytes).check_fields(PAGE_HEADER, 0)?;
        let mut thrift = Thrift::new(bytes);
        let (mut page, mut stored, mut id) = (Self::default(), 0, 0);
        while let Some(kind) = thrift.field(&mut id)? {
            match id {
                2 => page.bytes = thrift.size()?,
                3 => stored = thrift.size()?,
                7 => page.entries = thrift.first_size()?,
                _ => thrift.skip(kind)?,
            }
        }
        page.until_next = stored.checked_add(thrift.at as u64)?;
        Some(page)
    }
}

/// What the decoder reads a field as.
#[derive(Clone, Copy)]
enum Kind {
    Boolean,
    Byte,
    /// Of 16, 32 or 64 bits, which are written alike.
    Number,
    /// A number that is not negative and has 32 bits.
    Size,
    Double,
    Bytes,
    List(&'static Kind),
    /// The fields with the ids 1, 2, …; those after the last may be anything.
    Struct(&'static [Kind]),
    /// What the file says that it is: the decoder skips it.
    Any,
}

const METADATA: &[Kind] = &[
    Number,
    List(&Struct(SCHEMA_ELEMENT)),
    Number,
    List(&Struct(ROW_GROUP)),
    List(&Struct(KEY_VALUE)),
    Bytes,
    List(&Struct(COLUMN_ORDER)),
];
const KEY_VALUE: &[Kind] = &[Bytes, Bytes];
const COLUMN_ORDER: &[Kind] = &[EMPTY, EMPTY, EMPTY];
const EMPTY: Kind = Struct(&[]);

/// A column, or a group of columns.
const SCHEMA_ELEMENT: &[Kind] =
    &[Number, Number, Number, Bytes, Size, Number, Number, Number, Number, Struct(LOGICAL_TYPE)];
const LOGICAL_TYPE: &[Kind] = &[
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[Number, Number]),
    EMPTY,
    Struct(TIME),
    Struct(TIME),
    Any,
    Struct(&[Byte, Boolean]),
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[Byte]),
    Struct(&[Bytes]),
    Struct(&[Bytes, Number]),
    EMPTY,
];
const TIME: &[Kind] = &[Boolean, Struct(&[EMPTY, EMPTY, EMPTY])];

const ROW_GROUP: &[Kind] = &[
    List(&Struct(COLUMN_CHUNK)),
    Number,
    Number,
    List(&Struct(&[Number, Boolean, Boolean])),
    Number,
    Number,
    Number,
];
const COLUMN_CHUNK: &[Kind] = &[Bytes, Number, Struct(COLUMN_METADATA), Number, Number, Number, Number];
const COLUMN_METADATA: &[Kind] = &[
    Number,
    List(&Number),
    List(&Bytes),
    Number,
    Number,
    Number,
    Number,
    List(&Struct(KEY_VALUE)),
    Number,
    Number,
    Number,
    Struct(STATISTICS),
    List(&Struct(&[Number, Number, Number])),
    Number,
    Number,
    Struct(&[Number, List(&Number), List(&Number)]),
    Struct(&[Struct(&[Double; 8]), List(&Number)]),
];
const STATISTICS: &[Kind] = &[Bytes, Bytes, Number, Number, Bytes, Bytes, Boolean, Boolean, Number];

const PAGE_HEADER: &[Kind] = &[
    Number,
    Size,
    Size,
    Number,
    Struct(&[Size, Size, Size, Size, Struct(STATISTICS)]),
    EMPTY,
    Struct(&[Size, Size, Boolean]),
    Struct(&[Size, Size, Size, Size, Size, Size, Boolean, Struct(STATISTICS)]),
];

/// Bytes in the Thrift compact protocol.
struct Thrift<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Thrift<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

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

    /// A number that must not be negative.
    fn count(&mut self) -> Option<u64> {
        let zigzag = self.varint()?;
        (zigzag & 1 == 0).then_some(zigzag >> 1)
    }

    /// A size as the format has them, which are of 32 bits.
    fn size(&mut self) -> Option<u64> {
        self.count().filter(|size| i32::try_from(*size).is_ok())
    }

    /// The field of a struct whose id is 1, a size; 0 if it has none.
    fn first_size(&mut self) -> Option<u64> {
        let (mut id, mut first) = (0, 0);
        while let Some(kind) = self.field(&mut id)? {
            match id {
                1 => first = self.size()?,
                _ => self.skip(kind)?,
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
        // The decoder cuts larger ones to 16 bits.
        i16::try_from(*id).ok()?;
        Some(Some(byte & 0x0f))
    }

    /// The length and the type of a list.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        Some((length, byte & 0x0f))
    }

    fn skip(&mut self, kind: u8) -> Option<()> {
        self.check(Any, kind, 0)
    }

    /// Passes a field that says it is of type `stated`; None if it is not what it should be.
    fn check(&mut self, kind: Kind, stated: u8, nested: usize) -> Option<()> {
        if nested > MOST_NESTED {
            return None;
        }
        match (kind, stated) {
            // Booleans are in the type.
            (Boolean | Any, 1 | 2) => {}
            (Byte | Any, 3) => self.at = self.at.checked_add(1)?,
            (Number | Any, 4..=6) => drop(self.varint()?),
            (Size, 4..=6) => drop(self.size()?),
            (Double | Any, 7) => self.at = self.at.checked_add(8)?,
            (Bytes | Any, 8) => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            (List(of), 9) => self.check_list(*of, nested)?,
            (Any, 9) => self.check_list(Any, nested)?,
            (Struct(fields), 12) => self.check_fields(fields, nested)?,
            (Any, 12) => self.check_fields(&[], nested)?,
            _ => return None,
        }
        Some(())
    }

    fn check_list(&mut self, of: Kind, nested: usize) -> Option<()> {
        let (length, stated) = self.list()?;
        for _ in 0..length {
            // No list has booleans, on whose bytes decoders do not agree.
            (stated > 2).then_some(())?;
            self.check(of, stated, nested + 1)?;
            self.bytes.get(self.at - 1)?;
        }
        Some(())
    }

    fn check_fields(&mut self, kinds: &[Kind], nested: usize) -> Option<()> {
        let mut id = 0u64;
        while let Some(stated) = self.field(&mut id)? {
            let at = usize::try_from(id).ok()?.checked_sub(1);
            let kind = at.and_then(|at| kinds.get(at)).unwrap_or(&Any);
            self.check(*kind, stated, nested + 1)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(footer: &[u8]) -> Option<usize> {
        Schema::of_metadata(footer).map(|schema| schema.levels)
    }

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
        // Lists of numbers where files have none, of whose numbers there are two.
        assert_eq!(and(&[0xd9, 0x25, 2, 4]), Some(0));
        assert_eq!(and(&[0xd9, 0xf5, 0xff, 0xff, 0xff, 0xff, 7, 2, 4]), None);
        // One of two booleans, and one of two billion.
        assert_eq!(and(&[0xd9, 0x21, 1, 1]), None);
        assert_eq!(and(&[0xd9, 0xf1, 0xff, 0xff, 0xff, 0xff, 7]), None);
    }

    #[test]
    fn several_schemas_count_together_and_the_deepest_of_them() {
        // The second says its id in full: 2.
        let flat = [0x09, 4, 0x1c, 0x48, 1, b'a', 0];
        let deep = [0x09, 4, 0x2c, 0x48, 1, b'a', 0x15, 2, 0, 0x48, 1, b'a', 0];
        for schemas in [[&deep[..], &flat, &[0]], [&flat, &deep, &[0]]] {
            assert_eq!(Schema::of_metadata(&schemas.concat()), Some(Schema { columns: 3, levels: 1 }));
        }
    }

    #[test]
    fn metadata_whose_fields_have_other_types_cannot_be_parsed() {
        let schema = [0x29, 0x1c, 0x48, 1, b'a', 0];
        let and = |field: &[u8]| levels(&[&schema[..], field, &[0]].concat());
        // The number of rows as a number of either width, then as text, a list and a struct.
        assert!(and(&[0x16, 2]).is_some() && and(&[0x15, 2]).is_some());
        assert!(and(&[0x18, 1, b'a']).is_none());
        assert!(and(&[0x19, 0x15, 2]).is_none() && and(&[0x1c, 0]).is_none());
        // A row group whose rows are a number, and text; a list of numbers in place of row groups.
        assert!(and(&[0x29, 0x1c, 0x36, 2, 0]).is_some());
        assert!(and(&[0x29, 0x1c, 0x38, 1, b'a', 0]).is_none());
        assert!(and(&[0x29, 0x15, 2]).is_none());
        // A field that no file has may be anything, but its id may not be one of those when it is cut to 16 bits: 65 536 + 3.
        assert!(and(&[0xd8, 1, b'a']).is_some());
        assert!(and(&[0x08, 0x86, 0x80, 8, 1, b'a']).is_none());
    }

    #[test]
    fn the_lists_of_a_header_are_within_it() {
        // type 0, 8 bytes unpacked, 8 stored, and a field that no page has
        let header =
            |more: &[u8]| Page::of_header(&[&[0x15, 0, 0x15, 16, 0x15, 16][..], more, &[0]].concat());
        assert!(header(&[]).is_some() && header(&[0x65, 2]).is_some() && header(&[0x69, 0x15, 2]).is_some());
        // Two billion doubles, and as many booleans.
        assert!(header(&[0x69, 0xf7, 0xff, 0xff, 0xff, 0xff, 7]).is_none());
        assert!(header(&[0x69, 0xf1, 0xff, 0xff, 0xff, 0xff, 7]).is_none());
    }

    #[test]
    fn a_header_whose_fields_have_other_types_is_no_header() {
        // A size that is text, one of more than 32 bits, a dictionary whose entries are, an index that is a number.
        assert!(Page::of_header(&[0x28, 1, b'a', 0]).is_none());
        assert!(Page::of_header(&[0x25, 0xfe, 0xff, 0xff, 0xff, 0x1f, 0]).is_none());
        assert!(Page::of_header(&[0x7c, 0x15, 4, 0x15, 0, 0x12, 0, 0]).is_some());
        assert!(Page::of_header(&[0x7c, 0x18, 1, b'a', 0, 0]).is_none());
        assert!(Page::of_header(&[0x6c, 0, 0]).is_some());
        assert!(Page::of_header(&[0x65, 2, 0]).is_none());
    }

    #[test]
    fn a_header_that_nests_without_end_is_no_header() {
        assert!(Page::of_header(&vec![0x1c; 100_000]).is_none());
        assert!(Page::of_header(&vec![0x19; 100_000]).is_none());
    }
}
