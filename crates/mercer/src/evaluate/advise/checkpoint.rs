//! What an adviser has found so far, in a checkpoint: the errors of widths and sizes, and the scores of inner folds.

use serde_json::{Value, json};

use super::Adviser;
use crate::basis::loo::Tried;
use crate::checkpoint::{About, Journal, digest_of_rows};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;

impl Adviser {
    pub(super) fn journal(&self, all: &Rows, labels: &Labels) -> Result<Journal> {
        // Every field, so that a new one cannot be forgotten here.
        // Rows are weighted before they come here.
        let Self { scale, fill_missing, rows, max_components, seed, options, input_weights: _ } = self;
        let Some(checkpoint) = &options.checkpoint else { return Ok(Journal::default()) };
        let about = About::new(all, Some(labels))
            .and_setting("scale", scale)
            .and_setting("fill_missing", fill_missing)
            .and_setting("rows looked at", rows)
            .and_setting("max_components", max_components)
            .and_setting("seed", seed)
            .and_setting("memory", &options.memory);
        let about = match &options.weights {
            Some(weights) => {
                about.and("weights", digest_of_rows(&Rows::dense(&weights[..], weights.len(), 1)?))
            }
            None => about,
        };
        Journal::open(checkpoint, "advice", about)
    }
}

/// What an earlier run found under this name, or what is found now.
pub(super) fn tried(
    journal: &mut Journal,
    name: &str,
    work: impl FnOnce() -> Result<Vec<Tried>>,
) -> Result<Vec<Tried>> {
    let known = journal.recall(name).and_then(Value::as_array);
    let known: Option<Vec<Tried>> = known.and_then(|known| known.iter().map(from_json).collect());
    if let Some(known) = known.filter(|known| !known.is_empty()) {
        return Ok(known);
    }
    let found = work()?;
    journal.record(name, || found.iter().map(to_json).collect())?;
    Ok(found)
}

/// Numbers bit by bit: errors need not be finite.
fn to_json(tried: &Tried) -> Value {
    let Tried { gamma, error, missed, penalty, absolute, size } = tried;
    let [gamma, error, missed, penalty, absolute] =
        [gamma, error, missed, penalty, absolute].map(|v| v.to_bits());
    json!([gamma, error, missed, penalty, absolute, size])
}

/// None: that is not what was written.
fn from_json(value: &Value) -> Option<Tried> {
    let number = |at: usize| value[at].as_u64().map(f64::from_bits);
    Some(Tried {
        gamma: number(0).filter(|gamma| gamma.is_finite() && *gamma > 0.0)?,
        error: number(1)?,
        missed: number(2)?,
        penalty: number(3)?,
        absolute: number(4)?,
        size: value[5].as_u64()? as usize,
    })
}
