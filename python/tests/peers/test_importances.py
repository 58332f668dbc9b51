"""`feature_importances_` of `ReliefF` where scikit-learn's tests of `SelectFromModel` and `RFE` take a forest's."""

from peers import adapters
from peers.borrowed import borrowed

FOREST = {"sklearn.ensemble.RandomForestClassifier": adapters.Forest}

# Tests that look at a forest's importances, and at nothing else of it.
FROM_MODEL = {
    *("test_input_estimator_unchanged", "test_max_features_error", "test_inferred_max_features_integer"),
    *("test_inferred_max_features_callable", "test_max_features_array_like", "test_max_features_callable_data"),
    *("test_max_features", "test_threshold_and_max_features", "test_feature_importances", "test_partial_fit"),
    *("test_prefit_max_features", "test_prefit_get_feature_names_out", "test_threshold_string"),
}
RFE = {"test_rfe_features_importance"}

globals().update(
    borrowed("sklearn.feature_selection.tests.test_from_model", FOREST, tests=FROM_MODEL.__contains__)
    | borrowed("sklearn.feature_selection.tests.test_rfe", FOREST, tests=RFE.__contains__)
)
