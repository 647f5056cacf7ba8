"""Runs other programs and prints progress; a program's failure becomes one readable sentence."""

import contextlib
import fcntl
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from localcluster.errors import ClusterError

_QUOTED_LINES = 12


def run(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
) -> str:
    """Run a program to its end and return what it printed.

    Args:
        argv: The program and its arguments.
        env: Variables added to the current environment.
        cwd: Working directory; None keeps the current one.
        stdin: Text given to the program; None gives it an empty input.

    Raises:
        ClusterError: The program is absent or failed; the text ends in its last lines.
    """
    result = attempt(argv, env=env, cwd=cwd, stdin=stdin)
    if result.returncode != 0:
        text = f"{result.stdout}\n{result.stderr}".strip().splitlines()[-_QUOTED_LINES:]
        raise ClusterError(f"{_shown(argv)} failed with exit code {result.returncode}: " + "\n  ".join(text))
    return result.stdout


def attempt(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run a program whose failure is an answer rather than a fault.

    Raises:
        ClusterError: The program is absent.
    """
    try:
        return subprocess.run(
            [str(part) for part in argv],
            env={**os.environ, **(env or {})},
            cwd=cwd,
            input=stdin or "",
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise ClusterError(f"{argv[0]} is not installed, and {_shown(argv)} needs it") from error


def _shown(argv: Sequence[str | Path]) -> str:
    """The start of a command line, short enough for a message."""
    return " ".join([Path(argv[0]).name, *(str(part) for part in argv[1:4])])


def say(text: str) -> None:
    """Print one line at once, also into a pipe."""
    print(text, flush=True)


@contextlib.contextmanager
def step(text: str) -> Iterator[None]:
    """Announce a piece of work and, when it has ended well, the time it took."""
    say(f"{text} ...")
    started = time.monotonic()
    yield
    say(f"{text} ... done in {time.monotonic() - started:.1f} s")


def wait_until(what: str, check: Callable[[], bool], *, seconds: float, interval: float = 0.1) -> None:
    """Poll until `check` holds.

    Raises:
        ClusterError: It did not hold in time; `what` completes "timed out waiting for".
    """
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            raise ClusterError(f"timed out after {seconds:.0f} s waiting for {what}")
        time.sleep(interval)


@contextlib.contextmanager
def lock(file: Path, waiting: str) -> Iterator[None]:
    """Hold a lock that ends with this process; where another holds it, say `waiting` and wait."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
