//! Rows that are equal, bit by bit.

use std::hash::{DefaultHasher, Hasher};

use rayon::prelude::*;

use super::rows::Rows;
use crate::real::Real;

impl Rows<'_> {
    /// The first row that equals each, bit by bit: itself, unless it is a copy.
    pub(crate) fn first_equal(&self) -> Vec<usize> {
        fn bits<T: Real>(row: &[T]) -> impl Iterator<Item = u64> {
            row.iter().map(|v| v.double().to_bits())
        }
        let hash = |i: usize| {
            let mut hasher = DefaultHasher::new();
            match self {
                Rows::Dense(d) => bits(d.row(i)).for_each(|v| hasher.write_u64(v)),
                Rows::DenseF32(d) => bits(d.row(i)).for_each(|v| hasher.write_u64(v)),
                Rows::Sparse(s) => {
                    let (columns, values) = s.row(i);
                    columns.iter().for_each(|&j| hasher.write_u32(j));
                    bits(values).for_each(|v| hasher.write_u64(v));
                }
            }
            hasher.finish()
        };
        let equal = |i: usize, j: usize| match self {
            Rows::Dense(d) => bits(d.row(i)).eq(bits(d.row(j))),
            Rows::DenseF32(d) => bits(d.row(i)).eq(bits(d.row(j))),
            Rows::Sparse(s) => s.row(i).0 == s.row(j).0 && bits(s.row(i).1).eq(bits(s.row(j).1)),
        };
        let mut hashes: Vec<(u64, usize)> = (0..self.n()).into_par_iter().map(|i| (hash(i), i)).collect();
        hashes.par_sort_unstable();
        let mut first: Vec<usize> = (0..self.n()).collect();
        for group in hashes.chunk_by(|a, b| a.0 == b.0) {
            for (at, &(_, i)) in group.iter().enumerate() {
                let earlier = group[..at].iter().map(|&(_, j)| j).find(|&j| first[j] == j && equal(i, j));
                first[i] = earlier.unwrap_or(i);
            }
        }
        first
    }
}
