//! A kernel of one's own, in a sum with one by name.
//!
//! `cargo run --example own_kernel`

use mercer::data::synth;
use mercer::{Basis, FeatureMap, Kernel, Result};

pub(crate) fn main() -> Result<()> {
    let table = synth::generate("ringnorm?n=400&seed=1")?;
    // A function of two rows, symmetric and positive semi-definite: a triangle around every number.
    let triangle = |(x, z): (&f64, &f64)| (1.0 - (x - z).abs() / 4.0).max(0.0);
    let own = Kernel::own("triangles", move |x, z| x.iter().zip(z).map(triangle).sum());
    let kernel = 0.2 * own.on_columns(&[0, 1, 2, 3, 4])? + Kernel::rbf(0.05);

    let map = FeatureMap::from(Basis::kobl(kernel).n_components(50).fit(&table.rows)?);
    assert_eq!(map.transform(&table.rows)?.ncols(), 50);
    // A file holds no code.
    assert!(map.save("model.mercer").is_err());
    Ok(())
}
