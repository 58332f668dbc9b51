//! Features without choices: what [`Adviser`] recommends, fitted on all rows.
//!
//! Weights of the input columns are learned first, and kept where rows that are held out gain by them.
//!
//! The features are divided by the root of the penalty that leave-one-out prefers for ridge on them, so that a ridge
//! penalty of 1, the usual default, is the right one. Distances only change their unit.

use super::advice::Advice;
use super::advise::Adviser;
use crate::basis::Method;
use crate::basis::loo::penalty_alone;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::{Scale, Scaling};
use crate::error::{Error, Result};
use crate::pipeline::FittedPipeline;
use crate::select::input_weights::{FoundWeights, InputWeights};

/// What was made, and why.
#[derive(Clone, Debug)]
pub struct Automatic {
    /// The map with its scaling, the basis that its features are made from, and what the user should know.
    pub fitted: FittedPipeline,
    /// The advice that was followed.
    pub advice: Advice,
    /// Weights of the input columns, which are part of the map's scaling; None: they were not tried.
    pub weights: Option<FoundWeights>,
}

impl Adviser {
    /// Follows its own advice on all rows.
    ///
    /// ```
    /// use mercer::{data::{Labels, Task, synth}, evaluate::advise::Adviser};
    ///
    /// let table = synth::generate("twonorm?n=200&seed=1")?;
    /// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
    /// let automatic = Adviser::default().fit(&table.rows, &labels)?;
    /// assert_eq!(automatic.fitted.map.transform(&table.rows)?.nrows(), 200);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, rows: &Rows, labels: &Labels) -> Result<Automatic> {
        self.check_weights(rows.n())?;
        if let Some((present, adviser)) = self.on_present() {
            let mut found = adviser.fit(&rows.select(&present), &labels.select(&present))?;
            found.fitted.basis.renumber(&present, rows.n());
            found.fitted.map.renumber(&present, rows.n());
            return Ok(found);
        }
        let (scaling, weights) = self.options.run(|| self.preparation(rows, labels))?;
        let scaled = scaling.as_ref().map(|scaling| scaling.apply(rows)).transpose()?;
        let rows = scaled.as_ref().unwrap_or(rows);
        let weighted = weights.as_ref().filter(|found| found.rounds > 0);
        let (mut advice, fitted) =
            Self { scale: Scale::None, ..self.clone() }.advise_and_fit(rows, labels, weighted)?;
        let mut warnings = advice.warnings.clone();
        warnings.extend(advice.no_signal.then(|| no_signal_warning(rows)));
        let mut fitted = match fitted {
            Some(fitted) => fitted,
            None => match advice.pipeline()?.fit(rows, Some(labels), &self.options.where_it_can()) {
                // Folds may differ where all rows together do not, as class means do; the coordinates are always there.
                Err(Error::Data(why) | Error::Numerical(why) | Error::Argument(why))
                    if Method::named(&advice.method).is_err() =>
                {
                    let advised = advice.method.clone();
                    advice.fall_back();
                    warnings.push(format!(
                        "`{advised}` was advised, but it cannot be fitted on all rows ({why}); the coordinates of `{}` are \
                         the features",
                        advice.method
                    ));
                    advice.pipeline()?.fit(rows, Some(labels), &self.options.where_it_can())?
                }
                fitted => fitted?,
            },
        };
        let features = Rows::from_mat(fitted.map.transform(rows)?.as_ref());
        let penalty = penalty_alone(&features, labels, self.options.weights.as_ref(), &self.options.monitor)?;
        fitted.map.multiply(1.0 / penalty.sqrt());
        fitted.map = fitted.map.after(scaling.as_ref())?;
        fitted.warnings.splice(0..0, warnings);
        if let Some(found) = weighted {
            advice.settings.push(("input_weights".into(), "true".into()));
            advice.reasons.insert(0, weights_reason(found));
        }
        Ok(Automatic { fitted, advice, weights })
    }

    /// What is done to rows first: the scaling, and then weights of the columns where they help.
    fn preparation(&self, rows: &Rows, labels: &Labels) -> Result<(Option<Scaling>, Option<FoundWeights>)> {
        self.check(&rows.to_f64(), labels)?;
        Scaling::check_width(rows)?;
        let scaling = Scaling::fit(self.scale, rows).0;
        if !self.input_weights || rows.p() < 2 {
            return Ok((scaling, None));
        }
        let scaled = scaling.as_ref().map(|scaling| scaling.apply(rows)).transpose()?;
        let settings = InputWeights { seed: self.seed, ..InputWeights::default() };
        let (counts, monitor) = (self.options.weights.as_ref(), &self.options.monitor);
        let found = settings.find_by(scaled.as_ref().unwrap_or(rows), labels, counts, monitor)?;
        if found.rounds == 0 {
            return Ok((scaling, Some(found)));
        }
        let weights = Scaling::of_factors(found.weights.clone());
        let both = match scaling {
            Some(scaling) => scaling.then(&weights)?,
            None => weights,
        };
        Ok((Some(both), Some(found)))
    }
}

/// What to know where no features will help.
fn no_signal_warning(rows: &Rows) -> String {
    let constant = Scaling::fit(Scale::Standard, rows).1.len() == rows.p();
    let why = if constant {
        "all columns are constant"
    } else {
        "the columns may not say anything about the target, or the rows are too few"
    };
    format!(
        "left-out rows are predicted no better than by the mean of the labels, so features will hardly help: {why}"
    )
}

/// What weights gain, and what they do to the other figures.
fn weights_reason(found: &FoundWeights) -> String {
    let [without, with] = [0, found.rounds].map(|round| 1.0 - found.errors[round]);
    format!(
        "columns are weighted: the R² of rows held out is {with:.3} with weights and {without:.3} without. The weights have seen \
         all rows, so leave-one-out errors and those of the linear machine look better than the errors of new rows; each inner fold \
         has learned weights of its own"
    )
}
