"""Is every default a good one? Each method's bare class beside its alternatives, on all sets at hand."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tools")]
import defaults_pages
import defaults_report
import defaults_sets as sets
import numpy as np
from defaults_methods import alternatives, fingerprint, kind_of, make, methods_of
from lab import Job, Report, Results, main
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils._param_validation import InvalidParameterError

VERSION = 1
ALPHAS = np.logspace(-6, 4, 11)  # penalties of ridge, for features whose columns have variance 1 on average


def jobs(settings: dict) -> list[Job]:
    """List one job a set, method and alternative."""
    out = []
    for group in sets.GROUPS:
        for name in settings[group]:
            splits = settings["splits_large" if name in settings["large"] else "splits"]
            most = [settings["max_train"], settings["max_test"]]
            where = {"group": group, "name": name, "splits": splits, "most": most}
            for method in methods_of(group):
                keep = {"selected": settings["selected"]} if kind_of(method) == "select" else {}
                for setting in alternatives(method, group, settings["sizes"]):
                    what = {"method": method, "setting": setting, "defaults": fingerprint(method)}
                    out.append(Job("cell", what | where | keep, needs=sets.needs(name)))
    return out


def cell(data: Path, *, method, setting, defaults, group, name, splits, most, selected=None) -> dict[str, object]:
    """Evaluate one setting on the splits of one set; `most` are the most training and test rows.

    `unavailable`: this version of mercer does not know the setting. `refused`: the method knows it but cannot have it
    on this set. A method that keeps no features predicts the largest class, or the mean, and is counted.
    """
    out = {k: [] for k in ("nn", "ridge", "features", "seconds")} | {"none": 0, "constant_nn": 0, "constant_ridge": 0}
    for seed in range(splits):
        train, test, y, truth = sets.split(name, group, data, seed, *most)
        if isinstance(setting.get("n_components"), int) and setting["n_components"] >= len(y):
            return {"refused": f"n_components = {setting['n_components']} of {len(y)} rows"}
        start = time.process_time()
        try:
            model = make(method, setting, 1 if group == "numbers" else len(np.unique(y)), selected).fit(train, y)
            z = model.transform(train)
            spent = time.process_time() - start
            found = z, model.transform(test)
        except (TypeError, InvalidParameterError) as error:
            if not setting:
                raise
            return {"unavailable": _first_line(error)}
        except ValueError as error:
            spent = time.process_time() - start
            if "none of the" not in str(error):
                return {"refused": _first_line(error)}
            found = np.zeros((len(y), 0)), np.zeros((len(truth), 0))
        if not all(np.isfinite(part).all() for part in found):
            return {"refused": "features are not finite"}
        for key, value in evaluate(*found, y, truth).items():
            out[key] = out[key] + value if isinstance(value, int) else [*out[key], round(value, 4)]
        out["features"].append(found[0].shape[1])
        out["seconds"].append(float(f"{spent:.3g}"))
    return {"rows": len(y), **out}


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:160]


def evaluate(z: np.ndarray, z_test: np.ndarray, y: np.ndarray, truth: np.ndarray) -> dict[str, float | int]:
    """Return the scores of 1-NN and ridge, and whether they, or the lack of features, made a constant prediction.

    The score is accuracy, or R² where the target is a number; R² below zero counts as zero. One factor for all columns
    brings their mean variance to 1, so that the same penalties suit all methods; distances keep their order.
    """
    numbers = y.dtype.kind == "f"
    if z.shape[1] == 0:
        names, counts = np.unique(y, return_counts=True)
        score = 0.0 if numbers else float((truth == names[counts.argmax()]).mean())
        return {"nn": score, "ridge": score, "none": 1, "constant_nn": 0, "constant_ridge": 0}
    scale = float(np.sqrt(z.var(axis=0).mean())) or 1.0
    near = KNeighborsRegressor if numbers else KNeighborsClassifier
    models = {
        "nn": near(1, algorithm="brute"),
        "ridge": RidgeCV(ALPHAS) if numbers else RidgeClassifierCV(ALPHAS),
    }
    out: dict[str, float | int] = {"none": 0}
    for key, model in models.items():
        guess = model.fit(z / scale, y).predict(z_test / scale)
        right = 1 - ((truth - guess) ** 2).sum() / ((truth - truth.mean()) ** 2).sum() if numbers else guess == truth
        out[key] = max(float(np.mean(right)), 0.0)
        out[f"constant_{key}"] = int(len(np.unique(guess)) == 1)
    return out


def report(results: Results, report: Report) -> None:
    """Write tables, figures and claims and, from a full run, the paragraphs on the methods' pages."""
    defaults_report.write(results, report)
    if report.folder == Path(__file__).parent:
        defaults_pages.write_pages(defaults_report.tables_of(results))


if __name__ == "__main__":
    main("defaults")
