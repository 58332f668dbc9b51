//! What the chosen kernel's space looks like: errors by size, alignment, relevant dimension, residual decay.

use super::{Adviser, Choice, four};
use crate::basis::loo::{Tried, penalty_near};
use crate::basis::ridge_near::COMPARED;
use crate::basis::{Basis, FittedBasis};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::Weights;
use crate::error::{Error, Result};
use crate::evaluate::advice::{Advice, Finding};
use crate::evaluate::metrics::relevant_dimension;
use crate::kernel::Kernel;
use crate::kernel::gamma::{alignments, grid};
use crate::options::Options;
use crate::random;

/// Rows of the kernel matrices that are looked at whole.
const MATRIX_ROWS: usize = 500;

/// Sizes whose error is shown, beside the chosen one.
const SHOWN_SIZES: [usize; 8] = [3, 10, 30, 60, 100, 300, 600, 1_000];

/// One in so many directions are few.
const FEW: usize = 10;

pub(super) const RELEVANT_DIMENSION: &str = "relevant dimension";
pub(super) const NOTHING_CARRIED: &str = "nothing predicts the labels, so no directions carry them";

impl Adviser {
    /// The basis of a choice with its coordinates of the rows.
    pub(super) fn coordinates(
        &self,
        choice: Choice,
        rows: &Rows,
        labels: &Labels,
        weights: Option<&Weights>,
    ) -> Result<(FittedBasis, Rows<'static>)> {
        let kernel = Kernel { shape: choice.shape, gamma: choice.tried.gamma };
        let basis = Basis::new(choice.method, kernel).n_components(choice.tried.size);
        let options = Options { weights: weights.cloned(), ..self.inner_options() };
        let (fitted, z) = basis.fit_with(rows, Some(labels), &options.with_coordinates())?;
        Ok((fitted, z.ok_or_else(|| Error::Numerical("a basis gave no coordinates".into()))?))
    }

    /// The options of fits on the way: the journal is their checkpoint.
    pub(super) fn inner_options(&self) -> Options {
        Options { memory: self.options.memory, ..Options::watched(&self.options.monitor) }
    }

    /// The error in the first of m coordinates (row-major), for growing numbers of them up to all. That of some numbers may be
    /// known.
    pub(super) fn errors_by_size(
        &self,
        z: &[f64],
        m: usize,
        known: Option<Tried>,
        labels: &Labels,
    ) -> Result<Vec<Tried>> {
        let mut out: Vec<Tried> = Vec::new();
        for size in SHOWN_SIZES.into_iter().filter(|size| *size < m).chain([m]) {
            if let Some(known) = known.filter(|known| known.size == size) {
                out.push(known);
                continue;
            }
            let part: Vec<f64> = z.chunks_exact(m).flat_map(|row| row[..size].iter().copied()).collect();
            let part = Rows::dense(part, labels.len(), size)?;
            let (weights, monitor) = (self.options.weights.as_ref(), &self.options.monitor);
            // The penalty is that of the noise, which does not change with the size, and some rows are enough to find it.
            let near = out.last().map(|last| last.absolute);
            out.push(penalty_near(&part, labels, weights, near, COMPARED, monitor)?);
        }
        Ok(out)
    }

    pub(super) fn look(
        &self,
        choice: Choice,
        rows: &Rows,
        labels: &Labels,
        advice: &mut Advice,
    ) -> Result<()> {
        let chosen = random::sample(rows.n(), MATRIX_ROWS, self.seed);
        let (few, few_labels) = (rows.select(&chosen), labels.select(&chosen));
        if few_labels.require_two("advise").is_ok() {
            let weights = self.options.weights.as_ref().map(|weights| weights.select(&chosen));
            self.align(choice, &few, &few_labels, weights.as_ref(), advice)?;
            self.dimension(choice, &few, &few_labels, advice)?;
        }
        Ok(())
    }

    fn align(
        &self,
        choice: Choice,
        rows: &Rows,
        labels: &Labels,
        weights: Option<&Weights>,
        advice: &mut Advice,
    ) -> Result<()> {
        if !choice.shape.uses_gamma() {
            return Ok(());
        }
        self.options.monitor.check()?;
        advice.alignments = alignments(choice.shape, rows, labels, weights, &grid(choice.shape, rows)?)?;
        let best = advice.alignments.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        if let Some((gamma, alignment)) = best {
            advice.findings.push(Finding {
                name: "alignment with the labels".into(),
                value: format!("at most {} at gamma = {}", four(alignment), four(gamma)),
                meaning: if alignment > 0.3 {
                    "rows with similar labels are near each other in the kernel's space".into()
                } else {
                    "the kernel as a whole is hardly aligned with the labels; use features that are learned from them"
                        .into()
                },
            });
        }
        Ok(())
    }

    fn dimension(&self, choice: Choice, rows: &Rows, labels: &Labels, advice: &mut Advice) -> Result<()> {
        let kernel = Kernel { shape: choice.shape, gamma: choice.tried.gamma };
        let k = kernel.matrix(rows, rows)?;
        match relevant_dimension(k.as_ref(), labels, &self.options.monitor) {
            Ok((dimension, noise)) => {
                let n = rows.n();
                advice.findings.push(Finding {
                    name: RELEVANT_DIMENSION.into(),
                    value: format!("{dimension} of {n}, noise {}", four(noise)),
                    meaning: if advice.no_signal {
                        NOTHING_CARRIED.into()
                    } else if dimension * FEW <= n {
                        "few directions of the kernel's space carry the labels".into()
                    } else if 3 * dimension < n {
                        "a part of the directions of the kernel's space carries the labels".into()
                    } else {
                        "no small number of directions stands out: the labels are noisy, or the kernel is too narrow for them".into()
                    },
                });
                Ok(())
            }
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // A kernel matrix of rank 1 has no such dimension; the advice does without.
            Err(_) => Ok(()),
        }
    }
}

/// How fast the coordinates (row-major) exhaust what the kernel sees.
pub(super) fn residual_finding(basis: &FittedBasis, z: &[f64], n: usize, advice: &mut Advice) {
    let m = basis.n_components();
    let squares = mean_square(z, n, m);
    let all = squares.iter().sum::<f64>() / (1.0 - basis.residual).max(f64::MIN_POSITIVE);
    let left = |count: usize| 100.0 * (1.0 - squares[..count].iter().sum::<f64>() / all).max(0.0);
    let counts = [10, 30, 100, 300].into_iter().filter(|count| *count < m).chain([m]);
    let parts: Vec<String> = counts.map(|count| format!("{:.1} % after {count}", left(count))).collect();
    advice.findings.push(Finding {
        name: "residual of the kernel".into(),
        value: parts.join(", "),
        meaning: if left(m.min(n / 4)) < 5.0 {
            "few coordinates explain nearly all of the kernel".into()
        } else if left(m) < 5.0 {
            "many coordinates are needed to explain the kernel".into()
        } else {
            "these coordinates do not explain all of the kernel".into()
        },
    });
}

/// The mean square of each coordinate.
fn mean_square(z: &[f64], n: usize, m: usize) -> Vec<f64> {
    let mut sums = vec![0.0; m];
    z.chunks_exact(m.max(1)).for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += v * v));
    sums.iter().map(|sum| sum / n as f64).collect()
}
