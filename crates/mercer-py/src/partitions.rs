//! Fits on rows in partitions: the coordinator's side, which asks an engine written in Python, and the partition's side, which
//! answers.

use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};

use mercer::data::{TargetSummary, Task};
use mercer::partitions::{self, Engine, Parted, PartedOptions, Partition};
use mercer::{Error, Labels, Monitor, Options, Result, methods};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use crate::convert::{PyRows, Target, python_rows, whole};
use crate::fit::{Fitted, PyBasis, Settings, assemble, parted_pipeline};
use crate::gate::{Talk, exception, memory, run, wait};
use crate::interrupts::Interrupts;
use crate::pool;
use crate::reserve::UnderWay;
use crate::select::selection;

/// How long an engine is waited for before Ctrl-C is looked at again.
const WAIT: f64 = 0.1;

/// A class whose objects are sent as bytes.
type Sent<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

macro_rules! sent_as_bytes {
    ($class:ident, $inner:ty, { $($own:tt)* }) => {
        #[pymethods]
        impl $class {
            $($own)*

            /// From its bytes.
            #[classmethod]
            fn from_bytes(_: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
                Ok(Self(<$inner>::from_bytes(bytes).map_err(exception)?))
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Sent<'py>> {
                let bytes = slf.get().0.to_bytes().map_err(exception)?;
                let make = slf.get_type().getattr("from_bytes")?;
                Ok((make, (PyBytes::new(slf.py(), &bytes),)))
            }
        }
    };
}

/// What the coordinator asks of every partition.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Question(partitions::Question);

sent_as_bytes!(Question, partitions::Question, {
    /// What it is about, in one word.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Whether partitions have a new state afterwards.
    #[getter]
    fn makes_state(&self) -> bool {
        self.0.makes_state()
    }
});

/// What a partition answers.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Answer(partitions::Answer);

sent_as_bytes!(Answer, partitions::Answer, {
    /// One answer of two partitions, this one before the other.
    fn merged(&self, other: &Self) -> PyResult<Self> {
        self.0.clone().merged(other.0.clone()).map(Self).map_err(exception)
    }

    fn __sizeof__(&self) -> PyResult<usize> {
        Ok(self.0.to_bytes().map_err(exception)?.len())
    }
});

/// What a partition keeps between two questions.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct State(partitions::State);

sent_as_bytes!(State, partitions::State, {
    fn __sizeof__(&self) -> usize {
        self.0.size()
    }
});

/// The answer of one partition to a question, and its new state, if it has one.
#[pyfunction]
#[pyo3(signature = (X, y, question, state=None, *, number=0, first=None))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn answer<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Option<Target<'py>>,
    question: &Question,
    state: Option<&State>,
    number: usize,
    first: Option<usize>,
) -> PyResult<(Option<State>, Answer)> {
    let rows = X.rows()?;
    let target = y.map(Target::column).transpose()?;
    let part = Partition::new(rows, target);
    let nothing = partitions::State::default();
    let state = state.map_or(&nothing, |state| &state.0);
    let (state, answer) = run(py, 0, |monitor| part.answer(state, &question.0, number, first, monitor))?;
    Ok((state.map(State), Answer(answer)))
}

/// An engine that is written in Python: `start(question, first, merged)`, `wait(seconds)`, `answers()` and `cancel()`.
struct PyEngine<'m> {
    engine: Py<PyAny>,
    n_partitions: usize,
    monitor: &'m Monitor,
    /// What it raised, which is worth more than what is made of it.
    raised: Mutex<Option<PyErr>>,
}

impl PyEngine<'_> {
    fn answers(
        &self,
        question: &partitions::Question,
        first: &[usize],
        merged: bool,
    ) -> Result<Vec<partitions::Answer>> {
        let found = Python::attach(|py| -> PyResult<Option<Vec<partitions::Answer>>> {
            let engine = self.engine.bind(py);
            let question = Py::new(py, Question(question.clone()))?;
            engine.call_method1("start", (question, first.to_vec(), merged))?;
            while !engine.call_method1("wait", (WAIT,))?.extract::<bool>()? {
                if self.monitor.is_stopped() {
                    engine.call_method0("cancel")?;
                    return Ok(None);
                }
            }
            let answers: Vec<PyRef<Answer>> = engine.call_method0("answers")?.extract()?;
            Ok(Some(answers.iter().map(|answer| answer.0.clone()).collect()))
        });
        match found {
            Ok(Some(answers)) => Ok(answers),
            Ok(None) => Err(Error::Interrupted),
            Err(raised) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
                Err(Error::Argument("a partition did not answer".into()))
            }
        }
    }
}

impl Engine for PyEngine<'_> {
    fn n_partitions(&self) -> usize {
        self.n_partitions
    }

    fn ask(&self, question: &partitions::Question, first: &[usize]) -> Result<Vec<partitions::Answer>> {
        self.answers(question, first, false)
    }

    fn ask_merged(&self, question: &partitions::Question, first: &[usize]) -> Result<partitions::Answer> {
        let answers = self.answers(question, first, true)?;
        partitions::merged_in_a_tree(answers, partitions::Answer::merged)
    }
}

/// Runs the coordinator in a thread of its own: it waits for partitions, which may need all threads of the pool.
fn coordinate<T: Send>(
    py: Python<'_>,
    engine: Py<PyAny>,
    verbose: u32,
    work: impl FnOnce(&dyn Engine, &Monitor) -> Result<T> + Send,
) -> PyResult<T> {
    let n_partitions = engine.bind(py).getattr("n_partitions")?.extract()?;
    let monitor = Monitor::default();
    let engine = PyEngine { engine, n_partitions, monitor: &monitor, raised: Mutex::new(None) };
    let mut talk = Talk::new(verbose > 0);
    let _reserve = UnderWay::begin(py, &pool::current(py)?)?;
    let interrupts = Interrupts::watch(py)?;
    let (result, raised) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let (engine, monitor) = (&engine, &monitor);
            scope.spawn(move || {
                // The receiver only goes away when this scope unwinds, and then nobody wants the result.
                let _ = sender.send(work(engine, monitor));
            });
            wait(&receiver, monitor, &mut talk, &interrupts)
        })
    });
    if let Some(exception) = raised {
        return Err(exception);
    }
    if let Some(raised) = engine.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(raised);
    }
    let found = result.unwrap_or(Err(Error::Interrupted)).map_err(exception)?;
    talk.end(py)?;
    Ok(found)
}

/// [`fit`](crate::fit::fit) on rows in partitions, which an engine brings questions to. `kept` bytes may be kept by all
/// partitions together, landmarks are chosen among `basis_rows` rows, if that is given, and columns are multiplied by `weights`.
#[pyfunction]
#[pyo3(signature = (
    engine, method, settings, *, basis, basis_only=false, input_names=None, task="auto", kept=0, basis_rows=None,
    weights=None, ridge_rows=None, verbose=0
))]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_partitions<'py>(
    py: Python<'py>,
    engine: Py<PyAny>,
    method: Option<&str>,
    settings: Settings,
    basis: PyBasis<'py>,
    basis_only: bool,
    input_names: Option<Vec<String>>,
    task: &str,
    kept: u64,
    basis_rows: Option<usize>,
    weights: Option<Vec<f64>>,
    ridge_rows: Option<usize>,
    verbose: u32,
) -> PyResult<Fitted> {
    let task: Task = task.parse().map_err(exception)?;
    if basis_rows == Some(0) {
        return Err(PyValueError::new_err("basis_rows = 0, but at least 1 is needed"));
    }
    let (name, of_basis, landmarks) = basis;
    let landmarks = landmarks.map(|l| l.to_owned()).transpose()?;
    let options = Options::default().memory(memory(py, None)?);
    let names = input_names.clone();
    let (fitted, target, warnings) = coordinate(py, engine, verbose, |engine, monitor| {
        let mut warnings = Vec::new();
        let mut parted = Parted::open_named(engine, task, names.as_deref(), &mut warnings)?;
        let choice = (name.as_deref(), &of_basis[..], landmarks);
        let target = parted.target().cloned();
        let pipeline = parted_pipeline(method, &settings, basis_only, choice, &parted)?;
        let options = Options { monitor: monitor.clone(), ..options };
        let fitted =
            parted.fit(&pipeline, &PartedOptions { options, kept, basis_rows, weights, ridge_rows })?;
        Ok((fitted, target, warnings))
    })?;
    assemble(py, fitted, None, class_names_of(target.as_ref()), input_names, warnings)
}

/// [`fit_selector`](crate::select::fit_selector) on rows in partitions.
#[pyfunction]
#[pyo3(signature = (engine, selector, settings, *, input_names=None, task="auto", verbose=0))]
pub(crate) fn fit_selector_partitions<'py>(
    py: Python<'py>,
    engine: Py<PyAny>,
    selector: &str,
    settings: Settings,
    input_names: Option<Vec<String>>,
    task: &str,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let task: Task = task.parse().map_err(exception)?;
    let (selector, keep) = methods::selector(selector, &settings).map_err(exception)?;
    let (scores, kept, target, mut warnings) = coordinate(py, engine, verbose, |engine, monitor| {
        let mut warnings = Vec::new();
        let parted = Parted::open_named(engine, task, input_names.as_deref(), &mut warnings)?;
        let scores = parted.scores(&selector, monitor)?;
        let kept = scores.keep(keep);
        Ok((scores, kept, parted.target().cloned(), warnings))
    })?;
    warnings.extend_from_slice(&scores.warnings);
    warnings.extend_from_slice(&kept.warnings);
    let out = selection(py, scores, kept, class_names_of(target.as_ref()))?;
    out.set_item("warnings", warnings)?;
    Ok(out)
}

/// Some rows of partitions, drawn at random in the order of all rows, and their labels: codes and the classes' names, or numbers
/// and None.
#[pyfunction]
#[pyo3(signature = (engine, size, *, seed=0, input_names=None, task="auto"))]
pub(crate) fn sample_partitions<'py>(
    py: Python<'py>,
    engine: Py<PyAny>,
    size: usize,
    seed: u64,
    input_names: Option<Vec<String>>,
    task: &str,
) -> PyResult<Sample<'py>> {
    let task: Task = task.parse().map_err(exception)?;
    let (n, (rows, labels)) = coordinate(py, engine, 0, |engine, _| {
        let parted = Parted::open_named(engine, task, input_names.as_deref(), &mut Vec::new())?;
        Ok((parted.n(), parted.sample(size, seed)?))
    })?;
    let labels = match labels {
        None => None,
        Some(Labels::Classes { codes, names }) => Some((whole(py, codes).into_any(), Some(names))),
        Some(Labels::Numbers(values) | Labels::Several { values, .. }) => {
            Some((PyArray1::from_vec(py, values).into_any(), None))
        }
    };
    Ok((n, python_rows(py, &rows)?, labels))
}

/// The number of all rows, some of them, and their labels.
type Sample<'py> = (usize, Bound<'py, PyAny>, Option<(Bound<'py, PyAny>, Option<Vec<String>>)>);

/// The names of the classes, if there are any.
fn class_names_of(target: Option<&TargetSummary>) -> Option<&[String]> {
    match target {
        Some(TargetSummary::Classes { names, .. }) => Some(names),
        _ => None,
    }
}
