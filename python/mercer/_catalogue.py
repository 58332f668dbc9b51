"""The catalogue of methods: scikit-learn's parameter checks and `_core`'s settings are made from it."""

from __future__ import annotations

import json
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, RealNotInt, StrOptions

from mercer import _core
from mercer.kernel import Kernel, kernel_text

_CATALOGUE: dict[str, Any] = json.loads(_core.catalogue())

# Every method's spec and every parameter, by name. Principal components are a basis among the methods; the extractor of
# the same name is among the extractors.
SPECS: dict[str, dict[str, Any]] = {spec["name"]: spec for spec in _CATALOGUE["methods"]}
EXTRACTORS: dict[str, dict[str, Any]] = {spec["name"]: spec for spec in _CATALOGUE["extractors"]}
PARAMETERS: dict[str, dict[str, Any]] = {parameter["name"]: parameter for parameter in _CATALOGUE["parameters"]}


def stage(name: str) -> list[str]:
    """Return the names of the methods of a stage."""
    return [spec["name"] for spec in SPECS.values() if spec["stage"] == name]


# What a method's class does not have: the seed is called otherwise, and a basis has its own settings.
_ELSEWHERE = {"seed", "basis", "basis_components", "kernel", "gamma", "degree", "coef0", "alpha", "input_weights"}


def limits(spec: dict[str, Any], names: dict[str, str] | None = None, **others: list[Any]) -> dict[str, list[Any]]:
    """Return what a method's own parameters may be, under their names in Python, and the `others`."""
    names = names or {}
    own = {names.get(name, name): allowed(name, spec) for name in spec["parameters"] if name not in _ELSEWHERE}
    seed = {"random_state": ["random_state"]} if "seed" in spec["parameters"] else {}
    return {**own, **seed, **others, "verbose": ["verbose"]}


def allowed(name: str, spec: dict[str, Any] | None = None) -> list[Any]:
    """Return scikit-learn's words for what the catalogue lets a parameter of a method, or of any, be."""
    parameter = PARAMETERS[name]
    if spec is not None and name in spec["kinds"]:
        parameter = {**parameter, **spec["kinds"][name]}
    if spec is not None and name in spec["words"]:
        parameter = {**parameter, "words": spec["words"][name]}
    match parameter["kind"]:
        case "whole":
            words: list[Any] = [Interval(Integral, parameter["least"], None, closed="left")]
        case "whole_or":
            words = [Interval(Integral, parameter["least"], None, closed="left")]
            # The name may be that of an extractor's number of features, too.
            if spec is None or spec["stage"] == "basis":
                words.append(StrOptions(set(parameter["words"])))
        case "number":
            closed = {
                (False, False): "both",
                (False, True): "left",
                (True, False): "right",
                (True, True): "neither",
            }[parameter["open"], parameter["below"]]
            words = [Interval(Real, parameter["from"], parameter["to"], closed=closed)]
        case "choice" if all(word.isdigit() for word in parameter["words"]):
            words = [Options(Integral, {int(word) for word in parameter["words"]})]
        case "choice":
            words = [StrOptions(set(parameter["words"]))]
        case "choice_or":
            words = [KernelNames(set(parameter["words"])), Kernel, callable]
        case "number_or":
            words = [StrOptions(set(parameter["words"])), Interval(Real, 0, None, closed="neither")]
        case "threshold":
            words = [StrOptions({"linear"}), Interval(Real, 0, 1, closed="both"), tuple, callable]
        case "candidates":
            words = [Interval(Integral, 1, None, closed="left"), StrOptions({"all"})]
        case "keep":
            words = [
                Interval(Integral, 1, None, closed="left"),
                Interval(RealNotInt, 0, 1, closed="right"),
                StrOptions({"positive", "all", "cv"}),
            ]
        case "neighbors":
            words = [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither")]
        case "flag":
            words = ["boolean"]
        case "flag_or":
            words = ["boolean", StrOptions(set(parameter["words"]) - {"true", "false"})]
        case kind:
            raise NotImplementedError(f"parameters of kind {kind}")
    # None keeps all features, whatever the default.
    none = parameter["none"] is not None if spec is None else name in spec["none"] or parameter["kind"] == "keep"
    return [*words, None] if none else words


class KernelNames(StrOptions):  # type: ignore[misc]
    """Names of kernels, and texts that are more than a name, which Rust reads and refuses in words."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether it is a name that is known, or a text."""
        return isinstance(val, str) and (val in self.options or not val.replace("_", "").isalnum())


# Places between 0 and 1 at which a function is read, with straight lines between.
_PLACES = 10_000


def as_text(value: Any) -> str:
    """Return a setting as the catalogue reads it; floats keep all their bits."""
    if isinstance(value, Kernel):
        return value.text
    if callable(value):
        return "values:" + ",".join(repr(float(value(place / _PLACES))) for place in range(_PLACES + 1))
    if isinstance(value, tuple) and len(value) == 2 and value[0] == "power":
        return f"power:{as_text(value[1])}"
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, Integral):
        return str(int(value))
    return repr(float(value)) if isinstance(value, Real) else str(value)


def as_texts(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Return settings as the catalogue reads them, without those that are None."""
    given = [(name, value) for name, value in values.items() if value is not None]
    return [(name, kernel_text(value) if name == "kernel" else as_text(value)) for name, value in given]


def as_seed(random_state: Any) -> int:
    """Return the seed of a `random_state`; None means 0, so that two fits on the same data are the same."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        seed = int(random_state)
        if not 0 <= seed < 2**64:
            raise ValueError(f"random_state = {seed}, but a seed lies between 0 and 2**64 - 1")
        return seed
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
