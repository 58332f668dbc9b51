//! What a model remembers of how it was made.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::basis::{Precision, Stop};

/// What a feature is multiplied by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighting {
    /// Nothing.
    #[default]
    None,
    /// Its weight w.
    Weight,
    /// √w, so that inner products of the features are K_w(x, x') = Σ w φ(x)φ(x').
    SquareRoot,
}

impl Weighting {
    /// All choices by the value of the parameter `weighted`.
    pub const NAMES: [(&'static str, Self); 3] =
        [("false", Self::None), ("true", Self::Weight), ("sqrt", Self::SquareRoot)];

    /// The value of the parameter `weighted` that stands for it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, weighting)| *weighting == self).map_or("", |(name, _)| name)
    }

    /// The choice with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, weighting)| *weighting)
    }

    /// What a feature of weight w is multiplied by; weights are not negative.
    ///
    /// ```
    /// use mercer::map::Weighting;
    ///
    /// assert_eq!(Weighting::NAMES.map(|(_, weighting)| weighting.factor(0.25)), [1.0, 0.25, 0.5]);
    /// ```
    pub fn factor(self, weight: f64) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Weight => weight,
            Self::SquareRoot => weight.max(0.0).sqrt(),
        }
    }

    /// As a file holds it: files of older versions know true and false alone.
    fn to_json(self) -> Value {
        match self {
            Self::None => false.into(),
            Self::Weight => true.into(),
            Self::SquareRoot => self.name().into(),
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_bool().map(Self::from).or_else(|| value.as_str().and_then(Self::named))
    }
}

impl From<bool> for Weighting {
    fn from(weighted: bool) -> Self {
        if weighted { Self::Weight } else { Self::None }
    }
}

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
    /// Whether landmarks were chosen from rows that were given, so that they are no training rows.
    pub landmarks_given: Option<bool>,
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
    /// What features are multiplied by.
    pub weighted: Option<Weighting>,
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
        let all: [(&str, Option<Value>); 21] = [
            ("rows", self.rows.map(Value::from)),
            ("residual", self.residual.map(Value::from)),
            ("kernel_evaluations", self.kernel_evaluations.map(Value::from)),
            ("precision", self.precision.map(|precision| precision.name().into())),
            ("rounding_error", self.rounding_error.map(Value::from)),
            ("stopped_by", self.stopped_by.map(|stop| stop.name().into())),
            ("landmarks_given", self.landmarks_given.map(Value::from)),
            ("basis", self.basis.clone().map(Value::from)),
            ("coordinates", self.coordinates.map(Value::from)),
            ("explained", list(&self.explained)),
            ("alignment_path", list(&self.alignment_path)),
            ("selector", self.selector.clone().map(Value::from)),
            ("weighted", self.weighted.map(Weighting::to_json)),
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
            landmarks_given: map.get("landmarks_given").and_then(Value::as_bool),
            basis: text("basis"),
            coordinates: whole("coordinates").map(|count| count as usize),
            explained: list("explained"),
            alignment_path: list("alignment_path"),
            selector: text("selector"),
            weighted: map.get("weighted").and_then(Weighting::from_json),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_features_are_multiplied_by_is_read_from_old_and_new_files() {
        for (written, read) in [
            ("true", Some(Weighting::Weight)),
            ("false", Some(Weighting::None)),
            (r#""sqrt""#, Some(Weighting::SquareRoot)),
            (r#""cubic""#, None),
            ("3", None),
        ] {
            let map = serde_json::from_str(&format!(r#"{{"weighted":{written}}}"#)).expect("JSON");
            let facts = Facts::from_map(&map);
            assert_eq!(facts.weighted, read);
            if read.is_some() {
                assert_eq!(facts.to_json(), format!(r#"{{"weighted":{written}}}"#));
            }
        }
    }
}
