//! The references themselves, on numbers that can be worked out by hand or that SciPy 1.17 and scikit-learn 1.9 gave.

use crate::naive::{self, Matrix, Norm, Pairs};
use crate::select::{assert_each_near, assert_near};

fn column(values: &[f64]) -> Matrix {
    values.iter().map(|v| vec![*v]).collect()
}

/// One column, two classes of two rows.
fn four_rows(scaled: bool, norm: Norm) -> Pairs {
    Pairs::own(&column(&[0.0, 1.0, 3.0, 7.0]), &[], scaled, norm, &[0, 0, 1, 1])
}

/// 24 rows of 3 columns without a tied distance.
fn plain_rows() -> Matrix {
    let value = |i: f64, j: f64| (1.3 * i * i + 0.7 * i * j + j).sin();
    (0..24).map(|i| (0..3).map(|j| value(f64::from(i), f64::from(j))).collect()).collect()
}

fn plain_numbers() -> Vec<f64> {
    plain_rows().iter().enumerate().map(|(i, row)| (2.9 * (i * i) as f64).cos() + row[0]).collect()
}

#[test]
fn the_reference_distances_skip_missing_values_and_count_categories() {
    let nan = f64::NAN;
    let x = vec![vec![0.0, 5.0, 1.0], vec![4.0, nan, 2.0], vec![2.0, 7.0, nan], vec![nan, nan, nan]];
    let d = naive::differences(&x, &[2], true);
    assert_eq!(d[0][1][0], 1.0);
    assert!(d[0][1][1].is_nan());
    assert_eq!(d[0][1][2], 1.0, "categories differ or they do not");
    assert_eq!(d[0][2][..2], [0.5, 1.0], "divided by the range of the values that are there");
    let distance = naive::own_distances(&d, Norm::Manhattan);
    assert_eq!(distance[0][1], 3.0, "2 over two of three columns");
    assert_eq!(distance[1][2], 1.5, "1/2 over one of three columns");
    assert_eq!(distance[0][3], f64::INFINITY);
    assert_eq!(naive::own_distances(&d, Norm::Euclidean)[0][1], 3.0f64.sqrt());
}

#[test]
fn the_reference_neighbours_are_the_nearest_and_the_lower_of_the_tied() {
    let pairs = Pairs::own(&column(&[2.0, 0.0, 4.0, 1.0, 3.0]), &[], false, Norm::Euclidean, &[0; 5]);
    assert_eq!(pairs.nearest(0, |_| true, 3), [3, 4, 1]);
    assert_eq!(pairs.nearest(0, |o| o != 3, 9), [4, 1, 2], "those there are, and never itself");
}

#[test]
fn the_reference_kernel_distances_are_those_of_the_definition() {
    let x = vec![vec![0.0, 0.0], vec![3.0, -4.0]];
    assert_eq!(naive::kernel_distances("rbf", 9.0, 2, 1.0, &x)[0][1], 5.0);
    assert_eq!(naive::kernel_distances("laplacian", 9.0, 2, 1.0, &x)[0][1], 7.0);
    assert_eq!(naive::kernel_distances("linear", 1.0, 2, 1.0, &x)[1][0], 5.0);
    // k = (⟨x,x'⟩ + 1)²: 1 + 26² − 2.
    assert_eq!(naive::kernel_distances("poly", 1.0, 2, 1.0, &x)[0][1], 675.0f64.sqrt());
}

#[test]
fn the_reference_relief_is_what_a_hand_computes() {
    let pairs = four_rows(false, Norm::Euclidean);
    // (3 − 1) + (2 − 1) + (2 − 4) + (6 − 4) over 4 rows.
    let found = pairs.relief(1, 1);
    assert_eq!((found.scores, found.weights), (vec![0.75], vec![1.0]));
    assert_eq!(pairs.relief(1, 2).scores, [19.0 / 4.0]);
    // Two misses are summed: (10 − 1) + (8 − 1) + (5 − 4) + (13 − 4).
    assert_eq!(pairs.relief(2, 1).scores, [26.0 / 4.0]);
}

#[test]
fn the_reference_relieff_is_what_a_hand_computes() {
    let pairs = four_rows(true, Norm::Manhattan);
    assert_near(&pairs.relieff(1), &[0.75 / 7.0], 1e-15, "one neighbour");
    assert_near(&pairs.relieff(2), &[2.0 / 7.0], 1e-15, "two neighbours, averaged");
    // Three classes, two of them of one row: 0.6 + 0.5 + 0.4 + 0.8.
    let x = column(&[0.0, 1.0, 4.0, 10.0]);
    let pairs = Pairs::own(&x, &[], true, Norm::Manhattan, &[0, 0, 1, 2]);
    assert_near(&pairs.relieff(1), &[2.3 / 4.0], 1e-15, "three classes");
    // Misses 0.4 1 0.3 0.9 0.3 0.6 0.9 0.6, hits 0.1 0.1: t = 2.52126094578819 with 8 degrees of freedom.
    assert_near(&pairs.stir_pvalues(1), &[0.017_869_260_661_560_627], 1e-12, "p-value");
}

#[test]
fn the_reference_relieff_averages_over_what_is_there() {
    let nan = f64::NAN;
    let x = vec![vec![0.0, 0.0], vec![1.0, nan], vec![3.0, 6.0], vec![7.0, 7.0]];
    let pairs = Pairs::own(&x, &[], true, Norm::Manhattan, &[0, 0, 1, 1]);
    let found = pairs.relieff(2);
    // Column 1 has three queries: (6/7 + 1)/2 with no hit there; 6/7 − 1/7; 1 − 1/7.
    assert_near(&found[1..], &[(13.0 / 14.0 + 5.0 / 7.0 + 6.0 / 7.0) / 3.0], 1e-15, "with a missing value");
    assert_near(&found[..1], &[2.0 / 7.0], 1e-15, "the other column is as before");
}

#[test]
fn the_reference_pvalues_of_differences_that_do_not_vary_are_zero_or_one() {
    let codes = [0, 0, 1, 1];
    let apart = Pairs::own(&column(&[0.0, 0.0, 1.0, 1.0]), &[], true, Norm::Manhattan, &codes);
    assert_eq!(apart.stir_pvalues(1), [0.0]);
    let equal = Pairs::own(&column(&[2.0; 4]), &[], true, Norm::Manhattan, &codes);
    assert_eq!(equal.stir_pvalues(1), [1.0]);
    let no_hits = Pairs::own(&column(&[0.0, 1.0, 3.0]), &[], true, Norm::Manhattan, &[0, 1, 2]);
    assert_eq!(no_hits.stir_pvalues(1), [1.0]);
}

#[test]
fn the_reference_rrelieff_is_what_a_hand_computes() {
    let pairs = Pairs::own(&column(&[0.0, 1.0, 3.0]), &[], true, Norm::Manhattan, &[0; 3]);
    // One neighbour: N = 3, N_dC = 2, N_dA = 4/3, N_dCdA = 2/3.
    let found = pairs.rrelieff(&[0.0, 1.0, 1.0], 1, 20.0);
    assert_near(&found, &[1.0 / 3.0 - 2.0 / 3.0], 1e-15, "one neighbour");
    // Two neighbours of weights 2/3 and 1/3, since exp(−1/σ²) = 2·exp(−4/σ²).
    let sigma = (3.0 / 2.0f64.ln()).sqrt();
    let n_dc = 1.0 + 2.0 / 3.0 + 1.0 / 3.0;
    let n_da = (2.0 + 3.0 + 2.0 + 2.0 + 4.0 + 3.0) / 9.0;
    let n_dcda = (2.0 + 3.0 + 2.0 + 3.0) / 9.0;
    let expected = n_dcda / n_dc - (n_da - n_dcda) / (3.0 - n_dc);
    assert_near(&pairs.rrelieff(&[0.0, 5.0, 5.0], 9, sigma), &[expected], 1e-14, "two neighbours");
}

#[test]
fn the_reference_irelief_is_what_a_hand_computes() {
    let pairs = four_rows(false, Norm::Manhattan);
    // f = 2^−d.
    let found = pairs.irelief(Some(1.0 / 2.0f64.ln()));
    let sum = 64.0 / 81.0 * 38.0 / 17.0 + 32.0 / 49.0 * 21.0 / 17.0 - 5.0 / 21.0 + 56.0 / 33.0;
    assert_near(&found.scores, &[sum / 4.0], 1e-14, "one column");
    assert_eq!((found.weights, found.rounds, found.settled), (vec![1.0], 1, true));
    // Distances 1 2 3 4 6 7: the median is 3.5.
    assert_eq!(pairs.irelief(None).scores, pairs.irelief(Some(3.5)).scores);
}

#[test]
fn the_reference_multisurf_is_what_a_hand_computes() {
    // Within reach are row 1 of row 0, 0 of 1, 1 of 2 and 2 of 3: −1 − 1 + 2 − 4.
    assert_near(&four_rows(true, Norm::Manhattan).multisurf(), &[-1.0 / 7.0], 1e-15, "four rows");
}

#[test]
fn the_reference_surf_is_what_a_hand_computes() {
    // The mean distance is 23/6. Near: 3 − 1, 2 − 1, (3 + 2)/2 and nothing; far: 7, 6, −4 and (7 + 6)/2 − 4.
    let pairs = four_rows(true, Norm::Manhattan);
    assert_near(&pairs.surf(false, false, None), &[5.5 / 28.0], 1e-15, "near");
    assert_near(&pairs.surf(false, true, None), &[(5.5 - 11.5) / 28.0], 1e-15, "near less far");
    // Numbers 0, 1, 5, 6 with sd √(26/3): the same hits and misses.
    let numbers = [0.0, 1.0, 5.0, 6.0];
    assert_near(&pairs.surf(false, true, Some(&numbers)), &[-6.0 / 28.0], 1e-15, "numbers");
}

#[test]
fn the_reference_kffs_is_what_a_hand_computes() {
    // The first column is right, the second fits 0 everywhere and votes for the higher class.
    let x: Matrix = [0.0, 1.0, 2.0, 3.0].iter().zip([0.0, 3.0, 1.0, 2.0]).map(|(a, b)| vec![*a, b]).collect();
    for reweight in [false, true] {
        let found = naive::kffs(&x, &[0, 0, 1, 1], reweight, 1);
        assert_eq!((found.order, found.error_path), (vec![0, 1], vec![0.0, 0.5]));
        assert_near(&found.weights, &[(1e10f64 - 1.0).ln(), 0.0], 1e-12, "weights");
    }
    // Classes 0 1 2 in a row: the middle one is never the largest fit of a line.
    let x: Matrix = (0..6).map(|i| vec![f64::from(i)]).collect();
    assert_eq!(naive::weak_votes(&x, &[0, 0, 1, 1, 2, 2], 3, 0), [0, 0, 0, 2, 2, 2]);
    let constant = vec![vec![0.1]; 6];
    assert_eq!(naive::weak_votes(&constant, &[0, 1, 1, 2, 2, 2], 3, 0), [2; 6]);
}

#[test]
fn the_reference_kffs_gives_wrong_rows_more_weight_when_asked() {
    // Column 0 gets row 3 of 4 wrong: ε = 1/4, so the others shrink to a third, and column 1, which gets only
    // row 3 and the first right, is weighted with 1/6 1/6 1/6 1/2.
    let x = vec![vec![-1.0, -1.0], vec![-1.0, 1.0], vec![1.0, -1.0], vec![-1.0, 1.0]];
    let found = naive::kffs(&x, &[0, 0, 1, 1], true, 1);
    assert_eq!(found.order, [0, 1]);
    assert_near(&found.weights[..1], &[3.0f64.ln()], 1e-12, "first");
    // Two voters tie where they differ and follow the newer one: rows 1 and 2 are wrong.
    assert_eq!(found.error_path, [0.25, 0.5]);
    assert_near(&found.weights[1..], &[2.0f64.ln()], 1e-12, "ε = 1/3");
    assert_eq!(naive::kffs(&x, &[0, 0, 1, 1], false, 1).weights[1], 0.0, "ε = 1/2");
}

#[test]
fn the_reference_tails_are_those_of_scipy() {
    let t = |t, dof| naive::upper_tail_of_t(t, dof);
    let f = |v, d1, d2| naive::upper_tail_of_f(v, d1, d2);
    let found = [
        t(1.5, 3.0),
        t(-0.7, 1.0),
        t(30.0, 8.0),
        t(4.2, 2400.0),
        t(0.0, 5.0),
        f(2.5, 1.0, 1.0),
        f(3.3, 4.0, 25.0),
        f(900.0, 2.0, 60.0),
        f(0.2, 7.0, 1.0),
        f(0.9, 30.0, 2000.0),
    ];
    let scipy = [
        0.115_291_932_622_411_47,
        0.694_400_112_214_214_7,
        8.267_628_375_894_88e-10,
        1.383_281_973_704_025_3e-5,
        0.5,
        0.359_017_035_971_376_13,
        0.026_565_525_590_188_984,
        1.816_139_419_668_951_2e-45,
        0.939_572_579_815_571_4,
        0.622_921_842_681_726,
    ];
    assert_each_near(&found, &scipy, 1e-11, "tails");
}

#[test]
fn the_reference_f_tests_are_those_of_scikit_learn() {
    let x = plain_rows();
    let codes: Vec<usize> = (0..24).map(|i| i % 3).collect();
    let (f, p) = naive::anova(&x, &codes);
    let scores = [0.385_498_055_402_220_54, 3.345_487_408_690_103_4, 2.128_896_421_083_748];
    let pvalues = [0.684_826_318_642_911, 0.054_796_273_625_308_096, 0.143_929_867_852_365];
    assert_each_near(&f, &scores, 1e-11, "F of classes");
    assert_each_near(&p, &pvalues, 1e-11, "p of classes");
    let (f, p) = naive::correlation_f(&x, &plain_numbers());
    let scores = [11.872_071_614_123_16, 0.005_305_598_029_311_243_4, 0.099_693_547_171_963_41];
    let pvalues = [0.002_305_934_395_105_032_4, 0.942_591_995_213_467_1, 0.755_173_552_466_546];
    assert_each_near(&f, &scores, 1e-11, "F of numbers");
    assert_each_near(&p, &pvalues, 1e-11, "p of numbers");
}

#[test]
fn the_reference_choices_by_pvalue_are_what_a_hand_computes() {
    let p = [0.04, 0.001, 0.03, 0.9, 0.026];
    assert_eq!(naive::chosen_fpr(&p, 0.04), [false, true, true, false, true]);
    // Sorted 0.001 0.026 0.03 0.04 0.9 against 0.01 0.02 0.03 0.04 0.05: the fourth is the last that passes.
    assert_eq!(naive::chosen_fdr(&p, 0.05), [true, true, true, false, true]);
    assert_eq!(naive::chosen_fwe(&p, 0.05), [false, true, false, false, false]);
    assert_eq!(naive::chosen_fdr(&[0.5, 0.6], 0.05), [false, false]);
}

#[test]
fn the_reference_mutual_information_is_that_of_scikit_learn() {
    let x = plain_rows();
    let mut codes: Vec<usize> =
        x.iter().map(|row| usize::from(row[0] > 0.3) + usize::from(row[2] > 0.85)).collect();
    (codes[7], codes[5]) = (3, 2); // a class of one row, and one of two
    // Not with k = 5: from k = half a class on, scikit-learn takes distances from products, whose rounding puts the k-th
    // neighbour now inside its own radius and now outside.
    let expected = [
        (2, [0.073_680_745_041_291_96, 0.033_204_554_565_101_63, 0.0]),
        (3, [0.159_205_244_696_226_43, 0.018_763_560_776_281_496, 0.131_812_291_894_403_13]),
    ];
    for (k, expected) in expected {
        assert_near(&naive::mutual_information_of_classes(&x, &codes, k), &expected, 1e-12, "classes");
    }
    let y = plain_numbers();
    let found = naive::mutual_information_of_numbers(&x, &y, 3);
    assert_near(&found, &[0.702_559_585_604_915_6, 0.0, 0.0], 1e-12, "numbers");
    let y: Vec<f64> = y.iter().zip(&x).map(|(y, row)| y + 2.0 * row[1]).collect();
    let found = naive::mutual_information_of_numbers(&x, &y, 2);
    assert_near(&found, &[0.129_231_987_277_316_66, 0.419_144_505_314_835_05, 0.0], 1e-12, "two neighbours");
}

#[test]
fn the_reference_laplacian_score_is_what_a_hand_computes() {
    // Edges 0–1 and 1–2, t = (1 + 1 + 4)/3.
    let (a, b) = ((-0.5f64).exp(), (-2.0f64).exp());
    let shift = (a + 4.0 * b) / (2.0 * a + 2.0 * b);
    let spread = a * shift * shift + (a + b) * (1.0 - shift).powi(2) + b * (3.0 - shift).powi(2);
    let found = naive::laplacian_score(&column(&[0.0, 1.0, 3.0]), 1);
    assert_near(&found, &[-(a + 4.0 * b) / spread], 1e-15, "three rows");
    assert_eq!(naive::laplacian_score(&column(&[0.1; 4]), 2), [-2.0]);
}

#[test]
fn the_reference_lasso_is_optimal_and_that_of_scikit_learn() {
    let b = naive::lasso(&column(&[-1.0, 1.0]), &column(&[-3.0, 3.0]), 1.0, &naive::zeros(1, 1));
    assert_eq!(b, [[2.0]], "3 less the penalty");
    let x = plain_rows();
    let y: Matrix = plain_numbers().iter().zip(&x).map(|(y, row)| vec![y + 2.0 * row[1]]).collect();
    let b = naive::lasso(&x, &y, 0.02, &naive::zeros(3, 1));
    assert!(naive::lasso_optimality_gap(&x, &y, 0.02, &b) < 1e-11);
    let expected = [0.677_977_673_370_871_4, 2.055_353_899_070_106_6, 0.0];
    assert_near(&b.concat(), &expected, 1e-9, "one target");
    let mut y = naive::one_hot(&(0..24).map(|i| i % 3).collect::<Vec<_>>(), 3);
    for (y, row) in y.iter_mut().zip(&x) {
        (y[0], y[1], y[2]) = (y[0] + row[0], y[1] + row[0], y[2] + row[1]);
    }
    let b = naive::lasso(&x, &y, 0.03, &naive::zeros(3, 3));
    assert!(naive::lasso_optimality_gap(&x, &y, 0.03, &b) < 1e-11);
    let expected = [
        [0.890_508_265_269_691_1, 1.024_287_966_288_757_4, -0.001_319_055_832_890_711],
        [0.162_221_508_565_047_72, -0.297_160_853_353_381_6, 1.072_096_187_376_131_7],
        [0.164_918_238_983_137_18, 0.036_889_565_873_393_89, -0.202_974_474_930_591_26],
    ];
    assert_near(&b.concat(), &expected.concat(), 1e-9, "three targets");
    let largest = naive::lasso_largest_penalty(&x, &y);
    assert!(naive::max_abs(&naive::lasso(&x, &y, largest * 1.000_001, &naive::zeros(3, 3))) == 0.0);
    assert!(naive::max_abs(&naive::lasso(&x, &y, largest * 0.999, &naive::zeros(3, 3))) > 0.0);
}

#[test]
fn the_reference_lasso_is_optimal_on_more_columns_than_rows() {
    let x = naive::random_rows(12, 30, 67);
    let y: Matrix = x.iter().map(|row| vec![row[0] - row[3], row[5]]).collect();
    for share in [0.5, 0.1, 0.01] {
        let penalty = share * naive::lasso_largest_penalty(&x, &y);
        let b = naive::lasso(&x, &y, penalty, &naive::zeros(30, 2));
        let gap = naive::lasso_optimality_gap(&x, &y, penalty, &b);
        assert!(gap < 1e-9, "{gap:e}");
    }
}
