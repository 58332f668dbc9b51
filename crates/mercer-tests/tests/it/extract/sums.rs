//! Moments and margins: sums over rows and pairs that may be split in any way.

use faer::Mat;
use mercer::Monitor;
use mercer::evidence::margins::{Margins, Pairs, Side, scatter};
use mercer::evidence::moments::{Moments, Summary};
use proptest::prelude::*;

use crate::extract::{assert_close, matrix};
use crate::naive::extractors as slow;
use crate::naive::{self, Matrix};

fn mat(a: &Matrix) -> Mat<f64> {
    Mat::from_fn(a.len(), naive::width(a), |i, j| a[i][j])
}

fn summary(z: &Matrix, y: &Matrix) -> Summary {
    let mut moments = Moments::new(naive::width(z), naive::width(y));
    moments.accumulate(mat(z).as_ref(), mat(y).as_ref()).expect("added");
    moments.finish().expect("rows")
}

/// Every part equal to within the tolerance times the size of what it is made of.
fn assert_summaries(a: &Summary, b: &Summary, tolerance: f64, what: &str) {
    assert_eq!(a.n, b.n, "{what}");
    let parts = |s: &Summary| [s.total.clone(), s.cross.clone(), s.target_total.clone()].map(|p| matrix(&p));
    for (a, b) in parts(a).iter().zip(&parts(b)) {
        assert_close(&a.concat(), &b.concat(), tolerance, what);
    }
    assert_close(&a.mean, &b.mean, tolerance, what);
    assert_close(&a.target_mean, &b.target_mean, tolerance, what);
}

/// Rows with classes that differ in their means.
fn rows_and_classes(n: usize, seed: u64) -> (Matrix, Vec<usize>) {
    let codes: Vec<usize> = (0..n).map(|i| (i * i + i / 3) % 3).collect();
    let mut z = naive::random_rows(n, 4, seed);
    (0..n).for_each(|i| z[i][codes[i]] += 1.0);
    (z, codes)
}

#[test]
fn means_and_scatters_are_those_of_the_definitions() {
    let (z, codes) = rows_and_classes(50, 310);
    let y = naive::one_hot(&codes, 3);
    let found = summary(&z, &y);
    let same =
        |a: &Mat<f64>, b: &Matrix, what: &str| assert_close(&matrix(a).concat(), &b.concat(), 1e-13, what);
    assert_eq!(found.n, 50.0);
    assert_close(&found.mean, &slow::mean_of(&z, |_| true), 1e-13, "mean");
    assert_close(&found.target_mean, &slow::mean_of(&y, |_| true), 1e-13, "shares of the classes");
    same(&found.total, &slow::total_scatter(&z), "total");
    same(
        &found.cross,
        &slow::sum_of_products(&naive::center_columns(&z), &naive::center_columns(&y)),
        "cross",
    );
    same(&found.target_total, &slow::total_scatter(&y), "targets");
    same(&found.gram(), &slow::sum_of_products(&z, &z), "Σ z zᵀ");
    same(&found.sums(), &slow::sum_of_products(&z, &y), "Σ z yᵀ");
    same(&found.between(), &slow::between_scatter(&z, &codes), "between");
    let factor = matrix(&found.between_factor());
    let between = naive::matmul(&factor, &naive::transpose(&factor));
    same(&found.between(), &between, "between by its factor");
    let sizes: Vec<f64> = (0..3).map(|c| codes.iter().filter(|&&code| code == c).count() as f64).collect();
    assert_close(&found.sizes(), &sizes, 1e-13, "sizes of the classes");
}

#[test]
fn a_class_without_rows_adds_nothing_between() {
    let (z, codes) = rows_and_classes(30, 311);
    let plain = summary(&z, &naive::one_hot(&codes, 3)).between();
    let with_empty = summary(&z, &naive::one_hot(&codes, 5)).between();
    assert_close(&matrix(&with_empty).concat(), &matrix(&plain).concat(), 1e-14, "between");
}

#[test]
fn far_offsets_do_not_harm_the_scatters() {
    let (z, codes) = rows_and_classes(60, 312);
    for offset in [1e4, 1e8, -1e8] {
        // Differences of what is stored, so that the rounding of the rows themselves does not count.
        let far: Matrix = z.iter().map(|row| row.iter().map(|v| v + offset).collect()).collect();
        let near: Matrix = far.iter().map(|row| row.iter().map(|v| v - offset).collect()).collect();
        let y = naive::one_hot(&codes, 3);
        let (found, expected) = (summary(&far, &y), summary(&near, &y));
        for (a, b) in [(&found.total, &expected.total), (&found.cross, &expected.cross)] {
            assert_close(&matrix(a).concat(), &matrix(b).concat(), 1e-7, "about an offset");
        }
        let (a, b) = (matrix(&found.between()), matrix(&expected.between()));
        assert_close(&a.concat(), &b.concat(), 1e-7, "between, about an offset");
        // Panels that come one by one keep the point of the first.
        let mut panels = Moments::new(4, 3);
        for (z, y) in far.chunks(7).zip(y.chunks(7)) {
            panels.accumulate(mat(&z.to_vec()).as_ref(), mat(&y.to_vec()).as_ref()).expect("added");
        }
        let panels = panels.finish().expect("rows");
        assert_close(&matrix(&panels.total).concat(), &matrix(&expected.total).concat(), 1e-7, "panels");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn halves_merge_to_the_whole(seed in 0u64..10_000, n in 2usize..60, cut in 0usize..60, offset in -1e3..1e3f64) {
        let (mut z, codes) = rows_and_classes(n, seed);
        z.iter_mut().flatten().for_each(|v| *v += offset);
        let y = naive::one_hot(&codes, 3);
        let cut = cut.min(n);
        let part = |rows: std::ops::Range<usize>| {
            let mut moments = Moments::new(4, 3);
            let (z, y) = (mat(&z), mat(&y));
            moments.accumulate(z.get(rows.clone(), ..), y.get(rows, ..)).expect("added");
            moments
        };
        let whole = summary(&z, &y);
        let (first, second) = (part(0..cut), part(cut..n));
        for (one, other) in [(&first, &second), (&second, &first)] {
            let mut merged = one.clone();
            merged.merge(other).expect("merged");
            assert_summaries(&merged.finish().expect("rows"), &whole, 1e-9, "merged");
        }
        // Into sums of no rows, and sums of no rows into them.
        let mut grown = Moments::new(4, 3);
        grown.merge(&first).expect("merged");
        grown.merge(&Moments::new(4, 3)).expect("merged");
        grown.merge(&second).expect("merged");
        assert_summaries(&grown.finish().expect("rows"), &whole, 1e-9, "one after the other");
    }

    #[test]
    fn margins_merge_to_the_whole(seed in 0u64..10_000, pairs in 1usize..50, cut in 0usize..50) {
        let (a, b) = (naive::random_rows(pairs, 3, seed), naive::random_rows(pairs, 3, seed + 1));
        let weights: Vec<f64> = (0..pairs).map(|i| 0.5 + (i % 4) as f64).collect();
        let cut = cut.min(pairs);
        let part = |rows: std::ops::Range<usize>| {
            let mut margins = Margins::new(3);
            let (a, b) = (mat(&a), mat(&b));
            margins.accumulate(Side::Miss, a.get(rows.clone(), ..), b.get(rows.clone(), ..), None).expect("added");
            let weights = Some(&weights[rows.clone()]);
            margins.accumulate(Side::Hit, b.get(rows.clone(), ..), a.get(rows, ..), weights).expect("added");
            margins
        };
        let mut merged = part(0..cut);
        merged.merge(&part(cut..pairs)).expect("merged");
        let (mut hits, mut misses) = (naive::zeros(3, 3), naive::zeros(3, 3));
        for t in 0..pairs {
            for i in 0..3 {
                for j in 0..3 {
                    let product = (a[t][i] - b[t][i]) * (a[t][j] - b[t][j]);
                    misses[i][j] += product;
                    hits[i][j] += weights[t] * product;
                }
            }
        }
        assert_close(&matrix(&merged.hits).concat(), &hits.concat(), 1e-13, "hits");
        assert_close(&matrix(&merged.misses).concat(), &misses.concat(), 1e-13, "misses");
        let whole = part(0..pairs);
        assert_close(&matrix(&merged.hits).concat(), &matrix(&whole.hits).concat(), 1e-13, "halves");
    }
}

#[test]
fn the_scatter_over_neighbours_is_that_of_pairs_in_any_number_of_panels() {
    for n in [1, 5, 300, 700, 3_000] {
        let z = naive::random_rows(n, 3, 313);
        let neighbours = |step: usize| -> Vec<Vec<usize>> {
            (0..n).map(|i| (0..(i + step) % 4).map(|k| (i * step + k * 31) % n).collect()).collect()
        };
        let (misses, hits) = (neighbours(7), neighbours(13));
        let (of_misses, of_hits) = (|i: usize| 1.0 + (i % 3) as f64, |i: usize| -0.1 * (i % 2) as f64);
        let (mut expected, mut size) = (naive::zeros(3, 3), 0.0);
        for i in 0..n {
            let pairs = misses[i].iter().map(|&j| (j, of_misses(i)));
            for (j, w) in pairs.chain(hits[i].iter().map(|&j| (j, of_hits(i)))) {
                for a in 0..3 {
                    for b in 0..3 {
                        expected[a][b] += w * (z[i][a] - z[j][a]) * (z[i][b] - z[j][b]);
                    }
                    size += (w * (z[i][a] - z[j][a]).powi(2)).abs();
                }
            }
        }
        let lists: [Pairs; 2] = [(&misses, &of_misses), (&hits, &of_hits)];
        let found = scatter(mat(&z).as_ref(), &lists, &Monitor::default()).expect("sum");
        let worst = naive::max_abs(&naive::subtract(&matrix(&found), &expected));
        assert!(worst <= 1e-13 * size, "{n} rows: {worst:e} of {size:e}");
    }
}

#[test]
fn near_pairs_far_from_each_other_keep_their_differences() {
    // Two clusters at a distance of 10⁶ times their own size, and all of it far from the origin.
    let mut z = naive::random_rows(60, 3, 314);
    for (i, row) in z.iter_mut().enumerate() {
        row.iter_mut().for_each(|v| *v = *v * 1e-6 + 100.0 + (i % 2) as f64);
    }
    let neighbours: Vec<Vec<usize>> = (0..60).map(|i| vec![(i + 2) % 60, (i + 14) % 60]).collect();
    let mut expected = naive::zeros(3, 3);
    for (i, list) in neighbours.iter().enumerate() {
        for &j in list {
            for a in 0..3 {
                for b in 0..3 {
                    expected[a][b] += (z[i][a] - z[j][a]) * (z[i][b] - z[j][b]);
                }
            }
        }
    }
    let found = scatter(mat(&z).as_ref(), &[(&neighbours, &|_| 1.0)], &Monitor::default()).expect("sum");
    assert_close(&matrix(&found).concat(), &expected.concat(), 1e-8, "scatter within clusters");
}

#[test]
fn sums_of_other_shapes_are_refused() {
    let mut moments = Moments::new(2, 1);
    assert!(moments.finish().is_err(), "no rows");
    assert!(moments.accumulate(Mat::zeros(3, 2).as_ref(), Mat::zeros(4, 1).as_ref()).is_err());
    assert!(moments.accumulate(Mat::zeros(3, 3).as_ref(), Mat::zeros(3, 1).as_ref()).is_err());
    assert!(moments.merge(&Moments::new(2, 2)).is_err());
    moments.merge(&Moments::new(2, 1)).expect("nothing to add");
    assert!(moments.finish().is_err(), "still no rows");
    let mut margins = Margins::new(2);
    assert!(
        margins.accumulate(Side::Hit, Mat::zeros(3, 2).as_ref(), Mat::zeros(2, 2).as_ref(), None).is_err()
    );
    let three = Mat::zeros(3, 2);
    assert!(margins.accumulate(Side::Hit, three.as_ref(), three.as_ref(), Some(&[1.0])).is_err());
    assert!(margins.merge(&Margins::new(3)).is_err());
}
