//! The references themselves, on numbers that can be worked out by hand or that scikit-learn 1.9 gave.

use crate::extract::assert_close;
use crate::naive::extractors::{self as slow, Extracted};
use crate::naive::subspaces::{Alignment, alignment_of_features, start_at};
use crate::naive::{self, Matrix};

fn column(values: &[f64]) -> Matrix {
    values.iter().map(|v| vec![*v]).collect()
}

/// One coordinate, two classes of two rows, and the distances of the rows.
fn four_rows() -> (Matrix, Vec<usize>, Matrix) {
    let z = column(&[0.0, 1.0, 3.0, 7.0]);
    let distance = naive::kernel_distances("linear", 1.0, 1, 0.0, &z);
    (z, vec![0, 0, 1, 1], distance)
}

/// 24 rows of 3 columns, three classes that each lift one column, and numbers.
fn plain_rows() -> (Matrix, Vec<usize>, Vec<f64>) {
    let codes: Vec<usize> = (0..24).map(|i| i % 3).collect();
    let value = |i: usize, j: usize| {
        let (a, b) = (i as f64, j as f64);
        (1.3 * a * a + 0.7 * a * b + b).sin() + f64::from(u8::from(codes[i] == j))
    };
    let x: Matrix = (0..24).map(|i| (0..3).map(|j| value(i, j)).collect()).collect();
    let y = x.iter().enumerate().map(|(i, row)| (2.9 * (i * i) as f64).cos() + row[0]).collect();
    (x, codes, y)
}

/// Number, direction and features of the only component.
fn assert_single(found: &Extracted, eigenvalue: f64, direction: f64, offset: f64) {
    assert_eq!(found.directions.len(), 1);
    let all = [found.eigenvalues[0], found.directions[0][0], found.offset[0]];
    for (a, b) in all.iter().zip([eigenvalue, direction, offset]) {
        assert!((a - b).abs() < 1e-14, "{all:?}");
    }
}

#[test]
fn the_reference_scatters_are_what_a_hand_computes() {
    let (z, codes) = (column(&[0.0, 2.0, 5.0, 9.0]), [0, 0, 1, 1]);
    assert_eq!(slow::total_scatter(&z), [[46.0]]); // 16 + 4 + 1 + 25 about 4
    assert_eq!(slow::between_scatter(&z, &codes), [[36.0]]); // means 1 and 7
    assert_eq!(slow::class_means(&z, &codes), [[1.0], [7.0]]);
    assert_eq!(slow::sum_of_products(&z, &z), [[110.0]]);
    assert_eq!(slow::regularised(&vec![vec![3.0, 1.0], vec![1.0, 5.0]], 0.5), [[5.0, 1.0], [1.0, 7.0]]);
}

#[test]
fn the_reference_gda_is_what_a_hand_computes() {
    let (z, codes) = (column(&[0.0, 2.0, 5.0, 9.0]), [0, 0, 1, 1]);
    let root = 46.0f64.sqrt();
    assert_single(&slow::gda(&z, &codes, 0.0, None), 36.0 / 46.0, 1.0 / root, 4.0 / root);
    let root = 69.0f64.sqrt();
    let found = slow::gda(&z, &codes, 0.5, None);
    assert_single(&found, 36.0 / 69.0, 1.0 / root, 4.0 / root);
    assert_close(&found.explained, &[1.0], 1e-14, "the only one");
}

#[test]
fn the_reference_gda_works_on_the_range_of_a_singular_scatter() {
    // The second coordinate is twice the first: z = √5·u along (1, 2)/√5.
    let z: Matrix = [0.0, 2.0, 5.0, 9.0].iter().map(|v| vec![*v, 2.0 * v]).collect();
    let found = slow::gda(&z, &[0, 0, 1, 1], 0.0, None);
    assert_close(&found.eigenvalues, &[36.0 / 46.0], 1e-12, "eigenvalue");
    let line = slow::gda(&column(&[0.0, 2.0, 5.0, 9.0]), &[0, 0, 1, 1], 0.0, None);
    let expected = line.features(&column(&[0.0, 2.0, 5.0, 9.0])).concat();
    assert_close(&found.features(&z).concat(), &expected, 1e-12, "features");
}

#[test]
fn the_reference_koc_is_what_a_hand_computes() {
    let z = vec![vec![3.0, 4.0], vec![0.0, 5.0], vec![6.0, 8.0]];
    // (3, 4)/5, then (0, 5) − 4·(0.6, 0.8) = (−2.4, 1.8); the third centroid adds nothing.
    let found = slow::koc(&z, &[0, 1, 2]);
    assert_close(&found.directions.concat(), &[0.6, 0.8, -0.8, 0.6], 1e-14, "directions");
    assert_close(&found.features(&z).concat(), &[5.0, 0.0, 4.0, 3.0, 10.0, 0.0], 1e-14, "features");
}

#[test]
fn the_reference_akda_qr_is_gda_on_the_images_of_the_means() {
    // With the linear kernel and two means that span the line, both are the same problem.
    let z = column(&[0.0, 2.0, 5.0, 9.0]);
    let means = slow::class_means(&z, &[0, 0, 1, 1]);
    let linear = |a: &Matrix, b: &Matrix| naive::matmul(a, &naive::transpose(b));
    let (there, found) = slow::akda_qr(&linear(&means, &means), &linear(&z, &means), &[0, 0, 1, 1], 0.5);
    assert_close(&there.concat(), &[0.0, 2.0, 5.0, 9.0], 1e-14, "coordinates"); // the mean 1 is the unit
    let root = 69.0f64.sqrt();
    assert_single(&found, 36.0 / 69.0, 1.0 / root, 4.0 / root);
}

#[test]
fn the_reference_kpls_is_what_a_hand_computes() {
    let x = vec![vec![1.0, 1.0], vec![1.0, -1.0], vec![-1.0, 1.0], vec![-1.0, -1.0]];
    let y = column(&[13.0, 11.0, 9.0, 7.0]);
    // XᵀY = (8, 4): w = (2, 1)/√5, and y − 10 = √5·Xw is then used up.
    let found = slow::kpls(&x, &y, 2);
    assert_close(&found.eigenvalues, &[80.0], 1e-14, "squared singular values");
    let root = 5.0f64.sqrt();
    assert_close(&found.directions.concat(), &[2.0 / root, 1.0 / root], 1e-14, "direction");
    assert_close(&found.features(&x).concat(), &[3.0, 1.0, -1.0, -3.0].map(|v| v / root), 1e-14, "scores");
}

#[test]
fn the_reference_kpls_takes_the_weights_that_nipals_converges_to() {
    let (x, codes, _) = plain_rows();
    let y = naive::center_columns(&naive::one_hot(&codes, 3));
    let w = slow::nipals_weights(&naive::center_columns(&x), &y);
    let first = &slow::kpls(&x, &y, 1).directions[0];
    let sign = naive::dot(&w, first).signum();
    assert_close(&w.iter().map(|v| sign * v).collect::<Vec<_>>(), first, 1e-12, "weights");
}

#[test]
fn the_reference_neighbours_and_margins_are_what_a_hand_computes() {
    let (z, codes, distance) = four_rows();
    let (hits, misses) = slow::hits_and_misses(&distance, &codes, 1);
    assert_eq!(hits, [[1], [0], [3], [2]]);
    assert_eq!(misses, [[2], [2], [1], [1]]);
    // 9 + 4 + 4 + 36 − (1 + 1 + 16 + 16).
    assert_single(&slow::klfe(&z, &distance, &codes, 1, None), 19.0, 19.0f64.sqrt(), 0.0);
    // 29 + 20 + 6.5 + 42.5 − 34, the only hit of each.
    assert_single(&slow::kanmm(&z, &distance, &codes, 2, None), 64.0, 1.0, 0.0);
    // Row 2 has no hit: 9 + 4 + 4 − 2, and averages of two misses 4 and 9.
    let (z, codes, distance) =
        (z[..3].to_vec(), &codes[..3], naive::submatrix(&distance, &[0, 1, 2], &[0, 1, 2]));
    assert_single(&slow::klfe(&z, &distance, codes, 1, None), 15.0, 15.0f64.sqrt(), 0.0);
    assert_single(&slow::kanmm(&z, &distance, codes, 2, None), 17.5, 1.0, 0.0);
}

#[test]
fn the_reference_kmfa_is_what_a_hand_computes() {
    let (z, codes, distance) = four_rows();
    let root = 34.0f64.sqrt();
    assert_single(&slow::kmfa(&z, &distance, &codes, (1, 1), 0.0, None), 8.0 / 34.0, 1.0 / root, 0.0);
    // The pair (1, 3) counts for both classes, (0, 3) as well.
    let root = 51.0f64.sqrt();
    assert_single(&slow::kmfa(&z, &distance, &codes, (9, 2), 0.5, None), 26.0 / 51.0, 1.0 / root, 0.0);
    // Tied pairs: the lower row first, then the lower neighbour.
    let z = vec![vec![0.0, 0.0], vec![1.0, 0.0], vec![0.0, 1.0]];
    let distance = naive::kernel_distances("linear", 1.0, 1, 0.0, &z);
    let (within, between) = slow::marginal_scatters(&z, &distance, &[0, 1, 1], 5, 1);
    assert_eq!(between, [[2.0, 0.0], [0.0, 0.0]]);
    assert_eq!(within, [[2.0, -2.0], [-2.0, 2.0]]);
}

#[test]
fn the_reference_kpca_is_what_a_hand_computes() {
    let z = column(&[3.0, 5.0]);
    assert_single(&slow::kpca(&z, false, None), 34.0, 1.0, 0.0);
    let centred = slow::kpca(&z, true, None);
    // Rows at −1 and 1: the first of the equal magnitudes is made positive.
    assert_single(&centred, 2.0, -1.0, -4.0);
    assert_close(&centred.features(&z).concat(), &[1.0, -1.0], 1e-14, "features");
}

#[test]
fn the_reference_alignment_is_that_of_the_kernel_matrices() {
    let codes = [0, 1, 2, 0, 1, 0, 2, 1, 0, 0];
    let one_hot = naive::one_hot(&codes, 3);
    for center in [false, true] {
        let perfect = Alignment::new(&one_hot, &codes, center);
        assert!((perfect.value(&naive::identity(3)) - 1.0).abs() < 1e-14);
        let z = naive::random_rows(10, 4, 300);
        let b = start_at(&naive::random_rows(2, 4, 301));
        let by_kernels = alignment_of_features(&naive::matmul(&z, &b), &codes, center);
        assert!((Alignment::new(&z, &codes, center).value(&b) - by_kernels).abs() < 1e-14);
    }
    // One row a class, z = (1, 1): ‖BᵀC‖² = 2, BᵀSB = 2, ‖YᵀY‖ = √2.
    let small = Alignment::new(&column(&[1.0, 1.0]), &[0, 1], false);
    assert!((small.value(&naive::identity(1)) - 0.5f64.sqrt()).abs() < 1e-15);
}

#[test]
fn the_reference_gradient_of_alignment_is_that_of_differences() {
    let z = naive::random_rows(30, 5, 302);
    let codes: Vec<usize> = (0..30).map(|i| i % 3).collect();
    for center in [false, true] {
        let alignment = Alignment::new(&z, &codes, center);
        let b = naive::transpose(&naive::random_rows(3, 5, 303)); // not orthonormal: the formula does not need it
        let gradient = alignment.gradient(&b);
        let step = 1e-5;
        for i in 0..5 {
            for j in 0..3 {
                let moved = |by: f64| {
                    let mut b = b.clone();
                    b[i][j] += by;
                    alignment.value(&b)
                };
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                assert!((slope - gradient[i][j]).abs() < 1e-8 * naive::max_abs(&gradient).max(1.0));
            }
        }
    }
}

#[test]
fn the_reference_ascent_finds_the_best_line() {
    // q = 1: A(b) = (bᵀCCᵀb)/(bᵀSb·‖YᵀY‖), so the best is the leading generalised eigenvalue of CCᵀ and S.
    let z = naive::random_rows(40, 4, 304);
    let codes: Vec<usize> = z.iter().map(|row| usize::from(row[0] + row[1] > 0.0)).collect();
    let alignment = Alignment::new(&z, &codes, false);
    let cc = naive::matmul(&alignment.c, &naive::transpose(&alignment.c));
    let best = slow::generalised_eigen(&cc, &alignment.s).0[0] / alignment.target;
    let b = alignment.ascend(&start_at(&naive::random_rows(1, 4, 305)), 2_000);
    assert!((alignment.value(&b) - best).abs() < 1e-10, "{} for {best}", alignment.value(&b));
}

#[test]
fn the_reference_scores_are_those_of_scikit_learn() {
    let (x, codes, y) = plain_rows();
    let first_two = |found: &Extracted| found.features(&x)[..2].concat();
    let pls2 = slow::kpls(&x, &naive::one_hot(&codes, 3), 3);
    let expected = [
        0.566_924_708_369_239_4,
        0.277_214_245_404_681_87,
        -0.612_679_732_607_902_5,
        0.961_605_564_807_092_6,
        -1.446_130_322_850_406_5,
        0.142_301_278_099_307_12,
    ];
    assert_close(&first_two(&pls2), &expected, 1e-10, "PLSRegression(scale=False, tol=0) on one-hot classes");
    let pls1 = slow::kpls(&x, &column(&y), 3);
    let expected = [
        0.730_138_709_917_882,
        -0.242_625_879_930_163_07,
        0.566_134_702_624_546_8,
        0.745_802_954_666_209_5,
        -0.802_040_020_407_602_4,
        -1.196_524_793_184_845_5,
    ];
    assert_close(&first_two(&pls1), &expected, 1e-10, "PLSRegression(scale=False) on numbers");
    // LinearDiscriminantAnalysis(solver="eigen"), centred, each feature divided by its norm.
    let lda = slow::gda(&x, &codes, 0.0, None);
    let expected = [
        0.126_551_040_895_555_4,
        0.078_719_109_056_733_11,
        0.294_271_848_148_780_27,
        -0.363_244_768_533_878_5,
    ];
    assert_close(&first_two(&lda), &expected, 1e-10, "LinearDiscriminantAnalysis");
    // scipy.linalg.eigh of the two scatters.
    assert_close(
        &lda.eigenvalues,
        &[0.235_901_066_684_589_38, 0.070_705_664_100_980_02],
        1e-10,
        "eigenvalues",
    );
    let ridge = slow::gda(&x, &codes, 0.1, None);
    assert_close(
        &ridge.eigenvalues,
        &[0.218_082_781_200_979_15, 0.064_332_807_044_012_13],
        1e-10,
        "with reg",
    );
    // KernelPCA(kernel="rbf", gamma=0.5), in the coordinates of a basis that spans the rows.
    let z = naive::kobl(&naive::gram("rbf", 0.5, 1, 0.0, 1.0, &x), &|_| 0.0, None).features;
    let kpca = slow::kpca(&z, true, Some(3));
    let expected = [4.152_301_237_699_731_5, 3.285_977_438_005_459_4, 2.291_609_793_374_018];
    assert_close(&kpca.eigenvalues, &expected, 1e-10, "KernelPCA's eigenvalues");
    let expected = [
        -0.414_477_237_747_930_16,
        -0.502_712_636_280_624_2,
        -0.201_423_023_382_975_5,
        -0.307_436_991_139_395,
        0.576_983_628_582_288_6,
        -0.153_697_306_122_250_58,
    ];
    assert_close(&kpca.features(&z)[..2].concat(), &expected, 1e-10, "KernelPCA");
}
