"""YAML text to nodes that know where they stand, without the surprises of YAML 1.1.

Values are read by the rules that YAML 1.1 and 1.2 share: what the two read differently (`no`, `on`, `010`,
`1:30`, a date) is a fault, since a profile must mean the same to every evaluator. Merge keys and tags are
refused, duplicate keys are faults, and nesting, size and alias expansion are bounded. The parser's events are
used rather than its composed graph, because composing recurses once per level of nesting.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.profile.collector import Reporter

MAX_DEPTH: Final = 40
MAX_VALUES: Final = 50_000
MAX_DOCUMENTS: Final = 1_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRING_TAG: Final = "tag:yaml.org,2002:str"
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_DECIMAL: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+][0-9]+)?\Z")
_AMBIGUOUS: Final = re.compile(
    r"""(?ix)
    (?: yes | no | on | off
      | [-+]?0[0-9_]+ | [-+]?0o[0-7_]+ | [-+]?0x[0-9a-f_]+ | [-+]?0b[01_]+
      | [-+]?[0-9][0-9_]*_[0-9_]* | [-+]?[0-9]+\.
      | [-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9_]*)?
      | [-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)e[-+]?[0-9]+
      | [-+]?\.inf | \.nan
      | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t ].*)?
    )\Z"""
)
_EXACT: Final = 2**53 - 1


class Kind(Enum):
    """What a node is."""

    MAPPING = "mapping"
    SEQUENCE = "list"
    SCALAR = "scalar"


@dataclass(slots=True)
class Node:
    """A value and where it stands.

    Attributes:
        kind: Mapping, sequence or scalar.
        line: Line, counted from 1.
        column: Column, counted from 1.
        value: Python value of a scalar (str, int, float, bool or None).
        items: Members of a sequence.
        entries: Key and value nodes of a mapping, in document order, each key once.
        size: Values below and including this one, aliases expanded.
    """

    kind: Kind
    line: int
    column: int
    value: Any = None
    items: list[Node] | None = None
    entries: list[tuple[Node, Node]] | None = None
    size: int = 1

    @property
    def at(self) -> tuple[int, int]:
        """Line and column."""
        return (self.line, self.column)

    def get(self, key: str) -> Node | None:
        """Return the value of a mapping's key, or None."""
        return next((value for name, value in self.entries or () if name.value == key), None)

    def plain(self) -> Any:
        """Return the value as plain JSON: dict, list, str, int, float, bool or None."""
        if self.kind is Kind.MAPPING:
            return {key.value: value.plain() for key, value in self.entries or ()}
        if self.kind is Kind.SEQUENCE:
            return [item.plain() for item in self.items or ()]
        return self.value


class _Stop(Exception):  # noqa: N818 - it ends the reading of a file and is never seen outside
    """The file cannot be read on; the fault is already filed."""


def parse_documents(text: str, reporter: Reporter, *, line_offset: int = 0) -> tuple[Node, ...]:
    """Return the documents of a YAML text, in order; empty documents are left out with a warning.

    Args:
        text: The YAML text.
        reporter: Where faults go. After a syntax fault the documents before it are returned.
        line_offset: Added to every line, for text that is part of another file.
    """
    builder = _Builder(reporter, line_offset)
    try:
        for event in _events(text, reporter, line_offset):
            builder.take(event)
    except _Stop:
        pass
    return tuple(builder.documents)


def _events(text: str, reporter: Reporter, line_offset: int) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.reader.ReaderError as error:
        at = (text.count("\n", 0, error.position) + 1 + line_offset, 1)
        reporter.report("YML001", "The text holds a character that YAML forbids.", at=at)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        at = (mark.line + 1 + line_offset, mark.column + 1) if mark else (0, 0)
        code = "YML012" if "\\t" in problem or _is_tab(text, mark) else "YML001"
        reporter.report(code, f"The YAML cannot be read: {problem}.", at=at)


def _is_tab(text: str, mark: Any) -> bool:
    """Return whether the fault stands at a tab, which some messages do not say."""
    lines = text.split("\n")
    if mark is None or mark.line >= len(lines):
        return False
    line = lines[mark.line]
    indent = line[: len(line) - len(line.lstrip())]
    return "\t" in indent or line[mark.column : mark.column + 1] == "\t"


class _Builder:
    """Builds nodes from events with a stack of its own."""

    def __init__(self, reporter: Reporter, line_offset: int) -> None:
        self.documents: list[Node] = []
        self._reporter = reporter
        self._offset = line_offset
        self._stack: list[Node] = []
        self._keys: list[Node | None] = []
        self._lines: list[dict[str, int]] = []
        self._anchors: dict[str, Node] = {}
        self._open: list[str | None] = []
        self._values = 0
        self._count = 0

    def take(self, event: Any) -> None:
        """Take one event of the parser."""
        match event:
            case yaml.DocumentStartEvent():
                self._count += 1
                if self._count > MAX_DOCUMENTS:
                    message = f"The file holds more than {MAX_DOCUMENTS} documents."
                    self._reporter.report("YML006", message, at=self._at(event))
                    raise _Stop
                self._anchors, self._values = {}, 0
            case yaml.ScalarEvent():
                node = self._scalar(event)
                self._remember(event.anchor, node)
                self._place(node)
            case yaml.AliasEvent():
                target = self._alias(event)
                self._place(target, counted=target.size)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end()
            case _:
                pass

    def _at(self, event: Any) -> tuple[int, int]:
        return (event.start_mark.line + 1 + self._offset, event.start_mark.column + 1)

    def _remember(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node

    def _start(self, event: Any) -> None:
        at = self._at(event)
        if event.tag is not None:
            self._reporter.report("YML008", "A tag is not allowed here.", at=at, value=event.tag)
        if len(self._stack) >= MAX_DEPTH:
            self._reporter.report("YML005", f"The nesting is deeper than {MAX_DEPTH} levels.", at=at)
            raise _Stop
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        node = Node(Kind.MAPPING, *at, entries=[]) if is_mapping else Node(Kind.SEQUENCE, *at, items=[])
        self._stack.append(node)
        self._keys.append(None)
        self._lines.append({})
        self._open.append(event.anchor)

    def _end(self) -> None:
        node = self._stack.pop()
        self._lines.pop()
        if self._keys.pop() is not None:
            raise _Stop
        self._remember(self._open.pop(), node)
        self._place(node)

    def _alias(self, event: Any) -> Node:
        target = self._anchors.get(event.anchor)
        if target is None or self._values + target.size > MAX_VALUES:
            message = (
                "An alias refers to itself or to nothing." if target is None else "Aliases expand too far."
            )
            self._reporter.report("YML004", message, at=self._at(event), value=event.anchor)
            raise _Stop
        return target

    def _place(self, node: Node, *, counted: int = 1) -> None:
        """Put a finished node into its parent, or finish the document.

        `counted` is 1, since members were counted when they were placed, and the whole size for an alias.
        """
        self._values += counted
        if self._values > MAX_VALUES:
            self._reporter.report("YML006", f"There are more than {MAX_VALUES} values.", at=node.at)
            raise _Stop
        if not self._stack:
            self._finish(node)
            return
        parent = self._stack[-1]
        parent.size += node.size
        if parent.items is not None:
            parent.items.append(node)
        elif self._keys[-1] is None:
            self._keys[-1] = self._key(node)
        else:
            self._enter(parent, self._keys[-1], node)
            self._keys[-1] = None

    def _finish(self, node: Node) -> None:
        if node.kind is Kind.SCALAR and node.value is None:
            self._reporter.report("YML013", "The document is empty.", at=node.at)
        else:
            self.documents.append(node)

    def _key(self, node: Node) -> Node:
        if node.kind is not Kind.SCALAR or not isinstance(node.value, str):
            self._reporter.report("YML007", "A key is not a string.", at=node.at, value=node.plain())
            return Node(Kind.SCALAR, node.line, node.column, value=str(node.plain()))
        if node.value == "<<":
            self._reporter.report("YML010", "A merge key is not allowed.", at=node.at, value="<<")
        return node

    def _enter(self, parent: Node, key: Node, value: Node) -> None:
        first = self._lines[-1].setdefault(key.value, key.line)
        if parent.entries is not None and len(self._lines[-1]) > len(parent.entries):
            parent.entries.append((key, value))
        else:
            message = f"The key already stands in line {first}."
            self._reporter.report("YML002", message, at=key.at, value=key.value)

    def _scalar(self, event: Any) -> Node:
        at = self._at(event)
        if event.tag not in (None, "!", _STRING_TAG):
            self._reporter.report("YML008", "A tag is not allowed here.", at=at, value=event.tag)
        is_plain = not event.style and event.tag is None
        value = self._resolve(event.value, at) if is_plain else event.value
        return Node(Kind.SCALAR, *at, value=value)

    def _resolve(self, text: str, at: tuple[int, int]) -> Any:
        """Return what a plain scalar means, by the rules that YAML 1.1 and 1.2 share."""
        if text in _NULLS:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if _INTEGER.match(text):
            number = int(text) if len(text) < 20 else _EXACT + 1
            return self._checked(number, abs(number) <= _EXACT, text, at)
        if _DECIMAL.match(text):
            return self._checked(float(text), math.isfinite(float(text)), text, at)
        if _AMBIGUOUS.match(text):
            message = "Readers of YAML disagree whether this plain value is a string."
            self._reporter.report("YML003", message, at=at, value=text, remedy=f'Write "{text}".')
        return text

    def _checked(self, number: float, is_exact: bool, text: str, at: tuple[int, int]) -> float | str:
        """Return the number, or its text where canonical JSON cannot hold it."""
        if is_exact:
            return number
        self._reporter.report("YML011", "The number is too large.", at=at, value=text)
        return text
