//! Features of a method at several sizes from one fitted basis: as few fits as the method allows.
//!
//! A basis' first coordinates are the smaller basis, a system's best columns are those of all scores, and the first
//! directions of an extractor are those of the smaller problem. `skfe` alone must be fitted for every size.

use std::time::Instant;

use faer::{Mat, MatRef};

use super::plan::MethodPlan;
use super::split::{FittedSplit, attempt};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::extract::Sizes;
use crate::linalg::tall_product;
use crate::map::check_columns;
use crate::pipeline::{Found, Head, Pipeline};
use crate::select::{Keep, Scores};
use crate::systems::System;

/// What is wanted of a method.
pub(super) struct Request<'a> {
    pub(super) plan: &'a MethodPlan,
    /// The method with its width.
    pub(super) pipeline: &'a Pipeline,
    pub(super) sizes: Vec<Option<usize>>,
}

/// Features of the training rows and of the test rows.
pub(super) struct Features {
    pub(super) train: Rows<'static>,
    pub(super) test: Rows<'static>,
    pub(super) kernel_values: usize,
    /// Seconds without those of the basis.
    pub(super) seconds: f64,
}

/// Features found for the size at this place; None: the method has fewer than requested. The error is that of a stop.
type Handler<'a> = dyn FnMut(usize, std::result::Result<Option<Features>, String>) -> Result<()> + 'a;

/// Makes the features of every size and hands them on one by one.
pub(super) fn features(
    fitted: &FittedSplit,
    request: &Request,
    warnings: &mut Vec<String>,
    mut handle: impl FnMut(usize, std::result::Result<Option<Features>, String>) -> Result<()>,
) -> Result<()> {
    match &request.pipeline.head {
        Head::Coordinates => of_basis(fitted, request, &mut handle),
        Head::Select(system) => of_system(fitted, system, request, warnings, &mut handle),
        Head::Extract(extractor) => of_extractor(fitted, extractor.sizes(), request, warnings, &mut handle),
    }
}

fn of_basis(fitted: &FittedSplit, request: &Request, handle: &mut Handler) -> Result<()> {
    let m = fitted.basis.n_components();
    if m == 0 {
        let text = "the basis has no component: the kernel is 0 on every training row";
        return (0..request.sizes.len()).try_for_each(|at| handle(at, Err(text.into())));
    }
    for (at, size) in request.sizes.iter().enumerate() {
        let q = size.unwrap_or_else(|| request.plan.own_cap.map_or(m, |cap| cap.min(m)));
        let columns: Vec<usize> = (0..q).collect();
        let start = Instant::now();
        handle(at, Ok((q <= m).then(|| some_coordinates(fitted, &columns, None, start))))?;
    }
    Ok(())
}

fn of_system(
    fitted: &FittedSplit,
    system: &System,
    request: &Request,
    warnings: &mut Vec<String>,
    handle: &mut Handler,
) -> Result<()> {
    let start = Instant::now();
    let scores = match attempt(fitted.find(&request.pipeline.head))? {
        Ok(Found::Selected(scores, _)) => scores,
        Ok(_) => unreachable!("a system gives scores"),
        Err(text) => return (0..request.sizes.len()).try_for_each(|at| handle(at, Err(text.clone()))),
    };
    warnings.extend(scores.warnings.iter().cloned());
    for (at, size) in request.sizes.iter().enumerate() {
        if size.is_some_and(|q| q > available(system, &scores)) {
            handle(at, Ok(None))?;
            continue;
        }
        let (selection, weights) = system.select(&scores, size.map_or(system.keep, Keep::Count));
        warnings.extend(selection.warnings);
        let columns = selection.columns;
        let checked = check_columns(fitted.basis.n_components(), &columns, weights.as_deref(), &[]);
        let features =
            attempt(checked)?.map(|()| Some(some_coordinates(fitted, &columns, weights.as_deref(), start)));
        handle(at, features)?;
    }
    Ok(())
}

/// The most columns that a system can keep: those that the selector lets through, and that are not multiplied by 0.
fn available(system: &System, scores: &Scores) -> usize {
    let weights = system.weights(scores);
    let chosen = |j: &usize| scores.chosen.as_ref().is_none_or(|chosen| chosen[*j]);
    let alive = |j: &usize| weights.as_ref().is_none_or(|weights| weights[*j] != 0.0);
    (0..scores.scores.len()).filter(chosen).filter(alive).count()
}

/// Some of the coordinates, each multiplied by its weight.
fn some_coordinates(
    fitted: &FittedSplit,
    columns: &[usize],
    weights: Option<&[f64]>,
    start: Instant,
) -> Features {
    let expansion = &fitted.basis.expansion;
    let used = |l: &usize| {
        columns.iter().any(|&j| expansion.matrix[(j, *l)] != 0.0)
            || expansion.origin.as_ref().is_some_and(|origin| origin[*l] != 0.0)
    };
    let [train, test] = [&fitted.train, &fitted.test].map(|z| picked(view(z), columns, weights));
    let kernel_values = (0..expansion.landmarks.len()).filter(used).count().max(1);
    Features { train, test, kernel_values, seconds: start.elapsed().as_secs_f64() }
}

/// Some columns, each multiplied by its weight.
fn picked(from: MatRef<'_, f64>, columns: &[usize], weights: Option<&[f64]>) -> Rows<'static> {
    let weight = |at: usize| weights.map_or(1.0, |weights| weights[at]);
    let picked = Mat::from_fn(from.nrows(), columns.len(), |i, at| from[(i, columns[at])] * weight(at));
    Rows::from_mat(picked.as_ref())
}

/// Coordinates, which a comparison has in float64.
fn view<'r>(coordinates: &'r Rows<'r>) -> MatRef<'r, f64> {
    let Rows::Dense(dense) = coordinates else { unreachable!("coordinates are dense and float64") };
    dense.view()
}

/// Features along all directions of one fit, and the seconds it took.
struct AlongDirections {
    train: Mat<f64>,
    test: Mat<f64>,
    seconds: f64,
}

impl AlongDirections {
    fn first(&self, q: usize, fitted: &FittedSplit) -> Features {
        let columns: Vec<usize> = (0..q).collect();
        let [train, test] = [&self.train, &self.test].map(|z| picked(z.as_ref(), &columns, None));
        let kernel_values = fitted.basis.expansion.landmarks.len();
        Features { train, test, kernel_values, seconds: self.seconds }
    }
}

fn of_extractor(
    fitted: &FittedSplit,
    sizes: Sizes,
    request: &Request,
    warnings: &mut Vec<String>,
    handle: &mut Handler,
) -> Result<()> {
    let all_at_once = !request.plan.size_is_set && sizes == Sizes::AllAtOnce;
    let own = if all_at_once || request.sizes.contains(&None) {
        match attempt(along(fitted, request.pipeline, warnings))? {
            Ok(own) => Some(own),
            Err(text) => return (0..request.sizes.len()).try_for_each(|at| handle(at, Err(text.clone()))),
        }
    } else {
        None
    };
    let mut order: Vec<usize> = (0..request.sizes.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(request.sizes[at]));
    let nested = sizes != Sizes::Separate;
    let mut larger: Option<AlongDirections> = None;
    for at in order {
        let Some(q) = request.sizes[at] else {
            if let Some(own) = &own {
                handle(at, Ok(Some(own.first(own.train.ncols(), fitted))))?;
            }
            continue;
        };
        let serves =
            |fit: &&AlongDirections| if nested { fit.train.ncols() >= q } else { fit.train.ncols() == q };
        if let Some(fit) = own.as_ref().filter(serves).or(larger.as_ref().filter(serves)) {
            handle(at, Ok(Some(fit.first(q, fitted))))?;
            continue;
        }
        let sized = request.pipeline.sized(q).filter(|_| !all_at_once && q <= fitted.basis.n_components());
        let Some(sized) = sized else {
            handle(at, Ok(None))?;
            continue;
        };
        match along(fitted, &sized, warnings) {
            Ok(fit) => {
                handle(at, Ok(Some(fit.first(q, fitted))))?;
                larger = Some(fit);
            }
            // Every setting was checked before, so it is the size that is refused.
            Err(Error::Argument(_)) => handle(at, Ok(None))?,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => handle(at, Err(error.to_string()))?,
        }
    }
    Ok(())
}

fn along(fitted: &FittedSplit, pipeline: &Pipeline, warnings: &mut Vec<String>) -> Result<AlongDirections> {
    let start = Instant::now();
    let Found::Directions(found) = fitted.find(&pipeline.head)? else {
        unreachable!("an extractor gives directions")
    };
    warnings.extend(found.warnings.iter().cloned());
    let [train, test] = [&fitted.train, &fitted.test].map(|z| {
        let mut features = tall_product(view(z), found.matrix.transpose());
        for (column, b) in features.col_iter_mut().zip(&found.offset) {
            column.iter_mut().for_each(|v| *v -= b);
        }
        features
    });
    Ok(AlongDirections { train, test, seconds: start.elapsed().as_secs_f64() })
}
