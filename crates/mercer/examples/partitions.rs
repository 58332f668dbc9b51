//! Rows in partitions, as on several machines or in several files: a fit that never has them in one place.
//!
//! `cargo run --example partitions`

use mercer::data::{Task, synth};
use mercer::partitions::{InProcess, Parted, PartedOptions, Partition};
use mercer::{Options, Pipeline, Result};

pub(crate) fn main() -> Result<()> {
    let tables = [1, 2, 3].map(|seed| synth::generate(&format!("ringnorm?n={}&seed={seed}", 100 * seed)));
    let tables = tables.into_iter().collect::<Result<Vec<_>>>()?;
    // An engine of your own sends the same questions to other machines, as bytes: see `Engine`.
    let parts = tables.iter().map(|table| Partition::new(table.rows.clone(), table.target.clone()));
    let engine = InProcess::new(parts.collect());
    let mut rows = Parted::open(&engine, Task::Auto, &mut Vec::new())?;
    assert_eq!((rows.n(), rows.p()), (600, 20));

    let settings = [("basis", "kobl"), ("basis_components", "40"), ("gamma", "0.05")];
    let pipeline = Pipeline::new("gda", &settings)?;
    let fitted = rows.fit(&pipeline, &PartedOptions::default())?;

    // The same landmarks as in a fit on all rows.
    let (all, labels) = rows.take(&(0..rows.n()).collect::<Vec<_>>())?;
    let together = pipeline.fit(&all, labels.as_ref(), &Options::default())?;
    assert_eq!(fitted.map.pivots, together.map.pivots);
    Ok(())
}
