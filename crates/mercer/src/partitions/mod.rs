//! Fits on rows that lie in partitions, in this process or on other machines.
//!
//!   coordinator   a fit's own loops and solvers, which see the rows through questions
//!   partition     [`Partition::answer`]: a pure function of the partition's rows, its state and a question
//!   between them  [`Engine`]: brings a question to every partition and the answers back, in the order of the partitions
//!
//! An ordinary fit is the case of one partition: the loops of the pivoted bases are generic over where the rows are
//! (`FactorRows` in basis/factor_rows.rs), sums over features are added up and merged by the same code
//! (`FeatureSums` in extract/coordinates.rs), and what a partition answers is computed by the very types that an ordinary fit uses.
//!
//! A state is a value: a question makes a new one and leaves the old one as it is. So an engine may ask again, on another
//! machine, after the first has died, and the answer is the same to the last bit. Answers that are added up are merged in a
//! fixed tree by the number of the partition, so the result depends on the partitions alone.
//!
//! ```
//! use mercer::partitions::{InProcess, Partition, Parted};
//! use mercer::{Basis, Kernel, Options, Rows};
//!
//! let halves = [vec![0.0, 1.0], vec![5.0]];
//! let parts = halves.map(|x| Partition::new(Rows::dense(x.clone(), x.len(), 1).expect("rows"), None));
//! let engine = InProcess::new(parts.into());
//! let rows = Parted::open(&engine, Default::default(), &mut Vec::new())?;
//! let basis = rows.fit_basis(&Basis::kobl(Kernel::rbf(1.0)), &Options::default())?;
//! assert_eq!(basis.pivots, [0, 2, 1]);
//! # Ok::<(), mercer::Error>(())
//! ```

mod question;
mod state;
mod answer;
mod partition;
mod wire;
mod parted;
mod factor;
mod features;
mod select;
mod fit;

pub use answer::{Answer, Seen};
pub use fit::PartedOptions;
pub use parted::Parted;
pub use question::Question;
pub use state::State;

use std::borrow::Cow;
use std::sync::Mutex;

use crate::data::labels::Column;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Brings questions to partitions.
pub trait Engine: Sync {
    /// How many partitions there are.
    fn n_partitions(&self) -> usize;

    /// The answer of every partition, in their order. `first[i]` is the index of the first row of the i-th among all rows.
    /// Where a question makes a new state, the partition's next question finds it.
    fn ask(&self, question: &Question, first: &[usize]) -> Result<Vec<Answer>>;

    /// All answers merged by [`Answer::merged`], in the tree of [`merged_in_a_tree`]; an engine may merge where they are.
    fn ask_merged(&self, question: &Question, first: &[usize]) -> Result<Answer> {
        merged_in_a_tree(self.ask(question, first)?, Answer::merged)
    }
}

/// Merges neighbours in pairs, then the results in pairs, until one is left: the order that every engine keeps to.
pub fn merged_in_a_tree<T>(mut parts: Vec<T>, merge: impl Fn(T, T) -> Result<T>) -> Result<T> {
    while parts.len() > 1 {
        let mut pairs = parts.into_iter();
        let mut next = Vec::new();
        while let Some(one) = pairs.next() {
            next.push(match pairs.next() {
                Some(other) => merge(one, other)?,
                None => one,
            });
        }
        parts = next;
    }
    parts.pop().ok_or_else(|| Error::data("there are no partitions"))
}

/// Messages as bytes, to be sent between machines that run the same version.
macro_rules! as_bytes {
    ($($message:ident),*) => {$(
        impl $message {
            /// As bytes.
            pub fn to_bytes(&self) -> Result<Vec<u8>> {
                postcard::to_allocvec(self).map_err(|e| Error::data(format!("a message could not be written: {e}")))
            }

            /// From [`to_bytes`](Self::to_bytes) of the same version.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                postcard::from_bytes(bytes).map_err(|e| Error::data(format!("a message could not be read: {e}")))
            }
        }
    )*};
}
as_bytes!(Question, Answer, State);

/// The rows of one partition, as they were given.
#[derive(Clone, Debug)]
pub struct Partition<'a> {
    /// Rows, possibly none.
    pub rows: Rows<'a>,
    /// Their target, as it was read: what it is can only be decided from all partitions.
    pub target: Option<Cow<'a, Column>>,
}

impl<'a> Partition<'a> {
    /// Rows and their target.
    pub fn new(rows: Rows<'a>, target: Option<Column>) -> Self {
        Self { rows, target: target.map(Cow::Owned) }
    }
}

/// Partitions in this process, one after the other.
#[derive(Debug)]
pub struct InProcess<'a> {
    parts: Vec<Partition<'a>>,
    states: Mutex<Vec<State>>,
    monitor: Monitor,
}

impl<'a> InProcess<'a> {
    /// These partitions.
    pub fn new(parts: Vec<Partition<'a>>) -> Self {
        let states = Mutex::new(vec![State::default(); parts.len()]);
        Self { parts, states, monitor: Monitor::default() }
    }
}

impl Engine for InProcess<'_> {
    fn n_partitions(&self) -> usize {
        self.parts.len()
    }

    fn ask(&self, question: &Question, first: &[usize]) -> Result<Vec<Answer>> {
        let mut states = self.states.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut answers = Vec::with_capacity(self.parts.len());
        for (number, part) in self.parts.iter().enumerate() {
            let (state, answer) =
                part.answer(&states[number], question, number, first.get(number).copied(), &self.monitor)?;
            states[number] = state.unwrap_or_else(|| states[number].clone());
            answers.push(answer);
        }
        Ok(answers)
    }
}
