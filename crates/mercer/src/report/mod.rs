//! Stage 8: reports. Results become one self-contained page; nothing is computed here.
//!
//! A page is one HTML file without scripts: it loads nothing, follows the light or dark theme, and is readable on a phone and
//! in print. [`comparison`] shows the results of a comparison, [`model`] a fitted method, [`learned`] a predictor, [`advice`] a
//! recommendation.

mod text;
mod ink;
mod axis;
mod chart;
mod page;
mod features;
mod scatter;
mod sizes;
mod confusion;
mod predicted;
mod comparison;
mod model;
mod advice;
mod learned;

pub use advice::advice;
pub use comparison::comparison;
pub use learned::learned;
pub use model::model;

/// The origin of a page: data, command, seed and settings, so that it can be reproduced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The name of the data.
    pub source: String,
    /// The command that reproduces the page.
    pub command: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Settings to show: name and value.
    pub settings: Vec<(String, String)>,
    /// The target column.
    pub target: String,
    /// The version of mercer.
    pub version: String,
}
