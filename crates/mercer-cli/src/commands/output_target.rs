//! Output targets: standard output, or a file that is written atomically.

use std::fs;
use std::io::{IsTerminal, stdout};

use mercer::data::write::{check_place, write_text};
use mercer::map::SelectedColumns;
use mercer::{Error, FeatureMap, Result};

use crate::context::Context;
use crate::stdout::print;

/// Where a result is written; checked before the work starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OutputTarget<'a> {
    /// `-`.
    Stdout,
    File(&'a str),
}

impl<'a> OutputTarget<'a> {
    /// An error unless the file can be written and is not one of the inputs.
    pub(super) fn checked(path: &'a str, inputs: &[&str]) -> Result<Self> {
        if path == "-" {
            return Ok(Self::Stdout);
        }
        if path.is_empty() {
            return Err(Error::Argument(
                "the name of the output file is empty; name a file, or - for standard output".into(),
            ));
        }
        check_place(path).map_err(|error| Error::Argument(error.to_string()))?;
        check_not_an_input(path, inputs)?;
        Ok(Self::File(path))
    }

    /// An error if two results would go to the same target.
    pub(super) fn check_distinct(
        self,
        what: &str,
        other: Option<OutputTarget<'a>>,
        other_what: &str,
    ) -> Result<()> {
        let same = match (self, other) {
            (Self::Stdout, Some(Self::Stdout)) => Some("standard output"),
            (Self::File(a), Some(Self::File(b))) if same_file(a, b) => Some(a),
            _ => None,
        };
        match same {
            Some(target) => Err(Error::Argument(format!(
                "{what} and {other_what} would both go to {target}\nhint: give one of them another name"
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn write_text(self, context: &Context, text: &str) -> Result<()> {
        match self {
            Self::Stdout => print(text),
            Self::File(path) => context.write(|| write_text(path, text)),
        }
    }

    pub(super) fn write_model(self, context: &Context, model: &FeatureMap) -> Result<()> {
        match self {
            Self::Stdout => model.write_to(&mut stdout().lock(), "standard output"),
            Self::File(path) => context.write(|| model.save(path)),
        }
    }

    pub(super) fn write_columns(self, context: &Context, model: &SelectedColumns) -> Result<()> {
        match self {
            Self::Stdout => model.write_to(&mut stdout().lock(), "standard output"),
            Self::File(path) => context.write(|| model.save(path)),
        }
    }

    /// An error if a model, which is binary, would be written to a terminal.
    pub(super) fn check_not_a_terminal(self) -> Result<()> {
        if self == Self::Stdout && stdout().is_terminal() {
            return Err(Error::Argument(
                "a model is binary and cannot be shown on a terminal\nhint: name a file (`-o model.mercer`), or use a pipe"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Its name in messages.
    pub(super) fn name(self) -> &'a str {
        match self {
            Self::Stdout => "standard output",
            Self::File(path) => path,
        }
    }
}

/// An error if the output is one of the inputs, which would be overwritten.
fn check_not_an_input(output: &str, inputs: &[&str]) -> Result<()> {
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
        // Neither exists yet.
        (Err(_), Err(_)) => a == b,
        _ => false,
    }
}
