//! Python: functions that take arrays and give arrays back, and two classes, the fitted models. No arithmetic here.

#![expect(clippy::needless_pass_by_value, reason = "Python hands its objects over by value")]

mod pool;
mod reserve;
mod interrupts;
mod gate;
mod convert;
mod own;
mod device;
mod labels;
mod encode;
mod evidence;
mod select;
mod onnx;
mod model;
mod columns;
mod fit;
mod metrics;
mod evaluate;
mod learn;
mod partitions;

#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python expects")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::columns::{Columns, load};
    #[pymodule_export]
    use crate::device::{check_device, look_into, open_device};
    #[pymodule_export]
    use crate::encode::{RawTable, encoder_columns, encoder_words, sniff};
    #[pymodule_export]
    use crate::evaluate::{advise, compare, evaluate, fit_auto, folds, group_folds, splits, svm_dual};
    #[pymodule_export]
    use crate::evidence::{
        margins_accumulate, margins_merge, margins_of_nothing, moments_accumulate, moments_finish,
        moments_merge, moments_of_nothing,
    };
    #[pymodule_export]
    use crate::fit::{Fitted, fit, fit_sums, grow};
    #[pymodule_export]
    use crate::gate::{DeviceError, NumericalError};
    #[pymodule_export]
    use crate::labels::decide;
    #[pymodule_export]
    use crate::learn::{fit_predictor, input_weights};
    #[pymodule_export]
    use crate::metrics::{kernel_alignment, kernel_width, nearest_in_kernel, relevant_dimension};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::own::{kernel_matrix, kernel_text, kernel_uses_gamma, own_kernel};
    #[pymodule_export]
    use crate::partitions::{
        Answer, Question, State, answer, fit_partitions, fit_selector_partitions, sample_partitions,
    };
    #[pymodule_export]
    use crate::pool::{n_threads, set_threads};
    #[pymodule_export]
    use crate::select::{f_accumulate, f_finish, fit_selector, neighbor_count};

    /// The catalogue of methods and parameters, as JSON.
    #[pyfunction]
    fn catalogue() -> String {
        mercer::methods::to_json()
    }
}
