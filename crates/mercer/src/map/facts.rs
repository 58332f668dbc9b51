//! What a model remembers of how it was made.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::basis::{Precision, Stop};

/// What a model remembers of how it was made; None or empty: it does not apply, or nobody said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Number of training rows.
    pub rows: Option<usize>,
    /// Mean squared residual over mean k(x,x) of the basis, on the training rows.
    pub residual: Option<f64>,
    /// Kernel values that the fit of the basis computed.
    pub kernel_evaluations: Option<u64>,
    /// What the training rows' coordinates were computed in, where that was float32.
    pub precision: Option<Precision>,
    /// The largest rounding error that was found in a coordinate, where they were float32.
    pub rounding_error: Option<f64>,
    /// What ended the basis.
    pub stopped_by: Option<Stop>,
    /// The basis below a selector or an extractor.
    pub basis: Option<String>,
    /// Number of the basis' coordinates.
    pub coordinates: Option<usize>,
    /// Share of what an extractor maximises that each feature holds.
    pub explained: Vec<f64>,
    /// `skfe`: the alignment after each step, the start first.
    pub alignment_path: Vec<f64>,
    /// What scored the coordinates.
    pub selector: Option<String>,
    /// Whether features are multiplied by their weights.
    pub weighted: Option<bool>,
    /// `lasso`: the penalty that cross-validation chose.
    pub penalty: Option<f64>,
    /// `kffs`: share of training rows that the ensemble gets wrong after each round.
    pub error_path: Vec<f64>,
    /// The file that the training rows came from.
    pub source: Option<String>,
    /// How the inputs were scaled.
    pub scale: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// Settings that were given, by name.
    pub settings: BTreeMap<String, String>,
    /// Name of the target column.
    pub target: Option<String>,
    /// What the target held: classes or numbers.
    pub task: Option<String>,
}

impl Facts {
    /// The facts as a JSON object, as a model file holds them.
    ///
    /// ```
    /// use mercer::map::Facts;
    ///
    /// let facts = Facts { rows: Some(10), ..Facts::default() };
    /// assert_eq!(facts.to_json(), r#"{"rows":10}"#);
    /// ```
    pub fn to_json(&self) -> String {
        Value::Object(self.to_map()).to_string()
    }

    pub(super) fn to_map(&self) -> Map<String, Value> {
        let list = |values: &Vec<f64>| (!values.is_empty()).then(|| values.clone().into());
        let settings = self.settings.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        let settings: Map<String, Value> = settings.collect();
        let all: [(&str, Option<Value>); 20] = [
            ("rows", self.rows.map(Value::from)),
            ("residual", self.residual.map(Value::from)),
            ("kernel_evaluations", self.kernel_evaluations.map(Value::from)),
            ("precision", self.precision.map(|precision| precision.name().into())),
            ("rounding_error", self.rounding_error.map(Value::from)),
            ("stopped_by", self.stopped_by.map(|stop| stop.name().into())),
            ("basis", self.basis.clone().map(Value::from)),
            ("coordinates", self.coordinates.map(Value::from)),
            ("explained", list(&self.explained)),
            ("alignment_path", list(&self.alignment_path)),
            ("selector", self.selector.clone().map(Value::from)),
            ("weighted", self.weighted.map(Value::from)),
            ("penalty", self.penalty.map(Value::from)),
            ("error_path", list(&self.error_path)),
            ("source", self.source.clone().map(Value::from)),
            ("scale", self.scale.clone().map(Value::from)),
            ("seed", self.seed.map(Value::from)),
            ("settings", (!settings.is_empty()).then_some(Value::Object(settings))),
            ("target", self.target.clone().map(Value::from)),
            ("task", self.task.clone().map(Value::from)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
    }

    /// What a file's header tells; what it tells beyond that, or wrongly, is passed over.
    pub(super) fn from_map(map: &Map<String, Value>) -> Self {
        let number = |name: &str| map.get(name).and_then(Value::as_f64);
        let whole = |name: &str| map.get(name).and_then(Value::as_u64);
        let text = |name: &str| map.get(name).and_then(Value::as_str).map(String::from);
        let list = |name: &str| {
            let values = map.get(name).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(Value::as_f64).collect()
        };
        let settings = map.get("settings").and_then(Value::as_object).into_iter().flatten();
        Self {
            rows: whole("rows").map(|rows| rows as usize),
            residual: number("residual"),
            kernel_evaluations: whole("kernel_evaluations"),
            precision: text("precision").and_then(|name| Precision::named(&name).ok()),
            rounding_error: number("rounding_error"),
            stopped_by: text("stopped_by").and_then(|name| Stop::named(&name)),
            basis: text("basis"),
            coordinates: whole("coordinates").map(|count| count as usize),
            explained: list("explained"),
            alignment_path: list("alignment_path"),
            selector: text("selector"),
            weighted: map.get("weighted").and_then(Value::as_bool),
            penalty: number("penalty"),
            error_path: list("error_path"),
            source: text("source"),
            scale: text("scale"),
            seed: whole("seed"),
            settings: settings
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.into())))
                .collect(),
            target: text("target"),
            task: text("task"),
        }
    }
}
