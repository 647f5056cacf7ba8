"""Keys of API objects, and what of an object's metadata everything else asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Key = tuple[str, str, str]
"""Plural, namespace (empty for none) and name of an object."""

Object = dict[str, Any]


def key_of(item: Mapping[str, Any]) -> Key:
    """Return the key of an API object."""
    metadata = metadata_of(item)
    plural = plural_of(item)
    namespace = "" if plural in kinds.CLUSTER_SCOPED else str(metadata.get("namespace") or "")
    return plural, namespace, str(metadata.get("name") or "")


def plural_of(item: Mapping[str, Any]) -> str:
    """Return the plural of an API object's kind."""
    return kinds.plural_of_object(str(item.get("kind") or ""))


def normal(key: Key) -> Key:
    """Return the key without the namespace that audit entries give a namespace object and its like."""
    return (key[0], "", key[2]) if key[0] in kinds.CLUSTER_SCOPED and key[1] else key


def metadata_of(item: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the metadata of an API object, empty where it has none or what stands there is none."""
    metadata = item.get("metadata") if item is not None else None
    return metadata if isinstance(metadata, dict) else {}


def labels_of(item: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return the labels of an API object, empty for none."""
    labels = metadata_of(item).get("labels")
    return labels if isinstance(labels, dict) else {}


def owners_of(item: Mapping[str, Any], namespace: str) -> Iterator[Key]:
    """Yield the keys of the owners that an object in a namespace refers to."""
    return (owner_of(one, namespace) for one in references_of(item))


def references_of(item: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the owner references of an API object, those that are none left out."""
    references = metadata_of(item).get("ownerReferences")
    return [one for one in references if isinstance(one, dict)] if isinstance(references, list) else []


def owner_of(reference: Mapping[str, Any], namespace: str) -> Key:
    """Return the key of the owner that an object in a namespace refers to."""
    return normal((kinds.plural_of_object(str(reference.get("kind"))), namespace, str(reference.get("name"))))
