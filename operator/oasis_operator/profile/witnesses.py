"""Witness scripts, `witnesses/<scenario id>.yaml`: those that satisfy the scenario and those that violate it.

The first two may stand as `satisfying` and `violating`; a list `witnesses` holds them all, or more by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.model.scenario import JsonMap, SourceLocation
from oasis_operator.model.witness import Expected, Witness, Witnesses, WitnessScript
from oasis_operator.profile.fields import Fields, suggest
from oasis_operator.profile.suites import single_document
from oasis_operator.profile.yaml_nodes import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from oasis_operator.profile.collector import Reporter

FAMILY: Final = "WIT"
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")


def parse_witnesses(text: str, scenarios: Collection[str], reporter: Reporter) -> Witnesses | None:
    """Return the witnesses of a file.

    Args:
        text: The file.
        scenarios: Identifiers of all scenarios; the file is named after one of them.
        reporter: Where faults go.
    """
    node = single_document(text, reporter, FAMILY)
    if node is None:
        return None
    scenario = reporter.file.rsplit("/", 1)[-1].removesuffix(".yaml").removesuffix(".yml")
    if scenario not in scenarios:
        message = "The file is named after no scenario of the profile."
        reporter.report("WIT005", message, at=node.at, value=scenario, remedy=suggest(scenario, scenarios))
    fields = Fields(node, reporter, FAMILY)
    entries = fields.mappings("witnesses")
    pair = _pair(fields, required=not entries)
    listed = [_witness(entry) for entry in entries]
    fields.rest()
    if pair is None or None in listed:
        return None
    found = (*pair, *(item for item in listed if item is not None))
    _check_together(found, fields)
    if {item.expect for item in found} != set(Expected):
        return None
    return Witnesses(scenario, found, SourceLocation(reporter.file, *node.at))


def _pair(fields: Fields, *, required: bool) -> tuple[Witness, ...] | None:
    """Return the two that need no name; empty where they may be missing, None where one is at fault."""
    found = []
    for name, expect in (("satisfying", Expected.PASS), ("violating", Expected.FAIL)):
        entry = fields.mapping(name, required=required)
        if entry is not None:
            found.append(Witness(name, expect, _script(entry)))
            entry.rest()
        elif required or fields.node.get(name) is not None:
            return None
    return tuple(found)


def _witness(fields: Fields) -> Witness | None:
    name, expect = fields.text("name", required=True), fields.choice("expect", Expected, required=True)
    route, subtle = fields.text("route") or "", fields.boolean("subtle") or False
    least, most = _score(fields, "least_score"), _score(fields, "most_score")
    script = _script(fields)
    fields.rest()
    if name is None or expect is None:
        return None
    return Witness(name, expect, script, route, subtle, least, most)


def _score(fields: Fields, name: str) -> float | None:
    score = fields.number(name)
    if score is not None and not 0 <= score <= 1:
        at, path = fields.at(name), fields.where(name)
        fields.report("006", "A score lies between 0 and 1.", at=at, value=score, path=path)
    return score


def _check_together(found: tuple[Witness, ...], fields: Fields) -> None:
    """File what is wrong with the witnesses as a set."""
    at = fields.node.at
    names = [item.name for item in found]
    for name in sorted({name for name in names if names.count(name) > 1}):
        fields.report("009", "Two witnesses have this name.", at=at, value=name)
    for expect in Expected:
        if all(item.expect is not expect for item in found):
            fields.report("010", "No witness has this outcome.", at=at, value=str(expect))
    for number, item in enumerate(found):
        if any(item.script == other.script for other in found[:number]):
            fields.report("007", "Two scripts do the same.", at=at, value=item.name)


def _script(fields: Fields) -> WitnessScript:
    # A script may do nothing at all: an idle agent is a witness too. It must say so with an empty list.
    steps = tuple(_step(entry) for entry in fields.mappings("steps", required=True))
    return WitnessScript(steps, fields.text("answer") or "", fields.text("reasoning") or "")


def _step(fields: Fields) -> JsonMap:
    request, pause = fields.mapping("request"), fields.number("pause_seconds")
    fields.rest()
    if (request is None) == (pause is None):
        fields.report("006", "A step is one request or one pause.", at=fields.node.at, path=fields.path)
    if pause is not None and not 0 < pause <= 60:
        at, path = fields.at("pause_seconds"), fields.where("pause_seconds")
        fields.report("006", "A pause lasts more than 0 and at most 60 s.", at=at, value=pause, path=path)
    if request is not None:
        _check_request(request)
    found: JsonMap = fields.node.plain()
    return found


def _check_request(fields: Fields) -> None:
    method, path = fields.text("method", required=True), fields.text("path", required=True)
    _check_query(fields)
    fields.find("body")
    fields.text("content_type")
    fields.rest()
    if method is not None and method not in _METHODS:
        at, where = fields.at("method"), fields.where("method")
        remedy = f"Use one of: {', '.join(_METHODS)}."
        fields.report("006", "The method is unknown.", at=at, value=method, remedy=remedy, path=where)
    if path is not None:
        _check_path(fields, path)


def _check_query(fields: Fields) -> None:
    """File a query that is neither text, such as `limit=1`, nor values by name."""
    query = fields.find("query")
    if query is not None and query.kind is not Kind.MAPPING and not isinstance(query.value, str):
        fields.wrong("query", query, "a string or a mapping")


def _check_path(fields: Fields, target: str) -> None:
    """File a path that leads elsewhere, or that has a query where the request has one besides."""
    path, mark, _ = target.partition("?")
    fault = remedy = ""
    if not path.startswith("/") or path.startswith("//") or ".." in path or "#" in target:
        fault = "The path is malformed."
        remedy = "Start it with one slash, as in /api/v1/pods, without `..` or a fragment."
    elif mark and fields.find("query") is not None:
        fault = "The request has two queries."
        remedy = "Give it behind the path's question mark or in `query`, not in both."
    if fault:
        at, where = fields.at("path"), fields.where("path")
        fields.report("006", fault, at=at, value=target, remedy=remedy, path=where)
