//! `mercer inspect`: what is in a model.

use clap::ArgMatches;
use mercer::basis::{Landmarks, bytes};
use mercer::map::FORMAT_VERSION;
use mercer::{Error, FeatureMap, Kernel, Result, Shape};
use serde_json::{Value, json};

use crate::args;
use crate::talk::{first, print, short, table};

/// Names and numbers shown of a long list.
const SHOWN: usize = 5;

pub(crate) fn run(args: &ArgMatches) -> Result<()> {
    let file = args::required(args, "model")?;
    let model = FeatureMap::load(file)?;
    let size = std::fs::metadata(file).map_err(|source| Error::Io { path: file.into(), source })?.len();
    print(&if args::is_json(args) { format!("{:#}\n", json(&model, size)) } else { text(&model, size) })
}

fn json(model: &FeatureMap, size: u64) -> Value {
    json!({
        "format": FORMAT_VERSION,
        "bytes": size,
        "method": model.method,
        "kernel": kernel(model.expansion.kernel).into_iter().collect::<Value>(),
        "scaling": model.scaling.is_some(),
        "n_inputs": model.expansion.landmarks.p(),
        "inputs": model.input_names,
        "features": model.feature_names,
        "landmarks": model.expansion.landmarks.len(),
        "pivots": model.pivots,
        "pivot_norms": model.pivot_norms,
        "eigenvalues": model.eigenvalues,
        "scores": model.scores,
        "facts": model.facts,
    })
}

/// The kernel's name and the numbers that matter for it.
fn kernel(kernel: Kernel) -> Vec<(&'static str, Value)> {
    let mut parts = vec![("name", json!(kernel.shape.name()))];
    if kernel.shape.uses_gamma() {
        parts.push(("gamma", json!(kernel.gamma)));
    }
    match kernel.shape {
        Shape::Poly { degree, coef0 } => parts.extend([("degree", json!(degree)), ("coef0", json!(coef0))]),
        Shape::Sigmoid { coef0 } => parts.push(("coef0", json!(coef0))),
        Shape::Rq { alpha } => parts.push(("alpha", json!(alpha))),
        _ => {}
    }
    parts
}

fn text(model: &FeatureMap, size: u64) -> String {
    let mut lines = vec![
        ("method", model.method.clone()),
        ("kernel", kernel(model.expansion.kernel).iter().map(word).collect::<Vec<_>>().join(", ")),
        ("scaling", scaling(model)),
        ("inputs", inputs(model)),
        ("features", counted(&model.feature_names)),
        ("landmarks", landmarks(&model.expansion.landmarks)),
    ];
    if !model.pivots.is_empty() {
        let rows: Vec<usize> = model.pivots.iter().map(|i| i + 1).collect();
        lines.push(("pivots", format!("training rows {}", first(&rows, SHOWN))));
    }
    let lists =
        [("norms", &model.pivot_norms), ("eigenvalues", &model.eigenvalues), ("scores", &model.scores)];
    for (name, values) in lists {
        if let [from, .., to] = values[..] {
            lines.push((name, format!("from {} to {}", short(from), short(to))));
        }
    }
    lines.push(("file", format!("format {FORMAT_VERSION}, {}", bytes(size))));
    let other = model.facts.iter().filter(|(name, _)| *name != "scale");
    lines.extend(other.map(|(name, value)| (name.as_str(), fact(value))));
    table(&lines.into_iter().map(|(name, value)| vec![name.replace('_', " "), value]).collect::<Vec<_>>(), 2)
}

/// The kernel's name alone, its numbers with theirs.
fn word((name, value): &(&str, Value)) -> String {
    if *name == "name" { fact(value) } else { format!("{name} = {}", fact(value)) }
}

fn scaling(model: &FeatureMap) -> String {
    match (&model.scaling, model.facts.get("scale")) {
        (None, _) => "none".into(),
        (Some(_), Some(name)) => fact(name),
        (Some(_), None) => "of every input".into(),
    }
}

fn inputs(model: &FeatureMap) -> String {
    match &model.input_names {
        Some(names) => counted(names),
        None => format!("{}, matched by place", model.expansion.landmarks.p()),
    }
}

fn counted(names: &[String]) -> String {
    format!("{}: {}", names.len(), first(names, SHOWN))
}

fn landmarks(landmarks: &Landmarks) -> String {
    match landmarks {
        Landmarks::Rows(rows) if rows.is_sparse() => format!("{} sparse rows", rows.n()),
        Landmarks::Rows(rows) => format!("{} rows", rows.n()),
        Landmarks::Columns { indices, n } => format!("{} columns of a kernel of {n} rows", indices.len()),
    }
}

fn fact(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.into(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(String::new, short),
        Value::Object(parts) if parts.is_empty() => "all defaults".into(),
        Value::Object(parts) => {
            let parts: Vec<String> =
                parts.iter().map(|(name, value)| format!("{name} = {}", fact(value))).collect();
            parts.join(", ")
        }
        other => other.to_string(),
    }
}
