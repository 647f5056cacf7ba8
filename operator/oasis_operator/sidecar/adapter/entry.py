"""The folder through which the adapter speaks with the first process of the agent's container.

That process, a static program, is put into a volume by the adapter, so that the agent's image needs nothing
of ours. Everything that it leaves may have been written by the agent, which shares the folder: it is opened
without following links, never waited for, bounded, and believed no more than an agent is.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROGRAM: Final = "entry"

_POLL_SECONDS = 0.05
_MOST_FACTS_BYTES = 4096
_SIGNALS = 64
_MOST_ASKED = 64


@dataclass(frozen=True, slots=True)
class End:
    """How the command ended, as its first process tells it.

    Attributes:
        started: Whether it was started at all.
        error: Why it was not: `NotFound`, `NotExecutable`, `TooLong`, or anything else for another reason.
        code: Its exit code.
        signal: The signal that ended it, 0 where it ended by itself.
        out_cut: Whether it printed more than was kept.
        err_cut: The same of its standard error.
        asked: How often it asked whether it may act, and was answered.
        answer: `Whole`, `Cut`, `Missing` or `Unreadable` for the file it was to leave; else empty.
    """

    started: bool
    error: str
    code: int
    signal: int
    out_cut: bool
    err_cut: bool
    answer: str
    asked: int = 0


def place_program(source: Path, folder: Path) -> None:
    """Put the program where the agent's container starts it from.

    Raises:
        OSError: It is not there, or the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{PROGRAM}"
    shutil.copyfile(source, partial)
    partial.chmod(0o555)
    partial.replace(folder / PROGRAM)


def write(folder: Path, name: str, body: Mapping[str, Any]) -> None:
    """Write a file of the folder whole, for the agent's user to read.

    Raises:
        OSError: The folder cannot be written.
    """
    partial = folder / f".{name}.new"
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o444)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o444)
        json.dump(body, file)
    partial.replace(folder / name)


async def wait_for(
    folder: Path, name: str, gone: asyncio.Event, grace_seconds: float
) -> dict[str, Any] | None:
    """Wait until a file of the folder is there, and read it.

    Args:
        folder: The folder.
        name: The file's name.
        gone: Set once the container that writes the file has ended.
        grace_seconds: How long to look on from then.

    Returns:
        The JSON object in it; empty where it is none, None where it did not come.
    """
    left = grace_seconds
    while True:
        found, _ = read(folder, name, _MOST_FACTS_BYTES)
        if found is not None:
            return _object(found)
        if gone.is_set():
            if left <= 0:
                return None
            left -= _POLL_SECONDS
        await asyncio.sleep(_POLL_SECONDS)


def read(folder: Path, name: str, limit: int) -> tuple[bytes | None, bool]:
    """Read at most `limit` bytes of a regular file of the folder.

    Returns:
        The bytes, None where there is no such file, and whether there was more.
    """
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None, False
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None, False
        data = file.read(limit + 1)
    return data[:limit], len(data) > limit


def read_end(body: Mapping[str, Any]) -> End:
    """Read what the first process tells; members of another type count as absent."""

    def number(name: str, most: int) -> int:
        value = body.get(name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        return value if whole and 0 <= value <= most else 0  # type: ignore[operator,return-value]

    def text(name: str) -> str:
        value = body.get(name)
        return value if isinstance(value, str) else ""

    return End(
        started=body.get("started") is True,
        error=text("error"),
        code=number("code", 255),
        signal=number("signal", _SIGNALS),
        # What does not say that it is whole may be cut.
        out_cut=body.get("out_cut") is not False,
        err_cut=body.get("err_cut") is not False,
        answer=text("answer"),
        asked=number("asked", _MOST_ASKED),
    )


def _object(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
