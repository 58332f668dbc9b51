"""Exported models: ONNX Runtime beside `transform` of the model that was exported, in turn, in milliseconds.

One row at a time is what a service asks for, and 1 000 rows what a batch does. Kernels stand for the ways in which
their values are computed: by products (rbf), and row by row (laplacian). Not called `onnx.py`, which packages import.
"""

import os

import numpy as np
import onnxruntime
from basis import GAMMA, ringnorm
from measure import THREADS, arguments, keep, machine, side_by_side

import mercer


def session(model: mercer.KernelBasis, dtype: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(THREADS)
    return onnxruntime.InferenceSession(mercer.to_onnx(model, dtype=dtype), options)


def main() -> None:
    given = arguments(__doc__)
    repeats = 1 if given.quick else 9
    figures: list = []
    print(f"{machine()}, ONNX Runtime {onnxruntime.__version__}")
    print("| kernel | m | rows | type | transform | ONNX Runtime | ratio | largest difference |")
    print("|---|---:|---:|---|---:|---:|---:|---:|")
    x = ringnorm(500 if given.quick else 5_000)
    for kernel, gamma in (("rbf", GAMMA), ("laplacian", GAMMA)):
        for m in (100,) if given.quick else (100, 500, 1_500):
            own = mercer.KernelBasis("kobl", kernel=kernel, gamma=gamma, n_components=m).fit(x)
            for dtype in ("float64", "float32"):
                peer = session(own, dtype)
                for n in (1, 1_000):
                    rows = ringnorm(n, seed=1).astype(dtype)
                    jobs = {
                        "own": lambda own=own, rows=rows: own.transform(rows),
                        "peer": lambda peer=peer, rows=rows: peer.run(None, {"X": rows}),
                    }
                    apart = float(np.abs(jobs["own"]() - jobs["peer"]()[0]).max())
                    times = side_by_side(jobs, repeats)
                    ours, theirs = (1e3 * times[side]["median"] for side in ("own", "peer"))
                    cells = f"{ours:.3f} ms | {theirs:.3f} ms | {theirs / ours:.2f} | {apart:.0e}"
                    print(f"| {kernel} | {m} | {n} | {dtype} | {cells} |", flush=True)
                    job = f"{kernel}, m = {m}, {n} rows, {dtype}"
                    load = os.getloadavg()[0]
                    figures.append({"job": job, "own": times["own"], "peer": times["peer"], "load": load})
    keep(figures, given.json)


if __name__ == "__main__":
    main()
