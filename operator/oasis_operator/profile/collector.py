"""Collects the faults of one package, so that a reader goes on after the first one, up to a bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from oasis_operator.model.faults import Fault
from oasis_operator.profile.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FAULTS: Final = 2_000
"""Faults of one package; nobody reads more, and a hostile package could ask for any number of them."""

_VALUE_LIMIT: Final = 120
_WORD_LIMIT: Final = 80
_KNOWN_LIMIT: Final = 200


@dataclass(frozen=True, slots=True)
class Nearest:
    """A remedy that names the known word nearest to a name, worked out only where it is shown."""

    name: str
    known: Iterable[str]

    def __str__(self) -> str:
        """Name the nearest word, or all of a short list, or nothing."""
        words = sorted(set(self.known))
        near = nearest(self.name, words)
        if near:
            return f"Did you mean {near}?"
        return f"Use one of: {', '.join(words)}." if 0 < len(words) <= 12 else ""


def nearest(name: str, words: Iterable[str]) -> str:
    """Return the word nearest to a name, or an empty text where none is near or the search would be long."""
    listed = list(words)
    if len(name) > _WORD_LIMIT or len(listed) > _KNOWN_LIMIT:
        return ""
    return next(iter(get_close_matches(name, listed, n=1, cutoff=0.7)), "")


@dataclass(slots=True)
class Collector:
    """Every fault found so far; the only mutable thing of the reader."""

    faults: list[Fault] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether further faults are dropped."""
        return len(self.faults) >= MAX_FAULTS

    def in_file(self, file: str) -> Reporter:
        """Return a reporter that files its faults under `file`."""
        return Reporter(self, file)

    def sorted(self) -> tuple[Fault, ...]:
        """Return the faults once each, by file, line, column and code."""
        return tuple(sorted(set(self.faults)))


@dataclass(frozen=True, slots=True)
class Reporter:
    """Reports faults of one file."""

    collector: Collector
    file: str

    def report(
        self,
        code: str,
        message: str,
        *,
        at: tuple[int, int] = (0, 0),
        value: object = "",
        remedy: str | Nearest = "",
        path: str = "",
    ) -> None:
        """File one fault; severity comes from the table of codes.

        The last fault that there is room for says that there are more, as an error.

        Args:
            code: A key of `CODES`.
            message: One sentence saying what is wrong.
            at: Line and column, counted from 1; (0, 0) for none.
            value: The offending value.
            remedy: What to do; the code's own remedy where empty.
            path: Path within the document.
        """
        if self.collector.is_full:
            return
        if len(self.collector.faults) == MAX_FAULTS - 1:
            code, message, value, remedy = "PKG012", f"There are {MAX_FAULTS} faults or more.", "", ""
        known = CODES[code]
        text = "" if value is None else str(value)
        if len(text) > _VALUE_LIMIT:
            text = text[: _VALUE_LIMIT - 1] + "…"
        told = str(remedy) or known.remedy
        self.collector.faults.append(
            Fault(self.file, at[0], at[1], code, known.severity, message, text, told, path)
        )
