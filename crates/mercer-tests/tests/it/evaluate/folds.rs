//! Who is for training, who for testing.

use mercer::Labels;
use mercer::evaluate::folds::{folds, splits};
use mercer::evaluate::measures::{Measure, Predictions, confusion};
use proptest::prelude::*;

use super::classes;

fn is_partition(split: &mercer::evaluate::Split, n: usize) -> bool {
    let mut all = [split.train.as_slice(), &split.test].concat();
    let ascends = |rows: &[usize]| rows.windows(2).all(|w| w[0] < w[1]);
    let sides = ascends(&split.train) && ascends(&split.test);
    all.sort_unstable();
    sides && all == (0..n).collect::<Vec<_>>()
}

proptest! {
    #[test]
    fn every_row_is_tested_once_a_repeat_and_every_fold_has_its_share_of_every_class(
        codes in prop::collection::vec(0usize..4, 8..60), k in 2usize..8, seed in 0u64..1_000,
    ) {
        let (found, warnings) = folds(&classes(&codes), k, 2, seed).expect("folds");
        prop_assert_eq!(found.len(), 2 * k);
        prop_assert!(found.iter().all(|split| is_partition(split, codes.len())));
        for repeat in found.chunks(k) {
            let mut tested: Vec<usize> = repeat.iter().flat_map(|split| split.test.clone()).collect();
            tested.sort_unstable();
            prop_assert_eq!(tested, (0..codes.len()).collect::<Vec<_>>());
            for split in repeat {
                let even = |whole: usize, part: usize| part == whole / k || part == whole.div_ceil(k);
                prop_assert!(even(codes.len(), split.test.len()));
                for class in 0..4 {
                    let whole = codes.iter().filter(|&&c| c == class).count();
                    let part = split.test.iter().filter(|&&i| codes[i] == class).count();
                    prop_assert!(even(whole, part), "{} of {} in a fold of {}", part, whole, k);
                }
            }
        }
        let small = (0..4).any(|c| (1..k).contains(&codes.iter().filter(|&&code| code == c).count()));
        prop_assert_eq!(!warnings.is_empty(), small);
    }

    #[test]
    fn a_split_tests_its_share_of_every_class_and_leaves_a_row_to_learn_from(
        codes in prop::collection::vec(0usize..4, 8..60), share in 0.05f64..0.95, seed in 0u64..1_000,
    ) {
        let (found, _) = splits(&classes(&codes), share, 3, seed).expect("splits");
        for split in &found {
            prop_assert!(is_partition(split, codes.len()));
            for class in 0..4 {
                let whole = codes.iter().filter(|&&c| c == class).count();
                let part = split.test.iter().filter(|&&i| codes[i] == class).count();
                let wanted = (share * whole as f64).round() as usize;
                let expected = if whole < 2 { 0 } else { wanted.clamp(1, whole - 1) };
                prop_assert_eq!(part, expected);
            }
        }
    }
}

#[test]
fn repeats_differ_seeds_differ_and_the_first_repeats_do_not_depend_on_how_many_follow() {
    let labels = Labels::Numbers((0..40).map(f64::from).collect());
    let (two, _) = folds(&labels, 5, 2, 1).expect("folds");
    let (four, _) = folds(&labels, 5, 4, 1).expect("folds");
    assert_eq!(two, four[..10]);
    assert_ne!(two[..5], two[5..]);
    assert_ne!(two, folds(&labels, 5, 2, 2).expect("folds").0);
    let (split, _) = splits(&labels, 0.25, 2, 1).expect("splits");
    assert_eq!(split, splits(&labels, 0.25, 2, 1).expect("splits").0);
    assert_ne!(split[0], split[1]);
}

#[test]
fn a_class_of_one_row_is_warned_about_and_stays_for_training() {
    let labels = classes(&[0, 0, 0, 0, 1]);
    let (found, warnings) = splits(&labels, 0.9, 5, 0).expect("splits");
    assert!(found.iter().all(|split| split.train.contains(&4)));
    assert_eq!(
        warnings,
        ["1 of 2 classes have fewer than 2 rows (`1` has 1), so they are missing from some of the parts"]
    );
    assert!(splits(&classes(&[0, 1, 2]), 0.5, 1, 0).is_err());
    assert!(splits(&Labels::Numbers(vec![1.0]), 0.5, 1, 0).is_err());
}

#[test]
fn senseless_numbers_of_folds_are_refused() {
    let labels = classes(&[0, 1, 0, 1]);
    for (k, repeats) in [(0, 1), (1, 1), (5, 1), (2, 0)] {
        assert!(folds(&labels, k, repeats, 0).is_err(), "{k} folds, {repeats} repeats");
    }
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(splits(&labels, share, 1, 0).is_err(), "{share}");
    }
}

#[test]
fn measures_equal_their_definitions() {
    let truth = [0, 0, 0, 1, 1, 2];
    let said = [0, 1, 0, 1, 0, 2];
    let predicted = Predictions::Classes(said.to_vec());
    // A fourth class without rows does not count.
    let names = (0..4).map(|c: usize| c.to_string()).collect();
    let labels = Labels::Classes { codes: truth.to_vec(), names };
    assert!((Measure::Accuracy.of(&labels, &predicted).expect("accuracy") - 4.0 / 6.0).abs() < 1e-15);
    let balanced = (2.0 / 3.0 + 0.5 + 1.0) / 3.0;
    assert!((Measure::BalancedAccuracy.of(&labels, &predicted).expect("balanced") - balanced).abs() < 1e-15);
    assert_eq!(confusion(&truth, &said, 3), [[2, 1, 0], [1, 1, 0], [0, 0, 1]]);
    // Units do not matter to R², even where squares overflow.
    for unit in [1.0, 1e-200, 1e200] {
        let truth = Labels::Numbers([1.0, 2.0, 4.0].map(|v| v * unit).to_vec());
        let said = Predictions::Numbers([1.5, 2.0, 3.0].map(|v| v * unit).to_vec());
        let r2 = Measure::R2.of(&truth, &said).expect("r2");
        assert!((r2 - (1.0 - 1.25 / (42.0 / 9.0))).abs() < 1e-14, "{r2}");
    }
    let constant = Labels::Numbers(vec![3.0, 3.0]);
    assert_eq!(Measure::R2.of(&constant, &Predictions::Numbers(vec![3.0, 3.0])).expect("r2"), 1.0);
    assert_eq!(Measure::R2.of(&constant, &Predictions::Numbers(vec![3.0, 4.0])).expect("r2"), 0.0);
    for measure in Measure::ALL {
        assert_eq!(Measure::named(measure.name()).expect("a name"), measure);
    }
    assert!(Measure::named("f2").is_err());
    assert!(Measure::Mse.of(&labels, &predicted).is_err());
    assert!(Measure::Accuracy.of(&labels, &Predictions::Classes(vec![0])).is_err());
}
