//! Where something goes: a file, which appears whole or not at all, or standard output.

use std::fs;
use std::io::{IsTerminal, stdout};

use mercer::data::write::{check_place, write_text};
use mercer::{Error, FeatureMap, Result};

use crate::context::Context;
use crate::talk::print;

/// A place that was looked at before the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place<'a> {
    /// `-`.
    Out,
    File(&'a str),
}

impl<'a> Place<'a> {
    /// An error unless it can be written, and is none of the files that are read.
    pub(super) fn checked(path: &'a str, inputs: &[&str]) -> Result<Self> {
        if path == "-" {
            return Ok(Self::Out);
        }
        if path.is_empty() {
            return Err(Error::Argument("an empty name is no place for a file; name one".into()));
        }
        check_place(path).map_err(|error| Error::Argument(error.to_string()))?;
        not_itself(path, inputs)?;
        Ok(Self::File(path))
    }

    /// An error if two things would go to one place.
    pub(super) fn apart(self, what: &str, other: Option<Place<'a>>, other_what: &str) -> Result<()> {
        let same = match (self, other) {
            (Self::Out, Some(Self::Out)) => Some("standard output"),
            (Self::File(a), Some(Self::File(b))) if same_file(a, b) => Some(a),
            _ => None,
        };
        match same {
            Some(place) => Err(Error::Argument(format!(
                "{what} and {other_what} would both go to {place}\nhint: give one of them another name"
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn write_text(self, context: &Context, text: &str) -> Result<()> {
        match self {
            Self::Out => print(text),
            Self::File(path) => context.write(|| write_text(path, text)),
        }
    }

    pub(super) fn write_model(self, context: &Context, model: &FeatureMap) -> Result<()> {
        match self {
            Self::Out => model.write_to(&mut stdout().lock(), "standard output"),
            Self::File(path) => context.write(|| model.save(path)),
        }
    }

    /// An error if a model, which is no text, would be shown to a person.
    pub(super) fn not_a_terminal(self) -> Result<()> {
        if self == Self::Out && stdout().is_terminal() {
            return Err(Error::Argument(
                "a model is no text for a terminal\nhint: name a file (`-o model.mercer`), or pipe it on"
                    .into(),
            ));
        }
        Ok(())
    }

    /// How it is called in a sentence.
    pub(super) fn name(self) -> &'a str {
        match self {
            Self::Out => "standard output",
            Self::File(path) => path,
        }
    }
}

/// An error if what is to be written is what is read: the rows would be gone.
fn not_itself(output: &str, inputs: &[&str]) -> Result<()> {
    match inputs.iter().find(|input| same_file(output, input)) {
        Some(input) => Err(Error::Argument(format!(
            "the output {output} would overwrite {input}, which is read\nhint: give it another name"
        ))),
        None => Ok(()),
    }
}

fn same_file(a: &str, b: &str) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        // Neither is there yet.
        (Err(_), Err(_)) => a == b,
        _ => false,
    }
}
