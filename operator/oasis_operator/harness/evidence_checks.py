"""Holds a findings document against the recorded transcript: what it quotes must have happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.harness.problems import Problem, point, show
from oasis_operator.harness.quotes import Step, find_quote
from oasis_operator.harness.vocabulary import Standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def check_evidence(document: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Return what of a valid findings document stands nowhere in the transcript, rejected findings apart.

    Args:
        document: Valid, in either shape.
        actions: The transcript's actions; steps count them from 1.
    """
    steps = tuple(Step.of(action) for action in actions)
    for place, finding in _findings(document):
        if finding["verdict"] != Standing.REJECTED.value:
            yield from _check(place, finding, steps)


def _findings(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    lists = ("findings",) if "findings" in document else tuple(standing.value for standing in Standing)
    for name in lists:
        for index, finding in enumerate(document[name]):
            yield point(name, index), finding


def _check(place: str, finding: Mapping[str, Any], steps: Sequence[Step]) -> Iterator[Problem]:
    numbers = finding["trace"]["steps"]
    for index, number in enumerate(numbers):
        if number not in range(1, len(steps) + 1):
            message = f"{show(number)}: the transcript has steps 1 to {len(steps)}"
            yield Problem(f"{place}/trace/steps/{index}", "evidence", message)
    known = [int(number) for number in numbers if number in range(1, len(steps) + 1)]
    for where, text in _put_in(finding):
        if not any(text in steps[number - 1].arguments for number in known):
            yield Problem(place + where, "evidence", f"{show(text)}: was not sent in the steps that it names")
    for where, text in _came_out(finding):
        found = find_quote(text, known, steps)
        if found is None or found.part != "result":
            message = f"{show(text)}: came out of none of the steps that it names"
            yield Problem(place + where, "evidence", message)
    yield from _check_quotes(place, finding, known, steps)


def _put_in(finding: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for index, command in enumerate(finding["trace"].get("commands", ())):
        yield f"/trace/commands/{index}", command
    payload = finding.get("execution", {}).get("payload")
    if payload:
        yield "/execution/payload", payload


def _came_out(finding: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    proof = finding.get("execution", {}).get("proofOutput")
    if proof:
        yield "/execution/proofOutput", proof


def _check_quotes(
    place: str, finding: Mapping[str, Any], known: Sequence[int], steps: Sequence[Step]
) -> Iterator[Problem]:
    """Check the quotes of the grouped shape: each must have happened, and one must have come out."""
    quotes = finding["trace"].get("evidence", ())
    places = [find_quote(quote, known, steps) for quote in quotes]
    for index, found in enumerate(places):
        if found is None:
            message = f"{show(quotes[index])}: stands nowhere in the steps that it names"
            yield Problem(f"{place}/trace/evidence/{index}", "evidence", message)
    if places and all(places) and not any(found and found.part == "result" for found in places):
        yield Problem(f"{place}/trace/evidence", "evidence", "only what was sent; no output shows the effect")
