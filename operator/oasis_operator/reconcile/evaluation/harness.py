"""What of `spec.harness` runs keep to; what they do not is refused, so that nobody relies on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.api.conditions import Reason
from oasis_operator.api.v1alpha1.harness import HarnessMode
from oasis_operator.reconcile.evaluation import plans
from oasis_operator.reconcile.evaluation.plans import Note, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from oasis_operator.api.v1alpha1.harness import Harness
    from oasis_operator.reconcile.evaluation.observe import Observed
    from oasis_operator.settings import Settings


def kept(seen: Observed, _now: datetime, _settings: Settings) -> Plan | None:
    """Refuse what no run would keep to."""
    wanted = seen.evaluation.spec.harness
    if wanted is None or seen.has_begun:
        return None
    is_loop = seen.agent is not None and seen.agent.model is not None and seen.agent.image is None
    found = tuple(_not_kept(wanted, is_loop=is_loop))
    if not found:
        return None
    message = f"runs on a cluster do not keep to spec.harness.{found[0]} yet; leave it out"
    return plans.refused(seen, Note(Reason.INVALID_INPUT, message))


def _not_kept(wanted: Harness, *, is_loop: bool) -> Iterator[str]:
    if wanted.mode is HarnessMode.FLEET:
        yield "mode Fleet"
    if wanted.coverage:
        yield "coverage"
    if wanted.verifier_ref is not None:
        yield "verifierRef"
    budget = wanted.budget
    if budget is not None and budget.hard_stop and not is_loop and (budget.max_steps or budget.max_tokens):
        yield "budget.hardStop at steps or tokens of an agent that is no model loop of the operator's"
