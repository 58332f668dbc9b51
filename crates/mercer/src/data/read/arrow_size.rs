//! What an Arrow file says of its own size, looked at before its decoder believes it.
//!
//! A compressed buffer begins with its unpacked length, and the decoder allocates that much at once. Columns of nulls have rows
//! without any bytes. What cannot be parsed here is left to the decoder, which says what is wrong with it.

use std::io::{Read, Seek, SeekFrom};

use arrow::ipc::{MessageHeader, root_as_footer, root_as_message};

use super::budget::Budget;
use crate::error::{Error, Result};

/// What a message starts with; old files begin with its length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The most unpacked bytes for a byte of the file, where there is no budget: compressors reach less on anything but zeros.
const MOST_UNPACKED: u64 = 1 << 16;

/// A file whose messages are looked at.
pub(super) struct ArrowSize<'a, F> {
    file: F,
    length: u64,
    path: &'a str,
    budget: Budget<'a>,
}

impl<'a, F: Read + Seek> ArrowSize<'a, F> {
    pub(super) fn new(path: &'a str, mut file: F, budget: Budget<'a>) -> Result<Self> {
        let length = file.seek(SeekFrom::End(0)).map_err(|e| Error::io(path, e))?;
        Ok(Self { file, length, path, budget })
    }

    /// Checks the messages that the footer of a file lists.
    pub(super) fn check_file(mut self) -> Result<()> {
        for (offset, metadata, body) in self.blocks()?.unwrap_or_default() {
            let end = offset.checked_add(metadata).and_then(|end| end.checked_add(body));
            if end.is_none_or(|end| end > self.length) {
                return Err(self.past_the_end());
            }
            let message = self.bytes(offset, metadata).unwrap_or_default();
            let start = if message.starts_with(&CONTINUATION) { 8 } else { 4 };
            let message = message.get(start..).unwrap_or_default();
            // The decoder looks past the end of the metadata, and could find another message than the one that is checked.
            if let Err(e) = root_as_message(message) {
                let what = format!("it cannot be read as Arrow IPC: {e}\nhint: is the file whole?");
                return Err(Error::file(self.path, what));
            }
            self.check_message(message, offset + metadata)?;
        }
        Ok(())
    }

    /// Checks the messages of a stream, one after the other.
    pub(super) fn check_stream(mut self) -> Result<()> {
        let mut at = 0u64;
        while let Some((start, metadata)) = self.message_at(at) {
            let message = self.bytes(start, metadata).ok_or_else(|| self.past_the_end())?;
            let body = root_as_message(&message).map_or(0, |message| message.bodyLength());
            at = (start + metadata).saturating_add(u64::try_from(body).unwrap_or(u64::MAX));
            if at > self.length {
                return Err(self.past_the_end());
            }
            self.check_message(&message, start + metadata)?;
        }
        Ok(())
    }

    fn past_the_end(&self) -> Error {
        Error::file(
            self.path,
            "it cannot be read as Arrow IPC: it refers to bytes past its end\nhint: is the file whole?",
        )
    }

    /// Offset, bytes of metadata and bytes of the body of every message that the footer lists; None if there is no such list.
    fn blocks(&mut self) -> Result<Option<Vec<(u64, u64, u64)>>> {
        let end = self.length.saturating_sub(10);
        let Some(tail) = self.bytes(end, 10) else { return Ok(None) };
        let footer_length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        let start = end.checked_sub(footer_length).ok_or_else(|| self.past_the_end())?;
        let footer = self.bytes(start, footer_length).unwrap_or_default();
        let Ok(footer) = root_as_footer(&footer) else { return Ok(None) };
        let blocks =
            footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        // What is negative is past every end.
        let whole = |v: i64| u64::try_from(v).unwrap_or(u64::MAX);
        let of = |block: &arrow::ipc::Block| {
            (whole(block.offset()), whole(block.metaDataLength().into()), whole(block.bodyLength()))
        };
        Ok(Some(blocks.map(of).collect()))
    }

    /// Where the metadata of the message at this offset start, and their length; None at the end.
    fn message_at(&mut self, at: u64) -> Option<(u64, u64)> {
        let mut start = at.checked_add(4)?;
        let mut word = self.bytes(at, 4)?;
        if word == CONTINUATION {
            word = self.bytes(start, 4)?;
            start += 4;
        }
        let length = u64::from(u32::from_le_bytes(*word.first_chunk()?));
        (length > 0).then_some((start, length))
    }

    /// Bytes of the file; None past its end.
    fn bytes(&mut self, at: u64, count: u64) -> Option<Vec<u8>> {
        at.checked_add(count).filter(|end| *end <= self.length)?;
        self.file.seek(SeekFrom::Start(at)).ok()?;
        let mut bytes = vec![0; usize::try_from(count).ok()?];
        self.file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// An error if the rows of a message take more memory than they may, or none at all.
    fn check_message(&mut self, message: &[u8], body: u64) -> Result<()> {
        let Ok(message) = root_as_message(message) else { return Ok(()) };
        let batch = match message.header_type() {
            MessageHeader::DictionaryBatch => {
                message.header_as_dictionary_batch().and_then(|batch| batch.data())
            }
            _ => message.header_as_record_batch(),
        };
        let Some(batch) = batch else { return Ok(()) };
        let mut unpacked = 0u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let stored = u64::try_from(buffer.length()).unwrap_or(0);
            let start = u64::try_from(buffer.offset()).ok().and_then(|offset| body.checked_add(offset));
            let first =
                start.filter(|_| batch.compression().is_some()).and_then(|start| self.bytes(start, 8));
            // −1 stands for a buffer that is not compressed after all.
            let claimed = first.and_then(|first| Some(i64::from_le_bytes(*first.first_chunk()?)));
            let size = claimed.and_then(|claimed| u64::try_from(claimed).ok()).unwrap_or(stored);
            unpacked = unpacked.saturating_add(size);
        }
        self.budget.check(unpacked, "rows, which are compressed,")?;
        let rows = u64::try_from(batch.length()).unwrap_or(0);
        if unpacked > self.length.saturating_mul(MOST_UNPACKED)
            || rows > unpacked.saturating_add(8).saturating_mul(8)
        {
            return Err(Error::file(
                self.path,
                format!(
                    "it claims {rows} rows of {unpacked} bytes at once, which it cannot hold\nhint: is the file whole?"
                ),
            ));
        }
        Ok(())
    }
}
