//! TAKES: a KOBL basis, and the coordinates that an ensemble of weak classifiers finds useful.
//!
//! `cargo run --example takes`

use mercer::data::{Task, synth};
use mercer::pipeline::Found;
use mercer::select::Keep;
use mercer::{Basis, Gamma, Kernel, Labels, Options, Pipeline, Result, System};

pub(crate) fn main() -> Result<()> {
    let table = synth::generate("waveform?n=300&seed=1")?;
    let labels = Labels::decide(table.target.expect("waveform has classes"), Task::Auto)?;
    let basis = Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Scale).n_components(60);
    let pipeline = Pipeline::select(System::takes().keep(Keep::Count(15))).on(basis);

    let fitted = pipeline.fit(&table.rows, Some(&labels), &Options::default())?;
    let Found::Selected(scores, selection) = &fitted.found else { unreachable!("a system selects") };
    assert_eq!((scores.scores.len(), selection.columns.len()), (60, 15));
    assert_eq!(fitted.map.n_features(), 15);
    // The first columns taken into the ensemble lower its error most.
    assert!(scores.error_path[14] < scores.error_path[0]);
    Ok(())
}
