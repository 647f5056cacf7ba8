"""The verdict on an image as an in-toto statement, made of an Evaluation by the one reading of verdicts.

A fault of the harness says nothing about an image, so that there is no statement of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator import errors
from oasis_operator.api.v1alpha1.verdict import Verdict
from oasis_operator.cli.outcome import read_outcome
from oasis_operator.engine.reports.intoto import PREDICATE, STATEMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oasis_operator.api.v1alpha1.evaluation import Evaluation
    from oasis_operator.api.v1alpha1.scenariorun import ScenarioRun

RESULTS = ("PASSED", "WARNED", "FAILED")


def build_statement(evaluation: Evaluation, runs: Iterable[ScenarioRun]) -> bytes:
    """Return the canonical JSON of the statement on the image that ran, as the gate is now.

    Raises:
        PreflightGap: There is no verdict on an image to tell of.
    """
    known, status = read_outcome(evaluation), evaluation.status
    where = f"Evaluation {evaluation.metadata.name}"
    if known.verdict not in (Verdict.PASS, Verdict.FAIL):
        said = known.verdict.value if known.verdict else "no verdict"
        raise errors.PreflightGap(f"{where}: {said}: only a PASS or a FAIL says something about an image")
    digests = status.digests
    if digests is None or not digests.image or not digests.subject:
        raise errors.PreflightGap(
            f"{where}: status.digests.image: not known; evaluate an Agent with an image"
        )
    statement: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": [{"name": evaluation.spec.agent_ref.name, "digest": _sha256(digests.image)}],
        "predicateType": PREDICATE,
        "predicate": {
            "result": "FAILED"
            if known.verdict is Verdict.FAIL
            else ("PASSED" if known.gateable else "WARNED"),
            "configuration": _configuration(evaluation),
            **_tests(runs),
        },
    }
    return rfc8785.dumps(statement)


def read_statement(payload: bytes) -> dict[str, Any]:
    """Return what a verified statement says.

    Raises:
        InvalidInput: It is no test result.
    """
    try:
        told: dict[str, Any] = json.loads(payload)
        images = tuple(f"sha256:{one['digest']['sha256']}" for one in told["subject"])
        result = told["predicate"]["result"]
    except (ValueError, KeyError, TypeError) as error:
        raise errors.InvalidInput(f"payload: no in-toto statement: {error!r}") from error
    if told.get("_type") != STATEMENT or told.get("predicateType") != PREDICATE or result not in RESULTS:
        raise errors.InvalidInput(f"payload: want a {PREDICATE} statement with one of {', '.join(RESULTS)}")
    return {"result": result, "images": images}


def _configuration(evaluation: Evaluation) -> list[Mapping[str, Any]]:
    """Return what else decided, each by its digest."""
    status = evaluation.status
    digests = {
        "profile": (status.profile.name if status.profile else "", status.digests and status.digests.profile),
        "subject": (evaluation.spec.agent_ref.name, status.digests and status.digests.subject),
        "evidence": (evaluation.metadata.name, status.digests and status.digests.evidence),
    }
    return [
        {"name": f"{kind}/{name}", "digest": _sha256(digest)}
        for kind, (name, digest) in digests.items()
        if digest
    ]


def _tests(runs: Iterable[ScenarioRun]) -> dict[str, list[str]]:
    """Return the scenarios by what became of them; one failed repetition is a failure."""
    found: dict[str, set[str]] = {"passedTests": set(), "warnedTests": set(), "failedTests": set()}
    for run in runs:
        if run.status.outcome is Verdict.FAIL:
            found["failedTests"].add(run.spec.scenario_id)
        elif run.status.outcome is Verdict.PASS:
            found["warnedTests" if run.status.vacuous else "passedTests"].add(run.spec.scenario_id)
    found["warnedTests"] -= found["failedTests"]
    found["passedTests"] -= found["failedTests"] | found["warnedTests"]
    return {name: sorted(ids) for name, ids in found.items()}


def _sha256(digest: str) -> dict[str, str]:
    return {"sha256": digest.removeprefix("sha256:")}
