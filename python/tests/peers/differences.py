"""Every test of a peer that mercer does not pass, with the reason. `test_differences` refuses names that are gone."""

from __future__ import annotations

RANK = "more components than the rows have directions are refused in words, not filled with columns of rounding"
SYMMETRIC = "a kernel matrix that is not symmetric is refused, because it is no kernel's"
INDEFINITE = "negative eigenvalues among the components asked for are a NumericalError, in other words"
NAMES = "features are called after mercer's method"
FUNCTIONS = "kernels are named, so that a model file and a GPU know them; a matrix of any other is `precomputed`"
RATIO = "scores are finite, so that they can be ranked, stored and summed; there is no switch"
UNCENTRED = "columns are always centred: a correlation without that measures the mean"
NONE_KEPT = "n_features is at least 1; a test may keep none (`mode`)"
OTHER_SCORES = "it is about scores that a function of the user's computes; a selector has its own"
SEVERAL = "`coef_`, `predict` and the deflated loadings: `KPLS` makes features, of one target or several"
PREDICTS = "`GDA` makes features and does not predict; put a classifier after it"
QDA = "it is about quadratic discriminants"
OTHER_PLS = "it is about another decomposition"
PRIVATE = "it is about a private function of scikit-learn's"
OTHER_MAP = "it is about another map"

# The test, or one of its cases, and why it fails. One that passes nevertheless is reported as a failure.
DIFFERENT: dict[str, str] = {
    # KPCA for KernelPCA
    "test_kernel_pca::test_kernel_pca": "a function is called with blocks of rows, not with pairs",
    "test_kernel_pca::test_kernel_pca_invalid_parameters": "pre-images need no fit, so only asking for one is refused",
    "test_kernel_pca::test_remove_zero_eig": "rows that are all equal are refused: there is nothing to extract",
    "test_kernel_pca::test_leave_zero_eig": RANK,
    "test_kernel_pca::test_kernel_pca_precomputed_non_symmetric": SYMMETRIC,
    "test_kernel_pca::test_kernel_conditioning": RANK,
    "test_kernel_pca::test_precomputed_kernel_not_psd": INDEFINITE,
    "test_kernel_pca::test_kernel_pca_solvers_equivalence": RANK,
    "test_kernel_pca::test_kernel_pca_feature_names_out": NAMES,
    # KernelBasis("nystrom") for Nystroem
    "test_nystroem::test_nystroem_approximation": FUNCTIONS,
    "test_nystroem::test_nystroem_callable": FUNCTIONS,
    "test_nystroem::test_nystroem_poly_kernel_params": "the degree of `poly` is whole: fractions make it indefinite",
    "test_nystroem::test_nystroem_precomputed_kernel": "what a kernel does not use is ignored, as `KernelPCA` does, so "
    "that kernels can be searched with one grid",
    "test_nystroem::test_get_feature_names_out": NAMES,
    # FScore and MutualInfo for univariate selection
    "test_feature_select::test_f_regression": UNCENTRED,
    "test_feature_select::test_f_regression_center": UNCENTRED,
    "test_feature_select::test_f_regression_corner_case[X1-y1-expected_f_statistic1-expected_p_values1-True]": "labels "
    "that are all the same are refused: every score would be 0",
    **{
        f"test_feature_select::test_f_regression_corner_case[X{i}-y{i}-expected_f_statistic{i}-expected_p_values{i}"
        "-False]": RATIO
        for i in (4, 5, 6, 7)
    },
    "test_feature_select::test_select_kbest_zero": NONE_KEPT,
    "test_feature_select::test_no_feature_selected": NONE_KEPT,
    "test_feature_select::test_invalid_k": "the warning says `n_features`, which `k` is called here",
    "test_mutual_info::test_mutual_info_options": "columns of a sparse matrix may be numbers, and places that are not "
    "there are a ValueError",
    # KPLS for PLSRegression
    **{
        f"test_pls::{name}": SEVERAL
        for name in (
            *("test_sanity_check_pls_regression", "test_sanity_check_pls_regression_constant_column_y"),
            *("test_attributes_shapes", "test_univariate_equivalence", "test_copy", "test_scale_and_stability"),
            *("test_n_components_upper_bounds", "test_n_components_upper_PLSRegression", "test_pls_coef_shape"),
            *("test_one_component_equivalence", "test_pls_prediction", "test_pls_feature_names_out"),
            *("test_pls_set_output", "test_pls_regression_fit_1d_y", "test_pls_regression_scaling_coef"),
        )
    },
    "test_pls::test_pls_constant_y": "labels that are all the same are refused, not warned of",
    # GDA for LinearDiscriminantAnalysis
    "test_discriminant_analysis::test_lda_transform": "there is one solver, whose features always exist",
    "test_discriminant_analysis::test_lda_orthogonality": "features have a total scatter of 1, not one within classes",
    "test_discriminant_analysis::test_lda_dimension_warning": "too many components are refused in other words",
    "test_discriminant_analysis::test_raises_value_error_on_same_number_of_classes_and_samples": "the scatter within "
    "classes is regularised (`reg`), so that it may be 0",
    "test_discriminant_analysis::test_get_feature_names_out": NAMES,
}

# Tests of a peer's module that are about nothing that mercer has, or not about the class that is replaced.
ABSENT: dict[str, dict[str, str]] = {
    "test_nystroem": {
        **dict.fromkeys(
            (
                *("test_polynomial_count_sketch", "test_polynomial_count_sketch_dense_sparse", "test_rbf_sampler"),
                *("test_additive_chi2_sampler", "test_additive_chi2_sampler_sample_steps", "test_input_validation"),
                *("test_additive_chi2_sampler_wrong_sample_steps", "test_additive_chi2_sampler_exceptions"),
                *("test_skewed_chi2_sampler", "test_skewed_chi2_sampler_fitted_attributes_dtype"),
                *("test_skewed_chi2_sampler_dtype_equivalence", "test_rbf_sampler_fitted_attributes_dtype"),
                *("test_rbf_sampler_dtype_equivalence", "test_rbf_sampler_gamma_scale"),
                "test_additivechi2sampler_get_feature_names_out",
            ),
            OTHER_MAP,
        ),
        "test_nystroem_approximation_array_api": "arrays of other libraries are read where they lie, by DLPack",
    },
    "test_feature_select": {
        **dict.fromkeys(
            (
                *("test_boundary_case_ch2", "test_selectkbest_tiebreaking", "test_selectpercentile_tiebreaking"),
                *("test_tied_pvalues", "test_scorefunc_multilabel", "test_tied_scores", "test_dataframe_output_dtypes"),
                "test_unsupervised_filter",
            ),
            OTHER_SCORES,
        ),
        **dict.fromkeys(
            ("test_f_oneway_vs_scipy_stats", "test_f_oneway_ints", "test_r_regression"), "it is about another function"
        ),
        "test_r_regression_force_finite": "it is about another function",
    },
    "test_mutual_info": dict.fromkeys(
        ("test_compute_mi_dd", "test_compute_mi_cc", "test_compute_mi_cd", "test_compute_mi_cd_unique_label"), PRIVATE
    ),
    "test_pls": {
        **dict.fromkeys(
            (
                *("test_pls_canonical_basics", "test_sanity_check_pls_canonical", "test_convergence_fail"),
                *("test_sanity_check_pls_canonical_random", "test_loadings_converges"),
            ),
            OTHER_PLS,
        ),
        "test_singular_value_helpers": PRIVATE,
        "test_svd_flip_1d": PRIVATE,
    },
    "test_discriminant_analysis": {
        **dict.fromkeys(
            (
                *("test_lda_predict", "test_lda_predict_proba", "test_lda_priors", "test_lda_coefs"),
                *("test_lda_solver_agreement", "test_lda_scaling", "test_lda_store_covariance", "test_lda_shrinkage"),
                *("test_lda_ledoitwolf", "test_lda_dtype_match", "test_lda_numeric_consistency_float32_float64"),
            ),
            PREDICTS,
        ),
        **dict.fromkeys(
            (
                *("test_qda", "test_qda_covariance_estimator", "test_qda_ledoitwolf", "test_qda_coefs"),
                *("test_qda_priors", "test_qda_prior_type", "test_qda_prior_copy", "test_qda_store_covariance"),
                *("test_qda_regularization", "test_raises_value_error_on_one_sample_per_class"),
                *("test_qda_shrinkage_performance", "test_qda_solver_agreement"),
            ),
            QDA,
        ),
        "test_covariance": PRIVATE,
    },
}
