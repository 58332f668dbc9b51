"""The stub says what the compiled module has."""

import ast
import inspect
from pathlib import Path

import mercer
from mercer import _core

STUB = ast.parse((Path(mercer.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))


def names_of(*kinds):
    return {node.name for node in STUB.body if isinstance(node, kinds)}


def test_names_are_the_same():
    typed_dicts = names_of(ast.ClassDef) - {"NumericalError"}  # of the stub alone
    stub = (names_of(ast.FunctionDef, ast.ClassDef) - typed_dicts) | {"__version__"}
    module = {name for name in vars(_core) if not name.startswith("__")} | {"__version__"}
    assert stub == module


def test_signatures_are_the_same():
    for node in STUB.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        scope = {}
        # Annotations are the stub's own business; names, kinds and defaults must agree.
        for argument in [*node.args.args, *node.args.kwonlyargs]:
            argument.annotation = None
        written = f"def {node.name}({ast.unparse(node.args)}): ..."
        exec(written, scope)
        assert inspect.signature(scope[node.name]) == inspect.signature(getattr(_core, node.name)), node.name
