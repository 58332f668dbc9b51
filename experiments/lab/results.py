"""What the jobs gave, as `results.json` holds it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Record:
    """One job's settings and what it gave."""

    kind: str
    settings: dict[str, Any]
    result: Any
    seconds: float


@dataclass
class Results:
    """All records of one experiment."""

    paper: str
    settings: dict[str, Any]
    machine: dict[str, Any]
    records: list[Record]
    skipped: list[str]

    def find(self, kind: str, **settings: Any) -> Iterator[Record]:
        """Yield the records of a kind whose settings have these values."""
        for record in self.records:
            if record.kind == kind and all(record.settings.get(k) == v for k, v in settings.items()):
                yield record

    def one(self, kind: str, **settings: Any) -> Any:
        """Return the result of the only such record, or None where it was skipped."""
        found = list(self.find(kind, **settings))
        if len(found) > 1:
            raise ValueError(f"{len(found)} records of {kind} with {settings}")
        return found[0].result if found else None

    def values(self, kind: str, setting: str) -> list[Any]:
        """Return the different values of a setting, in the order of the records."""
        return list(dict.fromkeys(r.settings[setting] for r in self.find(kind)))

    def save(self, file: Path) -> None:
        """Write the file, one record a line."""
        head = {k: v for k, v in asdict(self).items() if k != "records"}
        lines = ",\n".join(json.dumps(asdict(record)) for record in self.records)
        file.write_text(json.dumps(head, indent=1)[:-2] + f',\n "records": [\n{lines}\n ]\n}}\n')

    @classmethod
    def read(cls, file: Path) -> Results:
        """Read what `save` wrote."""
        told = json.loads(file.read_text())
        told["records"] = [Record(**record) for record in told["records"]]
        return cls(**told)


def machine() -> dict[str, Any]:
    """Name the processor and the versions, for tables of times."""
    import numpy
    import sklearn

    import mercer

    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": processor,
        "cores": cores(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scikit-learn": sklearn.__version__,
        "mercer": mercer.__version__,
    }


def cores() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
