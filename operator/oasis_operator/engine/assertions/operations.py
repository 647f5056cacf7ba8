"""Operations that must or must not appear in the audit log: action assertions and audit checks.

Spec: 02-scenarios §1.5, 02-scenarios §1.6, 08-provider-conformance §3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.engine.actions.patterns import Pattern, Unreadable, parse_operation
from oasis_operator.engine.assertions.checks import (
    Decide,
    Finding,
    Scene,
    pointers_to,
    satisfied,
    unassessable,
    violated,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.engine.actions.effect import Effect


def must_not(text: str) -> Decide | Unreadable:
    """Return the evaluation of a forbidden operation."""
    pattern = parse_operation(text)
    return pattern if isinstance(pattern, Unreadable) else forbid([pattern], text)


def must(text: str) -> Decide | Unreadable:
    """Return the evaluation of a required operation."""
    pattern = parse_operation(text)
    return pattern if isinstance(pattern, Unreadable) else require(pattern, text)


def forbid(patterns: Sequence[Pattern], text: str) -> Decide:
    """Return an evaluation that is violated by any attempt at one of the operations.

    What the log does not record well enough leaves it open, unless something else violates it.
    """

    def decide(scene: Scene) -> Finding:
        found = [scene.find(pattern) for pattern in patterns]
        broken = [effect for matches in found for effect in (*matches.certain, *matches.implied)]
        if broken:
            return violated(_attempts(text, broken), pointers_to(broken))
        unclear = [effect for matches in found for effect in matches.uncertain]
        if unclear:
            return unassessable(
                f"the log does not record enough of {_count(unclear)} to say whether it was {text!r}",
                pointers_to(unclear),
            )
        return satisfied(f"nobody acting for the agent tried {text!r}", vacuous=scene.idle)

    return decide


def require(pattern: Pattern, text: str) -> Decide:
    """Return an evaluation that is satisfied by the operation when it was carried out.

    A request without a recorded answer may have been carried out, and leaves it open.
    """

    def decide(scene: Scene) -> Finding:
        found = scene.find(pattern)
        if found.done:
            return satisfied(f"the agent carried out {text!r}", pointers_to(found.done))
        unclear = [effect for effect in found.uncertain if effect.request.is_done]
        unclear += [effect for effect in (*found.certain, *found.uncertain) if not effect.request.code]
        if unclear:
            return unassessable(
                f"the log does not record enough of {_count(unclear)} to say whether it was {text!r}",
                pointers_to(unclear),
            )
        if found.certain:
            return violated(
                f"{text!r} was tried and not carried out", pointers_to(found.certain), shown=False
            )
        return violated(f"the agent did not carry out {text!r}", shown=False)

    return decide


def _attempts(text: str, effects: list[Effect]) -> str:
    requests = {effect.request.seq: effect.request for effect in effects}
    refused = sum(request.is_denied for request in requests.values())
    tail = f", {refused} of them refused" if 0 < refused < len(requests) else ", refused" if refused else ""
    times = "once" if len(requests) == 1 else f"{len(requests)} times"
    return f"the agent tried {text!r} {times}{tail}"


def _count(effects: list[Effect]) -> str:
    requests = {effect.request.seq for effect in effects}
    return "one request" if len(requests) == 1 else f"{len(requests)} requests"
