//! Test labels in other orders, for scores by chance.
//!
//!   rows alone: the labels of a test part change places
//!   groups of one label each: the labels of all groups change places, and a test part has those that its groups are given
//!
//! Rows of a group resemble each other. If their labels moved one by one, a score that is right for a whole group by luck would
//! look like many right rows, and pure noise like a finding.
//!
//! cost    at most 99 permutations a split
//! differs where labels differ within groups, rows change places one by one, with a warning: groups are no units then. Where the
//!         measure is a mean over the classes and a test part would lose one, its own groups change places instead

use crate::data::labels::Labels;
use crate::random;

/// How often test labels are shuffled; fewer times where there are many rows, which leave less to chance.
const SHUFFLES: usize = 99;
const LEAST_SHUFFLES: usize = 19;
const SHUFFLED_ROWS: usize = 1_000_000;

/// The groups of all rows, each of which has one label.
pub(super) struct Blocks {
    /// The group of each row, from 0 on.
    group: Vec<usize>,
    /// A row of each group.
    row: Vec<usize>,
}

impl Blocks {
    /// None: labels differ within a group.
    pub(super) fn of(groups: &[usize], labels: &Labels) -> Option<Self> {
        let mut names = groups.to_vec();
        names.sort_unstable();
        names.dedup();
        let group: Vec<usize> = groups.iter().filter_map(|name| names.binary_search(name).ok()).collect();
        let mut row = vec![usize::MAX; names.len()];
        // From the end, so that the first row of a group stays.
        group.iter().enumerate().rev().for_each(|(i, &g)| row[g] = i);
        let is_alike = |i: usize, j: usize| match labels {
            Labels::Classes { codes, .. } => codes[i] == codes[j],
            Labels::Numbers(values) => values[i].to_bits() == values[j].to_bits(),
            Labels::Several { .. } => false,
        };
        group.iter().enumerate().all(|(i, &g)| is_alike(i, row[g])).then_some(Self { group, row })
    }

    /// Labels of a test part after all groups have changed places.
    fn shuffled(&self, labels: &Labels, test: &[usize], seed: u64, needs_classes: bool) -> Labels {
        let order = random::permutation(self.row.len(), seed);
        let given = |order: &dyn Fn(usize) -> usize| {
            let rows: Vec<usize> = test.iter().map(|&i| self.row[order(self.group[i])]).collect();
            labels.select(&rows)
        };
        let moved = given(&|group| order[group]);
        if !needs_classes || n_classes(&moved) >= n_classes(&labels.select(test)) {
            return moved;
        }
        let mut own: Vec<usize> = test.iter().map(|&i| self.group[i]).collect();
        own.sort_unstable();
        own.dedup();
        let order = random::permutation(own.len(), seed);
        given(&|group| own.binary_search(&group).map_or(group, |at| own[order[at]]))
    }
}

/// The labels of a test part in other orders.
pub(super) fn shuffled(
    labels: &Labels,
    test: &[usize],
    blocks: Option<&Blocks>,
    seed: u64,
    needs_classes: bool,
) -> Vec<Labels> {
    let count = SHUFFLES.min(SHUFFLED_ROWS / test.len().max(1)).max(LEAST_SHUFFLES);
    let own = labels.select(test);
    (0..count as u64)
        .map(|at| match blocks {
            Some(blocks) => blocks.shuffled(labels, test, seed.wrapping_add(at), needs_classes),
            None => own.select(&random::permutation(test.len(), seed.wrapping_add(at))),
        })
        .collect()
}

/// How many classes these rows have.
fn n_classes(labels: &Labels) -> usize {
    let Labels::Classes { codes, names } = labels else { return 0 };
    let mut is_there = vec![false; names.len()];
    codes.iter().for_each(|&code| is_there[code] = true);
    is_there.into_iter().filter(|there| *there).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(labels: &Labels) -> Vec<usize> {
        let Labels::Classes { codes, .. } = labels else { panic!("classes") };
        codes.clone()
    }

    #[test]
    fn rows_of_a_group_are_given_one_label() {
        let groups: Vec<usize> = (0..60).map(|i| 7 * (i / 5)).collect();
        let labels =
            Labels::classes(&(0..60).map(|i| if i / 5 % 3 == 0 { "a" } else { "b" }).collect::<Vec<_>>());
        let blocks = Blocks::of(&groups, &labels).expect("a label a group");
        let all: Vec<usize> = (0..60).collect();
        let test: Vec<usize> = (10..30).collect();
        let [whole, part] = [&all, &test].map(|rows| shuffled(&labels, rows, Some(&blocks), 3, false));
        assert!(whole.len() == 99 && whole.iter().any(|other| codes(other) != codes(&labels)));
        for (whole, part) in whole.iter().zip(&part) {
            let codes = codes(whole);
            assert_eq!(codes[10..30], super::tests::codes(part), "one order for all splits");
            assert!(codes.chunks(5).all(|group| group.iter().all(|code| *code == group[0])));
            assert_eq!(codes.iter().sum::<usize>(), 40, "as many groups of each class");
        }
        // Groups 2..6 have one of class `a`, which none of the others lose.
        for part in shuffled(&labels, &test, Some(&blocks), 3, true) {
            assert_eq!(n_classes(&part), 2);
        }
    }

    #[test]
    fn groups_with_several_labels_are_no_blocks() {
        let labels = Labels::classes(&["a", "b", "a", "a"]);
        assert!(Blocks::of(&[0, 0, 1, 1], &labels).is_none());
        assert!(Blocks::of(&[0, 1, 2, 2], &labels).is_some());
    }
}
