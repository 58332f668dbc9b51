"""Tests draw without a window, and leave no figure open."""

import matplotlib
import pytest


@pytest.fixture(autouse=True)
def closed_figures():
    """Close what a test has drawn; matplotlib warns about more than twenty open figures."""
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")
