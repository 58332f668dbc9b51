//! What a method and its parameters are called, may be and default to.
//!
//! Each method's file holds one [`MethodSpec`]: its name, its source, its cost, and its parameters with their defaults. All
//! that names methods elsewhere is made from these: the lists in [`methods`](crate::methods), the command line's flags,
//! Python's parameter checks, the tables in the docs. A default stands there and nowhere else: `Default` of a method's
//! struct reads it, too.
//!
//! Settings come as text from outside. [`Values`] checks them once, and the method's struct is made of what it holds.

use crate::error::{Error, Result};

/// The stage of the pipeline that a method belongs to.
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
pub struct MethodSpec {
    /// Its name in Rust, Python and the command line.
    pub name: &'static str,
    /// Where it stands in the pipeline.
    pub stage: Stage,
    /// The file of the library that holds it.
    pub file: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it costs: n rows, m components.
    pub cost: &'static str,
    /// Its parameters; a system and an extractor also have those of their basis, and `eks` those of its selector.
    pub parameters: &'static [Parameter],
    /// One line.
    pub help: &'static str,
}

impl MethodSpec {
    /// Its parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether it has a parameter of this name.
    pub fn has(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }
}

/// A parameter of a method.
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

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number of at least `least`.
    Whole {
        /// The smallest allowed.
        least: u64,
    },
    /// A whole number of at least `least`, or one of these words.
    WholeOr {
        /// The smallest allowed.
        least: u64,
        /// What else it may be.
        words: &'static [&'static str],
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
    /// One of these words, or a text with a reader of its own.
    ChoiceOr {
        /// The words.
        words: &'static [&'static str],
        /// What else it may be, in words.
        other: &'static str,
        /// An error unless the text can be read.
        check: fn(&str) -> Result<()>,
    },
    /// A number above 0 or one of these words.
    NumberOr(&'static [&'static str]),
    /// Text with a reader of its own.
    Text {
        /// What the catalogue calls this kind.
        name: &'static str,
        /// What it may be, in words.
        allowed: &'static str,
        /// An error unless the text can be read.
        check: fn(&str) -> Result<()>,
    },
    /// Yes or no.
    Flag,
    /// Yes, no or one of these words.
    FlagOr(&'static [&'static str]),
}

impl Parameter {
    /// A parameter without a default.
    pub const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, kind, default: None, none: None, help }
    }

    /// A whole number of at least `least`.
    pub const fn whole(name: &'static str, least: u64, help: &'static str) -> Self {
        Self::new(name, Kind::Whole { least }, help)
    }

    /// A number of at least 0.
    pub const fn not_negative(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Number { from: 0.0, to: f64::INFINITY, open: false, below: true }, help)
    }

    /// A number above 0.
    pub const fn positive(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Number { from: 0.0, to: f64::INFINITY, open: true, below: true }, help)
    }

    /// A number between 0 and 1; `open` leaves 0 out, `below` 1.
    pub const fn share(name: &'static str, open: bool, below: bool, help: &'static str) -> Self {
        Self::new(name, Kind::Number { from: 0.0, to: 1.0, open, below }, help)
    }

    /// This parameter with a default.
    pub const fn default(self, text: &'static str) -> Self {
        Self { default: Some(text), none: None, ..self }
    }

    /// This parameter without a default, and what it means to leave it out.
    pub const fn none(self, meaning: &'static str) -> Self {
        Self { default: None, none: Some(meaning), ..self }
    }

    /// This parameter with another line of help.
    pub const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

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
            Kind::WholeOr { least, words } => match text.parse::<u64>() {
                _ if words.contains(&text) => Ok(()),
                Ok(value) if value >= least => Ok(()),
                _ => refuse(format!("a whole number of at least {least}, or {}", words.join(", "))),
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
            Kind::ChoiceOr { check, .. } => check(text),
            Kind::NumberOr(words) => match text.parse::<f64>() {
                _ if words.contains(&text) => Ok(()),
                Ok(value) if value > 0.0 && value.is_finite() => Ok(()),
                _ => refuse(format!("a number above 0 or one of {}", words.join(", "))),
            },
            Kind::Text { check, .. } => check(text),
            Kind::Flag | Kind::FlagOr(_) if text == "true" || text == "false" => Ok(()),
            Kind::FlagOr(words) if words.contains(&text) => Ok(()),
            Kind::FlagOr(words) => refuse(format!("true, false or {}", words.join(", "))),
            Kind::Flag => refuse("true or false".into()),
        }
    }

    /// Words that it may be; none where it is a number or text with a reader of its own.
    pub fn words(&self) -> Vec<&'static str> {
        match self.kind {
            Kind::Choice(words)
            | Kind::ChoiceOr { words, .. }
            | Kind::NumberOr(words)
            | Kind::WholeOr { words, .. } => words.to_vec(),
            Kind::Flag => vec!["true", "false"],
            Kind::FlagOr(words) => [&["true", "false"], words].concat(),
            Kind::Whole { .. } | Kind::Number { .. } | Kind::Text { .. } => Vec::new(),
        }
    }

    /// What the parameter may be, in words.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Whole { least } => format!("a whole number ≥ {least}"),
            Kind::WholeOr { least, words } => format!("a whole number ≥ {least} | {}", words.join(" | ")),
            Kind::Number { from, to, open, below } => range_text(from, to, open, below),
            Kind::Choice(words) => words.join(" | "),
            Kind::ChoiceOr { words, other, .. } => format!("{} | {other}", words.join(" | ")),
            Kind::NumberOr(words) => format!("a number > 0 | {}", words.join(" | ")),
            Kind::Text { allowed, .. } => allowed.into(),
            Kind::Flag => "true | false".into(),
            Kind::FlagOr(words) => format!("true | false | {}", words.join(" | ")),
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

/// Seed of every random choice.
pub const SEED: Parameter = Parameter::whole("seed", 0, "seed of every random choice").default("0");

/// Neighbours that a row is compared with; each method has a default of its own.
pub const N_NEIGHBORS: Parameter =
    Parameter::whole("n_neighbors", 1, "neighbours that a row is compared with");

/// The parameters of a method and of its parts, each once. The size of an extractor's basis is `basis_components`, never
/// `n_components`, which is the number of features.
pub fn parameters_of(specs: &[&'static MethodSpec]) -> Vec<&'static Parameter> {
    let mut known: Vec<&'static Parameter> = Vec::new();
    for (at, spec) in specs.iter().enumerate() {
        for parameter in spec.parameters {
            let size = at > 0 && specs[0].stage == Stage::Extract && parameter.name == "n_components";
            if !size && known.iter().all(|other| other.name != parameter.name) {
                known.push(parameter);
            }
        }
    }
    known
}

/// A method in the registry: its spec, and how it is made from settings that were checked.
pub(crate) type Registered<T> = (&'static MethodSpec, fn(&Values) -> T);

/// A struct of settings that is made from text that was checked.
pub(crate) trait FromValues {
    /// The settings, each as it was given or at its default.
    fn from_values(values: &Values) -> Self;
}

/// Settings that were checked, with the defaults of one or more methods behind them.
///
/// Of a parameter that several of the methods have, the first one's counts.
pub struct Values<'a> {
    specs: Vec<&'static MethodSpec>,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Values<'a> {
    /// Nothing but a method's defaults.
    pub fn defaults(spec: &'static MethodSpec) -> Self {
        Self { specs: vec![spec], given: Vec::new() }
    }

    /// An error unless every setting is a parameter of one of these methods and has a value that it may have. The first
    /// method is the one asked for, the others are its parts.
    pub fn new<S: AsRef<str>>(specs: &[&'static MethodSpec], settings: &'a [(S, S)]) -> Result<Self> {
        let given: Vec<(&str, &str)> = settings.iter().map(|(n, v)| (n.as_ref(), v.as_ref())).collect();
        let known = parameters_of(specs);
        for &(name, text) in &given {
            let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
                let names: Vec<String> = specs.iter().map(|spec| format!("`{}`", spec.name)).collect();
                let known: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
                return Err(Error::argument(format!(
                    "`{name}` is not a parameter of {}; it has {}",
                    names.join(", ").replacen(", ", " with ", 1),
                    known.join(", ")
                )));
            };
            parameter.check(text)?;
        }
        Ok(Self { specs: specs.to_vec(), given })
    }

    /// A setting, if it was given.
    pub fn given(&self, name: &str) -> Option<&'a str> {
        self.given.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    /// What was given, else the default.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let default = || self.specs.iter().find_map(|spec| spec.parameter(name)).and_then(|p| p.default);
        self.given(name).or_else(default)
    }

    /// A number; None where the parameter has none.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.read(name)
    }

    /// A count; None where the parameter has none.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.read(name)
    }

    /// A seed; 0 for methods without one.
    pub fn seed(&self) -> u64 {
        self.read("seed").unwrap_or(0)
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// Every text was checked or is a default, which a test reads for every method: nothing falls back in silence.
    fn read<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        let text = self.text(name)?;
        Some(text.parse().unwrap_or_else(|_| unreachable!("{name} = {text} was checked")))
    }
}
