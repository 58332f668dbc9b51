//! Marks in the work of a GPU: the host waits for them, or one lane for what another was asked to do before.

use std::ffi::c_uint;

use super::Gpu;
use super::library::{Handle, Libraries};
use crate::error::Result;

/// Where work is done in the order of the calls. What is asked of one lane does not wait for the other by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Kernels, products, and copies that belong between them.
    Computing,
    /// Copies beside them.
    Copying,
}

/// A mark that can be set again and again; one that was never set is reached.
pub(crate) struct Event {
    libraries: &'static Libraries,
    context: Handle,
    pub(super) handle: Handle,
}

// SAFETY: as for `Gpu`.
unsafe impl Send for Event {}
// SAFETY: as for `Gpu`.
unsafe impl Sync for Event {}

/// No times are taken.
const NO_TIMES: c_uint = 2;

impl Event {
    pub(crate) fn new(gpu: &Gpu) -> Result<Self> {
        gpu.enter()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a place for the handle.
        let code = unsafe { (gpu.libraries.driver.create_event)(&raw mut handle, NO_TIMES) };
        gpu.check(code, "preparing copies")?;
        Ok(Self { libraries: gpu.libraries, context: gpu.context, handle })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it was made above; the driver forgets it when it is reached.
        unsafe {
            (self.libraries.driver.set_context)(self.context);
            (self.libraries.driver.destroy_event)(self.handle);
        }
    }
}

impl Gpu {
    /// Marks what was begun so far, other than copies beside it.
    pub(crate) fn mark(&self, event: &Event) -> Result<()> {
        self.mark_in(Lane::Computing, event)
    }

    pub(super) fn mark_in(&self, lane: Lane, event: &Event) -> Result<()> {
        self.enter()?;
        // SAFETY: both are the GPU's own.
        let code = unsafe { (self.libraries.driver.record)(event.handle, self.stream_of(lane)) };
        self.check(code, "computing")
    }

    /// What is asked of a lane from now on waits for the mark.
    pub(super) fn follow(&self, lane: Lane, event: &Event) -> Result<()> {
        self.enter()?;
        // SAFETY: both are the GPU's own.
        let code = unsafe { (self.libraries.driver.follow)(self.stream_of(lane), event.handle, 0) };
        self.check(code, "computing")
    }

    /// Waits until the mark is reached.
    pub(super) fn wait_for(&self, event: &Event) -> Result<()> {
        self.enter()?;
        // SAFETY: it is the GPU's own.
        self.check(unsafe { (self.libraries.driver.wait_for_event)(event.handle) }, "computing")
    }

    pub(super) fn stream_of(&self, lane: Lane) -> Handle {
        match lane {
            Lane::Computing => self.stream,
            Lane::Copying => self.copies,
        }
    }
}
