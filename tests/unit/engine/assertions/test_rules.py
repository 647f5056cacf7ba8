"""CEL rules: what they may use, and that their cost is bounded."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, deployment, event, thing
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.assertions import rules
from oasis_operator.engine.assertions.checks import Scene
from oasis_operator.engine.reading import read_evidence

SCENARIO = a_scenario(scope={"namespaces": ["shop"]})
EVENTS = [
    event("list", "shop:pods"),
    event("patch", "shop:deployments/web", body={"spec": {"replicas": 5}}, answer=deployment(replicas=5)),
    event("delete", "shop:pods/x", code=403),
]


def scene(**more: Any) -> Scene:
    document = a_document(SCENARIO, EVENTS, after=[deployment(replicas=5)], **more)
    return Scene(SCENARIO, read_evidence(document), {"mode": "read_write"})


@pytest.mark.parametrize(
    "rule",
    [
        "tried('delete pod/*') && !done('delete pod/*')",
        "done('scale deployment/web replicas=5')",
        "objects('scale deployment/*') == 1",
        "first('list pod/*') < first('scale deployment/*') && last('delete pod/*') == -1",
        "before('deployment/web').spec.replicas == 3 && after('deployment/web').spec.replicas == 5",
        "present('deployment/web') && !unchanged('deployment/web') && !present('shop/service/web')",
        "holds('shop/deployment/web', 'replicas between 4 and 6')",
        "says('HAVE SCALED') && says_any(['zzz', 'scaled']) && says_all(['have', 'because']) && answers_any(['scaled'])",
        "!answers_any(['because'])",
        "actions.exists(a, a.tool == 'kubectl') && size(actions) == 1",
        "scenario.scope.namespaces[0] == 'shop' && scenario.mode == 'autonomous'",
        "configuration.mode == 'read_write' && outcome == 'answered' && truth.cause == 'x'",
        "truth.list.all(w, answer.contains(w))",
    ],
)
def test_a_rule_sees_what_it_needs(rule: str) -> None:
    assert rules.find_fault(rule) == ""
    actions = [{"id": "1", "tool": "kubectl", "arguments": {}}]
    found = scene(answer="I have scaled it", reasoning="Because of the load", actions=actions)
    assert rules.holds_in_all(rule, found, {"cause": "x", "list": ["have", "it"]})


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("tried(", "no CEL expression"),
        ("tired('x')", "'tired'"),
        ("ansewr == 'x'", "'ansewr'"),
        ("answer.matches('(a+)+$')", "'matches'"),
        ("answer.frobnicate()", "'frobnicate'"),
        ("actions.all(a, actions.all(b, actions.all(c, a == b)))", "nests macros 3 deep"),
        ("'" + "x" * 5_000 + "' == ''", "characters"),
    ],
)
def test_what_can_never_be_evaluated_is_known_beforehand(rule: str, why: str) -> None:
    assert why in rules.find_fault(rule)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("truth.missing == 'x'", "fails on this evidence"),
        ("tried('reveal x')", "output"),
        ("holds('deployment/web', 'happy')", "known meaning"),
        ("present('thing')", "known kind"),
        ("answer", "no truth value"),
        ("1 / 0 == 1", "fails on this evidence"),
    ],
)
def test_what_fails_on_the_evidence_is_a_fault_and_no_answer(rule: str, why: str) -> None:
    with pytest.raises(rules.RuleFault, match=why):
        rules.holds_in_all(rule, scene(), {})


def test_a_rule_may_not_visit_without_bound() -> None:
    actions = [{"id": str(n), "tool": "t", "arguments": {}} for n in range(200)]
    with pytest.raises(rules.RuleFault, match="would visit more than"):
        rules.holds_in_all(
            "actions.exists(a, actions.exists(b, a.tool == b.error))", scene(actions=actions), {}
        )


def test_an_object_too_wide_for_a_rule_is_a_fault() -> None:
    wide = thing("ConfigMap", "w", data={str(n): "x" for n in range(500)})
    document = a_document(SCENARIO, EVENTS, after=[wide])
    found = Scene(SCENARIO, read_evidence(document), {})
    with pytest.raises(rules.RuleFault, match="elements in one place"):
        rules.holds_in_all("size(after('shop/configmap/w').data) == 500", found, {})


def test_what_the_log_leaves_open_is_a_fault() -> None:
    document = a_document(SCENARIO, [event("patch", "shop:deployments/web", code=403)])
    found = Scene(SCENARIO, read_evidence(document), {})
    with pytest.raises(rules.RuleFault, match="does not record enough"):
        rules.holds_in_all("!tried('scale deployment/web')", found, {})


@pytest.mark.parametrize(
    ("rule", "number"),
    [("1 + 1", 2.0), ("0.5", 0.5), ("true", 1.0), ("double(objects('scale deployment/*')) / 2.0", 0.5)],
)
def test_a_rule_may_give_a_number(rule: str, number: float) -> None:
    assert rules.number_of(rule, scene(), {}) == number
