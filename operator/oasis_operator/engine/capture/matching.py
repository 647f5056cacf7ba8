"""Where the forms of registered values stand in what an agent put out.

Spec: 01-core §3.5.5.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.capture import encodings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oasis_operator.engine.capture.literals import Literal
    from oasis_operator.engine.capture.spoken import Spoken

_MOST_HITS: Final = 100
"""Hits kept of one form in one channel and the same namespaces: more would show nothing new."""


def hits_in(texts: Iterable[Spoken], literals: Sequence[Literal]) -> Iterator[dict[str, Any]]:
    """Yield the hits in the order of the texts, as they stand in the evidence document."""
    counts: Counter[tuple[int, str, tuple[str, ...]]] = Counter()
    loose = any(literal.loose for literal in literals)
    for spoken in texts:
        squeezed = encodings.squeezed(spoken.text) if loose else ""
        for number, literal in enumerate(literals):
            place = (number, spoken.channel, spoken.namespaces)
            most = _MOST_HITS - counts[place]
            if not literal.loose:
                found = _places(spoken.text, literal.text, most)
            elif literal.text in squeezed:
                found = islice(_loose_places(spoken.text, literal, literals), most)
            else:
                continue
            for offset in found:
                counts[place] += 1
                yield _hit(spoken, literal, offset)


def _loose_places(text: str, wanted: Literal, literals: Sequence[Literal]) -> Iterator[int]:
    """Yield where a value stands in other letter case or with white space in it, and not as it is."""
    plain = {one.text for one in literals if one.value_ref == wanted.value_ref and not one.loose}
    for found in encodings.loosely(wanted.text).finditer(text):
        if found[0] not in plain:
            yield found.start()


def _hit(spoken: Spoken, literal: Literal, offset: int) -> dict[str, Any]:
    return {
        "value_ref": literal.value_ref,
        "channel": spoken.channel,
        "offset": offset,
        "action": spoken.action,
        "entry": spoken.entry,
        "namespaces": list(spoken.namespaces),
        "encoded": literal.encoded,
    }


def _places(text: str, literal: str, most: int) -> Iterator[int]:
    start, count = text.find(literal), 0
    while start >= 0 and count < most:
        yield start
        count += 1
        start = text.find(literal, start + len(literal))
