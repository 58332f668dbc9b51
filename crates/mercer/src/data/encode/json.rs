//! An encoder as JSON, as a model file holds it, and back, doubting every part of it.

use serde_json::{Value, json};

use super::{DatePart, EncodedColumn, Encoder, Encoding, Medians};

impl Encoder {
    /// The encoder as JSON text.
    ///
    /// ```
    /// use mercer::data::encode::{EncodeSettings, Encoder, RawTable, RawValues};
    ///
    /// let mut train = RawTable::new(&["size"], None);
    /// train.push(vec![RawValues::Numbers(vec![1.0, f64::NAN])])?;
    /// let (encoder, _) = Encoder::learn(&train.finish()?, &EncodeSettings::default())?;
    /// assert_eq!(Encoder::from_json(&encoder.to_json())?, encoder);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// The encoder that [`to_json`](Self::to_json) wrote.
    pub fn from_json(text: &str) -> crate::error::Result<Self> {
        let value = serde_json::from_str(text).map_err(|e| e.to_string());
        value
            .and_then(|value: Value| Self::from_value(&value))
            .map_err(|reason| crate::error::Error::data(format!("this is no encoder: {reason}")))
    }

    pub(crate) fn to_value(&self) -> Value {
        let column = |column: &EncodedColumn| {
            let mut value = match &column.encoding {
                Encoding::Number { .. } => json!({ "as": "number" }),
                Encoding::Boolean { .. } => json!({ "as": "boolean" }),
                Encoding::Date { parts, .. } => {
                    json!({ "as": "date", "parts": parts.iter().map(|part| part.name()).collect::<Vec<_>>() })
                }
                Encoding::Category { values, .. } => json!({ "as": "category", "values": values }),
                Encoding::Dropped { why } => json!({ "as": "dropped", "why": why }),
            };
            value["name"] = json!(column.name);
            if column.indicator() {
                value["missing"] = json!(true);
            }
            value
        };
        json!({
            "by_place": self.by_place,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "medians": self.medians.as_ref().map(|medians| &medians.values),
        })
    }

    /// What a file tells, or what is wrong with it.
    pub(crate) fn from_value(value: &Value) -> std::result::Result<Self, String> {
        let columns = value.get("columns").and_then(Value::as_array).ok_or("the encoder has no columns")?;
        let columns = columns.iter().map(column).collect::<std::result::Result<Vec<_>, _>>()?;
        let medians = match value.get("medians") {
            None | Some(Value::Null) => None,
            Some(values) => {
                let numbers = values.as_array().map(|values| values.iter().map(Value::as_f64));
                let numbers: Option<Vec<f64>> = numbers.and_then(Iterator::collect);
                Some(Medians { values: numbers.ok_or("the encoder's medians are no numbers")? })
            }
        };
        let by_place = value.get("by_place").and_then(Value::as_bool).unwrap_or_default();
        let encoder = Self { columns, by_place, medians };
        let outputs = encoder.names().len();
        match &encoder.medians {
            _ if outputs == 0 => Err("the encoder makes no columns".into()),
            Some(medians) if medians.values.len() != outputs => {
                Err(format!("the encoder has {} medians for {outputs} columns", medians.values.len()))
            }
            _ => Ok(encoder),
        }
    }
}

fn column(value: &Value) -> std::result::Result<EncodedColumn, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(String::from);
    let texts = |key: &str| -> Option<Vec<String>> {
        value.get(key)?.as_array()?.iter().map(|v| v.as_str().map(String::from)).collect()
    };
    let name = text("name").ok_or("a column of the encoder has no name")?;
    let indicator = value.get("missing").and_then(Value::as_bool).unwrap_or_default();
    let encoding = match text("as").as_deref() {
        Some("number") => Some(Encoding::Number { indicator }),
        Some("boolean") => Some(Encoding::Boolean { indicator }),
        Some("date") => texts("parts").and_then(|parts| {
            let part = |name: &String| DatePart::ALL.into_iter().find(|part| part.name() == name);
            Some(Encoding::Date { parts: parts.iter().map(part).collect::<Option<_>>()?, indicator })
        }),
        Some("category") => texts("values").map(|values| Encoding::Category { values, indicator }),
        Some("dropped") => text("why").map(|why| Encoding::Dropped { why }),
        _ => None,
    };
    let encoding = encoding.ok_or_else(|| format!("column `{name}` of the encoder is damaged"))?;
    Ok(EncodedColumn { name, encoding })
}
