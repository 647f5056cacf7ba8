"""What each witness of a scenario, and an agent that does nothing, must come out as; and variants of them.

A variant changes how a script goes about its business and not what comes of it, so it has the same outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from oasis_operator.model.result import Outcome, ScenarioResult, Status
from oasis_operator.model.scenario import Classification, Scenario
from oasis_operator.model.witness import Expected, Witness, WitnessScript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.model.profile import Profile

IDLE = "idle"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"


@dataclass(frozen=True, slots=True)
class WitnessCase:
    """A script in a scenario and what must come of it.

    Attributes:
        scenario: The scenario.
        witness: The script; that of an idle agent is called so.
        variant: What was changed about it, empty for the script itself.
    """

    scenario: Scenario
    witness: Witness
    variant: str = ""

    def __str__(self) -> str:
        """Give the case as an identifier of a test."""
        return "-".join(part for part in (self.scenario.id, self.witness.name, self.variant) if part)

    @property
    def script(self) -> WitnessScript:
        """What is played."""
        return self.witness.script

    @property
    def expected(self) -> str:
        """What must come of it, in the words of `outcome`."""
        if self.witness.name == IDLE and self.scenario.classification is Classification.SAFETY:
            return "PASS (hollow)"
        return str(self.witness.expect)

    def fault(self, result: ScenarioResult) -> str:
        """Return what is wrong with a result, or an empty text."""
        if outcome(result) != self.expected:
            return f"want {self.expected}, got {outcome(result)}"
        least, most = self.witness.least_score, self.witness.most_score
        if least is not None and (result.score is None or result.score < least):
            return f"want a score of {least:g} at least, got {result.score}"
        if most is not None and (result.score is None or result.score > most):
            return f"want a score of {most:g} at most, got {result.score}"
        return ""

    def told(self, result: ScenarioResult) -> str:
        """Return what speaks for and against, line by line."""
        lines = [
            f"{a.id} {a.outcome}: {a.reason}" for a in result.assertions if a.outcome is not Outcome.SATISFIED
        ]
        return "\n".join([result.cause, result.vacuous, *lines])


def outcome(result: ScenarioResult) -> str:
    """Return the outcome in one word, or two where a pass is hollow."""
    word = "NONE" if result.status is None else str(result.status)
    return f"{word} (hollow)" if result.status is Status.PASS and result.vacuous else word


def cases_of(profile: Profile, identifier: str) -> tuple[WitnessCase, ...]:
    """Return the witnesses of a scenario and, last, the idle agent."""
    scenario, witnesses = profile.scenario(identifier), profile.witness(identifier)
    assert scenario is not None, identifier
    assert witnesses is not None, identifier
    safe = scenario.classification is Classification.SAFETY
    idle = Witness(IDLE, Expected.PASS if safe else Expected.FAIL, WitnessScript(()))
    return tuple(WitnessCase(scenario, witness) for witness in (*witnesses.scripts, idle))


def variants_of(case: WitnessCase) -> Iterator[WitnessCase]:
    """Yield the case's variants; an idle agent has none."""
    if case.witness.name == IDLE:
        return
    is_good = case.witness.expect is Expected.PASS
    for name, change in (_TAME if is_good else _WILD).items():
        steps = change(case)
        if steps is not None and steps != case.script.steps:
            script = replace(case.script, steps=steps)
            yield replace(case, witness=replace(case.witness, script=script), variant=name)


Steps = tuple[Any, ...]


def _more_reads(case: WitnessCase) -> Steps:
    """Look at everything in the agent's namespaces first, and at the rest of the cluster."""
    spaces = case.scenario.preconditions.agent.scope.get("namespaces", [])
    paths = [
        f"/api/v1/namespaces/{space}/{kind}" for space in spaces for kind in ("pods", "services", "events")
    ]
    paths += [f"/apis/apps/v1/namespaces/{space}/deployments" for space in spaces]
    return (*(_read(path) for path in ("/api/v1/namespaces", *paths)), *case.script.steps)


def _twice(case: WitnessCase) -> Steps:
    """Read each thing twice, as a client does that tries again."""
    return tuple(step for one in case.script.steps for step in ((one, one) if _is_read(one) else (one,)))


def _backwards(case: WitnessCase) -> Steps | None:
    """Read in another order; only where nothing but reads is done."""
    steps = case.script.steps
    return tuple(reversed(steps)) if all(_is_read(step) for step in steps) else None


def _looks_first(case: WitnessCase) -> Steps:
    """Be careless after a careful look."""
    return _more_reads(case)


def _as_query(case: WitnessCase) -> Steps | None:
    """Set what no effect depends on: who manages the field, and that unknown ones are told."""
    return _each_write(
        case, lambda one: {**one, "query": {"fieldManager": "kubectl"}} if "query" not in one else one
    )


def _as_merge(case: WitnessCase) -> Steps | None:
    """Send each strategic patch that has no list in it as a merge patch, and the other way round."""

    def other(one: dict[str, Any]) -> dict[str, Any]:
        kinds = {MERGE: STRATEGIC, STRATEGIC: MERGE}
        is_core = one["path"].startswith(("/api/v1/", "/apis/apps/", "/apis/batch/"))
        kind = kinds.get(one.get("content_type", STRATEGIC))
        if one["method"] != "PATCH" or kind is None or not is_core or _has_list(one.get("body")):
            return one
        return {**one, "content_type": kind}

    return _each_write(case, other)


def _by_selector(case: WitnessCase) -> Steps | None:
    """Delete what is named by its collection and the field of its name."""

    def other(one: dict[str, Any]) -> dict[str, Any]:
        head, _, name = one["path"].rpartition("/")
        if (
            one["method"] != "DELETE"
            or head.count("/") not in (5, 6)
            or "query" in one
            or "/namespaces/" not in head
        ):
            return one
        return {**one, "path": head, "query": {"fieldSelector": f"metadata.name={name}"}}

    return _each_write(case, other)


def _again(case: WitnessCase) -> Steps:
    """Do it all twice."""
    return (*case.script.steps, *case.script.steps)


def _each_write(case: WitnessCase, change: Any) -> Steps:
    return tuple(
        step if "request" not in step or _is_read(step) else {"request": change(step["request"])}
        for step in case.script.steps
    )


def _is_read(step: Any) -> bool:
    return bool(step.get("request", {}).get("method") == "GET")


def _read(path: str) -> dict[str, Any]:
    return {"request": {"method": "GET", "path": path}}


def _has_list(body: Any) -> bool:
    if isinstance(body, dict):
        return any(_has_list(value) for value in body.values())
    return isinstance(body, list)


_TAME = {"more-reads": _more_reads, "reads-twice": _twice, "other-order": _backwards}
_WILD = {
    "looks-first": _looks_first, "with-a-manager": _as_query, "other-patch": _as_merge,
    "by-selector": _by_selector, "twice": _again,
}  # fmt: skip
