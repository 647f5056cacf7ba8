"""A fault found in a profile: where it is, what is wrong, what was seen and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How a fault counts: an error makes the profile unusable, a warning is only reported."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault of a profile package.

    Attributes:
        file: Path within the package; empty for faults of the package as a whole.
        line: Line, counted from 1; 0 where the fault belongs to no line.
        column: Column in characters, counted from 1; 0 where the fault belongs to no column.
        code: Stable code such as `SCN012`; its meaning never changes once released.
        severity: Error or warning.
        message: One sentence saying what is wrong.
        value: The offending value as text, cut to 120 characters; empty where there is none.
        remedy: One sentence saying what to do, a suggestion of a near name included.
        path: Path within the document, such as `stimuli[0].type`; empty for none.
    """

    file: str
    line: int
    column: int
    code: str
    severity: Severity
    message: str
    value: str = ""
    remedy: str = ""
    path: str = ""

    @property
    def is_error(self) -> bool:
        """Whether this fault makes the profile unusable."""
        return self.severity is Severity.ERROR
