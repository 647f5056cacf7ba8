"""State entries as the scenario writes them, and the reading of their fields without losing any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe_request import StateFault

_MAX_NAME = 253
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_QUANTITY = re.compile(r"\d+(\.\d+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?")

#: Short and plural names of the kinds, as people write them.
ALIASES = {
    "cm": "configmap",
    "deploy": "deployment",
    "ds": "daemonset",
    "sts": "statefulset",
    "svc": "service",
    "ing": "ingress",
    "ns": "namespace",
    "no": "node",
    "po": "pod",
    "pv": "persistentvolume",
    "persistentvolumeclaim": "pvc",
    "horizontalpodautoscaler": "hpa",
    "poddisruptionbudget": "pdb",
    "networkpolicies": "networkpolicy",
    "netpol": "networkpolicy",
    "sa": "serviceaccount",
    "quota": "resourcequota",
    "ingresses": "ingress",
    "event": "events",
    "log": "logs",
    "metric": "metrics",
    "trace": "traces",
    "migration": "database-migration",
    "application": "gitops-application",
    "app": "gitops-application",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One state entry in a single form.

    Attributes:
        index: Its position in the scenario's state.
        resource: As written, ``kind/name``.
        kind: Canonical kind, lower case and singular.
        name: Empty where the entry names none.
        namespace: None where the entry says nothing.
        fields: All other members.
    """

    index: int
    resource: str
    kind: str
    name: str
    namespace: str | None
    fields: Mapping[str, Any]


def canonical_kind(written: str, known: Iterable[str]) -> str:
    """Give the canonical kind of a word, itself where it is none of ours."""
    word = written.strip().lower()
    for candidate in (word, word.removesuffix("s")):
        if candidate in known:
            return candidate
        if candidate in ALIASES:
            return ALIASES[candidate]
    return word


def parse_entry(index: int, raw: Mapping[str, Any], known: Iterable[str]) -> Entry | StateFault:
    """Read an entry in its raw form (``resource: kind/name``) or split (``kind``, ``name``, ``spec``)."""
    fields = dict(raw)
    if "resource" in fields:
        resource = fields.pop("resource")
        if not isinstance(resource, str) or not resource:
            return StateFault(index, "", "resource", shown(resource), "want kind/name")
        kind, _, name = resource.partition("/")
    else:
        kind, name = fields.pop("kind", ""), fields.pop("name", "")
        if not isinstance(kind, str) or not isinstance(name, str) or not kind:
            return StateFault(
                index, "", "kind", shown(kind), "want kind and name as strings, or resource: kind/name"
            )
        resource = f"{kind}/{name}" if name else kind
        fields = _flattened(fields)
    namespace = fields.pop("namespace", None)
    if namespace is not None and not is_label(namespace):
        return StateFault(
            index, resource, "namespace", shown(namespace), "want a namespace's name of at most 63 characters"
        )
    return Entry(index, resource, canonical_kind(kind, known), name, namespace, fields)


def _flattened(fields: dict[str, Any]) -> dict[str, Any]:
    spec = fields.pop("spec", None)
    if isinstance(spec, Mapping):
        return {**spec, **fields}
    return fields if spec is None else {**fields, "spec": spec}


def is_label(value: object) -> bool:
    """Tell whether a value can name a namespace, a service or a container."""
    return isinstance(value, str) and len(value) <= 63 and _LABEL.fullmatch(value) is not None


def is_subdomain(value: object) -> bool:
    """Tell whether a value can name most objects."""
    return isinstance(value, str) and len(value) <= _MAX_NAME and _SUBDOMAIN.fullmatch(value) is not None


def is_quantity(value: object) -> bool:
    """Tell whether a value is an amount of CPU or memory as Kubernetes writes it."""
    return not isinstance(value, bool) and _QUANTITY.fullmatch(str(value)) is not None


class Reader:
    """The fields of one entry, taken one by one; what is left at the end was not understood.

    Faults are collected, never raised, so that an author sees all of them at once. After a fault the reading
    goes on with the default; the result is then not used.
    """

    def __init__(self, entry: Entry, faults: list[StateFault]) -> None:
        """Read ``entry`` and put what is wrong into ``faults``."""
        self.entry = entry
        self._faults = faults
        self._left = dict(entry.fields)
        self._known: list[str] = []

    @property
    def namespace(self) -> str:
        """The entry's namespace; ``default`` where it says nothing, as everywhere in Kubernetes."""
        return self.entry.namespace or "default"

    @property
    def is_faulty(self) -> bool:
        """Whether anything of the entry was refused."""
        return bool(self._faults)

    def refuse(self, field: str, value: object, message: str) -> None:
        """Note a fault of this entry."""
        seen = "" if value is None else shown(value)
        self._faults.append(StateFault(self.entry.index, self.entry.resource, field, seen, message))

    def take(self, field: str) -> Any:
        """Take a field as it stands, None where it is absent."""
        self._known.append(field)
        return self._left.pop(field, None)

    def text(self, field: str, default: str = "") -> str:
        """Take a text; a number or a boolean is read as YAML would print it."""
        value = self.take(field)
        if value is None:
            return default
        text = scalar(value)
        if text is None:
            self.refuse(field, value, "want a text")
            return default
        return text

    def choice(self, field: str, choices: Iterable[str], default: str) -> str:
        """Take one of several words, compared without regard to case."""
        value = self.text(field, default)
        for choice in choices:
            if choice.lower() == value.lower():
                return choice
        self.refuse(field, value, f"not possible here; possible are {', '.join(choices)}")
        return default

    def flag(self, field: str, default: bool | None = None) -> bool | None:
        """Take a boolean."""
        value = self.take(field)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.refuse(field, value, "want true or false")
        return default

    def count(self, field: str, default: int | None = None, *, low: int = 0, high: int = 1000) -> int | None:
        """Take a whole number between ``low`` and ``high``, both included."""
        value = self.take(field)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self.refuse(field, value, f"want a whole number from {low} to {high}")
        return default

    def quantity(self, field: str) -> str | None:
        """Take an amount such as ``500m`` or ``8Gi``."""
        value = self.take(field)
        if value is None or is_quantity(value):
            return None if value is None else str(value)
        self.refuse(field, value, "want an amount such as 500m or 8Gi")
        return None

    def mapping(self, field: str) -> dict[str, Any]:
        """Take an object; absent is empty."""
        value = self.take(field)
        if value is None or isinstance(value, Mapping):
            return dict(value or {})
        self.refuse(field, value, "want a mapping")
        return {}

    def texts(self, field: str) -> dict[str, str]:
        """Take an object whose values are texts, such as labels or a ConfigMap's data."""
        result = {}
        for key, value in self.mapping(field).items():
            text = scalar(value)
            if text is None:
                self.refuse(f"{field}.{key}", value, "want a text")
            else:
                result[str(key)] = text
        return result

    def items(self, field: str) -> list[Any]:
        """Take a list; absent is empty."""
        value = self.take(field)
        if value is None or isinstance(value, list | tuple):
            return list(value or ())
        self.refuse(field, value, "want a list")
        return []

    def names(self, field: str) -> list[str]:
        """Take a list of names; a single name stands for a list of one."""
        value = self.take(field)
        values = [value] if isinstance(value, str) else value
        if value is None:
            return []
        if isinstance(values, list | tuple) and all(isinstance(item, str) and item for item in values):
            return list(values)
        self.refuse(field, value, "want a list of names")
        return []

    def finish(self) -> None:
        """Refuse whatever was not taken: nothing is dropped in silence."""
        for field, value in self._left.items():
            known = ", ".join(sorted(set(self._known))) or "none"
            self.refuse(
                str(field), value, f"not possible for {self.entry.kind}; possible are namespace, {known}"
            )


def scalar(value: object) -> str | None:
    """Give a YAML scalar as text, None for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    return None


def inner(value: object, key: str) -> object:
    """Give a member of a mapping, None of anything else."""
    return value.get(key) if isinstance(value, Mapping) else None


def listed(value: object) -> list[Mapping[str, Any]]:
    """Give the mappings in a list, none of anything else."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
