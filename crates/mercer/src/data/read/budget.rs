//! What a reader may hold in memory besides rows, which go to a file: one line, the texts of columns, a target, whole arrays.
//!
//! A small file may unpack to a large one, so that neither its length nor what it says of itself bounds them.

use std::cell::Cell;
use std::io::Read;
use std::rc::Rc;

use super::ReadOptions;
use crate::error::{Error, Result};
use crate::size::{bytes, raise_budget};

/// The longest line of a text file that is read, however large the budget, and the least that it may be limited to.
const LONGEST_LINE: u64 = 1 << 30;
const SHORTEST_LIMIT: u64 = 1 << 20;

/// Bytes that may be taken yet.
#[derive(Clone, Debug)]
pub(super) struct Budget<'a> {
    path: &'a str,
    all: u64,
    left: u64,
}

impl<'a> Budget<'a> {
    pub(super) fn new(path: &'a str, options: &ReadOptions) -> Self {
        let all = options.memory.map_or(u64::MAX, |memory| memory.max(SHORTEST_LIMIT));
        Self { path, all, left: all }
    }

    /// Takes so many bytes for `what`, a plural.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<()> {
        match self.left.checked_sub(count as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.exceeded(what)),
        }
    }

    /// An error if so many bytes are more than may be taken in all.
    pub(super) fn check(&self, count: u64, what: &str) -> Result<()> {
        if count <= self.all { Ok(()) } else { Err(self.exceeded(what)) }
    }

    fn exceeded(&self, what: &str) -> Error {
        Error::Memory(format!("{}: {}", self.path, exceeded(self.all, what)))
    }

    /// The most bytes of a line: what is made of it takes several times as many.
    pub(super) fn longest_line(&self) -> u64 {
        (self.all / 8).clamp(SHORTEST_LIMIT, LONGEST_LINE)
    }

    /// The error for a longer line.
    pub(super) fn line_too_long(&self, line: u64) -> Error {
        Error::Memory(format!(
            "{}: line {line} is longer than {}\n\
             hint: is it the right file, and is a quote `\"` closed? If so, {}",
            self.path,
            bytes(self.longest_line()),
            raise_budget(self.all)
        ))
    }
}

/// Why a file is refused that would take more than this many bytes.
pub(super) fn exceeded(all: u64, what: &str) -> String {
    format!(
        "its {what} take more memory than the {} that rows may have\n\
         hint: is it the right file? If so, {}",
        bytes(all),
        raise_budget(all)
    )
}

/// Input that ends after so many bytes unless the count is set back.
pub(super) struct Metered<R> {
    input: R,
    most: u64,
    count: Rc<Cell<u64>>,
}

impl<R> Metered<R> {
    pub(super) fn new(input: R, most: u64) -> (Self, Rc<Cell<u64>>) {
        let count = Rc::new(Cell::new(0));
        (Self { input, most, count: count.clone() }, count)
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.count.get() > self.most {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        let read = self.input.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}
