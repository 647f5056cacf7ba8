"""Counting tokens: the provider's own figures where it gives them, an estimate where it does not.

Answers come whole or as a stream of events. Each line of a stream is looked at while it is passed on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from oasis_operator.wire.gateway import MAX_TOKENS, Api, Usage

# English text has about four bytes to a token; counting too many rather than too few.
_BYTES_PER_TOKEN: Final = 3


def estimate(size_bytes: int) -> int:
    """Return about how many tokens a text of so many bytes has, at least 1 unless it is empty."""
    return -(-size_bytes // _BYTES_PER_TOKEN)


class Meter:
    """Finds the usage of one call in its answer."""

    def __init__(self, api: Api, request_bytes: int) -> None:
        """Begin with the size of the request, by which its tokens are estimated until the provider tells."""
        self._api = api
        self._request_bytes = request_bytes
        self._input: int | None = None
        self._output: int | None = None
        self._seen_bytes = 0

    def whole(self, body: bytes) -> None:
        """Look at an answer that is no stream."""
        self._seen_bytes += len(body)
        self._look(_parse(body))

    def line(self, line: bytes) -> None:
        """Look at one line of a stream."""
        if not line.startswith(b"data:"):
            return
        data = line[5:].strip()
        self._seen_bytes += len(data)
        self._look(_parse(data))

    @property
    def usage(self) -> Usage:
        """What the call took so far; what is not known is estimated."""
        told = self._input is not None and self._output is not None
        return Usage(
            input=estimate(self._request_bytes) if self._input is None else self._input,
            output=estimate(self._seen_bytes) if self._output is None else self._output,
            estimated=not told,
        )

    def refused(self) -> Usage:
        """Return the usage of a call that the provider refused: nothing, unless it says otherwise."""
        return self.usage if self._input is not None else Usage()

    def _look(self, body: Mapping[str, Any]) -> None:
        if self._api is Api.MESSAGES:
            self._look_at_message(body)
        elif self._api is Api.RESPONSES:
            response = body.get("response")
            self._take(
                _usage(response if isinstance(response, Mapping) else body), "input_tokens", "output_tokens"
            )
        else:
            self._take(_usage(body), "prompt_tokens", "completion_tokens")

    def _look_at_message(self, body: Mapping[str, Any]) -> None:
        """Take the figures of a message, its start (input) or its changes (output as it is by then)."""
        message = body.get("message")
        start = isinstance(message, Mapping)
        usage = _usage(message if isinstance(message, Mapping) else body)
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        given = [count for count in (_count(usage, name) for name in names) if count is not None]
        if _count(usage, "input_tokens") is not None:
            self._input = sum(given)
        output = _count(usage, "output_tokens")
        # A start tells of a few tokens at most; what was streamed behind it is known at the end only.
        if output is not None and not start:
            self._output = output

    def _take(self, usage: Mapping[str, Any], first: str, second: str) -> None:
        read, written = _count(usage, first), _count(usage, second)
        self._input = self._input if read is None else read
        self._output = self._output if written is None else written


def _usage(body: Mapping[str, Any]) -> Mapping[str, Any]:
    found = body.get("usage")
    return found if isinstance(found, Mapping) else {}


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TOKENS:
        return None
    return value


def _parse(data: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}
