//! Stage 8: show it. Results in, one self-contained page out; nothing is computed here.

/// What a page says about how it came about, so that it can be repeated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// What the data is called.
    pub source: String,
    /// The command that makes the page again.
    pub command: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Settings worth reading: name and value.
    pub settings: Vec<(String, String)>,
    /// The target column.
    pub target: String,
    /// The version of mercer.
    pub version: String,
}

use crate::evaluate::advice::Advice;
use crate::evaluate::outcome::Outcome;
use crate::evaluate::portrait::Portrait;

/// Stand-in until the pages are there.
pub fn comparison(outcome: &Outcome, portrait: Option<&Portrait>, about: &About) -> String {
    format!("<!doctype html><title>{} {} {:?}</title>\n", outcome.rows, about.command, portrait.map(|p| &p.method))
}

/// Stand-in until the pages are there.
pub fn model(portrait: &Portrait, about: &About) -> String {
    format!("<!doctype html><title>{} {}</title>\n", portrait.method, about.command)
}

/// Stand-in until the pages are there.
pub fn advice(advice: &Advice, portrait: Option<&Portrait>, about: &About) -> String {
    format!("<!doctype html><title>{} {} {:?}</title>\n", advice.method, about.command, portrait.map(|p| &p.method))
}
