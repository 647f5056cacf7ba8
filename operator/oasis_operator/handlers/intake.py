"""From a watch event to the keys that must be looked at.

The event's own content decides nothing: a pass reads the object anew. What is kept here is only who refers to
whom, so that a changed Agent wakes the Evaluations that use it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from oasis_operator.reconcile.queue import Key, KeyQueue
from oasis_operator.resources import kinds, labels

if TYPE_CHECKING:
    from oasis_operator.handlers.watch_age import WatchAge
    from oasis_operator.reconcile.active import ActiveRuns

_OWNERS = {
    kinds.SCENARIO_RUN.name: kinds.SCENARIO_RUN.plural,
    kinds.EVALUATION.name: kinds.EVALUATION.plural,
    kinds.ENVIRONMENT.name: kinds.ENVIRONMENT.plural,
}


class Intake:
    """Turns events into keys."""

    def __init__(
        self,
        queue: KeyQueue,
        active: ActiveRuns,
        age: WatchAge | None = None,
        gates_moved: Callable[[], None] = lambda: None,
    ) -> None:
        """Feed `queue`, keep `active` up to date, and call `gates_moved` where gates may change.

        `age`, where there is one, is told of what has arrived.
        """
        self._gates_moved = gates_moved
        self._queue = queue
        self._active = active
        self._age = age
        self._users: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        self._labels: dict[str, Mapping[str, str]] = {}
        self._uses: dict[tuple[str, str], tuple[tuple[str, str, str], ...]] = {}

    def evaluation(self, body: Mapping[str, Any], type_: str | None) -> None:
        """An Evaluation was made, changed or deleted."""
        self._tell(kinds.EVALUATION, body, type_)
        namespace, name = _where(body)
        self._gates_moved()
        self._relate(namespace, name, {} if type_ == "DELETED" else body.get("spec") or {})
        self._queue.add(Key(kinds.EVALUATION.plural, namespace, name))

    def referenced(self, kind: kinds.Kind, body: Mapping[str, Any], type_: str | None = None) -> None:
        """An Agent or an Environment was made, changed or deleted."""
        self._tell(kind, body, type_)
        namespace, name = _where(body)
        self._queue.add(Key(kind.plural, namespace, name))
        for user in self._users.get((kind.plural, namespace, name), ()):
            self._queue.add(Key(kinds.EVALUATION.plural, namespace, user))

    def policy(self) -> None:
        """An EvaluationPolicy was made, changed or deleted; which namespaces it was for is not known."""
        self._gates_moved()
        for namespace, name in self._uses:
            self._queue.add(Key(kinds.EVALUATION.plural, namespace, name))

    def namespace(self, body: Mapping[str, Any], type_: str | None) -> None:
        """A namespace was made, changed or deleted; its labels say which policies are for it."""
        name, labels = body["metadata"]["name"], dict(body["metadata"].get("labels") or {})
        if type_ == "DELETED":
            self._labels.pop(name, None)
            return
        if self._labels.get(name) != labels:
            self._labels[name] = labels
            for namespace, evaluation in self._uses:
                if namespace == name:
                    self._queue.add(Key(kinds.EVALUATION.plural, namespace, evaluation))

    def scenario_run(self, body: Mapping[str, Any], type_: str | None) -> None:
        """A ScenarioRun was made, changed or deleted."""
        namespace, name = _where(body)
        if type_ == "DELETED":
            self._active.forget(namespace, name, body["metadata"].get("uid", ""))
        else:
            self._active.see(body)
        owner = ((body.get("spec") or {}).get("evaluation") or {}).get("name")
        if owner:
            self._queue.add(Key(kinds.EVALUATION.plural, namespace, owner))
        if type_ != "DELETED" and (body.get("status") or {}).get("stage") != "Completed":
            self._queue.add(Key(kinds.SCENARIO_RUN.plural, namespace, name))

    def pod(self, body: Mapping[str, Any]) -> None:
        """A pod of ours was made, changed or deleted."""
        namespace = body["metadata"]["namespace"]
        pool = (body["metadata"].get("annotations") or {}).get(labels.ENVIRONMENT)
        if pool:
            # A claimed one has another owner and is missing where it came from.
            self._queue.add(Key(kinds.ENVIRONMENT.plural, namespace, pool))
        for reference in body["metadata"].get("ownerReferences") or ():
            plural = _OWNERS.get(reference.get("kind", ""))
            if plural and reference.get("controller"):
                self._queue.add(Key(plural, namespace, reference["name"]))

    def _tell(self, kind: kinds.Kind, body: Mapping[str, Any], type_: str | None) -> None:
        if self._age is not None:
            self._age.told(kind, body, is_gone=type_ == "DELETED")

    def _relate(self, namespace: str, name: str, spec: Mapping[str, Any]) -> None:
        """Remember what an Evaluation refers to, and forget what it did before.

        An Environment to which somebody refers anew is looked at: only now is it known for which profile.
        """
        before = self._uses.pop((namespace, name), ())
        for target in before:
            self._users[target].discard(name)
            if not self._users[target]:
                del self._users[target]
        wanted = ((kinds.AGENT, "agentRef"), (kinds.ENVIRONMENT, "environmentRef"))
        targets = tuple(
            (kind.plural, namespace, str(spec[member]["name"]))
            for kind, member in wanted
            if isinstance(spec.get(member), Mapping) and spec[member].get("name")
        )
        if targets:
            self._uses[namespace, name] = targets
        for target in targets:
            self._users[target].add(name)
            if target not in before and target[0] == kinds.ENVIRONMENT.plural:
                self._queue.add(Key(*target))


def _where(body: Mapping[str, Any]) -> tuple[str, str]:
    return body["metadata"]["namespace"], body["metadata"]["name"]
