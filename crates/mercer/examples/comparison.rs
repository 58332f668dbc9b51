//! Methods side by side on the same folds, with everything learned inside each training part.
//!
//! `cargo run --example comparison --features evaluate`

use mercer::data::{Task, synth};
use mercer::evaluate::Comparison;
use mercer::{Labels, Options, Result};

/// Runs the example.
pub fn main() -> Result<()> {
    let table = synth::generate("ringnorm?n=150&seed=1")?;
    let labels = Labels::decide(table.target.expect("ringnorm has classes"), Task::Auto)?;
    let comparison = Comparison {
        methods: vec!["gda".into(), "kpls".into(), "kobl".into()],
        folds: 3,
        options: Options::default().memory(1 << 30),
        ..Comparison::default()
    };
    let outcome = comparison.run(&table.rows, &labels)?;
    assert_eq!(outcome.measure, "accuracy");
    let mean = |method: &str| outcome.entries.iter().filter(|e| e.method == method).filter_map(|e| e.mean());
    // On ringnorm the columns themselves serve a nearest neighbour badly.
    assert!(mean("kpls").fold(0.0, f64::max) > mean("raw").fold(1.0, f64::min));
    Ok(())
}
