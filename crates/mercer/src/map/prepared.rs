//! Applying a map: scale a panel of rows, then give its features, on all threads.

use std::sync::{Arc, OnceLock};

use faer::{MatMut, MatRef};

use super::FeatureMap;
use crate::basis::Precision;
use crate::basis::expansion::{FeaturePanels, PreparedParts, each_panel};
use crate::basis::expansion_f32::{F32Parts, FEW_ROWS};
use crate::basis::on_gpu::Applied;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::own::caught;
use crate::monitor::Monitor;
use crate::real::Real;

/// A map with all that applying it needs, computed once and shared between threads: what serves one row after the other.
///
/// ```
/// use mercer::map::PreparedMap;
/// use mercer::{Basis, FeatureMap, Kernel, Monitor, Rows};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1)?;
/// let map = PreparedMap::new(FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).n_components(2).fit(&rows)?));
/// let mut features = vec![0.0; 2];
/// for i in 0..3 {
///     let out = faer::MatMut::from_row_major_slice_mut(&mut features, 1, 2);
///     map.transform_into(&rows.slice(i..i + 1), out, &Monitor::default())?;
/// }
/// assert!((features[1] - 1.0).abs() < 0.02); // row 2, the second landmark: √(1 − e⁻⁸)
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug)]
pub struct PreparedMap {
    map: FeatureMap,
    parts: OnceLock<Arc<PreparedParts>>,
    f32_parts: OnceLock<Option<Arc<F32Parts>>>,
}

impl PreparedMap {
    /// Nothing is computed before the first rows come.
    pub fn new(map: FeatureMap) -> Self {
        Self { map, parts: OnceLock::new(), f32_parts: OnceLock::new() }
    }

    /// The map.
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// Features of every row into memory of the caller's, n×q, as [`FeatureMap::transform_into`].
    pub fn transform_into(&self, rows: &Rows, out: MatMut<'_, f64>, monitor: &Monitor) -> Result<()> {
        let expansion = &self.map.expansion;
        let panels = expansion.prepared_with(cached(&self.parts, || expansion.parts()));
        transform(&self.map, &panels, rows, out, monitor)
    }

    /// Float32 features of every row, as [`FeatureMap::transform_f32_into`].
    pub fn transform_f32_into(
        &self,
        rows: &Rows,
        out: MatMut<'_, f32>,
        monitor: &Monitor,
    ) -> Result<Precision> {
        let expansion = &self.map.expansion;
        // Once known it serves few rows, too, but is not worth finding out for them.
        let parts = match rows.n() {
            FEW_ROWS.. => cached(&self.f32_parts, || expansion.parts_f32()),
            _ => None,
        };
        let parts_f64 = cached(&self.parts, || expansion.parts());
        let panels = expansion.prepared_f32_with(parts, Some(parts_f64));
        transform(&self.map, &panels, rows, out, monitor).map(|()| panels.precision())
    }
}

/// The value in a cell; whoever finds it empty computes it, and the first value stays. `OnceLock::get_or_init` would compute it
/// under a lock: a thread of the pool that waits for others' share of that work may meanwhile take up another transform of the
/// same map, and would then wait for itself.
fn cached<T: Clone>(cell: &OnceLock<T>, compute: impl FnOnce() -> T) -> T {
    if let Some(value) = cell.get() {
        return value.clone();
    }
    let value = compute();
    let _ = cell.set(value.clone());
    value
}

/// Features of every row, scaled first where the map has a scaling.
pub(super) fn transform<T: Real>(
    map: &FeatureMap,
    panels: &impl FeaturePanels<T>,
    rows: &Rows,
    out: MatMut<'_, T>,
    monitor: &Monitor,
) -> Result<()> {
    let (expansion, names) = (&map.expansion, map.input_names.as_deref());
    expansion.check_shape((out.nrows(), out.ncols()), rows.n())?;
    let scaling = match &map.scaling {
        Some(scaling) if rows.p() == scaling.factor.len() => {
            rows.check_finite(names)?;
            Some(scaling)
        }
        // Refuses another number of columns.
        _ => {
            expansion.check(rows, names, 0)?;
            None
        }
    };
    if rows.gpu_rows().is_some() {
        let scaled = scaling.map(|scaling| scaling.apply(rows)?.on(rows.device())).transpose()?;
        let rows = scaled.as_ref().unwrap_or(rows);
        expansion.check(rows, names, 0)?;
        let mut out = out;
        Applied::new(expansion, rows)?.all(out.as_mut(), monitor)?;
        return check_features(out.as_ref(), 0);
    }
    caught(|| {
        each_panel("transforming rows", out, monitor, |here, out| {
            let mut out = out;
            if let Some(scaling) = scaling {
                let part = scaling.apply(&rows.slice(here.clone()))?;
                expansion.check(&part, names, here.start)?;
                panels.fill(&part, 0..part.n(), out.as_mut());
            } else {
                panels.fill(rows, here.clone(), out.as_mut());
            }
            check_features(out.as_ref(), here.start)
        })
    })
}

/// An error if a feature is not a finite number; `first` is the index of the first row.
fn check_features<T: Real>(features: MatRef<'_, T>, first: usize) -> Result<()> {
    let is_finite = |value: &T| value.double().is_finite();
    match (0..features.nrows()).find(|&i| !features.row(i).iter().all(is_finite)) {
        None => Ok(()),
        Some(i) => Err(Error::Numerical(format!(
            "a feature of row {} is too large for a number of {} bits\nhint: {}scale the columns",
            first + i + 1,
            8 * T::PRECISION.bytes(),
            if T::PRECISION == Precision::Single { "give float64 rows, or " } else { "" },
        ))),
    }
}
