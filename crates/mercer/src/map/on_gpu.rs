//! Features of rows that lie on a GPU.

use std::any::Any;
use std::sync::Arc;

use super::FeatureMap;
use crate::basis::Precision;
use crate::basis::on_gpu::Applied;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Rows as the map's kernel sees them, on their GPU.
fn scaled<'r>(map: &FeatureMap, rows: &'r Rows<'r>) -> Result<Option<Rows<'r>>> {
    let names = map.input_names.as_deref();
    match &map.scaling {
        _ if rows.gpu_rows().is_none() => {
            Err(Error::argument("the rows do not lie on a GPU\nhint: transform them, or put them there"))
        }
        Some(scaling) if rows.p() == scaling.factor.len() => {
            rows.check_finite(names)?;
            rows.fetch()?;
            let there = scaling.apply(rows)?.on(rows.device())?;
            map.expansion.check(&there, names, 0)?;
            Ok(Some(there))
        }
        _ => map.expansion.check(rows, names, 0).map(|()| None),
    }
}

pub(super) fn transform_there(map: &FeatureMap, rows: &Rows, monitor: &Monitor) -> Result<Rows<'static>> {
    let own = scaled(map, rows)?;
    Applied::new(&map.expansion, own.as_ref().unwrap_or(rows))?.all_there(monitor)
}

/// # Safety
/// As for [`FeatureMap::transform_to_address`].
#[expect(unsafe_code, reason = "an address is believed")]
pub(super) unsafe fn transform_to_address(
    map: &FeatureMap,
    rows: &Rows,
    address: u64,
    precision: Precision,
    owner: Arc<dyn Any + Send + Sync>,
    monitor: &Monitor,
) -> Result<()> {
    let own = scaled(map, rows)?;
    let applied = Applied::new(&map.expansion, own.as_ref().unwrap_or(rows))?;
    // SAFETY: as the caller says.
    unsafe { applied.all_to_address(address, precision, owner, monitor) }
}
