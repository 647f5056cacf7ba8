"""What an agent told in its answer, by output channel: as it was kept, and as it came.

Reading an answer leaves things out: members that the contract does not know, the first of two members of one
name, actions beyond a bound, the end of long names, characters that act on a terminal. So the bytes as they
came are taken apart once more, with nothing left out. An answer that could not be read belongs to every
channel at once.

Spec: 01-core §3.5.5, 04-execution §1.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from oasis_operator.engine.capture.spoken import (
    APART,
    CHANNELS,
    PARAMETERS,
    REASONING,
    RESPONSE,
    RESULTS,
    Members,
    Spoken,
    namespaces_in,
    strings,
)

_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=Members, parse_int=str, parse_float=str, parse_constant=str
)
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_OF_A_CALL: Final = frozenset({"id", "tool", "arguments"})
_OF_ITS_ANSWER: Final = frozenset({"result", "error"})
_KNOWN: Final = _OF_A_CALL | _OF_ITS_ANSWER | {"actions", "reasoning", "final_answer", "model", "duration_ms"}
_Member = tuple[str, Any, int, int]


def spoken_in(transcript: Mapping[str, Any]) -> Iterator[Spoken]:
    """Yield what a transcript holds, the members that were kept first, then the answer as it came."""
    yield Spoken(RESPONSE, _text(transcript.get("final_answer")))
    actions = transcript.get("actions")
    for index, action in enumerate(actions if isinstance(actions, list | tuple) else ()):
        if isinstance(action, Mapping):
            yield from _of_action(action, index)
    yield Spoken(REASONING, _text(transcript.get("reasoning")))
    came = _came(transcript)
    if came is not None:
        yield from _of_answer(came, read=transcript.get("outcome") == "answered")


def is_whole(transcript: Mapping[str, Any]) -> bool:
    """Whether all that the agent told is there to be searched."""
    received = transcript.get("received")
    if received is None:
        return transcript.get("truncated") is not True
    return isinstance(received, Mapping) and received.get("cut") is False and _came(transcript) is not None


def without_answer(transcript: Mapping[str, Any]) -> dict[str, Any]:
    """Return a transcript that says how much came, but no longer what."""
    came, received = _came(transcript), transcript.get("received")
    if received is None:
        return dict(transcript)
    size = len(came or b"")
    cut = not isinstance(received, Mapping) or received.get("cut") is not False
    return {**transcript, "received": {"size_bytes": size, "cut": cut}}


def _came(transcript: Mapping[str, Any]) -> bytes | None:
    received = transcript.get("received")
    text = received.get("base64") if isinstance(received, Mapping) else None
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        return None


def _of_action(action: Mapping[str, Any], index: int) -> Iterator[Spoken]:
    """Yield the parameters of a tool call, each text apart and all of them as JSON, and its answer."""
    arguments = action.get("arguments")
    written = json.dumps(arguments, ensure_ascii=False, default=str) if arguments is not None else ""
    text = APART.join([_text(action.get("tool")), *strings(arguments), written])
    yield Spoken(PARAMETERS, text, index, namespaces=namespaces_in(arguments))
    yield Spoken(RESULTS, f"{_text(action.get('result'))}{APART}{_text(action.get('error'))}", index)


def _of_answer(came: bytes, *, read: bool) -> Iterator[Spoken]:
    text = came.decode("utf-8-sig", errors="replace")
    if read:
        try:
            yield from list(_of_members(text))
        except (ValueError, RecursionError):
            pass
        else:
            return
    unescaped = _ESCAPE.sub(_unescape, text)
    for channel in CHANNELS:
        yield Spoken(channel, f"{text}{APART}{unescaped}")


def _unescape(escape: re.Match[str]) -> str:
    code, letter = escape.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)


def _of_members(text: str) -> Iterator[Spoken]:
    """Yield each member of an answer: its texts, decoded, and the JSON that it stood in.

    Answers that asked for approval stand before the last one, and the actions of all are counted on.
    """
    told = 0
    for place in _documents(text):
        for name, value, start, end in _members(text, place):
            if name == "actions" and isinstance(value, list) and not isinstance(value, Members):
                for at, stop in _items(text, start):
                    yield from _of_call(text, at, stop, told)
                    told += 1
            else:
                channel = REASONING if name == "reasoning" else RESPONSE
                yield Spoken(channel, _pieces(name, value, text[start:end]))


def _documents(text: str) -> Iterator[int]:
    """Yield where each JSON document of a text begins; anything else between them is a fault."""
    at = _behind_space(text, 0)
    while at < len(text):
        yield at
        _, at = _DECODER.raw_decode(text, at)
        at = _behind_space(text, at)


def _of_call(text: str, start: int, end: int, index: int) -> Iterator[Spoken]:
    if text[start] != "{":
        yield Spoken(RESPONSE, text[start:end])
        return
    members = list(_members(text, start))
    places = namespaces_in([value for name, value, *_ in members if name in _OF_A_CALL])
    for name, value, at, stop in members:
        pieces = _pieces(name, value, text[at:stop])
        if name in _OF_A_CALL:
            yield Spoken(PARAMETERS, pieces, index, namespaces=places)
        else:
            yield Spoken(RESULTS if name in _OF_ITS_ANSWER else RESPONSE, pieces, index)


def _pieces(name: str, value: Any, written: str) -> str:
    return APART.join(["" if name in _KNOWN else name, *strings(value), written])


def _members(text: str, at: int) -> Iterator[_Member]:
    """Yield the members of the object at a place: name, value, and where the value begins and ends."""
    at = _behind_space(text, _expected(text, _behind_space(text, at), "{"))
    while text[at : at + 1] != "}":
        _expected(text, at, '"')
        name, at = _DECODER.raw_decode(text, at)
        start = _behind_space(text, _expected(text, _behind_space(text, at), ":"))
        value, at = _DECODER.raw_decode(text, start)
        yield name, value, start, at
        at = _behind_comma(text, at, "}")


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield where each item of the list at a place begins and ends."""
    at = _behind_space(text, _expected(text, at, "["))
    while text[at : at + 1] != "]":
        start = at
        _, at = _DECODER.raw_decode(text, start)
        yield start, at
        at = _behind_comma(text, at, "]")


def _behind_comma(text: str, at: int, close: str) -> int:
    at = _behind_space(text, at)
    return at if text[at : at + 1] == close else _behind_space(text, _expected(text, at, ","))


def _expected(text: str, at: int, character: str) -> int:
    if text[at : at + 1] != character:
        raise ValueError(f"no {character} at {at}")
    return at + 1


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
