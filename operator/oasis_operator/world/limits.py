"""What no API server takes, whatever the kind: names that are too long, data that is too large or no text.

Builders derive names and labels from an entry's own, so that these limits are looked at where all is built.
How many objects a world can hold is bounded too: it must be there within the time that a run has for it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.model.jsontext import mended
from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe_request import StateFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oasis_operator.world.manifests import CommandAnswer, Json, LogLines, Manifest

_MAX_NAME: Final = 253
_MAX_BYTES: Final = 1024 * 1024
_MAX_ANNOTATIONS: Final = 256 * 1024
MOST_OBJECTS: Final = 2000
"""Objects of one world, and entries of one state."""
_MAX_SPOKEN: Final = 4 * 1024 * 1024
"""Bytes of all log lines and of what all commands print."""
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def find_faults(manifests: Sequence[Manifest], state: Sequence[Mapping[str, Any]]) -> tuple[StateFault, ...]:
    """Name what of the objects would be refused by every API server.

    Args:
        manifests: The objects.
        state: The entries that they come from, as written.

    Returns:
        Faults by entry; one for each object and part of it at most.
    """
    found = []
    for count, manifest in enumerate(manifests, start=1):
        if manifest.index < 0:
            continue
        resource = resource_of(state[manifest.index])
        if count > MOST_OBJECTS:
            text = f"want at most {MOST_OBJECTS} objects in all; leave some out"
            found.append(StateFault(manifest.index, resource, "", f"object {count}", text))
            break
        found += [StateFault(manifest.index, resource, *fault) for fault in _faults(manifest)]
    return tuple(dict.fromkeys(found))


def find_unreadable(state: Sequence[Mapping[str, Any]]) -> tuple[StateFault, ...]:
    """Name entries that nobody can compile: too many of them, or one that is no text that can be written."""
    if len(state) > MOST_OBJECTS:
        resource = resource_of(state[MOST_OBJECTS])
        text = f"want at most {MOST_OBJECTS} entries; leave some out"
        return (StateFault(MOST_OBJECTS, resource, "", f"{len(state)} entries", text),)
    found = []
    for index, raw in enumerate(state):
        try:
            json.dumps(raw, ensure_ascii=False, default=str).encode()
        except (UnicodeEncodeError, RecursionError, ValueError):
            text = "holds what cannot be written as JSON in UTF-8, such as half a surrogate pair"
            found.append(StateFault(index, mended(resource_of(raw)), "", "", text))
    return tuple(found)


def find_wordy(logs: Sequence[LogLines], commands: Sequence[CommandAnswer]) -> tuple[StateFault, ...]:
    """Name the first workload from which on what containers say is more than a world holds."""
    said = 0
    spoken = [(f"logs/{one.subject}", "entries", one.lines) for one in logs]
    spoken += [(one.subject, "exec", (one.stdout, one.stderr)) for one in commands]
    for resource, field, texts in spoken:
        said += sum(len(text.encode()) for text in texts)
        if said > _MAX_SPOKEN:
            text = f"want at most {_MAX_SPOKEN >> 20} MiB of logs and printed text in all"
            return (StateFault(-1, resource, field, f"{said} bytes", text),)
    return ()


def resource_of(raw: Mapping[str, Any]) -> str:
    """Give what an entry is about, as it is written or as `kind/name`."""
    written = raw.get("resource")
    if isinstance(written, str):
        return written
    return "/".join(str(raw[part]) for part in ("kind", "name") if raw.get(part))


def _faults(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    body = manifest.next_body or manifest.body
    metadata = body["metadata"]
    if len(metadata["name"]) > _MAX_NAME:
        text = (
            f"too long for the {body['kind']} that is made of it: want at most {_MAX_NAME} characters in all"
        )
        yield "name", shown(metadata["name"]), text
    for key, value in metadata.get("labels", {}).items():
        if not _LABEL_VALUE.fullmatch(value):
            yield (
                f"labels.{key}",
                shown(value),
                "want at most 63 letters, digits, dashes, dots and underscores",
            )
    if body["kind"] in ("ConfigMap", "Secret"):
        for key in (*body.get("data", {}), *body.get("stringData", {})):
            if not _KEY.fullmatch(key):
                yield f"data.{key[:64]}", shown(key), "want a key of letters, digits, dashes, dots and _"
    yield from _sizes(body)


def _sizes(body: Json) -> Iterator[tuple[str, str, str]]:
    notes = body["metadata"].get("annotations", {})
    size = sum(len(key) + len(str(value).encode()) for key, value in notes.items())
    if size > _MAX_ANNOTATIONS:
        yield "annotations", f"{size} bytes", "want at most 256 KiB of annotations"
    data = sum(len(key) + len(str(value).encode()) for key, value in (body.get("data") or {}).items())
    whole = len(json.dumps(body, ensure_ascii=False).encode())
    if body["kind"] == "ConfigMap" and data > _MAX_BYTES:
        yield "data", f"{data} bytes", "want at most 1 MiB"
    elif whole > _MAX_BYTES + _MAX_ANNOTATIONS:
        yield "", f"{whole} bytes", f"its {body['kind']} is too large for an API server: want at most 1 MiB"
