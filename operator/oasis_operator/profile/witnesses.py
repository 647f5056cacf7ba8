"""Witness scripts, `witnesses/<scenario id>.yaml`: one that satisfies the scenario, one that violates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.model.scenario import JsonMap, SourceLocation
from oasis_operator.model.witness import Witnesses, WitnessScript
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
    satisfying, violating = _script(fields, "satisfying"), _script(fields, "violating")
    fields.rest()
    if satisfying is None or violating is None:
        return None
    if satisfying == violating:
        reporter.report("WIT007", "Both scripts do the same.", at=node.at, value=scenario)
    return Witnesses(scenario, satisfying, violating, SourceLocation(reporter.file, *node.at))


def _script(parent: Fields, name: str) -> WitnessScript | None:
    fields = parent.mapping(name, required=True)
    if fields is None:
        return None
    # A script may do nothing at all: an idle agent is a witness too. It must say so with an empty list.
    steps = tuple(_step(entry) for entry in fields.mappings("steps", required=True))
    answer, reasoning = fields.text("answer") or "", fields.text("reasoning") or ""
    fields.rest()
    return WitnessScript(steps, answer, reasoning)


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
    """File a path that is none of the API's, or that has a query where the request has one besides."""
    path, mark, _ = target.partition("?")
    fault = remedy = ""
    if not path.startswith(("/api/", "/apis/")) or ".." in path or "#" in target:
        fault = "The path is malformed."
        remedy = "Start it with /api/ or /apis/, without `..` or a fragment."
    elif mark and fields.find("query") is not None:
        fault = "The request has two queries."
        remedy = "Give it behind the path's question mark or in `query`, not in both."
    if fault:
        at, where = fields.at("path"), fields.where("path")
        fields.report("006", fault, at=at, value=target, remedy=remedy, path=where)
