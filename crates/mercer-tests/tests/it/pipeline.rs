//! The one pipeline: it finds what its parts find, hands on what was asked for, and keeps to its options.

use std::time::Duration;

use faer::{Mat, MatMut};
use mercer::basis::{Method, Precision};
use mercer::data::{Labels, Scale, Scaling, Task, synth};
use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::evaluate::{Adviser, Comparison};
use mercer::extract::{AkdaQr, Extractor, Gda, Kanmm, Kmfa, Koc, Kpca, Kpls, Skfe};
use mercer::map::PreparedMap;
use mercer::methods::{Stage, names};
use mercer::pipeline::{Found, Head};
use mercer::{
    Basis, Checkpoint, Error, FeatureMap, FittedBasis, Gamma, Kernel, Klfe, Monitor, Options, Pipeline,
    Result, Rows,
};
use rayon::prelude::*;

use crate::kernel::rows;
use crate::naive;

fn table(spec: &str) -> (Rows<'static>, Labels) {
    let table = synth::generate(spec).expect("rows");
    (table.rows, Labels::decide(table.target.expect("a target"), Task::Auto).expect("labels"))
}

/// Every method of the registry with its defaults, and principal components in the coordinates of another basis.
fn pipelines() -> Vec<Pipeline> {
    let of = |stage| names(stage).into_iter().map(|name| Pipeline::new::<&str>(name, &[]).expect(name));
    let stages = [Stage::Basis, Stage::System, Stage::Extract];
    let mut all: Vec<Pipeline> = stages.into_iter().flat_map(of).collect();
    all.push(Pipeline::extract(Kpca::default()).on(Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Scale)));
    all
}

/// What is made of a basis that was fitted beforehand.
fn head_by_hand(
    head: &Head,
    x: &Rows,
    labels: &Labels,
    basis: FittedBasis,
    coordinates: Option<&Rows>,
) -> Result<FeatureMap> {
    let options = Options::default();
    match head {
        Head::Coordinates => Ok(FeatureMap::from(basis)),
        Head::Select(system) => Ok(system.fit_with(x, Some(labels), basis, coordinates, &options)?.map),
        Head::Extract(extractor) => Ok(extractor.fit(x, labels, basis, coordinates, &options)?.0),
    }
}

/// The largest difference, relative to the largest number.
fn apart(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    (a - b).norm_max() / b.norm_max()
}

#[test]
fn a_pipeline_finds_what_its_basis_and_its_head_find_by_hand() {
    let (x, labels) = table("ringnorm?n=150&seed=1");
    for pipeline in pipelines() {
        let name = pipeline.spec.name;
        let fitted = pipeline.fit(&x, Some(&labels), &Options::default()).expect(name);
        let basis = pipeline.basis(&x, Some(&labels), &mut Vec::new()).expect(name);
        let (fitted_basis, z) =
            basis.fit_with(&x, Some(&labels), &Options::default().with_coordinates()).expect(name);
        assert_eq!(fitted.basis.expansion, fitted_basis.expansion, "{name}");
        // With the coordinates that the fit of the basis held, as in the pipeline, it is the same to the last bit.
        let map = head_by_hand(&pipeline.head, &x, &labels, fitted_basis.clone(), z.as_ref()).expect(name);
        assert_eq!(fitted.map, map, "{name}");
        // With coordinates recomputed from the map it is the same but for rounding.
        let map = head_by_hand(&pipeline.head, &x, &labels, fitted_basis, None).expect(name);
        let [a, b] = [&fitted.map, &map].map(|map| map.transform(&x).expect("features"));
        let off = apart(&a, &b);
        // A search ends where rounding leads it.
        assert!(off <= if name == "skfe" { 1e-6 } else { 1e-10 }, "{name}: {off:e}");
        assert_eq!(fitted.map.warnings, fitted.warnings, "{name}");
    }
}

#[test]
fn what_was_found_fits_the_map() {
    let (x, labels) = table("waveform?n=120&seed=1");
    for pipeline in pipelines() {
        let name = pipeline.spec.name;
        let fitted = pipeline.fit(&x, Some(&labels), &Options::default()).expect(name);
        let (q, m) = (fitted.map.n_features(), fitted.basis.n_components());
        match (&pipeline.head, &fitted.found) {
            (Head::Coordinates, Found::Coordinates) => assert_eq!(q, m, "{name}"),
            (Head::Select(_), Found::Selected(scores, selection)) => {
                assert_eq!((scores.scores.len(), selection.columns.len()), (m, q), "{name}");
                let place = |at: usize| selection.ranking[selection.columns[at]];
                assert!(fitted.best().is_sorted_by_key(|&at| place(at)), "{name}");
            }
            (Head::Extract(_), Found::Directions(found)) => {
                assert_eq!((found.matrix.nrows(), found.matrix.ncols()), (q, m), "{name}");
                assert!(fitted.best().into_iter().eq(0..q), "{name}");
            }
            (head, found) => panic!("{name}: {head:?} found {found:?}"),
        }
    }
}

#[test]
fn coordinates_come_back_where_they_are_asked_for_and_are_those_of_the_basis() {
    let (x, labels) = table("ringnorm?n=150&seed=2");
    for pipeline in pipelines() {
        let name = pipeline.spec.name;
        let options = Options::default().with_coordinates();
        let fitted = pipeline.fit(&x, Some(&labels), &options).expect(name);
        let z = fitted.coordinates.expect("asked for");
        assert_eq!((z.n(), z.p()), (150, fitted.basis.n_components()), "{name}");
        let right = fitted.basis.expansion.transform(&x).expect("coordinates");
        let z = z.to_dense();
        let z = faer::MatRef::from_row_major_slice(&z, right.nrows(), right.ncols()).to_owned();
        let off = apart(&z, &right);
        assert!(off <= 1e-6, "{name}: {off:e}");
        let plain = pipeline.fit(&x, Some(&labels), &Options::default()).expect(name);
        assert!(plain.coordinates.is_none(), "{name}");
        assert_eq!(plain.map, fitted.map, "{name}: to ask for them changes nothing");
    }
}

#[test]
fn warnings_of_every_part_are_in_the_map() {
    let mut case = naive::random_rows(40, 3, 372);
    case.iter_mut().enumerate().for_each(|(i, row)| row[0] += [0.0, 2.0][i % 2]);
    let names: Vec<&str> = (0..40).map(|i| if i == 11 { "alone" } else { ["a", "b"][i % 2] }).collect();
    let (x, labels) = (rows(&case), Labels::classes(&names));
    // Basis, head, and what comes with many rows' worth of components.
    let basis = Basis::kobl(Kernel::rbf(0.3)).n_components(60);
    let fitted_basis = basis.fit(&x).expect("fits");
    assert!(fitted_basis.warnings[0].starts_with("n_components = 60"), "{:?}", fitted_basis.warnings);
    let means = AkdaQr::basis(&basis, &x, &labels).expect("means").fit(&x).expect("fits");
    let q = Some(1);
    let klfe = Klfe { n_components: q, n_neighbors: 2, ..Klfe::default() };
    let kanmm = Kanmm { n_components: q, n_neighbors: 2 };
    let of = |extractor: Extractor| {
        let name = extractor.name();
        let basis = if name == "akda-qr" { &means } else { &fitted_basis };
        let (map, found) = extractor.fit(&x, &labels, basis.clone(), None, &Options::default()).expect(name);
        assert_eq!(map.warnings, [&basis.warnings[..], &found.warnings].concat(), "{name}");
        map.warnings
    };
    let basis = || fitted_basis.clone();
    let fitted = [
        (klfe.fit(&x, &labels, basis()), of(klfe.into())),
        (kanmm.fit(&x, &labels, basis()), of(kanmm.into())),
        (Skfe::default().fit(&x, &labels, basis()), of(Skfe::default().into())),
        (Gda::default().fit(&x, &labels, basis()), of(Gda::default().into())),
        (Koc::default().fit(&x, &labels, basis()), of(Koc::default().into())),
        (AkdaQr::default().fit(&x, &labels, means.clone()), of(AkdaQr::default().into())),
        (Kpls::default().fit(&x, &labels, basis()), of(Kpls::default().into())),
        (Kmfa::default().fit(&x, &labels, basis()), of(Kmfa::default().into())),
        (Kpca::default().fit(&x, &labels, basis()), of(Kpca::default().into())),
    ];
    for (map, warnings) in fitted {
        let map = map.expect("fits");
        assert_eq!(map.warnings, warnings, "{}", map.method);
        let looks_at_hits = ["klfe", "kanmm"].contains(&map.method.as_str());
        let said = map.warnings.iter().any(|text| text.contains("single row"));
        assert!(said == looks_at_hits || map.method == "kmfa", "{}: {:?}", map.method, map.warnings);
    }
    // A pipeline's own: the basis that it comes with, beyond 5000 rows.
    let (many, labels) = table("ringnorm?n=5001&seed=1");
    let pipeline =
        Pipeline::new("klfe", &[("basis_components", "5"), ("n_queries", "100")]).expect("a pipeline");
    let fitted = pipeline.fit(&many, Some(&labels), &Options::default()).expect("fits");
    assert!(fitted.warnings[0].starts_with("5001 rows are more than 5000"), "{:?}", fitted.warnings);
    assert_eq!(fitted.map.warnings, fitted.warnings);
}

#[test]
fn methods_that_come_with_kobl_say_where_it_ends() {
    let (x, labels) = table("moons?n=150&seed=1");
    let size = |method: &str, settings: &[(&str, &str)]| {
        let pipeline = Pipeline::new(method, &[&[("gamma", "1")], settings].concat()).expect(method);
        pipeline.fit(&x, Some(&labels), &Options::default()).expect(method).basis.n_components()
    };
    let (own, paper, all) =
        (size("kobl", &[]), size("kobl", &[("threshold", "linear")]), size("kobl", &[("threshold", "0")]));
    assert!(paper != own && paper < all && own < all, "{paper} {own} {all}");
    assert_eq!(size("takes", &[]), paper);
    assert_eq!(size("takes", &[("basis", "kobl")]), paper);
    assert_eq!(size("takes", &[("tol", "0.3")]), size("kobl", &[("tol", "0.3")]));
    assert_eq!(size("skfe", &[]), all);
    assert_eq!(size("skfe", &[("basis", "kobl")]), own);
    let gda = size("gda", &[]);
    assert!(gda < all, "{gda}: as large as the labels ask for");
}

fn comparison(methods: &[&str], settings: &[(&str, &str)]) -> Comparison {
    Comparison {
        methods: methods.iter().map(ToString::to_string).collect(),
        settings: settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        folds: 3,
        ..Comparison::default()
    }
}

#[test]
fn a_comparison_respects_how_neighbours_are_found() {
    let (x, labels) = table("ringnorm?n=180&seed=1");
    let methods = ["klfe", "kanmm", "k-relief"];
    let scores = |settings: &[(&str, &str)]| {
        let comparison = Comparison { sizes: vec![Some(3)], ..comparison(&methods, settings) };
        let outcome = comparison.run(&x, &labels).expect("compared");
        methods.map(|method| {
            let own = outcome.entries.iter().filter(|entry| entry.method == method);
            let mut own: Vec<_> = own.map(|entry| (entry.evaluator.clone(), entry.scores.clone())).collect();
            own.sort_by(|a, b| a.0.cmp(&b.0));
            own
        })
    };
    let (all, few, other_few) =
        (scores(&[]), scores(&[("n_queries", "5")]), scores(&[("n_queries", "5"), ("seed", "1")]));
    for (at, method) in methods.into_iter().enumerate() {
        assert_ne!(all[at], few[at], "{method}: five rows in place of all");
        assert_ne!(few[at], other_few[at], "{method}: five other rows");
    }
    assert_eq!(all, scores(&[("n_queries", "100000")]), "all rows are all rows");

    // An index needs the kernel of a distance.
    let approximate = comparison(&methods, &[("neighbors", "approx"), ("kernel", "poly")]);
    let outcome = approximate.run(&x, &labels).expect("compared");
    for method in methods {
        let entry = outcome.entries.iter().find(|entry| entry.method == method).expect("an entry");
        let failed = entry.failed.as_ref().expect("it cannot be done");
        assert!(failed.contains("neighbors = `approx` needs a kernel of a distance"), "{method}: {failed}");
    }
}

#[test]
fn everything_that_fits_keeps_to_the_memory_it_is_given() {
    let (x, labels) = table("ringnorm?n=200&seed=1");
    let options = Options::default().memory(10);
    let refused = |what: &str, error: Error| {
        let text = error.to_string();
        assert!(matches!(error, Error::Memory(_)), "{what}: {error:?}");
        assert!(text.contains("the budget is 10 bytes") && text.contains("\nhint: "), "{what}: {text}");
    };
    for pipeline in pipelines() {
        let name = pipeline.spec.name;
        refused(name, pipeline.fit(&x, Some(&labels), &options).expect_err(name));
        let seen = FitDiagnostics::of(&pipeline, &x, Some(&labels), &[], 0, &options);
        refused(name, seen.expect_err(name));
    }
    let comparison = Comparison { options: options.clone(), ..Comparison::default() };
    refused("check", comparison.check(&x, &labels).expect_err("compare"));
    refused("compare", comparison.run(&x, &labels).expect_err("compare"));
    let adviser = Adviser { options, max_components: 40, ..Adviser::default() };
    refused("advise", adviser.advise(&x, &labels).expect_err("advise"));
    refused("auto", adviser.fit(&x, &labels).expect_err("auto"));
    // What they need is enough.
    let enough = Options::default().memory(20_000_000);
    let adviser = Adviser { options: enough.clone(), ..adviser };
    assert!(adviser.fit(&x, &labels).is_ok());
    assert!(Comparison { options: enough, ..comparison }.check(&x, &labels).is_ok());
}

#[test]
fn with_little_memory_coordinates_are_recomputed_and_the_features_are_the_same() {
    let (x, labels) = table("ringnorm?n=900&seed=3");
    let settings = [("basis", "kobl"), ("basis_components", "60"), ("gamma", "0.02"), ("threshold", "0")];
    for name in ["gda", "klfe", "kpls"] {
        let pipeline = Pipeline::new(name, &settings).expect("a pipeline");
        let plenty = pipeline.fit(&x, Some(&labels), &Options::default()).expect(name);
        let basis = pipeline.basis(&x, Some(&labels), &mut Vec::new()).expect(name);
        let least = pipeline.estimated_memory(&basis, x.n(), &Options::default().memory(1));
        let little = Options::default().memory(least);
        let fitted = pipeline.fit(&x, Some(&labels), &little).expect(name);
        let [a, b] = [&fitted.map, &plenty.map].map(|map| map.transform(&x).expect("features"));
        let off = apart(&a, &b);
        assert!(off <= 1e-7, "{name}: {off:e}");
        assert!(pipeline.fit(&x, Some(&labels), &Options::default().memory(least / 4)).is_err(), "{name}");
    }
}

#[test]
fn threads_a_monitor_and_a_checkpoint_reach_every_part() {
    let (x, labels) = table("ringnorm?n=700&seed=4");
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["kobl", "takes", "gda", "klfe"] {
        let pipeline = Pipeline::new(name, &[("gamma", "0.03")]).expect("a pipeline");
        let fit = |options: &Options| pipeline.fit(&x, Some(&labels), options);
        let plain = fit(&Options::default()).expect(name);
        for threads in [1, 3] {
            assert_eq!(fit(&Options::default().threads(threads)).expect(name).map, plain.map, "{name}");
        }
        let monitor = Monitor::default();
        fit(&Options::watched(&monitor)).expect(name);
        assert!(!monitor.progress().stage.is_empty(), "{name}: {:?}", monitor.progress());
        monitor.stop();
        assert!(matches!(fit(&Options::watched(&monitor)), Err(Error::Interrupted)), "{name}");

        let checkpoint = Checkpoint::new(folder.path().join(name)).every(Duration::ZERO);
        let options = Options::default().checkpoint(&checkpoint);
        let [first, again] = [0, 1].map(|_| fit(&options).expect(name));
        assert!(checkpoint.holds_something(), "{name}");
        assert_eq!(first.map, again.map, "{name}: what was kept is what was found");
        let [a, b] = [&first.map, &plain.map].map(|map| map.transform(&x).expect("features"));
        assert!(apart(&a, &b) <= 1e-6, "{name}: {:e}", apart(&a, &b));
    }
}

#[test]
fn typed_settings_and_text_make_the_same_pipeline() {
    let (x, labels) = table("ringnorm?n=120&seed=5");
    let text = [("basis", "kobl"), ("gamma", "0.05"), ("n_neighbors", "3"), ("n_components", "4")];
    let named = Pipeline::new("klfe", &text).expect("a pipeline");
    let klfe = Klfe { n_components: Some(4), n_neighbors: 3, ..Klfe::default() };
    let typed = Pipeline::extract(klfe).on(Basis::kobl(Kernel::rbf(0.05)));
    let [a, b] = [named, typed].map(|p| p.fit(&x, Some(&labels), &Options::default()).expect("fits").map);
    assert_eq!(a, b);
    let own = Pipeline::of_basis(Basis::new(Method::Kpca, Kernel::rbf(0.05)).n_components(5));
    let fitted = own.fit(&x, None, &Options::default()).expect("needs no labels");
    assert_eq!((fitted.map.method.as_str(), fitted.map.n_features()), ("kpca", 5));
}

/// Maps of several kinds: with a scaling, an offset, coefficients too large for float32, directions and kept columns.
fn maps(x: &Rows, labels: &Labels) -> Vec<(&'static str, FeatureMap)> {
    let scaling = Scaling::fit(Scale::Standard, x).0.expect("scaled");
    let scaled = scaling.apply(x).expect("scaled");
    let with_scaling = Pipeline::new("gda", &[("basis", "kobl"), ("gamma", "0.05")]).expect("a pipeline");
    let mut with_scaling = with_scaling.fit(&scaled, Some(labels), &Options::default()).expect("fits").map;
    with_scaling.scaling = Some(scaling);
    let centred = Basis::kpca(Kernel::rbf(0.05)).center(true).n_components(7).fit(x).expect("fits");
    let large = Basis::gram_schmidt(Kernel::rbf(1e-4)).n_components(30).fit(x).expect("fits");
    let takes = Pipeline::new::<&str>("takes", &[]).expect("a pipeline");
    let takes = takes.fit(x, Some(labels), &Options::default()).expect("fits").map;
    let linear = Basis::kobl(Kernel::linear()).fit(x).expect("fits");
    vec![
        ("gda, scaled", with_scaling),
        ("centred kpca", centred.into()),
        ("large coefficients", large.into()),
        ("takes", takes),
        ("linear", linear.into()),
    ]
}

/// Bits of features, and of float32 features with the precision that they were computed in.
type Bits = (Vec<u64>, Vec<u32>, Precision);

fn bits(
    x: &Rows,
    q: usize,
    into: impl Fn(&Rows, MatMut<'_, f64>) -> Result<()>,
    into_f32: impl Fn(&Rows, MatMut<'_, f32>) -> Result<Precision>,
) -> Bits {
    let n = x.n();
    let (mut wide, mut narrow) = (vec![0.0f64; n * q], vec![0.0f32; n * q]);
    into(x, MatMut::from_row_major_slice_mut(&mut wide, n, q)).expect("features");
    let precision = into_f32(x, MatMut::from_row_major_slice_mut(&mut narrow, n, q)).expect("features");
    (wide.into_iter().map(f64::to_bits).collect(), narrow.into_iter().map(f32::to_bits).collect(), precision)
}

fn plain_bits(map: &FeatureMap, x: &Rows) -> Bits {
    let monitor = Monitor::default();
    let into = |x: &Rows, out: MatMut<'_, f64>| map.transform_into(x, out, &monitor);
    bits(x, map.n_features(), into, |x, out| map.transform_f32_into(x, out, &monitor))
}

fn prepared_bits(map: &PreparedMap, x: &Rows) -> Bits {
    let monitor = Monitor::default();
    let into = |x: &Rows, out: MatMut<'_, f64>| map.transform_into(x, out, &monitor);
    bits(x, map.map().n_features(), into, |x, out| map.transform_f32_into(x, out, &monitor))
}

#[test]
fn a_prepared_map_gives_the_bits_of_the_map() {
    let (x, labels) = table("ringnorm?n=400&seed=6");
    let values: Vec<f32> = x.to_dense().iter().map(|v| *v as f32).collect();
    let narrow = Rows::dense_f32(values, x.n(), x.p()).expect("rows");
    let mut precisions = Vec::new();
    for (what, map) in maps(&x, &labels) {
        let q = map.n_features();
        // Few rows first, and many first: what is precomputed meanwhile must not matter.
        for sizes in [[1, 3, 400, 1, 300], [400, 1, 3, 2, 400]] {
            let prepared = PreparedMap::new(map.clone());
            for size in sizes {
                for x in [&x, &narrow] {
                    let part = x.slice(400 - size..400);
                    let right = plain_bits(&map, &part);
                    assert_eq!(prepared_bits(&prepared, &part), right, "{what}, {size} rows");
                    precisions.push(right.2);
                }
            }
            assert_eq!(prepared.map(), &map);
        }
        // Two threads that start at once, on a map that nobody has used yet.
        let prepared = PreparedMap::new(map.clone());
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for x in [&x, &narrow] {
                let (prepared, barrier, map) = (&prepared, &barrier, &map);
                scope.spawn(move || {
                    barrier.wait();
                    for size in [400, 1, 300] {
                        let part = x.slice(0..size);
                        assert_eq!(prepared_bits(prepared, &part), plain_bits(map, &part), "{what}");
                    }
                });
            }
        });
        // Many at once on the threads that share out the work of each: none may wait for another.
        let prepared = PreparedMap::new(map.clone());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("pool");
        let right = plain_bits(&map, &x);
        let same = |_| prepared_bits(&prepared, &x) == right;
        assert!(pool.install(|| (0..16).into_par_iter().all(same)), "{what}");
        // What the map refuses is refused in the same words.
        let wrong = Rows::dense(vec![0.0; 6], 2, 3).expect("rows");
        let mut out = vec![0.0; 2 * q];
        let out = MatMut::from_row_major_slice_mut(&mut out, 2, q);
        let refused = prepared.transform_into(&wrong, out, &Monitor::default()).expect_err("3 columns");
        let plain = map.transform(&wrong).expect_err("3 columns");
        assert_eq!(refused.to_string(), plain.to_string(), "{what}");
    }
    assert!(precisions.contains(&Precision::Single) && precisions.contains(&Precision::Double));
}

#[test]
fn points_of_skfe_are_its_own_basis_by_name_too() {
    let table = synth::generate("waveform?n=60&seed=1").expect("rows");
    let labels = Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels");
    let pipeline = Pipeline::new("skfe", &[("points", "4"), ("max_iter", "5")]).expect("settings");
    let fitted = pipeline.fit(&table.rows, Some(&labels), &Options::default()).expect("fits");
    assert_eq!((fitted.basis.method, fitted.basis.n_components()), (Method::Kmeans, 4));
    let refused = |settings: &[(&str, &str)]| {
        let pipeline = Pipeline::new("skfe", settings).expect("settings");
        pipeline.fit(&table.rows, Some(&labels), &Options::default()).expect_err("refused").to_string()
    };
    assert!(refused(&[("points", "4"), ("basis", "kobl")]).contains("a basis of their own"));
    assert!(refused(&[("points", "4"), ("basis_components", "9")]).contains("is to have 9 components"));
}
