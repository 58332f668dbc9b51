//! What a comparison will do: every method with its settings on its basis, and every candidate that comes of it.

use super::{Comparison, MANY_ROWS, MANY_ROWS_COMPONENTS};
use crate::basis::{Basis, Method};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::evaluate::judge::Judge;
use crate::evaluate::outcome::Entry;
use crate::kernel::{Gamma, Shape};
use crate::methods::{self, Stage};
use crate::recipe::{Recipe, Top};

/// What features are compared with.
pub(super) const BASELINES: [&str; 3] = ["raw", "rbf-svm", "kknn"];

/// Parameters of the kernel, which baselines look at too.
const KERNEL: [&str; 4] = ["kernel", "degree", "coef0", "alpha"];

/// Everything that is the same on every split.
pub(super) struct Plan {
    /// The kernel's formula.
    pub(super) shape: Shape,
    /// The rules for γ; one None: the kernel has none.
    pub(super) rules: Vec<Option<Gamma>>,
    /// The methods.
    pub(super) stems: Vec<Stem>,
    /// One a candidate, without scores, in the order: `raw`, `rbf-svm`, `kknn`, then stem by stem, rule by rule, size by
    /// size, judge by judge.
    pub(super) entries: Vec<Entry>,
    /// Bytes that a split needs beside the rows of the caller.
    pub(super) memory: u64,
    /// What the user should know.
    pub(super) warnings: Vec<String>,
}

/// A method with its settings, those of γ apart.
pub(super) struct Stem {
    pub(super) method: String,
    pub(super) settings: Vec<(String, String)>,
    /// Numbers of features that it is asked for.
    pub(super) sizes: Vec<Option<usize>>,
    /// A basis as a method: its largest size when it is not asked for a number.
    pub(super) own_cap: Option<usize>,
    /// The first candidate of each rule for γ.
    pub(super) first: Vec<usize>,
}

impl Plan {
    /// The plan for training parts of up to n rows, and test parts of the others.
    pub(super) fn new(comparison: &Comparison, rows: &Rows, labels: &Labels, n: usize) -> Result<Self> {
        let methods = chosen(comparison, labels)?;
        let shape = shape(comparison)?;
        let rules = rules(comparison, shape)?;
        let mut warnings = Vec::new();
        let stems: Vec<Stem> = methods
            .iter()
            .map(|method| Stem::new(comparison, method, shape, n, labels))
            .collect::<Result<_>>()?;
        check_settings(comparison, &stems)?;
        if n > MANY_ROWS && stems.iter().any(|stem| stem.shortened(comparison)) {
            warnings.push(format!(
                "the training parts have more than {MANY_ROWS} rows: unless set otherwise, bases have at most \
                 {MANY_ROWS_COMPONENTS} components, and where a method's own would span all rows it is `kobl`"
            ));
        }
        let mut plan = Self { shape, rules, stems, entries: Vec::new(), memory: 0, warnings };
        plan.list(comparison);
        plan.memory = plan.estimate(comparison, rows, n)?;
        Ok(plan)
    }

    /// Lists the candidates.
    fn list(&mut self, comparison: &Comparison) {
        let judges: Vec<&str> = comparison.judges.iter().map(Judge::name).collect();
        let entry = |method: &str, judge: &str, rule: Option<&String>| Entry {
            method: method.into(),
            evaluator: judge.into(),
            gamma_rule: rule.cloned(),
            ..Entry::default()
        };
        let mut entries: Vec<Entry> = judges.iter().map(|judge| entry("raw", judge, None)).collect();
        entries.push(entry("rbf-svm", "rbf-svm", Some(&"scale".into())));
        let names: Vec<Option<&String>> =
            (0..self.rules.len()).map(|at| self.rules[at].and(comparison.gammas.get(at))).collect();
        entries.extend(self.kknn_rules().map(|at| entry("kknn", "kknn", at.and_then(|at| names[at]))));
        for stem in &mut self.stems {
            for name in &names {
                stem.first.push(entries.len());
                for &asked in &stem.sizes {
                    let basis = Some(stem.basis_name());
                    entries.extend(judges.iter().map(|judge| Entry {
                        basis: basis.clone(),
                        asked,
                        ..entry(&stem.method, judge, *name)
                    }));
                }
            }
        }
        self.entries = entries;
    }

    /// The rules that `kknn` is tried with: where γ does not change who is near, one will do.
    pub(super) fn kknn_rules(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        let once = !matches!(self.shape, Shape::Poly { .. } | Shape::Sigmoid { .. });
        let count = if once { 1 } else { self.rules.len() };
        (0..count).map(move |at| (!once).then_some(at))
    }

    /// Bytes that a split needs: copies of the rows, and what the largest basis and its coordinates take. The bases are
    /// there one after the other.
    fn estimate(&self, comparison: &Comparison, rows: &Rows, n: usize) -> Result<u64> {
        let all = rows.n() as u64;
        let copies = 3 * 12 * rows.stored().len() as u64;
        let mut largest = 0;
        for stem in &self.stems {
            let Some(basis) = stem.plain_basis(comparison, self.shape, n)? else { continue };
            let m = basis.n_components.unwrap_or(n).min(n) as u64;
            // The coordinates, a method's and a judge's copies of them, and matrices of the size of the basis.
            largest = largest.max(basis.estimated_memory(n) + 8 * (4 * all * m + 6 * m * m));
        }
        Ok(copies + largest)
    }
}

impl Stem {
    pub(super) fn new(
        comparison: &Comparison,
        method: &str,
        shape: Shape,
        n: usize,
        labels: &Labels,
    ) -> Result<Self> {
        let plain = Recipe::new::<&str>(method, &[])?;
        let mut settings = comparison.settings.clone();
        let has = |settings: &[(String, String)], name: &str| settings.iter().any(|(n, _)| n == name);
        if plain.card.parameters.contains(&"basis") && !has(&settings, "basis") {
            settings.push(("basis".into(), default_basis(&plain.top, n).name().into()));
        }
        let mut known = methods::parameters_of(method, &settings)?;
        let basis = settings.iter().find(|(name, _)| name == "basis").map(|(_, basis)| basis.clone());
        if plain.card.stage != Stage::Basis && basis.is_some_and(|basis| basis != "sparse") {
            // `sk-relief` has `nu` for its own basis alone.
            known.retain(|name| *name != "nu");
        }
        settings.retain(|(name, _)| known.contains(&name.as_str()));
        let size = if plain.card.stage == Stage::Extract { "basis_components" } else { "n_components" };
        let mut own_cap = None;
        if plain.card.stage == Stage::Basis {
            own_cap = settings.iter().find(|(name, _)| name == size).and_then(|(_, m)| m.parse().ok());
            own_cap = own_cap.or((n > MANY_ROWS).then_some(MANY_ROWS_COMPONENTS));
            settings.retain(|(name, _)| name != size);
        } else if n > MANY_ROWS && known.contains(&size) && !has(&settings, size) {
            settings.push((size.into(), MANY_ROWS_COMPONENTS.to_string()));
        }
        if known.contains(&"seed") && !has(&settings, "seed") {
            settings.push(("seed".into(), comparison.seed.to_string()));
        }
        let one_size = matches!(method, "koc" | "akda-qr");
        let fits = |size: &&Option<usize>| !one_size || size.is_none();
        let sizes = comparison.sizes.iter().filter(fits).copied().collect();
        let stem = Self { method: method.into(), settings, sizes, own_cap, first: Vec::new() };
        stem.recipe(shape.uses_gamma().then_some(1.0), &[])?.check(Some(labels))?;
        Ok(stem)
    }

    /// The method with its width, and settings in place of its own.
    pub(super) fn recipe(&self, gamma: Option<f64>, instead: &[(&str, usize)]) -> Result<Recipe> {
        let mut settings = self.settings.clone();
        settings.retain(|(name, _)| instead.iter().all(|(other, _)| name != other));
        settings.extend(instead.iter().map(|(name, value)| ((*name).into(), value.to_string())));
        settings.extend(gamma.map(|gamma| ("gamma".into(), gamma.to_string())));
        Recipe::new(&self.method, &settings)
    }

    /// The sizes that one fit of the basis serves, each with the most components that it needs (None: all it can have).
    pub(super) fn fits(&self) -> Vec<(Option<usize>, Vec<usize>)> {
        let every: Vec<usize> = (0..self.sizes.len()).collect();
        let cap = |at: &usize| self.sizes[*at].or(self.own_cap);
        match Method::named(&self.method) {
            _ if every.is_empty() => Vec::new(),
            // Rows are drawn anew for every size.
            Ok(Method::Nystrom) => every.iter().map(|at| (cap(at), vec![*at])).collect(),
            Ok(_) if every.iter().any(|at| cap(at).is_none()) => vec![(None, every)],
            Ok(_) => vec![(every.iter().filter_map(cap).max(), every)],
            Err(_) => vec![(None, every)],
        }
    }

    /// The largest basis that it will fit on n rows; None: `akda-qr`, whose basis is small.
    fn plain_basis(&self, comparison: &Comparison, shape: Shape, n: usize) -> Result<Option<Basis>> {
        let cap = self.fits().into_iter().map(|(cap, _)| cap).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)));
        let Some(cap) = cap.filter(|_| self.method != "akda-qr") else { return Ok(None) };
        let instead: Vec<(&str, usize)> = cap.map(|m| ("n_components", m)).into_iter().collect();
        let recipe = self.recipe(shape.uses_gamma().then_some(1.0), &instead)?;
        let mut basis = match &recipe.top {
            Top::Nothing => methods::basis(&self.method, &recipe.settings)?,
            Top::System(_) => methods::system_basis(&self.method, &recipe.settings, n, &mut Vec::new())?,
            Top::Extractor(_) => {
                methods::extractor_basis(&self.method, &recipe.settings, n, &mut Vec::new())?
            }
        };
        basis.memory = comparison.memory;
        Ok(Some(basis))
    }

    fn basis_name(&self) -> String {
        let given = self.settings.iter().find(|(name, _)| name == "basis").map(|(_, basis)| basis.clone());
        match self.method.as_str() {
            "akda-qr" => "class means".into(),
            method => given.unwrap_or_else(|| method.into()),
        }
    }

    /// Whether its basis is smaller because there are many rows.
    fn shortened(&self, comparison: &Comparison) -> bool {
        let set = |name: &str| comparison.settings.iter().any(|(n, _)| n == name);
        match self.method.as_str() {
            "akda-qr" => false,
            method if Method::named(method).is_ok() => !set("n_components") && self.sizes.contains(&None),
            _ => ["n_components", "basis_components"]
                .into_iter()
                .any(|size| !set(size) && self.settings.iter().any(|(name, _)| name == size)),
        }
    }
}

/// The basis of a method for n rows when none is named: its own, but `kobl` where its own would span many rows.
fn default_basis(top: &Top, n: usize) -> Method {
    let own = match top {
        Top::Nothing => Method::Kobl,
        Top::System(system) => system.default_basis(n, &mut Vec::new()),
        Top::Extractor(extractor) => extractor.default_basis(n, &mut Vec::new()),
    };
    match own {
        Method::GramSchmidt | Method::Kpca if n > MANY_ROWS => Method::Kobl,
        own => own,
    }
}

/// The methods, each once, without the baselines, which are always there.
fn chosen(comparison: &Comparison, labels: &Labels) -> Result<Vec<String>> {
    if comparison.methods.is_empty() {
        return Ok(Comparison::all(labels));
    }
    let mut found: Vec<String> = Vec::new();
    for name in &comparison.methods {
        if BASELINES.contains(&name.as_str()) || found.contains(name) {
            continue;
        }
        methods::method(name)?;
        found.push(name.clone());
    }
    Ok(found)
}

/// The kernel's formula.
pub(super) fn shape(comparison: &Comparison) -> Result<Shape> {
    let kernel: Vec<(&str, &str)> = comparison
        .settings
        .iter()
        .filter(|(name, _)| KERNEL.contains(&name.as_str()))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    match methods::basis("kobl", &kernel)?.shape {
        Shape::Precomputed => Err(Error::argument(
            "kernel = precomputed, but a comparison scales the rows and tries widths, so it needs the rows themselves",
        )),
        shape => Ok(shape),
    }
}

fn rules(comparison: &Comparison, shape: Shape) -> Result<Vec<Option<Gamma>>> {
    if comparison.gammas.is_empty() {
        return Err(Error::argument("no gamma was given; leave it at `scale`, or give rules or numbers"));
    }
    let rules: Vec<Option<Gamma>> =
        comparison.gammas.iter().map(|text| text.parse().map(Some)).collect::<Result<_>>()?;
    Ok(if shape.uses_gamma() { rules } else { vec![None] })
}

/// An error unless every setting is one of some method's, with a value it may have.
fn check_settings(comparison: &Comparison, stems: &[Stem]) -> Result<()> {
    for (name, value) in &comparison.settings {
        if name == "gamma" {
            return Err(Error::argument(format!(
                "gamma = {value} is among the settings, but widths are compared\nhint: give it as one of `gammas`"
            )));
        }
        methods::parameter(name)?.check(value)?;
        let used = |stem: &Stem| {
            stem.settings.iter().any(|(n, _)| n == name) || (stem.own_cap.is_some() && name == "n_components")
        };
        if !KERNEL.contains(&name.as_str()) && !stems.iter().any(used) {
            let names: Vec<String> = stems.iter().map(|stem| format!("`{}`", stem.method)).collect();
            return Err(Error::argument(format!(
                "`{name}` is not a parameter of any method that is compared: {}\n\
                 hint: leave it out, or compare a method that has it (`mercer methods` lists them)",
                if names.is_empty() { "only baselines are".into() } else { names.join(", ") }
            )));
        }
    }
    Ok(())
}
