"""The self-test of an attempt: an environment is tried once, where the profile asks for what no run shows.

It is made, tried and removed before anything runs. What it did not show is not claimed, and is a gap like any
other.

Spec: 08-provider-conformance §3.6, 08-provider-conformance §3.8.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.api.conditions import Reason
from oasis_operator.reconcile import declared
from oasis_operator.reconcile.creating import create_own
from oasis_operator.reconcile.evaluation import preflight
from oasis_operator.reconcile.evaluation.actions import (
    CreateSelfTest,
    DeleteSelfTest,
    GiveUpSelfTest,
    RunSelfTest,
)
from oasis_operator.reconcile.evaluation.plans import Note, Plan
from oasis_operator.resources import conformance, kinds, names, self_test
from oasis_operator.resources.timeouts import stage_seconds
from oasis_operator.wire.probe import PrepareState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.evaluation.actions import SelfTestAction
    from oasis_operator.reconcile.evaluation.observe import Observed
    from oasis_operator.resources.access import Reach
    from oasis_operator.settings import Settings

_POLL = 0.5
_LIFETIME = timedelta(hours=1)


def made(seen: Observed, now: datetime, settings: Settings) -> Plan | None:
    """Make the self-test where it must be made, and remove what it needed.

    Spec: 08-provider-conformance §3.8.2.
    """
    found = seen.assessment.declaration if seen.assessment else None
    if found is None or seen.has_begun:
        return None
    if not found.is_untested:
        return None if seen.preflight.trial.is_gone else Plan((DeleteSelfTest(),), wait_seconds=0.0)
    pod = seen.preflight.trial.pod
    if pod is None or not seen.preflight.trial.has_secret:
        return Plan((CreateSelfTest(),), wait_seconds=_POLL)
    limit = stage_seconds(seen.evaluation.spec.timeouts, settings.timeouts).provisioning
    trouble = preflight.trouble_of((pod,), now, limit)
    if pod.is_over or pod.is_lost or (trouble is not None and trouble.is_final):
        why = " ".join(filter(None, pod.account())) or (trouble.message if trouble else "its pod ended")
        return Plan((GiveUpSelfTest(why),), wait_seconds=0.0)
    doing = trouble.message if trouble else "an environment tries what the profile asks of its provider"
    note = Note(trouble.reason if trouble else Reason.PROGRESSING, doing)
    return Plan((RunSelfTest(),) if seen.preflight.trial.reach else (), note=note, wait_seconds=_POLL)


@dataclass(frozen=True, slots=True)
class SelfTestObjects:
    """Makes, tries and removes the environment of one attempt; each step may be repeated."""

    deps: Deps
    seen: Observed

    @property
    def _token(self) -> str:
        return names.self_test_id(self.seen.body["metadata"]["uid"], self.seen.attempt)

    async def do(self, step: SelfTestAction, now: datetime) -> None:
        """Carry out one step.

        Raises:
            OasisError: As the step itself.
        """
        match step:
            case CreateSelfTest():
                await self.create(now)
            case RunSelfTest():
                await self.run()
            case GiveUpSelfTest(why):
                await self.give_up(why)
            case DeleteSelfTest():
                await self.delete()

    async def create(self, now: datetime) -> None:
        """Create Secret and pod, the pod last.

        Raises:
            NotReady: The Environment is gone.
            ProviderFault: Somebody else has an object of its name.
        """
        if self.seen.environment is None:
            raise errors.NotReady("the Environment does not exist", reason="NotFound")
        body = self.seen.body
        if not self.seen.preflight.trial.has_secret:
            data = self.deps.keys.run_secret_data(now, _LIFETIME)
            secret = self_test.build_secret(self._token, body, data)
            await create_own(self.deps.kube, kinds.SECRET, secret, body["metadata"]["uid"])
        pod = self_test.build_pod(self._token, body, self.seen.environment, self.deps.settings)
        await create_own(self.deps.kube, kinds.POD, pod, body["metadata"]["uid"])

    async def run(self) -> None:
        """Go on with the test as far as it goes now, and keep the answer once it was made.

        Raises:
            Transient: The environment cannot be reached.
            ProviderFault: The answer cannot be kept.
        """
        reach = self.seen.preflight.trial.reach
        if reach is None or await self.deps.probe.health(reach) is not None:
            return
        await self.deps.probe.prepare(reach, self_test.prepare_request(self._token))
        status = await self.deps.probe.preparation(reach)
        if status.status is PrepareState.FAILED:
            await self.give_up(f"its state was not established: {status.message}")
        elif status.status is PrepareState.READY:
            await self._keep(await self._tried(reach))

    async def give_up(self, why: str) -> None:
        """Keep an answer that claims nothing of what the test should have shown."""
        await self._keep(dict.fromkeys(conformance.TO_BE_TESTED, f"the self-test failed: {why}"))

    async def delete(self) -> None:
        """Remove pod and Secret."""
        namespace, found = self.seen.body["metadata"]["namespace"], self.seen.preflight.trial
        if found.pod is not None and not found.pod.deleting:
            pod = names.environment_pod(self._token)
            await self.deps.kube.delete(kinds.POD, namespace, pod, uid=found.pod.uid, grace_seconds=1)
        await self.deps.kube.delete(kinds.SECRET, namespace, names.secret(self._token))

    async def _tried(self, reach: Reach) -> Mapping[str, str]:
        live = self.deps.live
        try:
            tried = await live.self_test(reach, self_test.TRIED)
            trial = self_test.Trial(tried, await live.log(reach), await live.state(reach))
        except errors.ProviderFault as error:
            return dict.fromkeys(conformance.TO_BE_TESTED, f"the self-test failed: {error.message}")
        return self_test.unproven(trial)

    async def _keep(self, unproven: Mapping[str, str]) -> None:
        if self.seen.profile is None:
            raise errors.Transient("the profile cannot be read now")
        answer = conformance.conformance_answer(self.seen.profile, self.deps.version, unproven)
        await declared.keep(self.deps, self.seen.body, self.seen.attempt, answer)
