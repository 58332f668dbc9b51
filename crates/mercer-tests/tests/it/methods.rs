//! The registry: every method in it works, and every parameter's range is what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::Path;

use mercer::basis::Method;
use mercer::data::{Labels, Task, synth};
use mercer::extract::{AkdaQr, Extractor, Gda, Kanmm, Kmfa, Koc, Kpca, Kpls, Skfe, Start};
use mercer::map::Weighting;
use mercer::methods::{
    Kind, MethodSpec, Stage, all, basis, extractor, method, names, parameter, parameters, selector, to_json,
};
use mercer::pipeline::{Found, Head};
use mercer::select::{
    Columns, FTest, IRelief, Keep, Kffs, Laplacian, Lasso, MultiSurf, MutualInfo, NeighborCount, RReliefF,
    Radius, Relief, ReliefF, Selector,
};
use mercer::{Basis, Gamma, Kernel, Klfe, Monitor, Options, Pipeline, Rows, System};

const NOTHING: [(&str, &str); 0] = [];

fn ringnorm() -> (Rows<'static>, Labels) {
    let table = synth::generate("ringnorm?n=120&seed=1").expect("rows");
    (table.rows, Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels"))
}

/// n rows in two classes, for settings that depend on the number of rows alone.
fn plain(n: usize) -> (Rows<'static>, Labels) {
    let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let names: Vec<&str> = (0..n).map(|i| ["a", "b"][i % 2]).collect();
    (Rows::dense(values, n, 1).expect("rows"), Labels::classes(&names))
}

/// The basis that a pipeline fits on n rows, and how many warnings come with it.
fn basis_for(method: &str, settings: &[(&str, &str)], n: usize) -> mercer::Result<(Basis, usize)> {
    let (rows, labels) = plain(n);
    let mut warnings = Vec::new();
    let basis = Pipeline::new(method, settings)?.basis(&rows, Some(&labels), &mut warnings)?;
    Ok((basis, warnings.len()))
}

fn extractor_of(method: &str, settings: &[(&str, &str)]) -> Extractor {
    match Pipeline::new(method, settings).expect(method).head {
        Head::Extract(extractor) => extractor,
        head => panic!("{method} is {head:?}"),
    }
}

fn system_of(method: &str, settings: &[(&str, &str)]) -> System {
    match Pipeline::new(method, settings).expect(method).head {
        Head::Select(system) => system,
        head => panic!("{method} is {head:?}"),
    }
}

/// Settings are compared as they are printed, every field with its value.
fn assert_settings(found: &dyn Debug, expected: &dyn Debug) {
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
}

/// A system's settings. Its spec holds functions, whose addresses differ from place to place.
fn settings_of(system: &System) -> impl Debug + use<> {
    (system.name(), system.selector.clone(), system.keep, system.weighted)
}

fn refusal(method: &str, settings: &[(&str, &str)]) -> String {
    basis_for(method, settings, 100).expect_err("refused").to_string()
}

#[test]
fn every_basis_of_the_registry_fits_with_its_defaults() {
    let (rows, labels) = ringnorm();
    for name in names(Stage::Basis) {
        let fitted = basis(name, &NOTHING).expect("settings").fit_supervised(&rows, &labels);
        assert!(fitted.expect(name).n_components() > 0);
    }
}

#[test]
fn every_selector_of_the_registry_scores_with_its_defaults() {
    let (rows, labels) = ringnorm();
    let monitor = Monitor::default();
    for name in names(Stage::Select) {
        let (selector, keep) = selector(name, &NOTHING).expect("settings");
        assert_eq!((selector.name(), keep), (name, Keep::All));
        let scores = selector.score(&Columns::new(&rows, &labels, &monitor)).expect(name);
        assert_eq!(scores.scores.len(), rows.p(), "{name}");
        assert!(scores.scores.iter().all(|s| s.is_finite()), "{name}: {:?}", scores.scores);
    }
}

#[test]
fn every_system_of_the_registry_fits_with_its_defaults() {
    let (rows, labels) = ringnorm();
    for name in names(Stage::System) {
        let pipeline = Pipeline::new(name, &NOTHING).expect(name);
        let fitted = pipeline.fit(&rows, Some(&labels), &Options::default()).expect(name);
        assert!(fitted.map.n_features() > 0 && fitted.warnings.is_empty(), "{name}: {:?}", fitted.warnings);
        assert_eq!(fitted.map.method, name);
    }
}

#[test]
fn every_extractor_of_the_registry_fits_with_its_defaults() {
    let (rows, labels) = ringnorm();
    for name in names(Stage::Extract).into_iter().chain(["kpca"]) {
        let extractor = extractor(name, &NOTHING).expect(name);
        assert_eq!(extractor.name(), name);
        extractor.check(Some(&labels)).expect(name);
        let fitted = Pipeline::extract(extractor).fit(&rows, Some(&labels), &Options::default()).expect(name);
        let map = &fitted.map;
        assert!(map.n_features() > 0 && fitted.warnings.is_empty(), "{name}: {:?}", fitted.warnings);
        let Found::Directions(found) = &fitted.found else { panic!("{name}: {:?}", fitted.found) };
        assert_eq!((map.method.as_str(), map.n_features()), (name, found.matrix.nrows()));
        let z = map.transform(&rows).expect(name);
        assert!((0..z.ncols()).all(|j| z.col(j).iter().all(|v| v.is_finite())), "{name}");
    }
}

#[test]
fn an_extractor_shares_its_settings_out_to_its_basis() {
    let with_basis = |name: &str, settings: &[(&str, &str)]| {
        let (basis, warnings) = basis_for(name, settings, 100).expect(name);
        assert_eq!(warnings, 0, "{name}");
        (extractor_of(name, settings), basis)
    };
    // The number of features and the size of the basis are two things.
    let settings = [("n_components", "3"), ("basis_components", "50"), ("gamma", "0.5"), ("seed", "7")];
    let (found, basis) = with_basis("skfe", &settings);
    assert_settings(&*found, &Skfe { n_components: Some(3), seed: 7, ..Skfe::default() });
    assert_eq!((basis.method, basis.n_components, basis.seed), (Method::Kobl, Some(50), 7));

    // What both have is the extractor's.
    let settings =
        [("basis", "kpca"), ("tol", "1e-3"), ("center", "true"), ("init", "gda"), ("max_iter", "9")];
    let (found, basis) = with_basis("skfe", &settings);
    let skfe = Skfe { tol: 1e-3, center: true, init: Start::Gda, max_iter: 9, ..Skfe::default() };
    assert_settings(&*found, &skfe);
    assert_eq!((basis.method, basis.tol, basis.center), (Method::Kpca, None, false));

    // What the extractor does not have is the basis'.
    let settings = [("tol", "0.9"), ("center", "true"), ("n_neighbors", "4")];
    let (found, basis) = with_basis("klfe", &settings);
    assert_settings(&*found, &Klfe { n_components: None, n_neighbors: 4, ..Klfe::default() });
    assert_eq!((basis.method, basis.tol, basis.center), (Method::Kpca, Some(0.9), true));

    // Kernel PCA's own basis is as large and as centred as it is itself.
    let (rows, _) = plain(100);
    let kpca = Extractor::from(Kpca { n_components: Some(4), ..Kpca::default() });
    let basis = Pipeline::extract(Kpca { n_components: Some(4), ..Kpca::default() });
    let basis = basis.basis(&rows, None, &mut Vec::new()).expect("basis");
    assert_eq!((basis.method, basis.center, basis.n_components), (Method::Kpca, true, Some(4)));
    let basis = kpca.basis(Basis::kobl(Kernel::rbf(1.0)), &rows, None).expect("basis");
    assert_eq!((basis.method, basis.center, basis.n_components), (Method::Kobl, false, None));

    let (_, basis) = with_basis("akda-qr", &[("gamma", "0.1"), ("reg", "0.5")]);
    assert_eq!(
        (basis.method, basis.n_components, basis.gamma),
        (Method::GramSchmidt, None, Gamma::Value(0.1))
    );

    for (name, before, beyond) in [
        ("klfe", Method::Kpca, Method::Rpcholesky),
        ("gda", Method::Kfa, Method::Rpcholesky),
        ("akda-qr", Method::GramSchmidt, Method::GramSchmidt),
        ("skfe", Method::Kobl, Method::Rpcholesky),
    ] {
        let (few, warnings) = basis_for(name, &NOTHING, 5_000).expect(name);
        assert_eq!((few.method, warnings), (before, 0), "{name}");
        let (many, warnings) = basis_for(name, &NOTHING, 5_001).expect(name);
        let told = before != beyond && before != Method::Kfa;
        assert_eq!((many.method, warnings), (beyond, usize::from(told)), "{name}");
    }
    for n in [5_000, 5_001] {
        assert_eq!(Extractor::from(Kpca::default()).default_basis(n, &mut Vec::new()), Method::Kpca);
    }
}

#[test]
fn an_extractor_refuses_settings_that_neither_it_nor_its_basis_has() {
    let nu = refusal("gda", &[("nu", "0.5")]);
    assert!(nu.starts_with("`nu` is not a parameter of `gda` with `kfa`, `rpcholesky`"), "{nu}");
    let size = refusal("koc", &[("n_components", "2")]);
    assert!(size.starts_with("`n_components` is not a parameter of `koc` with"), "{size}");
    assert!(!size.split_once("it has").expect("a list").1.contains(" n_components"), "{size}");
    let other = refusal("akda-qr", &[("basis", "kobl")]);
    assert!(other.starts_with("`basis` is not a parameter of `akda-qr`; it has"), "{other}");
    assert!(refusal("akda-qr", &[("tol", "0.1")]).starts_with("`tol` is not a parameter of `akda-qr`"));
    let reg = refusal("gda", &[("reg", "-1")]);
    assert!(reg.contains("reg = -1, but it must be a finite number of at least 0"), "{reg}");
    assert!(refusal("skfe", &[("init", "pca")]).contains("init = pca, but it must be one of koc, gda"));
    assert!(refusal("skfe", &[("max_iter", "0")]).contains("a whole number of at least 1"));
    let no_basis = refusal("gda", &[("basis", "takes")]);
    assert!(no_basis.contains("basis = takes, but it must be one of gram-schmidt"), "{no_basis}");
    let no_extractor = extractor("takes", &NOTHING).expect_err("refused").to_string();
    assert!(
        no_extractor.contains("extractor = `takes` is not known; use one of klfe, skfe"),
        "{no_extractor}"
    );
    let as_basis = basis("gda", &NOTHING).expect_err("refused").to_string();
    assert!(as_basis.contains("is not a basis"), "{as_basis}");
}

#[test]
fn names_are_unique_and_every_stage_lists_its_own() {
    assert!(names(Stage::Basis).into_iter().eq(Method::ALL.map(Method::name)));
    assert_eq!(names(Stage::System), ["takes", "k-relief", "sk-relief", "eks"]);
    let stages = [Stage::Basis, Stage::Select, Stage::Extract, Stage::System];
    let listed: Vec<&str> = stages.into_iter().flat_map(names).collect();
    assert_eq!(listed.len(), all().count());
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "{listed:?}");
    for spec in all() {
        assert_eq!(method(spec.name).expect("known").name, spec.name);
        let own: BTreeSet<&str> = spec.parameters.iter().map(|p| p.name).collect();
        assert_eq!(own.len(), spec.parameters.len(), "{} has a parameter twice", spec.name);
    }
}

/// Every method of the registry, and principal components as an extractor, whose name is that of the basis.
fn specs() -> Vec<&'static MethodSpec> {
    all().chain([extractor("kpca", &NOTHING).expect("known").spec()]).collect()
}

#[test]
fn the_file_of_every_method_is_there() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mercer/src");
    for spec in specs() {
        let text = std::fs::read_to_string(library.join(spec.file)).expect(spec.file);
        assert!(
            text.contains(&format!("name: \"{}\"", spec.name)),
            "{} does not define {}",
            spec.file,
            spec.name
        );
    }
}

#[test]
fn every_method_is_made_from_its_defaults() {
    for spec in specs() {
        for parameter in spec.parameters {
            let name = format!("{} of {}", parameter.name, spec.name);
            assert!(
                parameter.default.is_some() != parameter.none.is_some(),
                "{name} says what it is when not given"
            );
            if let Some(default) = parameter.default {
                parameter.check(default).expect(&name);
            }
            assert!(parameter.check("nonsense!").is_err(), "{name}");
            assert!(!parameter.help.is_empty() && !parameter.allowed().is_empty(), "{name}");
        }
        let defaults: Vec<(&str, &str)> =
            spec.parameters.iter().filter_map(|p| Some((p.name, p.default?))).collect();
        let [plain, given]: [Box<dyn Debug>; 2] =
            [&NOTHING[..], &defaults[..]].map(|settings| match spec.stage {
                Stage::Select => Box::new(selector(spec.name, settings).expect(spec.name)) as Box<dyn Debug>,
                Stage::Extract => Box::new(extractor(spec.name, settings).expect(spec.name)),
                Stage::Basis => Box::new(basis(spec.name, settings).expect(spec.name)),
                Stage::System => Box::new(settings_of(&system_of(spec.name, settings))),
            });
        assert_settings(&plain, &given);
        if !matches!(spec.stage, Stage::Select) {
            Pipeline::new(spec.name, &NOTHING).expect(spec.name);
        }
    }
}

#[test]
fn defaults_in_rust_are_those_of_the_registry() {
    let typed: Vec<Extractor> = vec![
        Klfe::default().into(),
        Skfe::default().into(),
        Gda::default().into(),
        Koc::default().into(),
        AkdaQr::default().into(),
        Kpls::default().into(),
        Kmfa::default().into(),
        Kanmm::default().into(),
        Kpca::default().into(),
    ];
    assert!(typed.iter().map(Extractor::name).eq(names(Stage::Extract).into_iter().chain(["kpca"])));
    for typed in typed {
        assert_settings(&extractor(typed.name(), &NOTHING).expect("known"), &typed);
    }

    let typed: Vec<Selector> = vec![
        Relief::default().into(),
        ReliefF::default().into(),
        RReliefF::default().into(),
        IRelief::default().into(),
        MultiSurf { radius: Radius::Mean, ..MultiSurf::default() }.into(),
        MultiSurf { radius: Radius::Mean, star: true, ..MultiSurf::default() }.into(),
        MultiSurf::default().into(),
        MultiSurf { star: true, ..MultiSurf::default() }.into(),
        Kffs::default().into(),
        FTest::default().into(),
        MutualInfo::default().into(),
        Laplacian::default().into(),
        Lasso::default().into(),
    ];
    // The F-test has one struct and four names.
    let with_default = names(Stage::Select).into_iter().filter(|name| !["fpr", "fdr", "fwe"].contains(name));
    assert!(typed.iter().map(Selector::name).eq(with_default));
    for typed in typed {
        assert_settings(&selector(typed.name(), &NOTHING).expect("known"), &(&typed, Keep::All));
    }

    let typed = [System::takes(), System::k_relief(), System::sk_relief(), System::eks(FTest::default())];
    assert!(typed.iter().map(System::name).eq(names(Stage::System)));
    for typed in typed {
        assert_settings(&settings_of(&system_of(typed.name(), &NOTHING)), &settings_of(&typed));
    }

    for method in Method::ALL {
        let typed = Basis::new(method, Kernel::rbf(1.0)).gamma(Gamma::Unset);
        assert_settings(&basis(method.name(), &NOTHING).expect("known"), &typed);
    }

    // Some of them as numbers, as a reader of the documentation expects them.
    assert_eq!((Kpls::default().n_components, Kanmm::default().n_neighbors), (None, 10));
    let kmfa = Kmfa::default();
    assert_eq!((kmfa.k_within, kmfa.k_between, kmfa.reg), (5, 100, 0.1));
    let skfe = Skfe::default();
    assert_eq!((skfe.tol, skfe.max_iter), (1e-6, 50));
    assert_eq!(ReliefF::default().n_neighbors, NeighborCount::Count(10));
    assert_eq!(System::eks(FTest::default()).keep, Keep::CrossValidated);
}

#[test]
fn parameters_of_one_name_are_of_one_kind() {
    let kind = |kind: Kind| match kind {
        Kind::Whole { .. } => "whole",
        Kind::Number { .. } => "number",
        Kind::Choice(_) | Kind::ChoiceOr { .. } => "choice",
        Kind::WholeOr { .. } => "whole number or word",
        Kind::NumberOr(_) => "number or word",
        Kind::Text { name, .. } => name,
        Kind::Flag => "flag",
        Kind::FlagOr(_) => "flag or word",
    };
    let mut known: BTreeMap<&str, (&str, String)> = BTreeMap::new();
    for spec in specs() {
        // An extractor's number of features is a plain number; that of a basis' components may follow the labels.
        let is_size = |name: &str| spec.stage == Stage::Extract && name == "n_components";
        // Only those of the Relief family may be a share of the rows.
        let counts_alone =
            |name: &str| name == "n_neighbors" && ["mi", "laplacian", "klfe", "kanmm"].contains(&spec.name);
        for parameter in spec.parameters.iter().filter(|p| !is_size(p.name) && !counts_alone(p.name)) {
            // KLFE knows the kernel's own distance, which plain columns have not.
            let own_words = (spec.name, parameter.name) == ("klfe", "metric");
            let found = (
                kind(parameter.kind),
                if own_words { "euclidean | manhattan".into() } else { parameter.allowed() },
            );
            let first = known.entry(parameter.name).or_insert_with(|| found.clone());
            assert_eq!(*first, found, "{} of {}", parameter.name, spec.name);
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
    let (basis, _) = basis_for("eks", &settings, 100).expect("basis");
    assert_eq!(
        (basis.method, basis.center, basis.seed, basis.n_components),
        (Method::Kpca, true, 7, Some(30))
    );
    let eks = system_of("eks", &settings);
    assert_eq!((eks.keep, eks.weighted), (Keep::Share(0.5), Weighting::None));
    assert_settings(&*eks.selector, &Lasso { cv: 3, seed: 7, ..Lasso::default() });

    let plain = system_of("eks", &NOTHING);
    assert_eq!((plain.keep, plain.selector.name()), (Keep::CrossValidated, "f"));
    let relieff = system_of("eks", &[("selector", "relieff")]);
    assert_settings(&*relieff.selector, &ReliefF::default());
    let takes = system_of("takes", &[("reweight", "true"), ("threshold", "0.1")]);
    assert_eq!((takes.keep, takes.weighted), (Keep::Positive, Weighting::Weight));
    assert_settings(&*takes.selector, &Kffs { reweight: true, theta: 1 });
    for (name, weighting) in Weighting::NAMES {
        assert_eq!(system_of("takes", &[("weighted", name)]).weighted, weighting);
        let settings = [("selector", "relief"), ("weighted", name)];
        assert_eq!(system_of("eks", &settings).weighted, weighting);
    }
    let relief = system_of("k-relief", &[("power", "2"), ("n_neighbors", "4"), ("seed", "5")]);
    assert_eq!((relief.keep, relief.weighted), (Keep::CrossValidated, Weighting::None));
    assert_settings(
        &*relief.selector,
        &Relief { power: 2, n_neighbors: 4.into(), seed: 5, ..Relief::default() },
    );
    let (sparse, _) = basis_for("sk-relief", &[("nu", "0.3")], 100).expect("basis");
    assert_eq!((sparse.method, sparse.nu), (Method::Sparse, Some(0.3)));

    let (large, warnings) = basis_for("k-relief", &NOTHING, 6_000).expect("basis");
    assert_eq!((large.method, warnings), (Method::Rpcholesky, 1));
}

#[test]
fn a_system_refuses_settings_that_none_of_its_parts_has() {
    let nu = refusal("takes", &[("nu", "0.5")]);
    assert!(nu.starts_with("`nu` is not a parameter of `takes` with `kobl`; it has basis"), "{nu}");
    let cv = refusal("eks", &[("cv", "5")]);
    assert!(
        cv.starts_with("`cv` is not a parameter of `eks` with `f`, `gram-schmidt`, `rpcholesky`"),
        "{cv}"
    );
    // Only the number of rows says that there is no `kobl` here.
    let threshold = refusal("k-relief", &[("threshold", "0.1")]);
    assert!(threshold.starts_with("`threshold` is not a parameter of `k-relief` with `kpca`"), "{threshold}");
    let nu = refusal("sk-relief", &[("nu", "0.2"), ("basis", "kobl")]);
    assert!(nu.contains("nu = 0.2 is for the basis `sparse`, but basis = kobl"), "{nu}");
    basis_for("sk-relief", &[("nu", "0.2"), ("basis", "sparse")], 100).expect("its own");
    let no_basis = refusal("eks", &[("basis", "takes")]);
    assert!(no_basis.contains("basis = takes, but it must be one of gram-schmidt"), "{no_basis}");
    let misspelt = refusal("eks", &[("selector", "relif")]);
    assert!(misspelt.contains("selector = `relif` is not known; use one of relief"), "{misspelt}");
    let metric = refusal("eks", &[("selector", "relief"), ("metric", "manhattan")]);
    assert!(metric.contains("neighbours are those of the kernel's space"), "{metric}");
    assert!(refusal("takes", &[("n_features", "1.5")]).contains("n_features = 1.5, but it must be"));
    let bare = refusal("relief", &[]);
    assert!(bare.contains("\nhint: use the method `eks` with selector = `relief`"), "{bare}");
    assert!(refusal("takess", &[]).contains("is not known; use one of gram-schmidt"));
}

#[test]
fn every_parameter_is_shared_with_the_methods_that_have_it() {
    let shared = parameters();
    let names: BTreeSet<&str> = all().flat_map(|spec| spec.parameters).map(|p| p.name).collect();
    assert_eq!(shared.iter().map(|p| p.name).collect::<BTreeSet<_>>(), names);
    assert_eq!(shared.len(), names.len(), "each once");
    for p in shared {
        assert!(p.default.is_some() != p.none.is_some(), "{} says what it is when not given", p.name);
        if let Some(default) = p.default {
            let same =
                all().filter_map(|spec| spec.parameter(p.name)).all(|own| own.default == Some(default));
            assert!(same, "{} is {default} for every method", p.name);
        }
        assert_eq!(parameter(p.name).expect("known").help, p.help);
    }
    assert!(parameter("widht").expect_err("unknown").to_string().contains("use one of kernel"));
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
        text("kobl", &[("kernel", "rbff")])
            .contains("kernel = `rbff` is not known; use one of rbf, laplacian")
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
fn the_json_holds_every_method_and_parameter() {
    let json: serde_json::Value = serde_json::from_str(&to_json()).expect("JSON");
    let names = |list: &str| -> Vec<String> {
        let list = json[list].as_array().expect("a list");
        list.iter().map(|entry| entry["name"].as_str().expect("a name").to_string()).collect()
    };
    assert!(names("methods").iter().eq(all().map(|spec| spec.name)));
    assert!(names("parameters").iter().eq(parameters().iter().map(|p| p.name)));
}
