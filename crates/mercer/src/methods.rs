//! The catalogue: every method and every parameter once. The command line's choices, the Python estimators' checks,
//! the tables in the docs and the tests that visit every method are made from it.

use serde_json::{Value, json};

use crate::basis::{Basis, Method, Threshold};
use crate::error::{Error, Result};
use crate::kernel::{Gamma, Kernel, Shape};

/// The stage of the pipeline that a method is the heart of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Coordinates of the kernel's space.
    Basis,
}

impl Stage {
    /// The stage's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basis => "basis",
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
    /// Where it comes from.
    pub source: &'static str,
    /// What it costs: n rows, m components.
    pub cost: &'static str,
    /// Its parameters, by name.
    pub parameters: &'static [&'static str],
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

const ANY: f64 = f64::INFINITY;

/// Every parameter.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "kernel",
        kind: Kind::Choice(&Shape::NAMES),
        default: Some("rbf"),
        none: None,
        help: "the kernel",
    },
    Parameter {
        name: "gamma",
        kind: Kind::NumberOr(&Gamma::RULES),
        default: Some("scale"),
        none: None,
        help: "its width γ, or the rule that finds it; `align` and `loo` look at the labels",
    },
    Parameter {
        name: "degree",
        kind: Kind::Whole { least: 1 },
        default: Some("3"),
        none: None,
        help: "degree of the kernel `poly`",
    },
    Parameter {
        name: "coef0",
        kind: Kind::Number { from: -ANY, to: ANY, open: true, below: true },
        default: Some("1"),
        none: None,
        help: "constant of the kernels `poly` (at least 0) and `sigmoid`",
    },
    Parameter {
        name: "alpha",
        kind: Kind::Number { from: 0.0, to: ANY, open: true, below: true },
        default: Some("1"),
        none: None,
        help: "exponent of the kernel `rq`",
    },
    Parameter {
        name: "n_components",
        kind: Kind::Whole { least: 1 },
        default: None,
        none: Some(
            "kobl, sparse, csi: as many as the rule keeps, at most 1000 beyond 5000 rows; nystrom, rpcholesky: \
             min(n, 1000); gram-schmidt, kpca: all there are",
        ),
        help: "the most components",
    },
    Parameter {
        name: "threshold",
        kind: Kind::Threshold,
        default: Some("linear"),
        none: None,
        help: "f in kobl's stop rule r/r1 < f(j/n): `linear`, a constant in [0, 1] (0: only n_components stops it), \
               or `power:A` for t^A",
    },
    Parameter {
        name: "tol",
        kind: Kind::Number { from: 0.0, to: 1.0, open: false, below: false },
        default: None,
        none: Some("gram-schmidt: 1e-6; kpca: every eigenvalue above 1e-10 of the largest; csi: 1e-4"),
        help: "gram-schmidt: residual norm, relative to sqrt k(x,x), at which a row is skipped; kpca: share of the trace \
               to keep; csi: relative residual at which it stops",
    },
    Parameter {
        name: "nu",
        kind: Kind::Number { from: 0.0, to: 1.0, open: false, below: true },
        default: Some("0.1"),
        none: None,
        help: "sparse: share of k(x,x) that must be new for a row to be kept",
    },
    Parameter {
        name: "center",
        kind: Kind::Flag,
        default: Some("false"),
        none: None,
        help: "kpca: centre in the kernel's space (classical kernel PCA)",
    },
    Parameter {
        name: "seed",
        kind: Kind::Whole { least: 0 },
        default: Some("0"),
        none: None,
        help: "seed of every random choice",
    },
];

const KERNEL: [&str; 5] = ["kernel", "gamma", "degree", "coef0", "alpha"];

/// The kernel's parameters followed by a method's own.
const fn with_kernel<const N: usize, const M: usize>(own: [&'static str; N]) -> [&'static str; M] {
    let mut all = [""; M];
    let mut i = 0;
    while i < M {
        all[i] = if i < KERNEL.len() { KERNEL[i] } else { own[i - KERNEL.len()] };
        i += 1;
    }
    all
}

/// Every method.
pub const METHODS: &[Card] = &[
    Card {
        name: "gram-schmidt",
        stage: Stage::Basis,
        source: "EKS, Alg. 1; K-Relief, 3",
        cost: "n·m² flops, m² memory",
        parameters: &with_kernel::<3, 8>(["n_components", "tol", "seed"]),
        help: "rows in their own order, orthogonalised twice",
    },
    Card {
        name: "kobl",
        stage: Stage::Basis,
        source: "TAKES, 3.1",
        cost: "n·m² flops, n·m kernel values",
        parameters: &with_kernel::<3, 8>(["n_components", "threshold", "seed"]),
        help: "the row farthest from the span so far, until what is left is small for the number taken",
    },
    Card {
        name: "sparse",
        stage: Stage::Basis,
        source: "SK-Relief, 4",
        cost: "n·m² flops, n·m kernel values",
        parameters: &with_kernel::<3, 8>(["n_components", "nu", "seed"]),
        help: "rows in random order that the ones kept before do not nearly span",
    },
    Card {
        name: "kpca",
        stage: Stage::Basis,
        source: "KLFE, 4.3; Schölkopf, Smola & Müller 1998",
        cost: "n² kernel values; n³ flops for all, n²·m for a few",
        parameters: &with_kernel::<4, 9>(["n_components", "tol", "center", "seed"]),
        help: "principal components in the kernel's space",
    },
    Card {
        name: "nystrom",
        stage: Stage::Basis,
        source: "Williams & Seeger 2001",
        cost: "n·m² flops, n·m kernel values",
        parameters: &with_kernel::<2, 7>(["n_components", "seed"]),
        help: "rows drawn uniformly",
    },
    Card {
        name: "rpcholesky",
        stage: Stage::Basis,
        source: "Chen, Epperly, Tropp & Webber 2022",
        cost: "n·m² flops, n·m kernel values",
        parameters: &with_kernel::<2, 7>(["n_components", "seed"]),
        help: "rows drawn in proportion to their squared distance from the span so far",
    },
    Card {
        name: "csi",
        stage: Stage::Basis,
        source: "Bach & Jordan 2005",
        cost: "80·n·m² flops, n·m kernel values",
        parameters: &with_kernel::<3, 8>(["n_components", "tol", "seed"]),
        help: "rows that explain the kernel and the labels; needs labels",
    },
];

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
    let card = method(name)?;
    let value = |wanted: &str| -> Option<&str> {
        let given = settings.iter().find(|(n, _)| n.as_ref() == wanted).map(|(_, v)| v.as_ref());
        given.or_else(|| PARAMETERS.iter().find(|p| p.name == wanted).and_then(|p| p.default))
    };
    for (name, text) in settings {
        let (name, text) = (name.as_ref(), text.as_ref());
        let parameter = parameter(name)?;
        if !card.parameters.contains(&name) {
            return Err(Error::argument(format!(
                "`{name}` is not a parameter of `{}`; it has {}",
                card.name,
                card.parameters.join(", ")
            )));
        }
        parameter.check(text)?;
    }
    // Every text was checked above or is a default, so nothing below falls back in silence.
    let number = |name: &str| value(name).and_then(|v| v.parse::<f64>().ok());
    let whole = |name: &str| value(name).and_then(|v| v.parse::<u64>().ok());
    let degree =
        u32::try_from(whole("degree").unwrap_or(3)).map_err(|_| Error::argument("degree is too large"))?;
    let shape = Shape::named(
        value("kernel").unwrap_or("rbf"),
        degree,
        number("coef0").unwrap_or(1.0),
        number("alpha").unwrap_or(1.0),
    )?;
    let mut basis = Basis::new(Method::named(name)?, Kernel { shape, gamma: 1.0 });
    basis.gamma = value("gamma").unwrap_or("scale").parse()?;
    basis.n_components = whole("n_components").map(|m| m as usize);
    basis.threshold = threshold(value("threshold").unwrap_or("linear"))?;
    basis.tol = number("tol");
    basis.nu = number("nu").unwrap_or(0.1);
    basis.center = value("center") == Some("true");
    basis.seed = whole("seed").unwrap_or(0);
    Ok(basis)
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
        Kind::Flag => json!({ "kind": "flag" }),
    };
    let methods: Vec<Value> = METHODS
        .iter()
        .map(|c| {
            json!({ "name": c.name, "stage": c.stage.name(), "source": c.source, "cost": c.cost,
                    "parameters": c.parameters, "help": c.help })
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
