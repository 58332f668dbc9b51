//! A basis of the kernel's space, directions in it, and the map that they make: from rows to features, and to a file.
//!
//! `cargo run --example basis_and_map`

use mercer::data::{Task, synth};
use mercer::{Basis, FeatureMap, Kernel, Klfe, Labels, Result};

pub(crate) fn main() -> Result<()> {
    let table = synth::generate("ringnorm?n=400&seed=1")?;
    let labels = Labels::decide(table.target.expect("ringnorm has classes"), Task::Auto)?;
    let new_rows = synth::generate("ringnorm?n=100&seed=2")?.rows;

    let basis = Basis::kobl(Kernel::rbf(0.05)).fit(&table.rows)?;
    assert!(basis.n_components() > 10 && basis.residual < 0.5);
    let map = Klfe { n_components: Some(10), ..Klfe::default() }.fit(&table.rows, &labels, basis)?;
    let features = map.transform(&new_rows)?;
    assert_eq!((features.nrows(), features.ncols()), (100, 10));

    let file = std::env::temp_dir().join("mercer-example-basis-and-map.mercer");
    map.save(&file)?;
    assert_eq!(FeatureMap::load(&file)?.transform(&new_rows)?, features);
    std::fs::remove_file(&file).ok();
    Ok(())
}
