//! Stand-in until the adviser is there.

use super::advice::Advice;
use crate::basis::DEFAULT_MEMORY;
use crate::data::{Labels, Rows, Scale};
use crate::error::Result;
use crate::monitor::Monitor;

/// Looks at data and recommends a method.
#[derive(Clone, Debug)]
pub struct Adviser {
    /// Seed.
    pub seed: u64,
    /// Bytes.
    pub memory: u64,
    /// Scaling.
    pub scale: Scale,
    /// Progress out, stop in.
    pub monitor: Monitor,
}

impl Default for Adviser {
    fn default() -> Self {
        Self { seed: 0, memory: DEFAULT_MEMORY, scale: Scale::Standard, monitor: Monitor::default() }
    }
}

impl Adviser {
    /// A guideline.
    pub fn advise(&self, rows: &Rows, labels: &Labels) -> Result<Advice> {
        labels.require_two("advise")?;
        Ok(Advice {
            method: "kpls".into(),
            settings: vec![("basis".into(), "kobl".into())],
            rows: rows.n(),
            reasons: vec!["It is a stand-in.".into()],
            ..Advice::default()
        })
    }
}
