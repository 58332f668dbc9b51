"""Compile the kernels for GPUs with NVRTC, as mercer does when a GPU is opened. No GPU is needed."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "crates" / "mercer" / "src" / "cuda" / "kernels.cu"

# From the oldest that CUDA 13 knows to the newest.
ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]


def compiler() -> ctypes.CDLL | None:
    """Return NVRTC as pip installs it; None where it is not installed."""
    for folder in map(Path, sys.path):
        for library in sorted(folder.glob("nvidia/*/lib/libnvrtc.so.*")):
            for builtins in library.parent.glob("libnvrtc-builtins.so.*"):
                ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(library))
    return None


def compiled(nvrtc: ctypes.CDLL, architecture: str) -> tuple[int, str]:
    """Return the compiler's code, 0 for success, and what it says."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE.read_bytes(), b"kernels.cu", 0, None, None)
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]
    code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return int(code), log.value.decode()


def main() -> int:
    """Compile for every architecture."""
    nvrtc = compiler()
    if nvrtc is None:
        print("NVRTC is not installed (pip install nvidia-cuda-nvrtc): the kernels for GPUs were not compiled")
        return 0
    for architecture in ARCHITECTURES:
        code, log = compiled(nvrtc, architecture)
        if code != 0 or log.strip():
            print(f"kernels.cu for {architecture}: code {code}\n{log}")
            return 1
    print(f"kernels.cu compiles for {', '.join(ARCHITECTURES)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
