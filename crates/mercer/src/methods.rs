//! The catalogue: every method and every parameter once. The command line's choices, the Python estimators' checks,
//! the tables in the docs and the tests that visit every method are made from it.

mod cards;
mod parameters;
mod parts;
mod values;

use serde_json::{Value, json};

pub use cards::METHODS;
pub use parameters::PARAMETERS;
pub use parts::{extractor, extractor_basis, limits, parameters_of, system, system_basis};

use crate::basis::{Basis, Method, Threshold};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Precision, Shape};
use crate::select::{Keep, Selector};
use parts::selector_card;
use values::Values;

/// The seven bases.
pub const BASES: [&str; 7] = ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "csi"];

/// The selectors.
pub const SELECTORS: [&str; 13] = [
    "relief",
    "relieff",
    "rrelieff",
    "irelief",
    "multisurf",
    "kffs",
    "f",
    "fpr",
    "fdr",
    "fwe",
    "mi",
    "laplacian",
    "lasso",
];

/// The extractors that have a card; `kpca` has that of the basis.
pub const EXTRACTORS: [&str; 8] = ["klfe", "skfe", "gda", "koc", "akda-qr", "kpls", "kmfa", "kanmm"];

/// The stage of the pipeline that a method is the heart of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Coordinates of the kernel's space.
    Basis,
    /// Scores of columns.
    Select,
    /// Directions in a basis' coordinates.
    Extract,
    /// A basis and a selector.
    System,
}

impl Stage {
    /// The stage's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basis => "basis",
            Self::Select => "select",
            Self::Extract => "extract",
            Self::System => "system",
        }
    }
}

/// What a user should know about a method.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Its name in every face.
    pub name: &'static str,
    /// Where it stands in the pipeline.
    pub stage: Stage,
    /// The file of the library that holds it.
    pub file: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it costs: n rows, m components.
    pub cost: &'static str,
    /// Its parameters, by name; a system and an extractor also have those of their basis, and `eks` those of its selector.
    pub parameters: &'static [&'static str],
    /// What a parameter is when not given, where that is this method's own affair.
    pub defaults: &'static [(&'static str, &'static str)],
    /// One line.
    pub help: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number of at least `least`.
    Whole {
        /// The smallest allowed.
        least: u64,
    },
    /// A number between two others; `open` leaves the lower one out, `below` the upper one.
    Number {
        /// Lower end.
        from: f64,
        /// Upper end.
        to: f64,
        /// Whether the lower end itself is not allowed.
        open: bool,
        /// Whether the upper end itself is not allowed.
        below: bool,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A number above 0 or one of these words.
    NumberOr(&'static [&'static str]),
    /// `linear`, a number in [0, 1], or `power:A`.
    Threshold,
    /// A whole number of at least 1, a share in (0, 1] with a decimal point, `positive` or `all`.
    Keep,
    /// Yes or no.
    Flag,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name; the command line writes `-` for `_`.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is when not given, as text; None: see `none`.
    pub default: Option<&'static str>,
    /// What it means when it has no value.
    pub none: Option<&'static str>,
    /// One line.
    pub help: &'static str,
}

/// The card of a method, or an error that lists them all.
pub fn method(name: &str) -> Result<&'static Card> {
    METHODS.iter().find(|card| card.name == name).ok_or_else(|| {
        let names: Vec<&str> = METHODS.iter().map(|card| card.name).collect();
        Error::argument(format!("method = `{name}` is not known; use one of {}", names.join(", ")))
    })
}

/// A parameter by name, or an error that lists them all.
pub fn parameter(name: &str) -> Result<&'static Parameter> {
    PARAMETERS.iter().find(|p| p.name == name).ok_or_else(|| {
        let names: Vec<&str> = PARAMETERS.iter().map(|p| p.name).collect();
        Error::argument(format!("`{name}` is not a parameter; use one of {}", names.join(", ")))
    })
}

impl Parameter {
    /// An error unless the text is a value that the parameter may have.
    pub fn check(&self, text: &str) -> Result<()> {
        let refuse = |allowed: String| {
            Err(Error::argument(format!("{} = {text}, but it must be {allowed}", self.name)))
        };
        match self.kind {
            Kind::Whole { least } => match text.parse::<u64>() {
                Ok(value) if value >= least => Ok(()),
                _ => refuse(format!("a whole number of at least {least}")),
            },
            Kind::Number { from, to, open, below } => {
                let fits = |v: f64| {
                    (if open { v > from } else { v >= from }) && (if below { v < to } else { v <= to })
                };
                match text.parse::<f64>() {
                    Ok(value) if fits(value) => Ok(()),
                    _ => refuse(range_text(from, to, open, below)),
                }
            }
            Kind::Choice(words) if words.contains(&text) => Ok(()),
            Kind::Choice(words) => refuse(format!("one of {}", words.join(", "))),
            Kind::NumberOr(words) => match text.parse::<f64>() {
                _ if words.contains(&text) => Ok(()),
                Ok(value) if value > 0.0 && value.is_finite() => Ok(()),
                _ => refuse(format!("a number above 0 or one of {}", words.join(", "))),
            },
            Kind::Threshold => threshold(text).map(|_| ()),
            Kind::Keep => text.parse::<Keep>().map(|_| ()),
            Kind::Flag if text == "true" || text == "false" => Ok(()),
            Kind::Flag => refuse("true or false".into()),
        }
    }

    /// What the parameter may be, in words.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Whole { least } => format!("a whole number ≥ {least}"),
            Kind::Number { from, to, open, below } => range_text(from, to, open, below),
            Kind::Choice(words) => words.join(" | "),
            Kind::NumberOr(words) => format!("a number > 0 | {}", words.join(" | ")),
            Kind::Threshold => "linear | a number in [0, 1] | power:A".into(),
            Kind::Keep => "a number ≥ 1 | a share in (0, 1.0] | positive | all".into(),
            Kind::Flag => "true | false".into(),
        }
    }
}

fn range_text(from: f64, to: f64, open: bool, below: bool) -> String {
    match (from.is_finite(), to.is_finite()) {
        (false, false) => "a finite number".into(),
        (true, false) => format!("a finite number {} {from}", if open { "above" } else { "of at least" }),
        _ => format!(
            "a number {} {from} and {} {to}",
            if open { "above" } else { "of at least" },
            if below { "below" } else { "at most" }
        ),
    }
}

fn threshold(text: &str) -> Result<Threshold> {
    let refused = || {
        Error::argument(format!(
            "threshold = {text}, but it must be `linear`, a number between 0 and 1, or `power:A` with A above 0"
        ))
    };
    let threshold = match text.strip_prefix("power:") {
        _ if text == "linear" => Threshold::Linear,
        Some(power) => Threshold::Power(power.parse().map_err(|_| refused())?),
        None => Threshold::Constant(text.parse().map_err(|_| refused())?),
    };
    threshold.check().map_err(|_| refused())?;
    Ok(threshold)
}

/// A basis from its name and the settings that differ from the defaults, as text.
///
/// ```
/// let basis = mercer::methods::basis("kobl", &[("gamma", "0.05"), ("n_components", "40")])?;
/// assert_eq!(basis.n_components, Some(40));
/// let wrong = mercer::methods::basis("kobl", &[("nu", "0.2")]).unwrap_err().to_string();
/// assert!(wrong.starts_with("`nu` is not a parameter of `kobl`"));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn basis<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<Basis> {
    Method::named(name)?;
    let value = Values::new(&[method(name)?], settings)?;
    let degree = u32::try_from(value.whole("degree").unwrap_or(3)).unwrap_or(u32::MAX);
    let shape = Shape::named(
        value.text("kernel").unwrap_or("rbf"),
        degree,
        value.number("coef0").unwrap_or(1.0),
        value.number("alpha").unwrap_or(1.0),
    )?;
    let mut basis = Basis::new(Method::named(name)?, Kernel { shape, gamma: 1.0 });
    basis.gamma = value.text("gamma").unwrap_or("scale").parse()?;
    basis.n_components = value.whole("n_components").map(|m| m as usize);
    basis.threshold = threshold(value.text("threshold").unwrap_or("linear"))?;
    basis.tol = value.number("tol");
    basis.nu = value.number("nu").unwrap_or(0.1);
    basis.precision = value.text("precision").map(Precision::named).transpose()?;
    basis.center = value.flag("center");
    basis.seed = value.whole("seed").unwrap_or(0);
    Ok(basis)
}

/// A selector from its name and the settings that differ from the defaults, as text; and how many columns to keep.
///
/// ```
/// use mercer::select::{Keep, Selector};
///
/// let (selector, keep) = mercer::methods::selector("relieff", &[("n_neighbors", "5"), ("n_features", "0.5")])?;
/// assert!(matches!(selector, Selector::ReliefF(s) if s.n_neighbors == 5));
/// assert_eq!(keep, Keep::Share(0.5));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn selector<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<(Selector, Keep)> {
    let card = selector_card(name)?;
    let value = Values::new(&[card], settings)?;
    Ok((value.selector(card)?, value.keep()?))
}

/// The whole catalogue as JSON, for the other faces.
pub fn to_json() -> Value {
    let kind = |kind: Kind| match kind {
        Kind::Whole { least } => json!({ "kind": "whole", "least": least }),
        Kind::Number { from, to, open, below } => {
            let end = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
            json!({ "kind": "number", "from": end(from), "to": end(to), "open": open, "below": below })
        }
        Kind::Choice(words) => json!({ "kind": "choice", "words": words }),
        Kind::NumberOr(words) => json!({ "kind": "number_or", "words": words }),
        Kind::Threshold => json!({ "kind": "threshold" }),
        Kind::Keep => json!({ "kind": "keep" }),
        Kind::Flag => json!({ "kind": "flag" }),
    };
    let methods: Vec<Value> = METHODS
        .iter()
        .map(|c| {
            json!({ "name": c.name, "stage": c.stage.name(), "source": c.source, "cost": c.cost,
                    "parameters": c.parameters, "file": c.file,
                    "defaults": c.defaults.iter().copied().collect::<std::collections::BTreeMap<_, _>>(), "help": c.help })
        })
        .collect();
    let parameters: Vec<Value> = PARAMETERS
        .iter()
        .map(|p| {
            let mut value = kind(p.kind);
            value["name"] = json!(p.name);
            value["default"] = json!(p.default);
            value["none"] = json!(p.none);
            value["help"] = json!(p.help);
            value
        })
        .collect();
    json!({ "methods": methods, "parameters": parameters })
}
