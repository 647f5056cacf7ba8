"""Moments of a run at which a temporal condition takes effect, and whether the audit log shows that one came.

Forms of a moment, numbers as words or digits:

1. `after_first_tool_call`, `after_3_tool_calls`: the agent has made so many calls. A call is a request about
   resources that has ended, whatever its answer. Questions about the API and about one's own rights are
   none: clients ask them by themselves.
2. `after_first_mutation`, `after_2_mutations`: it has changed something so many times: a create, update,
   patch or delete that was carried out and was no trial run.
3. `after_first_query`, `after_2_queries`: it has read so many times: a get, list or watch.
4. `on_second_query`, `on_third_tool_call`: the same with one less, so that this very one meets what is new.
5. `at_30s`, `after_2m`: so long after its prompt was sent.

Only requests under the agent's own user count, and none from before its prompt. Both sides of a run count
with this module: the probe to know when to act, the engine to know whether it should have.

Spec: 02-scenarios §1.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_REQUESTS: Final = 1000
MOST_SECONDS: Final = 3600
WANTED: Final = (
    "want after_first_tool_call, after_first_mutation or after_first_query, or another number of them; "
    f"on_second_query and the like; or at_30s, at most {MOST_SECONDS} s"
)

_ORDINALS: Final = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
_CARDINALS: Final = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_WORDS: Final = {
    **{word: place for place, word in enumerate(_ORDINALS, start=1)},
    **{word: place for place, word in enumerate(_CARDINALS, start=1)},
}
_REQUESTS: Final = re.compile(
    r"(?P<when>after|on)_(?P<number>[a-z]+|\d{1,4})(?:st|nd|rd|th)?_"
    r"(?P<what>tool_calls?|calls?|requests?|mutations?|changes?|writes?|queries|query|reads?)"
)
_TIME: Final = re.compile(r"(?:at|after)_(\d{1,5})(s|m)")
_QUESTIONS: Final = frozenset(
    {
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "selfsubjectreviews",
        "subjectaccessreviews",
        "localsubjectaccessreviews",
        "tokenreviews",
    }
)
_ENDED: Final = frozenset({"ResponseStarted", "ResponseComplete", "Panic"})
_READS: Final = frozenset({"get", "list", "watch"})
_WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_REACHES: Final = frozenset({"exec", "attach", "portforward", "proxy", "token"})
"""Subresources whose creation changes no object."""


class Counted(StrEnum):
    """What a moment is counted in."""

    CALLS = "calls"
    MUTATIONS = "mutations"
    READS = "reads"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a run.

    Attributes:
        counted: In what.
        number: How many, from 0.
    """

    counted: Counted
    number: int

    @property
    def waits_for_agent(self) -> bool:
        """Whether it never comes where the agent does nothing."""
        return self.counted is not Counted.SECONDS and self.number > 0


def parse_timing(text: str | None) -> Moment | None:
    """Return the moment that a `timing` names, or None for one that it does not."""
    written = (text or "").strip().lower().replace("-", "_").replace(" ", "_")
    if match := _TIME.fullmatch(written):
        seconds = int(match[1]) * (60 if match[2] == "m" else 1)
        return Moment(Counted.SECONDS, seconds) if seconds <= MOST_SECONDS else None
    match = _REQUESTS.fullmatch(written)
    if match is None:
        return None
    word = match["number"]
    number = int(word) if word.isdecimal() else _WORDS.get(word, 0)
    if not 0 < number <= MOST_REQUESTS:
        return None
    return Moment(_counted(match["what"]), number - (match["when"] == "on"))


def _counted(what: str) -> Counted:
    if what.startswith(("mutation", "change", "write")):
        return Counted.MUTATIONS
    return Counted.READS if what.startswith(("quer", "read")) else Counted.CALLS


@dataclass(slots=True)
class Tally:
    """What an agent has done so far, counted from audit events in log order; a repeated stage counts once.

    Attributes:
        username: The agent's user.
        since: RFC 3339 time with microseconds from which requests count.
        counts: How many of each.
        last: The newest event that was counted, by what was counted.
    """

    username: str
    since: str
    counts: dict[Counted, int] = field(default_factory=dict)
    last: dict[Counted, Mapping[str, Any]] = field(default_factory=dict)
    _seen: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, event: Mapping[str, Any]) -> tuple[Counted, ...]:
        """Take in an event, and return what it counts as; empty for one that counts as nothing."""
        found = self._kinds(event)
        for kind in found:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.last[kind] = event
        return found

    def has_come(self, moment: Moment) -> bool:
        """Whether a moment that is counted in requests has come."""
        return self.counts.get(moment.counted, 0) >= moment.number

    def _kinds(self, event: Mapping[str, Any]) -> tuple[Counted, ...]:
        target, user = _mapping(event, "objectRef"), _mapping(event, "user")
        if (
            event.get("stage") not in _ENDED
            or user.get("username") != self.username
            or str(event.get("requestReceivedTimestamp", "")) < self.since
            or not target.get("resource")
            or target.get("resource") in _QUESTIONS
        ):
            return ()
        names = ("auditID", "requestReceivedTimestamp", "verb", "requestURI")
        identity = tuple(str(event.get(name, "")) for name in names)
        if identity in self._seen:
            return ()
        self._seen.add(identity)
        found = [Counted.CALLS]
        if event.get("verb") in _READS:
            found.append(Counted.READS)
        elif _is_change(event, target):
            found.append(Counted.MUTATIONS)
        return tuple(found)


def count(events: Iterable[Mapping[str, Any]], username: str, since: str) -> Tally:
    """Count what an agent did in a whole log."""
    tally = Tally(username, since)
    for event in events:
        tally.add(event)
    return tally


def _is_change(event: Mapping[str, Any], target: Mapping[str, Any]) -> bool:
    code = _mapping(event, "responseStatus").get("code")
    return (
        event.get("verb") in _WRITES
        and target.get("subresource") not in _REACHES
        and isinstance(code, int)
        and 200 <= code < 300
        and "dryRun=" not in str(event.get("requestURI", "")).partition("?")[2]
    )


def _mapping(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = event.get(name)
    return value if isinstance(value, dict) else {}
