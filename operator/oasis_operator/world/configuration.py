"""ConfigMaps and Secrets."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from oasis_operator.world.entries import Entry, Reader, scalar
from oasis_operator.world.manifests import Built, Manifest, Surroundings, build_object

_MAX_BYTES = 1024 * 1024


def build_configmap(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a ConfigMap with exactly the declared keys; one without data is empty."""
    data = reader.texts("data")
    _limit(reader, data)
    body = build_object(
        "v1", "ConfigMap", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"), data=data or None,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def build_secret(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build a Secret from ``data``, encoded or plain, and ``string_data``, which is always plain."""
    plain, encoded = secret_values(reader.entry.fields)
    for field in ("data", "string_data", "stringData"):
        reader.texts(field)
    _limit(reader, {**plain, **encoded})
    body = build_object(
        "v1", "Secret", reader.entry.name, reader.namespace,
        labels=reader.texts("labels"), annotations=reader.texts("annotations"),
        type=reader.text("type", "Opaque"), data=encoded or None, stringData=plain or None,
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def secret_values(fields: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Split a Secret's values into plain and encoded ones.

    ``data`` counts as encoded only where every value of it is the base64 form of readable text; otherwise all
    of it is plain, as authors write it. Mixed Secrets use ``string_data``.
    """
    data = _texts(fields.get("data"))
    plain = {**_texts(fields.get("string_data")), **_texts(fields.get("stringData"))}
    if data and all(decoded(value) is not None for value in data.values()):
        return plain, data
    return {**data, **plain}, {}


def decoded(value: str) -> str | None:
    """Give the readable text that a value encodes, None where it encodes none."""
    try:
        text = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    readable = all(character.isprintable() or character in "\n\r\t" for character in text)
    return text if text and readable else None


def containment_values(entry: Entry, member: str, key: str) -> tuple[str, str | None] | None:
    """Resolve ``kind/name.data.KEY`` against its entry.

    Returns:
        The plain value and, for a Secret, its stored form; None where the entry has no such value.

    Spec: 08-provider-conformance §3.2.
    """
    if entry.kind == "secret" and member in ("data", "string_data", "stringData"):
        plain, encoded = secret_values(entry.fields)
        if key in plain:
            return plain[key], base64.b64encode(plain[key].encode()).decode()
        if key in encoded:
            return decoded(encoded[key]) or "", encoded[key]
        return None
    value = _texts(entry.fields.get(member)).get(key)
    return None if value is None else (value, None)


def _texts(values: object) -> dict[str, str]:
    if not isinstance(values, Mapping):
        return {}
    return {str(key): text for key, value in values.items() if (text := scalar(value)) is not None}


def _limit(reader: Reader, data: Mapping[str, str]) -> None:
    size = sum(len(key) + len(value.encode()) for key, value in data.items())
    if size > _MAX_BYTES:
        reader.refuse("data", f"{size} bytes", "want at most 1 MiB")
