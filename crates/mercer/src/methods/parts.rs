//! Methods with parts from settings as text: systems, which are a basis and a selector, and extractors with their basis.

use super::values::{Values, for_basis, given, known, texts};
use super::{Card, EXTRACTORS, METHODS, SELECTORS, Stage, basis, cards, method, parameter};
use crate::basis::{Basis, Method};
use crate::error::{Error, Result};
use crate::evidence::approximate::Search;
use crate::extract::{Extractor, Limits};
use crate::select::{FTest, Selector};
use crate::systems::System;

/// A system from its name and the settings that differ from the defaults, as text: its own, its basis' and its selector's
/// together. [`system_basis`] makes the basis from the same settings.
///
/// ```
/// use mercer::select::Keep;
///
/// let settings = [("gamma", "0.05"), ("selector", "relieff"), ("n_neighbors", "5"), ("n_features", "20")];
/// let system = mercer::methods::system("eks", &settings)?;
/// assert_eq!((system.selector.name(), system.keep), ("relieff", Keep::Count(20)));
/// let mut warnings = Vec::new();
/// let basis = mercer::methods::system_basis("eks", &settings, 500, &mut warnings)?;
/// assert_eq!(basis.method.name(), "gram-schmidt");
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn system<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<System> {
    let card = system_card(name)?;
    let selector = selector_of(card, settings)?;
    let system = plain_system(name);
    let bases = possible_bases(settings, |n| system.default_basis(n, &mut Vec::new()))?;
    let value = Values::new(&[&cards_of(card, selector)[..], &bases].concat(), settings)?;
    if let (Some(nu), Some(basis)) = (given(settings, "nu"), given(settings, "basis"))
        && basis != "sparse"
    {
        return Err(Error::argument(format!(
            "nu = {nu} is for the basis `sparse`, but basis = {basis}\nhint: leave one of them out"
        )));
    }
    let weighted = card.parameters.contains(&"weighted") && value.flag("weighted");
    let system = System { selector: value.selector(selector)?, keep: value.keep()?, weighted, ..system };
    system.check_settings()?;
    Ok(system)
}

fn plain_system(name: &str) -> System {
    match name {
        "takes" => System::takes(),
        "k-relief" => System::k_relief(),
        "sk-relief" => System::sk_relief(),
        _ => System::eks(Selector::FTest(FTest::default())),
    }
}

/// Names of all parameters that a method has: its own, its selector's and its basis', which the settings may name.
///
/// ```
/// let names = mercer::methods::parameters_of("gda", &[("basis", "sparse")])?;
/// assert!(names.contains(&"reg") && names.contains(&"nu") && !names.contains(&"threshold"));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn parameters_of<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<Vec<&'static str>> {
    let card = method(name)?;
    let mut cards = vec![card];
    match card.stage {
        Stage::Select | Stage::System => {
            cards = cards_of(system_card(name)?, selector_of(card, settings)?);
            let system = plain_system(name);
            cards.extend(possible_bases(settings, |n| system.default_basis(n, &mut Vec::new()))?);
        }
        Stage::Extract if card.parameters.contains(&"basis") => {
            let extractor = Values::new::<&str>(&[card], &[])?.extractor(card)?;
            cards.extend(possible_bases(settings, |n| extractor.default_basis(n, &mut Vec::new()))?);
        }
        Stage::Basis | Stage::Extract => {}
    }
    Ok(known(&cards))
}

/// The basis of a system for n rows: the one that the setting `basis` names or else its own, with those settings that
/// are a basis'.
pub fn system_basis<S: AsRef<str>>(
    name: &str,
    settings: &[(S, S)],
    n: usize,
    warnings: &mut Vec<String>,
) -> Result<Basis> {
    let system = system(name, settings)?;
    let card = system_card(name)?;
    let cards = cards_of(card, selector_of(card, settings)?);
    basis_of(&cards, settings, || system.default_basis(n, warnings))
}

/// An extractor from its name and the settings that differ from the defaults, as text: its own and its basis' together.
/// [`extractor_basis`] makes the basis from the same settings. `n_components` is the number of features, the size of the
/// basis is `basis_components`; of other parameters that both have the extractor's counts, and the seed is for both.
///
/// ```
/// use mercer::extract::Extractor;
///
/// let settings = [("gamma", "0.05"), ("n_components", "3"), ("basis_components", "40"), ("reg", "0.1")];
/// let extractor = mercer::methods::extractor("gda", &settings)?;
/// assert!(matches!(extractor, Extractor::Gda(gda) if gda.reg == 0.1 && gda.n_components == Some(3)));
/// let basis = mercer::methods::extractor_basis("gda", &settings, 500, &mut Vec::new())?;
/// assert_eq!((basis.method.name(), basis.n_components), ("gram-schmidt", Some(40)));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn extractor<S: AsRef<str>>(name: &str, settings: &[(S, S)]) -> Result<Extractor> {
    let card = extractor_card(name)?;
    let own: Vec<(&str, &str)> = texts(settings).filter(|(n, _)| card.parameters.contains(n)).collect();
    let extractor = Values::new(&[card], &own)?.extractor(card)?;
    let mut cards = vec![card];
    if card.parameters.contains(&"basis") {
        cards.extend(possible_bases(settings, |n| extractor.default_basis(n, &mut Vec::new()))?);
    }
    Values::new(&cards, settings)?;
    Ok(extractor)
}

/// The basis of an extractor for n rows: the one that the setting `basis` names or else its own, with those settings that
/// are a basis'. [`Extractor::basis`] makes it ready for the rows.
pub fn extractor_basis<S: AsRef<str>>(
    name: &str,
    settings: &[(S, S)],
    n: usize,
    warnings: &mut Vec<String>,
) -> Result<Basis> {
    let extractor = extractor(name, settings)?;
    let card = extractor_card(name)?;
    if !card.parameters.contains(&"basis") {
        let own: Vec<(&str, &str)> = texts(settings).filter(|(name, _)| *name != "reg").collect();
        return basis(extractor.default_basis(n, warnings).name(), &own);
    }
    let mut basis = basis_of(&[card], settings, || extractor.default_basis(n, warnings))?;
    if let (Extractor::Kpca(kpca), Method::Kpca) = (&extractor, basis.method) {
        basis.center = kpca.center;
        basis.n_components = basis.n_components.or(kpca.n_components);
    }
    Ok(basis)
}

/// The cards of the bases that may be meant: how many rows there are, which may decide between two, is not known yet.
fn possible_bases<S: AsRef<str>>(
    settings: &[(S, S)],
    default: impl Fn(usize) -> Method,
) -> Result<Vec<&'static Card>> {
    let mut bases = match given(settings, "basis") {
        Some(basis) => vec![basis_card(basis)?],
        None => [1, usize::MAX].map(|n| basis_card(default(n).name())).into_iter().collect::<Result<_>>()?,
    };
    bases.dedup_by_key(|basis| basis.name);
    Ok(bases)
}

/// The basis of a method with these cards: the one that the settings name or the default.
fn basis_of<S: AsRef<str>>(
    cards: &[&'static Card],
    settings: &[(S, S)],
    default: impl FnOnce() -> Method,
) -> Result<Basis> {
    let chosen = match given(settings, "basis") {
        Some(basis) => basis_card(basis)?,
        None => basis_card(default().name())?,
    };
    Values::new(&[cards, &[chosen]].concat(), settings)?;
    basis(chosen.name, &for_basis(cards[0], chosen, settings))
}

/// How many rows an extractor compares with their neighbours, by settings that [`extractor`] has checked.
///
/// ```
/// let limits = mercer::methods::limits(&[("n_queries", "500"), ("seed", "7")]);
/// assert_eq!((limits.n_queries, limits.seed), (Some(500), 7));
/// ```
pub fn limits<S: AsRef<str>>(settings: &[(S, S)]) -> Limits {
    let n_queries = given(settings, "n_queries").and_then(|text| text.parse().ok());
    let seed = given(settings, "seed").and_then(|text| text.parse().ok()).unwrap_or(0);
    let neighbors =
        given(settings, "neighbors").and_then(|name| Search::named(name).ok()).unwrap_or_default();
    Limits { n_queries, neighbors, seed, ..Limits::default() }
}

fn extractor_card(name: &str) -> Result<&'static Card> {
    let with_card = METHODS.iter().find(|card| card.name == name && card.stage == Stage::Extract);
    with_card.or((name == "kpca").then_some(&cards::KPCA)).ok_or_else(|| {
        Error::argument(format!(
            "extractor = `{name}` is not known; use one of {}, kpca",
            EXTRACTORS.join(", ")
        ))
    })
}

fn system_card(name: &str) -> Result<&'static Card> {
    let card = method(name)?;
    match card.stage {
        Stage::System => Ok(card),
        Stage::Select => Err(Error::argument(format!(
            "`{name}` scores columns; in a kernel's space it needs a basis beside it\n\
             hint: `--method eks --selector {name}`"
        ))),
        Stage::Extract => Err(Error::argument(format!(
            "`{name}` is an extractor; systems are takes, k-relief, sk-relief and eks"
        ))),
        Stage::Basis => Err(Error::argument(format!(
            "`{name}` is a basis; systems are takes, k-relief, sk-relief and eks"
        ))),
    }
}

fn basis_card(name: &str) -> Result<&'static Card> {
    parameter("basis")?.check(name)?;
    method(name)
}

/// The selector inside a system.
fn selector_of<S: AsRef<str>>(card: &Card, settings: &[(S, S)]) -> Result<&'static Card> {
    selector_card(match card.name {
        "takes" => "kffs",
        "k-relief" | "sk-relief" => "relief",
        _ => given(settings, "selector").unwrap_or("f"),
    })
}

/// Whose parameters a system has beside its basis': its own, and with `eks` the selector's.
fn cards_of(card: &'static Card, selector: &'static Card) -> Vec<&'static Card> {
    if card.parameters.contains(&"selector") { vec![card, selector] } else { vec![card] }
}

pub(super) fn selector_card(name: &str) -> Result<&'static Card> {
    METHODS.iter().find(|card| card.name == name && card.stage == Stage::Select).ok_or_else(|| {
        Error::argument(format!("selector = `{name}` is not known; use one of {}", SELECTORS.join(", ")))
    })
}
