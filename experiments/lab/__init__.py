"""What the experiments share: jobs that are run once and kept, honest statistics, tables, figures and claims."""

from lab import verdicts
from lab.jobs import Job
from lab.main import main
from lab.report import Report
from lab.results import Record, Results
from lab.stats import Paired, Summary, paired, summary

__all__ = ["Job", "Paired", "Record", "Report", "Results", "Summary", "main", "paired", "summary", "verdicts"]
