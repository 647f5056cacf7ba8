"""The budget of a run: how long its agent has, what stopped it, and what it used of what it might."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from oasis_operator.api import fields
from oasis_operator.harness import configuration
from oasis_operator.model import budget
from oasis_operator.model.budget import Usage
from oasis_operator.wire.adapter import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.harness import HarnessBudget
    from oasis_operator.harness.configuration import Configuration
    from oasis_operator.model.scenario import ScenarioBudget
    from oasis_operator.reconcile.scenariorun.observe import Observed


def budget_of(seen: Observed) -> HarnessBudget | None:
    """Return the limits that the Evaluation sets; None where it sets none."""
    harness = seen.evaluation.spec.harness if seen.evaluation else None
    return harness.budget if harness else None


def seconds(seen: Observed, own: ScenarioBudget) -> float:
    """Return the time that the agent has: the least of its stage's, the scenario's and the harness's."""
    limits = (seen.seconds.running, own.seconds, _time_limit(seen))
    return min(limit for limit in limits if limit is not None)


def stopped(seen: Observed, own: ScenarioBudget, transcript: Mapping[str, Any]) -> dict[str, Any]:
    """Return the transcript of a run; one that ended with its time budget says that it was the budget.

    The adapter is given one limit and cannot tell whose it was. A stage, or a scenario's budget, that is as
    short or shorter is what ended the run, and an answer in time is left as it is.
    """
    limit = _ran_out(seen, own, transcript)
    if not limit:
        return dict(transcript)
    spent = Usage(seconds=max(_lasted(transcript) or 0.0, limit))
    detail = budget.stop_before_call(budget.Limits(seconds=limit, hard_stop=True), spent)
    return {**transcript, "outcome": Outcome.BUDGET.value, "detail": detail}


def used(seen: Observed, own: ScenarioBudget, transcript: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return what a run used and what it might have, for the evidence's `budget`.

    A step is an answer of the model in a loop of ours, and an action of any other agent. With a harness each
    line says too whether its limit is reached, and `overallExceeded` whether any is; the limit of `seconds`
    is then the harness's; without one limits are the scenario's, and the stage's time where that is less.

    Args:
        seen: The run.
        own: The scenario's budget.
        transcript: As the adapter gave it.
        now: The end, where the transcript has none.
    """
    asked = configuration.from_spec(seen.evaluation.spec.harness if seen.evaluation else None)
    usage = transcript.get("usage") or {}
    sent = seen.run.status.prompt_sent_at
    passed = round((now - sent).total_seconds(), 3) if sent else 0.0
    steps = usage.get("steps", len(transcript.get("actions") or ()))
    tokens = usage.get("input", 0) + usage.get("output", 0)
    if asked is not None:
        lasted = _lasted(transcript)
        # The adapter's clock and its timer may differ by a little; what was stopped had its time.
        spent = max(passed if lasted is None else lasted, _ran_out(seen, own, transcript))
        return _held(asked, Usage(steps, tokens, spent), usage)
    found: dict[str, Any] = {
        "steps": {"used": steps, "limit": own.steps},
        "seconds": {"used": passed, "limit": seconds(seen, own)},
    }
    if usage:
        found["tokens"] = {"used": tokens, "estimated": usage["estimated"], "limit": None}
    return found


def _held(asked: Configuration, spent: Usage, usage: Mapping[str, Any]) -> dict[str, Any]:
    account = asked.account(spent)
    found: dict[str, Any] = {
        "steps": account.steps.to_json(),
        "seconds": account.time_seconds.to_json(),
        "overallExceeded": account.is_exceeded,
    }
    if usage:
        found["tokens"] = {**account.tokens.to_json(), "estimated": usage["estimated"]}
    return found


def _time_limit(seen: Observed) -> float | None:
    """Return the seconds after which the harness stops a run; None where it stops none for its time."""
    limits = budget_of(seen)
    if limits is None or not limits.hard_stop or not limits.max_time:
        return None
    return fields.duration_seconds(limits.max_time)


def _ran_out(seen: Observed, own: ScenarioBudget, transcript: Mapping[str, Any]) -> float:
    """Return the time budget, in seconds, that ended a run; 0 where it ended otherwise."""
    limit = _time_limit(seen)
    if limit is None or transcript.get("outcome") != Outcome.TIMEOUT:
        return 0.0
    others = min(seen.seconds.running, own.seconds or seen.seconds.running)
    return limit if limit < others else 0.0


def _lasted(transcript: Mapping[str, Any]) -> float | None:
    """Return the seconds from the prompt's delivery to the end; None where either is unknown."""
    begin, end = transcript.get("delivered_at"), transcript.get("finished_at")
    if not begin or not end:
        return None
    passed = datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(begin))
    return max(0.0, round(passed.total_seconds(), 3))
