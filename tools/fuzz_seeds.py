"""Write the seeds of the fuzz targets: small real files of every format that mercer reads.

Models are written by the command line, arrays by NumPy, tables by pyarrow. What fuzzing finds is kept beside them; see
fuzz/README.md.

    python tools/fuzz_seeds.py --program target/debug/mercer
"""

import argparse
import gzip
import io
import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus"

TABLES = {
    "header": "a,b,kind\n1,2.5,yes\n-3e2,.5,no\n4,5,yes\n",
    "plain": "1,2,3\n4,5,6\n",
    "quoted": '"a ""x""","b\nc",d\n1,2,3\n"4",5,"6"\n',
    "crlf": "a,b\r\n1,2\r\n\r\n3,4\r\n",
    "missing": "a,b,c\n1,NA,x\n,2,?\n3,nan,y\n4,null,x\n",
    "dates": "when,size\n2024-01-01,1\n2024-02-29 12:30,2\n1999-12-31T23:59:59,3\n",
    "semicolon": "a;b;c\n1,5;2,25;rot\n3,75;4;blau\n",
    "comma_or_point": "a|b\n1.000,5|2\n3|4\n",
    "infinite": "a,b\ninf,1\n2,3\n",
    "ragged": "a,b\n1,2\n3\n",
    "bom": "\ufeffa,b\n1,2\n3,4\n",
    "id": "id,x,y\n1,0.1,0\n2,0.2,1\n3,0.3,0\n4,0.5,1\n",
    "categories": "c,x,y\nred,1,0\nblue,2,1\nred,3,0\ngreen,4,1\nblue,5,0\n",
}

PAIRS = {
    "plain": "+1 1:0.5 3:2\n-1 2:1e-3\n+1\n",
    "comments": "# a file\n3 qid:7 1:1 2:2 # a comment\n\n4 5:-0.25 4:3\n",
    "words": "yes 1:1\nno 2:1\n",
    "twice": "1 1:1 1:2\n",
    "last": "1 16777216:1\n",
}

GENERATORS = [
    "ringnorm?n=5&seed=1",
    "twonorm?n=3",
    "waveform?n=4&seed=2",
    "twin-sine?n=3&snr=-20&p=0",
    "twin-sine?n=3&snr=5.5&p=4",
    "swiss-roll?n=6&classes=3&noise=0.1&p=2",
    "moons?n=8&noise=1e300",
    "blobs?n=7&classes=4&p=3&noise=0",
    "friedman?n=5&p=6&noise=2",
    "blobs?n=18446744073709551615&p=18446744073709551615",
]

KERNELS = [
    "rbf(gamma=0.5)",
    "0.5*rbf(gamma=0.1, columns=0:2)+linear",
    "(linear+2)*(poly(degree=2, gamma=1, coef0=-1)+rq(alpha=0.5, gamma=2))",
    'matern32(gamma=1e-3, columns="a b", c)+laplacian(gamma=2)*cosine',
    "chi2(gamma=1)+additive_chi2+match(columns=1)",
    "sigmoid(gamma=1,coef0=0.5)",
    "matern12(gamma=1)+matern52(gamma=.5e2)+3.5",
    "loo",
    "0.25",
]

THRESHOLDS = [
    "linear",
    "0.25",
    "power:2.5",
    "values:0,0.1,0.5,1",
    "1.5GiB",
    "kobl\nkernel=rbf\ngamma=loo\nn_components=5\nthreshold=power:2\ntol=0.1",
    "takes\nn_features=positive\nweighted=true\nreweight=false\nbasis=kobl",
    "eks\nselector=relieff\nn_features=0.5\nn_neighbors=3",
    "klfe\nn_components=3\nn_neighbors=5\nbasis=sparse\nnu=0.1",
    "relieff\nn_features=3\nn_neighbors=10",
    "f\nmode=fdr\nlevel=0.05",
    "lasso\nrandomized=true\nn_resamples=10\nseed=3",
    "skfe\ninit=koc\nmax_iter=10\ncenter=true",
    "kpca\nn_components=relevant\ncenter=false",
]

COMMANDS = [
    "fit rows.csv --target class --method takes -o model.mercer",
    "fit rows.csv --target -1 --method eks --basis kobl --selector relieff --n-features 20 --weighted true -o m",
    "fit r.csv --method rpcholesky --n-components 200 --gamma median --memory 500MB --sep ; --decimal , -o -",
    "fit r.csv --target y --method auto --n-components 10 --task classification -o m --report r.html -q",
    "fit r.csv --method kobl --kernel 0.5*rbf(gamma=0.1,columns=a)+linear --threshold power:2 --checkpoint c -o m",
    "select r.csv --target y --method relieff --n-features 10 --resamples 5 --permutations 3 --format json -m c.mercer",
    "compare r.csv --target y --methods klfe,gda,takes --gamma scale,loo --n-features own,5 --evaluators knn --folds 3",
    "compare synth:ringnorm?n=100 --test-share 0.5 --repeats 4 --score accuracy --seed -3 --ordered",
    "advise r.csv --target y --drop a,b --categorical c --missing refuse --header",
    "transform m.mercer new.csv --keep id,class --no-header --device cpu",
    "predict m.mercer new.csv --probabilities -o p.parquet",
    "inspect m.mercer --importance r.csv --format json --threads 2",
    "export m.mercer -o m.onnx --float32 --features --encoded",
    "methods takes --format markdown",
    "completions bash",
    "--help",
    "fit --help",
    "--version",
]

# Arguments of `fit`, behind the data.
MODELS = {
    "kobl": ("moons?n=12", "--method kobl --n-components 3 --gamma 0.5"),
    "poly": ("moons?n=12", "--method nystrom --n-components 3 --kernel poly --degree 2 --gamma 1 --scale min-max"),
    "sum": ("moons?n=12", "--method rpcholesky --n-components 3 --kernel 0.5*rbf(gamma=1,columns=0)+linear"),
    "takes": ("moons?n=20", "--method takes --n-components 4"),
    "klfe": ("blobs?n=15", "--method klfe --n-components 2 --basis kobl"),
    "gda": ("blobs?n=15", "--method gda --basis kobl --scale unit"),
    "akda_qr": ("blobs?n=15", "--method akda-qr"),
    "kpca": ("moons?n=10", "--method kpca --n-components 2 --kernel rq --alpha 0.5"),
    "predictor": ("moons?n=24", "--method auto --n-components 4"),
    "encoder": ("table.csv", "--target y --method kobl --n-components 3"),
    "sparse": ("rows.libsvm", "--target y --method kobl --n-components 2 --scale none"),
    "precomputed": ("gram.csv", "--method kobl --n-components 2 --kernel precomputed"),
}


def write(target: str, name: str, content: bytes | str) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def array(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def arrays() -> None:
    matrix = np.array([[1.5, 2, 0], [-4, 5, 1]])
    kinds = {
        "float64": matrix,
        "float32": matrix.astype("<f4"),
        "fortran": np.asfortranarray(matrix),
        "int16": matrix.astype(">i2"),
        "uint64": np.abs(matrix).astype("u8"),
        "bool": matrix > 1,
        "column": np.arange(3),
        "text": np.array(["a", "bc"]),
        "missing": np.array([[np.nan, 1], [2, 3]]),
    }
    for name, values in kinds.items():
        write("npy", name, array(values))
    sparse = {
        "data": np.array([1.0, 2]),
        "indices": np.array([2, 0]),
        "indptr": np.array([0, 1, 2]),
        "shape": np.array([2, 3]),
        "format": np.array(b"csr"),
    }
    archives = {
        "rows": {"X": matrix, "y": np.array([0, 1])},
        "words": {"rows": matrix, "target": np.array(["a", "b"])},
        "sparse": sparse,
    }
    for name, members in archives.items():
        for save in (np.savez, np.savez_compressed):
            out = io.BytesIO()
            save(out, **members)
            write("npz", f"{name}_{save.__name__}", out.getvalue())
        parts = [(key, array(values)) for key, values in members.items()]
        write("npz", f"{name}_parts", b"".join(f"{key} {len(part)}\n".encode() + part for key, part in parts))


def tables() -> None:
    plain = pa.table({"a": [1.0, 2.5, -3], "b": pa.array([1, 2, 3], pa.int8()), "y": ["x", "y", "x"]})
    words = pa.array(["u", "v", "u"]).dictionary_encode()
    typed = pa.table(
        {
            "flag": [True, None, False],
            "when": pa.array([0, 86_400_000, None], pa.timestamp("ms")),
            "day": pa.array([1, 2, 3], pa.date32()),
            "word": words,
            "price": pa.array([1, 2, 3], pa.decimal128(5, 2)),
            "y": pa.array([1, 2, 3], pa.uint64()),
        }
    )
    nested = pa.table({"list": [[1], [2, 3]], "none": pa.nulls(2), "inner": [{"a": 1}, {"a": 2}], "y": [1.0, 2.0]})
    for name, table in {"plain": plain, "typed": typed, "nested": nested}.items():
        for compression in ("none", "snappy", "zstd", "gzip", "lz4") if name == "plain" else ("none",):
            out = io.BytesIO()
            pa.parquet.write_table(table, out, compression=compression, store_schema=name != "plain")
            write("parquet", f"{name}_{compression}", out.getvalue())
        for compression in ("uncompressed", "lz4", "zstd"):
            out = io.BytesIO()
            pa.feather.write_feather(table, out, compression=compression)
            write("arrow", f"{name}_{compression}", out.getvalue())
        out = io.BytesIO()
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        write("arrow", f"{name}_stream", out.getvalue())
    out = io.BytesIO()
    pa.parquet.write_table(plain, out, row_group_size=1, data_page_version="2.0", use_dictionary=False)
    write("parquet", "row_groups", out.getvalue())


def models(program: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "table.csv").write_text(
            "c,x,when,y\nred,1,2024-01-01,0\nblue,,2024-01-03,1\nred,3,,0\ngreen,4,2024-02-01,1\n" * 2
        )
        (here / "rows.libsvm").write_text("1 1:1 3:2\n0 2:1\n1 1:2 2:1\n0 3:1\n")
        (here / "gram.csv").write_text("2,1,0\n1,2,1\n0,1,2\n")
        for name, (data, words) in MODELS.items():
            source = data if "." in data else f"synth:{data}"
            run = [program, "fit", source, "-o", "model.mercer", "-q", *words.split()]
            subprocess.run(run, cwd=here, check=True, stderr=subprocess.DEVNULL)
            write("model", name, (here / "model.mercer").read_bytes())
        run = [program, "select", "synth:friedman?n=20", "--method", "f", "--n-features", "2", "-m", "c.mercer", "-q"]
        subprocess.run(run, cwd=here, check=True, capture_output=True)
        write("model", "columns", (here / "c.mercer").read_bytes())


def bits(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def numbers(*values: float) -> list[int]:
    return [bits(value) for value in values]


def checkpoints() -> None:
    """Write a basis between two passes, and one that is done, as the target of that name wants them."""
    partial = {
        "pivots": [3, 0],
        "norms": numbers(1, 0.8),
        "residual": numbers(*[0.0, 0.2, 0.3, 0.0, *[0.4] * 8]),
        "coefficients": numbers(1, -0.5, 1.2),
        "place": [],
    }
    done = {
        "matrix": numbers(1, 0, -0.5, 1.2),
        "pivots": [3, 0],
        "norms": numbers(1, 0.8),
        "offset": numbers(0, 0),
        "centres": [],
    }
    start = {"gamma": bits(0.5), "kernel": None, "evaluations": 24}
    end = start | {
        "residual": bits(0.1),
        "every row": False,
        "origin": False,
        "eigenvalues": False,
        "stop": "rule",
        "warnings": [],
    }
    for name, facts, lists in (("partial", start, partial), ("done", end, done)):
        header = {"facts": facts, "lists": [[key, len(words)] for key, words in lists.items()]}
        words = [word for words in lists.values() for word in words]
        write("checkpoint", name, json.dumps(header).encode() + b"\n" + struct.pack(f"<{len(words)}Q", *words))


def journals() -> None:
    """Write what a split of a comparison and what an adviser have found."""
    scored = {
        "score": bits(0.75),
        "second": bits(0.5),
        "gamma": None,
        "n_features": 2,
        "kernel_values": 0,
        "seconds": bits(0.01),
        "confusion": [[2, 0], [1, 1]],
        "losses": [0, 0, 1065353216, 0],
        "by_chance": numbers(0.5, 0.25),
        "predictions": numbers(0, 0, 1, 0),
    }
    results = {f"baseline {at}": {"results": [[at, scored]], "warnings": []} for at in range(5)}
    results["width 0"] = numbers(0.5, 0.01)
    own = {"results": [[5, scored | {"gamma": bits(0.5)}]], "warnings": ["few rows"]}
    write("comparison", "whole", json.dumps(results | {"kobl 5 [0]": own}))
    write("comparison", "begun", json.dumps(results))
    failed = {"results": [[0, None], [1, "no"]], "warnings": []}
    write("comparison", "failed", json.dumps({"baseline 0": failed}))
    for name, wrong in {
        "place_past_the_candidates": [[99, scored]],
        "confusion_of_another_shape": [[0, scored | {"confusion": [[4]]}]],
        "counts_that_overflow": [[0, scored | {"confusion": [[2**63, 2**63], [2**63, 4]]}]],
        "losses_of_other_rows": [[0, scored | {"losses": [0]}]],
        "score_is_no_number": [[0, scored | {"score": bits(float("nan"))}]],
    }.items():
        write("comparison", name, json.dumps({"baseline 0": {"results": wrong, "warnings": []}}))
    write("comparison", "width_is_infinite", json.dumps({"width 0": numbers(float("inf"), 0)}))

    tried = [[*numbers(gamma, 0.2, 0.1, 1e-6, 0.3), 12] for gamma in (0.1, 1.0)]
    found = dict.fromkeys(("linear", "rbf", "laplacian", "all rows"), tried)
    found |= {f"fold {at}": [[*numbers(0.75, 0.8), 2]] * 4 for at in range(5)}
    found["linear support vector machine"] = bits(0.25)
    write("advice", "whole", json.dumps(found))
    write("advice", "begun", json.dumps({"rbf": tried}))
    write("advice", "nothing_tried", json.dumps({"rbf": [], "laplacian": []}))
    write("advice", "width_is_no_number", json.dumps({"rbf": [[*numbers(float("nan"), 0, 0, 0, 0), 1]]}))
    write("advice", "fold_of_other_methods", json.dumps({"fold 0": [[*numbers(0.75, 0.8), 2]] * 2}))
    write("advice", "size_past_the_rows", json.dumps({"rbf": [[*numbers(1, 0.1, 0, 0, 0), 2**60]]}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/debug/mercer", help="the command line, which writes the models")
    program = str(Path(parser.parse_args().program).resolve())
    for name, text in TABLES.items():
        write("csv", name, text)
        write("tsv", name, text.replace(",", "\t"))
        if name in ("header", "missing"):
            write("gzip", name, gzip.compress(text.encode(), mtime=0))
    for name, text in PAIRS.items():
        write("libsvm", name, text)
    write("gzip", "pairs", gzip.compress(PAIRS["plain"].encode(), mtime=0))
    write("gzip", "two_members", gzip.compress(b"1,2\n", mtime=0) + gzip.compress(b"3,4\n", mtime=0))
    for target, texts in (("synth", GENERATORS), ("kernel", KERNELS), ("threshold", THRESHOLDS)):
        for at, text in enumerate(texts):
            write(target, f"{at:02}", text)
    for at, text in enumerate(COMMANDS):
        write("words", f"{at:02}", text.replace(" ", "\n"))
    arrays()
    tables()
    models(program)
    checkpoints()
    journals()


if __name__ == "__main__":
    main()
