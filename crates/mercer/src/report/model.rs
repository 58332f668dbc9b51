//! The page about one fitted method.

use crate::evaluate::diagnostics::FitDiagnostics;

use super::About;
use super::features;
use super::page::Page;
use super::text::{counted, escaped};

/// A page about a fitted method: its best features, the residual of its basis, its spectrum and scores, and the importance of
/// the inputs.
///
/// ```
/// use mercer::evaluate::diagnostics::FitDiagnostics;
/// use mercer::report::{About, model};
///
/// let diagnostics = FitDiagnostics { method: "klfe".into(), residuals: vec![1.0, 0.2, 0.05], ..FitDiagnostics::default() };
/// let page = model(&diagnostics, &About { source: "irises & <roses>".into(), ..About::default() });
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("irises &amp; &lt;roses&gt;"));
/// assert_eq!(page.matches("role=\"img\"").count(), 1);
/// ```
pub fn model(diagnostics: &FitDiagnostics, about: &About) -> String {
    let mut page = Page::default();
    features::facts(&mut page, diagnostics);
    features::predictions(&mut page, diagnostics, &about.target);
    features::charts(&mut page, diagnostics, &about.target);
    page.repeat(about);
    let below = if diagnostics.basis.is_empty() || diagnostics.basis == diagnostics.method {
        String::new()
    } else {
        format!(" on {}", escaped(&diagnostics.basis))
    };
    let score = diagnostics
        .held_out
        .as_ref()
        .map_or_else(String::new, |held_out| format!(" {}", features::score_text(held_out)));
    let answer = format!(
        "<b>{}</b>{below} computes {} per row from {}.{score}",
        escaped(&diagnostics.method),
        counted(diagnostics.n_features, "feature", "features"),
        counted(diagnostics.kernel_values, "kernel value", "kernel values"),
    );
    page.finish("Model", &answer, about)
}
