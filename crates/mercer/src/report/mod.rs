//! Stage 8: show it. Results in, one self-contained page out; nothing is computed here.
//!
//! A page is one HTML file without scripts: it loads nothing, follows the reader's light or dark theme, fits a phone and
//! prints. [`comparison`] shows what a comparison found, [`model`] a fitted method, [`advice`] a recommendation.

mod text;
mod ink;
mod axis;
mod chart;
mod page;
mod features;
mod scatter;
mod sizes;
mod confusion;
mod comparison;
mod model;
mod advice;

pub use advice::advice;
pub use comparison::comparison;
pub use model::model;

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
