//! Extractors against slow references.

use mercer::basis::{Method, Threshold};
use mercer::data::{Labels, Scale, Scaling, Task, synth};
use mercer::evaluate::knn::nearest_neighbour_error;
use mercer::evidence::neighbours::Neighbours;
use mercer::{Basis, FeatureMap, Kernel, Klfe, Monitor, Rows, Shape};

use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix};

fn features(map: &FeatureMap, x: &Rows) -> Matrix {
    let z = map.transform(x).expect("features");
    (0..z.nrows()).map(|i| z.row(i).iter().copied().collect()).collect()
}

/// Hits and misses by sorting all distances; METHODS 4.
fn neighbours(distance: &Matrix, codes: &[usize], k: usize) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let nearest = |i: usize, same: bool| {
        let mut others: Vec<usize> =
            (0..codes.len()).filter(|&j| j != i && (codes[i] == codes[j]) == same).collect();
        others.sort_by(|&a, &b| distance[i][a].total_cmp(&distance[i][b]).then(a.cmp(&b)));
        others.truncate(k);
        others
    };
    (0..codes.len()).map(|i| (nearest(i, true), nearest(i, false))).unzip()
}

/// Σ of METHODS 6, KLFE, entry by entry.
fn klfe_matrix(z: &Matrix, hits: &[Vec<usize>], misses: &[Vec<usize>]) -> Matrix {
    let m = z[0].len();
    let mut sum = naive::zeros(m, m);
    for i in 0..z.len() {
        for (sign, others) in [(1.0, &misses[i]), (-1.0, &hits[i])] {
            for &j in others {
                for a in 0..m {
                    for b in 0..m {
                        sum[a][b] += sign * (z[i][a] - z[j][a]) * (z[i][b] - z[j][b]);
                    }
                }
            }
        }
    }
    sum
}

fn three_classes(x: &Matrix) -> Vec<usize> {
    x.iter().map(|r| usize::from(r[0] * r[1] > 0.0) + usize::from(r[0] > 1.0)).collect()
}

fn labels(codes: &[usize]) -> Labels {
    Labels::classes(&codes.iter().map(usize::to_string).collect::<Vec<_>>())
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
        let (hits, misses) = neighbours(&distance, &codes, 4);
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
    let (hits, misses) = neighbours(&distance, &codes, 3);
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

#[test]
fn klfe_equals_plain_loops_through_two_bases_of_the_same_span() {
    let x = naive::random_rows(70, 3, 52);
    let codes = three_classes(&x);
    let k = naive::gram("rbf", 0.4, 3, 1.0, 1.0, &x);
    let distance: Matrix =
        x.iter().map(|a| x.iter().map(|b| naive::squared_distance(a, b)).collect()).collect();
    let (hits, misses) = neighbours(&distance, &codes, 3);
    let slow = naive::kobl(&k, &|_| 0.0, None);
    let (values, vectors) = naive::jacobi_eigen(&klfe_matrix(&slow.features, &hits, &misses));
    let extractor = Klfe { n_components: Some(5), n_neighbors: 3 };
    for method in [Method::Kobl, Method::Kpca] {
        let basis = Basis::new(method, Kernel::rbf(0.4)).threshold(Threshold::Constant(0.0));
        let basis = basis.fit(&rows(&x)).expect("fits");
        let map = extractor.fit(&rows(&x), &labels(&codes), basis).expect("fits");
        let z = features(&map, &rows(&x));
        for q in 0..5 {
            assert!((map.eigenvalues[q] - values[q]).abs() < 1e-6 * values[0], "{}", method.name());
            let direction: Vec<f64> = vectors.iter().map(|row| row[q] * values[q].sqrt()).collect();
            let expected: Vec<f64> = slow.features.iter().map(|row| naive::dot(row, &direction)).collect();
            let sign = naive::sign_of(&expected);
            let size = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (row, e) in z.iter().zip(&expected) {
                assert!(
                    (row[q] - sign * e).abs() < 1e-6 * size,
                    "{}: {} for {}",
                    method.name(),
                    row[q],
                    sign * e
                );
            }
        }
    }
}

#[test]
fn klfe_separates_ringnorm_where_raw_neighbours_fail() {
    let table = synth::generate("ringnorm?n=2400&seed=3").expect("rows");
    let all = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    let (train, test): (Vec<usize>, Vec<usize>) = ((0..400).collect(), (400..2_400).collect());
    let scaling = Scaling::fit(Scale::Standard, &table.rows.select(&train)).0.expect("scaled");
    let [x, fresh] = [&train, &test].map(|rows| scaling.apply(&table.rows.select(rows)).expect("scaled"));
    let [y, right] = [&train, &test].map(|rows| match all.select(rows) {
        Labels::Classes { codes, .. } => codes,
        Labels::Numbers(_) => unreachable!("ringnorm has classes"),
    });
    let raw = nearest_neighbour_error(&x, &y, &fresh, &right).expect("error");
    let basis = Basis::kobl(Kernel::rbf(0.05)).fit(&x).expect("fits");
    let map =
        Klfe { n_components: Some(10), n_neighbors: 1 }.fit(&x, &all.select(&train), basis).expect("fits");
    let [z, z_fresh] = [&x, &fresh].map(|x| Rows::from_mat(map.transform(x).expect("features").as_ref()));
    let extracted = nearest_neighbour_error(&z, &y, &z_fresh, &right).expect("error");
    assert!(raw > 0.2 && extracted < 0.03, "raw {raw}, KLFE {extracted}");
}

#[test]
fn klfe_refuses_what_it_cannot_do_in_words() {
    let x = rows(&naive::random_rows(30, 2, 53));
    let basis = || Basis::kobl(Kernel::rbf(0.5)).fit(&x).expect("fits");
    let codes: Vec<usize> = (0..30).map(|i| i % 2).collect();
    let text = |klfe: Klfe, labels: &Labels| klfe.fit(&x, labels, basis()).expect_err("refused").to_string();
    let plain = || Klfe { n_components: None, n_neighbors: 2 };
    let numbers = text(plain(), &Labels::Numbers(vec![0.5; 30]));
    assert!(numbers.contains("`klfe` needs classes") && numbers.contains("--task classes"), "{numbers}");
    let one = text(plain(), &labels(&[0; 30]));
    assert!(one.contains("at least 2 classes, but the target holds only one"), "{one}");
    let many = text(Klfe { n_components: Some(500), n_neighbors: 2 }, &labels(&codes));
    assert!(many.contains("n_components = 500, but only"), "{many}");
    let none = text(Klfe { n_components: None, n_neighbors: 0 }, &labels(&codes));
    assert!(none.contains("at least 1 neighbour"), "{none}");
}
