//! Access to the parsed command line.

use std::sync::Once;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use mercer::data::Task;
use mercer::data::encode::{EncodeSettings, Missing};
use mercer::data::read::{EncodeMode, ReadOptions};
use mercer::device::Device;
use mercer::methods;
use mercer::options::allowed_memory;
use mercer::{Checkpoint, Error, Options, Result, Shape};

use crate::context::Context;
use crate::stderr;

/// Environment variable: seconds between two saves of a checkpoint.
const CHECKPOINT_SECONDS: &str = "MERCER_CHECKPOINT_SECONDS";

/// `n_components` is `--n-components`.
pub(crate) fn flag_name(parameter: &str) -> String {
    parameter.replace('_', "-")
}

/// The method parameters that the user gave, without defaults: a method refuses those that are not its own.
pub(crate) fn settings(args: &ArgMatches) -> Vec<(&str, &str)> {
    methods::parameters().iter().filter_map(|p| Some((p.name, text(args, p.name)?))).collect()
}

/// An error if a kernel parameter was given that the kernel does not have: it was probably meant for something else.
pub(crate) fn check_kernel(args: &ArgMatches) -> Result<()> {
    let kernel = text(args, "kernel").unwrap_or("rbf");
    let users: [(&str, &[&str], &str); 3] = [
        ("alpha", &["rq"], "; the level of fpr, fdr and fwe is `--level`"),
        ("degree", &["poly"], ""),
        ("coef0", &["poly", "sigmoid"], ""),
    ];
    for (name, kernels, other) in users {
        // A sum may have such a kernel among its parts.
        let has = |kernels: &[&str]| {
            let is_name = Shape::NAMES.contains(&kernel);
            kernels.iter().any(|name| if is_name { *name == kernel } else { kernel.contains(name) })
        };
        if let Some(value) = text(args, name).filter(|_| !has(kernels)) {
            return Err(Error::Argument(format!(
                "{name} = {value} is for the kernel `{}`, but kernel = {kernel}\nhint: leave it out{other}",
                kernels.join("` or `")
            )));
        }
    }
    Ok(())
}

/// The settings with the columns of the kernel's parts looked up among the names: `columns=age` becomes `columns=2`.
pub(crate) fn with_names(settings: &mut [(String, String)], names: &[String]) -> Result<()> {
    const KERNEL: [&str; 4] = ["kernel", "degree", "coef0", "alpha"];
    let own: Vec<(String, String)> =
        settings.iter().filter(|(name, _)| KERNEL.contains(&name.as_str())).cloned().collect();
    if let Some((_, kernel)) =
        settings.iter_mut().find(|(name, text)| name == "kernel" && text.contains("columns"))
    {
        *kernel = methods::basis("kobl", &own)?.shape.with_names(names)?.name().into();
    }
    Ok(())
}

/// The value of a flag, if the command has such a flag and it was given.
pub(crate) fn text<'a>(args: &'a ArgMatches, name: &str) -> Option<&'a str> {
    args.try_get_one::<String>(name).ok().flatten().map(String::as_str)
}

/// Whether the user gave a flag that has a default.
fn was_given(args: &ArgMatches, name: &str) -> bool {
    args.try_contains_id(name).is_ok() && args.value_source(name) == Some(ValueSource::CommandLine)
}

/// The value of a required argument.
pub(crate) fn required<'a>(args: &'a ArgMatches, name: &str) -> Result<&'a str> {
    text(args, name).ok_or_else(|| Error::Argument(format!("`{name}` is missing")))
}

pub(crate) fn names(args: &ArgMatches, name: &str) -> Vec<String> {
    args.get_many::<String>(name).map(|names| names.cloned().collect()).unwrap_or_default()
}

/// `--header` and `--no-header`; None if neither was given.
pub(crate) fn header_option(args: &ArgMatches) -> Option<bool> {
    match (args.get_flag("header"), args.get_flag("no-header")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Options for any rows: how text is written, and memory. The other half of the budget is for the computation.
pub(crate) fn text_options(args: &ArgMatches) -> ReadOptions {
    ReadOptions {
        header: header_option(args),
        separator: byte(args, "sep"),
        decimal: byte(args, "decimal"),
        memory: Some(memory(args) / 2),
        ..ReadOptions::default()
    }
}

/// A flag of one character.
pub(crate) fn byte(args: &ArgMatches, name: &str) -> Option<u8> {
    args.try_get_one(name).ok().flatten().copied()
}

/// Options for training rows. `filled`: whether missing values are filled at once; else they stay NaN.
pub(crate) fn read_options(args: &ArgMatches, filled: bool) -> ReadOptions {
    let missing = match text(args, "missing").and_then(|name| name.parse().ok()).unwrap_or_default() {
        Missing::Fill if !filled => Missing::Keep,
        missing => missing,
    };
    let settings = EncodeSettings {
        categorical: names(args, "categorical"),
        missing,
        // Who asks for it wants new rows filled, even if the training rows have no gaps.
        keep_medians: missing == Missing::Fill && was_given(args, "missing"),
        ..EncodeSettings::default()
    };
    // The columns of a kernel matrix are its rows.
    let precomputed = text(args, "kernel") == Some("precomputed");
    let aside = [text(args, "groups"), text(args, "weights")].into_iter().flatten().map(String::from);
    let aside: Vec<String> = aside.collect();
    ReadOptions {
        target: text(args, "target").map(String::from),
        // Groups and weights of rows are no input.
        drop: names(args, "drop").into_iter().chain(aside.clone()).collect(),
        keep: aside,
        inputs: names(args, "inputs"),
        encode: if precomputed { EncodeMode::Off } else { EncodeMode::Learn(settings) },
        ..text_options(args)
    }
}

pub(crate) fn task(args: &ArgMatches) -> Task {
    text(args, "task").and_then(|name| name.parse().ok()).unwrap_or_default()
}

pub(crate) fn is_json(args: &ArgMatches) -> bool {
    text(args, "format") == Some("json")
}

/// The budget that `--memory` sets, or what limits of the system allow.
pub(crate) fn memory(args: &ArgMatches) -> u64 {
    static WARNED: Once = Once::new();
    let (memory, warning) = allowed_memory(args.try_get_one("memory").ok().flatten().copied());
    if let Some(text) = warning {
        WARNED.call_once(|| stderr::warn(&text));
    }
    memory
}

/// The device that `--device` names; an error if this machine does not have it, a note if `auto` falls back to the processor.
pub(crate) fn device(args: &ArgMatches, context: &Context) -> Result<Device> {
    let device: Device = text(args, "device").map_or(Ok(Device::Cpu), str::parse)?;
    device.name()?;
    device.fallback().iter().for_each(|why| context.info(why));
    Ok(device)
}

/// Memory, device and checkpoint as the flags say, watched by the context's monitor.
pub(crate) fn options(args: &ArgMatches, context: &Context) -> Result<Options> {
    let (checkpoint, device) = (checkpoint(args)?, device(args, context)?);
    Ok(Options { memory: memory(args), checkpoint, device, ..Options::watched(&context.monitor) })
}

/// The folder that `--checkpoint` names, checked.
pub(crate) fn checkpoint(args: &ArgMatches) -> Result<Option<Checkpoint>> {
    let Some(folder) = text(args, "checkpoint") else { return Ok(None) };
    let mut checkpoint = Checkpoint::new(folder);
    checkpoint.check()?;
    if let Ok(seconds) = std::env::var(CHECKPOINT_SECONDS) {
        let every = seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        checkpoint = checkpoint.every(every.ok_or_else(|| {
            Error::Argument(format!(
                "{CHECKPOINT_SECONDS} = {seconds}, but it must be a number of at least 0"
            ))
        })?);
    }
    Ok(Some(checkpoint))
}

/// A count that has a default.
pub(crate) fn count(args: &ArgMatches, name: &str) -> usize {
    args.get_one::<u32>(name).map_or(1, |count| *count as usize)
}
