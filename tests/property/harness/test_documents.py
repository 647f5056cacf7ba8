"""Whatever happened in a run: documents are valid, counts add up, states move forward, evidence resolves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kit.builders.challenges import a_challenge
from kit.builders.findings import LATER, TIME
from kit.builders.harness_runs import ACTIONS, IDOR, VERSIONS, a_transcript, an_attempt, an_effect, run_facts
from kit.surroundings import examples
from oasis_operator.errors import InvalidInput
from oasis_operator.harness.conclusion import conclude
from oasis_operator.harness.configuration import Configuration
from oasis_operator.harness.coverage import plan_ledger
from oasis_operator.harness.record import Record, render
from oasis_operator.harness.touches import Request
from oasis_operator.harness.validation import validate_findings, validate_ledger, validate_record
from oasis_operator.harness.vocabulary import Shape, UnitState
from oasis_operator.model.budget import Limits

if TYPE_CHECKING:
    from oasis_operator.harness.ledger import Unit

ON = Configuration(limits=Limits(steps=3, hard_stop=True), coverage=True, verifier="verifier")
PLAN = plan_ledger("abc12345", a_challenge(), TIME)


def check(record: Record) -> dict[str, Any]:
    """Validate the documents in both shapes and return the harness document."""
    document = json.loads(render(record.to_json()))
    assert validate_record(render(document)) == ()
    assert validate_findings(render(document["findings"])) == ()
    assert validate_findings(render(record.findings.to_json(Shape.GROUPED))) == ()
    assert record.ledger is not None
    assert validate_ledger(render(document["coverageLedger"])) == ()
    assert validate_ledger(render(record.ledger.to_json(Shape.GROUPED))) == ()
    return dict(document)


STEPS = st.lists(st.integers(-1, 5), max_size=3)
QUOTES = st.lists(
    st.sampled_from(["admin@example.org", "guest", "FLAG{made-up}", "profile/3", "never seen", ""]),
    max_size=3,
)
CLAIMS = st.lists(
    st.builds(
        lambda steps, quotes, category, verdict: {
            **IDOR, "steps": steps, "evidence": quotes, "category": category, "verdict": verdict
        },
        STEPS,
        QUOTES,
        st.sampled_from(["idor", "sql-injection", "auth", "nonsense"]),
        st.sampled_from(["confirmed", "needs_validation", None]),
    ),
    max_size=4,
)  # fmt: skip
PATHS = st.sampled_from(
    ["/", "/admin", "/login", "/profile/1", "/profile/3", "/api/x", "/robots.txt", "/logs"]
)
REQUESTS = st.lists(
    st.builds(
        lambda path, method, query: Request("hunter", TIME, "target", method, path, query),
        PATHS,
        st.sampled_from(["GET", "POST"]),
        st.sampled_from(["", "q=%27%20or%201", "id=3"]),
    ),
    max_size=12,
)


@settings(max_examples=examples(40), deadline=None)
@given(CLAIMS, st.none() | REQUESTS, st.booleans(), st.sampled_from(["", "stopped"]))
def test_whatever_happened_the_documents_are_valid_counts_add_up_and_evidence_resolves(
    claims: list[dict[str, Any]], traffic: list[Request] | None, verified: bool, error: str
) -> None:
    attempts = {"F-001": an_attempt(an_effect())} if verified else {}
    document = check(
        conclude(ON, run_facts(*claims, traffic=traffic, attempts=attempts, error=error), VERSIONS)
    )
    ledger = document["coverageLedger"]
    assert sum(ledger["summary"].values()) == len(ledger["units"]) == 8
    for shape in Shape:
        findings = conclude(ON, run_facts(*claims, attempts=attempts), VERSIONS).findings.to_json(shape)
        assert validate_findings(render(findings), ACTIONS) == ()
    outputs = [action["result"] for action in ACTIONS]
    rejected = {each["id"] for each in document["findings"]["findings"] if each["verdict"] == "rejected"}
    for claim in document["claims"]:
        results = [place for place in claim["evidence"] if place["part"] == "result"]
        assert results or claim["findingId"] in rejected
        assert all(place["quote"] in outputs[place["step"] - 1] for place in results)


MOVES = st.lists(
    st.sampled_from(["start", "complete", "defer"]).flatmap(
        lambda move: st.tuples(st.just(move), st.sampled_from([TIME, LATER]))
    ),
    max_size=6,
)
ORDER = [UnitState.PLANNED, UnitState.IN_PROGRESS, UnitState.COMPLETED, UnitState.DEFERRED]


def moved(unit: Unit, move: str, at: str) -> Unit:
    if move == "start":
        return unit.start("hunter", at)
    return unit.complete(at) if move == "complete" else unit.defer("late")


@settings(max_examples=examples(40), deadline=None)
@given(MOVES)
def test_whatever_is_tried_a_state_never_moves_back_and_the_ledger_stays_valid(
    moves: list[tuple[str, str]],
) -> None:
    unit = PLAN.units[0]
    for move, at in moves:
        before = unit
        try:
            unit = moved(before, move, at)
        except InvalidInput:
            continue
        assert ORDER.index(unit.state) >= ORDER.index(before.state)
        assert before.state not in (UnitState.COMPLETED, UnitState.DEFERRED) or unit == before
        assert validate_ledger(render(PLAN.with_unit(unit).to_json())) == ()


WORDS = st.sampled_from(
    ["http://[", "//", "idor", "high", "admin@example.org", "/profile/3", "\x1b[2J", "\ud800", ""]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*IDOR, "trace", "level"]), inner)
    ),
    max_leaves=8,
)
ACTION = st.fixed_dictionaries(
    {}, optional={"tool": WORDS, "arguments": JSON, "result": WORDS, "error": st.none() | WORDS}
)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(IDOR, JSON)) | JSON, max_size=3),
    st.lists(ACTION, max_size=3),
)
def test_whatever_an_agent_says_it_breaks_nothing(claims: list[Any], actions: list[dict[str, Any]]) -> None:
    held = [
        {
            "arguments": {"command": "curl 'http://[' http://target/profile/3"},
            "result": "mail: admin@example.org",
        }
    ]
    check(
        conclude(
            ON,
            run_facts(
                transcript=a_transcript(
                    {**IDOR, "steps": [1], "endpoints": ["http://["]},
                    *claims,
                    actions=[*held, *_mended(actions)],
                )
            ),
            VERSIONS,
        )
    )


def _mended(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return actions as evidence documents can hold them: they have no lone surrogates."""
    mended = json.dumps(actions).replace("\\ud800", "?")
    return list(json.loads(mended))
