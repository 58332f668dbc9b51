//! Comparisons against fits of every pipeline alone, and what must not matter to them.

use mercer::basis::Method;
use mercer::data::{Labels, Scale, Scaling, Task, synth};
use mercer::evaluate::Evaluator;
use mercer::evaluate::folds::{Split, folds, splits};
use mercer::evaluate::measures::Measure;
use mercer::evaluate::outcome::{Entry, Outcome};
use mercer::evaluate::{Comparison, knn};
use mercer::methods::Stage;
use mercer::{Error, FeatureMap, Kernel, Monitor, Options, Pipeline, Rows};

use crate::naive;

pub(super) fn table(spec: &str) -> (Rows<'static>, Labels) {
    let table = synth::generate(spec).expect("rows");
    (table.rows, Labels::decide(table.target.expect("a target"), Task::Auto).expect("labels"))
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn settings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

fn knn_alone() -> Vec<Evaluator> {
    vec![Evaluator::Knn { n_neighbors: 1 }]
}

fn find<'o>(outcome: &'o Outcome, method: &str, evaluator: &str) -> &'o Entry {
    let found = outcome.entries.iter().find(|entry| entry.method == method && entry.evaluator == evaluator);
    found.unwrap_or_else(|| panic!("{method} evaluated with {evaluator} is not there"))
}

/// An outcome without its seconds.
pub(crate) fn timeless(mut outcome: Outcome) -> Outcome {
    outcome.entries.iter_mut().for_each(|entry| entry.seconds = Vec::new());
    outcome
}

/// The parts of a split, scaled by the training part, with their labels.
fn parts(rows: &Rows, labels: &Labels, split: &Split) -> [(Rows<'static>, Labels); 2] {
    let train = rows.select(&split.train);
    let scaling = Scaling::fit(Scale::Standard, &train).0.expect("scaled");
    [&split.train, &split.test]
        .map(|part| (scaling.apply(&rows.select(part)).expect("applied"), labels.select(part)))
}

/// A pipeline of an entry, fitted alone: the map.
fn alone(entry: &Entry, given: &[(&str, &str)], rows: &Rows, labels: &Labels) -> mercer::Result<FeatureMap> {
    let stage = mercer::methods::method(&entry.method)?.stage;
    let size = if stage == Stage::System { "n_features" } else { "n_components" };
    let mut all = settings(given);
    all.extend(entry.gamma_rule.iter().map(|rule| ("gamma".into(), rule.clone())));
    all.extend(entry.asked.map(|q| (size.into(), q.to_string())));
    let pipeline = Pipeline::new(&entry.method, &all)?;
    Ok(pipeline.fit(rows, Some(labels), &Options::default())?.map)
}

/// Features that really are as many as asked: a system told to keep more than there are keeps all, and one that is
/// multiplied by 0 is none.
fn has_them(map: &FeatureMap, asked: Option<usize>) -> bool {
    let dead = |j: usize| map.expansion.matrix.row(j).iter().all(|v| *v == 0.0);
    asked.is_none_or(|q| map.n_features() == q && !(0..q).any(dead))
}

/// Whether rows of different labels are 0 but for rounding: rows chosen before the first coordinate kept are, and rounding
/// decides which of them is the nearest neighbour.
fn ties_of_zeros(features: &Rows, labels: &Labels) -> bool {
    let zero = |i: &usize| features.slice(*i..i + 1).to_dense().iter().all(|v| v.abs() < 1e-12);
    let zeros: Vec<usize> = (0..features.n()).filter(zero).collect();
    zeros.iter().any(|&i| labels.select(&[i]) != labels.select(&zeros[..1]))
}

fn compare_with_fits_alone(rows: &Rows, labels: &Labels, given: &[(&str, &str)], gammas: &[&str]) {
    let comparison = Comparison {
        settings: settings(given),
        gammas: texts(gammas),
        sizes: vec![None, Some(1), Some(3), Some(7), Some(5000)],
        folds: 3,
        seed: 5,
        ..Comparison::default()
    };
    let outcome = comparison.run(rows, labels).expect("compared");
    let (splits, _) = folds(labels, 3, 1, 5).expect("folds");
    let measures = match labels {
        Labels::Classes { .. } => [Measure::Accuracy, Measure::BalancedAccuracy],
        Labels::Numbers(_) | Labels::Several { .. } => [Measure::R2, Measure::Rmse],
    };
    let parts: Vec<_> = splits.iter().map(|split| parts(rows, labels, split)).collect();
    let evaluators = [Evaluator::Knn { n_neighbors: 1 }, Evaluator::Ridge];
    let with_seed = [given, &[("seed", "5")]].concat();
    let mut seen = 0;
    for method in Comparison::all(labels) {
        for rule in gammas {
            for asked in &comparison.sizes {
                let blank = Entry {
                    method: method.clone(),
                    gamma_rule: Some((*rule).into()),
                    asked: *asked,
                    ..Entry::default()
                };
                if asked.is_some() && ["koc", "akda-qr"].contains(&method.as_str()) {
                    continue;
                }
                let maps: Vec<Option<FeatureMap>> = parts
                    .iter()
                    .map(|[(train, labels), _]| alone(&blank, &with_seed, train, labels).ok())
                    .map(|map| map.filter(|map| has_them(map, *asked)))
                    .collect();
                for evaluator in &evaluators {
                    let what = format!("{method} {rule} {asked:?} {}", evaluator.name());
                    let found = outcome.entries.iter().find(|e| {
                        (&e.method, &e.gamma_rule, &e.asked) == (&blank.method, &blank.gamma_rule, asked)
                            && e.evaluator == evaluator.name()
                    });
                    if maps.iter().all(Option::is_none) {
                        assert!(found.is_none_or(|e| e.scores.is_empty()), "{what}: {found:?}");
                        continue;
                    }
                    let entry = found.unwrap_or_else(|| panic!("{what} is not there"));
                    let there = maps.iter().flatten().count();
                    assert_eq!(entry.scores.len(), there, "{what}: {:?}", entry.failed);
                    assert_eq!(entry.failed.is_some(), there < 3, "{what}: {:?}", entry.failed);
                    let pairs = maps.iter().zip(&parts).filter_map(|(map, part)| Some((map.as_ref()?, part)));
                    for (at, (map, [(train, labels), (test, truth)])) in pairs.enumerate() {
                        let [a, b] = [train, test].map(|rows| map.transform(rows).expect("features"));
                        let [a, b] = [a, b].map(|z| Rows::from_mat(z.as_ref()));
                        let evaluation =
                            evaluator.predict(&a, labels, &b, 5, &Monitor::default()).expect("predictions");
                        let [first, second] =
                            measures.map(|m| m.of(truth, &evaluation.predictions).expect("measured"));
                        // Coordinates of these are right to 1e−6 at worst (docs/decisions.md), from the factor as from A.
                        let exact = ["gram-schmidt", "kpca", "klfe", "eks", "k-relief", "akda-qr", "takes"]
                            .contains(&method.as_str());
                        let tolerance = if exact { 1e-9 } else { 1e-5 };
                        let near = |a: f64, b: f64| (a - b).abs() < tolerance * b.abs().max(1.0);
                        assert!(
                            (near(entry.scores[at], first) && near(entry.second[at], second))
                                || (*evaluator == evaluators[0] && ties_of_zeros(&a, labels)),
                            "{what}: {} {first}",
                            entry.scores[at]
                        );
                        assert_eq!(entry.n_features[at], map.n_features(), "{what}");
                        assert_eq!(entry.kernel_values[at], map.expansion.landmarks.len(), "{what}");
                        let gamma = map.expansion.kernel.gamma;
                        assert!((entry.gammas[at] - gamma).abs() < 1e-12 * gamma, "{what}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 100, "only {seen} scores were compared");
}

#[test]
fn every_score_is_that_of_the_pipeline_fitted_alone_for_classes() {
    let (rows, labels) = table("waveform?n=66&seed=3");
    compare_with_fits_alone(&rows, &labels, &[], &["scale", "0.02"]);
}

#[test]
fn every_score_is_that_of_the_pipeline_fitted_alone_for_numbers() {
    let (rows, labels) = table("friedman?n=60&seed=3");
    compare_with_fits_alone(&rows, &labels, &[], &["median"]);
}

#[test]
fn every_score_is_that_of_the_pipeline_fitted_alone_with_rules_that_look_at_labels() {
    let (rows, labels) = table("ringnorm?n=60&seed=4");
    compare_with_fits_alone(&rows, &labels, &[("kernel", "laplacian")], &["align", "loo"]);
}

#[test]
fn baselines_are_plain_evaluators() {
    let (rows, labels) = table("blobs?n=70&seed=2");
    let comparison = Comparison { methods: texts(&["raw"]), ..Comparison::default() };
    let outcome = comparison.run(&rows, &labels).expect("compared");
    assert_eq!(outcome.entries.len(), 6, "raw with three evaluators, rbf-svm, dummy, kknn");
    let (splits, _) = folds(&labels, 5, 1, 0).expect("folds");
    for (at, split) in splits.iter().enumerate() {
        let [(train, known), (test, truth)] = parts(&rows, &labels, split);
        let monitor = Monitor::default();
        let score = |predictions| Measure::Accuracy.of(&truth, &predictions).expect("measured");
        for (method, evaluator) in
            [("raw", Evaluator::Ridge), ("rbf-svm", Evaluator::RbfSvm { c: None, gamma: None })]
        {
            let evaluation = evaluator.predict(&train, &known, &test, 0, &monitor).expect("predictions");
            let entry = find(&outcome, method, evaluator.name());
            assert_eq!(entry.scores[at].to_bits(), score(evaluation.predictions).to_bits(), "{method}");
            assert_eq!(entry.kernel_values[at], evaluation.support, "{method}");
        }
        let near =
            knn::predict_in_kernel(Kernel::rbf(0.3), &train, &known, &test, 1, &monitor).expect("near");
        assert_eq!(find(&outcome, "kknn", "kknn").scores[at].to_bits(), score(near).to_bits());
        assert_eq!(find(&outcome, "kknn", "kknn").kernel_values[at], train.n());
    }
    assert_eq!(find(&outcome, "raw", "knn").scores, find(&outcome, "kknn", "kknn").scores);
    assert!(outcome.entries.iter().all(|entry| entry.basis.is_none() && entry.failed.is_none()));
    assert!(find(&outcome, "raw", "knn").gammas.is_empty());
}

#[test]
fn a_test_row_changes_its_own_prediction_and_nothing_else() {
    let (rows, labels) = table("ringnorm?n=90&seed=1");
    let (split, _) = splits(&labels, 0.3, 1, 0).expect("split");
    let comparison = Comparison {
        gammas: texts(&["scale", "median", "loo"]),
        sizes: vec![None, Some(4)],
        test_share: Some(0.3),
        ..Comparison::default()
    };
    let before = timeless(comparison.run(&rows, &labels).expect("compared"));
    let mut values = rows.to_dense();
    let changed = split[0].test[3];
    values[changed * 20..(changed + 1) * 20].iter_mut().for_each(|v| *v = 1e3 * (*v + 7.0));
    let rows = Rows::dense(values, 90, 20).expect("rows");
    let after = timeless(comparison.run(&rows, &labels).expect("compared"));
    assert_eq!(before.entries.len(), after.entries.len());
    for old in &before.entries {
        let key = |e: &Entry| (e.method.clone(), e.evaluator.clone(), e.gamma_rule.clone(), e.asked);
        let new = after.entries.iter().find(|e| key(e) == key(old)).expect("still there");
        assert_eq!((&old.gammas, &old.n_features), (&new.gammas, &new.n_features), "{}", old.method);
        if old.method != "rbf-svm" {
            assert_eq!(old.kernel_values, new.kernel_values, "{}", old.method);
        }
        let [a, b] = [old, new].map(|e| e.confusion.iter().flatten().copied().collect::<Vec<_>>());
        let moved: usize = a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b)).sum();
        assert!(moved <= 2, "{}: {a:?} {b:?}", old.method);
    }
}

#[test]
fn every_method_of_the_registry_is_compared_without_a_failure() {
    for (spec, methods, measure, second) in [
        ("waveform?n=150&seed=1", 21, "accuracy", "balanced_accuracy"),
        ("friedman?n=120&seed=1", 11, "r2", "rmse"),
    ] {
        let (rows, labels) = table(spec);
        let evaluators: Vec<Evaluator> = Evaluator::NAMES
            .iter()
            .map(|name| Evaluator::named(name).expect("known"))
            .filter(|evaluator| evaluator.check(&labels).is_ok())
            .collect();
        let count = evaluators.len();
        let comparison = Comparison { evaluators, folds: 3, ..Comparison::default() };
        let outcome = comparison.run(&rows, &labels).expect("compared");
        assert_eq!(outcome.entries.len(), (methods + 1) * count + 3, "{spec}");
        assert_eq!((outcome.measure.as_str(), outcome.second.as_str()), (measure, second));
        for entry in &outcome.entries {
            let what = format!("{} {}", entry.method, entry.evaluator);
            assert!(entry.failed.is_none(), "{what}: {:?}", entry.failed);
            assert_eq!(entry.scores.len(), 3, "{what}");
            assert!(entry.seconds.iter().all(|s| *s > 0.0), "{what}");
            let rows: usize = entry.confusion.iter().flatten().sum();
            assert_eq!(rows, if measure == "r2" { 0 } else { 150 }, "{what}");
        }
        assert!(outcome.entries.windows(2).all(|pair| pair[0].mean() >= pair[1].mean()), "best first");
        assert!(!outcome.interrupted && outcome.n_splits == 3);
        let progress = comparison.options.monitor.progress();
        assert_eq!((progress.stage, progress.done), ("comparing", progress.total));
    }
}

#[test]
fn the_numbers_do_not_depend_on_the_number_of_threads() {
    let (rows, labels) = table("ringnorm?n=160&seed=1");
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        let comparison = Comparison { sizes: vec![None, Some(6)], ..Comparison::default() };
        timeless(pool.install(|| comparison.run(&rows, &labels)).expect("compared"))
    };
    let one = of(1);
    assert!(one == of(2) && one == of(3));
}

#[test]
fn nasty_rows_are_compared_all_the_same() {
    let (plain, halves) = table("ringnorm?n=60&seed=2");
    let dense = plain.to_dense();
    let edited = |f: &dyn Fn(usize, usize, f64) -> f64| {
        let values: Vec<f64> = dense.iter().enumerate().map(|(at, &v)| f(at / 20, at % 20, v)).collect();
        Rows::dense(values, 60, 20).expect("rows")
    };
    let constant = edited(&|_, j, v| if j < 3 { 4.0 } else { v });
    let duplicates = edited(&|i, j, _| dense[(i % 12) * 20 + j]);
    let huge = edited(&|_, j, v| if j == 0 { v * 1e150 } else { v });
    let holes = edited(&|i, j, v| if (i * 7 + j * 3) % 5 < 3 { 0.0 } else { v });
    let sparse = crate::kernel::sparse(&(0..60).map(|i| holes.slice(i..i + 1).to_dense()).collect());
    let wide = naive::random_rows(30, 200, 9);
    let wide = crate::kernel::rows(&wide);
    let thirty = Labels::classes(&(0..30).map(|i| ["a", "b", "c"][i % 3]).collect::<Vec<_>>());
    let rare: Vec<&str> = (0..60).map(|i| if i < 2 { "rare" } else { ["a", "b"][i % 2] }).collect();
    let rare = Labels::classes(&rare);
    let lonely: Vec<&str> = (0..60).map(|i| if i == 0 { "one" } else { ["a", "b"][i % 2] }).collect();
    let lonely = Labels::classes(&lonely);
    for (what, rows, labels) in [
        ("constant columns", &constant, &halves),
        ("duplicates", &duplicates, &halves),
        ("huge", &huge, &halves),
        ("sparse", &sparse, &halves),
        ("more columns than rows", &wide, &thirty),
        ("a class of two", &plain, &rare),
        ("a class of one", &plain, &lonely),
    ] {
        let comparison = Comparison { sizes: vec![None, Some(2)], ..Comparison::default() };
        let outcome = comparison.run(rows, labels).expect(what);
        for entry in &outcome.entries {
            assert!(entry.scores.iter().all(|s| (0.0..=1.0).contains(s)), "{what}: {entry:?}");
            let equal_pairs = entry.method == "kmfa" && what == "duplicates";
            let few = entry.asked.is_some() || entry.method == "takes" || equal_pairs;
            // Of five splits two have the class on both sides.
            let splits = if what == "a class of two" { 2 } else { 5 };
            assert!(entry.scores.len() == splits || few, "{what}: {} {:?}", entry.method, entry.failed);
        }
        assert!(outcome.warnings.len() <= 11, "{what}: {:?}", outcome.warnings);
        let said = outcome.warnings.iter().any(|text| text.contains("fewer than 5 rows"));
        assert_eq!(said, what.starts_with("a class"), "{what}: {:?}", outcome.warnings);
    }
    let same = timeless(
        Comparison { scale: Scale::None, ..Comparison::default() }.run(&holes, &halves).expect("dense"),
    );
    let again = timeless(
        Comparison { scale: Scale::None, ..Comparison::default() }.run(&sparse, &halves).expect("sparse"),
    );
    for entry in same.entries.iter().filter(|entry| entry.method != "skfe") {
        let other = find(&again, &entry.method, &entry.evaluator);
        assert_eq!(entry.scores, other.scores, "sparse rows are the same rows: {}", entry.method);
    }
}

#[test]
fn many_rows_stand_on_a_capped_basis_and_it_is_said_once() {
    let (rows, labels) = table("ringnorm?n=1400&seed=1");
    let methods = texts(&["k-relief", "sk-relief", "takes", "klfe", "gda", "akda-qr", "kobl", "nystrom"]);
    let comparison = Comparison {
        methods,
        evaluators: knn_alone(),
        sizes: vec![None, Some(20)],
        test_share: Some(0.2),
        ..Comparison::default()
    };
    let outcome = comparison.run(&rows, &labels).expect("compared");
    let basis = |method: &str| find(&outcome, method, "knn").basis.clone().expect("a basis");
    assert_eq!(["takes", "kobl"].map(basis), ["kobl"; 2].map(String::from));
    assert_eq!(["k-relief", "klfe", "gda"].map(basis), ["kfa"; 3].map(String::from));
    assert_eq!(["sk-relief", "akda-qr"].map(basis), ["sparse", "class means"].map(String::from));
    let own = |method: &str| {
        let found = outcome.entries.iter().find(|e| e.method == method && e.asked.is_none());
        found.expect("there").n_features[0]
    };
    assert!(own("kobl") <= 500 && own("nystrom") == 500);
    let kernel = |e: &&Entry| !e.is_baseline();
    assert!(outcome.entries.iter().filter(kernel).all(|entry| entry.kernel_values[0] <= 500));
    let said = outcome.warnings.iter().filter(|text| text.contains("more than 1000 rows")).count();
    assert_eq!(said, 1, "{:?}", outcome.warnings);
    let chosen = Comparison {
        settings: settings(&[("basis", "sparse"), ("basis_components", "30")]),
        methods: texts(&["gda", "koc"]),
        sizes: vec![None],
        ..comparison
    };
    let outcome = chosen.run(&rows, &labels).expect("compared");
    assert_eq!(find(&outcome, "gda", "knn").kernel_values, [30]);
    assert_eq!(find(&outcome, "gda", "knn").basis.as_deref(), Some("sparse"));
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
}

#[test]
fn a_kernel_without_a_width_is_tried_once_and_kknn_where_it_matters() {
    let (rows, labels) = table("blobs?n=60&seed=2");
    let of = |kernel: &str| {
        let comparison = Comparison {
            methods: texts(&["gda"]),
            settings: settings(&[("kernel", kernel)]),
            gammas: texts(&["scale", "0.1"]),
            evaluators: knn_alone(),
            ..Comparison::default()
        };
        let outcome = comparison.run(&rows, &labels).expect("compared");
        let rules = |method: &str| -> Vec<Option<String>> {
            let own = outcome.entries.iter().filter(|entry| entry.method == method);
            let mut rules: Vec<_> = own.map(|entry| entry.gamma_rule.clone()).collect();
            rules.sort();
            rules
        };
        (rules("gda"), rules("kknn"))
    };
    let both = vec![Some("0.1".to_string()), Some("scale".to_string())];
    assert_eq!(of("linear"), (vec![None], vec![None]));
    assert_eq!(of("rbf"), (both.clone(), vec![None]));
    assert_eq!(of("poly"), (both.clone(), both));
}

#[test]
fn a_candidate_that_fails_says_why_and_stops_no_other() {
    let rows = crate::kernel::rows(&naive::random_rows(200, 2, 5));
    let labels = Labels::classes(&(0..200).map(|i| (i * 7 % 20).to_string()).collect::<Vec<_>>());
    let comparison = Comparison {
        methods: texts(&["eks", "gda", "kobl"]),
        settings: settings(&[("n_components", "25"), ("selector", "fwe")]),
        evaluators: knn_alone(),
        ..Comparison::default()
    };
    let outcome = comparison.run(&rows, &labels).expect("compared");
    let eks = find(&outcome, "eks", "knn").failed.clone().expect("failed");
    assert!(eks.contains("coordinates was kept"), "{eks}");
    let gda = find(&outcome, "gda", "knn").failed.clone().expect("failed");
    assert!(gda.contains("n_components = 25, but only 19 can be had"), "{gda}");
    assert_eq!(find(&outcome, "kobl", "knn").scores.len(), 5);
    assert!(outcome.entries.last().expect("entries").scores.is_empty(), "those that failed come last");
}

#[test]
fn a_stop_keeps_whole_splits_alone() {
    let (rows, labels) = table("ringnorm?n=100&seed=1");
    let stopped = Comparison::default();
    stopped.options.monitor.stop();
    assert!(matches!(stopped.run(&rows, &labels), Err(Error::Interrupted)));
    let comparison = Comparison { repeats: 40, ..Comparison::default() };
    let monitor = comparison.options.monitor.clone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            // 21 methods and `raw` with two evaluators, and four baselines: one split is over, another has begun.
            while monitor.progress().done <= 48 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            monitor.stop();
        });
        pool.install(|| comparison.run(&rows, &labels)).expect("what was finished")
    });
    assert!(outcome.interrupted && outcome.n_splits == 200);
    let finished = outcome.entries[0].scores.len();
    assert!((1..200).contains(&finished), "{finished}");
    assert!(outcome.entries.iter().all(|entry| entry.scores.len() == finished && entry.failed.is_none()));
}

#[test]
fn what_cannot_be_compared_is_refused_in_words_before_any_work() {
    let (rows, labels) = table("blobs?n=40&seed=1");
    let numbers = Labels::Numbers((0..40).map(f64::from).collect());
    let text = |comparison: Comparison, labels: &Labels| {
        let refused = comparison.check(&rows, labels).expect_err("refused");
        assert_eq!(comparison.run(&rows, labels).expect_err("refused").to_string(), refused.to_string());
        refused.to_string()
    };
    let plain = Comparison::default;
    let with = |pairs: &[(&str, &str)], methods: &[&str]| Comparison {
        settings: settings(pairs),
        methods: texts(methods),
        ..plain()
    };
    for (comparison, labels, expected) in [
        (with(&[], &["gdaa"]), &labels, "method = `gdaa` is not known"),
        (with(&[], &["relief"]), &labels, "`relief` scores columns"),
        (with(&[], &["gda"]), &numbers, "`gda` needs classes"),
        (
            with(&[("nu", "0.2")], &["gda", "takes"]),
            &labels,
            "`nu` is not a parameter of any method that is compared: `gda`, `takes`",
        ),
        (with(&[("reg", "-1")], &["gda"]), &labels, "reg = -1, but it must be"),
        (with(&[("wrong", "1")], &["gda"]), &labels, "`wrong` is not a parameter"),
        (with(&[("gamma", "1")], &["gda"]), &labels, "gamma = 1 is among the settings"),
        (with(&[("kernel", "precomputed")], &["gda"]), &labels, "kernel = precomputed"),
        (Comparison { gammas: texts(&["wide"]), ..plain() }, &labels, "gamma = `wide`"),
        (Comparison { gammas: Vec::new(), ..plain() }, &labels, "no gamma was given"),
        (Comparison { evaluators: Vec::new(), ..plain() }, &labels, "no evaluator was given"),
        (
            Comparison { evaluators: vec![Evaluator::LinearSvm { c: None }], ..plain() },
            &numbers,
            "`linear-svm` needs classes",
        ),
        (Comparison { sizes: vec![Some(0)], ..plain() }, &labels, "numbers of features must be at least 1"),
        (Comparison { folds: 50, ..plain() }, &labels, "50 folds of 40 rows"),
        (Comparison { test_share: Some(1.5), ..plain() }, &labels, "test_share = 1.5"),
        (
            Comparison { options: Options::default().memory(1000), ..plain() },
            &labels,
            "but the budget is 1 kB",
        ),
    ] {
        let text = text(comparison, labels);
        assert!(text.contains(expected), "{text}");
    }
    let few = Labels::classes(&["a", "b"]);
    assert!(text(plain(), &few).contains("40 rows of 2 columns and 2 labels"), "{}", text(plain(), &few));
    let one = Labels::classes(&["a"; 40]);
    assert!(text(plain(), &one).contains("only one class"), "{}", text(plain(), &one));
    let hole = Rows::dense(vec![f64::NAN; 40], 40, 1).expect("rows");
    let nan = plain().check(&hole, &labels).expect_err("refused").to_string();
    assert!(nan.contains("NaN at row 1, column 1"), "{nan}");
    assert!(plain().check(&rows, &labels).is_ok());
}

#[test]
fn settings_reach_the_methods_that_have_them() {
    let (rows, labels) = table("ringnorm?n=100&seed=1");
    let comparison = Comparison {
        methods: texts(&["gda", "k-relief", "eks", "sparse", "sk-relief"]),
        settings: settings(&[
            ("basis", "kobl"),
            ("nu", "0.5"),
            ("n_features", "4"),
            ("basis_components", "12"),
            ("selector", "mi"),
        ]),
        evaluators: knn_alone(),
        ..Comparison::default()
    };
    let outcome = comparison.run(&rows, &labels).expect("compared");
    assert_eq!(find(&outcome, "gda", "knn").kernel_values, [12; 5]);
    assert_eq!(find(&outcome, "eks", "knn").n_features, [4; 5]);
    assert_eq!(find(&outcome, "k-relief", "knn").n_features, [4; 5]);
    assert_eq!(find(&outcome, "sk-relief", "knn").basis.as_deref(), Some(Method::Kobl.name()));
    assert!(find(&outcome, "sparse", "knn").n_features.iter().all(|m| *m < 80), "nu = 0.5 keeps fewer rows");
}
