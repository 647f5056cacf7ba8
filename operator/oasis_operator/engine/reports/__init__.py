"""Reports: one module builds the format-neutral report, one each renders it in a format."""

from oasis_operator.engine.reports.build import build_report
from oasis_operator.engine.reports.formats import FORMATS, names_for, render

__all__ = ["FORMATS", "build_report", "names_for", "render"]
