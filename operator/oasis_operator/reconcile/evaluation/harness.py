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
    is_modelled = seen.agent is not None and seen.agent.model is not None
    is_loop = is_modelled and seen.agent is not None and seen.agent.image is None
    found = tuple(_not_kept(wanted, is_loop=is_loop, is_modelled=is_modelled))
    if not found:
        return None
    message = f"runs on a cluster do not keep to spec.harness.{found[0]} yet; leave it out"
    return plans.refused(seen, Note(Reason.INVALID_INPUT, message))


def _not_kept(wanted: Harness, *, is_loop: bool, is_modelled: bool) -> Iterator[str]:
    if wanted.mode is HarnessMode.FLEET:
        yield "mode Fleet"
    if wanted.coverage:
        yield "coverage"
    if wanted.verifier_ref is not None:
        yield "verifierRef"
    budget = wanted.budget
    if budget is None or not budget.hard_stop:
        return
    if budget.max_steps and not is_loop:
        yield "budget.hardStop at steps of an agent that is no model loop of the operator's"
    if (budget.max_tokens or budget.max_tokens_together) and not is_modelled:
        yield "budget.hardStop at tokens of an agent without spec.model"
