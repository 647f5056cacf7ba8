"""What is wrong with a document, each problem with the JSON pointer of its place and what is wanted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import jsonschema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from jsonschema.exceptions import ValidationError

    from oasis_operator.harness.schema_parts import Schema

_SHOWN: Final = 60


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        pointer: JSON pointer (RFC 6901) of the place, empty for the document itself.
        code: What kind of problem it is, from a small fixed set.
        message: What was seen and what is wanted.
    """

    pointer: str
    code: str
    message: str

    def __str__(self) -> str:
        """Give the line that people read."""
        return f"{self.pointer or '/'}: {self.message}"


def point(*steps: str | int) -> str:
    """Return the JSON pointer of a path."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def show(value: object) -> str:
    """Give a value as JSON, at most 60 characters; of lists and objects only what they are."""
    match value:
        case dict():
            return f"an object of {len(value)} members"
        case list():
            return f"a list of {len(value)}"
        case _:
            seen = json.dumps(value, ensure_ascii=True, default=str)
            return seen if len(seen) <= _SHOWN else seen[: _SHOWN - 1] + "…"


def check_schema(schema: Callable[[], Schema], document: object) -> tuple[Problem, ...]:
    """Return what a schema finds wrong, sorted by place.

    Args:
        schema: Builds the schema; the validator made of it is kept.
        document: Any JSON value.
    """
    errors = _validator(schema).iter_errors(document)
    return in_order({problem for error in errors for problem in _problems_of(error)})


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sort problems by place, the tenth entry of a list after the second."""
    return tuple(sorted(problems, key=lambda problem: (_steps(problem.pointer), problem)))


def _steps(pointer: str) -> list[tuple[int, int, str]]:
    return [(0, int(step), "") if step.isdecimal() else (1, 0, step) for step in pointer.split("/")]


@cache
def _validator(schema: Callable[[], Schema]) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def _problems_of(error: ValidationError) -> Iterator[Problem]:
    path = tuple(error.absolute_path)
    match error.validator:
        case "required":
            yield from _missing(path, error)
        case "additionalProperties":
            yield from _unknown(path, error)
        case _:
            yield Problem(point(*path), str(error.validator), _explain(error))


def _missing(path: Sequence[str | int], error: ValidationError) -> Iterator[Problem]:
    wanted: Any = error.validator_value
    instance: Any = error.instance
    for name in wanted:
        if name not in instance:
            yield Problem(point(*path), "required", f"the member {name!r} is missing")


def _unknown(path: Sequence[str | int], error: ValidationError) -> Iterator[Problem]:
    schema: Any = error.schema
    instance: Any = error.instance
    for name in instance:
        if name not in schema["properties"]:
            wanted = ", ".join(schema["properties"])
            yield Problem(point(*path, name), "unknown", f"unknown member; remove it, known are {wanted}")


_KINDS: Final = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}


def _explain(error: ValidationError) -> str:
    """Say what was seen and what is wanted."""
    wanted: Any = error.validator_value
    seen = show(error.instance)
    texts = {
        "type": f"{seen}: want {_KINDS.get(str(wanted), wanted)}",
        "enum": f"{seen}: want one of {', '.join(_words(wanted))}",
        "const": f"{seen}: want {show(wanted)}",
        "minLength": "an empty text: say something",
        "minItems": f"{seen}: want at least {wanted}",
        "maxItems": f"{seen}: want at most {wanted}",
        "minimum": f"{seen}: want at least {wanted}",
        "pattern": f"{seen}: want {_description(error) or f'a text that matches {wanted}'}",
    }
    return texts.get(str(error.validator), error.message)


def _words(wanted: Any) -> list[str]:
    return [str(word) for word in wanted] if isinstance(wanted, list) else []


def _description(error: ValidationError) -> str:
    return str(error.schema.get("description", "")) if isinstance(error.schema, dict) else ""
