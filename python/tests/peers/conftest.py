"""What the tests of others expect around them, and the marks of `differences`."""

from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from peers.differences import DIFFERENT

HERE = Path(__file__).parent

# The first scikit-learn whose tests the table of differences is about; that newer ones differ is to be noticed.
TESTED = "1.9"


@pytest.fixture
def global_random_seed():
    """Return the seed that scikit-learn's tests use by default."""
    return 42


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    """Return a precision of floats."""
    return request.param


def pytest_collection_modifyitems(items):
    """Mark what is known to differ, so that it is noticed when it does no more."""
    for item in items:
        if item.path.parent != HERE:
            continue
        name = f"{item.path.stem}::{item.name}"
        item.add_marker(
            pytest.mark.filterwarnings("ignore"), append=False
        )  # Their tests are not ours to be strict with.
        if parse_version(sklearn.__version__) < parse_version(TESTED):
            item.add_marker(pytest.mark.skip(reason=f"differences are listed for the tests of scikit-learn {TESTED}"))
        reason = DIFFERENT.get(name, DIFFERENT.get(name.partition("[")[0]))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
