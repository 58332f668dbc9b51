"""Tests draw without a window, leave no figure open, and can be interrupted."""

import signal
from importlib.util import find_spec

import matplotlib
import pytest

# Examples that need packages which are not there.
collect_ignore = [] if find_spec("skl2onnx") and find_spec("onnxruntime") else ["docs/onnx.md", "python/mercer/onnx.py"]

# A shell starts commands in the background without Ctrl-C, and they hand that on to the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def closed_figures():
    """Close what a test has drawn; matplotlib warns about more than twenty open figures."""
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")
