//! A basis in a checkpoint: what the passes so far have found, or, once it is done, the whole of it.
//!
//! Between two passes a pivoted basis is its pivots, their norms and coefficients, a residual a row, and the few numbers that
//! the method's loop goes on with. G is not kept: it would be 8·n·m bytes, and is recomputed (see `pivoted`).
//!
//! cost    8·n + 4·m² bytes a state; a finished basis 8·m·l

use faer::MatRef;
use serde_json::{Map, Value, json};

use super::factor_rows::FactorRows;
use super::fitted::Stop;
use super::pivoted::Pivoted;
use super::{Basis, Expansion, FittedBasis, Landmarks, Method, Precision, Threshold, kmeans};
use crate::checkpoint::{About, Content, Part, digest_of_rows, indices, numbers};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::gram::{check_rows, diagonal};
use crate::kernel::{Kernel, Shape};
use crate::options::Options;

/// The file of one basis.
pub(crate) struct BasisCheckpoint {
    part: Part,
    /// What an earlier run found, until it is used.
    found: Option<Content>,
    /// The kernel's width, which a rule may have taken long to find.
    gamma: Option<f64>,
    /// A sum of kernels with the widths that were found.
    formula: Option<String>,
}

impl BasisCheckpoint {
    /// The basis' file, if it has a checkpoint.
    pub(super) fn open(
        basis: &Basis,
        options: &Options,
        rows: &Rows,
        labels: Option<&Labels>,
    ) -> Result<Option<Self>> {
        let Some(checkpoint) = &options.checkpoint else { return Ok(None) };
        let mut about = about(basis, options.memory, rows, labels)?;
        if let Some(weights) = &options.weights {
            about = about.and("weights", digest_of_rows(&Rows::dense(&weights[..], weights.len(), 1)?));
        }
        let (part, found) = checkpoint.part("basis", about)?;
        let gamma = found.as_ref().and_then(|found| number(&found.facts, "gamma"));
        let formula = found.as_ref().and_then(|found| found.facts.get("kernel")).and_then(Value::as_str);
        let formula = formula.map(String::from);
        let opened = Self { part, found, gamma, formula };
        if let Some(kernel) = opened.kernel(basis) {
            let width_is_sound = kernel.gamma > 0.0 && kernel.gamma.is_finite();
            if !width_is_sound || (opened.formula.is_some() && check_rows(kernel, rows, 0).is_err()) {
                return Err(opened.part.damaged());
            }
        }
        Ok(Some(opened))
    }

    /// The kernel that an earlier run found.
    pub(super) fn kernel(&self, basis: &Basis) -> Option<Kernel> {
        let shape = match (&self.formula, basis.shape) {
            // A sum has the widths that were found in its formula.
            (Some(text), Shape::Composite(_)) => text.parse().ok()?,
            (_, shape) => shape,
        };
        self.gamma.map(|gamma| Kernel { shape, gamma })
    }

    pub(super) fn set_kernel(&mut self, kernel: Kernel) {
        self.gamma = Some(kernel.gamma);
        self.formula = matches!(kernel.shape, Shape::Composite(_)).then(|| kernel.shape.name().into());
    }

    /// The basis, if an earlier run came to its end.
    pub(super) fn finished(&mut self, basis: &Basis, rows: &Rows) -> Result<Option<FittedBasis>> {
        let Some(found) = self.found.take_if(|found| found.facts.contains_key("stop")) else {
            return Ok(None);
        };
        self.fitted(found, basis, rows).map(Some).ok_or_else(|| self.part.damaged())
    }

    /// The basis that a file holds; None if its parts do not fit together.
    fn fitted(&self, mut found: Content, basis: &Basis, rows: &Rows) -> Option<FittedBasis> {
        let given = basis.landmarks.as_ref().unwrap_or(rows);
        let pivots = found.indices("pivots");
        let flag = |name: &str| found.facts.get(name) == Some(&Value::Bool(true));
        let (every, has_origin, has_values) = (flag("every row"), flag("origin"), flag("eigenvalues"));
        let landmarks = if every { (0..given.n()).collect() } else { pivots.clone() };
        if pivots.iter().any(|&i| i >= given.n()) {
            return None;
        }
        let landmarks = match basis.method {
            Method::Kmeans => Landmarks::Rows(kmeans::like(given, found.numbers("centres")).ok()?),
            _ => basis.landmarks_at(given, landmarks),
        };
        let facts = std::mem::take(&mut found.facts);
        let (matrix, offset) = (found.numbers("matrix"), found.numbers("offset"));
        let (norms, origin) = (found.numbers("norms"), has_origin.then(|| found.numbers("origin")));
        let eigenvalues = has_values.then(|| found.numbers("eigenvalues"));
        let (residual, kernel) = (number(&facts, "residual")?, self.kernel(basis)?);
        let lists = [&matrix, &offset, &norms].into_iter().chain(&origin).chain(&eigenvalues);
        if offset.len().checked_mul(landmarks.len()) != Some(matrix.len())
            || origin.as_ref().is_some_and(|origin| origin.len() != landmarks.len())
            || !lists.flatten().all(|v| v.is_finite())
            || !residual.is_finite()
        {
            return None;
        }
        let warnings = facts.get("warnings").and_then(Value::as_array).into_iter().flatten();
        Some(FittedBasis {
            method: basis.method,
            expansion: Expansion {
                kernel,
                matrix: MatRef::from_row_major_slice(&matrix, offset.len(), landmarks.len()).to_owned(),
                landmarks,
                offset,
                origin,
            },
            pivots,
            landmarks_given: basis.landmarks.is_some(),
            pivot_norms: norms,
            eigenvalues,
            residual,
            trace: diagonal(kernel, rows).iter().sum(),
            n_kernel_evaluations: facts.get("evaluations")?.as_u64()?,
            n_rows: rows.n(),
            // With a checkpoint a basis is fitted in float64.
            precision: Precision::Double,
            rounding_error: None,
            stop: facts.get("stop").and_then(Value::as_str).and_then(Stop::named)?,
            warnings: warnings.filter_map(Value::as_str).map(String::from).collect(),
        })
    }

    /// Keeps a basis that is done, if it is time: extractors and selectors need not wait for it again.
    pub(super) fn finish(&mut self, fitted: &FittedBasis) -> Result<()> {
        if !self.part.is_due() {
            return Ok(());
        }
        let Expansion { matrix, landmarks, offset, origin, .. } = &fitted.expansion;
        let facts = json!({
            "gamma": self.gamma.map(f64::to_bits),
            "kernel": self.formula,
            "residual": fitted.residual.to_bits(),
            "evaluations": fitted.n_kernel_evaluations,
            "every row": landmarks.len() != fitted.pivots.len(),
            "origin": origin.is_some(),
            "eigenvalues": fitted.eigenvalues.is_some(),
            "stop": fitted.stop.name(),
            "warnings": fitted.warnings,
        });
        let Value::Object(facts) = facts else { return Ok(()) };
        let centres = match landmarks {
            Landmarks::Rows(rows) if fitted.method == Method::Kmeans => rows.to_dense(),
            _ => Vec::new(),
        };
        let by_row = (0..matrix.nrows()).flat_map(|i| matrix.row(i).iter().map(|v| v.to_bits()));
        let mut lists = vec![
            ("matrix", matrix.nrows() * matrix.ncols(), Box::new(by_row) as Box<dyn Iterator<Item = u64>>),
            indices("pivots", &fitted.pivots),
            numbers("norms", &fitted.pivot_norms),
            numbers("offset", offset),
        ];
        lists.push(numbers("centres", &centres));
        lists.extend(origin.as_ref().map(|origin| numbers("origin", origin)));
        lists.extend(fitted.eigenvalues.as_ref().map(|values| numbers("eigenvalues", values)));
        self.part.save(&facts, lists)
    }
}

impl Pivoted<'_> {
    /// Goes on from what an earlier run kept, and keeps what is found from here on.
    pub(super) fn resume(&mut self, mut checkpoint: Option<BasisCheckpoint>) -> Result<()> {
        if let Some(checkpoint) = &mut checkpoint
            && let Some(found) = checkpoint.found.take()
            && self.go_on_from(found).is_none()
        {
            return Err(checkpoint.part.damaged());
        }
        self.checkpoint = checkpoint;
        // A rule for γ may have taken long.
        if self.place.is_empty() { self.save(Vec::new) } else { Ok(()) }
    }
}

impl Pivoted<'_> {
    /// Takes over what a file holds; None if its parts do not fit together.
    fn go_on_from(&mut self, mut found: Content) -> Option<()> {
        let (pivots, norms) = (found.indices("pivots"), found.numbers("norms"));
        let (residual, coefficients) = (found.numbers("residual"), found.numbers("coefficients"));
        let m = pivots.len();
        let lists = [&norms, &residual, &coefficients];
        if m > self.room()
            || norms.len() != m
            || coefficients.len() != m * (m + 1) / 2
            || residual.len() != self.n()
            || !lists.into_iter().flatten().all(|v| v.is_finite())
        {
            return None;
        }
        for &i in &pivots {
            // Each row once.
            if std::mem::replace(self.rows.is_pivot.get_mut(i)?, true) {
                return None;
            }
        }
        let mut rest = &coefficients[..];
        for j in 0..m {
            let (row, after) = rest.split_at(j + 1);
            self.coefficients.push(row.to_vec());
            rest = after;
        }
        let evaluations = found.facts.get("evaluations").and_then(Value::as_u64).unwrap_or(0);
        self.rows.gram.set_evaluations(evaluations);
        self.place = found.whole("place");
        (self.pivots, self.norms, self.rows.residual) = (pivots, norms, residual);
        Some(())
    }
}

impl<R: FactorRows> Pivoted<'_, R> {
    /// Keeps the state after a pass, if it is time, with the numbers that the method's loop goes on with.
    pub(super) fn save(&mut self, place: impl FnOnce() -> Vec<u64>) -> Result<()> {
        let Some(checkpoint) = self.checkpoint.as_mut().filter(|c| c.part.is_due()) else { return Ok(()) };
        let (residual, evaluations) = self.rows.residuals();
        let facts = [
            ("gamma".to_string(), json!(checkpoint.gamma.map(f64::to_bits))),
            ("kernel".to_string(), json!(checkpoint.formula)),
            ("evaluations".to_string(), json!(evaluations)),
        ];
        let (place, m) = (place(), self.pivots.len());
        let coefficients = self.coefficients.iter().flatten().map(|v| v.to_bits());
        let lists = vec![
            indices("pivots", &self.pivots),
            numbers("norms", &self.norms),
            numbers("residual", residual),
            ("coefficients", m * (m + 1) / 2, Box::new(coefficients) as _),
            ("place", place.len(), Box::new(place.into_iter())),
        ];
        checkpoint.part.save(&facts.into_iter().collect(), lists)
    }
}

/// All that a basis depends on. Of memory only those depend that look at it; kernel values are recomputed in any case.
fn about(basis: &Basis, memory: u64, rows: &Rows, labels: Option<&Labels>) -> Result<About> {
    // Every field, so that a new one cannot be forgotten here.
    let Basis {
        method,
        shape,
        gamma,
        n_components,
        threshold,
        tol,
        nu,
        candidates,
        moves,
        landmarks,
        center,
        seed,
        rounding,
        precision,
        // What was found is made smaller afterwards, and rows are weighted before.
        shrink: _,
        relevant: _,
        input_weights: _,
    } = basis;
    if matches!(threshold, Some(Threshold::Function(_))) {
        return Err(Error::argument(
            "threshold is a function, which a checkpoint cannot compare\n\
             hint: use a linear, a power or a constant threshold",
        ));
    }
    if shape.is_own() {
        return Err(Error::argument(format!(
            "the kernel `{}` is a function, which a checkpoint cannot compare\n\
             hint: leave the checkpoint out",
            shape.name()
        )));
    }
    let about = About::new(rows, labels)
        .and("method", method.name())
        .and_setting("kernel", shape)
        .and_setting("gamma", gamma)
        .and_setting("n_components", n_components)
        .and_setting("moves", moves)
        .and_setting("threshold", threshold)
        .and_setting("tol", tol)
        .and_setting("nu", nu)
        .and_setting("candidates", candidates)
        .and_setting("center", center)
        .and_setting("seed", seed)
        .and_setting("rounding", rounding)
        .and_setting("precision", precision)
        .and("landmarks", landmarks.as_ref().map_or_else(|| "none".into(), |rows| digest_of_rows(rows)));
    Ok(match method {
        Method::Kpca | Method::Csi => about.and_setting("memory", &memory),
        _ => about,
    })
}

/// A number that was kept bit by bit.
fn number(facts: &Map<String, Value>, name: &str) -> Option<f64> {
    facts.get(name).and_then(Value::as_u64).map(f64::from_bits)
}
