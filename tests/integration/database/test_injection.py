"""State that is put into an environment which is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.wire.observation import ObserveRequest
from oasis_operator.wire.probe_request import AgentPart
from oasis_operator.wire.provider import InjectRequest, ProvisionRequest, TeardownRequest

if TYPE_CHECKING:
    from oasis_operator.database.service import Databases
    from oasis_operator.resources.provider_access import ProviderReach

STATE: tuple[dict[str, Any], ...] = ({"resource": "schema/sales"},)
MORE: tuple[dict[str, Any], ...] = (
    {"resource": "table/notes", "namespace": "sales", "columns": {"id": "integer"}},
    {"resource": "record/notes", "namespace": "sales", "rows": [{"id": 7}]},
)


async def test_what_is_put_in_later_is_there_to_be_seen(databases: Databases, reach: ProviderReach) -> None:
    agent = AgentPart("autonomous", (), {"namespaces": ["sales"]})
    made = await HttpProvider().provision(reach, ProvisionRequest("any", STATE, agent))
    assert (await databases.inject(InjectRequest(made.environment_id, MORE))).status == "applied"
    asked = {"kind": "records.pg.sql", "name": "notes", "namespace": "sales"}
    seen = await databases.observe(ObserveRequest(made.environment_id, "resource_state", asked))
    assert seen.data["spec"]["rows"] == [{"id": 7}]
    await databases.teardown(TeardownRequest(made.environment_id))
