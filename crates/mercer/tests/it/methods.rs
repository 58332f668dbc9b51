//! The catalogue: every method in it works, and every parameter's range is what it says.

use mercer::basis::Method;
use mercer::data::{Labels, Task, synth};
use mercer::extract::{Extractor, Start};
use mercer::methods::{
    BASES, EXTRACTORS, METHODS, PARAMETERS, SELECTORS, Stage, basis, extractor, extractor_basis, method,
    parameter, selector, system, system_basis, to_json,
};
use mercer::select::{Columns, Keep, Selector};
use mercer::{Monitor, Rows};

const NOTHING: [(&str, &str); 0] = [];

fn ringnorm() -> (Rows<'static>, Labels) {
    let table = synth::generate("ringnorm?n=120&seed=1").expect("rows");
    (table.rows, Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels"))
}

#[test]
fn every_basis_of_the_catalogue_fits_with_its_defaults() {
    let (rows, labels) = ringnorm();
    for name in BASES {
        let fitted = basis(name, &NOTHING).expect("settings").fit_supervised(&rows, &labels);
        assert!(fitted.expect(name).n_components() > 0);
    }
}

#[test]
fn every_selector_of_the_catalogue_scores_with_its_defaults() {
    let (rows, labels) = ringnorm();
    let monitor = Monitor::default();
    for name in SELECTORS {
        let (selector, keep) = selector(name, &NOTHING).expect("settings");
        assert_eq!((selector.name(), keep), (name, Keep::All));
        let scores = selector.score(&Columns::new(&rows, &labels, &monitor)).expect(name);
        assert_eq!(scores.scores.len(), rows.p(), "{name}");
        assert!(scores.scores.iter().all(|s| s.is_finite()), "{name}: {:?}", scores.scores);
    }
}

#[test]
fn every_system_of_the_catalogue_fits_with_its_defaults() {
    let (rows, labels) = ringnorm();
    for card in METHODS.iter().filter(|card| card.stage == Stage::System) {
        let mut warnings = Vec::new();
        let basis = system_basis(card.name, &NOTHING, rows.n(), &mut warnings).expect(card.name);
        let basis = basis.fit_supervised(&rows, &labels).expect(card.name);
        let fitted = system(card.name, &NOTHING).expect(card.name).fit(&rows, &labels, basis);
        let fitted = fitted.expect(card.name);
        assert!(fitted.map.n_features() > 0 && warnings.is_empty(), "{}", card.name);
        assert_eq!(fitted.map.method, card.name);
    }
}

#[test]
fn every_extractor_of_the_catalogue_fits_with_its_defaults() {
    let (rows, labels) = ringnorm();
    let monitor = Monitor::default();
    for name in EXTRACTORS.into_iter().chain(["kpca"]) {
        let mut warnings = Vec::new();
        let extractor = extractor(name, &NOTHING).expect(name);
        assert_eq!(extractor.name(), name);
        extractor.check(Some(&labels)).expect(name);
        let basis = extractor_basis(name, &NOTHING, rows.n(), &mut warnings).expect(name);
        let basis = extractor.basis(basis, &rows, Some(&labels)).expect(name);
        let basis = basis.fit_supervised(&rows, &labels).expect(name);
        let (map, found) = extractor.fit(&rows, &labels, basis, &monitor).expect(name);
        assert!(map.n_features() > 0 && warnings.is_empty(), "{name}");
        assert_eq!((map.method.as_str(), map.n_features()), (name, found.matrix.nrows()));
        let z = map.transform(&rows).expect(name);
        assert!((0..z.ncols()).all(|j| z.col(j).iter().all(|v| v.is_finite())), "{name}");
    }
}

#[test]
fn an_extractor_shares_its_settings_out_to_its_basis() {
    let none = &mut Vec::new();
    // The number of features and the size of the basis are two things.
    let settings = [("n_components", "3"), ("basis_components", "50"), ("gamma", "0.5"), ("seed", "7")];
    let found = extractor("skfe", &settings).expect("extractor");
    assert!(matches!(found, Extractor::from(skfe) if skfe.n_components == Some(3) && skfe.seed == 7));
    let basis = extractor_basis("skfe", &settings, 100, none).expect("basis");
    assert_eq!((basis.method, basis.n_components, basis.seed), (Method::Kobl, Some(50), 7));

    // What both have is the extractor's.
    let settings =
        [("basis", "kpca"), ("tol", "1e-3"), ("center", "true"), ("init", "gda"), ("max_iter", "9")];
    let found = extractor("skfe", &settings).expect("extractor");
    assert!(matches!(found, Extractor::from(skfe)
        if skfe.tol == 1e-3 && skfe.center && skfe.init == Start::Gda && skfe.max_iter == 9));
    let basis = extractor_basis("skfe", &settings, 100, none).expect("basis");
    assert_eq!((basis.method, basis.tol, basis.center), (Method::Kpca, None, false));

    // What the extractor does not have is the basis'.
    let settings = [("tol", "0.9"), ("center", "true"), ("n_neighbors", "4")];
    let found = extractor("klfe", &settings).expect("extractor");
    assert!(matches!(found, Extractor::from(klfe) if klfe.n_neighbors == 4 && klfe.n_components.is_none()));
    let basis = extractor_basis("klfe", &settings, 100, none).expect("basis");
    assert_eq!((basis.method, basis.tol, basis.center), (Method::Kpca, Some(0.9), true));

    let defaults = |name: &str| extractor(name, &NOTHING).expect("extractor");
    assert!(matches!(defaults("kpls"), Extractor::from(kpls) if kpls.n_components == 2));
    assert!(matches!(defaults("kanmm"), Extractor::from(kanmm) if kanmm.n_neighbors == 5));
    assert!(
        matches!(defaults("kmfa"), Extractor::from(k) if (k.k_within, k.k_between, k.reg) == (5, 20, 1e-3))
    );
    assert!(matches!(defaults("skfe"), Extractor::from(skfe) if skfe.tol == 1e-6 && skfe.max_iter == 200));

    // Kernel PCA's own basis is as large and as centred as it is itself.
    let basis = extractor_basis("kpca", &[("n_components", "4")], 100, none).expect("basis");
    assert_eq!((basis.method, basis.center, basis.n_components), (Method::Kpca, true, Some(4)));
    let basis =
        extractor_basis("kpca", &[("basis", "kobl"), ("n_components", "4")], 100, none).expect("basis");
    assert_eq!((basis.method, basis.center, basis.n_components), (Method::Kobl, false, None));

    let basis = extractor_basis("akda-qr", &[("gamma", "0.1"), ("reg", "0.5")], 100, none).expect("basis");
    assert_eq!((basis.method, basis.n_components), (Method::GramSchmidt, None));
    assert!(none.is_empty());

    for (name, before, beyond) in [
        ("klfe", Method::Kpca, Method::Kobl),
        ("gda", Method::GramSchmidt, Method::Kobl),
        ("akda-qr", Method::GramSchmidt, Method::GramSchmidt),
        ("kpca", Method::Kpca, Method::Kpca),
        ("skfe", Method::Kobl, Method::Kobl),
    ] {
        let mut warnings = Vec::new();
        let few = extractor_basis(name, &NOTHING, 5_000, &mut warnings).expect(name);
        assert_eq!((few.method, warnings.len()), (before, 0), "{name}");
        let many = extractor_basis(name, &NOTHING, 5_001, &mut warnings).expect(name);
        assert_eq!((many.method, warnings.len()), (beyond, usize::from(before != beyond)), "{name}");
    }
}

#[test]
fn an_extractor_refuses_settings_that_neither_it_nor_its_basis_has() {
    let text = |name: &str, settings: &[(&str, &str)]| {
        let by_rows = extractor_basis(name, settings, 100, &mut Vec::new()).map(|_| ());
        let early = extractor(name, settings).map(|_| ());
        by_rows.and(early).expect_err("refused").to_string()
    };
    let nu = text("gda", &[("nu", "0.5")]);
    assert!(nu.starts_with("`nu` is not a parameter of `gda` with `gram-schmidt`, `kobl`"), "{nu}");
    let size = text("koc", &[("n_components", "2")]);
    assert!(size.starts_with("`n_components` is not a parameter of `koc` with"), "{size}");
    assert!(!size.split_once("it has").expect("a list").1.contains(" n_components"), "{size}");
    assert!(
        text("akda-qr", &[("basis", "kobl")]).starts_with("`basis` is not a parameter of `akda-qr`; it has")
    );
    assert!(text("akda-qr", &[("tol", "0.1")]).starts_with("`tol` is not a parameter of `akda-qr`"));
    assert!(text("gda", &[("reg", "-1")]).contains("reg = -1, but it must be a finite number of at least 0"));
    assert!(text("skfe", &[("init", "pca")]).contains("init = pca, but it must be one of koc, gda"));
    assert!(text("skfe", &[("max_iter", "0")]).contains("a whole number of at least 1"));
    assert!(text("gda", &[("basis", "takes")]).contains("basis = takes, but it must be one of gram-schmidt"));
    assert!(text("takes", &[]).contains("extractor = `takes` is not known; use one of klfe, skfe"));
    let as_system = system("gda", &NOTHING).expect_err("refused").to_string();
    assert!(as_system.contains("`gda` is an extractor"), "{as_system}");
    let as_basis = basis("gda", &NOTHING).expect_err("refused").to_string();
    assert!(as_basis.contains("is not a basis"), "{as_basis}");
}

#[test]
fn the_lists_of_names_are_those_of_the_cards() {
    let of = |stage: Stage| METHODS.iter().filter(move |card| card.stage == stage).map(|card| card.name);
    assert!(of(Stage::Basis).eq(BASES) && BASES.iter().eq(Method::ALL.map(Method::name).iter()));
    assert!(of(Stage::Select).eq(SELECTORS));
    assert!(of(Stage::Extract).eq(EXTRACTORS));
    assert!(of(Stage::System).eq(["takes", "k-relief", "sk-relief", "eks"]));
    for card in METHODS {
        for (name, value) in card.defaults {
            assert!(card.parameters.contains(name), "{}: {name}", card.name);
            parameter(name).expect("known").check(value).expect(card.name);
        }
    }
}

#[test]
fn a_system_shares_its_settings_out_to_its_parts() {
    let settings = [
        ("basis", "kpca"),
        ("selector", "lasso"),
        ("cv", "3"),
        ("center", "true"),
        ("gamma", "0.5"),
        ("seed", "7"),
        ("n_features", "0.5"),
        ("n_components", "30"),
    ];
    let basis = system_basis("eks", &settings, 100, &mut Vec::new()).expect("basis");
    assert_eq!(
        (basis.method, basis.center, basis.seed, basis.n_components),
        (Method::Kpca, true, 7, Some(30))
    );
    let eks = system("eks", &settings).expect("system");
    assert_eq!((eks.keep, eks.weighted), (Keep::Share(0.5), false));
    assert!(matches!(eks.selector, Selector::Lasso(lasso) if lasso.cv == 3 && lasso.seed == 7));

    let plain = system("eks", &NOTHING).expect("system");
    assert_eq!((plain.keep, plain.selector.name()), (Keep::Share(2.0 / 3.0), "f"));
    let relieff = system("eks", &[("selector", "relieff")]).expect("system");
    assert!(matches!(relieff.selector, Selector::ReliefF(r) if r.n_neighbors == 10));
    let takes = system("takes", &[("reweight", "true"), ("threshold", "0.1")]).expect("system");
    assert_eq!((takes.keep, takes.weighted), (Keep::Positive, true));
    assert!(matches!(takes.selector, Selector::Kffs(kffs) if kffs.reweight));
    assert!(!system("takes", &[("weighted", "false")]).expect("system").weighted);
    let relief = system("k-relief", &[("power", "2"), ("n_neighbors", "4"), ("seed", "5")]).expect("system");
    assert_eq!((relief.keep, relief.weighted), (Keep::Count(10), false));
    assert!(matches!(relief.selector, Selector::Relief(r) if (r.power, r.n_neighbors, r.seed) == (2, 4, 5)));
    let sparse = system_basis("sk-relief", &[("nu", "0.3")], 100, &mut Vec::new()).expect("basis");
    assert_eq!((sparse.method, sparse.nu), (Method::Sparse, 0.3));

    let mut warnings = Vec::new();
    let large = system_basis("k-relief", &[("threshold", "0.1")], 6_000, &mut warnings).expect("basis");
    assert_eq!((large.method, warnings.len()), (Method::Kobl, 1));
}

#[test]
fn a_system_refuses_settings_that_none_of_its_parts_has() {
    let text = |name: &str, settings: &[(&str, &str)]| {
        let by_rows = system_basis(name, settings, 100, &mut Vec::new()).map(|_| ());
        let early = system(name, settings).map(|_| ());
        by_rows.and(early).expect_err("refused").to_string()
    };
    assert!(
        text("takes", &[("nu", "0.5")])
            .starts_with("`nu` is not a parameter of `takes` with `kobl`; it has basis")
    );
    let cv = text("eks", &[("cv", "5")]);
    assert!(cv.starts_with("`cv` is not a parameter of `eks` with `f`, `gram-schmidt`, `kobl`"), "{cv}");
    // Only the number of rows says that there is no `kobl` here.
    let threshold = text("k-relief", &[("threshold", "0.1")]);
    assert!(
        threshold.starts_with("`threshold` is not a parameter of `k-relief` with `gram-schmidt`"),
        "{threshold}"
    );
    let nu = text("sk-relief", &[("nu", "0.2"), ("basis", "kobl")]);
    assert!(nu.contains("nu = 0.2 is for the basis `sparse`, but basis = kobl"), "{nu}");
    system("sk-relief", &[("nu", "0.2"), ("basis", "sparse")]).expect("its own");
    assert!(text("eks", &[("basis", "takes")]).contains("basis = takes, but it must be one of gram-schmidt"));
    assert!(
        text("eks", &[("selector", "relif")]).contains("selector = `relif` is not known; use one of relief")
    );
    let metric = text("eks", &[("selector", "relief"), ("metric", "manhattan")]);
    assert!(metric.contains("neighbours are those of the kernel's space"), "{metric}");
    assert!(text("takes", &[("n_features", "1.5")]).contains("n_features = 1.5, but it must be"));
    let bare = text("relief", &[]);
    assert!(bare.contains("\nhint: `--method eks --selector relief`"), "{bare}");
    assert!(text("kobl", &[]).contains("`kobl` is a basis"));
    assert!(text("takess", &[]).contains("is not known; use one of gram-schmidt"));
}

#[test]
fn defaults_are_values_that_the_parameters_allow() {
    for p in PARAMETERS {
        assert!(p.default.is_some() || p.none.is_some(), "{} says what it is when not given", p.name);
        if let Some(default) = p.default {
            p.check(default).expect(p.name);
        }
        assert!(p.check("nonsense!").is_err(), "{}", p.name);
    }
    for card in METHODS {
        for name in card.parameters {
            parameter(name).expect("known");
        }
    }
}

#[test]
fn refusals_name_what_is_allowed() {
    let text =
        |name: &str, settings: &[(&str, &str)]| basis(name, settings).expect_err("refused").to_string();
    assert!(text("kobbl", &[]).contains("use one of gram-schmidt, kobl"));
    assert!(
        text("kobl", &[("nu", "0.5")]).starts_with("`nu` is not a parameter of `kobl`; it has kernel, gamma")
    );
    assert!(
        text("sparse", &[("nu", "1")]).contains("nu = 1, but it must be a number of at least 0 and below 1")
    );
    assert!(
        text("kobl", &[("kernel", "rbff")]).contains("kernel = rbff, but it must be one of rbf, laplacian")
    );
    assert!(text("kobl", &[("gamma", "-1")]).contains("a number above 0 or one of scale, auto"));
    assert!(text("kobl", &[("gamma", "inf")]).contains("gamma = inf"));
    assert!(text("kobl", &[("n_components", "2.5")]).contains("a whole number of at least 1"));
    assert!(text("kobl", &[("threshold", "power:-1")]).contains("`power:A` with A above 0"));
    assert!(text("kpca", &[("center", "yes")]).contains("true or false"));
    assert!(text("kobl", &[("widht", "1")]).contains("`widht` is not a parameter"));
    assert!(method("kobl").expect("known").help.contains("farthest"));
}

#[test]
fn the_json_holds_every_card() {
    let json = to_json();
    assert_eq!(json["methods"].as_array().expect("list").len(), METHODS.len());
    assert_eq!(json["parameters"].as_array().expect("list").len(), PARAMETERS.len());
}
