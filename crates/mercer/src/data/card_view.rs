//! Rows that are computed with on a card, as a whole there or, where they do not fit, piece by piece.

use std::sync::Arc;

use super::rows::Rows;
use crate::cuda::{Buffer, Card, View};
use crate::error::Result;

/// Rows on a card.
#[derive(Clone, Copy)]
pub(crate) struct CardView<'r> {
    rows: &'r Rows<'r>,
    card: &'r Arc<Card>,
    /// All of them, p×n; None: they are copied there piece by piece.
    whole: Option<View<'r>>,
}

/// Room on the card for a piece of rows, where they are copied there.
pub(crate) struct Staging(Option<Buffer<f64>>);

impl<'r> CardView<'r> {
    pub(super) fn new(rows: &'r Rows<'r>, card: &'r Arc<Card>, whole: Option<View<'r>>) -> Self {
        Self { rows, card, whole }
    }

    pub(crate) fn card(&self) -> &'r Arc<Card> {
        self.card
    }

    /// All rows, p×n, where they are there.
    pub(crate) fn whole(&self) -> Option<View<'r>> {
        self.whole
    }

    /// Room for pieces of up to so many rows.
    pub(crate) fn staging(&self, rows: usize) -> Result<Staging> {
        match self.whole {
            Some(_) => Ok(Staging(None)),
            None => self.card.room(rows * self.rows.p()).map(|room| Staging(Some(room))),
        }
    }

    /// The rows of a piece, p×count.
    pub(crate) fn piece<'s>(&self, start: usize, count: usize, staging: &'s Staging) -> Result<View<'s>>
    where
        'r: 's,
    {
        let p = self.rows.p();
        match (self.whole, staging) {
            (Some(whole), _) => Ok(whole.columns(start, count)),
            (None, Staging(Some(room))) => {
                self.write(&self.rows.slice(start..start + count), room)?;
                Ok(room.matrix(p, count))
            }
            (None, Staging(None)) => unreachable!("rows that come piece by piece have room for one"),
        }
    }

    /// Rows by their indices, p×h.
    pub(crate) fn select(&self, indices: &[usize]) -> Result<Buffer<f64>> {
        let (h, p) = (indices.len(), self.rows.p());
        let out = self.card.room(p * h)?;
        match self.whole {
            Some(whole) => self.card.gather(whole, indices, out.matrix(p, h))?,
            None => self.write(&self.rows.select(indices), &out)?,
        }
        Ok(out)
    }

    fn write(&self, rows: &Rows, to: &Buffer<f64>) -> Result<()> {
        match rows {
            Rows::Dense(rows) => to.write(0, rows.values()),
            Rows::DenseF32(rows) => self.card.widen(&self.card.upload(rows.values())?, to),
            Rows::Sparse(_) => unreachable!("rows on a card are dense"),
        }
    }
}
