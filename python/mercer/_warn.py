"""Where a warning points to."""

from __future__ import annotations

import sys


def users_level() -> int:
    """Return the stack level, for a warning by this function's caller, of the first one outside mercer and sklearn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("mercer", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level
