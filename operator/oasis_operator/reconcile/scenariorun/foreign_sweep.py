"""Environments at foreign providers that no run has a use for any more: found by their records, torn down.

It covers what a run itself cannot: that it was deleted, that the provider did not answer when it ended, and
that the operator was not there.

Spec: 04-execution §2.2.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from oasis_operator import errors
from oasis_operator.api.v1alpha1.scenariorun import Stage
from oasis_operator.reconcile.scenariorun import foreign_act
from oasis_operator.resources import kinds, provision_record

if TYPE_CHECKING:
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.resources.provision_record import Declared, Provision

PAUSE_SECONDS: Final = 15.0
GIVEN_UP: Final = timedelta(hours=24)
"""An environment that cannot be torn down for so long is given up, and counted as left behind."""

LEFT_BEHIND: Final = "EnvironmentLeftBehind"


async def sweep(deps: Deps) -> None:
    """Look at every record once; a fault of one keeps none of the others.

    Raises:
        Transient: The API server does not answer.
    """
    for key in await deps.foreign.provisions.keys():
        try:
            await _look(deps, key)
        except errors.ProviderFault as error:
            deps.meter.fault(error.reason)


async def _look(deps: Deps, key: str) -> None:
    kept = await deps.foreign.provisions.get(key)
    if kept is None:
        return
    declared = provision_record.read_declared(kept)
    if declared is not None:
        if await _is_over(deps, declared):
            await deps.foreign.provisions.discard(key)
        return
    record = provision_record.read_provision(kept)
    if record is None or not (record.orphaned or await _is_nobodys(deps, record)):
        return
    if await foreign_act.tear_down(deps, key):
        return
    if deps.clock.now() - datetime.fromisoformat(record.asked_at) > GIVEN_UP:
        deps.meter.fault(LEFT_BEHIND)
        deps.foreign.desk.drop(key)
        await deps.foreign.provisions.discard(key)


async def _is_nobodys(deps: Deps, record: Provision) -> bool:
    """Tell whether the run of a record is gone, or over."""
    body = await deps.kube.get(kinds.SCENARIO_RUN, record.namespace, record.run)
    if body is None or body["metadata"]["uid"] != record.run_uid or body["metadata"].get("deletionTimestamp"):
        return True
    return (body.get("status") or {}).get("stage") == Stage.COMPLETED


async def _is_over(deps: Deps, declared: Declared) -> bool:
    body = await deps.kube.get(kinds.EVALUATION, declared.namespace, declared.evaluation)
    return body is None or body["metadata"]["uid"] != declared.evaluation_uid
