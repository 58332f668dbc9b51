//! `mercer inspect`: the contents of a model, and which inputs its features use.

use clap::ArgMatches;
use faer::Mat;
use mercer::basis::Landmarks;
use mercer::data::Encoder;
use mercer::data::table::plain_names;
use mercer::map::{COLUMNS_FORMAT_VERSION, Facts, Model, Predictor, SelectedColumns};
use mercer::options::bytes;
use mercer::{Error, FeatureMap, Kernel, Result, Rows, Shape};
use serde_json::{Map, Value, json};

use crate::args;
use crate::commands::column_table;
use crate::commands::fit::{alignment, best_scores, shares};
use crate::context::Context;
use crate::stdout::print;
use crate::text::{first, percent, plural, short, table};

/// The most names or numbers shown of a list.
const ITEMS_SHOWN: usize = 5;

/// The most inputs in the table of importance; JSON has them all.
const INPUTS_SHOWN: usize = 30;

/// The most features named for each input.
const FEATURES_SHOWN: usize = 3;

/// Facts that are shown on lines of their own.
const FACTS_WITH_OWN_LINE: [&str; 5] =
    ["scale", "error_path", "explained", "alignment_path", "landmarks_given"];

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let file = args::required(args, "model")?;
    let data = args::text(args, "importance");
    super::one_from_input(file, data.unwrap_or_default())?;
    let (model, size) = super::load(file)?;
    match (&model, data) {
        (_, None) if args::is_json(args) => print(&as_json(&model, size)),
        (_, None) => print(&as_text(&model, size)),
        (Model::Features(model), Some(source)) => importance(args, model, source, context),
        (Model::Columns(selected), Some(_)) => Err(Error::Argument(format!(
            "--importance is given, but the model keeps columns by `{}` as they are\n\
             hint: leave it out: the columns are shown with their scores",
            selected.method
        ))),
    }
}

/// The contents of a model as text; `size` is that of its file.
pub(crate) fn as_text(model: &Model, size: u64) -> String {
    match model {
        Model::Features(model) => text(model, size),
        Model::Columns(selected) => selected_text(selected, size),
    }
}

/// The contents of a model as JSON; `size` is that of its file.
pub(crate) fn as_json(model: &Model, size: u64) -> String {
    let all = match model {
        Model::Features(model) => json(model, size),
        Model::Columns(selected) => selected_json(selected, size),
    };
    format!("{all:#}\n")
}

/// How much the features or, of a model that predicts, its predictions depend on the inputs; `source` is empty if no data was given.
fn importance(args: &ArgMatches, model: &FeatureMap, source: &str, context: &Context) -> Result<()> {
    let memory = args::memory(args);
    let predictor = model.predictor.as_ref();
    // Members of a predictor may have more landmarks than the features.
    let looked_at: Vec<&FeatureMap> =
        predictor.map_or_else(|| vec![model], |predictor| predictor.members.iter().collect());
    let check = |n: usize| looked_at.iter().try_for_each(|map| map.expansion.check_importance(n, memory));
    let (table, rows, over) = match (&model.expansion.landmarks, source) {
        (Landmarks::Rows(rows), "") => {
            let n = looked_at.iter().map(|map| map.expansion.landmarks.len()).max().unwrap_or(0);
            check(n)?;
            let over = format!("the model's {n} landmarks, as no data was given");
            let table = context.work(|monitor| match predictor {
                Some(predictor) => predictor.input_importance(None, monitor),
                None => model.expansion.input_importance(rows, monitor),
            })?;
            (table, n, over)
        }
        (Landmarks::Columns { n, .. }, _) => {
            // Importance is not defined here; the library's error says so without needing any rows.
            return model.input_importance(&Rows::dense(Vec::new(), 0, *n)?, &context.monitor).map(|_| ());
        }
        _ => {
            let data = super::read_for_model(source, &super::options_for(args, model)?, context)?;
            check(data.rows.n())?;
            let table = context.work(|monitor| match predictor {
                Some(predictor) => predictor.input_importance(Some(&data.rows), monitor),
                None => model.input_importance(&data.rows, monitor),
            })?;
            (table, data.rows.n(), format!("{} rows of {source}", data.rows.n()))
        }
    };
    let (features, users) = match predictor {
        Some(predictor) => (&predictor.members[0].feature_names, "predictions"),
        None => (&model.feature_names, "features"),
    };
    let inputs = model.input_names.clone().unwrap_or_else(|| plain_names(model.expansion.landmarks.p()));
    let totals: Vec<f64> = table.col_iter().map(|column| column.sum()).collect();
    if args::is_json(args) {
        let lines: Vec<Vec<f64>> = table.row_iter().map(|row| row.iter().copied().collect()).collect();
        let over = if source.is_empty() { "landmarks" } else { super::file_name(source) };
        let all = json!({ "averaged_over": over, "rows": rows, "inputs": inputs, "features": features,
                          "importance": lines, "totals": totals });
        return print(&format!("{all:#}\n"));
    }
    let unit = if predictor.is_some() { "in their standard deviations" } else { "after scaling" };
    context.info(&format!(
        "mean squared derivatives of the {users} with respect to the inputs ({unit}), over {over}\n"
    ));
    print(&importance_table(&inputs, (users, features), &table, &totals))
}

fn importance_table(
    inputs: &[String],
    (users, features): (&str, &[String]),
    importance: &Mat<f64>,
    totals: &[f64],
) -> String {
    let heading = format!("{users} that use it most");
    let sum: f64 = totals.iter().sum();
    let percent = |part: f64, whole: f64| percent(if whole > 0.0 { part / whole } else { 0.0 });
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]));
    let mut lines = vec![["input", "share", "total", &heading].map(String::from).to_vec()];
    for &j in order.iter().take(INPUTS_SHOWN) {
        let column = importance.col(j);
        let mut users: Vec<usize> = (0..features.len()).filter(|&q| column[q] > 0.0).collect();
        users.sort_by(|&a, &b| column[b].total_cmp(&column[a]));
        let named = |&q: &usize| format!("{} {}", features[q], percent(column[q], totals[j]));
        let users: Vec<String> = users.iter().map(named).collect();
        lines.push(vec![
            inputs[j].clone(),
            percent(totals[j], sum),
            short(totals[j]),
            first(&users, FEATURES_SHOWN),
        ]);
    }
    let text = table(&lines, 1..3);
    match order.get(INPUTS_SHOWN..) {
        Some(rest @ [_, ..]) => {
            let left: f64 = rest.iter().map(|&j| totals[j]).sum();
            format!("{text}… and {} more with {} in total\n", rest.len(), percent(left, sum))
        }
        _ => text,
    }
}

fn json(model: &FeatureMap, size: u64) -> Value {
    json!({
        "format": model.format_version(),
        "bytes": size,
        "method": model.method,
        "kernel": kernel(model.expansion.kernel).into_iter().collect::<Value>(),
        "scaling": model.scaling.is_some(),
        "n_inputs": model.expansion.landmarks.p(),
        "inputs": model.input_names,
        "encoder": model.encoder.as_ref().map(encoder),
        "features": model.feature_names,
        "landmarks": model.expansion.landmarks.len(),
        "n_support": n_support(model),
        "important_points": important_json(model),
        "pivots": model.pivots,
        "pivot_norms": model.pivot_norms,
        "eigenvalues": model.eigenvalues,
        "scores": model.scores,
        "predicts": model.predictor.as_ref().map(predicts),
        "facts": facts(&model.facts),
    })
}

fn selected_json(model: &SelectedColumns, size: u64) -> Value {
    json!({
        "format": COLUMNS_FORMAT_VERSION,
        "bytes": size,
        "method": model.method,
        "n_inputs": model.n_inputs,
        "inputs": model.input_names,
        "features": model.feature_names(),
        "weights": model.weights,
        "columns": column_table::entries(model),
        "facts": facts(&model.facts),
    })
}

/// The facts, and the columns with their scores.
fn selected_text(model: &SelectedColumns, size: u64) -> String {
    let kept = model.feature_names();
    let inputs = match &model.input_names {
        Some(names) => counted(names),
        None => format!("{}, matched by position", model.n_inputs),
    };
    let mut lines = vec![
        ("method", model.method.clone()),
        ("keeps", format!("{} of {} columns: {}", kept.len(), model.n_inputs, first(&kept, ITEMS_SHOWN))),
        ("inputs", inputs),
        ("values", if model.weights.is_some() { "multiplied by weights" } else { "as they are" }.into()),
        ("file", format!("format {COLUMNS_FORMAT_VERSION}, {}", bytes(size))),
    ];
    let facts = facts(&model.facts);
    let other = facts.iter().filter(|(name, _)| *name != "error_path");
    lines.extend(other.map(|(name, value)| {
        (if name == "scale" { "scored with scale" } else { name.as_str() }, fact(value))
    }));
    format!("{}\n{}", aligned(lines), column_table::text(model, INPUTS_SHOWN))
}

/// How the columns of a table become the inputs.
fn encoder(encoder: &Encoder) -> Value {
    serde_json::from_str(&encoder.to_json()).unwrap_or_default()
}

/// What the model remembers of how it was made.
fn facts(facts: &Facts) -> Map<String, Value> {
    serde_json::from_str(&facts.to_json()).unwrap_or_default()
}

/// Names and what they stand for, `_` in names as spaces.
fn aligned(lines: Vec<(&str, String)>) -> String {
    table(
        &lines.into_iter().map(|(name, value)| vec![name.replace('_', " "), value]).collect::<Vec<_>>(),
        ..0,
    )
}

/// The kernel's name and its parameters.
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
        ("landmarks", landmarks(model)),
        ("support", support(model)),
        ("important", important(model)),
    ];
    if !model.pivots.is_empty() && !on_class_means(model) {
        let rows: Vec<usize> = model.pivots.iter().map(|i| i.saturating_add(1)).collect();
        lines.push(("pivots", format!("training rows {}", first(&rows, ITEMS_SHOWN))));
    }
    for (name, values) in [("norms", &model.pivot_norms), ("eigenvalues", &model.eigenvalues)] {
        match values[..] {
            [from, .., to] => lines.push((name, format!("from {} to {}", short(from), short(to)))),
            [only] => lines.push((name, short(only))),
            [] => {}
        }
    }
    lines.extend(shares(model, ITEMS_SHOWN).map(|shares| ("shares", shares)));
    lines.extend(alignment(model).map(|path| ("alignment", path)));
    if let Some(least) = model.scores.iter().copied().min_by(f64::total_cmp) {
        lines.push(("scores", format!("{}; least {}", best_scores(model, ITEMS_SHOWN), short(least))));
    }
    lines.extend(error_path(model).map(|path| ("training error", path)));
    lines.extend(model.predictor.as_ref().map(|predictor| ("predicts", predicts(predictor))));
    let described = model.encoder.as_ref().map(Encoder::describe).unwrap_or_default();
    let encoded: Vec<String> =
        described.iter().map(|(name, what)| format!("column `{name}`: {what}")).collect();
    for (at, text) in encoded.into_iter().enumerate() {
        lines.insert(4 + at, (if at == 0 { "encoding" } else { "" }, text));
    }
    lines.push(("file", format!("format {}, {}", model.format_version(), bytes(size))));
    let facts = facts(&model.facts);
    let other = facts.iter().filter(|(name, _)| !FACTS_WITH_OWN_LINE.contains(&name.as_str()));
    lines.extend(other.map(|(name, value)| (name.as_str(), fact(value))));
    aligned(lines)
}

/// What a predictor predicts, and with what.
fn predicts(predictor: &Predictor) -> String {
    let what = match &predictor.classes {
        Some(classes) => format!("{} classes ({})", classes.len(), first(classes, ITEMS_SHOWN)),
        None => "numbers".into(),
    };
    let members: Vec<String> = predictor
        .members
        .iter()
        .map(|map| {
            format!("{} with {} landmarks", map.expansion.kernel.shape.name(), map.expansion.landmarks.len())
        })
        .collect();
    format!("{what}, by {}", members.join(" and "))
}

/// The training error as columns were added.
fn error_path(model: &FeatureMap) -> Option<String> {
    let path = &model.facts.error_path;
    let (from, to) = (path.first()?, path.last()?);
    let least = path.iter().copied().fold(f64::INFINITY, f64::min);
    let round = path.iter().position(|e| *e == least)? + 1;
    Some(format!(
        "{} with the first coordinate, {} at best with {round}, {} with all {}",
        percent(*from),
        percent(least),
        percent(*to),
        path.len()
    ))
}

/// The kernel's name as it is, its parameters as `name = value`.
fn word((name, value): &(&str, Value)) -> String {
    if *name == "name" { fact(value) } else { format!("{name} = {}", fact(value)) }
}

fn scaling(model: &FeatureMap) -> String {
    match (&model.scaling, &model.facts.scale) {
        (None, _) => "none".into(),
        (Some(_), Some(name)) => name.clone(),
        (Some(scaling), None) if scaling.unit => "rows to unit length".into(),
        (Some(_), None) => "of every input".into(),
    }
}

fn inputs(model: &FeatureMap) -> String {
    match &model.input_names {
        Some(names) => counted(names),
        None => format!("{}, matched by position", model.expansion.landmarks.p()),
    }
}

fn counted(names: &[String]) -> String {
    format!("{}: {}", names.len(), first(names, ITEMS_SHOWN))
}

fn landmarks(model: &FeatureMap) -> String {
    match &model.expansion.landmarks {
        Landmarks::Rows(rows) if on_class_means(model) => plural(rows.n(), "class mean"),
        Landmarks::Rows(rows) if rows.is_sparse() => plural(rows.n(), "sparse row"),
        Landmarks::Rows(rows) => plural(rows.n(), "row"),
        Landmarks::Columns { indices, n } => {
            format!("{} of a kernel of {n} rows", plural(indices.len(), "column"))
        }
    }
}

/// How many landmarks a prediction needs or, of a model that predicts nothing, the features of a row.
fn n_support(model: &FeatureMap) -> usize {
    model.predictor.as_ref().map_or_else(|| model.n_support(), Predictor::n_support)
}

/// What a prediction needs, in words.
fn support(model: &FeatureMap) -> String {
    let what = if model.landmark_rows().is_ok() { "training row" } else { "landmark" };
    let needed_for = if model.predictor.is_some() { "a prediction" } else { "the features of a row" };
    format!(
        "{needed_for} need{} {}",
        if model.predictor.is_some() { "s" } else { "" },
        plural(n_support(model), what)
    )
}

/// The training rows that carry the features; null where landmarks are no training rows.
fn important_json(model: &FeatureMap) -> Value {
    let important = model.important_points();
    important.map_or(Value::Null, |found| json!({ "rows": found.rows, "shares": found.shares }))
}

/// The first of the training rows that carry the features, or why there are none.
fn important(model: &FeatureMap) -> String {
    match model.important_points() {
        Ok(found) => {
            let rows = found.rows.iter().zip(&found.shares);
            let rows: Vec<String> =
                rows.map(|(row, share)| format!("{} ({})", row.saturating_add(1), percent(*share))).collect();
            format!("training rows {}", first(&rows, ITEMS_SHOWN))
        }
        Err(why) => format!("none: {why}"),
    }
}

/// Whether the landmarks are class means instead of rows of the data.
fn on_class_means(model: &FeatureMap) -> bool {
    model.method == "akda-qr"
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
