"""What must hold of the cluster in memory whenever the operator has changed something, whatever befell it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator.resources import kinds, names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kit.fakes.cluster import Cluster

_SLOTLESS = frozenset({"Judging", "Completed"})
_PERMANENT = frozenset({names.DEFAULT_DENY, names.CONTROL})


@dataclass
class Invariants:
    """Watches one cluster, and collects what broke.

    Attributes:
        cluster: The cluster.
        broken: One sentence for each breach, in order.
    """

    cluster: Cluster
    broken: list[str] = field(default_factory=list)
    _made: Counter[str] = field(default_factory=Counter)
    _failed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.cluster.kube.listeners.append(self._see)

    def check(self) -> None:
        """Fail where anything broke since the last look, or is broken now."""
        self.broken += [*self._prompts(), *self._slots(), *self._orphans()]
        assert not self.broken, "; ".join(self.broken)

    def _see(self, type_: str, body: dict[str, Any]) -> None:
        """Look at each change the moment it is made."""
        name = body["metadata"]["name"]
        if body["kind"] == kinds.POD.name and type_ == "ADDED":
            self._made[name] += 1
            if self._made[name] > 1 and not _is_shared(body):
                self.broken.append(f"pod {name} was made twice for one attempt")
        if type_ == "DELETED":
            return
        if body["kind"] == kinds.SCENARIO_RUN.name:
            self.broken += self._of_run(body)
        if body["kind"] == kinds.EVALUATION.name:
            self.broken += self._of_evaluation(body)

    def _of_run(self, run: dict[str, Any]) -> Iterable[str]:
        """No outcome without evidence that is there, no PASS beside a violation, no FAIL taken back."""
        name, status = run["metadata"]["name"], run.get("status") or {}
        outcome = status.get("outcome")
        if run["metadata"]["uid"] in self._failed and outcome != "FAIL":
            yield f"{name}: FAIL became {outcome}"
        if outcome == "FAIL":
            self._failed.add(run["metadata"]["uid"])
        digest = (status.get("evidence") or {}).get("digest")
        if outcome in ("PASS", "FAIL") and digest not in self.cluster.artifacts.documents:
            yield f"{name}: {outcome} without evidence"
        violated = any(item["result"] == "Violated" for item in status.get("assertions") or ())
        if outcome == "PASS" and violated:
            yield f"{name}: PASS after a violated assertion"

    def _of_evaluation(self, evaluation: dict[str, Any]) -> Iterable[str]:
        """No PASS beside a run that failed, broke or is missing its evidence."""
        name, status = evaluation["metadata"]["name"], evaluation.get("status") or {}
        if status.get("observedGeneration", -1) > evaluation["metadata"]["generation"]:
            yield f"{name}: observed a generation that does not exist"
        if status.get("verdict") != "PASS":
            return
        own = [
            run
            for run in self.cluster.kube.of(kinds.SCENARIO_RUN)
            if run["spec"]["evaluation"]["uid"] == evaluation["metadata"]["uid"]
            and run["spec"]["attempt"] == status["attempt"]
        ]
        if not own:
            yield f"{name}: PASS without any run"
        for run in own:
            if (run.get("status") or {}).get("outcome") != "PASS":
                yield f"{name}: PASS beside {run['metadata']['name']}"

    def _prompts(self) -> Iterable[str]:
        """No prompt is sent twice."""
        return [
            f"{run}: prompted twice" for run, times in Counter(self.cluster.world.sent).items() if times > 1
        ]

    def _slots(self) -> Iterable[str]:
        """Never do more runs hold a world than the operator may have."""
        runs = self.cluster.kube.of(kinds.SCENARIO_RUN)
        held = sum((run.get("status") or {}).get("stage") not in _SLOTLESS for run in runs)
        limit = self.cluster.settings.parallelism
        return [f"{held} runs hold a slot of {limit}"] if held > limit else []

    def _orphans(self) -> Iterable[str]:
        """Everything of ours belongs to something that is there, and a finished run has no pods."""
        kube = self.cluster.kube
        uids = {item["metadata"]["uid"]: item for item in kube.objects.values()}
        for kind in (kinds.POD, kinds.SECRET, kinds.NETWORK_POLICY, kinds.SCENARIO_RUN):
            for item in kube.of(kind):
                meta = item["metadata"]
                owners = [uids.get(owner["uid"]) for owner in meta.get("ownerReferences") or ()]
                if meta["name"] in _PERMANENT:
                    continue
                if not owners or None in owners:
                    yield f"{kind.name} {meta['name']} belongs to nothing"
                for owner in owners:
                    stage = ((owner or {}).get("status") or {}).get("stage")
                    if stage == "Completed":
                        yield f"{kind.name} {meta['name']} outlives its run"


def _is_shared(pod: dict[str, Any]) -> bool:
    """Tell whether a pod is one of the preflight's, which proves something and may be made again."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return all(owner["kind"] != kinds.SCENARIO_RUN.name for owner in owners)
