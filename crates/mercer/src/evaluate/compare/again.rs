//! The pipeline behind a candidate, to be fitted on all rows.

use super::Comparison;
use super::plan::{BASELINES, MethodPlan, shape};
use crate::data::labels::Labels;
use crate::error::Result;
use crate::evaluate::outcome::Entry;
use crate::kernel::Shape;
use crate::methods::Stage;
use crate::pipeline::Pipeline;

impl Comparison {
    /// The pipeline behind a candidate, for a fit on n rows: the basis and the number of features that it had; None: a
    /// baseline.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::{Comparison, outcome::Entry}};
    ///
    /// let labels = Labels::classes(&["a", "b"]);
    /// let entry = Entry { method: "gda".into(), basis: Some("kobl".into()), asked: Some(1), ..Entry::default() };
    /// let pipeline = Comparison::default().pipeline(&entry, &labels, 100)?.expect("no baseline");
    /// assert!(pipeline.settings.contains(&("basis".into(), "kobl".into())));
    /// assert!(pipeline.settings.contains(&("n_components".into(), "1".into())));
    /// assert!(Comparison::default().pipeline(&Entry { method: "raw".into(), ..entry }, &labels, 100)?.is_none());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn pipeline(&self, entry: &Entry, labels: &Labels, n: usize) -> Result<Option<Pipeline>> {
        if BASELINES.contains(&entry.method.as_str()) {
            return Ok(None);
        }
        let plan = MethodPlan::new(self, &entry.method, n, labels)?;
        let mut settings = plan.pipeline.settings;
        let mut set = |name: &str, value: String| {
            settings.retain(|(other, _)| other != name);
            settings.push((name.into(), value));
        };
        if let Some(basis) = entry.basis.as_ref().filter(|_| plan.method.has("basis")) {
            set("basis", basis.clone());
        }
        let size = if plan.method.stage == Stage::System { "n_features" } else { "n_components" };
        if let Some(q) = entry.asked.or(plan.own_cap).filter(|_| plan.method.has(size)) {
            set(size, q.to_string());
        }
        if let Some(rule) = entry.gamma_rule.as_ref().filter(|_| shape(self).is_ok_and(Shape::uses_gamma)) {
            set("gamma", rule.clone());
        }
        Pipeline::new(&entry.method, &settings).map(Some)
    }
}
