"""Rebuild the papers: `python experiments/run.py [PAPER …] [--quick] [--data DIR]`; see README.md."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tools")]

from lab import main

if __name__ == "__main__":
    main()
