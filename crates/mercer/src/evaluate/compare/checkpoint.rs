//! Outcomes in a checkpoint: one file a split, in it one result a baseline, a width, and a method on its basis.

use serde_json::{Value, json};

use super::{CandidateResult, Comparison, Scored};
use crate::checkpoint::{About, Journal};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::evaluate::measures::Measure;

/// Results of candidates, by their places, and the warnings that came with them.
pub(super) struct Outcomes {
    pub(super) results: Vec<(usize, CandidateResult)>,
    pub(super) warnings: Vec<String>,
}

/// The journals of all splits, with what an earlier run has found.
pub(super) fn journals(
    comparison: &Comparison,
    measure: Measure,
    rows: &Rows,
    labels: &Labels,
    count: usize,
) -> Result<Vec<Journal>> {
    let Some(checkpoint) = &comparison.options.checkpoint else {
        return Ok((0..count).map(|_| Journal::default()).collect());
    };
    let about = about(comparison, rows, labels).and_setting("measure", &measure);
    (0..count).map(|at| Journal::open(checkpoint, &format!("split-{at}"), about.clone())).collect()
}

/// All that a comparison depends on.
fn about(comparison: &Comparison, rows: &Rows, labels: &Labels) -> About {
    // Every field, so that a new one cannot be forgotten here.
    let Comparison {
        methods,
        settings,
        gammas,
        sizes,
        evaluators,
        scale,
        fill_missing,
        folds,
        repeats,
        test_share,
        splits,
        groups,
        score,
        keep_predictions,
        seed,
        options,
    } = comparison;
    About::new(rows, Some(labels))
        .and_setting("methods", methods)
        .and_setting("settings", settings)
        .and_setting("gammas", gammas)
        .and_setting("sizes", sizes)
        .and_setting("evaluators", evaluators)
        .and_setting("scale", scale)
        .and_setting("fill_missing", fill_missing)
        .and_setting("folds", folds)
        .and_setting("repeats", repeats)
        .and_setting("test_share", test_share)
        .and_setting("splits", splits)
        .and_setting("groups", groups)
        .and_setting("score", score)
        .and_setting("keep_predictions", keep_predictions)
        .and_setting("seed", seed)
        .and_setting("memory", &options.memory)
}

/// How many candidates an earlier run has settled.
pub(super) fn settled(journals: &[Journal]) -> usize {
    let of = |value: &Value| value["results"].as_array().map_or(0, Vec::len);
    journals.iter().flat_map(Journal::values).map(of).sum()
}

impl Outcomes {
    pub(super) fn to_json(&self) -> Value {
        let results: Vec<Value> =
            self.results.iter().map(|(at, result)| json!([at, result.to_json()])).collect();
        json!({ "results": results, "warnings": self.warnings })
    }

    /// None: that is not what was written.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let result = |pair: &Value| Some((pair[0].as_u64()? as usize, CandidateResult::from_json(&pair[1])?));
        let results = value["results"].as_array()?.iter().map(result).collect::<Option<_>>()?;
        let text = |text: &Value| text.as_str().map(String::from);
        Some(Self {
            results,
            warnings: value["warnings"].as_array()?.iter().map(text).collect::<Option<_>>()?,
        })
    }
}

impl CandidateResult {
    /// Numbers bit by bit: the second measure need not be finite.
    fn to_json(&self) -> Value {
        match self {
            Self::Skipped => Value::Null,
            Self::Failed(text) => json!(text),
            Self::Scored(scored) => {
                let Scored {
                    score,
                    second,
                    gamma,
                    n_features,
                    kernel_values,
                    seconds,
                    confusion,
                    losses,
                    by_chance,
                    predictions,
                } = scored;
                let bits = |values: &Vec<f64>| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
                let predictions = predictions.as_ref().map(bits);
                let by_chance = bits(by_chance);
                let losses: Vec<u32> = losses.iter().map(|v| v.to_bits()).collect();
                let [score, second, seconds] = [score, second, seconds].map(|v| v.to_bits());
                json!({
                    "score": score, "second": second, "gamma": gamma.map(f64::to_bits), "n_features": n_features,
                    "kernel_values": kernel_values, "seconds": seconds, "confusion": confusion,
                    "losses": losses, "by_chance": by_chance, "predictions": predictions,
                })
            }
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Null => return Some(Self::Skipped),
            Value::String(text) => return Some(Self::Failed(text.clone())),
            _ => {}
        }
        let number = |name: &str| value[name].as_u64().map(f64::from_bits);
        let count = |value: &Value| value.as_u64().map(|count| count as usize);
        let numbers = |value: &Value| -> Option<Vec<f64>> {
            value.as_array()?.iter().map(|v| v.as_u64().map(f64::from_bits)).collect()
        };
        let loss = |value: &Value| value.as_u64().and_then(|v| u32::try_from(v).ok()).map(f32::from_bits);
        let counts = |row: &Value| row.as_array()?.iter().map(count).collect::<Option<Vec<_>>>();
        Some(Self::Scored(Scored {
            score: number("score")?,
            second: number("second")?,
            gamma: number("gamma"),
            n_features: count(&value["n_features"])?,
            kernel_values: count(&value["kernel_values"])?,
            seconds: number("seconds")?,
            losses: value["losses"].as_array()?.iter().map(loss).collect::<Option<_>>()?,
            by_chance: numbers(&value["by_chance"])?,
            predictions: numbers(&value["predictions"]),
            confusion: value["confusion"].as_array()?.iter().map(counts).collect::<Option<_>>()?,
        }))
    }
}
