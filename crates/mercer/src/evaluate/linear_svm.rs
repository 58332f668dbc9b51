//! To come.

use super::judge::Judged;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

pub(super) fn predict(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    c: Option<f64>,
    seed: u64,
    monitor: &Monitor,
) -> Result<Judged> {
    Err(Error::argument("linear_svm is not there yet"))
}
