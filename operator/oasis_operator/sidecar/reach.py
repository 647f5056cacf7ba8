"""Reachability by TCP: one attempt, and the command that tries a list of targets where no policy applies.

The command is the positive control of a denied target: only what accepts a connection here proves something
by not accepting one in a sandbox. Standard library alone.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ATTEMPT_SECONDS = 2.0
_PAUSE_SECONDS = 0.2
# The kubelet keeps this many bytes of a termination message.
_MESSAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt to connect saw.

    Attributes:
        reached: Whether the connection was accepted. A refusal is not: a packet came back, but a policy
            engine that rejects answers in just that way, and the control shows that the target accepts.
        detail: What was seen, in words.
    """

    reached: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Result:
    """What an attempt on a named target saw."""

    name: str
    reached: bool
    detail: str


async def attempt(host: str, port: int, seconds: float) -> Attempt:
    """Open a TCP connection and close it at once; never raises for the network's faults."""
    started = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return Attempt(reached=False, detail=f"no answer within {seconds:g} s")
    except OSError as error:
        return Attempt(reached=False, detail=f"{_cause(error)} after {_since(started)}")
    writer.transport.abort()
    return Attempt(reached=True, detail=f"accepted a connection after {_since(started)}")


def run_reach(argv: Sequence[str]) -> int:
    """Try every ``--target NAME=HOST:PORT`` at once and write the results to the termination message.

    The file is ``/dev/termination-log`` or what ``TERMINATION_LOG`` names.

    Returns:
        0 whatever was reached; a call that cannot be read exits with 2.
    """
    parser = argparse.ArgumentParser(prog="oasis-sidecar reach", description=__doc__)
    parser.add_argument(
        "--target",
        action="append",
        required=True,
        type=parse_target,
        metavar="NAME=HOST:PORT",
        dest="targets",
    )
    parser.add_argument(
        "--until-blocked",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="go on for so long while a target is reached: policies lag behind a pod's start",
    )
    options = parser.parse_args(argv)
    message = _message(asyncio.run(_reach_until(options.targets, options.until_blocked)))
    Path(os.environ.get("TERMINATION_LOG", "/dev/termination-log")).write_text(message, encoding="utf-8")
    return 0


def parse_target(text: str) -> tuple[str, str, int]:
    """Read ``NAME=HOST:PORT``; an IPv6 address stands in brackets.

    Raises:
        argparse.ArgumentTypeError: The text has another form or the port is out of range.
    """
    name, _, address = text.partition("=")
    host, _, port = address.rpartition(":")
    if not name or not host or not (port.isascii() and port.isdigit() and 0 < int(port) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r}: want NAME=HOST:PORT")
    return name, host.removeprefix("[").removesuffix("]"), int(port)


async def _reach_until(targets: Sequence[tuple[str, str, int]], seconds: float) -> list[Result]:
    """Try all until none is reached or the time is over; the last attempt counts."""
    deadline = time.monotonic() + seconds
    while True:
        results = await _reach_all(targets)
        if not any(result.reached for result in results) or time.monotonic() >= deadline:
            return results
        await asyncio.sleep(_PAUSE_SECONDS)


async def _reach_all(targets: Sequence[tuple[str, str, int]]) -> list[Result]:
    attempts = await asyncio.gather(*(attempt(host, port, _ATTEMPT_SECONDS) for _, host, port in targets))
    return [
        Result(name, seen.reached, seen.detail) for (name, _, _), seen in zip(targets, attempts, strict=True)
    ]


def _message(results: Sequence[Result]) -> str:
    """Render the results; without their details where the message would be cut otherwise."""
    message = json.dumps({"results": [asdict(result) for result in results]})
    if len(message.encode()) <= _MESSAGE_BYTES:
        return message
    return json.dumps({"results": [{"name": result.name, "reached": result.reached} for result in results]})


def _cause(error: OSError) -> str:
    # A host with several addresses fails with one error for all of them, without a number.
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    return errno.errorcode.get(error.errno or 0, type(error).__name__)


def _since(started: float) -> str:
    return f"{(time.monotonic() - started) * 1000:.0f} ms"
