"""Converters for skl2onnx: `import mercer.onnx` lets it convert pipelines that hold mercer's estimators.

`mercer.to_onnx` needs neither this module nor any package; it exports what `mercer.save` takes. A pipeline of other
steps, such as a classifier of scikit-learn behind features of mercer's, is converted by skl2onnx, and each step of
mercer's becomes what `to_onnx` makes of it.

>>> import mercer.onnx
>>> from skl2onnx import to_onnx
>>> from sklearn.datasets import load_iris
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> X, y = load_iris(return_X_y=True)
>>> pipeline = make_pipeline(StandardScaler(), mercer.GDA(), LogisticRegression()).fit(X, y)
>>> model = to_onnx(pipeline, X[:1], options={"zipmap": False})
>>> [output.name for output in model.graph.output]
['label', 'probabilities']
"""

from __future__ import annotations

from typing import Any

try:
    import onnx
    from skl2onnx import update_registered_converter
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
except ImportError as error:
    raise ImportError(f"{error}\nhint: pip install 'mercer[onnx]'") from error

from mercer import extract, select, systems
from mercer._onnx import to_onnx
from mercer.auto import AutoFeatures
from mercer.basis import KernelBasis
from mercer.predict import AutoClassifier, AutoRegressor
from mercer.weights import InputWeights

__all__ = ["register"]

# The newest version of ONNX's operators that mercer writes.
_NEWEST = 22


def register() -> None:
    """Register converters for all of mercer's estimators with skl2onnx; importing this module does it.

    Examples
    --------
    >>> import mercer.onnx
    >>> mercer.onnx.register()
    """
    listed = [getattr(module, name) for module in (extract, systems, select) for name in module.__all__]
    for kind in (KernelBasis, *listed, InputWeights, AutoFeatures, AutoRegressor):
        update_registered_converter(kind, f"Mercer{kind.__name__}", _shape_of_numbers, _convert)
    update_registered_converter(
        AutoClassifier,
        "MercerAutoClassifier",
        calculate_linear_classifier_output_shapes,
        _convert,
        options={"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]},
    )


def _shape_of_numbers(operator: Any) -> None:
    """Set the shape of features, columns or predicted numbers: double where all inputs are, else float."""
    kind = DoubleTensorType if _is_double(operator) else FloatTensorType
    operator.outputs[0].type = kind([operator.inputs[0].get_first_dimension(), _n_outputs(operator.raw_operator)])


def _n_outputs(estimator: Any) -> int:
    if isinstance(estimator, AutoRegressor):
        return estimator._n_targets or 1
    return len(estimator.get_feature_names_out())


def _is_double(operator: Any) -> bool:
    return all(isinstance(variable.type, DoubleTensorType) for variable in operator.inputs)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of an estimator's ONNX model to the container, under names of its own."""
    opset = min(container.target_opset, _NEWEST)
    dtype = "float64" if _is_double(operator) else "float32"
    graph = onnx.load_from_string(to_onnx(operator.raw_operator, dtype=dtype, target_opset=opset)).graph
    prefix = scope.get_unique_variable_name("mercer")
    names = {"X": _input(scope, operator, container, dtype)}
    names.update(zip((output.name for output in graph.output), (o.full_name for o in operator.outputs), strict=True))
    _rename(graph, names, prefix)
    container.nodes.extend(graph.node)
    container.initializers.extend(graph.initializer)
    container.node_domain_version_pair_sets.add(("", opset))


def _input(scope: Any, operator: Any, container: Any, dtype: str) -> str:
    """Return the name of the one table of numbers that the operator takes."""
    wanted = onnx.TensorProto.DOUBLE if dtype == "float64" else onnx.TensorProto.FLOAT
    kind = DoubleTensorType if dtype == "float64" else FloatTensorType
    tables = []
    for variable in operator.inputs:
        name = variable.full_name
        if not isinstance(variable.type, kind):
            cast = scope.get_unique_variable_name("cast")
            container.add_node("Cast", [name], [cast], name=scope.get_unique_operator_name("Cast"), to=wanted)
            name = cast
        tables.append(name)
    if len(tables) == 1:
        return str(tables[0])
    table = scope.get_unique_variable_name("table")
    container.add_node("Concat", tables, [table], name=scope.get_unique_operator_name("Concat"), axis=1)
    return str(table)


def _rename(graph: Any, names: dict[str, str], prefix: str) -> None:
    """Rename all values of a graph and of those inside its nodes: those in `names`, and the others by a prefix.

    mercer gives each name once, whether inside or outside.
    """

    def renamed(name: str) -> str:
        return names.get(name, f"{prefix}_{name}") if name else name

    for value in (*graph.initializer, *graph.input, *graph.output):
        value.name = renamed(value.name)
    for node in graph.node:
        node.name = f"{prefix}_{node.name}"
        node.input[:] = [renamed(name) for name in node.input]
        node.output[:] = [renamed(name) for name in node.output]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, names, prefix)


register()
