"""What becomes of a pass: the one place where the taxonomy's exceptions meet queue, log, metrics and status.

A reconciler turns what it expects (a missing object, a gap, a fault of the harness) into conditions itself.
What arrives here is the rest: faults that pass by themselves, objects nobody can read, and defects. None of
them stops the other objects, and none of them can end in a PASS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import structlog

from oasis_operator import errors
from oasis_operator.api import conditions
from oasis_operator.api.conditions import Condition, Fact, Reason, State, Type
from oasis_operator.api.fields import dump
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from oasis_operator.ports.clock import Clock
    from oasis_operator.ports.kube import Kube
    from oasis_operator.reconcile.queue import Key

_log = structlog.get_logger(__name__)
_BY_PLURAL = {kind.plural: kind for kind in kinds.ALL}

FIXED_DELAY_SECONDS = 15.0
SHOWN_AFTER_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pass ended.

    Attributes:
        result: Label of the metric: `success`, `transient`, `invalid`, `not_ready` or `error`.
        after_seconds: When to look again; None for the next event, and for a backoff where it failed.
        failed: Whether the queue counts it as a failure, with growing waits.
        fact: Condition to show, or None.
    """

    result: str
    after_seconds: float | None = None
    failed: bool = False
    fact: Fact | None = None


def outcome_of(error: Exception, key: Key, failures: int) -> Outcome:
    """Return what an exception means for its object; logs it once with what is needed to act on it."""
    log = _log.bind(kind=key.plural, namespace=key.namespace, name=key.name)
    if isinstance(error, errors.Transient):
        log.info("pass repeated", reason=error.reason, message=error.message, failures=failures)
        shown = Fact(Type.READY, State.FALSE, Reason.TRANSIENT, error.message)
        return Outcome("transient", failed=True, fact=shown if failures >= SHOWN_AFTER_FAILURES else None)
    if isinstance(error, errors.InvalidInput):
        log.info("object refused", reason=error.reason, message=error.message)
        return Outcome("invalid", fact=Fact(Type.READY, State.FALSE, error.reason, error.message))
    if isinstance(error, errors.NotReady):
        log.info("object waits", reason=error.reason, message=error.message)
        shown = Fact(Type.READY, State.FALSE, error.reason, error.message)
        return Outcome("not_ready", after_seconds=FIXED_DELAY_SECONDS, fact=shown)
    if isinstance(error, errors.OasisError):
        log.warning("pass failed", reason=error.reason, message=error.message)
        return Outcome("error", failed=True, fact=Fact(Type.READY, State.FALSE, error.reason, error.message))
    log.error("defect", exc_info=error)
    message = f"a defect of the operator: {type(error).__name__}; its log has the trace"
    return Outcome("error", failed=True, fact=Fact(Type.READY, State.FALSE, Reason.INTERNAL_ERROR, message))


async def show(kube: Kube, clock: Clock, key: Key, outcome: Outcome) -> None:
    """Write the condition of an outcome into an object that could not be handled, where it is news.

    What was told of an attempt that is over stays as it was told, unless a person must edit the object: that
    nobody could look at it again changes nothing of its end. Any trouble on the way is left to the next pass.
    """
    kind = _BY_PLURAL[key.plural]
    try:
        body = await kube.get(kind, key.namespace, key.name)
        if body is None or outcome.fact is None:
            return
        status = dict(body.get("status") or {})
        after = _with_fact(status, outcome, body["metadata"].get("generation", 0), clock.now())
        if after != status:
            await kube.write_status(kind, body, after)
    except errors.OasisError as error:
        _log.info("condition not shown", kind=key.plural, name=key.name, reason=error.reason)


def _with_fact(status: Mapping[str, Any], outcome: Outcome, generation: int, now: datetime) -> dict[str, Any]:
    """Return a status with the outcome's conditions; conditions that nobody can read are dropped.

    Ready alone is a wait in the eyes of kstatus; what only a person can end is Stalled besides.
    """
    fact, before = outcome.fact, _readable(status)
    is_final = outcome.result == "invalid"
    if fact is None or (not is_final and conditions.is_true(before, Type.COMPLETE)):
        return dict(status)
    facts = (fact, replace(fact, type=Type.STALLED, status=State.TRUE)) if is_final else (fact,)
    after = conditions.with_facts(before, facts, generation=generation, now=now)
    for type_ in (Type.RECONCILING,) if is_final else (Type.STALLED,):
        after = conditions.without(after, type_)
    dumped = [dump(item) for item in after]
    return {**status, "observedGeneration": generation, "conditions": dumped}


def _readable(status: Mapping[str, Any]) -> tuple[Condition, ...]:
    found = []
    for item in status.get("conditions") or ():
        try:
            found.append(Condition.model_validate(item))
        except ValueError:
            continue
    return tuple(found)
