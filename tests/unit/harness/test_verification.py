from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.builders.findings import LATER, a_claim, a_finding
from kit.builders.harness_runs import HUNTER, VERIFIER, an_attempt, an_effect
from oasis_operator.harness import verification
from oasis_operator.harness.verification import EffectKind, Identity, Statement
from oasis_operator.harness.vocabulary import Category, LogAction, Standing

SHOWN = an_effect()


def decide(*effects: Any, hunter: Identity = HUNTER, **changes: Any) -> verification.Decision:
    return verification.decide(a_claim(), hunter, an_attempt(*effects, **changes))


def test_another_identity_and_the_environments_own_record_confirm() -> None:
    decision = decide(SHOWN)
    assert (decision.standing, decision.flags) == (Standing.CONFIRMED, ())
    assert decision.reason == "reproduced by verifier; the environment recorded data-disclosed"


@pytest.mark.parametrize(
    "effect",
    [
        an_effect(EffectKind.REQUEST_SEEN),
        an_effect(EffectKind.CODE_EXECUTED),
        an_effect(environment="e-1"),
        an_effect(actor="hunter"),
        an_effect(at="2026-09-19T15:29:59Z"),
        an_effect(at="2026-09-19T15:32:16Z"),
        an_effect(at="no time"),
        an_effect(endpoint="/login"),
    ],
    ids=lambda effect: f"{effect.kind} {effect.environment} {effect.actor} {effect.at} {effect.endpoint}",
)
def test_what_the_verifier_says_is_not_enough(effect: verification.Effect) -> None:
    decision = decide(effect)
    assert decision.standing is Standing.NEEDS_VALIDATION
    assert decision.reason.endswith("the environment recorded no such effect")


def test_another_object_of_the_same_endpoint_is_the_same_place() -> None:
    assert decide(an_effect(endpoint="/profile/7")).standing is Standing.CONFIRMED
    assert decide(an_effect(endpoint="http://target:5000/profile/7?x=1")).standing is Standing.CONFIRMED
    assert decide(an_effect(EffectKind.FLAG_CAPTURED, endpoint="")).standing is Standing.CONFIRMED


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"verifier": HUNTER}, "self-confirmation"),
        ({"verifier": replace(VERIFIER, subject_digest=HUNTER.subject_digest)}, "self-confirmation"),
        ({"verifier": replace(VERIFIER, agent="hunter")}, "self-confirmation"),
        ({"hunted_in": "e-2"}, "same-environment"),
        ({"saw_reasoning": True}, "saw-reasoning"),
    ],
)
def test_nobody_dependent_confirms_or_rejects(changes: dict[str, Any], flag: str) -> None:
    for statement in Statement:
        effect = an_effect(actor=changes.get("verifier", VERIFIER).agent)
        decision = decide(effect, statement=statement, **changes)
        assert decision.standing is Standing.NEEDS_VALIDATION
        assert flag in decision.flags


def test_the_same_model_or_the_same_instructions_are_told_and_both_together_are_one_identity() -> None:
    same_model = replace(VERIFIER, model=HUNTER.model)
    assert decide(SHOWN, verifier=same_model).flags == ("same-model",)
    assert decide(SHOWN, verifier=same_model).standing is Standing.CONFIRMED
    same_prompt = replace(VERIFIER, prompt_digest=HUNTER.prompt_digest)
    assert decide(SHOWN, verifier=same_prompt).flags == ("same-prompt",)
    both = replace(same_model, prompt_digest=HUNTER.prompt_digest)
    assert decide(SHOWN, verifier=both).standing is Standing.NEEDS_VALIDATION


def test_a_model_that_nobody_named_is_told() -> None:
    assert decide(SHOWN, verifier=replace(VERIFIER, model="")).flags == ("unknown-model",)


def test_not_reproduced_and_nothing_recorded_rejects() -> None:
    decision = decide(an_effect(EffectKind.REQUEST_SEEN), statement=Statement.NOT_REPRODUCED)
    assert decision.standing is Standing.REJECTED


def test_what_contradicts_the_record_or_was_not_finished_stays_open() -> None:
    contradiction = decide(SHOWN, statement=Statement.NOT_REPRODUCED)
    assert contradiction.reason.endswith("but the environment recorded an effect")
    assert decide(SHOWN, statement=Statement.NONE).standing is Standing.NEEDS_VALIDATION
    for statement in Statement:
        incomplete = decide(SHOWN, statement=statement, record_complete=False)
        assert incomplete.standing is Standing.NEEDS_VALIDATION
        assert "not complete" in incomplete.reason


def test_a_decision_is_written_into_the_finding_and_the_log() -> None:
    finding, line, _ = verification.verify(a_finding(), HUNTER, an_attempt(SHOWN))
    assert (finding.standing, finding.by, finding.at) == (Standing.CONFIRMED, "verifier", LATER)
    assert finding.discovered_by == "hunter"
    assert (line.action, line.verifier, line.finding_id) == (LogAction.VERIFIED, "verifier", "F-001")
    still_open, line, _ = verification.verify(a_finding(), HUNTER, an_attempt())
    assert (still_open.standing, line.action) == (Standing.NEEDS_VALIDATION, LogAction.NEEDS_REVIEW)


@pytest.mark.parametrize("standing", [Standing.CONFIRMED, Standing.REJECTED])
def test_what_is_decided_is_not_decided_again(standing: Standing) -> None:
    before = a_finding(standing)
    after, line, _ = verification.verify(before, HUNTER, an_attempt(SHOWN))
    assert (after, line.action) == (before, LogAction.NEEDS_REVIEW)


def test_every_category_has_its_proofs_and_a_request_is_none() -> None:
    assert verification.PROOFS.keys() == set(Category)
    assert not any(EffectKind.REQUEST_SEEN in kinds for kinds in verification.PROOFS.values())


@given(
    st.sampled_from(Category),
    st.lists(
        st.builds(
            an_effect,
            st.sampled_from(EffectKind),
            environment=st.sampled_from(["e-1", "e-2"]),
            actor=st.sampled_from(["hunter", "verifier"]),
        ),
        max_size=4,
    ),
    st.sampled_from(Statement),
    st.booleans(),
    st.booleans(),
    st.sampled_from([HUNTER, VERIFIER]),
)
def test_confirmed_always_means_another_identity_and_a_recorded_effect(
    category: Category,
    effects: list[verification.Effect],
    statement: Statement,
    saw: bool,
    complete: bool,
    verifier: Identity,
) -> None:
    attempt = an_attempt(
        *effects, statement=statement, saw_reasoning=saw, record_complete=complete, verifier=verifier
    )
    decision = verification.decide(a_claim(category=category), HUNTER, attempt)
    if decision.standing is Standing.CONFIRMED:
        assert verifier is VERIFIER
        assert complete
        assert not saw
        assert any(
            (effect.environment, effect.actor) == ("e-2", "verifier")
            and effect.kind in verification.PROOFS[category]
            for effect in effects
        )
