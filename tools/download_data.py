"""Fetch the papers' data sets from public sources and write them as `datasets.py` reads them.

    python tools/download_data.py                     all sets that can be fetched, into the folder of the data sets
    python tools/download_data.py pima sonar --to DIR some sets, into a folder of your own
    python tools/download_data.py --list              the sets, where they come from, and how far that was tried
    python tools/download_data.py --check [DIR]       are the files that are there the ones that the papers were run on?

`data_sources.toml` names the sources and, of each set, a checksum of its content: of the numbers and targets that
`datasets.read` gives, whatever the spelling of the file. A set is written only if its checksum is right, whole or not
at all, so a source that has changed gives an error, never other data. Sets that are there and right are skipped: after
a failure the same command goes on. No network? `--from DIR` reads the sources from a folder, as DIR/OWNER/REPO/PATH.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import http.client
import io
import os
import sys
import tempfile
import textwrap
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import datasets
import numpy as np
from scipy.sparse import csr_matrix, issparse

TABLE = Path(__file__).with_name("data_sources.toml")
GITHUB = "https://raw.githubusercontent.com"
BY_HAND = "by hand"


class SourceError(Exception):
    """A set that could not be had; the message says what was wanted, what came, and what to do."""


def checksum(rows, target) -> str:
    """Return sha256 of the content: shape, rows as little-endian float64, targets.

    Dense rows are taken row by row, sparse ones as the row pointers, column numbers (both int64) and values of the
    sorted CSR matrix without zeros. Classes are UTF-8 strings joined by newlines, numbers float64. Minus zero is zero.
    """
    digest = hashlib.sha256(f"{rows.shape[0]} {rows.shape[1]}\n".encode())
    if issparse(rows):
        rows = csr_matrix(rows, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        digest.update(rows.indptr.astype("<i8").tobytes())
        digest.update(rows.indices.astype("<i8").tobytes())
        digest.update(rows.data.astype("<f8").tobytes())
    else:
        digest.update((np.asarray(rows, np.float64) + 0.0).astype("<f8").tobytes(order="C"))
    if np.asarray(target).dtype.kind == "f":
        digest.update((np.asarray(target) + 0.0).astype("<f8").tobytes())
    else:
        digest.update("\n".join(target).encode())
    return digest.hexdigest()


def from_table(source: dict, data: bytes):
    """Return names, rows and targets of lines of cells, the target last; `separator` (none: blanks) and `header`."""
    cells = [line.split(source.get("separator")) for line in data.decode().splitlines() if line.strip()]
    names = cells.pop(0)[:-1] if source.get("header") else None
    return of_cells(source, names, cells)


def from_arff(source: dict, data: bytes):
    """Return names, rows and targets of a dense ARFF file, the target being the last attribute."""
    names, lines = [], iter(data.decode().splitlines())
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        if word.lower() == "@attribute":
            rest = rest.strip()
            names.append(rest[1 : rest.index(rest[0], 1)] if rest[0] in "'\"" else rest.split()[0])
        elif word.lower() == "@data":
            break
    cells = [line.split(",") for line in lines if line.strip() and not line.startswith("%")]
    return of_cells(source, names[:-1], cells)


def of_cells(source: dict, names: list[str] | None, cells: list[list[str]]):
    """Return names, rows as numbers, and targets by the names that we give them."""
    if not cells:
        raise ValueError("there are no rows")
    rows = np.array([line[:-1] for line in cells], dtype=np.float64)
    if names and len(names) != rows.shape[1]:
        raise ValueError(f"{len(names)} columns have names, {rows.shape[1]} have values")
    targets = [line[-1].strip() for line in cells]
    return names, rows, [source.get("relabel", {}).get(t, t) for t in targets]


def from_libsvm(source: dict, data: bytes):
    """Return rows and targets of lines `target column:value …`, columns counted from 1."""
    lines = [line.split() for line in data.decode().splitlines() if line.strip()]
    rows = np.zeros((len(lines), source["columns"]))
    for i, (_, *pairs) in enumerate(lines):
        for column, value in (pair.split(":") for pair in pairs):
            rows[i, int(column) - 1] = float(value)
    return None, rows, [target for target, *_ in lines]


def from_cluto(source: dict, data: bytes, classes: bytes):
    """Return sparse rows and targets of CLUTO's counts and of a matrix with a line a class, a column a row.

    The first line has the shape; every other the number of pairs, then pairs of a column (from 0) and a count.
    """
    shape, *lines = (np.array(line.split(), dtype=np.float64) for line in data.decode().splitlines() if line.strip())
    of = np.array([line.split() for line in classes.decode().splitlines() if line.strip()], dtype=np.float64)
    if len(lines) != shape[0] or any(len(line) != 1 + 2 * line[0] for line in lines) or np.any(of.sum(axis=0) != 1):
        raise ValueError("the lines do not have the lengths that they tell, or a row has not one class")
    indptr = np.cumsum([0, *(int(line[0]) for line in lines)])
    columns, counts = (np.concatenate([line[first::2] for line in lines]) for first in (1, 2))
    rows = csr_matrix((counts, columns.astype(np.int64), indptr), shape=shape.astype(int))
    return None, rows, [str(c) for c in of.argmax(axis=0)]


def from_mat(source: dict, data: bytes):
    """Return rows and targets of a MATLAB file: its matrix of the right shape, and its vector of as many labels.

    Labels are counted from the smallest, as digits are from 0; values have `decimals` places.
    """
    from scipy.io import loadmat

    arrays = [v for k, v in loadmat(io.BytesIO(data)).items() if not k.startswith("__")]
    shape = tuple(source["shape"])
    rows = next(a if a.shape == shape else a.T for a in arrays if shape in (a.shape, a.T.shape))
    labels = next(a.ravel().astype(int) for a in arrays if a.size == shape[0])
    return None, np.round(rows.astype(np.float64), source["decimals"]), [str(v - labels.min()) for v in labels]


CONVERTERS = {"table": from_table, "arff": from_arff, "libsvm": from_libsvm, "cluto": from_cluto, "mat": from_mat}


def fetch(source: dict, path: str, where: str) -> bytes:
    """Return the bytes of one source file, from GitHub's address, another one like it, or a folder."""
    if "://" not in where:
        file = Path(where) / source["repo"] / path
        if not file.is_file():
            raise SourceError(f"{file} is not there\nhint: put there {path} of github.com/{source['repo']}")
        return file.read_bytes()
    url = "/".join([where.rstrip("/"), source["repo"], source["commit"], urllib.parse.quote(path)])
    hint = f"hint: or get {path} of github.com/{source['repo']} as you can, put it at DIR/{source['repo']}/{path}"
    hint += " and run this again with --from DIR"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return read_showing(answer, path)
    except urllib.error.HTTPError as error:
        raise SourceError(f"{url} answers {error.code} {error.reason}: the source may have moved\n{hint}") from error
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        told = getattr(error, "reason", None) or error
        raise SourceError(f"{url} cannot be reached ({told}): run this again with a network\n{hint}") from error


def read_showing(answer, path: str) -> bytes:
    """Read an answer whole; show how far it is where somebody looks on."""
    data, size = bytearray(), int(answer.headers.get("Content-Length") or 0)
    while block := answer.read(1 << 16):
        data += block
        if sys.stderr.isatty():
            of = f" of {size // 1000}" if size else ""
            print(f"\r  {Path(path).name}: {len(data) // 1000}{of} kB", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    if len(data) < size:
        raise OSError(f"{len(data)} of {size} bytes came")
    return bytes(data)


def write(file: Path, names: list[str] | None, rows, target: list[str]) -> None:
    """Write a set as `datasets.read` wants it; numbers keep all their digits."""
    if file.suffix == ".npz":
        parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
        np.savez_compressed(file, **parts, shape=np.array(rows.shape), target=np.array(target))
        return
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*(names or (f"f{j + 1}" for j in range(rows.shape[1]))), "target"])
    for row, label in zip(rows.tolist(), target, strict=True):
        lines.writerow([*(int(v) if v.is_integer() else v for v in row), label])
    data = text.getvalue().encode()
    file.write_bytes(gzip.compress(data, mtime=0) if file.suffix == ".gz" else data)


def get(name: str, source: dict, folder: Path, where: str) -> Path:
    """Fetch one set, convert it, and move it to the folder if its content is right."""
    if source["how"] == BY_HAND:
        raise SourceError(f"{name} cannot be fetched\nhint: {source['note']}")
    parts = [fetch(source, path, where) for path in source["paths"]]
    of = f"{', '.join(source['paths'])} of {source['repo']}"
    try:
        names, rows, target = CONVERTERS[source["how"]](source, *parts)
    except Exception as error:  # whatever another file does to a converter
        told = f"{type(error).__name__}: {error}"
        raise SourceError(f"{of} cannot be read as {source['how']} ({told})\n{changed(source)}") from error
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as made:
        file = Path(made) / source["file"]
        write(file, names, rows, target)
        found = checksum(*datasets.read(file))
        if found != source["sha256"]:
            told = f"has content with checksum {found}, expected {source['sha256']}; nothing was written"
            raise SourceError(f"{of} {told}\n{changed(source)}")
        os.replace(file, folder / source["file"])
    return folder / source["file"]


def changed(source: dict) -> str:
    """Say what to do with a source that is not what it was."""
    told = "it was right when this was written" if source["verified"] else "this source was never tried whole"
    return f"hint: {told}; compare with {source['origin']}, and tell us"


def state(name: str, source: dict, folder: Path) -> str:
    """Say of the file of a set whether it is `right`, `missing` or else how it differs."""
    try:
        file = datasets.find(name, folder)
    except datasets.MissingSetError:
        return "missing"
    try:
        found = checksum(*datasets.read(file))
    except Exception as error:  # whatever is in a file that somebody else wrote
        return f"{file} cannot be read: {error}"
    return "right" if found == source["sha256"] else f"{file} has checksum {found}, expected {source['sha256']}"


def check(sets: dict, folder: Path, asked: bool) -> int:
    """Say of every set whether its file is right; return how many are not, or are asked for and missing."""
    states = {name: state(name, source, folder) for name, source in sets.items()}
    for name, told in states.items():
        by_hand = sets[name]["how"] == BY_HAND and told not in ("right", "missing")
        print(f"{name:20} {told}{' (made by hand, it may differ in last digits)' if by_hand else ''}")
    return sum(told != "right" and (asked or told != "missing") for told in states.values())


def show(sets: dict) -> None:
    """Print the sets, their sources, and what of a source was seen when its converter was written."""
    for name, source in sets.items():
        tried = BY_HAND if source["how"] == BY_HAND else "verified" if source["verified"] else "not verified"
        print(f"{name:20} {tried:13} {source['repo']}: {', '.join(source['paths'])}")
        told, indent = f"{source['origin']}. {source['note']}", " " * 35
        print(textwrap.fill(told, 120, initial_indent=indent, subsequent_indent=indent))
    print(
        "\nverified: the converter was run on the whole source and gave the right checksum. not verified: of the source"
        "\nonly that was seen which the line says; a wrong result is refused all the same. length fits: the text of the"
        "\nsource, rebuilt from our copy, has the length of the source to the character, and converts rightly."
    )


def download(sets: dict, folder: Path, where: str, asked: bool) -> int:
    """Fetch the sets that are not there; return the number of failures."""
    failed = 0
    for i, (name, source) in enumerate(sets.items(), 1):
        told = state(name, source, folder)
        try:
            if told not in ("right", "missing"):
                raise SourceError(f"{told}\nhint: it is left as it is; move it away, or give another folder by --to")
            if told == "missing":
                told = f"written to {get(name, source, folder, where)}"
        except (SourceError, OSError) as error:  # such as a folder that may not be written
            told = str(error).replace("\n", "\n    ")
            failed += asked or source["how"] != BY_HAND
        print(f"[{i}/{len(sets)}] {name}: {told}", file=sys.stderr, flush=True)
    return failed


def main(arguments: list[str] | None = None, table: Path = TABLE) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(description="Fetch the papers' data sets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="sets; all if none is named")
    parser.add_argument("--to", type=Path, default=datasets.FOLDER, metavar="DIR", help="folder to write to")
    parser.add_argument(
        "--from", dest="where", default=GITHUB, metavar="DIR", help="folder, or address, of the sources"
    )
    parser.add_argument("--list", action="store_true", help="show the sets and their sources")
    looks = {"nargs": "?", "type": Path, "const": datasets.FOLDER, "metavar": "DIR"}
    parser.add_argument("--check", **looks, help="verify the files of a folder; fetch nothing")
    parser.add_argument("--print-checksums", **looks, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    sets = tomllib.loads(table.read_text())
    if unknown := [name for name in args.names if name not in sets]:
        parser.error(f"{unknown[0]!r} is no set; there are {', '.join(sets)}")
    chosen = {name: sets[name] for name in args.names or sets}
    looked = args.check or args.print_checksums
    if looked and not looked.is_dir():
        parser.error(f"{looked} is no folder")
    if args.list:
        show(chosen)
    elif args.print_checksums:
        for name in chosen:
            print(name, checksum(*datasets.load(name, looked)))
    elif args.check:
        return min(check(chosen, looked, bool(args.names)), 1)
    elif failed := download(chosen, args.to, args.where, bool(args.names)):
        print(f"{failed} of {len(chosen)} sets could not be had; run this again for them", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nstopped; what was written is whole, and the same command goes on from there")
