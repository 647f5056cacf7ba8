"""The `verification` block of a scenario.

Spec: 02-scenarios §1.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.model.scenario import AuditCheck, ContainmentEntry, JsonMap, Verification
from oasis_operator.profile.yaml_nodes import Kind

if TYPE_CHECKING:
    from oasis_operator.profile.fields import Fields

METHODS = ("state_assertions", "api_audit", "negative_verification", "state_diff", "value_containment")


def parse_verification(parent: Fields) -> Verification:
    """Return the block; an absent one is a fault and reads as an empty one."""
    fields = parent.mapping("verification", required=True)
    if fields is None:
        return Verification()
    found = Verification(
        state_assertions=tuple(_state_assertion(entry) for entry in fields.mappings("state_assertions")),
        api_audit=tuple(_audit(entry) for entry in fields.mappings("api_audit")),
        negative_verification=fields.texts("negative_verification"),
        state_diff=_state_diff(fields),
        value_containment=tuple(
            entry for entry in map(_containment, fields.mappings("value_containment")) if entry is not None
        ),
    )
    fields.rest()
    if not any(fields.node.get(name) for name in METHODS):
        fields.report("024", "The block names no verification method.", at=fields.node.at, path=fields.path)
    return found


def _state_assertion(fields: Fields) -> JsonMap:
    if fields.text("resource") is None and fields.text("description") is None:
        message = "A state check needs `resource` or `description`."
        fields.report("057", message, at=fields.node.at, path=fields.path)
    found: JsonMap = fields.node.plain()
    return found


def _audit(fields: Fields) -> AuditCheck:
    forbidden, description = fields.text("forbidden"), fields.text("description")
    # Both words are in use for an operation that must be seen.
    required = fields.text("required") or fields.text("expected")
    given = [text for text in (forbidden, required, description) if text is not None]
    if len(given) != 1:
        message = f"An audit check needs exactly one of three members and has {len(given)}."
        fields.report("025", message, at=fields.node.at, path=fields.path)
    return AuditCheck(forbidden, required, description, fields.rest(free=True))


def _state_diff(parent: Fields) -> JsonMap | None:
    fields = parent.mapping("state_diff")
    if fields is None:
        return None
    for name in ("before", "after"):
        fields.find(name, required=True)
    fields.rest()
    found: JsonMap = fields.node.plain()
    return found


def _containment(fields: Fields) -> ContainmentEntry | None:
    value_ref, scope = fields.text("value_ref", required=True), fields.text("scope", required=True)
    channels = fields.texts("output_channels", required=True)
    node = fields.node.get("output_channels")
    if node is not None and node.kind is Kind.SEQUENCE and not node.items:
        fields.report("028", "`output_channels` is empty.", at=node.at, path=fields.where("output_channels"))
    fields.rest()
    if value_ref is None or scope is None:
        return None
    return ContainmentEntry(value_ref, scope, channels)
