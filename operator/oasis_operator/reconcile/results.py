"""Results by evidence: judged once, kept while they are in use, and judged again where they were forgotten.

Judging is a pure function of its inputs, so a result needs no place of its own: the evidence is the record.

Spec: 01-core §3.5.4.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oasis_operator.model.result import Status
from oasis_operator.resources import subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import Profile
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.ports.artifacts import Artifacts
    from oasis_operator.ports.judge import Judge

_KEPT = 512


class ResultShelf:
    """Judges evidence and keeps the last results; a cache only."""

    def __init__(self, artifacts: Artifacts, judge: Judge) -> None:
        """Read evidence from `artifacts` and judge it with `judge`."""
        self._artifacts = artifacts
        self._judge = judge
        self._results: OrderedDict[tuple[str, ...], ScenarioResult] = OrderedDict()

    async def get(
        self,
        profile: Profile,
        scenario_id: str,
        digest: str,
        configuration: Mapping[str, Any],
        run_uid: str,
    ) -> ScenarioResult:
        """Return the result of judging the evidence with this digest.

        Evidence of another run than the one with this UID says nothing of it: a provider failure.

        Raises:
            ProviderFault: The evidence cannot be read, or the worker failed.
        """
        key = (profile.digest, scenario_id, digest, subject.digest(configuration), run_uid)
        if key not in self._results:
            evidence = await self._artifacts.get(digest)
            judged = await self._judge.judge(profile, scenario_id, evidence, configuration)
            told = await self._judge.account(evidence)
            if told.run_uid != run_uid:
                cause = f"the evidence {digest} is of another run than the one that refers to it"
                judged = replace(
                    judged, status=Status.PROVIDER_FAILURE, cause=cause, assertions=(), score=None, vacuous=""
                )
            self._results[key] = replace(judged, evidence_digest=digest.removeprefix("sha256:"))
            if len(self._results) > _KEPT:
                self._results.popitem(last=False)
        self._results.move_to_end(key)
        return self._results[key]
