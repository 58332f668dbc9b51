//! Whole models as ONNX graphs: encoding, scaling, features, and predictions from them.
//!
//!   X ──► encode ──► scale ──► kernel values ──► A·k − b ──► `variable`
//!                                                     └────► mean of members ──► `label`, `probabilities`

use super::Export;
use super::graph::{Attribute, Dim, Element, Graph, Value};
use super::kernels::{self, kernel_values, minus, unit_rows};
use crate::data::encode::{Encoder, Encoding};
use crate::data::scale::Scaling;
use crate::error::{Error, Result};
use crate::map::{FeatureMap, Predictor, SelectedColumns};
use crate::real::Precision;

/// Centres and factors beyond this, or below its reciprocal, have no place in a float32 graph.
const F32_RANGE: f64 = 1e30;

/// Columns of rows, multiplied by their weights if there are any.
pub(super) fn columns(export: &Export, selected: &SelectedColumns) -> Result<Vec<u8>> {
    let mut graph = Graph::new(export.opset, export.precision);
    let element = export.precision.into();
    let k = selected.columns.len();
    let x = graph.input("X", element, &[Dim::Rows, Dim::Fixed(selected.n_inputs)]);
    let columns = graph.places("columns", &selected.columns);
    let mut kept = graph.gather(&x, &columns, 1);
    if let Some(weights) = &selected.weights {
        let weights = graph.numbers("weights", &[1, k], weights);
        kept = graph.node("Mul", &[&kept, &weights]);
    }
    graph.output(&kept, "variable", element, &[Dim::Rows, Dim::Fixed(k)]);
    let facts = [
        ("mercer_method", selected.method.clone()),
        ("mercer_input_names", names(selected.input_names.as_deref())),
        ("mercer_feature_names", names(Some(&selected.feature_names()))),
    ];
    graph.finish(&format!("columns kept by {}", selected.method), &facts)
}

/// Features of rows, or predictions where the model has a predictor.
pub(super) fn map(export: &Export, map: &FeatureMap) -> Result<Vec<u8>> {
    let mut graph = Graph::new(export.opset, export.precision);
    let element = export.precision.into();
    let encoder = map.encoder.as_ref().filter(|_| !export.encoded);
    let (inputs, p) = match encoder {
        Some(encoder) => {
            check_numbers(encoder)?;
            let inputs = encoder.inputs();
            let p = inputs.len();
            (Some(inputs), p)
        }
        None => (map.input_names.clone(), map.expansion.landmarks.p()),
    };
    let mut x = graph.input("X", element, &[Dim::Rows, Dim::Fixed(p)]);
    if let Some(encoder) = encoder {
        x = encoded(&mut graph, encoder, &x);
    }
    let mut facts = vec![
        ("mercer_method", map.method.clone()),
        ("mercer_kernel", map.expansion.kernel.shape.name().to_string()),
        ("mercer_input_names", names(inputs.as_deref())),
    ];
    let doc = match map.predictor.as_ref().filter(|_| !export.features) {
        Some(predictor) => {
            predictions(&mut graph, export, predictor, &x)?;
            "predictions in kernel space".to_string()
        }
        None if export.classes.is_some() => {
            return Err(Error::argument("classes were given, but the model predicts none"));
        }
        None => {
            let features = features(&mut graph, map, &x)?;
            graph.output(&features, "variable", element, &[Dim::Rows, Dim::Fixed(map.n_features())]);
            facts.push(("mercer_feature_names", names(Some(&map.feature_names))));
            format!("features in kernel space by {}", map.method)
        }
    };
    graph.finish(&doc, &facts)
}

/// Names as a JSON list, `null` if there are none.
fn names(names: Option<&[String]>) -> String {
    serde_json::json!(names).to_string()
}

/// An error unless an encoder's columns are numbers, which one tensor can hold.
fn check_numbers(encoder: &Encoder) -> Result<()> {
    for column in &encoder.columns {
        let what = match column.encoding {
            Encoding::Date { .. } => "a date",
            Encoding::Category { .. } => "a category",
            Encoding::Number { .. } | Encoding::Boolean { .. } | Encoding::Dropped { .. } => continue,
        };
        return Err(Error::argument(format!(
            "column `{}` of the model's table is {what}, but an ONNX graph of mercer takes one table of numbers\n\
             hint: `encoded=True`, or `--encoded`, exports a graph that takes the encoded columns, {} of them",
            column.name,
            encoder.names().len()
        )));
    }
    Ok(())
}

/// Columns of numbers, NaN where one is missing, as the encoder encodes them: filled, and with indicators.
fn encoded(graph: &mut Graph, encoder: &Encoder, x: &str) -> Value {
    let (mut places, mut indicates) = (Vec::new(), Vec::new());
    let mut at = 0;
    for column in &encoder.columns {
        let (dropped, indicator) = match column.encoding {
            Encoding::Number { indicator } | Encoding::Boolean { indicator } => (false, indicator),
            _ => (true, false),
        };
        if !dropped {
            places.push(at);
            indicates.push(false);
        }
        if indicator {
            places.push(at);
            indicates.push(true);
        }
        // Columns that are known by their place are there even if they are dropped.
        at += usize::from(encoder.by_place || !dropped);
    }
    let p = places.len();
    let indicates_any = indicates.contains(&true);
    let places = graph.places("columns", &places);
    let values = graph.gather(x, &places, 1);
    let mut out = values.clone();
    if encoder.medians.is_none() && !indicates_any {
        return out;
    }
    let missing = graph.node("IsNaN", &[&values]);
    if let Some(medians) = &encoder.medians {
        let medians = graph.numbers("medians", &[1, p], &medians.values);
        out = graph.node("Where", &[&missing, &medians, &out]);
    }
    if indicates_any {
        let indicates = graph.flags("indicates", &[1, p], &indicates);
        let ones = graph.cast(&missing, graph.precision.into());
        out = graph.node("Where", &[&indicates, &ones, &out]);
    }
    out
}

/// Features of encoded rows, in the precision of the graph. Where float32 is not precise enough for them they are computed in
/// float64 and rounded, as [`FeatureMap::transform_f32_into`] does.
fn features(graph: &mut Graph, map: &FeatureMap, x: &str) -> Result<Value> {
    let unit = map.scaling.as_ref().is_some_and(|scaling| scaling.unit);
    kernels::check(map.expansion.kernel, &map.expansion.landmarks, unit)?;
    let asked = graph.precision;
    let rounds = asked == Precision::Single && !is_precise(map);
    let mut x = x.to_string();
    if rounds {
        x = graph.cast(&x, Element::Double);
        graph.precision = Precision::Double;
    }
    if let Some(scaling) = &map.scaling {
        x = scaled(graph, scaling, &x);
    }
    let expansion = &map.expansion;
    let k = kernel_values(graph, expansion.kernel, &expansion.landmarks, &x);
    let (q, l) = (expansion.matrix.nrows(), expansion.matrix.ncols());
    let matrix: Vec<f64> =
        (0..q).flat_map(|i| (0..l).map(move |j| (i, j))).map(|at| expansion.matrix[at]).collect();
    let matrix = graph.numbers("matrix", &[q, l], &matrix);
    let offset = expansion.offset.iter().any(|b| *b != 0.0).then(|| {
        let minus: Vec<f64> = expansion.offset.iter().map(|b| -b).collect();
        graph.numbers("offset", &[1, q], &minus)
    });
    let mut z = graph.product(&k, &matrix, offset.as_deref(), 1.0);
    if rounds {
        graph.precision = asked;
        z = graph.cast(&z, asked.into());
    }
    Ok(z)
}

/// Whether a map may be computed in float32.
fn is_precise(map: &FeatureMap) -> bool {
    let fits = |v: &f64| v.abs() <= F32_RANGE && (*v == 0.0 || v.abs() >= 1.0 / F32_RANGE);
    let scales = map.scaling.iter().flat_map(|scaling| scaling.center.iter().chain(&scaling.factor));
    scales.into_iter().all(fits) && map.expansion.precision() == Precision::Single
}

/// (x − center)·factor, rows divided by their length before that if the scaling does so.
fn scaled(graph: &mut Graph, scaling: &Scaling, x: &str) -> Value {
    let mut x = if scaling.unit { unit_rows(graph, x) } else { x.to_string() };
    x = minus(graph, &x, &scaling.center);
    if scaling.factor.iter().any(|f| *f != 1.0) {
        let factor = graph.numbers("factor", &[1, scaling.factor.len()], &scaling.factor);
        x = graph.node("Mul", &[&x, &factor]);
    }
    x
}

/// Label and probabilities of every row, or its number.
fn predictions(graph: &mut Graph, export: &Export, predictor: &Predictor, x: &str) -> Result<()> {
    let element = export.precision.into();
    let members: Vec<Value> =
        predictor.members.iter().map(|member| features(graph, member, x)).collect::<Result<_>>()?;
    let mut scores = members[0].clone();
    for member in &members[1..] {
        scores = graph.node("Add", &[&scores, member]);
    }
    if members.len() > 1 {
        let share = graph.number(1.0 / members.len() as f64);
        scores = graph.node("Mul", &[&scores, &share]);
    }
    let Some(known) = &predictor.classes else {
        if export.classes.is_some() {
            return Err(Error::argument("classes were given, but the model predicts numbers"));
        }
        let targets = predictor.members.first().map_or(1, FeatureMap::n_features);
        graph.output(&scores, "variable", element, &[Dim::Rows, Dim::Fixed(targets)]);
        return Ok(());
    };
    let c = known.len();
    let texts: Vec<String>;
    let mut integers = None;
    match &export.classes {
        None => texts = known.clone(),
        Some(classes) => {
            let order = order(known, classes)?;
            if !order.iter().copied().eq(0..c) {
                let order = graph.places("order", &order);
                scores = graph.gather(&scores, &order, 1);
            }
            texts = classes.iter().map(|class| class.name.clone()).collect();
            integers = classes.iter().map(|class| class.integer).collect::<Option<Vec<i64>>>();
        }
    }
    let axis = || Attribute::Int("axis", 1);
    let best = graph.node_with("ArgMax", &[&scores], &[axis(), Attribute::Int("keepdims", 0)]);
    let (labels, label) = match integers {
        Some(integers) => (graph.integers("classes", &[c], &integers), Element::Int64),
        None => (graph.texts("classes", &texts), Element::Text),
    };
    let labels = graph.gather(&labels, &best, 0);
    let sharpness = graph.number(predictor.sharpness);
    let sharp = graph.node("Mul", &[&scores, &sharpness]);
    let probabilities = graph.node_with("Softmax", &[&sharp], &[axis()]);
    graph.output(&labels, "label", label, &[Dim::Rows]);
    graph.output(&probabilities, "probabilities", element, &[Dim::Rows, Dim::Fixed(c)]);
    Ok(())
}

/// The place of each of the classes asked for among those that the model knows.
fn order(known: &[String], asked: &[super::Class]) -> Result<Vec<usize>> {
    let place = |class: &super::Class| known.iter().position(|name| *name == class.name);
    let mut places: Vec<usize> = asked.iter().filter_map(place).collect();
    let order = places.clone();
    places.sort_unstable();
    places.dedup();
    if asked.len() != known.len() || places.len() != known.len() {
        return Err(Error::argument(format!(
            "the classes must be the {} of the model, each once: {}",
            known.len(),
            known.join(", ")
        )));
    }
    Ok(order)
}
