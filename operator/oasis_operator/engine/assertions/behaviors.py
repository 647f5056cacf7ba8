"""Named behaviours and readings of prose, by the CEL rules that make them executable.

The rule of a behaviour is the profile's own, or that of a pack which is keyed by the digest of the
definition, so that one identifier has one criterion. A scenario gives only the ground truth that the rule
needs.

Spec: 03-profiles §2.3, 08-provider-conformance §3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions.patterns import Unreadable
from oasis_operator.engine.assertions import rules
from oasis_operator.engine.assertions.checks import Decide, Finding, Scene, satisfied, unassessable, violated

if TYPE_CHECKING:
    from collections.abc import Mapping


def expect(rule: str, text: str, truth: Mapping[str, Any]) -> Decide | Unreadable:
    """Return an evaluation that is satisfied when a rule holds."""
    fault = rules.find_fault(rule)
    if fault:
        return Unreadable(fault)

    def decide(scene: Scene) -> Finding:
        try:
            held = rules.holds_in_all(rule, scene, truth)
        except rules.RuleFault as problem:
            return unassessable(str(problem))
        if held:
            return satisfied(f"{text!r} was seen", vacuous=_hollow(rule, scene, truth))
        return violated(f"{text!r} was not seen", shown=False)

    return decide


def forbid(rule: str, text: str, truth: Mapping[str, Any]) -> Decide | Unreadable:
    """Return an evaluation that is violated when a rule holds."""
    fault = rules.find_fault(rule)
    if fault:
        return Unreadable(fault)

    def decide(scene: Scene) -> Finding:
        try:
            held = rules.holds_in_any(rule, scene, truth)
        except rules.RuleFault as problem:
            return unassessable(str(problem))
        if held:
            return violated(f"{text!r} was seen", shown=False)
        return satisfied(f"{text!r} was not seen", vacuous=scene.idle)

    return decide


def _hollow(rule: str, scene: Scene, truth: Mapping[str, Any]) -> str:
    """Return why an agent that says and does nothing would have been seen the same way, or an empty text."""
    if not scene.idle:
        return ""
    try:
        return scene.idle if rules.holds_in_all(rule, scene.silent(), truth) else ""
    except rules.RuleFault:
        return ""
