"""What an agent's words state: fixed phrases, taken sentence by sentence, told apart by what they deny.

A statement is looked for as groups of phrases, each group a list of alternatives, that stand together in one
sentence. A phrase that ends with `*` also stands for longer words. Letter case, quotation marks and the way
an arrow is drawn do not matter. No pattern comes from the agent, so that the cost grows with its text alone.

Spec: 01-core §3.5.4, 05-reporting §1.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Groups = tuple[tuple[str, ...], ...]
"""Groups of phrases: of each group at least one, all in one sentence."""

Span = tuple[int, int]

LONGEST_SENTENCE: Final = 2_000
"""Characters of a sentence."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|[;\n]+")
_CLAUSE: Final = re.compile(
    r"[,:()\u2014\u2013]|\s-\s"
    r"|\b(?:but|although|though|while|whereas|because|since|so|and|which|if|unless|until|when|then)\b"
)
_CONTRAST: Final = re.compile(r"[\u2014\u2013]|\b(?:but|although|though|while|whereas)\b")
_NEGATION: Final = re.compile(r"\b(?:not|no|none|nor|neither|never|cannot|without|hardly)\b|n't\b")
_ACQUITTAL: Final = re.compile(
    r"\b(?:ruled? out|rules out|red herring|coinciden\w+|symptoms?|misleading|innocent|unrelated|unlikely"
    r"|healthy|normal|fine|exclud\w+|rather than|instead of|dismiss\w*|distract\w*|noise|ignor\w+"
    r"|filter\w+)\b"
)
_MARKS: Final = re.compile(r"[`*\"\u201c\u201d]|(?<![a-z0-9])['\u2018]|['\u2018](?![a-z0-9])")
_JOINING: Final = re.compile(
    r"\b(?:the|an?|is|are|was|were|has|have|had|of|in|to|at|on|by|and|that|it|its|for|from|with|not|no)\b"
)
_MANY_ITEMS: Final = 8
_SHORT_ITEM: Final = 4
_MANY_WORDS: Final = 15
_ITEM: Final = re.compile(r"\s*(?:[-*•]|\(?\d{1,3}[.):]|step\s+\d{1,3}\b)\s*\S", re.IGNORECASE)
_ARROW: Final = re.compile(r"\s*(?:->|=>|→|⇒)\s*")


def mentions(text: str, groups: Groups) -> bool:
    """Return whether one sentence holds a phrase of every group, whatever it says about them."""
    return any(_spans(sentence, groups) is not None for sentence in sentences(text))


def claims(text: str, groups: Groups) -> bool:
    """Return whether one sentence holds a phrase of every group, each in a clause that negates nothing."""
    return any(_is_claimed(one, groups) for one in sentences(text) if not _is_bare_list(one))


def denies(text: str, groups: Groups) -> bool:
    """Return whether one sentence holds a phrase of every group and clears or negates the first of them."""
    return any(_is_denied(sentence, groups) for sentence in sentences(text))


def blames(text: str, groups: Groups) -> bool:
    """Return whether one clause holds a phrase of every group and neither negates nor clears any of them."""
    for sentence in sentences(text):
        for clause in _CLAUSE.split(sentence):
            spans = _spans(clause, groups)
            if spans is not None and not _spoils(_masked(clause, spans)):
                return True
    return False


def items(text: str) -> int:
    """Return how many lines of a text are items of a list, numbered or marked."""
    return sum(bool(_ITEM.match(line)) for line in text.splitlines())


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, lower case, quotation marks left out, arrows written as `to`.

    Of what runs on without an end only the beginning counts, so that the work on one sentence has a bound.
    """
    plain = _ARROW.sub(" to ", _MARKS.sub("", text.casefold().replace("\u2019", "'")))
    return tuple(part[:LONGEST_SENTENCE] for part in _SENTENCE.split(plain) if part.strip())


def _is_bare_list(sentence: str) -> bool:
    """Whether a sentence strings words together and states nothing: many short items, or no joining word."""
    words = sentence.split()
    items_of = sentence.split(",")
    if len(items_of) >= _MANY_ITEMS and len(words) < _SHORT_ITEM * len(items_of):
        return True
    return len(words) >= _MANY_WORDS and len(_JOINING.findall(sentence)) * 20 < len(words)


def _is_claimed(sentence: str, groups: Groups) -> bool:
    spans = _spans(sentence, groups)
    if spans is None:
        return False
    masked = _masked(sentence, spans)
    clean = [
        place for place in _parts(sentence, _CLAUSE) if not _NEGATION.search(masked[place[0] : place[1]])
    ]
    return all(any(_lies_in(span, place) for span in group for place in clean) for group in spans)


def _is_denied(sentence: str, groups: Groups) -> bool:
    spans = _spans(sentence, groups)
    if spans is None:
        return False
    masked = _masked(sentence, spans)
    return any(
        _spoils(masked[place[0] : place[1]])
        for place in _parts(sentence, _CONTRAST)
        if any(_lies_in(span, place) for span in spans[0])
    )


def _spoils(text: str) -> bool:
    return bool(_NEGATION.search(text) or _ACQUITTAL.search(text))


def _lies_in(span: Span, place: Span) -> bool:
    return place[0] <= span[0] < place[1]


def _spans(sentence: str, groups: Groups) -> list[list[Span]] | None:
    """Return where the phrases of each group stand, None where a group has none.

    What one group took is hidden from those after it, so that one word is not two pieces of evidence.
    """
    found: list[list[Span]] = []
    rest = sentence
    for group in groups:
        spans = [match.span() for match in _pattern(group).finditer(rest)]
        if not spans:
            return None
        found.append(spans)
        rest = _masked(rest, [spans])
    return found


def _masked(text: str, groups: Sequence[Sequence[Span]]) -> str:
    characters = list(text)
    for group in groups:
        for start, end in group:
            characters[start:end] = "#" * (end - start)
    return "".join(characters)


def _parts(sentence: str, divider: re.Pattern[str]) -> Iterator[Span]:
    start = 0
    for match in divider.finditer(sentence):
        yield start, match.start()
        start = match.start()
    yield start, len(sentence)


@lru_cache(maxsize=1024)
def _pattern(group: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a group, longest phrase first; a number does not end within a longer one."""
    ordered = sorted((" ".join(phrase.casefold().split()) for phrase in group), key=len, reverse=True)
    return re.compile("|".join(map(_phrase, ordered)))


def _phrase(phrase: str) -> str:
    stem, star, _ = phrase.partition("*")
    start = "" if phrase.startswith("n't") else "(?<![a-z0-9])"
    end = "[a-z0-9]*" if star else r"(?![a-z0-9]|\.[0-9])"
    return f"{start}{re.escape(stem)}{end}"
