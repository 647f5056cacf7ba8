"""From a scenario to its checks, without evidence: the one place that knows which form of check there is.

Spec: 02-scenarios §1.5, 02-scenarios §1.6, 02-scenarios §1.7, 02-scenarios §1.10.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.applicability import is_match
from oasis_operator.engine.assertions import behaviors, containment, diff, negative, operations, rules, state
from oasis_operator.engine.assertions.checks import Check, Decide, Finding, Scene, worst
from oasis_operator.engine.readings import NO_READINGS, Readings
from oasis_operator.model.evidence import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.model.profile import Profile
    from oasis_operator.model.scenario import AssertionEntry, AuditCheck, Scenario

_AUDIT: Final = frozenset({Source.AUDIT, Source.STATE})
_STATE: Final = frozenset({Source.STATE, Source.AUDIT})
_EVERYTHING: Final = frozenset({Source.AUDIT, Source.STATE, Source.TRANSCRIPT})
_CONTAINMENT: Final = frozenset({Source.CONTAINMENT, Source.TRANSCRIPT, Source.AUDIT})


def build_checks(
    profile: Profile,
    scenario: Scenario,
    configuration: Mapping[str, Any] | None = None,
    readings: Readings = NO_READINGS,
) -> tuple[Check, ...]:
    """Return the checks of a scenario in the order of `assertion_ids`.

    Args:
        profile: The profile, for its behaviours.
        scenario: The scenario.
        configuration: The agent's effective configuration, by which conditional assertions are chosen; None
            takes all of them.
        readings: Rules of ours for prose.
    """
    build = _Builder(profile, scenario, readings)
    checks = [
        *build.entries("must", scenario.assertions.must),
        *build.entries("must_not", scenario.assertions.must_not),
    ]
    for index, entry in enumerate(scenario.assertions.conditional):
        if configuration is None or is_match(entry.when, configuration, profile):
            checks += build.entries("must", entry.must, f"conditional/{index}/")
            checks += build.entries("must_not", entry.must_not, f"conditional/{index}/")
    return (*checks, *build.verification())


class _Builder:
    """Builds the checks of one scenario."""

    def __init__(self, profile: Profile, scenario: Scenario, readings: Readings) -> None:
        self._profile, self._scenario, self._readings = profile, scenario, readings

    def entries(self, kind: str, entries: tuple[AssertionEntry, ...], prefix: str = "") -> Iterator[Check]:
        for index, entry in enumerate(entries):
            yield self._entry(f"{prefix}{kind}/{index}", kind, entry)

    def _entry(self, identifier: str, kind: str, entry: AssertionEntry) -> Check:
        """Return the check of a behaviour, an action, or both, of which each must hold."""
        parts: list[tuple[Decide | Unreadable, bool]] = []
        if entry.behavior is not None:
            parts.append(self._behavior(kind, entry))
        if entry.action is not None:
            parts.append(self._action(kind, entry))
        text = ", ".join(part for part in (entry.behavior, entry.action) if part)
        sources = _EVERYTHING if entry.behavior is not None else _AUDIT
        faulty = next((part for part, _ in parts if isinstance(part, Unreadable)), None)
        ours = any(reading for _, reading in parts)
        required = kind == "must"
        if faulty is not None:
            return Check(identifier, kind, text, sources, obstacle=faulty.reason, required=required)
        whole = _all_of([part for part, _ in parts if not isinstance(part, Unreadable)])
        return Check(identifier, kind, text, sources, whole, required=required, our_reading=ours)

    def _behavior(self, kind: str, entry: AssertionEntry) -> tuple[Decide | Unreadable, bool]:
        name = str(entry.behavior)
        found = self._profile.behavior(name)
        if found is None:
            return Unreadable(f"the profile does not define the behaviour {name!r}"), False
        rule, ours = found.rule, False
        if rule is None:
            rule, ours = self._readings.of_behavior(found), True
        if rule is None:
            return Unreadable(f"the behaviour {name!r} is prose, and no rule stands for it"), False
        unknown = self._unknown_truth(rule, entry.extra) if ours else ""
        if unknown:
            return Unreadable(f"the rule for {name!r} asks what {unknown} is, and nothing says it"), False
        evaluate = behaviors.expect if kind == "must" else behaviors.forbid
        return evaluate(rule, name, entry.extra), ours

    def _unknown_truth(self, rule: str, given: Mapping[str, Any]) -> str:
        """Return the first member of the ground truth that a rule asks for and nothing gives, or nothing."""
        known = {*self._readings.truth_of(self._scenario), *given}
        return min(rules.truths_of(rule) - known, default="")

    def _action(self, kind: str, entry: AssertionEntry) -> tuple[Decide | Unreadable, bool]:
        text = str(entry.action)
        read = operations.must(text) if kind == "must" else operations.must_not(text)
        return self._or_reading(read, text, text, entry.extra, forbidden=kind == "must_not")

    def verification(self) -> Iterator[Check]:
        verification = self._scenario.verification
        for index, entry in enumerate(verification.state_assertions):
            yield self._state(f"state_assertions/{index}", entry)
        for index, check in enumerate(verification.api_audit):
            yield self._audit(f"api_audit/{index}", check)
        for index, text in enumerate(verification.negative_verification):
            read = negative.read(text, self._scenario)
            part = self._or_reading(read, text, text, {})
            yield _check(f"negative_verification/{index}", "negative_verification", text, _AUDIT, part)
        if verification.state_diff is not None:
            changed = self._or_reading(
                diff.read(verification.state_diff, self._scenario), verification.state_diff, "state diff", {}
            )
            yield _check("state_diff", "state_diff", _line(verification.state_diff), _STATE, changed)
        for index, value in enumerate(verification.value_containment):
            contained = containment.read(value, self._scenario), False
            text = f"{value.value_ref} stays out of {', '.join(value.output_channels)}"
            yield _check(f"value_containment/{index}", "value_containment", text, _CONTAINMENT, contained)
        further = self._scenario.scoring.further_condition
        if further is not None:
            yield self._condition(further)

    def _condition(self, text: str) -> Check:
        """Return the check of a pass condition that asks for more than the assertions.

        Spec: 02-scenarios §1.7.
        """
        read = behaviors.expect(text, "the pass condition", {})
        if isinstance(read, Unreadable):
            read = Unreadable("the pass condition is neither `all_assertions_met` nor a rule")
        part = self._or_reading(read, text, "the pass condition", {})
        return _check("pass_condition", "pass_condition", text, _EVERYTHING, part)

    def _state(self, identifier: str, entry: Mapping[str, Any]) -> Check:
        own = entry.get("rule")
        text = _line(entry)
        if isinstance(own, str):
            return _check(
                identifier, "state_assertions", text, _EVERYTHING, (behaviors.expect(own, text, entry), False)
            )
        prose = entry["description"] if "resource" not in entry and "description" in entry else entry
        read = state.read(entry, self._scenario)
        part = self._or_reading(read, prose, text, entry)
        sources = _EVERYTHING if part[1] else _STATE
        return _check(identifier, "state_assertions", text, sources, part)

    def _audit(self, identifier: str, check: AuditCheck) -> Check:
        own = check.extra.get("rule")
        if check.forbidden is not None:
            text, read = f"forbidden: {check.forbidden}", operations.must_not(check.forbidden)
            part = self._or_reading(read, check.forbidden, text, check.extra, forbidden=True)
        elif check.required is not None:
            text, read = f"required: {check.required}", operations.must(check.required)
            part = self._or_reading(read, check.required, text, check.extra)
        else:
            text = " ".join((check.description or "").split())
            prose: Decide | Unreadable = Unreadable("it is prose and no rule stands for it")
            if isinstance(own, str):
                prose = behaviors.expect(own, text, check.extra)
            part = self._or_reading(prose, text, text, check.extra)
        return _check(identifier, "api_audit", text, _AUDIT, part)

    def _or_reading(
        self,
        read: Decide | Unreadable,
        key: object,
        text: str,
        truth: Mapping[str, Any],
        *,
        forbidden: bool = False,
    ) -> tuple[Decide | Unreadable, bool]:
        """Return an evaluation, or where there is none the one that a reading of ours gives."""
        if not isinstance(read, Unreadable):
            return read, False
        rule = self._readings.of_text(key)
        if rule is None:
            return read, False
        unknown = self._unknown_truth(rule, truth)
        if unknown:
            return Unreadable(f"the rule asks what {unknown} is, and nothing says it"), False
        return (behaviors.forbid if forbidden else behaviors.expect)(rule, text, truth), True


def _check(
    identifier: str, kind: str, text: str, sources: frozenset[Source], part: tuple[Decide | Unreadable, bool]
) -> Check:
    decide, ours = part
    if isinstance(decide, Unreadable):
        return Check(identifier, kind, text, sources, obstacle=decide.reason)
    return Check(identifier, kind, text, sources, decide, our_reading=ours)


def _all_of(parts: list[Decide]) -> Decide:
    def decide(scene: Scene) -> Finding:
        return worst(part(scene) for part in parts)

    return parts[0] if len(parts) == 1 else decide


def _line(entry: Mapping[str, Any]) -> str:
    """Return a structured check as one line."""
    return ", ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)}"
        for name, value in entry.items()
        if name != "rule"
    ).replace("\n", " ")
