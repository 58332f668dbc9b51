//! What predicts labels: the mean of a few maps whose features are scores, one a class, or the number itself.
//!
//!   class = argmax s(x),   p(x) = softmax(sharpness·s(x)),   s the mean score of the members

use std::borrow::Cow;

use faer::Mat;

use super::FeatureMap;
use crate::basis::Landmarks;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::{Scale, Scaling};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// A few maps that predict labels together.
///
/// ```
/// use mercer::{data::{Labels, Task, synth}, evaluate::learn::Learner};
///
/// let table = synth::generate("ringnorm?n=300&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let model = Learner::default().fit(&table.rows, &labels)?.map;
/// let predictor = model.predictor.as_ref().expect("it predicts");
/// let probabilities = predictor.probabilities(&table.rows)?;
/// assert!((probabilities.row(0).sum() - 1.0).abs() < 1e-12);
/// assert_eq!(predictor.predict(&table.rows)?.n_classes(), Some(2));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictor {
    /// Maps from rows to one score a class, or to one number a target.
    pub members: Vec<FeatureMap>,
    /// The classes, one a score; None: the score is a number.
    pub classes: Option<Vec<String>>,
    /// What scores are multiplied by before they become probabilities.
    pub sharpness: f64,
}

impl Predictor {
    /// The mean score of the members, n×c.
    pub fn scores(&self, rows: &Rows) -> Result<Mat<f64>> {
        let outputs = self.members.first().map_or(0, FeatureMap::n_features);
        let mut sum = Mat::zeros(rows.n(), outputs);
        for member in &self.members {
            sum += member.transform(rows)?;
        }
        let share = 1.0 / self.members.len() as f64;
        sum.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= share));
        Ok(sum)
    }

    /// The probability of every class, n×c. An error for numbers.
    pub fn probabilities(&self, rows: &Rows) -> Result<Mat<f64>> {
        if self.classes.is_none() {
            return Err(Error::argument("the model predicts numbers, which have no probabilities"));
        }
        let mut scores = self.scores(rows)?;
        softmax(&mut scores, self.sharpness);
        Ok(scores)
    }

    /// The class, the number or the numbers of every row.
    pub fn predict(&self, rows: &Rows) -> Result<Labels> {
        let scores = self.scores(rows)?;
        Ok(match &self.classes {
            None if scores.ncols() == 1 => Labels::Numbers(scores.col(0).iter().copied().collect()),
            None => {
                let count = scores.ncols();
                let values = (0..rows.n()).flat_map(|i| scores.row(i).iter().copied().collect::<Vec<_>>());
                Labels::Several { values: values.collect(), count }
            }
            Some(names) => Labels::Classes {
                codes: (0..rows.n()).map(|i| largest(&scores, i)).collect(),
                names: names.clone(),
            },
        })
    }

    /// How much each score depends on each input, c×p: the mean over the members, and over these rows or else the members' landmarks,
    /// of the squared slope along the input in units of its standard deviation there. So weights of the columns count.
    ///
    /// ```
    /// use mercer::{Labels, Monitor, evaluate::learn::Learner, data::synth};
    ///
    /// let rows = synth::generate("ringnorm?n=200&seed=1")?.rows;
    /// let first = rows.to_dense().chunks(rows.p()).map(|row| row[0]).collect(); // the first column is the target
    /// let model = Learner::default().fit(&rows, &Labels::Numbers(first))?.map;
    /// let importance = model.predictor.expect("it predicts").input_importance(Some(&rows), &Monitor::default())?;
    /// assert!(importance[(0, 0)] > 100.0 * importance[(0, 1)]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn input_importance(&self, rows: Option<&Rows>, monitor: &Monitor) -> Result<Mat<f64>> {
        let mut sum: Option<Mat<f64>> = None;
        for member in &self.members {
            let seen = match (rows, &member.expansion.landmarks, &member.scaling) {
                (Some(rows), _, Some(scaling)) => Cow::Owned(scaling.apply(rows)?),
                (Some(rows), ..) => Cow::Borrowed(rows),
                (None, Landmarks::Rows(landmarks), _) => Cow::Borrowed(landmarks),
                (None, Landmarks::Columns { .. }, _) => {
                    return Err(Error::argument(
                        "the kernel is precomputed, so the inputs behind it are not known",
                    ));
                }
            };
            let squares = squared_deviations(&seen);
            let slopes = member.expansion.input_importance(&seen, monitor)?;
            let share = 1.0 / self.members.len() as f64;
            let own =
                Mat::from_fn(slopes.nrows(), slopes.ncols(), |q, j| share * slopes[(q, j)] * squares[j]);
            sum = Some(match sum {
                Some(sum) => sum + own,
                None => own,
            });
        }
        sum.ok_or_else(|| Error::argument("the predictor has no members"))
    }
}

/// The variance of every column.
fn squared_deviations(rows: &Rows) -> Vec<f64> {
    let (scaling, constant) = Scaling::fit(Scale::Standard, rows);
    let mut squares: Vec<f64> =
        scaling.map_or_else(Vec::new, |scaling| scaling.factor).iter().map(|f| f.powi(-2)).collect();
    constant.iter().for_each(|&j| squares[j] = 0.0);
    squares
}

/// The first of the largest numbers in a row.
fn largest(scores: &Mat<f64>, i: usize) -> usize {
    (1..scores.ncols()).fold(0, |best, j| if scores[(i, j)] > scores[(i, best)] { j } else { best })
}

/// Rows of scores to rows of probabilities.
fn softmax(scores: &mut Mat<f64>, sharpness: f64) {
    for i in 0..scores.nrows() {
        let most = scores.row(i).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.row_mut(i).iter_mut().for_each(|v| *v = (sharpness * (*v - most)).exp());
        let sum: f64 = scores.row(i).iter().sum();
        scores.row_mut(i).iter_mut().for_each(|v| *v /= sum);
    }
}
