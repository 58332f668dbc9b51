"""Build the stand-in for a GPU: `build.py FOLDER` puts libcuda, libnvrtc and libcublas there. For tests alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parents[1] / "crates" / "mercer" / "src" / "cuda" / "kernels.cu"
# Functions in which threads wait for each other.
WAITING = ["__syncthreads", "row_sum", "eliminate", "manhattan", "tiles", "sort"]
NAMES = ["libcuda.so.1", "libnvrtc.so.13", "libcublas.so.13"]


def listed(source: str) -> list[str]:
    """Return a line for each kernel: its name, and whether its threads wait for each other."""
    lines = []
    for kernel in re.finditer(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(', source):
        body = source[kernel.end() : source.index("\n}\n", kernel.end())]
        waits = any(f"{name}(" in body for name in WAITING)
        lines.append(f"KERNEL({kernel[1]}, {str(waits).lower()})\n")
    return lines


def build(folder: Path) -> None:
    """Compile the stand-in with the kernels as they are now."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernels.inc").write_text("".join(listed(KERNELS.read_text(encoding="utf-8"))), encoding="utf-8")
    library = folder / "stand_in.so"
    compiler = os.environ.get("CXX", "g++")
    options = ["-O2", "-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", "-Wno-unknown-pragmas", "-w"]
    includes = [f"-I{folder}", f"-I{KERNELS.parent}"]
    subprocess.run([compiler, *options, *includes, str(HERE / "stand_in.cpp"), "-o", str(library)], check=True)
    for name in NAMES:
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(library.name)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
