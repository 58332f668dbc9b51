//! A file of rows that is kept out of memory: what does not fit lies in a mapped file, and the fit does not notice.
//!
//! `cargo run --example streaming --features formats`

use std::fmt::Write as _;

use mercer::data::read::{ReadOptions, read};
use mercer::data::{Task, synth};
use mercer::{Labels, Options, Pipeline, Result};

pub(crate) fn main() -> Result<()> {
    let path = std::env::temp_dir().join("mercer-example-streaming.csv");
    std::fs::write(&path, csv()?).expect("the temporary folder can be written");

    let options = ReadOptions { target: Some("class".into()), memory: Some(0), ..ReadOptions::default() };
    let table = read(&path.display().to_string(), &options)?;
    let labels = Labels::decide(table.target.expect("ringnorm has classes"), Task::Auto)?;
    let settings = [("basis", "kobl"), ("basis_components", "40"), ("gamma", "0.05")];
    let pipeline = Pipeline::new("gda", &settings)?;
    let fitted = pipeline.fit(&table.rows, Some(&labels), &Options::default().memory(20_000_000))?;
    assert_eq!(fitted.map.n_features(), 1);
    std::fs::remove_file(&path).ok();
    Ok(())
}

/// Rows of ringnorm as CSV.
fn csv() -> Result<String> {
    let table = synth::generate("ringnorm?n=500&seed=3")?;
    let labels = Labels::decide(table.target.expect("ringnorm has classes"), Task::Auto)?;
    let (codes, _) = labels.require_classes("csv")?;
    let p = table.rows.p();
    let names: Vec<String> = (0..p).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},class\n", names.join(","));
    for (row, code) in table.rows.to_dense().chunks_exact(p).zip(codes) {
        let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},c{code}", numbers.join(","));
    }
    Ok(text)
}
