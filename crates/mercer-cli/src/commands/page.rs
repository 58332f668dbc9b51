//! HTML reports: their metadata and their output.

use clap::ArgMatches;
use mercer::report::About;
use mercer::{Labels, Result};

use super::output_target::OutputTarget;
use super::source::task_name;
use crate::context::Context;
use crate::{args, quote};

/// The metadata of a report: data, command, seed and settings.
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

/// Writes a report and notes where it is.
pub(super) fn write_page(target: OutputTarget, page: &str, context: &Context) -> Result<()> {
    target.write_text(context, page)?;
    if let OutputTarget::File(file) = target {
        context.info(&format!("wrote the report {file}"));
    }
    Ok(())
}
