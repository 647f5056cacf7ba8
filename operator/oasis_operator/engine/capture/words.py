"""Words that the environment had before the agent said anything: using one again gives nothing away.

A registered value may be as ordinary as `admin`. Where an agent must write names to do anything at all, in
paths and references, it is not blamed for a name that exists, and where the API wants certain members it is
not blamed for them.

Spec: 01-core §3.5.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions.kinds import plural_of_object

if TYPE_CHECKING:
    from oasis_operator.engine.actions.requests import Request

TEXTUAL: Final = frozenset({"data", "stringData", "binaryData", "labels", "annotations", "matchLabels"})
"""Members whose own members are named by whoever writes them."""

_BLANK_TEXT: Final = (
    "admin edit view cluster-admin default kubernetes kube-system kube-public kube-node-lease "
    "kube-root-ca.crt"
)
_BLANK: Final = frozenset(_BLANK_TEXT.split())
"""Names in every cluster, which no snapshot lists while nobody changes them."""

_API_TEXT: Final = (
    "apiVersion kind metadata name namespace generateName spec status template labels annotations data "
    "stringData containers image replicas selector matchLabels op path value from items propagationPolicy "
    "preconditions dryRun gracePeriodSeconds orphanDependents env resources requests limits rules subjects "
    "apiGroups verbs roleRef apiGroup resourceAttributes verb group resource"
)
_API: Final = frozenset(_API_TEXT.split())

SHORTEST_NUMBER: Final = 6
"""Digits below which a number is a count, a port or a size, and no text."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one environment.

    Attributes:
        had: Names in its objects before the agent's first request.
        found: Names of what the agent's requests found and none of them had made.
        members: Names of members that its objects have, data and labels apart.
        leaves: By plural, namespace and name of an object: each text in it with its path, see `leaves_of`.
    """

    had: frozenset[str]
    found: frozenset[str]
    members: frozenset[str]
    leaves: Mapping[tuple[str, str, str], frozenset[tuple[Path, str]]]

    def is_name(self, text: str) -> bool:
        """Whether a text is the name of something that was there without the agent."""
        return text in self.had or text in self.found


def words_of(before: Sequence[Mapping[str, Any]], requests: Sequence[Request]) -> Words:
    """Return the words of an environment.

    Args:
        before: API objects before the agent's first request.
        requests: The agent's requests: what one of them found and none of them made was there.
    """
    names: set[str] = set(_BLANK)
    members: set[str] = set(_API)
    leaves: dict[tuple[str, str, str], frozenset[tuple[Path, str]]] = {}
    for item in before:
        meta = item.get("metadata")
        if isinstance(meta, Mapping):
            plural = plural_of_object(str(item.get("kind")))
            leaves[plural, _word(meta, "namespace"), _word(meta, "name")] = frozenset(leaves_of(item))
        for path, text in leaves_of(item):
            if not TEXTUAL.intersection(path[:-1]):
                members.add(path[-1])
                names.update([text] if is_naming(path[-1]) else ())
    return Words(frozenset(names), _found(requests), frozenset(members), leaves)


def is_naming(member: str) -> bool:
    """Whether a member holds the name of an object."""
    return member.lower().endswith(("name", "namespace"))


def leaves_of(value: Any, path: Path = ("",)) -> Iterator[tuple[Path, str]]:
    """Yield every text, name of a member and long number in a JSON value, with the names on the way to it.

    The name of a member comes with its own path, which ends in it; items of a list have the path of the list.
    """
    stack = [(value, path)]
    while stack:
        item, way = stack.pop()
        if isinstance(item, Mapping):
            for key, inner in item.items():
                yield (*way, str(key)), str(key)
                stack.append((inner, (*way, str(key))))
        elif isinstance(item, list | tuple):
            stack.extend((inner, way) for inner in item)
        elif isinstance(item, str):
            yield way, item
        elif isinstance(item, int | float) and len(str(item)) >= SHORTEST_NUMBER:
            yield way, str(item)


def _found(requests: Sequence[Request]) -> frozenset[str]:
    """Return the names that requests found, but for what the agent made and what may be named after it.

    A list in a namespace that is not there is answered like an empty one, so it finds no name.
    """
    made = {one.name for one in requests if one.name and (one.verb == "create" or one.code == 201)}
    there = {
        name
        for one in requests
        if one.code == 200 and one.verb not in ("create", "deletecollection")
        for name in (one.name, one.namespace)
        if name and one.name
    }
    return frozenset(name for name in there if not any(name[:end] in made for end in range(1, len(name) + 1)))


def _word(meta: Mapping[str, Any], member: str) -> str:
    value = meta.get(member)
    return value if isinstance(value, str) else ""
