//! Methods side by side on the same folds, with everything learned inside each training part.
//!
//! `cargo run --example comparison --features evaluate`

use mercer::data::{Task, synth};
use mercer::evaluate::Comparison;
use mercer::evaluate::outcome::Entry;
use mercer::{Labels, Options, Result};

pub(crate) fn main() -> Result<()> {
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
    let best = |method: &str| {
        let entries = outcome.entries.iter().filter(|entry| entry.method == method);
        entries.filter_map(Entry::mean).fold(0.0, f64::max)
    };
    // On ringnorm the columns themselves serve neither ridge nor a nearest neighbour.
    assert!(best("kpls") > best("raw"));
    Ok(())
}
