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
    penalised: bool,
    monitor: &Monitor,
) -> Result<Judged> {
    Err(Error::argument("ridge is not there yet"))
}
