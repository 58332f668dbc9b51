//! The page about one fitted method.

use crate::evaluate::portrait::Portrait;

use super::About;
use super::features;
use super::page::Page;
use super::text::{counted, escaped};

/// A page about a fitted method: its best features, the residual of its basis, its spectrum and scores, and the importance of
/// the inputs.
///
/// ```
/// use mercer::evaluate::portrait::Portrait;
/// use mercer::report::{About, model};
///
/// let portrait = Portrait { method: "klfe".into(), residuals: vec![1.0, 0.2, 0.05], ..Portrait::default() };
/// let page = model(&portrait, &About { source: "irises & <roses>".into(), ..About::default() });
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("irises &amp; &lt;roses&gt;"));
/// assert_eq!(page.matches("role=\"img\"").count(), 1);
/// ```
pub fn model(portrait: &Portrait, about: &About) -> String {
    let mut page = Page::default();
    features::facts(&mut page, portrait);
    features::charts(&mut page, portrait);
    page.repeat(about);
    let below = if portrait.basis.is_empty() || portrait.basis == portrait.method {
        String::new()
    } else {
        format!(" on {}", escaped(&portrait.basis))
    };
    let answer = format!(
        "<b>{}</b>{below} computes {} per row from {}.",
        escaped(&portrait.method),
        counted(portrait.n_features, "feature", "features"),
        counted(portrait.kernel_values, "kernel value", "kernel values"),
    );
    page.finish("Model", &answer, about)
}
