//! Extractors against the naive references, and the identities that they must satisfy.
//!
//! references  the references themselves, against numbers worked out by hand or by other programs
//! sums        moments and margins
//! oracles     every extractor against its reference
//! skfe        the search for the best-aligned subspace
//! parents     linear parents
//! laws        independence of the basis, order of rows, files, threads
//! nasty       data that breaks careless code
//! refusals    what is refused, in words

mod references;
mod sums;
mod oracles;
mod skfe;
mod parents;
mod laws;
mod nasty;
mod refusals;

use std::ops::Deref;

use faer::Mat;
use mercer::basis::{Method, Threshold};
use mercer::data::Labels;
use mercer::evidence::neighbours::Neighbours;
use mercer::extract::{AkdaQr, Directions, Extractor, Gda, Kanmm, Klfe, Kmfa, Koc, Kpca, Kpls, Skfe};
use mercer::{Basis, FeatureMap, FittedBasis, Kernel, Monitor, Options, Rows, Shape};

use crate::kernel::{rows, sparse};
use crate::naive::extractors::{self as slow, Extracted, hits_and_misses};
use crate::naive::{self, Matrix};

/// An extractor whose settings can be read, which its reference needs.
#[derive(Clone, Debug)]
struct Typed {
    extractor: Extractor,
    settings: Settings,
}

impl Deref for Typed {
    type Target = Extractor;

    fn deref(&self) -> &Extractor {
        &self.extractor
    }
}

macro_rules! typed {
    ($($extractor:ident),*) => {
        /// The settings of any extractor.
        #[derive(Clone, Debug)]
        enum Settings {
            $($extractor($extractor)),*
        }

        $(impl From<$extractor> for Typed {
            fn from(settings: $extractor) -> Self {
                Self { extractor: settings.clone().into(), settings: Settings::$extractor(settings) }
            }
        })*
    };
}

typed!(Klfe, Skfe, Gda, Koc, AkdaQr, Kpls, Kmfa, Kanmm, Kpca);

/// Eigenvalues closer than this share of the largest have directions that rounding may turn.
const GAP: f64 = 1e-4;

/// Rows in classes.
struct Case {
    name: &'static str,
    x: Matrix,
    codes: Vec<usize>,
}

/// Rows around the centres of classes of different sizes; a fifth of the values are 0.
fn case(name: &'static str, n: usize, p: usize, classes: usize, seed: u64) -> Case {
    let centres = naive::random_rows(classes, p, seed + 1_000);
    let codes: Vec<usize> = (0..n).map(|i| if i % 5 == 4 { 0 } else { i % classes }).collect();
    let mut x = naive::random_rows(n, p, seed);
    for (row, &code) in x.iter_mut().zip(&codes) {
        for (v, centre) in row.iter_mut().zip(&centres[code]) {
            *v = if v.abs() < 0.25 { 0.0 } else { *v + centre };
        }
    }
    Case { name, x, codes }
}

/// Random rows with 2, 3 and 5 classes.
fn cases() -> [Case; 3] {
    [
        case("two classes", 50, 4, 2, 320),
        case("three classes", 60, 5, 3, 321),
        case("five classes", 55, 6, 5, 322),
    ]
}

pub(crate) fn classes(codes: &[usize]) -> Labels {
    let names = (0..slow::classes_of(codes)).map(|c| c.to_string()).collect();
    Labels::Classes { codes: codes.to_vec(), names }
}

/// Training rows and fresh ones as the library takes them, with the distances in which neighbours are sought.
struct Form {
    name: &'static str,
    kernel: Kernel,
    rows: Rows<'static>,
    fresh: Rows<'static>,
    distance: Matrix,
    /// The kernel among the training rows.
    gram: Matrix,
}

fn kernel(name: &str, gamma: f64) -> Kernel {
    Kernel { shape: Shape::named(name, 2, 1.0, 1.0).expect("known"), gamma }
}

/// Dense, sparse and as a precomputed kernel.
fn forms(x: &Matrix, fresh: &Matrix, name: &'static str, gamma: f64) -> [Form; 3] {
    let k = |a: &[f64], b: &[f64]| naive::kernel(name, gamma, 2, 1.0, 1.0, a, b);
    let given =
        |from: &Matrix| -> Matrix { from.iter().map(|a| x.iter().map(|b| k(a, b)).collect()).collect() };
    let (gram, distance) = (given(x), naive::kernel_distances(name, gamma, 2, 1.0, x));
    let form = |what, kernel, rows, fresh| {
        let (gram, distance) = (gram.clone(), distance.clone());
        Form { name: what, kernel, rows, fresh, distance, gram }
    };
    [
        form("dense", kernel(name, gamma), rows(x), rows(fresh)),
        form("sparse", kernel(name, gamma), sparse(x), sparse(fresh)),
        form("precomputed", Kernel::precomputed(), rows(&gram), rows(&given(fresh))),
    ]
}

/// A basis that keeps what it can, or `m` components.
fn basis(method: Method, kernel: Kernel, m: Option<usize>) -> Basis {
    Basis { n_components: m, ..Basis::new(method, kernel).threshold(Threshold::Constant(0.0)) }
}

/// Gram–Schmidt on the class means of the rows: where `akda-qr` works.
fn basis_of_means(kernel: Kernel, x: &Matrix, codes: &[usize]) -> Basis {
    let landmarks = Some(rows(&slow::class_means(x, codes)));
    Basis { landmarks, ..Basis::new(Method::GramSchmidt, kernel) }
}

fn matrix(a: &Mat<f64>) -> Matrix {
    (0..a.nrows()).map(|i| a.row(i).iter().copied().collect()).collect()
}

pub(crate) fn coordinates(basis: &FittedBasis, x: &Rows) -> Matrix {
    matrix(&basis.expansion.transform(x).expect("coordinates"))
}

fn features(map: &FeatureMap, x: &Rows) -> Matrix {
    matrix(&map.transform(x).expect("features"))
}

fn fit(extractor: &Extractor, x: &Rows, labels: &Labels, basis: &FittedBasis) -> (FeatureMap, Directions) {
    let fitted = extractor.fit(x, labels, basis.clone(), None, &Options::default());
    fitted.unwrap_or_else(|error| panic!("{}: {error}", extractor.name()))
}

/// All of them at their defaults.
fn every_extractor() -> [Typed; 9] {
    [
        Typed::from(Klfe::default()),
        Typed::from(Skfe::default()),
        Typed::from(Gda::default()),
        Typed::from(Koc::default()),
        Typed::from(AkdaQr::default()),
        Typed::from(Kpls::default()),
        Typed::from(Kmfa::default()),
        Typed::from(Kanmm::default()),
        Typed::from(Kpca::default()),
    ]
}

/// Every extractor with one feature, which nearly all data has.
fn with_one_feature() -> [Typed; 8] {
    [
        Typed::from(Klfe { n_components: Some(1), n_neighbors: 2, ..Klfe::default() }),
        Typed::from(Skfe { n_components: Some(1), ..Skfe::default() }),
        Typed::from(Gda { n_components: Some(1), reg: 1e-3 }),
        Typed::from(Koc::default()),
        Typed::from(Kpls { n_components: Some(1) }),
        Typed::from(Kmfa { n_components: Some(1), k_within: 2, k_between: 5, reg: 1e-3 }),
        Typed::from(Kanmm { n_components: Some(1), n_neighbors: 2 }),
        Typed::from(Kpca { n_components: Some(1), center: true }),
    ]
}

/// Those with a closed solution, at small settings.
fn closed_extractors() -> Vec<Typed> {
    let klfe = |q, k| Typed::from(Klfe { n_components: q, n_neighbors: k, ..Klfe::default() });
    let kanmm = |q, k| Typed::from(Kanmm { n_components: q, n_neighbors: k });
    let gda = |q, reg| Typed::from(Gda { n_components: q, reg });
    let kmfa = |q, k_within, k_between, reg| Typed::from(Kmfa { n_components: q, k_within, k_between, reg });
    vec![
        klfe(None, 1),
        klfe(Some(3), 3),
        gda(None, 1e-3),
        gda(Some(1), 0.2),
        Typed::from(Koc::default()),
        Typed::from(Kpls { n_components: Some(3) }),
        kmfa(None, 3, 12, 1e-3),
        kmfa(Some(4), 100, 40, 0.1),
        kanmm(None, 4),
        kanmm(Some(2), 100),
        Typed::from(Kpca { n_components: None, center: true }),
        Typed::from(Kpca { n_components: Some(4), center: false }),
    ]
}

/// What the reference finds in these coordinates. Not for `skfe`, which searches.
fn reference(extractor: &Typed, z: &Matrix, distance: &Matrix, codes: &[usize]) -> Extracted {
    match &extractor.settings {
        Settings::Klfe(e) => slow::klfe(z, distance, codes, e.n_neighbors, e.n_components),
        Settings::Kanmm(e) => slow::kanmm(z, distance, codes, e.n_neighbors, e.n_components),
        Settings::Gda(e) => slow::gda(z, codes, e.reg, e.n_components),
        Settings::AkdaQr(e) => slow::gda(z, codes, e.reg, None),
        Settings::Koc(koc) => {
            assert_eq!(koc.n_clusters, 1, "clusters have a test of their own");
            slow::koc(z, codes)
        }
        Settings::Kpls(e) => {
            let c = slow::classes_of(codes);
            slow::kpls(z, &naive::one_hot(codes, c), e.n_components.unwrap_or(2 * c))
        }
        Settings::Kmfa(e) => slow::kmfa(z, distance, codes, (e.k_within, e.k_between), e.reg, e.n_components),
        Settings::Kpca(e) => slow::kpca(z, e.center, e.n_components),
        Settings::Skfe(e) => unreachable!("{e:?} has no closed solution"),
    }
}

/// Equal to within the tolerance times the largest.
#[track_caller]
pub(crate) fn assert_close(fast: &[f64], slow: &[f64], tolerance: f64, what: &str) {
    assert_eq!(fast.len(), slow.len(), "{what}");
    let size = slow.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (j, (a, b)) in fast.iter().zip(slow).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{what}, number {j}: {a:e} for {b:e}");
    }
}

/// Columns `from..to` whose eigenvalues are apart from all others; a group of close ones that goes on beyond the kept
/// columns is left out, because what was kept of it is arbitrary.
fn groups(spectrum: &[f64], kept: usize) -> Vec<(usize, usize)> {
    if spectrum.is_empty() {
        return (0..kept).map(|j| (j, j + 1)).collect();
    }
    let largest = spectrum.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let (mut groups, mut from) = (Vec::new(), 0);
    for to in 1..=spectrum.len() {
        if to == spectrum.len() || spectrum[to - 1] - spectrum[to] > GAP * largest {
            if to <= kept {
                groups.push((from, to));
            }
            from = to;
        }
    }
    groups
}

/// Features that are equal: column by column, or for close eigenvalues the kernels F Fᵀ that they make together.
#[track_caller]
fn assert_same_features(fast: &Matrix, slow: &Matrix, spectrum: &[f64], tolerance: f64, what: &str) {
    assert_eq!((fast.len(), naive::width(fast)), (slow.len(), naive::width(slow)), "{what}");
    for (from, to) in groups(spectrum, naive::width(slow)) {
        let columns: Vec<usize> = (from..to).collect();
        let (a, b) = (naive::columns(fast, &columns), naive::columns(slow, &columns));
        if to - from == 1 {
            assert_close(&a.concat(), &b.concat(), tolerance, &format!("{what}, feature {from}"));
        } else {
            let [a, b] = [a, b].map(|f| naive::matmul(&f, &naive::transpose(&f)).concat());
            assert_close(&a, &b, tolerance, &format!("{what}, features {from} to {to}"));
        }
    }
}

/// The entry of largest magnitude is positive in every column; of those equal up to rounding, the first.
#[track_caller]
fn assert_signs(features: &Matrix, what: &str) {
    for (j, column) in naive::transpose(features).iter().enumerate() {
        assert_eq!(naive::sign_of(column), 1.0, "{what}, feature {j}: {column:?}");
    }
}

/// The extractor finds what its reference finds in the coordinates of this basis.
#[track_caller]
fn assert_equals_reference(
    extractor: &Typed,
    form: &Form,
    basis: &FittedBasis,
    codes: &[usize],
    tolerance: f64,
    what: &str,
) {
    let z = coordinates(basis, &form.rows);
    let mut expected = reference(extractor, &z, &form.distance, codes);
    if let Settings::Kpca(kpca) = &extractor.settings
        && basis.method == Method::Kpca
        && basis.expansion.origin.is_some() == kpca.center
    {
        // The components' own basis: shares of all there was, not of the components that the basis kept.
        let k = if kpca.center { naive::center_gram(&form.gram) } else { form.gram.clone() };
        expected.explained = expected.eigenvalues.iter().map(|v| v / naive::trace(&k)).collect();
    }
    let (map, directions) = fit(extractor, &form.rows, &classes(codes), basis);
    assert_close(&directions.eigenvalues, &expected.eigenvalues, tolerance, &format!("{what}, eigenvalues"));
    assert_close(&directions.explained, &expected.explained, tolerance, &format!("{what}, explained"));
    assert_eq!(map.eigenvalues, directions.eigenvalues, "{what}");
    assert!(directions.alignment_path.is_empty(), "{what}");
    let found = features(&map, &form.rows);
    assert_signs(&found, what);
    // Training rows and fresh ones together: the features of a few fresh rows may be nothing but rounding.
    let all = [found, features(&map, &form.fresh)].concat();
    let z = [z, coordinates(basis, &form.fresh)].concat();
    assert_same_features(&all, &expected.features(&z), &expected.spectrum, tolerance, what);
}

fn three_classes(x: &Matrix) -> Vec<usize> {
    x.iter().map(|r| usize::from(r[0] * r[1] > 0.0) + usize::from(r[0] > 1.0)).collect()
}

#[test]
fn neighbours_are_those_of_a_full_sort_in_every_kernel() {
    let mut x = naive::random_rows(90, 3, 50);
    x[40] = x[7].clone(); // an equal row elsewhere is a neighbour
    let codes = three_classes(&x);
    for name in ["rbf", "laplacian", "matern52", "linear", "poly", "cosine"] {
        let kernel = Kernel { shape: Shape::named(name, 2, 1.0, 1.0).expect("known"), gamma: 0.3 };
        let k = naive::gram(name, 0.3, 2, 1.0, 1.0, &x);
        let distance: Matrix = (0..90)
            .map(|i| {
                let by = |j: usize| match name {
                    "laplacian" => naive::manhattan_distance(&x[i], &x[j]),
                    "rbf" | "matern52" => naive::squared_distance(&x[i], &x[j]),
                    _ => k[i][i] + k[j][j] - 2.0 * k[i][j],
                };
                (0..90).map(by).collect()
            })
            .collect();
        let (hits, misses) = hits_and_misses(&distance, &codes, 4);
        for data in [rows(&x), sparse(&x)] {
            let fast = Neighbours::find(kernel, &data, &codes, 4, &Monitor::default()).expect("found");
            assert_eq!((fast.hits, fast.misses), (hits.clone(), misses.clone()), "{name}");
        }
    }
}

#[test]
fn tied_neighbours_are_those_with_the_lower_index() {
    // A grid: nearly all distances are tied.
    let x: Matrix = (0..144).map(|i| vec![f64::from(i % 12), f64::from(i / 12)]).collect();
    let codes: Vec<usize> = (0..144).map(|i| (i * 7 % 5) % 2).collect();
    let distance: Matrix =
        x.iter().map(|a| x.iter().map(|b| naive::squared_distance(a, b)).collect()).collect();
    let (hits, misses) = hits_and_misses(&distance, &codes, 3);
    for data in [rows(&x), sparse(&x)] {
        let fast = Neighbours::find(Kernel::rbf(0.3), &data, &codes, 3, &Monitor::default()).expect("found");
        assert_eq!((fast.hits, fast.misses), (hits.clone(), misses.clone()));
    }
}

#[test]
fn small_classes_give_the_neighbours_they_have() {
    let x = naive::random_rows(6, 2, 51);
    let codes = [0, 0, 0, 1, 1, 2];
    let found =
        Neighbours::find(Kernel::rbf(1.0), &rows(&x), &codes, 10, &Monitor::default()).expect("found");
    assert_eq!(found.hits.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 1, 1, 0]);
    assert_eq!(found.misses.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 4, 4, 5]);
}
