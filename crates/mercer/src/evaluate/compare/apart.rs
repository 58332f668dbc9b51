//! Splits one by one, on several machines: what each found travels as JSON and is joined as if it had been found here.

use serde_json::{Value, json};

use super::checkpoint::Outcomes;
use super::results::SplitResults;
use super::split::{self, Work};
use super::{CandidateResult, Comparison, Results};
use crate::checkpoint::Journal;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::evaluate::outcome::Outcome;
use crate::monitor::Stage;

impl Comparison {
    /// What the `at`-th split finds, for [`join`](Self::join): nothing, where it is left out.
    ///
    /// ```
    /// use mercer::{data::{Labels, Task, synth}, evaluate::compare::Comparison};
    ///
    /// let table = synth::generate("twonorm?n=60&seed=1")?;
    /// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
    /// let comparison = Comparison { methods: vec!["gda".into()], folds: 2, ..Comparison::default() };
    /// let found = [0, 1].map(|at| comparison.run_split(&table.rows, &labels, at).expect("found"));
    /// let (apart, whole) = (comparison.join(&table.rows, &labels, &found)?, comparison.run(&table.rows, &labels)?);
    /// assert_eq!(apart.entries[0].scores, whole.entries[0].scores);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn run_split(&self, rows: &Rows, labels: &Labels, at: usize) -> Result<String> {
        let rows = &*rows.to_f64();
        let found = self.options.run(|| {
            let planned = self.plan(rows, labels)?;
            if at >= planned.dealt {
                return Err(Error::argument(format!(
                    "split {at} was asked for, but there are {}",
                    planned.dealt
                )));
            }
            let Some(place) = planned.kept.iter().position(|kept| *kept == at) else { return Ok(None) };
            let total = planned.plan.entries.len();
            self.options.monitor.enter(Stage { name: "comparing", total, ..Stage::default() });
            let split = &planned.splits[place];
            split::run(self, &planned.plan, rows, labels, split, &mut Journal::default()).map(Some)
        })?;
        let value = found.map(|found| {
            let results = found.results.into_iter().enumerate().collect();
            Outcomes { results, warnings: found.warnings }.to_json()
        });
        Ok(json!({ "split": at, "found": value }).to_string())
    }

    /// The outcome of splits that were run one by one, on the same rows and with the same settings.
    pub fn join(&self, rows: &Rows, labels: &Labels, found: &[String]) -> Result<Outcome> {
        let rows = &*rows.to_f64();
        let planned = self.plan(rows, labels)?;
        let damaged = || Error::data("what a split found is damaged, or was found with other settings");
        let mut done: Vec<Option<(usize, SplitResults)>> = planned.splits.iter().map(|_| None).collect();
        for text in found {
            let value: Value = serde_json::from_str(text).map_err(|_| damaged())?;
            if value["found"].is_null() {
                continue;
            }
            let at = value["split"].as_u64().ok_or_else(damaged)? as usize;
            let place = planned.kept.iter().position(|kept| *kept == at).ok_or_else(damaged)?;
            let Outcomes { results, warnings } = Outcomes::from_json(&value["found"]).ok_or_else(damaged)?;
            if results.len() != planned.plan.entries.len() {
                return Err(damaged());
            }
            let results: Vec<CandidateResult> = results.into_iter().map(|(_, result)| result).collect();
            let found = SplitResults { results, warnings, work: Work::default() };
            done[place] = Some((at, found));
        }
        let n_splits = done.len();
        let done: Vec<(usize, SplitResults)> = done.into_iter().flatten().collect();
        let interrupted = done.len() < n_splits;
        let (plan, warnings) = (planned.plan, planned.warnings);
        Ok(Results { plan, n_splits, done, interrupted, warnings }.outcome(rows, labels).0)
    }
}
