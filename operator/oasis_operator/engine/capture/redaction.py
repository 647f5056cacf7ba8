"""Registered values taken out of an evidence document, and what canonical JSON cannot hold mended.

A value is replaced wherever text or a body can hold it. In names of objects and users it stays where it is a
word of the environment's own or too short to be anything else, since a value may be as short as `admin` and
names tie the document together; a longer one that stands in no name of the environment was brought there by
the agent, and goes. Every occurrence becomes the same mark, so that equal texts stay equal.

Spec: 08-provider-conformance §3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, unquote_plus

from oasis_operator.engine.capture import encodings
from oasis_operator.engine.capture.words import SHORTEST_NUMBER, TEXTUAL
from oasis_operator.model.jsontext import LARGEST_INTEGER, mended

if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis_operator.engine.capture.literals import Literal
    from oasis_operator.engine.capture.words import Words

_NAMES_TEXT: Final = (
    "name namespace generateName kind apiVersion resource subresource apiGroup verb username user groups "
    "auditID"
)
_NAMES: Final = frozenset(_NAMES_TEXT.split())
"""Members that hold names and identities."""

_FIXED: Final = frozenset({"uid", "resourceVersion", "seq", "value_ref"})
"""Members that nobody but the API server and this operator writes."""

_BODIES: Final = frozenset({"requestObject", "responseObject", "before", "after", "arguments"})
"""Members below which names of members are whoever's words who wrote them."""

_WHOSE: Final = frozenset({"user", "impersonatedUser"})
_PRINCIPAL: Final = "agent_principal"
_ADDRESS: Final = "requestURI"
_DEEPEST: Final = 100
_TOO_DEEP: Final = "[nested too deep]"
_UNESCAPED: Final = "/:[],!()~*'"


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is taken out.

    Attributes:
        literals: Forms of all values, longer ones first.
        of_names: Those of them that are taken out of names too.
        members: Names of members that the API gave.
        in_body: Whether the place is within something that was written for the environment.
    """

    literals: Sequence[Literal]
    of_names: Sequence[Literal]
    members: frozenset[str]
    in_body: bool = False

    def within(self, key: str) -> Redaction:
        """Return what is taken out below a member."""
        if key in _BODIES:
            return replace(self, in_body=True)
        if key in _WHOSE and not self.in_body:
            return replace(self, literals=self.of_names)
        return self


def redaction_of(literals: Sequence[Literal], words: Words) -> Redaction:
    """Return what is taken out of a document from an environment."""
    names = "\0".join(words.had)
    folded = encodings.squeezed(names)
    telling = [
        one
        for one in literals
        if len(one.text) >= encodings.SHORTEST_TELLING and one.text not in (folded if one.loose else names)
    ]
    return Redaction(literals, telling, words.members)


def redacted(value: Any, what: Redaction, key: str = "", depth: int = 0) -> Any:
    """Return a JSON value with every form of every registered value replaced.

    What canonical JSON cannot hold is repaired on the way: numbers out of its range become text, broken
    text is mended, and what nests deeper than any API object becomes a mark.
    """
    if isinstance(value, str):
        return _text(mended(value), what, key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, what, key)
    if depth > _DEEPEST:
        return _TOO_DEEP
    if isinstance(value, Mapping):
        return dict(_members(value, what, key, depth + 1))
    if isinstance(value, list | tuple):
        return [redacted(item, what, key, depth + 1) for item in value]
    return value


def _number(value: float, what: Redaction, key: str) -> Any:
    text = str(value)
    is_value = len(text) >= SHORTEST_NUMBER and any(one.text == text for one in what.literals)
    if abs(value) <= LARGEST_INTEGER and not (what.in_body and is_value):
        return value
    return _text(text, what, key)


def _text(text: str, what: Redaction, key: str) -> str:
    if key in _FIXED:
        return text
    if key == _ADDRESS:
        return _address(text, what)
    return _without(text, what.of_names if key in _NAMES else what.literals)


def _members(value: Mapping[Any, Any], what: Redaction, key: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object; names of members are text as well where the API does not give them."""
    inner = Redaction((), (), what.members) if key == _PRINCIPAL and depth == 1 else what.within(key)
    for name, item in value.items():
        plain = mended(str(name))
        yield _member(plain, inner, key), redacted(item, inner, plain, depth)


def _member(name: str, what: Redaction, key: str) -> str:
    if not what.literals:
        return name
    if key in TEXTUAL:
        return _without(name, what.literals)
    return _without(name, what.of_names) if what.in_body and name not in what.members else name


def _address(address: str, what: Redaction) -> str:
    """Return a path with its query; both lose what they hold, as sent or escaped."""
    path, mark, query = address.partition("?")
    names = (_escaped(one, what.of_names, unquote) for one in _without(path, what.of_names).split("/"))
    pairs = (_escaped(one, what.literals, unquote_plus) for one in _without(query, what.literals).split("&"))
    return "/".join(names) + mark + "&".join(pairs)


def _escaped(part: str, literals: Sequence[Literal], plain_of: Callable[[str], str]) -> str:
    """Return a part of an address that holds no value even when its escapes are undone."""
    plain = plain_of(part)
    clean = _without(plain, literals)
    if clean == plain:
        return part
    name, mark, rest = clean.partition("=")
    return quote(name, safe=_UNESCAPED) + mark + quote(rest, safe=_UNESCAPED)


def _without(text: str, literals: Sequence[Literal]) -> str:
    loose = []
    for literal in literals:
        if literal.loose:
            loose.append(literal)
        elif literal.text in text:
            text = text.replace(literal.text, literal.mark)
    squeezed = encodings.squeezed(text) if loose else ""
    for literal in loose:
        if literal.text in squeezed:
            text = encodings.loosely(literal.text).sub(literal.mark.replace("\\", r"\\"), text)
    return text
