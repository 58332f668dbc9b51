//! A candidate once more, on all rows.

use super::Comparison;
use super::plan::{BASELINES, Stem, shape};
use crate::data::labels::Labels;
use crate::error::Result;
use crate::evaluate::outcome::Entry;
use crate::methods::Stage;
use crate::recipe::Recipe;

impl Comparison {
    /// The recipe behind a candidate, for a fit on n rows: the basis and the number of features that it had; None: a
    /// baseline.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::{Comparison, outcome::Entry}};
    ///
    /// let labels = Labels::classes(&["a", "b"]);
    /// let entry = Entry { method: "gda".into(), basis: Some("kobl".into()), asked: Some(1), ..Entry::default() };
    /// let recipe = Comparison::default().recipe(&entry, &labels, 100)?.expect("no baseline");
    /// assert!(recipe.settings.contains(&("basis".into(), "kobl".into())));
    /// assert!(recipe.settings.contains(&("n_components".into(), "1".into())));
    /// assert!(Comparison::default().recipe(&Entry { method: "raw".into(), ..entry }, &labels, 100)?.is_none());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn recipe(&self, entry: &Entry, labels: &Labels, n: usize) -> Result<Option<Recipe>> {
        if BASELINES.contains(&entry.method.as_str()) {
            return Ok(None);
        }
        let shape = shape(self)?;
        let stem = Stem::new(self, &entry.method, shape, n, labels)?;
        let plain = Recipe::new::<&str>(&entry.method, &[])?;
        let mut settings = stem.settings;
        let mut set = |name: &str, value: String| {
            settings.retain(|(other, _)| other != name);
            settings.push((name.into(), value));
        };
        if let Some(basis) = entry.basis.as_ref().filter(|_| plain.card.parameters.contains(&"basis")) {
            set("basis", basis.clone());
        }
        let size = if plain.card.stage == Stage::System { "n_features" } else { "n_components" };
        if let Some(q) = entry.asked.or(stem.own_cap).filter(|_| plain.card.parameters.contains(&size)) {
            set(size, q.to_string());
        }
        if let Some(rule) = entry.gamma_rule.as_ref().filter(|_| shape.uses_gamma()) {
            set("gamma", rule.clone());
        }
        Recipe::new(&entry.method, &settings).map(Some)
    }
}
