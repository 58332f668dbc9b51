//! Pages: what they say about themselves, and where they go.

use clap::ArgMatches;
use mercer::report::About;
use mercer::{Labels, Result};

use super::place::Place;
use super::source::task_name;
use crate::context::Context;
use crate::{args, quote};

/// What a page says about how it came about.
pub(super) fn about(
    args: &ArgMatches,
    labels: Option<&Labels>,
    seed: u64,
    settings: Vec<(String, String)>,
) -> About {
    let data = args::text(args, "data").unwrap_or_default();
    let files: Vec<&str> = ["data", "output", "report"].iter().filter_map(|n| args::text(args, n)).collect();
    let name = args::text(args, "target").unwrap_or("target");
    let task = labels.map(|labels| ("task".to_string(), task_name(labels).to_string()));
    About {
        source: super::file_name(data).to_string(),
        command: quote::typed(std::env::args_os(), &files),
        seed,
        settings: task.into_iter().chain(settings).collect(),
        target: labels.map_or_else(String::new, |_| name.to_string()),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

/// Writes a page and says where it is.
pub(super) fn write_page(place: Place, page: &str, context: &Context) -> Result<()> {
    place.write_text(context, page)?;
    if let Place::File(file) = place {
        context.say(&format!("wrote the page {file}"));
    }
    Ok(())
}
