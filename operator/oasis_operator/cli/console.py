"""What a person sees: one console, one narrator for long work, and the cleaning of foreign text.

Colour and spinners appear on a terminal only; NO_COLOR is honoured; elsewhere progress is plain lines.
"""

from __future__ import annotations

import json
import time
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from rich.status import Status

PIPE_WIDTH = 160
# Categories that can move the cursor, hide or reorder text: control, format, surrogate, private, unassigned.
HOSTILE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def clean(text: object, limit: int = 0) -> str:
    """Make text that an agent or a cluster supplied safe to print on one line.

    Args:
        text: Anything; None gives an empty string.
        limit: Longest result in characters, with an ellipsis where it was cut; 0 means no limit.
    """
    if text is None:
        return ""
    spaced = " ".join(str(text).split())
    safe = "".join("�" if unicodedata.category(char) in HOSTILE_CATEGORIES else char for char in spaced)
    return safe if not limit or len(safe) <= limit else safe[: limit - 1] + "…"


def make_console(*, stderr: bool = False) -> Console:
    """Make a console that prints text as it is: no markup, no highlighting, no guessed width in a pipe."""
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(
            stderr=stderr, markup=False, highlight=False, emoji=False, width=PIPE_WIDTH, no_color=True
        )
    return console


@dataclass(slots=True)
class Narrator:
    """Tells on stderr what is going on, each news once, with the seconds since the start.

    Use it as a context manager around the work; `say` replaces the spinner's text on a terminal
    and prints a line elsewhere.
    """

    console: Console
    monotonic: Callable[[], float] = time.monotonic
    _started: float = field(init=False, default=0.0)
    _last: str = field(init=False, default="")
    _status: Status | None = field(init=False, default=None)

    def __enter__(self) -> Self:
        """Start the clock, and on a terminal the spinner."""
        self._started = self.monotonic()
        if self.console.is_terminal:
            self._status = self.console.status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the spinner away."""
        if self._status is not None:
            self._status.stop()

    def say(self, text: str) -> None:
        """Show `text` unless it is what is shown already."""
        if text == self._last:
            return
        self._last = text
        line = Text(f"[{self.monotonic() - self._started:6.1f}s] {text}")
        if self._status is not None:
            self._status.update(line)
        else:
            self.console.print(line, soft_wrap=True)


def print_table(console: Console, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    """Print rows under bold headings; cells fold rather than get cut."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_document(console: Console, document: Mapping[str, Any] | list[Any], output: str) -> None:
    """Print a document as JSON or YAML, untouched by any width."""
    if output == "json":
        text = json.dumps(document, indent=2, ensure_ascii=False)
    else:
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True).rstrip()
    console.print(text, soft_wrap=True)
