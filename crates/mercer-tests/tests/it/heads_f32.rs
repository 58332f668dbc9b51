//! Extractors and systems on a float32 basis: beside those on a float64 basis, on data that is kind and data that is not.

use faer::Mat;
use mercer::basis::{Basis, FittedBasis, Method, Precision};
use mercer::extract::{AkdaQr, Coordinates, Extractor, Gda, Kanmm, Klfe, Kmfa, Koc, Kpca, Kpls, Skfe};
use mercer::methods::{Stage, names, selector};
use mercer::select::Keep;
use mercer::{FeatureMap, Gamma, Kernel, Labels, Options, Pipeline, Rows, System};

use crate::naive;

/// Rows in c classes that overlap, which float32 holds exactly.
fn blobs(n: usize, p: usize, c: usize, seed: u64) -> (Vec<f32>, Labels) {
    let mut values: Vec<f32> = naive::random_rows(n, p, seed).iter().flatten().map(|v| *v as f32).collect();
    for (at, v) in values.iter_mut().enumerate() {
        let (i, j) = (at / p, at % p);
        *v += ((i % c) * (j % 3 + 1)) as f32 * 0.6;
    }
    let names: Vec<String> = (0..n).map(|i| (i % c).to_string()).collect();
    (values, Labels::classes(&names))
}

fn rows_f32(values: &[f32], p: usize) -> Rows<'_> {
    Rows::dense_f32(values, values.len() / p, p).expect("rows")
}

fn rows_f64(values: &[f32], p: usize) -> Rows<'static> {
    rows_f32(values, p).select(&(0..values.len() / p).collect::<Vec<_>>())
}

/// Every extractor, with so many features that eigenvalues below them are well apart.
fn extractors() -> Vec<Extractor> {
    let two = Some(2);
    vec![
        Extractor::from(Klfe { n_components: two, n_neighbors: 3, ..Klfe::default() }),
        Extractor::from(Skfe { n_components: two, max_iter: 2_000, ..Skfe::default() }),
        Extractor::from(Gda::default()),
        Extractor::from(Koc::default()),
        Extractor::from(AkdaQr::default()),
        Extractor::from(Kpls::default()),
        Extractor::from(Kmfa { n_components: two, ..Kmfa::default() }),
        Extractor::from(Kanmm { n_components: two, ..Kanmm::default() }),
        Extractor::from(Kpca { n_components: two, center: true }),
    ]
}

fn systems() -> Vec<System> {
    let none: [(&str, &str); 0] = [];
    let eks = |name: &&str| System::eks(selector(name, &none).expect("known").0);
    let mut all: Vec<System> = names(Stage::Select).iter().map(eks).collect();
    all.extend([System::takes(), System::k_relief(), System::sk_relief()]);
    all
}

fn kobl(kernel: Kernel, m: usize) -> Basis {
    Basis::kobl(kernel).gamma(Gamma::Scale).n_components(m)
}

/// The basis and what an extractor makes of it, on rows in float32 and in float64.
fn both(
    extractor: &Extractor,
    settings: &Basis,
    values: &[f32],
    p: usize,
    labels: &Labels,
) -> [(FittedBasis, FeatureMap); 2] {
    let (narrow, wide) = (rows_f32(values, p), rows_f64(values, p));
    let (options, name) = (Options::default(), extractor.name());
    let basis = extractor.basis(settings.clone(), &narrow, Some(labels)).expect("a basis");
    let fitted = basis.fit_supervised(&narrow, labels).expect("fits");
    let (ours, _) = extractor.fit(&narrow, labels, fitted.clone(), None, &options).expect(name);
    let basis = extractor.basis(settings.clone(), &wide, Some(labels)).expect("a basis");
    let right = basis.fit_supervised(&wide, labels).expect("fits");
    let (theirs, _) = extractor.fit(&wide, labels, right.clone(), None, &options).expect(name);
    [(fitted, ours), (right, theirs)]
}

/// The largest difference of a feature, relative to its norm.
fn difference(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    let of = |j: usize| (a.col(j) - b.col(j)).norm_l2() / b.col(j).norm_l2();
    (0..a.ncols()).map(of).fold(0.0, f64::max)
}

/// A search ends where rounding leads it.
fn tolerance(extractor: &Extractor) -> f64 {
    if extractor.name() == "skfe" { 1e-3 } else { 1e-4 }
}

#[test]
fn extractors_find_in_float32_what_they_find_in_float64() {
    let p = 6;
    let (values, labels) = blobs(2_500, p, 3, 1);
    for extractor in extractors() {
        let [(ours, a), (right, b)] = both(&extractor, &kobl(Kernel::rbf(1.0), 60), &values, p, &labels);
        let name = extractor.name();
        let means = extractor.name() == "akda-qr";
        assert_eq!(ours.precision, if means { Precision::Double } else { Precision::Single }, "{name}");
        assert_eq!(right.precision, Precision::Double);
        let rows = rows_f64(&values, p);
        let [a, b] = [&a, &b].map(|map| map.transform(&rows).expect("features"));
        let off = difference(&a, &b);
        assert!(off <= tolerance(&extractor), "{name}: {off:e}");
    }
}

/// Directions in a basis, found with these options.
fn directions(
    extractor: &Extractor,
    rows: &Rows,
    labels: &Labels,
    basis: &FittedBasis,
    features: Option<&Rows>,
    options: &Options,
) -> Mat<f64> {
    let seen = Coordinates::new(rows, Some(labels), basis, features, options).expect("they fit");
    let name = extractor.name();
    extractor.directions(seen).expect(name).matrix
}

#[test]
fn the_basis_decides_what_is_computed_in() {
    let p = 6;
    let (values, labels) = blobs(2_500, p, 3, 2);
    let rows = rows_f32(&values, p);
    let options = Options::default().with_coordinates();
    let (basis, z) = kobl(Kernel::rbf(1.0), 50).fit_with(&rows, None, &options).expect("fits");
    let z = z.expect("wanted");
    assert_eq!(z.precision(), Precision::Single);
    let wide_z = z.to_f64().into_owned();
    let wide = FittedBasis { precision: Precision::Double, ..basis.clone() };
    for extractor in extractors().iter().filter(|e| e.name() != "akda-qr") {
        let name = extractor.name();
        let of = |basis: &FittedBasis, features: Option<&Rows>| {
            directions(extractor, &rows, &labels, basis, features, &options)
        };
        let (ours, right) = (of(&basis, None), of(&wide, None));
        let off = (&ours - &right).norm_l2() / right.norm_l2();
        assert!(ours != right, "{name}: nothing was in float32");
        assert!(off <= tolerance(extractor), "{name}: {off:e}");
        // What the caller has already decides.
        let (given, given_wide) = (of(&basis, Some(&z)), of(&basis, Some(&wide_z)));
        assert!(given != given_wide, "{name}");
        let off = (&given - &right).norm_l2().max((&given_wide - &right).norm_l2()) / right.norm_l2();
        assert!(off <= tolerance(extractor), "{name}: {off:e}");
    }
}

#[test]
fn recomputed_coordinates_are_those_that_are_kept() {
    let p = 5;
    let (values, labels) = blobs(1_500, p, 2, 3);
    let rows = rows_f32(&values, p);
    let basis = kobl(Kernel::rbf(1.0), 40).fit(&rows).expect("fits");
    for extractor in extractors().iter().filter(|e| e.name() != "akda-qr") {
        let name = extractor.name();
        // As much as coordinates in float32 need, and a byte less.
        let [kept, again] = [0, 1].map(|less| {
            let options = Options::default().memory(2 * 4 * 1_500 * 40 - less);
            directions(extractor, &rows, &labels, &basis, None, &options)
        });
        let off = (&kept - &again).norm_l2() / kept.norm_l2();
        assert!(off <= tolerance(extractor), "{name}: {off:e}");
    }
}

#[test]
fn systems_find_in_float32_what_they_find_in_float64() {
    let p = 6;
    let (values, labels) = blobs(900, p, 2, 4);
    let (rows, wide_rows) = (rows_f32(&values, p), rows_f64(&values, p));
    let basis = kobl(Kernel::rbf(1.0), 30).fit(&rows).expect("fits");
    assert_eq!(basis.precision, Precision::Single);
    let wide = FittedBasis { precision: Precision::Double, ..basis.clone() };
    let mut wrong = Vec::new();
    for system in systems() {
        let name = format!("{} with {}", system.name(), system.selector.name());
        let system = system.keep(Keep::All).weighted(false);
        let ours = system.fit(&rows, &labels, basis.clone()).expect(&name);
        let right = system.fit(&wide_rows, &labels, wide.clone()).expect(&name);
        let size = right.scores.scores.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let apart = ours.scores.scores.iter().zip(&right.scores.scores).map(|(a, b)| (a - b).abs());
        let off = apart.fold(0.0, f64::max) / size;
        // Votes, ranks and penalties jump where a row or a fold changes sides.
        let jumps = matches!(system.selector.name(), "kffs" | "mi" | "lasso" | "fpr" | "fdr" | "fwe");
        if off > if jumps { 5e-2 } else { 1e-4 } {
            wrong.push(format!("{name}: {off:e}"));
        }
        let counts = matches!(system.selector.name(), "kffs" | "mi" | "lasso");
        assert!(counts || ours.scores.scores != right.scores.scores, "{name}: nothing was in float32");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let p = 5;
    let (values, labels) = blobs(3_000, p, 3, 5);
    let rows = rows_f32(&values, p);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| {
            let basis = kobl(Kernel::rbf(1.0), 30).fit(&rows).expect("fits");
            let made = extractors().into_iter().filter(|e| e.name() != "akda-qr").map(|e| {
                let found = e.fit(&rows, &labels, basis.clone(), None, &Options::default()).expect("fits");
                (found.0.expansion.matrix, Vec::new())
            });
            let kept = [System::takes(), System::k_relief()].map(|system| {
                let found = system.fit(&rows, &labels, basis.clone()).expect("fits");
                (found.map.expansion.matrix, found.scores.scores)
            });
            made.chain(kept).collect::<Vec<(Mat<f64>, Vec<f64>)>>()
        })
    };
    let one = on(1);
    assert!(one == on(2) && one == on(3));
}

#[test]
fn float64_rows_can_be_seen_in_float32() {
    let p = 6;
    let (values, labels) = blobs(1_200, p, 3, 6);
    let rows = rows_f64(&values, p);
    let settings = kobl(Kernel::rbf(1.0), 40);
    for extractor in extractors().iter().filter(|e| e.name() != "akda-qr") {
        let narrow = settings.clone().precision(Precision::Single).fit(&rows).expect("fits");
        let basis = settings.fit(&rows).expect("fits");
        assert_eq!((narrow.precision, basis.precision), (Precision::Single, Precision::Double));
        let [ours, right] = [narrow, basis].map(|basis| {
            let (map, _) = extractor.fit(&rows, &labels, basis, None, &Options::default()).expect("fits");
            map.transform(&rows).expect("features")
        });
        let off = difference(&ours, &right);
        assert!(off > 0.0 && off <= tolerance(extractor), "{}: {off:e}", extractor.name());
    }
}

/// A name, rows, their columns, labels, a kernel, and whether float32 reaches so far.
type Case<'a> = (&'a str, Vec<f32>, usize, &'a Labels, Kernel, bool);

#[test]
fn nasty_rows_are_no_nastier_in_float32() {
    let scaled = |values: &[f32], by: f32| values.iter().map(|v| v * by).collect::<Vec<f32>>();
    let (plain, halves) = blobs(120, 4, 2, 7);
    let twice: Vec<f32> = [&plain[..240], &plain[..240]].concat();
    let constant: Vec<f32> =
        plain.iter().enumerate().map(|(at, v)| if at % 4 == 2 { 10.0 } else { *v }).collect();
    let far: Vec<f32> = plain.iter().map(|v| v + 100.0).collect();
    let lonely: Vec<&str> = (0..120).map(|i| if i == 7 { "z" } else { ["a", "b"][i % 2] }).collect();
    let lonely = Labels::classes(&lonely);
    let (wide, thirds) = blobs(90, 300, 3, 8);
    let (line, line_halves) = blobs(100, 1, 2, 9);
    let (linear, rbf) = (Kernel::linear(), Kernel::rbf(1.0));
    let cases: [Case; 11] = [
        ("duplicates", twice, 4, &halves, rbf, true),
        ("a constant column", constant, 4, &halves, rbf, true),
        ("far from 0", far, 4, &halves, rbf, true),
        ("a class of one", plain.clone(), 4, &lonely, rbf, true),
        ("fewer rows than columns", wide.clone(), 300, &thirds, rbf, true),
        ("fewer rows than columns, linear", wide, 300, &thirds, linear, true),
        ("one column", line.clone(), 1, &line_halves, rbf, true),
        ("one column, linear", line, 1, &line_halves, linear, true),
        ("huge", scaled(&plain, 1e18), 4, &halves, linear, false),
        ("tiny", scaled(&plain, 1e-20), 4, &halves, linear, false),
        ("huge, by a width of its own", scaled(&plain, 1e18), 4, &halves, rbf, true),
    ];
    let mut wrong = Vec::new();
    for (what, values, p, labels, kernel, reaches) in cases {
        for extractor in extractors() {
            let means = extractor.name() == "akda-qr";
            // The others may be no more than rounding.
            let extractor = match extractor.name() {
                "gda" | "koc" | "akda-qr" => extractor,
                _ => extractor.sized(1).expect("a number of features"),
            };
            let name = format!("{}: {what}", extractor.name());
            let [(ours, a), (_, b)] = both(&extractor, &kobl(kernel, 12), &values, p, labels);
            assert_eq!(ours.precision == Precision::Single, reaches && !means, "{name}");
            assert_eq!(ours.rounding_error.is_some(), reaches && !means, "{name}");
            let rows = rows_f64(&values, p);
            let [a, b] = [&a, &b].map(|map| map.transform(&rows).expect("features"));
            let off = difference(&a, &b);
            if off > 20.0 * tolerance(&extractor) {
                wrong.push(format!("{name}: {off:e}"));
            }
        }
        for system in [System::takes(), System::k_relief(), System::sk_relief()] {
            let basis = kobl(kernel, 12).fit(&rows_f32(&values, p)).expect("fits");
            let system = system.keep(Keep::All);
            let found = system.fit(&rows_f32(&values, p), labels, basis);
            let scores = found.map(|found| found.scores.scores).unwrap_or_default();
            assert!(scores.iter().all(|score| score.is_finite()), "{}: {what}", system.name());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn coordinates_in_float32_are_counted_with_four_bytes() {
    let rows = rows_f64(&blobs(2_000, 4, 2, 10).0, 4);
    let needed = |method: &str, more: &[(&str, &str)]| {
        let size =
            if ["klfe", "kmfa", "kanmm"].contains(&method) { "basis_components" } else { "n_components" };
        let settings = [&[("basis", "kobl"), (size, "100")][..], more].concat();
        let pipeline = Pipeline::new(method, &settings).expect("a pipeline");
        let basis = pipeline.basis(&rows, None, &mut Vec::new()).expect("a basis");
        pipeline.estimated_memory(&basis, 1_000_000, &Options::default())
    };
    for method in ["klfe", "kmfa", "kanmm", "takes", "k-relief"] {
        let [wide, narrow] = ["double", "single"].map(|p| needed(method, &[("precision", p)]));
        assert!(10 * narrow < 6 * wide, "{method}: {narrow} of {wide}");
    }
    // A copy in float64 has to be counted, too.
    let [f, lasso] = ["f", "lasso"].map(|s| needed("eks", &[("precision", "single"), ("selector", s)]));
    assert_eq!(lasso - f, 8 * 1_000_000 * 100);
}

#[test]
fn few_coordinates_of_means_stay_in_float64() {
    let (values, labels) = blobs(200, 3, 2, 11);
    let settings = kobl(Kernel::rbf(1.0), 10).precision(Precision::Single);
    let basis = AkdaQr::basis(&settings, &rows_f32(&values, 3), &labels).expect("means");
    assert_eq!((basis.method, basis.precision), (Method::GramSchmidt, None));
    let wide = AkdaQr::basis(&settings, &rows_f64(&values, 3), &labels).expect("means");
    assert_eq!(basis.landmarks, wide.landmarks);
}
