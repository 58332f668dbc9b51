"""The stub says what the compiled module has."""

import ast
import inspect
from pathlib import Path

import pytest

import mercer
from mercer import _core

STUB = ast.parse((Path(mercer.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
# Others are dictionaries, of the stub alone.
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and hasattr(_core, node.name)}
COMPILED = {"Answer", "Columns", "Fitted", "Model", "Question", "RawTable", "State"}


def functions_of(body):
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def public(names):
    return {name for name in names if not name.startswith("__")}


def test_names_are_the_same():
    stub = {*functions_of(STUB.body), *CLASSES}
    assert stub == public(vars(_core))
    assert hasattr(_core, "__version__")
    assert set(CLASSES) == {*COMPILED, "DeviceError", "NumericalError"}
    for name in sorted(COMPILED):
        assert public(functions_of(CLASSES[name].body)) == public(vars(getattr(_core, name))), name


def signature_of(node):
    """Return a signature without annotations, which are the stub's own business."""
    scope = {}
    for argument in [*node.args.args, *node.args.kwonlyargs]:
        argument.annotation = None
    exec(f"def {node.name}({ast.unparse(node.args)}): ...", scope)
    return inspect.signature(scope[node.name])


def test_signatures_are_the_same():
    for name, node in functions_of(STUB.body).items():
        assert signature_of(node) == inspect.signature(getattr(_core, name)), name
    for compiled, node in (method for name in sorted(COMPILED) for method in methods_of(name)):
        # `self` of a compiled method takes no keyword.
        stub, own = (list(of.parameters.values()) for of in (signature_of(node), inspect.signature(compiled)))
        stub = stub[1:] if stub[:1] and stub[0].name == "cls" else stub  # which is given already
        assert [(p.name, p.default) for p in stub] == [(p.name, p.default) for p in own], node.name


def test_what_cannot_be_subclassed_is_final():
    for name in sorted(COMPILED):
        assert [mark.id for mark in CLASSES[name].decorator_list] == ["final"], name
        with pytest.raises(TypeError, match="not an acceptable base type"):
            type("Sub", (getattr(_core, name),), {})


def methods_of(name):
    """Return the methods of a class as they are compiled and as they are in the stub; attributes have none."""
    kind = getattr(_core, name)
    written = functions_of(CLASSES[name].body)
    return [(getattr(kind, at), written[at]) for at in sorted(public(written)) if callable(getattr(kind, at))]
