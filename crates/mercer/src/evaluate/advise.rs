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

use super::portrait::Portrait;
use crate::recipe::{Made, Recipe};

impl Portrait {
    /// Stand-in.
    pub fn of(
        recipe: &Recipe,
        rows: &Rows,
        labels: Option<&Labels>,
        _input_names: &[String],
        memory: u64,
        _seed: u64,
        monitor: &Monitor,
    ) -> Result<(Self, Made)> {
        let mut basis = recipe.basis(rows, labels, &mut Vec::new())?;
        basis.memory = memory;
        let fitted = basis.monitor(monitor).fit_with(rows, labels, false)?.0;
        let made = recipe.finish(rows, labels, fitted, None, monitor)?;
        Ok((Self { method: recipe.card.name.into(), ..Self::default() }, made))
    }
}
