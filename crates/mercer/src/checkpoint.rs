//! Checkpoints: intermediate results of a long job in a folder, from which the same job can be resumed.
//!
//! One file per part of the job. Each records what it depends on (version, settings, digests of rows and labels); a job that
//! differs in any of them gets an error that names the difference. Files are written atomically and end with a digest of their
//! contents, so that damage is detected.
//!
//!   a line of JSON (what it depends on, facts, names and lengths of lists) · the lists, 8 bytes a number · the digest

use std::fmt::Debug;
use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::data::labels::Labels;
use crate::data::rows::{F64Rows, Rows};
use crate::error::{Error, Result};

/// Default time between two saves.
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

/// Saves are spaced so that writing takes at most 1/20 of the time.
const WRITE_TIME_DIVISOR: u32 = 20;

/// Prefix and suffix of the file names.
const FILE_NAME: (&str, &str) = ("mercer-", ".checkpoint");

/// Suffix of a file that is not complete yet.
const UNFINISHED_SUFFIX: &str = ".new";

/// Rows of a part that is digested by one thread.
const DIGEST_ROWS: usize = 1_024;

/// A folder for the intermediate results of a long job.
///
/// ```
/// use mercer::{Basis, Checkpoint, Error, Kernel, Options, data::synth};
/// use std::time::Duration;
/// # let folder = std::env::temp_dir().join("mercer-checkpoint-example");
///
/// let table = synth::generate("ringnorm?n=300&seed=1")?;
/// let checkpoint = Checkpoint::new(&folder).every(Duration::ZERO); // after every pass; else every 10 seconds
/// let options = Options::default().checkpoint(&checkpoint);
/// let basis = Basis::kobl(Kernel::rbf(0.05));
/// let (first, _) = basis.fit_with(&table.rows, None, &options)?;
/// let (again, _) = basis.fit_with(&table.rows, None, &options)?; // read, not recomputed
/// assert_eq!(again.expansion.matrix, first.expansion.matrix);
/// let refused = basis.n_components(7).fit_with(&table.rows, None, &options).unwrap_err().to_string();
/// assert!(refused.contains("it was made with n_components = none, but now n_components = 7"));
/// checkpoint.clear()?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    every: Duration,
    /// The files of the jobs that use this checkpoint or a clone of it.
    files: Arc<Mutex<Vec<PathBuf>>>,
    lock: Arc<Mutex<Option<FolderLock>>>,
}

impl Checkpoint {
    /// A checkpoint in this folder, which the first job creates; its parent must exist. From then on the folder is locked
    /// (on Unix) until it is cleared or this checkpoint and its clones are dropped, and no other process can use it.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), every: DEFAULT_INTERVAL, files: Arc::default(), lock: Arc::default() }
    }

    /// Sets the least time between two saves.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// An error unless the folder exists or can be created.
    pub fn check(&self) -> Result<()> {
        let path = &self.folder;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if path.as_os_str().is_empty() {
            return Err(Error::argument("the name of the checkpoint's folder is empty; name a folder"));
        }
        if path.exists() && !path.is_dir() {
            return Err(Error::argument(format!(
                "the checkpoint `{}` is a file, but a folder is needed",
                path.display()
            )));
        }
        match parent.filter(|parent| !parent.is_dir()) {
            Some(parent) => Err(Error::argument(format!(
                "the checkpoint `{}` cannot be created: the folder `{}` does not exist",
                path.display(),
                parent.display()
            ))),
            None => Ok(()),
        }
    }

    /// Whether the folder holds a checkpoint of this job or another.
    pub fn holds_something(&self) -> bool {
        let is_one = |name: &str| name.starts_with(FILE_NAME.0) && name.ends_with(FILE_NAME.1);
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| is_one(&entry.file_name().to_string_lossy()))
    }

    /// Removes the files of all jobs that used it, and the folder if it is then empty. To be called when they are done.
    pub fn clear(&self) -> Result<()> {
        for file in self.files.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            for file in [unfinished(&file), file] {
                match fs::remove_file(&file) {
                    Err(e) if e.kind() != ErrorKind::NotFound => return Err(Error::io(&file, e)),
                    _ => {}
                }
            }
        }
        // Fails if other files are in it, which stay.
        let _ = fs::remove_dir(&self.folder);
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// The file of a part of the job, and its contents from an earlier run.
    pub(crate) fn part(&self, name: &str, about: About) -> Result<(Part, Option<Content>)> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_none() {
            *lock = Some(FolderLock::new(&self.folder)?);
        }
        drop(lock);
        let path = self.folder.join(format!("{}{name}{}", FILE_NAME.0, FILE_NAME.1));
        self.files.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        let part = Part { path, about, every: self.every, wait: self.every, last: Instant::now() };
        let found = part.load()?;
        Ok((part, found))
    }
}

/// Keeps other processes from a folder as long as it exists.
#[derive(Debug)]
struct FolderLock {
    path: PathBuf,
    _folder: Option<File>,
}

impl FolderLock {
    /// Creates the folder, if need be, and locks it.
    fn new(path: &Path) -> Result<Self> {
        let failed = |e| Error::io(path, e);
        create(path).map_err(failed)?;
        let lock = |folder| Self { path: path.into(), _folder: folder };
        // Elsewhere than on Unix a folder cannot be opened.
        let Some(folder) = cfg!(unix).then(|| File::open(path)).transpose().map_err(failed)? else {
            return Ok(lock(None));
        };
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => Err(Error::file(
                path,
                "another process is using this checkpoint folder\nhint: wait until it has ended, or name another folder for the checkpoint",
            )),
            // Some file systems have no locks.
            _ => Ok(lock(Some(folder))),
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Fails if there is a checkpoint in it, which stays.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Creates a folder unless it exists.
fn create(folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder).or_else(|e| if folder.is_dir() { Ok(()) } else { Err(e) })
}

/// The temporary name of a file.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(UNFINISHED_SUFFIX);
    name.into()
}

/// What a result depends on, by name.
#[derive(Clone, Debug)]
pub(crate) struct About(Vec<(String, String)>);

impl About {
    /// The version of the program, the rows and the labels.
    pub(crate) fn new(rows: &Rows, labels: Option<&Labels>) -> Self {
        let about =
            Self(Vec::new()).and("mercer", env!("CARGO_PKG_VERSION")).and("rows", digest_of_rows(rows));
        about.and("labels", labels.map_or_else(|| "none".into(), digest_of_labels))
    }

    pub(crate) fn and(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// Adds a setting by its debug representation, without the wrappers `Some` and `Value`.
    pub(crate) fn and_setting(self, name: &str, value: &impl Debug) -> Self {
        let text = format!("{value:?}");
        let inner = ["Some(", "Value("].iter().find_map(|kind| text.strip_prefix(kind)?.strip_suffix(')'));
        let plain = inner.unwrap_or(if text == "None" { "none" } else { &text });
        self.and(name, plain)
    }

    /// The first difference from what a file was made with.
    fn difference(&self, theirs: &Map<String, Value>) -> Option<String> {
        let differs = self
            .0
            .iter()
            .find(|(name, value)| theirs.get(name).and_then(Value::as_str) != Some(value.as_str()));
        let (name, value) = differs?;
        let other = theirs.get(name).and_then(Value::as_str).unwrap_or("not known");
        Some(format!("it was made with {name} = {other}, but now {name} = {value}"))
    }
}

/// The contents of a file, without what it depends on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) facts: Map<String, Value>,
    lists: Vec<(String, Vec<u64>)>,
}

impl Content {
    /// Takes a list of integers out; empty if there is none.
    pub(crate) fn whole(&mut self, name: &str) -> Vec<u64> {
        let at = self.lists.iter().position(|(other, _)| other == name);
        at.map(|at| self.lists.swap_remove(at).1).unwrap_or_default()
    }

    /// Takes a list of numbers out.
    pub(crate) fn numbers(&mut self, name: &str) -> Vec<f64> {
        self.whole(name).into_iter().map(f64::from_bits).collect()
    }

    /// Takes a list of indices out.
    pub(crate) fn indices(&mut self, name: &str) -> Vec<usize> {
        self.whole(name).into_iter().map(|i| i as usize).collect()
    }
}

/// A list to be written: its name, its length and its numbers.
pub(crate) type List<'a> = (&'static str, usize, Box<dyn Iterator<Item = u64> + 'a>);

/// A list of numbers, bit by bit.
pub(crate) fn numbers<'a>(name: &'static str, values: &'a [f64]) -> List<'a> {
    (name, values.len(), Box::new(values.iter().map(|v| v.to_bits())))
}

/// A list of indices.
pub(crate) fn indices<'a>(name: &'static str, values: &'a [usize]) -> List<'a> {
    (name, values.len(), Box::new(values.iter().map(|&i| i as u64)))
}

/// One file of a checkpoint.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    about: About,
    every: Duration,
    wait: Duration,
    last: Instant,
}

impl Part {
    /// Whether enough time has passed since the last save.
    pub(crate) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.wait
    }

    /// Replaces the saved state.
    pub(crate) fn save(&mut self, facts: &Map<String, Value>, lists: Vec<List>) -> Result<()> {
        let start = Instant::now();
        self.write(&unfinished(&self.path), facts, lists).map_err(|e| Error::io(&self.path, e))?;
        self.last = Instant::now();
        self.wait = if self.every.is_zero() {
            self.every
        } else {
            self.every.max(WRITE_TIME_DIVISOR * start.elapsed())
        };
        Ok(())
    }

    fn write(&self, unfinished: &Path, facts: &Map<String, Value>, lists: Vec<List>) -> std::io::Result<()> {
        if let Some(folder) = self.path.parent() {
            create(folder)?;
        }
        let names: Vec<Value> = lists.iter().map(|(name, length, _)| json!([name, length])).collect();
        let about: Map<String, Value> =
            self.about.0.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let header = json!({ "about": about, "facts": facts, "lists": names }).to_string();
        let mut digest = Digest::default();
        digest.add_bytes(header.as_bytes());
        let mut file = BufWriter::with_capacity(1 << 20, File::create(unfinished)?);
        writeln!(file, "{header}")?;
        for word in lists.into_iter().flat_map(|(_, _, words)| words) {
            digest.add(word);
            file.write_all(&word.to_le_bytes())?;
        }
        file.write_all(&digest.0.to_le_bytes())?;
        // After a crash of the machine the file must hold one complete state or the other.
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(unfinished, &self.path)
    }

    /// The error for contents that do not fit together.
    pub(crate) fn damaged(&self) -> Error {
        self.refused("the checkpoint is damaged")
    }

    fn refused(&self, why: &str) -> Error {
        let hint = "remove this file to start again, or name another folder for the checkpoint";
        Error::file(&self.path, format!("{why}\nhint: {hint}"))
    }

    fn load(&self) -> Result<Option<Content>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let (about, content) = self.read().map_err(|e| match e.kind() {
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => self.damaged(),
            _ => Error::io(&self.path, e),
        })?;
        match self.about.difference(&about) {
            Some(difference) => Err(self.refused(&format!("the checkpoint is of another job: {difference}"))),
            None => Ok(Some(content)),
        }
    }

    fn read(&self) -> std::io::Result<(Map<String, Value>, Content)> {
        let damaged = || std::io::Error::from(ErrorKind::InvalidData);
        let file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line)?;
        let header = line.strip_suffix(b"\n").ok_or_else(damaged)?;
        let mut digest = Digest::default();
        digest.add_bytes(header);
        let mut header: Map<String, Value> = serde_json::from_slice(header).map_err(|_| damaged())?;
        let mut take = |name: &str| header.remove(name).ok_or_else(damaged);
        let names: Vec<(String, u64)> = serde_json::from_value(take("lists")?).map_err(|_| damaged())?;
        let words = names.iter().try_fold(1u64, |sum, (_, length)| sum.checked_add(*length));
        if words.and_then(|words| words.checked_mul(8)) != length.checked_sub(line.len() as u64) {
            return Err(damaged());
        }
        let mut word = || {
            let mut bytes = [0; 8];
            file.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
        };
        let mut lists = Vec::with_capacity(names.len());
        for (name, length) in names {
            let list: Vec<u64> = (0..length).map(|_| word()).collect::<std::io::Result<_>>()?;
            list.iter().for_each(|word| digest.add(*word));
            lists.push((name, list));
        }
        if word()? != digest.0 {
            return Err(damaged());
        }
        match (take("about")?, take("facts")?) {
            (Value::Object(about), Value::Object(facts)) => Ok((about, Content { facts, lists })),
            _ => Err(damaged()),
        }
    }
}

/// Many small results of a part of a job, by name. Without a checkpoint nothing is stored.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    part: Option<Part>,
    known: Map<String, Value>,
    news: bool,
}

impl Journal {
    /// With the results of an earlier run.
    pub(crate) fn open(checkpoint: &Checkpoint, name: &str, about: About) -> Result<Self> {
        let (part, found) = checkpoint.part(name, about)?;
        Ok(Self { part: Some(part), known: found.unwrap_or_default().facts, news: false })
    }

    pub(crate) fn recall(&self, name: &str) -> Option<&Value> {
        self.known.get(name)
    }

    /// All stored results.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.known.values()
    }

    /// Stores a result, and saves the file if a save is due.
    pub(crate) fn record(&mut self, name: &str, value: impl FnOnce() -> Value) -> Result<()> {
        let Some(part) = &self.part else { return Ok(()) };
        self.known.insert(name.into(), value());
        self.news = true;
        if part.is_due() { self.save() } else { Ok(()) }
    }

    /// Saves new results; for the end of the part, or of its time.
    pub(crate) fn save(&mut self) -> Result<()> {
        if let Some(part) = self.part.as_mut().filter(|_| self.news) {
            part.save(&self.known, Vec::new())?;
            self.news = false;
        }
        Ok(())
    }
}

/// A 64-bit hash, against mistakes and not against malice.
#[derive(Clone, Copy, Debug, Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }
}

/// The size of rows and a digest of their numbers.
pub(crate) fn digest_of_rows(rows: &Rows) -> String {
    let of_part = |start: usize| {
        let mut digest = Digest::default();
        let part = rows.slice_f64(start..rows.n().min(start + DIGEST_ROWS));
        for i in 0..part.n() {
            let values = match part.as_f64() {
                F64Rows::Dense(dense) => dense.row(i),
                F64Rows::Sparse(sparse) => {
                    let (columns, values) = sparse.row(i);
                    digest.add(columns.len() as u64);
                    columns.iter().for_each(|&j| digest.add(u64::from(j)));
                    values
                }
            };
            values.iter().for_each(|v| digest.add(v.to_bits()));
        }
        digest.0
    };
    let parts: Vec<u64> = (0..rows.n()).into_par_iter().step_by(DIGEST_ROWS).map(of_part).collect();
    let mut digest = Digest::default();
    parts.into_iter().for_each(|part| digest.add(part));
    format!("{} × {} (digest {:016x})", rows.n(), rows.p(), digest.0)
}

fn digest_of_labels(labels: &Labels) -> String {
    let mut digest = Digest::default();
    match labels {
        Labels::Classes { codes, names } => {
            names.iter().for_each(|name| digest.add_bytes(name.as_bytes()));
            codes.iter().for_each(|&code| digest.add(code as u64));
            format!("{} of {} classes (digest {:016x})", codes.len(), names.len(), digest.0)
        }
        Labels::Numbers(values) => {
            values.iter().for_each(|v| digest.add(v.to_bits()));
            format!("{} numbers (digest {:016x})", values.len(), digest.0)
        }
        Labels::Several { values, count } => {
            values.iter().for_each(|v| digest.add(v.to_bits()));
            format!("{} × {count} numbers (digest {:016x})", values.len() / count, digest.0)
        }
    }
}
