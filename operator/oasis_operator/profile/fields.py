"""Typed reading of one YAML mapping: members asked for by name, every fault filed, the rest checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from oasis_operator.profile.collector import Nearest, nearest
from oasis_operator.profile.yaml_nodes import Kind, Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.model.scenario import JsonMap
    from oasis_operator.profile.collector import Reporter

_Word = TypeVar("_Word", bound=StrEnum)

_NOUNS = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "nothing",
}


def describe(node: Node) -> str:
    """Return what a node is in words, for messages."""
    if node.kind is Kind.SCALAR:
        return _NOUNS[type(node.value)]
    return f"a {node.kind.value}"


def suggest(name: str, known: Iterable[str]) -> Nearest:
    """Return a remedy that names the known word nearest to `name`, or all of a short list."""
    return Nearest(name, known)


@dataclass(slots=True)
class Fields:
    """A mapping that is being read.

    Attributes:
        node: The mapping.
        reporter: Where faults go.
        family: Prefix of the fault codes, such as `SCN`.
        path: Path of this mapping within its document.
        names: Members asked for so far.
    """

    node: Node
    reporter: Reporter
    family: str
    path: str = ""
    names: set[str] = field(default_factory=set)

    def where(self, name: str) -> str:
        """Return the path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def at(self, name: str) -> tuple[int, int]:
        """Return where a member's value stands, or where the mapping does."""
        found = self.node.get(name)
        return found.at if found is not None else self.node.at

    def find(self, name: str, *, required: bool = False) -> Node | None:
        """Return a member's node; an absent or null member is None, and a fault where it is required."""
        self.names.add(name)
        found = self.node.get(name)
        if found is not None and not (found.kind is Kind.SCALAR and found.value is None):
            return found
        if required:
            at = found.at if found is not None else self.node.at
            self.report("001", f"`{name}` is missing.", at=at, path=self.where(name))
        return None

    def report(self, number: str, message: str, **details: Any) -> None:
        """File a fault of this family."""
        self.reporter.report(self.family + number, message, **details)

    def wrong(self, name: str, node: Node, expected: str) -> None:
        """File that a member has the wrong type."""
        remedy = f"Write {expected}."
        if node.kind is Kind.SCALAR and expected == "a string":
            remedy = f'Quote it: "{node.value}".'
        value = node.value if node.kind is Kind.SCALAR else ""
        message = f"`{name}` should be {expected} and is {describe(node)}."
        self.report("002", message, at=node.at, value=value, remedy=remedy, path=self.where(name))

    def text(self, name: str, *, required: bool = False) -> str | None:
        """Return a string member without surrounding white space; empty counts as missing."""
        node = self.find(name, required=required)
        if node is None:
            return None
        if not isinstance(node.value, str):
            self.wrong(name, node, "a string")
            return None
        text: str = node.value.strip()
        if not text and required:
            self.report("001", f"`{name}` is empty.", at=node.at, path=self.where(name))
        return text or None

    def texts(self, name: str, *, required: bool = False) -> tuple[str, ...]:
        """Return a member that is a list of strings."""
        node = self.find(name, required=required)
        if node is None:
            return ()
        if node.items is None:
            self.wrong(name, node, "a list of strings")
            return ()
        for index, item in enumerate(node.items):
            if not isinstance(item.value, str):
                self.wrong(f"{name}[{index}]", item, "a string")
        return tuple(item.value.strip() for item in node.items if isinstance(item.value, str))

    def number(self, name: str) -> float | None:
        """Return a member that is a number."""
        node = self.find(name)
        if node is None:
            return None
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.wrong(name, node, "a number")
            return None
        return float(node.value)

    def integer(self, name: str, *, required: bool = False) -> int | None:
        """Return a member that is a whole number."""
        node = self.find(name, required=required)
        if node is None:
            return None
        if isinstance(node.value, bool) or not isinstance(node.value, int):
            self.wrong(name, node, "a whole number")
            return None
        return node.value

    def boolean(self, name: str, *, required: bool = False) -> bool | None:
        """Return a member that is true or false."""
        node = self.find(name, required=required)
        if node is None:
            return None
        if not isinstance(node.value, bool):
            self.wrong(name, node, "true or false")
            return None
        return node.value

    def choice(self, name: str, kind: type[_Word], *, required: bool = False) -> _Word | None:
        """Return a member that is a word of an enumeration."""
        text = self.text(name, required=required)
        if text is None:
            return None
        if text not in {str(item) for item in kind}:
            remedy = suggest(text, [str(item) for item in kind])
            message = f"`{name}` has an unknown value."
            self.report("004", message, at=self.at(name), value=text, remedy=remedy, path=self.where(name))
            return None
        return kind(text)

    def mapping(self, name: str, *, required: bool = False) -> Fields | None:
        """Return a member that is a mapping, ready to be read."""
        node = self.find(name, required=required)
        if node is None:
            return None
        if node.kind is not Kind.MAPPING:
            self.wrong(name, node, "a mapping")
            return None
        return Fields(node, self.reporter, self.family, self.where(name))

    def mappings(self, name: str, *, required: bool = False) -> tuple[Fields, ...]:
        """Return a member that is a list of mappings, each ready to be read."""
        node = self.find(name, required=required)
        if node is None:
            return ()
        if node.items is None:
            self.wrong(name, node, "a list of mappings")
            return ()
        found = []
        for index, item in enumerate(node.items):
            if item.kind is Kind.MAPPING:
                found.append(Fields(item, self.reporter, self.family, f"{self.where(name)}[{index}]"))
            else:
                self.wrong(f"{name}[{index}]", item, "a mapping")
        return tuple(found)

    def json(self, name: str, *, required: bool = False) -> JsonMap | None:
        """Return a free-form mapping as plain JSON."""
        found = self.mapping(name, required=required)
        return None if found is None else found.node.plain()

    def rest(self, *, free: bool = False) -> JsonMap:
        """Return the members never asked for, and file each as unknown.

        Args:
            free: Whether further members belong here; then only those that look misspelt are filed.
        """
        extra: dict[str, Any] = {}
        for key, value in self.node.entries or ():
            if key.value in self.names:
                continue
            extra[key.value] = value.plain()
            if self.reporter.collector.is_full:
                continue
            near = nearest(key.value, sorted(self.names))
            if near or not free:
                remedy = f"Did you mean {near}?" if near else "Remove it, or update this tool."
                message = f"`{key.value}` is unknown here."
                path = self.where(key.value)
                self.report("003", message, at=key.at, value=key.value, remedy=remedy, path=path)
        return extra
