//! What a partition keeps between two questions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::basis::factor_rows::FactorState;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::select::kffs::votes::PartVotes;

/// What a partition keeps between two questions; at first nothing. A copy shares what is large.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The labels, once it is known what they are.
    pub(super) labels: Option<Arc<Labels>>,
    /// The rows with their columns weighted.
    pub(super) weighted: Option<Arc<Rows<'static>>>,
    /// What is left of the rows, and the columns of G.
    pub(super) factor: Option<FactorState>,
    /// What features vote for, and the ensemble of those taken.
    pub(super) votes: Option<PartVotes>,
}

impl State {
    /// Bytes that it takes.
    pub fn size(&self) -> usize {
        let labels = self.labels.as_ref().map_or(0, |labels| 8 * labels.len());
        let weighted = self.weighted.as_ref().map_or(0, |rows| 8 * rows.n_stored());
        let factor = self.factor.as_ref().map_or(0, |factor| {
            let columns: usize = factor.columns.iter().flatten().map(|block| 8 * block.len()).sum();
            18 * factor.residual.len() + columns
        });
        labels + weighted + factor + self.votes.as_ref().map_or(0, PartVotes::size)
    }
}
