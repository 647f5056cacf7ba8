"""What no API server takes, whatever the kind: names and labels that are too long, data that is too large.

Builders derive names and labels from an entry's own, so that these limits are looked at where all is built.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe_request import StateFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oasis_operator.world.manifests import Manifest

_MAX_NAME: Final = 253
_MAX_BYTES: Final = 1024 * 1024
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
    for manifest in manifests:
        if manifest.index < 0:
            continue
        resource = str(state[manifest.index].get("resource", ""))
        found += [StateFault(manifest.index, resource, *fault) for fault in _faults(manifest)]
    return tuple(dict.fromkeys(found))


def _faults(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    body = manifest.body
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
    if body["kind"] == "ConfigMap":
        size = sum(len(key) + len(value.encode()) for key, value in body.get("data", {}).items())
        if size > _MAX_BYTES:
            yield "data", f"{size} bytes", "want at most 1 MiB"
