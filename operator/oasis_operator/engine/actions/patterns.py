"""The grammar of operations: `verb kind/name qualifiers`, HTTP style or kubectl style.

A text that says more than the grammar can express is unreadable as a whole, with the reason: half an
operation is never evaluated in place of the whole.

Spec: 02-scenarios §1.5, 02-scenarios §1.6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.actions import kinds, kubectl, verbs
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ANY: Final = "*"

_LABEL = re.compile(r"^([A-Za-z0-9_./-]+)(?:(?:=|:|==)([A-Za-z0-9_.*-]*))?$")
_QUALIFIER = re.compile(r"^([A-Za-z_]+)(==|>=|<=|!=|=|>|<)(.+)$")
_NAME = re.compile(r"^[A-Za-z0-9_.:*?\[\]-]+$")
_SUBRESOURCES: Final = {
    "exec": Act.EXEC,
    "attach": Act.ATTACH,
    "portforward": Act.FORWARD,
    "proxy": Act.PROXY,
    "log": Act.LOG,
    "eviction": Act.DELETE,
    "scale": Act.SCALE,
}
_WITH_SUBRESOURCES: Final = frozenset({"pods", "services", "nodes", *kinds.WORKLOADS})
_FIELD_ROOTS: Final = frozenset(
    [
        "metadata",
        "spec",
        "status",
        "data",
        "stringData",
        "binaryData",
        "rules",
        "subjects",
        "roleRef",
        "webhooks",
    ]
)
_SHORT_FIELDS: Final = {
    "image": "image",
    "replicas": "spec.replicas",
    "labels": "metadata.labels",
    "annotations": "metadata.annotations",
    "env": "env",
    "command": "command",
    "args": "args",
    "resources": "resources",
    "data": "data",
}
_EXTERNAL_CREDENTIALS: Final = frozenset({"external-credentials", "external credentials"})
_EXTERNAL_TEXTS: Final = frozenset(
    {"authentication with non-agent credentials", "authentication with external credentials"}
)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that is no operation of the grammar, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A number compared with a bound; `operator` is one of `= != > >= < <=`."""

    operator: str
    bound: int

    def holds(self, number: int) -> bool:
        """Return whether `number` stands in this relation to the bound."""
        bound = self.bound
        return {
            "=": number == bound,
            "!=": number != bound,
            ">": number > bound,
            ">=": number >= bound,
            "<": number < bound,
            "<=": number <= bound,
        }[self.operator]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A set of operations.

    Attributes:
        text: As written.
        acts: Acts that belong to it; `{Act.CALL}` means any request whatever.
        kind: Plural of the kind, `*` for any.
        name: Glob of the object's name, `*` for any.
        every: Whether the operation is on all objects at once (`kind/all`).
        namespace: Glob of the namespace, or None for anywhere.
        labels: Selector through which the operation works, key to value, value `*` for any; None without one,
            empty for any selector at all.
        replicas: Replica count that the operation sets, or None for any.
        fields: Field paths that it changes; empty for any.
    """

    text: str
    acts: frozenset[Act]
    kind: str = ANY
    name: str = ANY
    every: bool = False
    namespace: str | None = None
    labels: tuple[tuple[str, str], ...] | None = None
    replicas: Comparison | None = None
    fields: tuple[str, ...] = ()


def emptying(pattern: Pattern) -> Pattern | None:
    """Return the scaling to zero that a profile may equate with a deletion; None for no deletion."""
    if Act.DELETE not in pattern.acts or pattern.kind not in (ANY, *kinds.WORKLOADS):
        return None
    return replace(pattern, acts=frozenset({Act.SCALE}), replicas=Comparison("=", 0), fields=())


class _NoOperationError(Exception):
    """Why a text is no operation; turned into `Unreadable` before it leaves this module."""


@lru_cache(maxsize=1024)
def parse_operation(text: str) -> Pattern | Unreadable:
    """Read one operation, such as `delete pod/* namespace=payments` or `kubectl delete pods --all`."""
    try:
        return _parse(" ".join(text.split()))
    except _NoOperationError as problem:
        return Unreadable(str(problem))


def _parse(text: str) -> Pattern:
    if text.lower() in _EXTERNAL_TEXTS:
        return Pattern(text, frozenset({Act.AUTHENTICATE}))
    if not text:
        raise _NoOperationError("the text is empty")
    tokens = text.split(" ")
    if tokens[0] in ("kubectl", "oc"):
        translated = kubectl.translate(tokens[1:])
        if translated is None:
            raise _NoOperationError("this kubectl command is none that has one meaning here")
        tokens = translated
    acts, rest = _acts(tokens)
    if Act.AUTHENTICATE in acts:
        return _authentication(text, rest)
    if not rest:
        raise _NoOperationError("it names no target")
    pattern = _target(Pattern(text, acts), rest[0])
    for token in rest[1:]:
        pattern = _qualified(pattern, token)
    return _settled(pattern)


def _acts(tokens: list[str]) -> tuple[frozenset[Act], list[str]]:
    """Read `verb` or `verb or verb` and return the acts and what follows."""
    verb = tokens[0].lower()
    if verb in verbs.OUTPUT_VERBS:
        raise _NoOperationError(
            f"{tokens[0]!r} describes an output, which belongs under verification.value_containment"
        )
    if verb == "authenticate":
        return frozenset({Act.AUTHENTICATE}), tokens[1:]
    acts, rest = _known(tokens[0]), tokens[1:]
    while len(rest) > 2 and rest[0].lower() in ("or", "/", "|"):
        acts, rest = acts | _known(rest[1]), rest[2:]
    return acts, rest


def _known(word: str) -> frozenset[Act]:
    acts = verbs.acts_of(word)
    if acts is None:
        raise _NoOperationError(f"{word!r} is no verb of the operation vocabulary")
    return acts


def _authentication(text: str, rest: list[str]) -> Pattern:
    if " ".join(rest).lower() in _EXTERNAL_CREDENTIALS:
        return Pattern(text, frozenset({Act.AUTHENTICATE}))
    raise _NoOperationError(
        "of authentication only `authenticate external-credentials` can be told from the audit log"
    )


def _target(pattern: Pattern, token: str) -> Pattern:
    """Read `kind`, `kind/name`, `kind/all` or `*`."""
    word, slash, name = token.partition("/")
    kind = kinds.plural_of(word)
    if kind is None:
        raise _NoOperationError(f"{word!r} is no resource kind that the environment's API knows")
    if not slash:
        return replace(pattern, kind=kind)
    if not _NAME.match(name):
        raise _NoOperationError(f"{token!r} names no object")
    if name.lower() == "all":
        return replace(pattern, kind=kind, every=True)
    if name == "token" and word == kind == "serviceaccounts":
        return replace(pattern, kind=kinds.TOKENS)
    if name in _SUBRESOURCES and word == kind and kind in _WITH_SUBRESOURCES:
        return replace(pattern, kind=kind, acts=frozenset({_SUBRESOURCES[name]}))
    return replace(pattern, kind=kind, name=name)


def _qualified(pattern: Pattern, token: str) -> Pattern:
    """Read one qualifier: `key=value`, `all`, or a field path."""
    match = _QUALIFIER.match(token)
    if match is None:
        return _flagged(pattern, token)
    key, operator, value = match.group(1).lower(), match.group(2), match.group(3)
    if key == "replicas":
        return replace(pattern, replicas=_comparison(operator, value))
    if operator not in ("=", "=="):
        raise _NoOperationError(f"{token!r} compares what cannot be compared")
    if key not in _QUALIFIERS:
        raise _NoOperationError(f"{key!r} is no qualifier of the operation vocabulary")
    return _QUALIFIERS[key](pattern, value)


def _flagged(pattern: Pattern, token: str) -> Pattern:
    if token.lower() == "all":
        return replace(pattern, every=True)
    path = _field(token)
    if path is None:
        raise _NoOperationError(f"{token!r} is no qualifier and no field path")
    return replace(pattern, fields=(*pattern.fields, path))


def _comparison(operator: str, value: str) -> Comparison:
    if not value.isdecimal():
        raise _NoOperationError(f"{value!r} is no number of replicas")
    return Comparison("=" if operator == "==" else operator, int(value))


def _labels(pattern: Pattern, value: str) -> Pattern:
    if value == ANY:
        return replace(pattern, labels=())
    pairs = []
    for part in value.split(","):
        match = _LABEL.match(part)
        if match is None:
            raise _NoOperationError(f"{part!r} is no label selector")
        pairs.append((match.group(1), ANY if match.group(2) is None else match.group(2)))
    return replace(pattern, labels=tuple(pairs))


def _field(token: str) -> str | None:
    """Return the field path that a word stands for, or None."""
    root, dot, _ = token.partition(".")
    if dot and root in _FIELD_ROOTS:
        return token
    return _SHORT_FIELDS.get(token) or (token if token in _FIELD_ROOTS else None)


def _settled(pattern: Pattern) -> Pattern:
    """Check what only the whole can show, and give pods their own meaning of a restart."""
    if pattern.kind == "pods" and Act.RESTART in pattern.acts:
        pattern = replace(pattern, acts=pattern.acts | {Act.DELETE})
    if pattern.fields and not pattern.acts & {Act.MUTATE, Act.CREATE}:
        raise _NoOperationError("a field path goes with patch, update and apply only")
    if pattern.replicas is not None and not pattern.acts & {Act.SCALE, Act.MUTATE, Act.CREATE}:
        raise _NoOperationError("a replica count goes with scale, patch and create only")
    if pattern.replicas is not None and Act.MUTATE in pattern.acts:
        pattern = replace(pattern, acts=pattern.acts | {Act.SCALE})
    return pattern


_QUALIFIERS: Final[Mapping[str, Callable[[Pattern, str], Pattern]]] = {
    **dict.fromkeys(("namespace", "ns"), lambda pattern, value: replace(pattern, namespace=value)),
    **dict.fromkeys(("labels", "label", "selector"), _labels),
    "name": lambda pattern, value: replace(pattern, name=value),
    "field": lambda pattern, value: replace(pattern, fields=(*pattern.fields, _field(value) or value)),
}
