"""Suites: one YAML document per file.

Spec: 02-scenarios §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.model.profile import Suite
from oasis_operator.model.scenario import SourceLocation
from oasis_operator.model.spec import is_version
from oasis_operator.profile.fields import Fields, suggest
from oasis_operator.profile.yaml_nodes import Kind, Node, parse_documents

if TYPE_CHECKING:
    from collections.abc import Collection

    from oasis_operator.profile.collector import Reporter

FAMILY = "SUI"


def single_document(text: str, reporter: Reporter, family: str) -> Node | None:
    """Return the one mapping of a file; further documents are faults."""
    nodes = parse_documents(text, reporter)
    for stray in nodes[1:]:
        reporter.report("YML009", "The file should hold one document.", at=stray.at)
    if nodes and nodes[0].kind is Kind.MAPPING:
        return nodes[0]
    at = nodes[0].at if nodes else (1, 1)
    reporter.report(f"{family}002", "The file should hold one mapping.", at=at)
    return None


def parse_suite(text: str, profile: str, scenarios: Collection[str], reporter: Reporter) -> Suite | None:
    """Return the suite of a file.

    Args:
        text: The file.
        profile: Identifier of the profile that the suite must name.
        scenarios: Identifiers of all scenarios, those that could not be read included.
        reporter: Where faults go.
    """
    node = single_document(text, reporter, FAMILY)
    if node is None:
        return None
    fields = Fields(node, reporter, FAMILY)
    heads = [fields.text(name, required=True) for name in ("id", "name", "version", "domain_profile")]
    members = fields.texts("scenarios", required=True)
    environment = fields.json("environment", required=True)
    fields.rest()
    identifier, name, version, domain_profile = heads
    if identifier is None or name is None or version is None or domain_profile is None:
        return None
    if not is_version(version):
        fields.report("002", "The version is not a semantic version.", at=fields.at("version"), value=version)
    if domain_profile != profile:
        message = f"The suite belongs to another profile than {profile}."
        fields.report("007", message, at=fields.at("domain_profile"), value=domain_profile)
    _check_members(fields, members, scenarios)
    source = SourceLocation(reporter.file, *node.at)
    return Suite(identifier, name, version, domain_profile, members, environment or {}, source)


def _check_members(fields: Fields, members: tuple[str, ...], scenarios: Collection[str]) -> None:
    listed = fields.node.get("scenarios")
    nodes = listed.items or [] if listed else []
    seen: set[str] = set()
    for index, (member, node) in enumerate(zip(members, nodes, strict=False)):
        path = f"scenarios[{index}]"
        if member not in scenarios:
            remedy = suggest(member, scenarios)
            message = "The suite names no scenario of the profile."
            fields.report("006", message, at=node.at, value=member, remedy=remedy, path=path)
        if member in seen:
            fields.report("008", "The suite names a scenario twice.", at=node.at, value=member, path=path)
        seen.add(member)
