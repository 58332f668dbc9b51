"""Estimators from a method's name and settings, as the catalogue and the command line write them."""

from __future__ import annotations

import inspect
from typing import Any, cast

from mercer import extract, systems
from mercer._catalogue import PARAMETERS, stage
from mercer._mapped import KERNEL_SETTINGS
from mercer._words import Method
from mercer.basis import KernelBasis

# Systems and extractors; the name of a basis alone is its bare coordinates, `kpca` among them.
_ESTIMATORS: dict[str, type[Any]] = {
    kind._method: kind for module in (systems, extract) for kind in map(vars(module).__getitem__, module.__all__)
}


def value_of(name: str, text: str) -> Any:
    """Return the value that the catalogue reads from the text of a parameter."""
    parameter = PARAMETERS[name]
    words = parameter.get("words", ["linear", "positive", "all", "cv"])
    match parameter["kind"]:
        case "flag" | "flag_or" if text in ("true", "false"):
            return text == "true"
        case "whole":
            return int(text)
        case "choice":
            return int(text) if text.isdigit() else text
        case "choice_or":
            return text
        case _ if text in words:
            return text
        case "threshold" if text.startswith("power:"):
            return ("power", float(text.removeprefix("power:")))
        case "keep" | "neighbors" | "whole_or" if text.isdigit():
            return int(text)
        case _:
            return float(text)


def estimator_of(method: str, settings: dict[str, Any]) -> Any:
    """Return an unfitted estimator. What a method and its basis both have is the method's; the seed is for both."""
    left = {"random_state" if name == "seed" else name: value for name, value in settings.items()}
    if method in stage("basis"):
        return KernelBasis(cast("Method", method), **left)
    kind = _ESTIMATORS[method]
    own = set(inspect.signature(kind).parameters) - {"basis", *KERNEL_SETTINGS}
    top = {name: left[name] for name in left if name in own}
    below = {name: left[name] for name in left if name not in own or name == "random_state"}
    name = below.pop("basis", left.get("basis"))
    if "basis_components" in below:
        below["n_components"] = below.pop("basis_components")
    if name is None and not below:
        return kind(**top)
    return kind(**top, basis=KernelBasis(name or "kobl", **below))
