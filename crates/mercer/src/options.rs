//! How a job is run: what it may take, who watches it, where it is kept and what it hands back.
//!
//! Settings of a method say what is computed. Options say how, and travel beside the settings through every stage, so that
//! each of them is respected by a fit, a comparison and advice alike.

use crate::checkpoint::Checkpoint;
use crate::data::weights::Weights;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

use crate::limits;

pub use crate::limits::{address_space_left, is_limited};
pub use crate::size::{bytes, check_available, size_in_bytes};
pub(crate) use crate::size::{half_of, raise_budget};

/// Bytes that a job may take unless told otherwise.
pub const DEFAULT_MEMORY: u64 = 8 << 30;

/// Threads that a core has at most.
const THREADS_PER_CORE: usize = 4;

/// Threads that may be asked for on any machine.
const THREADS_ANYWHERE: usize = 16;

/// The most threads that are started: four a core, and 16 where cores are few. More of them would wait for each other.
///
/// ```
/// use mercer::options::{allowed_threads, most_threads};
///
/// assert_eq!(allowed_threads(3), (3, None));
/// let (threads, warning) = allowed_threads(99_999);
/// assert_eq!(threads, most_threads());
/// assert!(warning.unwrap().starts_with("99999 threads were asked for"));
/// ```
pub fn most_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (THREADS_PER_CORE * cores).max(THREADS_ANYWHERE)
}

/// The threads to start where so many were asked for, and a warning if these are fewer.
pub fn allowed_threads(asked: usize) -> (usize, Option<String>) {
    let most = most_threads();
    if asked <= most {
        return (asked, None);
    }
    (
        most,
        Some(format!("{asked} threads were asked for, but {most} are the most that this machine is given")),
    )
}

/// The budget where so many bytes were asked for, or [`DEFAULT_MEMORY`]: at most half of what limits of the system leave
/// (`ulimit`, a container), because a budget counts matrices and not every list; and a warning if that is less than asked for.
///
/// ```
/// use mercer::options::{DEFAULT_MEMORY, allowed_memory};
///
/// assert_eq!(allowed_memory(Some(1_000)), (1_000, None));
/// assert!(allowed_memory(None).0 <= DEFAULT_MEMORY);
/// ```
pub fn allowed_memory(asked: Option<u64>) -> (u64, Option<String>) {
    let wanted = asked.unwrap_or(DEFAULT_MEMORY);
    match limits::memory_left() {
        Some(left) if half_of(left) < wanted => (half_of(left), asked.map(|asked| too_little(asked, left))),
        _ => (wanted, None),
    }
}

fn too_little(asked: u64, left: u64) -> String {
    format!(
        "{} of memory were asked for, but a limit of the system leaves {} to this process: the budget is half of that",
        bytes(asked),
        bytes(left)
    )
}

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
    /// Threads, at most [`most_threads`]; None: those of the current pool. Results do not depend on it.
    pub threads: Option<usize>,
    /// Where passes over the rows are computed.
    pub device: Device,
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
    /// What each row counts; None: all the same.
    pub weights: Option<Weights>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            memory: DEFAULT_MEMORY,
            threads: None,
            device: Device::Cpu,
            monitor: Monitor::default(),
            checkpoint: None,
            coordinates: false,
            weights: None,
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

    /// Sets the place to compute.
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// These options for many jobs, some of which a GPU may have no part in.
    pub(crate) fn where_it_can(&self) -> Self {
        Self { device: self.device.where_it_can(), ..self.clone() }
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

    /// Sets what each row counts.
    pub fn weights(mut self, weights: Weights) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Does work on the number of threads asked for.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let Some(threads) = self.threads else { return work() };
        let threads = threads.min(most_threads());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|e| Error::Memory(format!("{threads} threads could not be started: {e}")))?.install(work)
    }
}
