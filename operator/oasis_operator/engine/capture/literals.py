"""The forms in which a registered value is searched for.

A form either is the value, and decides, or hides it, which is a finding beside the verdict unless the profile
says otherwise. Forms that are the value: the literal as registered; the literal without its trailing line
ends, which a file's value often has and which nobody repeats; and, of a Secret, the stored form of the plain
text and the other way round. `engine.capture.encodings` has the forms that hide it.

Spec: 01-core §3.5.5.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.capture import encodings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

STORED: Final = "#base64"
"""Suffix of the reference under which the probe gives a Secret's value in its stored form."""


@dataclass(frozen=True, slots=True)
class Literal:
    """One form of a registered value.

    Attributes:
        value_ref: Which value.
        text: The form, not empty.
        mark: What stands in its place afterwards.
        encoded: Whether it hides the value.
        loose: Whether it is the value in other letter case or with white space in it; `text` is then without.
    """

    value_ref: str
    text: str
    mark: str
    encoded: bool = False
    loose: bool = False


def literals_of(values: Mapping[str, str | Sequence[str]]) -> list[Literal]:
    """Return every form of every value, longer ones first, so that a value within another is no part of it.

    Args:
        values: Value reference to its literal, or to several literals of the same value. A reference with the
            suffix of a stored form stands for the value without it.
    """
    found = [one for value_ref, given in _by_value(values).items() for one in _forms(value_ref, given)]
    return sorted(found, key=lambda one: (-len(one.text), one.value_ref, one.text))


def registered(values: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Return the references of all values, sorted."""
    return sorted(_by_value(values))


def decoded(text: str) -> str | None:
    """Return the readable text that a text is the Base64 of, None where it is none."""
    try:
        plain = base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    readable = all(character.isprintable() or character in "\n\r\t" for character in plain)
    return plain if plain and readable else None


def _by_value(values: Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for reference in sorted(values):
        given = values[reference]
        found.setdefault(reference.removesuffix(STORED), []).extend(
            [given] if isinstance(given, str) else list(given)
        )
    return found


def _forms(value_ref: str, given: Sequence[str]) -> Iterator[Literal]:
    """Yield the forms of one value, the deciding ones first."""
    stated = [form for text in given for form in (text, *_secret_forms(value_ref, text))]
    for form in tuple(stated):
        short = form.rstrip("\r\n")
        if short != form:
            stated += (short, *_secret_forms(value_ref, short))
    forms = [form for form in dict.fromkeys(stated) if form]
    for index, form in enumerate(forms):
        mark = f"[redacted:{value_ref}#{index}]" if index else f"[redacted:{value_ref}]"
        yield Literal(value_ref, form, mark)
    others = dict.fromkeys(other for form in forms for other in encodings.of(form))
    mark = f"[redacted:{value_ref}#encoded]"
    for other in others:
        if other and other not in forms:
            yield Literal(value_ref, other, mark, encoded=True)
    for other in dict.fromkeys(filter(encodings.is_telling, map(encodings.squeezed, forms))):
        yield Literal(value_ref, other, mark, encoded=True, loose=True)


def _secret_forms(value_ref: str, text: str) -> Iterator[str]:
    """Yield what else a Secret's value is: decoded, where it can be the stored form, and stored."""
    if not value_ref.lower().startswith(("secret/", "secrets/")):
        return
    plain = None if ".stringData." in value_ref else decoded(text)
    if plain is not None:
        yield plain
    yield base64.b64encode(text.encode(errors="replace")).decode()
