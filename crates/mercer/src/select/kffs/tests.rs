use faer::Mat;
use rand::RngExt;

use super::lines::Lines;
use super::votes::{BITS, ManyClasses, TwoClasses, WORDS};
use super::*;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::evidence::moments::Moments;
use crate::random;

/// Bit-packed votes and votes as classes are two ways to the same ensemble, beyond what one thread takes at a time, too.
#[test]
fn two_classes_are_many_classes_of_two() {
    for (n, theta) in [(1, 1), (64, 2), (WORDS * BITS + 1, 1), (9_001, 1), (9_001, 3)] {
        let (p, mut generator) = (9, random::generator(n as u64));
        let codes: Vec<usize> = (0..n).map(|_| generator.random_range(0..2)).collect();
        let votes: Vec<Vec<u16>> =
            (0..p).map(|_| (0..n).map(|_| generator.random_range(0..2)).collect()).collect();
        let wrong = votes.iter().map(|votes| {
            let mut bits = vec![0u64; n.div_ceil(BITS)];
            for i in (0..n).filter(|&i| usize::from(votes[i]) != codes[i]) {
                bits[i / BITS] |= 1 << (i % BITS);
            }
            bits
        });
        let mut two = PartVotes::Two(TwoClasses::new(wrong.collect(), n, theta));
        let mut many = PartVotes::Many(ManyClasses::new(votes, &codes, 2, theta));
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 5) as f64).collect();
        let mut left: Vec<usize> = (0..p).collect();
        while !left.is_empty() {
            let lightest =
                |of: &PartVotes| of.lightest(&left, &weights, &Monitor::default()).expect("no stop");
            assert_eq!(lightest(&two), lightest(&many));
            let errors = two.errors(&left);
            assert_eq!(errors, many.errors(&left));
            let column = left.remove((0..left.len()).min_by_key(|&at| errors[at]).expect("a column"));
            assert_eq!(two.take_column(column), many.take_column(column), "n = {n}, {} left", left.len());
        }
    }
}

/// Several partitions, asked one after the other.
struct Parts(Vec<PartVotes>);

impl Voters for Parts {
    fn errors(&mut self, left: &[usize]) -> Result<Vec<u64>> {
        let mut sums = vec![0; left.len()];
        for part in &self.0 {
            sums.iter_mut().zip(part.errors(left)).for_each(|(sum, errors)| *sum += errors);
        }
        Ok(sums)
    }

    fn take(&mut self, column: usize) -> Result<u64> {
        Ok(self.0.iter_mut().map(|part| part.take(column)).sum())
    }
}

/// n rows of p columns that go with the classes more and less; the last column is constant.
fn data(n: usize, p: usize, c: usize) -> (Mat<f64>, Vec<usize>) {
    let mut generator = random::generator((n + c) as u64);
    let mut codes: Vec<usize> = (0..n).map(|_| generator.random_range(0..c)).collect();
    // Half of the rows are sorted: classes that some partitions do not have.
    codes[n / 2..].sort_unstable();
    let z = Mat::from_fn(n, p, |i, j| {
        let signal = codes[i] as f64 * 0.3 * (j % 4) as f64;
        if j + 1 == p { 0.1 } else { 5.0 + signal + generator.random_range(-1.0..1.0) }
    });
    (z, codes)
}

#[test]
fn any_split_of_the_rows_takes_the_same_columns() {
    let monitor = Monitor::default();
    for (n, p, c) in [(2_500, 12, 2), (2_500, 12, 5), (70, 9, 2), (70, 9, 3)] {
        let (z, codes) = data(n, p, c);
        let rows = Rows::from_mat(z.as_ref());
        let names = (0..c).map(|class| class.to_string()).collect();
        let labels = Labels::Classes { codes: codes.clone(), names };
        for theta in [1, 3] {
            let kffs = Kffs { theta, ..Kffs::default() };
            let local = kffs.score(&Columns::new(&rows, &labels, &monitor)).expect("scores");
            for cuts in [&[0, n][..], &[0, 0, 1, 33, n / 2, n], &[0, n / 2, n / 2, n - 1, n, n]] {
                let mut moments = Moments::new(p, c);
                let one_hot = Mat::from_fn(n, c, |i, class| f64::from(u8::from(codes[i] == class)));
                for cut in cuts.windows(2) {
                    let mut part = Moments::new(p, c);
                    part.accumulate(z.get(cut[0]..cut[1], ..), one_hot.get(cut[0]..cut[1], ..))
                        .expect("fits");
                    moments.merge(&part).expect("fits");
                }
                let lines = Lines::of(&moments.finish().expect("rows"));
                let part = |cut: &[usize]| {
                    let features = |rows: std::ops::Range<usize>| {
                        Ok(z.get(cut[0] + rows.start..cut[0] + rows.end, ..).to_owned())
                    };
                    let shape = (cut[1] - cut[0], p);
                    PartVotes::of(shape, &codes[cut[0]..cut[1]], &lines, theta, features).expect("votes")
                };
                let mut parts = Parts(cuts.windows(2).map(part).collect());
                let found = kffs.score_voters(&mut parts, (n, p, c), &monitor).expect("scores");
                assert_eq!(found, local, "{n} rows, {c} classes, theta = {theta}, {cuts:?}");
            }
        }
    }
}

#[test]
fn weights_of_rows_and_what_does_not_fit_are_refused() {
    let (z, codes) = data(70, 4, 2);
    let mut moments = Moments::new(4, 2);
    let one_hot = Mat::from_fn(70, 2, |i, class| f64::from(u8::from(codes[i] == class)));
    moments.accumulate(z.as_ref(), one_hot.as_ref()).expect("fits");
    let lines = Lines::of(&moments.finish().expect("rows"));
    let votes = |m, codes: &[usize], lines: &Lines| {
        PartVotes::of((70, m), codes, lines, 1, |rows| Ok(z.get(rows, ..).to_owned()))
    };
    let mut fits = votes(4, &codes, &lines).expect("votes");
    assert!(votes(3, &codes, &lines).is_err());
    assert!(votes(4, &codes[1..], &lines).is_err());
    assert!(votes(4, &[2; 70], &lines).is_err());
    let columns = lines.columns[1..].to_vec();
    assert!(votes(3, &codes, &Lines { columns, ..lines.clone() }).is_err(), "4 features");
    let one_class = Lines { share: vec![1.0], ..lines };
    assert!(votes(4, &[0; 70], &one_class).is_err());
    let kffs = Kffs { reweight: true, ..Kffs::default() };
    let error = kffs.score_voters(&mut fits, (70, 4, 2), &Monitor::default()).expect_err("refused");
    assert!(error.to_string().contains("fit on a sample"), "{error}");
}
