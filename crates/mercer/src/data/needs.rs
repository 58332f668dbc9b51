//! What a method needs to know of the rows' labels.

use super::labels::Labels;
use crate::error::{Error, Result};

/// What a method needs to know of the rows' labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it looks at the rows alone.
    Nothing,
    /// Classes or numbers.
    Labels,
    /// Classes, numbers, or several targets.
    Targets,
    /// Classes.
    Classes,
    /// Classes, or several targets.
    ClassesOrSeveral,
}

impl Needs {
    /// An error that names the method unless such labels will do.
    pub(crate) fn check(self, method: &str, labels: Option<&Labels>) -> Result<()> {
        self.check_kind(method, labels)?;
        match labels {
            Some(labels) if self != Self::Nothing => labels.refuse_identifier(method),
            _ => Ok(()),
        }
    }

    /// [`check`](Self::check) of what labels are, whatever their number.
    pub(super) fn check_kind(self, method: &str, labels: Option<&Labels>) -> Result<()> {
        match (self, labels) {
            (Self::Nothing, _) => Ok(()),
            (_, None) => Err(missing_labels(method)),
            (Self::Labels, Some(labels)) => labels.require_one(method).and(labels.require_two(method)),
            (Self::Targets, Some(labels))
            | (Self::ClassesOrSeveral, Some(labels @ Labels::Several { .. })) => labels.require_two(method),
            (Self::Classes | Self::ClassesOrSeveral, Some(labels)) => {
                labels.require_classes(method).map(|_| ())
            }
        }
    }
}

/// A method looks at labels that were not given.
pub(crate) fn missing_labels(method: &str) -> Error {
    Error::argument(format!("`{method}` looks at the labels, but none were given\nhint: give them (y)"))
}
