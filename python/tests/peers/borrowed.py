"""Tests of another package with names of it replaced."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from typing import Any
from unittest import mock

import pytest


def borrowed(
    module: str,
    put: dict[str, Any],
    *,
    tests: Callable[[str], bool] = lambda name: True,
    without: Collection[Any] = (),
) -> dict[str, Any]:
    """Return the test functions and fixtures of an installed test module, imported afresh.

    `put` has stand-ins by their full names, "sklearn.decomposition.KernelPCA"; they are there while the module is
    imported, so that its parameters hold them, too. `tests` says which functions are wanted, and cases that have
    something in `without` among their parameters are left out.
    """
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        pytest.skip(f"{module} is not installed", allow_module_level=True)
    spec = importlib.util.spec_from_file_location(f"borrowed_{module.replace('.', '_')}", found.origin)
    fresh = importlib.util.module_from_spec(spec)
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, stand_in in put.items():
            where, _, what = name.rpartition(".")
            stack.enter_context(mock.patch.object(importlib.import_module(where), what, stand_in))
        spec.loader.exec_module(fresh)
    for value in vars(fresh).values():
        _choose_cases(value, without)
    return {name: value for name, value in vars(fresh).items() if is_wanted(name, value, tests)}


def _choose_cases(test: Any, without: Collection[Any]) -> None:
    """Leave out some cases of a test, and make a list of those of a generator, which pytest is to refuse one day."""
    for mark in getattr(test, "pytestmark", []):
        if mark.name != "parametrize" or len(mark.args) < 2:
            continue
        names, cases, *others = mark.args
        chosen = [case for case in cases if not any(case is unwanted for unwanted in without)]
        object.__setattr__(mark, "args", (names, chosen, *others))


def is_wanted(name: str, value: Any, tests: Callable[[str], bool]) -> bool:
    """Return whether this is a fixture, or a test that is wanted."""
    fixture = "FixtureFunction" in type(value).__name__ or hasattr(value, "_pytestfixturefunction")
    return fixture or (name.startswith("test_") and callable(value) and tests(name))


def besides(absent: Iterable[str]) -> Callable[[str], bool]:
    """Return a rule that wants all tests but those named."""
    left_out = set(absent)
    return lambda name: name not in left_out
