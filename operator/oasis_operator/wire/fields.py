"""Typed reading of JSON objects whose faults name the member by its path, and the way back to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, TypeVar

from oasis_operator.errors import InvalidInput

_SHOWN = 80

_E = TypeVar("_E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Body:
    """A dataclass whose members are those of a JSON object."""

    def to_json(self) -> dict[str, Any]:
        """Give the members by name, nested bodies likewise; tuples and enums are left to the JSON encoder."""
        return asdict(self)


def shown(value: object) -> str:
    """Give a value as an error message may show it: its ``repr``, at most 80 characters."""
    seen = repr(value)
    return seen if len(seen) <= _SHOWN else seen[: _SHOWN - 1] + "…"


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object and the path that leads to it.

    Members that are absent or null take the default; without a default they are a fault.

    Attributes:
        body: The object's members; unknown ones are ignored.
        path: Where the object stands in the whole body, ``""`` for the body itself.
    """

    body: Mapping[str, Any]
    path: str = ""

    @classmethod
    def of(cls, value: object, path: str = "") -> Fields:
        """Wrap a parsed JSON value.

        Raises:
            InvalidInput: The value is not an object.
        """
        if not isinstance(value, Mapping):
            raise fault(path, value, "want an object")
        return cls(value, path)

    def at(self, name: str) -> str:
        """Give the path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def has(self, name: str) -> bool:
        """Tell whether the member is present and not null."""
        return self.body.get(name) is not None

    def text(self, name: str, default: str | None = None, *, longest: int = 1 << 20) -> str:
        """Read a string of at most ``longest`` characters.

        Raises:
            InvalidInput: Absent without a default, of another type, or too long.
        """
        value = self._value(name, default)
        if not isinstance(value, str):
            raise fault(self.at(name), value, "want a string")
        if len(value) > longest:
            raise fault(self.at(name), value, f"want at most {longest} characters, not {len(value)}")
        return value

    def number(self, name: str, default: float | None = None, *, low: float, high: float) -> float:
        """Read a number between ``low`` and ``high``, both included.

        Raises:
            InvalidInput: Absent without a default, of another type, or out of range.
        """
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise fault(self.at(name), value, "want a number")
        if not low <= value <= high:
            raise fault(self.at(name), value, f"want {low:g} to {high:g}")
        return value

    def integer(self, name: str, default: int | None = None, *, low: int, high: int) -> int:
        """Read a whole number between ``low`` and ``high``, both included.

        Raises:
            InvalidInput: Absent without a default, of another type, or out of range.
        """
        value = self.number(name, default, low=low, high=high)
        if not isinstance(value, int):
            raise fault(self.at(name), value, "want a whole number")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        """Read a boolean.

        Raises:
            InvalidInput: Absent without a default, or of another type.
        """
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise fault(self.at(name), value, "want true or false")
        return value

    def choice(self, kind: type[_E], name: str, default: _E | None = None) -> _E:
        """Read a member of an enumeration.

        Raises:
            InvalidInput: Absent without a default, or not one of its values.
        """
        value = self.text(name, default)
        if value not in {*kind}:
            raise fault(self.at(name), value, f"want one of {', '.join(kind)}")
        return kind(value)

    def mapping(self, name: str) -> dict[str, Any]:
        """Read an object as it stands; absent is empty.

        Raises:
            InvalidInput: Present, but not an object.
        """
        return dict(self.child(name).body) if self.has(name) else {}

    def child(self, name: str) -> Fields:
        """Read a required object.

        Raises:
            InvalidInput: Absent, or not an object.
        """
        return Fields.of(self._value(name, None), self.at(name))

    def items(self, name: str, *, most: int = 10_000) -> tuple[Fields, ...]:
        """Read a list of objects in its order; absent is empty.

        Raises:
            InvalidInput: Not a list, too long, or an entry is not an object.
        """
        values = self._list(name, most)
        return tuple(Fields.of(value, f"{self.at(name)}[{index}]") for index, value in enumerate(values))

    def texts(self, name: str, *, most: int = 10_000) -> tuple[str, ...]:
        """Read a list of strings in its order; absent is empty.

        Raises:
            InvalidInput: Not a list, too long, or an entry is not a string.
        """
        values = self._list(name, most)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise fault(f"{self.at(name)}[{index}]", value, "want a string")
        return tuple(values)

    def _list(self, name: str, most: int) -> list[Any]:
        value = self._value(name, [])
        if not isinstance(value, list):
            raise fault(self.at(name), value, "want a list")
        if len(value) > most:
            raise fault(self.at(name), f"{len(value)} entries", f"want at most {most}")
        return value

    def _value(self, name: str, default: object) -> Any:
        value = self.body.get(name)
        if value is not None:
            return value
        if default is None:
            raise InvalidInput(f"{self.at(name)}: required", reason="InvalidRequest")
        return default


def fault(path: str, value: object, want: str) -> InvalidInput:
    """Build the error for a member: its path, the value seen and what is wanted instead."""
    return InvalidInput(f"{path or 'body'}: {shown(value)}: {want}", reason="InvalidRequest")
