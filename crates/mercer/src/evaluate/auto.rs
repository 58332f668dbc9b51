//! Features without choices: what [`Adviser`] recommends, fitted on all rows.
//!
//! The features are divided by the root of the penalty that leave-one-out prefers for ridge on them, so that a ridge
//! penalty of 1, the usual default, is the right one. Distances only change their unit.

use super::advice::Advice;
use super::advise::Adviser;
use crate::basis::loo::best_penalty;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::error::{Error, Result};
use crate::map::FeatureMap;
use crate::recipe::Made;

/// What was made, and why.
#[derive(Clone, Debug)]
pub struct Automatic {
    /// The map, its features and what the user should know.
    pub made: Made,
    /// The basis that the features stand on, as a map of its own.
    pub basis: FeatureMap,
    /// The advice that was followed.
    pub advice: Advice,
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
    /// assert_eq!(automatic.made.map.transform(&table.rows)?.nrows(), 200);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, rows: &Rows, labels: &Labels) -> Result<Automatic> {
        let mut advice = self.advise(rows, labels)?;
        let scaling = Scaling::fit(self.scale, rows).0;
        let scaled = scaling.as_ref().map(|scaling| scaling.apply(rows)).transpose()?;
        let rows = scaled.as_ref().unwrap_or(rows);
        let recipe = advice.recipe()?;
        let mut warnings = advice.warnings.clone();
        let mut basis = recipe.basis(rows, Some(labels), &mut warnings)?;
        (basis.memory, basis.monitor) = (self.memory, self.monitor.clone());
        let fitted = basis.fit_with(rows, Some(labels), false)?.0;
        let mut basis = FeatureMap::from(fitted.clone());
        let mut made = match recipe.finish(rows, Some(labels), fitted.clone(), None, &self.monitor) {
            // Folds may differ where all rows together do not, as class means do; the coordinates are always there.
            Err(Error::Data(why) | Error::Numerical(why) | Error::Argument(why))
                if advice.method != fitted.method.name() =>
            {
                warnings.push(format!(
                    "`{}` was advised, but it cannot be fitted on all rows ({why}); the coordinates of `{}` are the features",
                    advice.method,
                    fitted.method.name()
                ));
                advice.fall_back();
                advice.recipe()?.finish(rows, Some(labels), fitted, None, &self.monitor)?
            }
            made => made?,
        };
        let features = Rows::from_mat(made.map.transform(rows)?.as_ref());
        let penalty = best_penalty(&features, labels, &self.monitor)?.absolute;
        multiply(&mut made.map, 1.0 / penalty.sqrt());
        basis.scaling.clone_from(&scaling);
        made.map.scaling = scaling;
        made.warnings.splice(0..0, warnings);
        Ok(Automatic { made, basis, advice })
    }
}

/// Multiplies every feature by one number.
fn multiply(map: &mut FeatureMap, factor: f64) {
    let expansion = &mut map.expansion;
    for column in expansion.matrix.col_iter_mut() {
        column.iter_mut().for_each(|v| *v *= factor);
    }
    expansion.offset.iter_mut().for_each(|v| *v *= factor);
}
