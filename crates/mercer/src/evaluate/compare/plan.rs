//! What a comparison will do: every method with its settings on its basis, and every candidate that comes of it.

use super::shuffles::Blocks;
use super::{Comparison, MANY_ROWS, MANY_ROWS_COMPONENTS};
use crate::basis::{Basis, Method, RELEVANT};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::measures::Measure;
use crate::evaluate::outcome::{self, Entry};
use crate::extract::Sizes;
use crate::kernel::{Gamma, Kernel, Shape};
use crate::methods::{self, MethodSpec, Stage};
use crate::pipeline::{Head, Pipeline};

/// What features are compared with.
pub(super) const BASELINES: [&str; 4] = outcome::BASELINES;

/// Parameters of the kernel, which baselines look at too.
const KERNEL: [&str; 4] = ["kernel", "degree", "coef0", "alpha"];

/// Everything that is the same on every split.
pub(super) struct Plan {
    /// What candidates are sorted by, and the second measure; the same on every split.
    pub(super) measures: [Measure; 2],
    /// Groups whose labels change places in scores by chance.
    pub(super) blocks: Option<Blocks>,
    /// The kernel's formula.
    pub(super) shape: Shape,
    /// The rules for γ; one None: the kernel has none.
    pub(super) rules: Vec<Option<Gamma>>,
    /// The methods.
    pub(super) methods: Vec<MethodPlan>,
    /// The linear model of the columns, where it is not among the evaluators.
    pub(super) linear: Option<Evaluator>,
    /// One a candidate, without scores, in the order: `raw` by every evaluator, `raw` by the linear model, `rbf-svm`, `dummy`,
    /// `kknn`, then method by method, rule by rule, size by size, evaluator by evaluator.
    pub(super) entries: Vec<Entry>,
    /// Bytes that a split needs beside the rows of the caller.
    pub(super) memory: u64,
    /// What the user should know.
    pub(super) warnings: Vec<String>,
}

/// A method with its settings, those of γ apart.
pub(super) struct MethodPlan {
    pub(super) method: &'static MethodSpec,
    /// All but γ, which is found on every split.
    pub(super) pipeline: Pipeline,
    /// What the basis is called.
    basis_name: String,
    /// Numbers of features that it is asked for.
    pub(super) sizes: Vec<Option<usize>>,
    /// A basis as a method: its largest size when it is not asked for a number.
    pub(super) own_cap: Option<usize>,
    /// Whether the settings say how many features it has.
    pub(super) size_is_set: bool,
    /// The first candidate of each rule for γ.
    pub(super) first: Vec<usize>,
}

impl Plan {
    /// The plan for training parts of up to n rows, and test parts of the others.
    pub(super) fn new(
        comparison: &Comparison,
        measures: [Measure; 2],
        rows: &Rows,
        labels: &Labels,
        n: usize,
    ) -> Result<Self> {
        let chosen = chosen(comparison, labels)?;
        let shape = shape(comparison)?;
        // Every method would fail with it, one after the other.
        Kernel { shape, gamma: 1.0 }.check_for(rows)?;
        let rules = rules(comparison, shape)?;
        let mut warnings = Vec::new();
        let blocks = comparison.groups.as_ref().and_then(|groups| Blocks::of(groups, labels));
        if comparison.groups.is_some() && blocks.is_none() {
            warnings.push(
                "labels differ within groups, so rows are shuffled one by one for scores by chance: p is too small if rows of \
                 a group are alike"
                    .into(),
            );
        }
        let methods: Vec<MethodPlan> = chosen
            .iter()
            .map(|method| MethodPlan::new(comparison, method, n, labels))
            .collect::<Result<_>>()?;
        check_settings(comparison, &methods)?;
        if n > MANY_ROWS && methods.iter().any(|method| method.shortened(comparison)) {
            warnings.push(format!(
                "the training parts have more than {MANY_ROWS} rows: unless set otherwise, bases have at most \
                 {MANY_ROWS_COMPONENTS} components, and where a method's own would span all rows it is `kobl`"
            ));
        }
        let linear = match labels {
            Labels::Classes { .. } => Evaluator::LinearSvm { c: None },
            Labels::Numbers(_) | Labels::Several { .. } => Evaluator::Ridge,
        };
        let linear = Some(linear)
            .filter(|linear| comparison.evaluators.iter().all(|evaluator| evaluator.name() != linear.name()));
        let mut plan = Self {
            measures,
            blocks,
            shape,
            rules,
            methods,
            linear,
            entries: Vec::new(),
            memory: 0,
            warnings,
        };
        plan.list(comparison);
        plan.memory = plan.estimate(comparison, rows, labels, n)?;
        Ok(plan)
    }

    /// Lists the candidates.
    fn list(&mut self, comparison: &Comparison) {
        let evaluators: Vec<&str> = comparison.evaluators.iter().map(Evaluator::name).collect();
        let entry = |method: &str, evaluator: &str, rule: Option<&String>| Entry {
            method: method.into(),
            evaluator: evaluator.into(),
            gamma_rule: rule.cloned(),
            ..Entry::default()
        };
        let mut entries: Vec<Entry> =
            evaluators.iter().map(|evaluator| entry("raw", evaluator, None)).collect();
        entries.extend(self.linear.iter().map(|linear| entry("raw", linear.name(), None)));
        entries.push(entry("rbf-svm", "rbf-svm", Some(&"scale".into())));
        entries.push(entry("dummy", "dummy", None));
        let names: Vec<Option<&String>> =
            (0..self.rules.len()).map(|at| self.rules[at].and(comparison.gammas.get(at))).collect();
        entries.extend(self.kknn_rules().map(|at| entry("kknn", "kknn", at.and_then(|at| names[at]))));
        for method in &mut self.methods {
            for name in &names {
                method.first.push(entries.len());
                for &asked in &method.sizes {
                    let basis = Some(method.basis_name.clone());
                    entries.extend(evaluators.iter().map(|evaluator| Entry {
                        basis: basis.clone(),
                        asked,
                        ..entry(method.method.name, evaluator, *name)
                    }));
                }
            }
        }
        self.entries = entries;
    }

    /// The rules that `kknn` is tried with: where γ does not change who is near, one will do.
    pub(super) fn kknn_rules(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        let once = !matches!(self.shape, Shape::Poly { .. } | Shape::Sigmoid { .. } | Shape::Composite(_));
        let count = if once { 1 } else { self.rules.len() };
        (0..count).map(move |at| (!once).then_some(at))
    }

    /// Bytes that a split needs: copies of the rows, and what the largest basis, its coordinates and evaluators of them take. The
    /// bases are there one after the other.
    fn estimate(&self, comparison: &Comparison, rows: &Rows, labels: &Labels, n: usize) -> Result<u64> {
        let (all, c) = (rows.n() as u64, labels.n_classes().unwrap_or(1) as u64);
        let copies = 3 * 12 * rows.n_stored() as u64;
        let mut largest = 0;
        for method in &self.methods {
            let Some(basis) = method.largest_basis(n)? else { continue };
            let m = basis.most_components(n) as u64;
            // The coordinates, a method's and an evaluator's copies of them, matrices of the size of the basis, and for each
            // class its sums, coefficients and scores of all rows.
            let copies = 8 * (4 * all * m + 6 * m * m + c * (all + 4 * m + c));
            largest = largest.max(basis.estimated_memory(n, &comparison.options) + copies);
        }
        Ok(copies + largest)
    }
}

impl MethodPlan {
    pub(super) fn new(comparison: &Comparison, method: &str, n: usize, labels: &Labels) -> Result<Self> {
        let spec = methods::method(method)?;
        let plain = Pipeline::new::<&str>(method, &[])?;
        let mut settings = comparison.settings.clone();
        let has = |settings: &[(String, String)], name: &str| settings.iter().any(|(n, _)| n == name);
        let own = default_basis(&plain, n)?;
        if let Some(other) = own.1.filter(|_| spec.has("basis") && !has(&settings, "basis")) {
            settings.push(("basis".into(), other.name().into()));
        }
        let value = |name: &str| settings.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        let (basis, selector) = (value("basis").filter(|_| spec.has("basis")), value("selector"));
        let parameters = Pipeline::parameters(method, basis.as_deref(), selector.as_deref())?;
        let mut known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
        if spec.stage == Stage::System && basis.as_ref().is_some_and(|basis| basis != Method::Sparse.name()) {
            // `sk-relief` has `nu` for its own basis alone.
            known.retain(|name| *name != "nu");
        }
        settings.retain(|(name, _)| known.contains(&name.as_str()));
        let size = if spec.stage == Stage::Extract { "basis_components" } else { "n_components" };
        let mut own_cap = None;
        if spec.stage == Stage::Basis {
            if settings.iter().any(|(name, m)| name == size && m == RELEVANT) {
                return Err(Error::argument(format!(
                    "{size} = {RELEVANT} was given, but the bases of a comparison have sizes that are given\n\
                     hint: give a number, or leave it out"
                )));
            }
            own_cap = settings.iter().find(|(name, _)| name == size).and_then(|(_, m)| m.parse().ok());
            own_cap = own_cap.or((n > MANY_ROWS).then_some(MANY_ROWS_COMPONENTS));
            settings.retain(|(name, _)| name != size);
        } else if n > MANY_ROWS && known.contains(&size) && !has(&settings, size) {
            settings.push((size.into(), MANY_ROWS_COMPONENTS.to_string()));
        }
        if known.contains(&"seed") && !has(&settings, "seed") {
            settings.push(("seed".into(), comparison.seed.to_string()));
        }
        let pipeline = Pipeline::new(method, &settings)?;
        pipeline.check(Some(labels))?;
        let one_size = matches!(&pipeline.head, Head::Extract(extractor) if extractor.sizes() == Sizes::One);
        let sizes = comparison.sizes.iter().filter(|size| !one_size || size.is_none()).copied().collect();
        let of_class_means = spec.stage == Stage::Extract && !spec.has("basis");
        Ok(Self {
            method: spec,
            basis_name: if of_class_means {
                "class means".into()
            } else {
                basis.unwrap_or(own.0.name().into())
            },
            size_is_set: has(&settings, "n_components"),
            pipeline,
            sizes,
            own_cap,
            first: Vec::new(),
        })
    }

    /// The method with its width, on a basis of at most `cap` components if it is a basis itself.
    pub(super) fn with(&self, kernel: Option<Kernel>, cap: Option<usize>) -> Pipeline {
        self.pipeline.clone().change_basis(|basis| {
            if let Some(kernel) = kernel {
                (basis.shape, basis.gamma) = (kernel.shape, Gamma::Value(kernel.gamma));
            }
            basis.n_components = cap.or(basis.n_components);
        })
    }

    /// The sizes that one fit of the basis serves, each with the most components that it needs (None: all it can have).
    pub(super) fn fits(&self) -> Vec<(Option<usize>, Vec<usize>)> {
        let every: Vec<usize> = (0..self.sizes.len()).collect();
        let cap = |at: &usize| self.sizes[*at].or(self.own_cap);
        match Method::named(self.method.name) {
            _ if every.is_empty() => Vec::new(),
            Ok(method) if !method.is_nested() => every.iter().map(|at| (cap(at), vec![*at])).collect(),
            Ok(_) if every.iter().any(|at| cap(at).is_none()) => vec![(None, every)],
            Ok(_) => vec![(every.iter().filter_map(cap).max(), every)],
            Err(_) => vec![(None, every)],
        }
    }

    /// The largest basis that it will fit on n rows; None: that of the class means, which is small.
    pub(super) fn largest_basis(&self, n: usize) -> Result<Option<Basis>> {
        let cap = self.fits().into_iter().map(|(cap, _)| cap).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)));
        let small = self.method.stage == Stage::Extract && !self.method.has("basis");
        let Some(cap) = cap.filter(|_| !small) else { return Ok(None) };
        self.with(None, cap).basis_for(n, &mut Vec::new()).map(Some)
    }

    /// Whether its basis is smaller because there are many rows.
    fn shortened(&self, comparison: &Comparison) -> bool {
        let set = |name: &str| comparison.settings.iter().any(|(n, _)| n == name);
        match self.method.stage {
            Stage::Basis => !set("n_components") && self.sizes.contains(&None),
            _ => ["n_components", "basis_components"]
                .into_iter()
                .any(|size| !set(size) && self.pipeline.settings.iter().any(|(name, _)| name == size)),
        }
    }
}

/// The basis of a method for n rows when none is named, and what stands in for it where it would span many rows.
fn default_basis(plain: &Pipeline, n: usize) -> Result<(Method, Option<Method>)> {
    let own = plain.basis_for(n, &mut Vec::new())?.method;
    let spans = matches!(own, Method::GramSchmidt | Method::Kpca) && n > MANY_ROWS;
    Ok((own, spans.then(|| Method::of_rows(n))))
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
fn check_settings(comparison: &Comparison, plans: &[MethodPlan]) -> Result<()> {
    for (name, value) in &comparison.settings {
        if name == "input_weights" && value == "true" {
            return Err(Error::argument(
                "input_weights = true is for one fit: a comparison shares the rows between methods\n\
                 hint: leave it out, or weigh the columns before",
            ));
        }
        if name == "gamma" {
            return Err(Error::argument(format!(
                "gamma = {value} is among the settings, but widths are compared\nhint: give it as one of `gammas`"
            )));
        }
        methods::parameter(name)?.parameter.check(value)?;
        let used = |plan: &MethodPlan| {
            plan.pipeline.settings.iter().any(|(n, _)| n == name)
                || (plan.own_cap.is_some() && name == "n_components")
        };
        if !KERNEL.contains(&name.as_str()) && !plans.iter().any(used) {
            let names: Vec<String> = plans.iter().map(|plan| format!("`{}`", plan.method.name)).collect();
            return Err(Error::argument(format!(
                "`{name}` is not a parameter of any method that is compared: {}\n\
                 hint: leave it out, or compare a method that has it (`mercer methods` lists them)",
                if names.is_empty() { "only baselines are".into() } else { names.join(", ") }
            )));
        }
    }
    Ok(())
}
