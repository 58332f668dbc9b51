//! How a job is run: what it may take, who watches it, where it is kept and what it hands back.
//!
//! Settings of a method say what is computed. Options say how, and travel beside the settings through every stage, so that
//! each of them is respected by a fit, a comparison and advice alike.

use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Bytes that a job may take unless told otherwise.
pub const DEFAULT_MEMORY: u64 = 8 << 30;

/// How a fit, a comparison or advice is run.
///
/// ```
/// use mercer::{Basis, Kernel, Options, data::synth};
///
/// let rows = synth::generate("ringnorm?n=300&seed=1")?.rows;
/// let options = Options::default().memory(1_000);
/// let refused = Basis::kobl(Kernel::rbf(0.05)).fit_with(&rows, None, &options).unwrap_err();
/// assert!(refused.to_string().contains("the budget is 1 kB"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// Most bytes that the job may take beside the rows.
    pub memory: u64,
    /// Threads; None: those of the current pool. Results do not depend on it.
    pub threads: Option<usize>,
    /// Progress out, stop in.
    pub monitor: Monitor,
    /// Where what was found so far is kept: the same job, run again, goes on from there, to the same result. The files stay
    /// until [`Checkpoint::clear`].
    ///
    /// The bases `kobl`, `sparse`, `nystrom` and `rpcholesky` are kept after every pass over the rows. They then recompute
    /// kernel values in place of keeping coordinates in memory, so that their last digits may differ from those of a fit
    /// without a checkpoint. Other bases are kept when they are done.
    pub checkpoint: Option<Checkpoint>,
    /// Whether a fit hands back the training rows' coordinates in the basis.
    pub coordinates: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            memory: DEFAULT_MEMORY,
            threads: None,
            monitor: Monitor::default(),
            checkpoint: None,
            coordinates: false,
        }
    }
}

impl Options {
    /// Options with a monitor, by which a caller watches and stops the job.
    pub fn watched(monitor: &Monitor) -> Self {
        Self { monitor: monitor.clone(), ..Self::default() }
    }

    /// Sets the budget in bytes.
    pub fn memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }

    /// Sets the number of threads.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Keeps what was found so far in a folder.
    pub fn checkpoint(mut self, checkpoint: &Checkpoint) -> Self {
        self.checkpoint = Some(checkpoint.clone());
        self
    }

    /// Asks for the training rows' coordinates.
    pub fn with_coordinates(mut self) -> Self {
        self.coordinates = true;
        self
    }

    /// Does work on the number of threads asked for.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let Some(threads) = self.threads else { return work() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|e| Error::Numerical(format!("{threads} threads could not be started: {e}")))?
            .install(work)
    }
}

/// A number of bytes for people.
///
/// ```
/// assert_eq!(mercer::options::bytes(2_500_000_000), "2.5 GB");
/// ```
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{:.0} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

/// The number of bytes that a text such as `500MB` or `4GiB` means.
///
/// ```
/// use mercer::options::size_in_bytes;
///
/// assert_eq!(size_in_bytes("1.5 kB")?, 1_500);
/// assert_eq!(size_in_bytes("2GiB")?, 2 << 30);
/// assert!(size_in_bytes("-1GB").is_err());
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn size_in_bytes(text: &str) -> Result<u64> {
    const UNITS: [(&str, u64); 14] = [
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
        ("t", 1_000_000_000_000),
        ("b", 1),
        ("", 1),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let split = |(unit, size): &(&str, u64)| Some((lower.strip_suffix(unit)?, *size));
    let (number, unit) = UNITS.iter().find_map(split).unwrap_or((&lower, 1));
    match number.trim().parse::<f64>() {
        Ok(count) if count > 0.0 && count.is_finite() => Ok((count * unit as f64) as u64),
        _ => Err(Error::argument("it must be a number above 0 with a unit, such as 500MB or 4GB")),
    }
}
