//! Where the arithmetic on rows is done: on the processor, or on an NVIDIA GPU.
//!
//! [`Options::device`](crate::Options) says where a fit is computed, [`Rows::on`](crate::Rows::on) puts rows there.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::cuda::{self, Gpu};
use crate::error::{Error, Result};

/// A place to compute.
///
/// ```
/// use mercer::device::Device;
///
/// assert_eq!("cuda:1".parse::<Device>()?, Device::Cuda(1));
/// assert_eq!(Device::default().to_string(), "cpu");
/// assert!("gpu".parse::<Device>().unwrap_err().to_string().contains("`cuda`"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The NVIDIA GPU with this number. Without one, or for what it has no formula for, an error.
    Cuda(usize),
    /// The NVIDIA GPU with this number for what it has formulas for, else the processor. Without the GPU, an error. Comparisons
    /// and advice make it of a GPU that was asked for.
    #[doc(hidden)]
    WhereItCan(usize),
    /// The first NVIDIA GPU where there is one and it has the formulas, else the processor.
    Auto,
}

impl Device {
    /// The GPU; None where the processor computes.
    pub(crate) fn gpu(self) -> Result<Option<Arc<Gpu>>> {
        match self {
            Self::Cpu => Ok(None),
            Self::Cuda(number) | Self::WhereItCan(number) => Gpu::open(number).map(Some),
            Self::Auto => Ok(Gpu::open(0).ok()),
        }
    }

    /// This device for many jobs, some of which a GPU may have no part in.
    pub(crate) fn where_it_can(self) -> Self {
        if let Self::Cuda(number) = self { Self::WhereItCan(number) } else { self }
    }

    /// Whether the processor takes over what a GPU cannot do.
    pub(crate) fn falls_back(self) -> bool {
        matches!(self, Self::Auto | Self::WhereItCan(_))
    }

    /// The GPU's name; None where the processor computes.
    pub fn name(self) -> Result<Option<String>> {
        Ok(self.gpu()?.map(|gpu| gpu.name().to_owned()))
    }

    /// Why [`Auto`](Self::Auto) computes on the processor; None where it does not.
    pub fn fallback(self) -> Option<String> {
        let why = Gpu::open(0).err().filter(|_| self == Self::Auto)?.to_string();
        let why = why.lines().next().unwrap_or_default().to_owned();
        Some(format!("device = `auto`: computed on the CPU, as {why}"))
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match (text, text.strip_prefix("cuda:").map(str::parse)) {
            ("cpu", _) => Ok(Self::Cpu),
            ("cuda", _) => Ok(Self::Cuda(0)),
            ("auto", _) => Ok(Self::Auto),
            (_, Some(Ok(number))) => Ok(Self::Cuda(number)),
            _ => Err(Error::argument(format!(
                "device = `{text}`, but it must be `cpu`, `cuda`, `cuda:1` (the GPU with that number) or `auto`"
            ))),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(0) | Self::WhereItCan(0) => f.write_str("cuda"),
            Self::Cuda(number) | Self::WhereItCan(number) => write!(f, "cuda:{number}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// Adds folders in which CUDA's libraries are looked for, before those of the system.
pub fn look_into(folders: Vec<PathBuf>) {
    cuda::look_into(folders);
}

/// The CUDA source that GPUs run, for those who want to compile it beforehand.
pub fn source() -> &'static str {
    cuda::SOURCE
}
