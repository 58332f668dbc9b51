//! One file a command. Each reads its arguments, calls the library and says what came of it.

pub(crate) mod fit;
pub(crate) mod transform;
pub(crate) mod inspect;
pub(crate) mod methods;
pub(crate) mod demo;

use std::fs;

use mercer::{Error, Result};

/// An error if what is to be written is what is read: the rows would be gone.
fn not_itself(output: &str, inputs: &[&str]) -> Result<()> {
    let Ok(place) = fs::canonicalize(output) else { return Ok(()) };
    match inputs.iter().find(|input| fs::canonicalize(input).is_ok_and(|input| input == place)) {
        Some(input) => Err(Error::Argument(format!(
            "the output {output} would overwrite {input}, which is read\nhint: give it another name"
        ))),
        None => Ok(()),
    }
}
