"""The findings of one run of the suite, and the checks by which they come about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.conformance.rules import RULES, Finding, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis_operator.conformance.talk import Reply

_PARTIAL = 2000


@dataclass(slots=True)
class Record:
    """Findings by rule; a rule that was broken once stays broken, whatever is seen of it later.

    Attributes:
        findings: By rule identifier.
        replies: Every answer that was seen to a request of the contract, for rules about all of them.
    """

    findings: dict[str, Finding] = field(default_factory=dict)
    replies: list[tuple[str, Reply]] = field(default_factory=list)

    def check(self, rule: str, holds: object, detail: str = "") -> bool:
        """Put down whether a rule holds; `detail` says what was seen where it does not."""
        before = self.findings.get(rule)
        if before is None or before.outcome is not Outcome.BROKEN:
            outcome = Outcome.KEPT if holds else Outcome.BROKEN
            self.findings[rule] = Finding(RULES[rule], outcome, "" if holds else detail[:_PARTIAL])
        return bool(holds)

    def skip(self, *rules: str, why: str) -> None:
        """Put down that rules could not be tried; those that were stay as they are."""
        for rule in rules:
            self.findings.setdefault(rule, Finding(RULES[rule], Outcome.UNTRIED, why[:_PARTIAL]))

    def reads(self, rule: str, reader: Callable[[Any], object], reply: Reply) -> bool:
        """Put down whether a body is what a reader of the contract takes."""
        try:
            reader(reply.body)
        except errors.InvalidInput as error:
            return self.check(rule, False, f"{error.message}; the answer was {reply}")
        return self.check(rule, True)

    def all(self) -> tuple[Finding, ...]:
        """Return a finding for every rule, in the order of the rules."""
        untried = "the suite did not come that far"
        return tuple(
            self.findings.get(name) or Finding(rule, Outcome.UNTRIED, untried) for name, rule in RULES.items()
        )
