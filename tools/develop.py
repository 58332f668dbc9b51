"""Put the Python module that `cargo build` made where Python finds it, in the virtual environment that runs this.

    cargo build --workspace --lib --features mercer-py/extension-module
    .venv/bin/python tools/develop.py

`maturin develop` does the same, but builds the library once more, with other features than the tests have.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "mercer"
# What cargo calls the library, and what Python wants to find, by system.
NAMES = {
    "linux": ("lib_core.so", "_core.abi3.so"),
    "darwin": ("lib_core.dylib", "_core.abi3.so"),
    "win32": ("_core.dll", "_core.pyd"),
}


def main() -> None:
    built, wanted = NAMES[sys.platform]
    library = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "debug" / built
    if not library.exists():
        sys.exit(f"{library} does not exist\nhint: run `make test-python`, which builds it")
    # Replaced in one step: a Python that has the old one loaded keeps it.
    copy = PACKAGE / f"{wanted}.new"
    shutil.copyfile(library, copy)
    copy.replace(PACKAGE / wanted)
    path = Path(sysconfig.get_path("purelib")) / "mercer.pth"
    path.write_text(f"{PACKAGE.parent}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
