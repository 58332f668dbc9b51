//! Where passes over rows are computed: names of devices, and where CUDA's libraries are.

use std::path::PathBuf;

use mercer::device::{self, Device};
use pyo3::prelude::*;

use crate::gate::{exception, run};

/// The device with this name.
pub(crate) fn device_named(name: &str) -> PyResult<Device> {
    name.parse().map_err(exception)
}

/// An error unless there are devices of this name.
#[pyfunction]
pub(crate) fn check_device(device: &str) -> PyResult<()> {
    device_named(device).map(drop)
}

/// An error unless this machine has the device; where `auto` falls back to the processor, why.
#[pyfunction]
pub(crate) fn open_device(py: Python<'_>, device: &str) -> PyResult<Option<String>> {
    let device = device_named(device)?;
    run(py, 0, |_| device.name().map(|_| device.fallback()))
}

/// Adds folders in which CUDA's libraries are looked for, before those of the system.
#[pyfunction]
pub(crate) fn look_into(folders: Vec<PathBuf>) {
    device::look_into(folders);
}
