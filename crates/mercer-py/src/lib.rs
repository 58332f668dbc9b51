//! The Python face: functions that take arrays and give arrays back. No arithmetic here, and no classes: a fitted
//! estimator is its arrays.

#![expect(clippy::needless_pass_by_value, reason = "Python hands its objects over by value")]

mod pool;
mod gate;
mod convert;
mod labels;
mod basis;
mod evidence;
mod select;
mod extract;
mod map;
mod systems;
mod metrics;
mod evaluate;

#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::basis::{fit_basis, grow_basis, orthogonality_loss, reconstruction_cost, residuals};
    #[pymodule_export]
    use crate::evaluate::{advise, compare, fit_auto, folds, judge, splits, svm_dual};
    #[pymodule_export]
    use crate::evidence::{
        margins_accumulate, margins_merge, margins_of_nothing, moments_accumulate, moments_finish,
        moments_merge, moments_of_nothing,
    };
    #[pymodule_export]
    use crate::extract::{check_extractor, class_means, fit_extractor};
    #[pymodule_export]
    use crate::gate::NumericalError;
    #[pymodule_export]
    use crate::labels::decide;
    #[pymodule_export]
    use crate::map::{input_importance, inverse_transform, load, save, transform};
    #[pymodule_export]
    use crate::metrics::{kernel_alignment, relevant_dimension};
    #[pymodule_export]
    use crate::pool::n_threads;
    #[pymodule_export]
    use crate::select::{f_accumulate, f_finish, fit_selector};
    #[pymodule_export]
    use crate::systems::{compose, default_basis};

    /// The catalogue of methods and parameters, as JSON.
    #[pyfunction]
    fn catalogue() -> String {
        mercer::methods::to_json().to_string()
    }
}
