//! Features of a method at several sizes from one fitted basis: as few fits as the method allows.
//!
//! A basis' first coordinates are the smaller basis, a system's best columns are those of all scores, and the first
//! directions of an extractor are those of the smaller problem. `skfe` alone must be fitted for every size.

use std::time::Instant;

use faer::{Mat, MatRef};

use super::plan::Stem;
use super::split::{Fitted, attempt};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::extract::{Coordinates, Extractor, Limits};
use crate::linalg::tall_product;
use crate::map::check_columns;
use crate::recipe::{Recipe, Top};
use crate::select::{Keep, Scores};
use crate::systems::System;

/// What is wanted of a method.
pub(super) struct Asked<'a> {
    pub(super) stem: &'a Stem,
    pub(super) recipe: &'a Recipe,
    pub(super) gamma: Option<f64>,
    pub(super) sizes: Vec<Option<usize>>,
}

/// Features of the training rows and of the test rows.
pub(super) struct Feature {
    pub(super) train: Rows<'static>,
    pub(super) test: Rows<'static>,
    pub(super) kernel_values: usize,
    /// Seconds on top of the basis.
    pub(super) seconds: f64,
}

/// Columns to choose from: coordinates, or features along directions.
struct Sheet<'a> {
    train: MatRef<'a, f64>,
    test: MatRef<'a, f64>,
}

/// Features found for the size at this place; None: the method has no so many. The error is that of a stop.
type Found<'a> = dyn FnMut(usize, std::result::Result<Option<Feature>, String>) -> Result<()> + 'a;

/// Makes the features of every size and hands them on one by one.
pub(super) fn features(
    fitted: &Fitted,
    asked: &Asked,
    warnings: &mut Vec<String>,
    mut found: impl FnMut(usize, std::result::Result<Option<Feature>, String>) -> Result<()>,
) -> Result<()> {
    match &asked.recipe.top {
        Top::Nothing => {
            let m = fitted.basis.n_components();
            if m == 0 {
                let text = "the basis has no component: the kernel is 0 on every training row";
                return (0..asked.sizes.len()).try_for_each(|at| found(at, Err(text.into())));
            }
            for (at, size) in asked.sizes.iter().enumerate() {
                let q = size.unwrap_or_else(|| asked.stem.own_cap.map_or(m, |cap| cap.min(m)));
                let columns: Vec<usize> = (0..q).collect();
                let start = Instant::now();
                found(at, Ok((q <= m).then(|| of_coordinates(fitted, &columns, None, start))))?;
            }
            Ok(())
        }
        Top::System(system) => of_system(fitted, system, asked, warnings, &mut found),
        Top::Extractor(extractor) => of_extractor(fitted, extractor, asked, warnings, &mut found),
    }
}

fn of_system(
    fitted: &Fitted,
    system: &System,
    asked: &Asked,
    warnings: &mut Vec<String>,
    found: &mut Found,
) -> Result<()> {
    let start = Instant::now();
    let system = system.clone().monitor(fitted.monitor);
    let scores = system.scores(fitted.rows, Some(fitted.labels), &fitted.basis, Some(&fitted.train));
    let scores = match attempt(scores)? {
        Ok(scores) => scores,
        Err(text) => return (0..asked.sizes.len()).try_for_each(|at| found(at, Err(text.clone()))),
    };
    warnings.extend(scores.warnings.iter().cloned());
    for (at, size) in asked.sizes.iter().enumerate() {
        if size.is_some_and(|q| q > available(&system, &scores)) {
            found(at, Ok(None))?;
            continue;
        }
        let kept = scores.keep(size.map_or(system.keep, Keep::Count));
        warnings.extend(kept.warnings);
        let columns = kept.columns;
        let weights: Option<Vec<f64>> =
            system.weights(&scores).map(|all| columns.iter().map(|&j| all[j]).collect());
        let checked = check_columns(fitted.basis.n_components(), &columns, weights.as_deref(), &[]);
        let feature =
            attempt(checked)?.map(|()| Some(of_coordinates(fitted, &columns, weights.as_deref(), start)));
        found(at, feature)?;
    }
    Ok(())
}

/// The most columns that a system can keep: those that the selector lets through, and that are not multiplied by 0.
fn available(system: &System, scores: &Scores) -> usize {
    let weights = system.weights(scores);
    let chosen = |j: &usize| scores.chosen.as_ref().is_none_or(|chosen| chosen[*j]);
    let alive = |j: &usize| weights.is_none_or(|weights| weights[*j] != 0.0);
    (0..scores.scores.len()).filter(chosen).filter(alive).count()
}

/// Some of the coordinates, each multiplied by its weight.
fn of_coordinates(fitted: &Fitted, columns: &[usize], weights: Option<&[f64]>, start: Instant) -> Feature {
    let sheet = Sheet { train: fitted.coordinates(), test: fitted.test_coordinates() };
    let expansion = &fitted.basis.expansion;
    let used = |l: &usize| {
        columns.iter().any(|&j| expansion.matrix[(j, *l)] != 0.0)
            || expansion.origin.as_ref().is_some_and(|origin| origin[*l] != 0.0)
    };
    let kernel_values = (0..expansion.landmarks.len()).filter(used).count().max(1);
    sheet.feature(columns, weights, kernel_values, start.elapsed().as_secs_f64())
}

impl Sheet<'_> {
    fn feature(
        &self,
        columns: &[usize],
        weights: Option<&[f64]>,
        kernel_values: usize,
        seconds: f64,
    ) -> Feature {
        let pick = |from: MatRef<'_, f64>| {
            let weight = |at: usize| weights.map_or(1.0, |weights| weights[at]);
            let picked =
                Mat::from_fn(from.nrows(), columns.len(), |i, at| from[(i, columns[at])] * weight(at));
            Rows::from_mat(picked.as_ref())
        };
        Feature { train: pick(self.train), test: pick(self.test), kernel_values, seconds }
    }
}

/// Features along all directions of one fit, and the seconds it took.
struct Along {
    train: Mat<f64>,
    test: Mat<f64>,
    seconds: f64,
}

impl Along {
    fn feature(&self, q: usize, fitted: &Fitted) -> Feature {
        let sheet = Sheet { train: self.train.as_ref(), test: self.test.as_ref() };
        let columns: Vec<usize> = (0..q).collect();
        sheet.feature(&columns, None, fitted.basis.expansion.landmarks.len(), self.seconds)
    }
}

fn of_extractor(
    fitted: &Fitted,
    extractor: &Extractor,
    asked: &Asked,
    warnings: &mut Vec<String>,
    found: &mut Found,
) -> Result<()> {
    let set = asked.recipe.settings.iter().any(|(name, _)| name == "n_components");
    let all_at_once =
        !set && matches!(extractor, Extractor::Klfe(_) | Extractor::Kanmm(_) | Extractor::Gda(_));
    let own = if all_at_once || asked.sizes.contains(&None) {
        match attempt(along(fitted, extractor, warnings))? {
            Ok(own) => Some(own),
            Err(text) => return (0..asked.sizes.len()).try_for_each(|at| found(at, Err(text.clone()))),
        }
    } else {
        None
    };
    let mut order: Vec<usize> = (0..asked.sizes.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(asked.sizes[at]));
    let nested = !matches!(extractor, Extractor::Skfe(_));
    let mut larger: Option<Along> = None;
    for at in order {
        let Some(q) = asked.sizes[at] else {
            if let Some(own) = &own {
                found(at, Ok(Some(own.feature(own.train.ncols(), fitted))))?;
            }
            continue;
        };
        let serves = |fit: &&Along| if nested { fit.train.ncols() >= q } else { fit.train.ncols() == q };
        if let Some(fit) = own.as_ref().filter(serves).or(larger.as_ref().filter(serves)) {
            found(at, Ok(Some(fit.feature(q, fitted))))?;
            continue;
        }
        if all_at_once || q > fitted.basis.n_components() {
            found(at, Ok(None))?;
            continue;
        }
        match sized(fitted, asked, q, warnings) {
            Ok(fit) => {
                found(at, Ok(Some(fit.feature(q, fitted))))?;
                larger = Some(fit);
            }
            // Every setting was checked before, so it is the size that is refused.
            Err(Error::Argument(_)) => found(at, Ok(None))?,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => found(at, Err(error.to_string()))?,
        }
    }
    Ok(())
}

/// The fit for a number of features.
fn sized(fitted: &Fitted, asked: &Asked, q: usize, warnings: &mut Vec<String>) -> Result<Along> {
    match &asked.stem.recipe(asked.gamma, &[("n_components", q)])?.top {
        Top::Extractor(extractor) => along(fitted, extractor, warnings),
        _ => Err(Error::argument(format!("`{}` is not an extractor", asked.stem.method))),
    }
}

fn along(fitted: &Fitted, extractor: &Extractor, warnings: &mut Vec<String>) -> Result<Along> {
    let start = Instant::now();
    let z = fitted.coordinates();
    let found = extractor.directions(&Coordinates {
        rows: fitted.rows.into(),
        labels: Some(fitted.labels),
        basis: &fitted.basis,
        features: Some(z.into()),
        limits: Limits::default(),
        monitor: fitted.monitor,
    })?;
    warnings.extend(found.warnings.iter().cloned());
    let [train, test] = [z, fitted.test_coordinates()].map(|z| {
        let mut features = tall_product(z, found.matrix.transpose());
        for (column, b) in features.col_iter_mut().zip(&found.offset) {
            column.iter_mut().for_each(|v| *v -= b);
        }
        features
    });
    Ok(Along { train, test, seconds: start.elapsed().as_secs_f64() })
}
