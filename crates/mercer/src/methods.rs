//! The registry: every method once, in the order of the documentation.
//!
//! A method's [`MethodSpec`] stands in its own file, and its stage lists it (`Method::ALL`, `select::ALL`, `extract::ALL`,
//! `systems::ALL`). The command line's choices and flags, Python's parameter checks, the tables in the docs, what `compare`
//! calls "all", and the tests that visit every method are made from these lists.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::basis::{Basis, Method};
use crate::data::table::nearest_name;
use crate::error::{Error, Result};
use crate::extract::{self, Extractor, Queries};
use crate::select::input_weights::InputWeights;
use crate::select::{self, Keep, Selector};
use crate::spec::{FromValues, Registered, Values};
use crate::systems;

pub use crate::spec::{Kind, MethodSpec, Parameter, Stage};

/// Every method: bases, selectors, extractors, systems. Principal components stand among the bases; as an extractor in the
/// coordinates of another basis they have a spec of their own ([`extractor`]).
pub fn all() -> impl Iterator<Item = &'static MethodSpec> {
    let extractors =
        extract::ALL.into_iter().map(|(spec, _)| spec).filter(|spec| Method::named(spec.name).is_err());
    Method::ALL
        .into_iter()
        .map(Method::spec)
        .chain(select::ALL.into_iter().map(|(spec, _)| spec))
        .chain(extractors)
        .chain(systems::ALL)
}

/// The names of the methods of a stage.
///
/// ```
/// use mercer::methods::{self, Stage};
///
/// assert_eq!(methods::names(Stage::System), ["takes", "k-relief", "sk-relief", "eks"]);
/// ```
pub fn names(stage: Stage) -> Vec<&'static str> {
    all().filter(|spec| spec.stage == stage).map(|spec| spec.name).collect()
}

/// A method by name, or an error that lists them all.
pub fn method(name: &str) -> Result<&'static MethodSpec> {
    all().find(|spec| spec.name == name).ok_or_else(|| {
        let names: Vec<&str> = all().map(|spec| spec.name).collect();
        Error::argument(format!("method = `{name}` is not known; use one of {}", names.join(", ")))
    })
}

/// A parameter as several methods have it, with what each of them does without it.
#[derive(Clone, Debug)]
pub struct SharedParameter {
    /// Its name; the command line writes `-` for `_`.
    pub name: &'static str,
    /// The parameter of the first method that has it.
    pub parameter: Parameter,
    /// What it may be, in words; where methods differ, method by method.
    pub allowed: String,
    /// The words that it may be, of all methods.
    pub words: Vec<&'static str>,
    /// What it is when not given, where that is the same for all methods.
    pub default: Option<&'static str>,
    /// What leaving it out means, method by method where they differ; None: it has the same default for all.
    pub none: Option<String>,
    /// One line; where methods differ, line by line.
    pub help: String,
}

/// Every parameter once.
///
/// ```
/// let all = mercer::methods::parameters();
/// let neighbours = all.iter().find(|parameter| parameter.name == "n_neighbors").unwrap();
/// assert!(neighbours.none.as_ref().unwrap().contains("relieff, kanmm: 10"));
/// ```
pub fn parameters() -> Vec<SharedParameter> {
    parameters_among(&all().collect::<Vec<_>>())
}

fn parameters_among(specs: &[&'static MethodSpec]) -> Vec<SharedParameter> {
    let mut names: Vec<&'static str> = Vec::new();
    for parameter in specs.iter().flat_map(|spec| spec.parameters) {
        if !names.contains(&parameter.name) {
            names.push(parameter.name);
        }
    }
    names.into_iter().map(|name| shared(name, specs)).collect()
}

fn shared(name: &'static str, specs: &[&'static MethodSpec]) -> SharedParameter {
    let users: Vec<(&str, &'static Parameter)> =
        specs.iter().filter_map(|spec| Some((spec.name, spec.parameter(name)?))).collect();
    let parameter = *users[0].1;
    let default = parameter.default.filter(|_| users.iter().all(|(_, p)| p.default == parameter.default));
    let without = grouped(users.iter().map(|&(user, p)| (user, p.default.or(p.none).unwrap_or_default())));
    let texts: Vec<(&str, String)> = users.iter().map(|&(user, p)| (user, p.allowed())).collect();
    let mut words: Vec<&'static str> = Vec::new();
    for word in users.iter().flat_map(|(_, p)| p.words()) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    SharedParameter {
        name,
        parameter,
        allowed: grouped(texts.iter().map(|(user, text)| (*user, text.as_str()))),
        words,
        default,
        none: default.is_none().then_some(without),
        help: grouped(users.iter().map(|&(user, p)| (user, p.help))),
    }
}

/// One text, or each text after the methods that it holds for.
fn grouped<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (user, text) in texts {
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, users)) => users.push(user),
            None => groups.push((text, vec![user])),
        }
    }
    if let [(text, _)] = &groups[..] {
        return (*text).to_string();
    }
    let each: Vec<String> =
        groups.iter().map(|(text, users)| format!("{}: {text}", users.join(", "))).collect();
    each.join("; ")
}

/// A parameter by name, or an error that lists them all.
pub fn parameter(name: &str) -> Result<SharedParameter> {
    let all = parameters();
    let names: Vec<&str> = all.iter().map(|p| p.name).collect();
    let unknown = || Error::argument(format!("`{name}` is not a parameter; use one of {}", names.join(", ")));
    all.iter().find(|p| p.name == name).cloned().ok_or_else(unknown)
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
    let method = Method::named(name)?;
    check_names(settings)?;
    Basis::from_values(method, &Values::new(&[method.spec()], settings)?)
}

/// A selector from its name and the settings that differ from the defaults, as text; and how many columns to keep.
///
/// ```
/// use mercer::select::Keep;
///
/// let (selector, keep) = mercer::methods::selector("relieff", &[("n_neighbors", "5"), ("n_features", "0.5")])?;
/// assert_eq!((selector.name(), keep), ("relieff", Keep::Share(0.5)));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn selector<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<(Selector, Keep)> {
    let (spec, build) = selector_entry(name)?;
    check_names(settings)?;
    let values = Values::new(&[spec], settings)?;
    let (selector, keep) = (build(&values), Keep::from_values(&values));
    selector.check_keep(keep)?;
    Ok((selector, keep))
}

/// A selector of input columns, and how many of them to keep: any of the selectors, or `input-weights`, which scores input
/// columns but no coordinates.
///
/// ```
/// let (selector, _) = mercer::methods::column_selector("input-weights", &[("rounds", "2")])?;
/// assert_eq!(selector.name(), "input-weights");
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn column_selector<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<(Selector, Keep)> {
    let entry = column_selectors().find(|(spec, _)| spec.name == name);
    let (spec, build) = entry.ok_or_else(|| {
        let names: Vec<&str> = column_selectors().map(|(spec, _)| spec.name).collect();
        let hint = match (method(name), nearest_name(names.iter().copied(), name)) {
            (Ok(_), _) => {
                format!("\nhint: `{name}` makes features in kernel space: `mercer fit --method {name}`")
            }
            (Err(_), Some(nearest)) => format!("\nhint: did you mean `{nearest}`?"),
            (Err(_), None) => String::new(),
        };
        Error::argument(format!(
            "method = `{name}` selects no columns; use one of {}{hint}",
            names.join(", ")
        ))
    })?;
    let values = Values::new(&[spec], settings)?;
    let (selector, keep) = (build(&values), Keep::from_values(&values));
    selector.check_keep(keep)?;
    Ok((selector, keep))
}

/// What selects input columns.
///
/// ```
/// let names: Vec<&str> = mercer::methods::column_selector_specs().map(|spec| spec.name).collect();
/// assert!(names.contains(&"relieff") && names.contains(&"input-weights"));
/// ```
pub fn column_selector_specs() -> impl Iterator<Item = &'static MethodSpec> {
    column_selectors().map(|(spec, _)| spec)
}

/// Every parameter of what selects input columns, once.
///
/// ```
/// let all = mercer::methods::column_selector_parameters();
/// assert!(all.iter().any(|parameter| parameter.name == "rounds"));
/// ```
pub fn column_selector_parameters() -> Vec<SharedParameter> {
    parameters_among(&column_selector_specs().collect::<Vec<_>>())
}

fn column_selectors() -> impl Iterator<Item = Registered<Selector>> {
    let weights: Registered<Selector> =
        (&select::input_weights::SPEC, |values| InputWeights::from_values(values).into());
    select::ALL.into_iter().chain([weights])
}

/// An extractor from its name and its own settings that differ from the defaults, as text, without those of a basis.
///
/// ```
/// let extractor = mercer::methods::extractor("klfe", &[("n_neighbors", "5"), ("n_queries", "500")])?;
/// assert_eq!((extractor.name(), extractor.queries.n_queries), ("klfe", Some(500)));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn extractor<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<Extractor> {
    let (spec, build) = extractor_entry(name)?;
    check_names(settings)?;
    let values = Values::new(&[spec], settings)?;
    Ok(build(&values).with_queries(Queries::from_values(&values)))
}

/// An error unless every name is a parameter of some method.
pub(crate) fn check_names<S: AsRef<str>>(settings: &[(S, S)]) -> Result<()> {
    settings.iter().try_for_each(|(name, _)| parameter(name.as_ref()).map(drop))
}

pub(crate) fn selector_entry(name: &str) -> Result<Registered<Selector>> {
    select::ALL.into_iter().find(|(spec, _)| spec.name == name).ok_or_else(|| {
        Error::argument(format!("selector = `{name}` is not known; use one of {}", select::NAMES.join(", ")))
    })
}

pub(crate) fn extractor_entry(name: &str) -> Result<Registered<Extractor>> {
    extract::ALL.into_iter().find(|(spec, _)| spec.name == name).ok_or_else(|| {
        let names: Vec<&str> = extract::ALL.iter().map(|(spec, _)| spec.name).collect();
        Error::argument(format!("extractor = `{name}` is not known; use one of {}", names.join(", ")))
    })
}

/// The whole registry as JSON, for Python and other programs.
pub fn to_json() -> String {
    let method = |spec: &'static MethodSpec| {
        let names: Vec<&str> = spec.parameters.iter().map(|p| p.name).collect();
        let defaults: BTreeMap<&str, &str> =
            spec.parameters.iter().filter_map(|p| Some((p.name, p.default?))).collect();
        let none: BTreeMap<&str, &str> =
            spec.parameters.iter().filter_map(|p| Some((p.name, p.none?))).collect();
        let words: BTreeMap<&str, Vec<&str>> = spec
            .parameters
            .iter()
            .map(|p| (p.name, p.words()))
            .filter(|(_, words)| !words.is_empty())
            .collect();
        // What a parameter of the same name is not for the first method that has it.
        let kinds: BTreeMap<&str, Value> = spec
            .parameters
            .iter()
            .map(|p| (p.name, kind(p.kind), kind(shared_by_name(p.name).kind)))
            .filter(|(_, own, shared)| own["kind"] != shared["kind"])
            .map(|(name, own, _)| (name, own))
            .collect();
        json!({ "name": spec.name, "kinds": kinds, "stage": spec.stage.name(), "source": spec.source, "cost": spec.cost,
                "parameters": names, "words": words, "file": spec.file, "defaults": defaults, "none": none, "help": spec.help })
    };
    let methods: Vec<Value> = all().map(method).collect();
    let extractors: Vec<Value> = extract::ALL.into_iter().map(|(spec, _)| method(spec)).collect();
    let parameters: Vec<Value> = parameters()
        .into_iter()
        .map(|shared| {
            let mut value = kind(shared.parameter.kind);
            value["name"] = json!(shared.name);
            value["default"] = json!(shared.default);
            value["none"] = json!(shared.none);
            value["help"] = json!(shared.help);
            value
        })
        .collect();
    json!({ "methods": methods, "extractors": extractors, "parameters": parameters }).to_string()
}

/// The parameter of the first method that has one of this name.
fn shared_by_name(name: &str) -> &'static Parameter {
    let found =
        all().chain(extract::ALL.into_iter().map(|(spec, _)| spec)).find_map(|spec| spec.parameter(name));
    found.unwrap_or_else(|| unreachable!("{name} is a parameter"))
}

fn kind(kind: Kind) -> Value {
    match kind {
        Kind::Whole { least } => json!({ "kind": "whole", "least": least }),
        Kind::Number { from, to, open, below } => {
            let end = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
            json!({ "kind": "number", "from": end(from), "to": end(to), "open": open, "below": below })
        }
        Kind::Choice(words) => json!({ "kind": "choice", "words": words }),
        Kind::ChoiceOr { words, .. } => json!({ "kind": "choice_or", "words": words }),
        Kind::WholeOr { least, words } => json!({ "kind": "whole_or", "least": least, "words": words }),
        Kind::NumberOr(words) => json!({ "kind": "number_or", "words": words }),
        Kind::Text { name, .. } => json!({ "kind": name }),
        Kind::Flag => json!({ "kind": "flag" }),
        Kind::FlagOr(words) => json!({ "kind": "flag_or", "words": words }),
    }
}
