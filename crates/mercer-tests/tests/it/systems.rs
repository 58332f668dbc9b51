//! Systems are pairs: what they keep is what their parts would, and the map they end as is that of the columns kept.

use mercer::basis::{Landmarks, Method};
use mercer::data::{Labels, Task, synth};
use mercer::map::Weighting;
use mercer::methods::{Stage, names, selector};
use mercer::select::{Columns, Keep, Selection};
use mercer::{Basis, Error, FeatureMap, FittedBasis, Kernel, Monitor, Options, Rows, System};

use crate::kernel::{rows, sparse};
use crate::naive;

fn ringnorm(n: usize) -> (Rows<'static>, Labels) {
    let table = synth::generate(&format!("ringnorm?n={n}&seed=1")).expect("rows");
    (table.rows, Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels"))
}

fn basis(method: Method, x: &Rows, labels: &Labels) -> FittedBasis {
    Basis::new(method, Kernel::rbf(0.05)).n_components(40).fit_supervised(x, labels).expect("fits")
}

fn systems() -> Vec<System> {
    let none: [(&str, &str); 0] = [];
    let eks = |name: &&str| System::eks(selector(name, &none).expect("known").0);
    let mut all: Vec<System> = names(Stage::Select).iter().map(eks).collect();
    all.extend([System::takes(), System::k_relief(), System::sk_relief(), System::k_relief().weighted(true)]);
    all.extend([System::takes(), System::k_relief()].map(|system| system.weighted(Weighting::SquareRoot)));
    all
}

#[test]
fn a_system_keeps_what_its_selector_finds_best_in_the_coordinates_of_its_basis() {
    let (x, labels) = ringnorm(150);
    for system in systems() {
        for method in Method::ALL {
            let what = format!("{} with {} on {}", system.name(), system.selector.name(), method.name());
            let basis = basis(method, &x, &labels);
            let all = basis.expansion.transform(&x).expect("features");
            let monitor = Monitor::default();
            let coordinates = Rows::from_mat(all.as_ref());
            let columns = Columns {
                rows: &coordinates,
                labels: Some(&labels),
                space: Some((Kernel::rbf(0.05), &x)),
                categorical: &[],
                weights: None,
                monitor: &monitor,
            };
            let mut scores = system.selector.score(&columns).expect("scores");
            let fitted = system.fit(&x, &labels, basis.clone());
            // How many cross-validation asks for is tested by itself.
            scores.best_count = fitted.as_ref().ok().and_then(|fitted| fitted.scores.best_count);
            // That there are fewer than the default is no news; that a weight makes a feature 0 is.
            let mut kept = Selection { warnings: Vec::new(), ..scores.keep(system.keep) };
            let weights = scores.weights.as_ref().unwrap_or(&scores.scores);
            let is_weighted = system.weighted != Weighting::None;
            let zeros = kept.columns.iter().filter(|&&j| is_weighted && weights[j] <= 0.0).count();
            if zeros > 0 {
                kept.warnings.push(format!(
                    "{zeros} of the {} features kept have the weight 0, so they are 0 on every row; weighted = false \
                     keeps them as they are",
                    kept.columns.len()
                ));
            }
            let fitted = match fitted {
                Ok(fitted) => fitted,
                Err(e) => {
                    assert!(kept.columns.is_empty() && e.to_string().contains("none of the"), "{what}: {e}");
                    continue;
                }
            };
            assert_eq!((&fitted.scores, &fitted.selection), (&scores, &kept), "{what}");
            assert_eq!(fitted.map.n_features(), kept.columns.len(), "{what}");
            assert_eq!(fitted.map.method, system.name());
            let facts = &fitted.map.facts;
            assert_eq!(facts.basis.as_deref(), Some(method.name()));
            assert_eq!(facts.selector.as_deref(), Some(system.selector.name()));
            assert_eq!(facts.coordinates, Some(basis.n_components()));
            assert_eq!(facts.error_path.is_empty(), system.selector.name() != "kffs", "{what}");
            let names = FeatureMap::from(basis).feature_names;
            let z = fitted.map.transform(&x).expect("features");
            for (at, &j) in kept.columns.iter().enumerate() {
                assert_eq!(fitted.map.feature_names[at], names[j], "{what}");
                assert_eq!(fitted.map.scores[at], scores.scores[j], "{what}");
                let weight = match system.weighted {
                    Weighting::None => 1.0,
                    Weighting::Weight => weights[j],
                    Weighting::SquareRoot => weights[j].sqrt(),
                };
                for i in 0..150 {
                    assert!((z[(i, at)] - weight * all[(i, j)]).abs() < 1e-10 * weight.max(1.0), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_precomputed_kernel_and_sparse_rows_keep_the_same_coordinates() {
    let (x, labels) = ringnorm(120);
    let dense: naive::Matrix = x.to_dense().chunks_exact(x.p()).map(<[f64]>::to_vec).collect();
    let k = rows(&naive::gram("rbf", 0.05, 3, 1.0, 1.0, &dense));
    for system in [System::takes(), System::k_relief(), System::sk_relief()] {
        let own = system.fit(&x, &labels, basis(Method::Kobl, &x, &labels)).expect("fits");
        let thin = sparse(&dense);
        let thin = system.fit(&thin, &labels, basis(Method::Kobl, &thin, &labels)).expect("fits");
        let given = Basis::kobl(Kernel::precomputed()).n_components(40).fit(&k).expect("fits");
        let given = system.fit(&k, &labels, given).expect("fits");
        assert_eq!(own.selection.columns, given.selection.columns, "{}", system.name());
        assert_eq!(own.selection.columns, thin.selection.columns, "{}", system.name());
        assert!(matches!(given.map.expansion.landmarks, Landmarks::Columns { n: 120, .. }));
    }
    let given = Basis::kobl(Kernel::precomputed()).fit(&k).expect("fits");
    let few = System::takes().fit(&k.slice(0..50), &labels.select(&(0..50).collect::<Vec<_>>()), given);
    assert!(few.expect_err("not square").to_string().contains("must be the square matrix"));
}

#[test]
fn systems_refuse_what_they_cannot_do_in_words() {
    let (x, labels) = ringnorm(60);
    let text = |system: System, given: Option<&Labels>| {
        system.fit(&x, given, basis(Method::Kobl, &x, &labels)).expect_err("refused").to_string()
    };
    let none: [(&str, &str); 0] = [];
    let f = || selector("f", &none).expect("known").0;
    let weighted = text(System::eks(f()).weighted(true), Some(&labels));
    assert!(
        weighted.contains("`f` gives scores and no weights") && weighted.contains("\nhint: "),
        "{weighted}"
    );
    let rooted = text(System::eks(f()).weighted(Weighting::SquareRoot), Some(&labels));
    assert!(rooted.contains("weighted = sqrt, but `f` gives scores and no weights"), "{rooted}");
    let settings = [("metric", "manhattan")];
    let metric = text(System::eks(selector("relieff", &settings).expect("known").0), Some(&labels));
    assert!(metric.contains("neighbours are those of the kernel's space"), "{metric}");
    let unlabelled = text(System::takes(), None);
    assert!(
        unlabelled.contains("`takes` looks at the labels") && unlabelled.contains("hint: give them (y)"),
        "{unlabelled}"
    );
    let numbers = text(System::k_relief(), Some(&Labels::Numbers((0..60).map(f64::from).collect())));
    assert!(numbers.contains("needs classes"), "{numbers}");
    // A basis of the rows themselves and labels that have nothing to do with them: no p-value passes.
    let level = [("level", "1e-12")];
    let strict = text(System::eks(selector("fwe", &level).expect("known").0), Some(&labels));
    assert!(
        strict.contains("none of the 40 coordinates was kept") && strict.contains("\nhint: "),
        "{strict}"
    );
    let unsupervised = System::eks(selector("laplacian", &none).expect("known").0);
    let fitted = unsupervised.fit(&x, None, basis(Method::Kobl, &x, &labels)).expect("needs no labels");
    assert_eq!(fitted.map.n_features(), 26); // two thirds of 40
}

#[test]
fn cross_validation_decides_how_many_coordinates_are_kept() {
    let none: [(&str, &str); 0] = [];
    let eks = || System::eks(selector("f", &none).expect("known").0);
    let table = synth::generate("waveform?n=200&seed=1").expect("rows");
    let (x, labels) =
        (table.rows, Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels"));
    let forty = || Basis::kobl(Kernel::rbf(0.005)).n_components(40).fit(&x).expect("fits");
    let fitted = eks().fit(&x, &labels, forty()).expect("fits");
    assert_eq!(eks().keep, Keep::CrossValidated);
    assert_eq!(fitted.scores.best_count, Some(fitted.map.n_features()));
    let best = fitted.scores.keep(Keep::Count(fitted.map.n_features())).columns;
    assert_eq!(fitted.selection.columns, best);
    // Labels that have nothing to do with the rows: no coordinate helps.
    let noise = Labels::classes(&(0..200).map(|i| ["a", "b"][i / 7 % 2]).collect::<Vec<_>>());
    let of_noise = eks().fit(&x, &noise, forty()).expect("fits");
    assert_eq!(of_noise.map.n_features(), 1);
    assert!((2..40).contains(&fitted.map.n_features()), "{}", fitted.map.n_features());
    // A selector that decides itself keeps no more than it chose.
    let strict = System::eks(selector("fwe", &[("level", "0.001")]).expect("known").0);
    let fitted = strict.fit(&x, &labels, forty()).expect("fits");
    let chosen = fitted.scores.chosen.as_ref().expect("its choice");
    assert!(fitted.selection.columns.iter().all(|&j| chosen[j]));
    let refused = selector("relief", &[("n_features", "cv")]).expect_err("not for any columns").to_string();
    assert!(refused.contains("the systems eks, k-relief") && refused.contains("\nhint: "), "{refused}");
}

#[test]
fn warnings_of_every_part_reach_the_caller() {
    let (x, labels) = ringnorm(60);
    let many = Basis::kobl(Kernel::rbf(0.05)).n_components(100).fit(&x).expect("fits");
    let system = System::k_relief().keep(Keep::Count(500)).weighted(true);
    let fitted = system.fit(&x, &labels, many).expect("fits");
    let warned = |what: &str| fitted.warnings.iter().any(|w| w.contains(what));
    assert!(warned("n_components = 100") && warned("n_features = 500"), "{:?}", fitted.warnings);
    let idle = fitted.scores.weights.as_ref().expect("weights").iter().filter(|w| **w == 0.0).count();
    assert!(idle > 0 && warned(&format!("{idle} of the ")), "{:?}", fitted.warnings);
}

#[test]
fn a_stopped_system_ends_with_interrupted() {
    let (x, labels) = ringnorm(60);
    let basis = basis(Method::Kobl, &x, &labels);
    let options = Options::default();
    options.monitor.stop();
    let stopped = System::takes().fit_with(&x, Some(&labels), basis, None, &options);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn every_system_comes_with_its_basis() {
    let default = |system: &System, n: usize| {
        let mut warnings = Vec::new();
        (system.default_basis(n, &mut warnings), warnings.len())
    };
    let none: [(&str, &str); 0] = [];
    let eks = System::eks(selector("f", &none).expect("known").0);
    assert_eq!(eks.selector.name(), "f");
    for n in [10, 5_000, 5_001] {
        assert_eq!(default(&System::takes(), n), (Method::Kobl, 0));
        assert_eq!(default(&System::sk_relief(), n), (Method::Sparse, 0));
        let or_usual = |few: Method| if n > 5_000 { (Method::Rpcholesky, 1) } else { (few, 0) };
        assert_eq!(default(&System::k_relief(), n), or_usual(Method::Kpca));
        assert_eq!(default(&eks, n), or_usual(Method::GramSchmidt));
    }
}
