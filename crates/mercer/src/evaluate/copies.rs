//! Rows that are there twice: such a row is left out, and its copy is not, so that it is predicted from itself.

use crate::data::labels::Labels;
use crate::data::rows::Rows;

/// Fewer copies than this share of the rows change no score by much.
const FEW: f64 = 0.02;

/// Values are measured, not counted, where a column has so many distinct ones, as a share of the distinct rows. Rows of counted values
/// meet by chance, and so do new rows.
const MEASURED: f64 = 0.9;

/// Columns of so few values are counted all the same.
const FEW_VALUES: usize = 20;

/// A warning where rows of measured values are copies of others with the same label.
pub(super) fn copied_rows(rows: &Rows, labels: &Labels) -> Option<String> {
    let Rows::Dense(dense) = rows else { return None };
    let n = rows.n();
    let same_label = |i: usize, j: usize| match labels {
        Labels::Classes { codes, .. } => codes[i] == codes[j],
        Labels::Numbers(values) => values[i] == values[j],
        Labels::Several { values, count } => values[i * count..][..*count] == values[j * count..][..*count],
    };
    let first = rows.first_equal();
    let is_copy = |&i: &usize| first[i] != i && same_label(i, first[i]);
    let copies = (0..n).filter(is_copy).count();
    if (copies as f64) < FEW * n as f64 {
        return None;
    }
    let distinct_rows = (0..n).filter(|&i| first[i] == i).count() as f64;
    let is_measured = |j: usize| {
        let mut values: Vec<u64> = (0..n).map(|i| dense.row(i)[j].to_bits()).collect();
        values.sort_unstable();
        values.dedup();
        values.len() > FEW_VALUES && values.len() as f64 >= MEASURED * distinct_rows
    };
    (0..rows.p()).any(is_measured).then(|| {
        format!(
            "{copies} of {n} rows are copies of others with the same label: a row that is left out is then predicted from its copy, and \
             scores look better than they are for new rows; drop the copies; their number may be the weight of the row that is left"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_measured_rows_are_told_and_those_of_counted_ones_are_not() {
        let once: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 101) / 7.0).collect();
        let twice = Rows::dense([&once[..], &once].concat(), 60, 2).expect("rows");
        let labels = Labels::Classes {
            codes: (0..60).map(|i| i % 30 % 2).collect(),
            names: vec!["a".into(), "b".into()],
        };
        let told = copied_rows(&twice, &labels).expect("a warning");
        assert!(told.starts_with("30 of 60 rows are copies"), "{told}");
        let others = Labels::Numbers((0..60).map(f64::from).collect());
        assert_eq!(copied_rows(&twice, &others), None);
        let counted: Vec<f64> = (0..120).map(|i| f64::from(i % 3)).collect();
        let counted = Rows::dense(counted, 60, 2).expect("rows");
        assert_eq!(copied_rows(&counted, &labels), None);
    }
}
