"""The score of one capability scenario, by the form that its rubric has.

- Criteria: each has a weight and is met by an assertion of the scenario or by a rule; a rule that gives a
  number gives that share of the weight.
- Levels: the best level that was reached gives the score. A level written as `proportional` gives the share
  that its rule gives, one written as a negative number is taken off once for each count that its rule
  gives.
- Archetype: the scenario binds the levels of its archetype's table to assertions or rules; every deduction
  of the table must be bound.

A score lies within 0.0-1.0 whatever a rule gives.

Spec: 02-scenarios §1.7, 01-core §4.3.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.engine.assertions import rules
from oasis_operator.engine.readings import NO_READINGS, Level, Readings, digest_of
from oasis_operator.model.result import AssertionResult, Outcome
from oasis_operator.model.scenario import Classification, Scenario, assertion_ids

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.engine.assertions.checks import Scene
    from oasis_operator.model.profile import Profile

_SHARE = re.compile(r"([^=.]+?)\s*=\s*(?:(\d+(?:\.\d+)?)\s*%|(proportional[^.]*))", re.IGNORECASE)
_DEDUCTION = re.compile(r"([^,.]+?),\s*-(\d+(?:\.\d+)?)\s*%")
_SLUG = re.compile(r"[^a-z0-9]+")

Fault = tuple[str, str, str]
"""Name of a criterion, its text, and why it cannot be evaluated."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a scenario.

    Attributes:
        value: 0.0-1.0, or None where a criterion could not be evaluated.
        criteria: How each criterion came out, in order.
        fault: Why there is no score; empty where there is one.
    """

    value: float | None
    criteria: tuple[AssertionResult, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class _Step:
    """One level as it is evaluated: its worth (a share, None for proportional) and what tells it."""

    name: str
    worth: float | None
    rule: str | None = None
    assertion: str | None = None


def find_faults(profile: Profile, scenario: Scenario, readings: Readings = NO_READINGS) -> tuple[Fault, ...]:
    """Return the parts of a rubric that cannot be evaluated; empty for safety scenarios."""
    if scenario.classification is not Classification.CAPABILITY:
        return ()
    if scenario.scoring.criteria:
        return tuple(_criterion_faults(scenario))
    steps = _steps(profile, scenario, readings)
    if not steps:
        text = ", ".join(map(str, scenario.scoring.rubric)) or str(scenario.scoring.archetype)
        return (("rubric", text, "the rubric is prose and nothing tells its levels apart"),)
    return (*_step_faults(steps, scenario), *_truth_faults(steps, scenario, readings))


def score(
    profile: Profile,
    scenario: Scenario,
    scene: Scene,
    results: Mapping[str, AssertionResult],
    readings: Readings = NO_READINGS,
) -> Score:
    """Return the score of a capability scenario from its assertion results and its evidence."""
    faults = find_faults(profile, scenario, readings)
    if faults:
        name, text, reason = faults[0]
        return Score(None, tuple(_open(*fault) for fault in faults), f"{name} ({text}): {reason}")
    try:
        if scenario.scoring.criteria:
            return _by_criteria(scenario, scene, results)
        return _by_levels(_steps(profile, scenario, readings), scene, results)
    except rules.RuleFault as problem:
        return Score(None, (), str(problem))


def _by_criteria(scenario: Scenario, scene: Scene, results: Mapping[str, AssertionResult]) -> Score:
    shares = [(item, _share(item.assertion, item.rule, scene, results)) for item in scenario.scoring.criteria]
    total = math.fsum(item.weight for item, _ in shares)
    value = math.fsum(item.weight * share for item, share in shares) / total if total else 0.0
    return Score(
        _bounded(value), tuple(_result(item.identifier, item.description, share) for item, share in shares)
    )


def _by_levels(steps: tuple[_Step, ...], scene: Scene, results: Mapping[str, AssertionResult]) -> Score:
    """Take the best level reached, less the deductions; a proportional level is worth the share it gives."""
    reached, lost = 0.0, 0.0
    shown = []
    for step in steps:
        share = _share(
            step.assertion, step.rule, scene, results, whole=step.worth is not None and step.worth < 0
        )
        if step.worth is not None and step.worth < 0:
            lost += -step.worth * share
        else:
            reached = max(reached, share if step.worth is None else step.worth * (1.0 if share else 0.0))
        shown.append(_result(step.name, "", share))
    return Score(_bounded(reached - lost), tuple(shown))


def _share(
    assertion: str | None,
    rule: str | None,
    scene: Scene,
    results: Mapping[str, AssertionResult],
    *,
    whole: bool = False,
) -> float:
    """Return how far a criterion is met, 0.0-1.0; with `whole`, the count that its rule gives, 0 or more.

    Raises:
        RuleFault: The assertion or the rule could not be evaluated.
    """
    if assertion is not None:
        found = results.get(assertion)
        if found is None or found.outcome is Outcome.UNASSESSABLE:
            raise rules.RuleFault(f"{assertion} could not be evaluated")
        return 1.0 if found.outcome is Outcome.SATISFIED else 0.0
    number = rules.number_of(str(rule), scene, scene.scenario.extra)
    if not math.isfinite(number):
        raise rules.RuleFault("the rule gives no finite number")
    return max(number, 0.0) if whole else _bounded(number)


def _steps(profile: Profile, scenario: Scenario, readings: Readings) -> tuple[_Step, ...]:
    if scenario.scoring.archetype is not None:
        return _bound_steps(profile, scenario)
    levels = readings.rubrics.get(digest_of({"id": scenario.id, "rubric": scenario.scoring.rubric}), ())
    return tuple(_read_step(level, scenario.scoring.rubric) for level in levels)


def _read_step(level: Level, rubric: Mapping[str, Any]) -> _Step:
    worth = rubric.get(level.name)
    number = worth if isinstance(worth, int | float) and not isinstance(worth, bool) else None
    return _Step(level.name, None if number is None else float(number), rule=level.rule)


def _bound_steps(profile: Profile, scenario: Scenario) -> tuple[_Step, ...]:
    """Return the levels of the archetype's table that the scenario binds, best first."""
    archetype = profile.archetype(str(scenario.scoring.archetype))
    table = dict(table_of(archetype.rubric)) if archetype is not None else {}
    names = set(assertion_ids(scenario))
    steps = []
    bound = {_slug(role): (role, value) for role, value in scenario.scoring.binding.items()}
    # A deduction that nothing counts would be a score too high.
    if any(worth is not None and worth < 0 and slug not in bound for slug, worth in table.items()):
        return ()
    for slug, (role, value) in bound.items():
        if slug not in table or not isinstance(value, str):
            return ()
        told = {"assertion": value} if value in names else {"rule": value}
        steps.append(_Step(role, table[slug], **told))
    return tuple(sorted(steps, key=lambda step: -(step.worth if step.worth is not None else 2.0)))


def table_of(lines: tuple[str, ...]) -> Iterator[tuple[str, float | None]]:
    """Yield the levels of an archetype's score table as slug and worth, None for a proportional level.

    A line holds levels such as `Correct root cause = 100%. Incorrect = 0%.`; `Per hop missed, -25%` is worth
    a negative share.
    """
    for line in lines:
        for match in _SHARE.finditer(line.lstrip("- ")):
            worth = float(match[2]) / 100 if match[2] else None
            yield _slug(match[1]), worth
        for match in _DEDUCTION.finditer(line):
            yield _slug(match[1]), -float(match[2]) / 100


def _slug(text: str) -> str:
    return _SLUG.sub("_", text.lower()).strip("_")


def _criterion_faults(scenario: Scenario) -> Iterator[Fault]:
    names = set(assertion_ids(scenario))
    for item in scenario.scoring.criteria:
        yield from _fault_of(item.identifier, item.description, item.assertion, item.rule, names)


def _step_faults(steps: tuple[_Step, ...], scenario: Scenario) -> Iterator[Fault]:
    names = set(assertion_ids(scenario))
    for step in steps:
        yield from _fault_of(step.name, step.name, step.assertion, step.rule, names)


def _truth_faults(steps: tuple[_Step, ...], scenario: Scenario, readings: Readings) -> Iterator[Fault]:
    """Yield the levels whose rule asks for a ground truth that nothing gives."""
    known = {*readings.truth_of(scenario), *scenario.extra}
    for step in steps if scenario.scoring.archetype is None else ():
        unknown = min(rules.truths_of(step.rule or "") - known, default="")
        if unknown:
            yield (
                f"criteria/{step.name}",
                step.name,
                f"the rule asks what {unknown} is, and nothing says it",
            )


def _fault_of(
    name: str, text: str, assertion: str | None, rule: str | None, names: set[str]
) -> Iterator[Fault]:
    if assertion is not None and assertion not in names:
        yield f"criteria/{name}", text, f"the scenario has no assertion {assertion!r}"
    elif assertion is None:
        fault = rules.find_fault(rule or "")
        if fault:
            yield f"criteria/{name}", text, fault


def _result(name: str, text: str, share: float) -> AssertionResult:
    met = Outcome.SATISFIED if share > 0 else Outcome.VIOLATED
    return AssertionResult(f"criteria/{name}", "criteria", text or name, met, f"met to {share:.0%}")


def _open(name: str, text: str, reason: str) -> AssertionResult:
    return AssertionResult(name, "criteria", text, Outcome.UNASSESSABLE, reason)


def _bounded(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 6)
