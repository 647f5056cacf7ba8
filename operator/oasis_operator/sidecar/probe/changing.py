"""Objects that were declared before and are declared otherwise now: what differs is written, and no more.

An agent may have changed the same object meanwhile. What it did must not be undone by the way, and what it
took away must not come back, so that its doing stays to be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.sidecar.probe import establish
from oasis_operator.sidecar.probe.api import NODE, PEOPLE, Api, ApiError, gather_all
from oasis_operator.sidecar.probe.baseline import key_of
from oasis_operator.world.definitions import KINDS
from oasis_operator.world.merging import merge_patch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oasis_operator.sidecar.probe.baseline import Key
    from oasis_operator.world.manifests import Json, Manifest

#: Kinds whose status is written by way of a subresource, beside those that are defined here.
_WITH_STATUS = frozenset({"Node", "Pod"})
_MISSING = 404


class Vanished(Exception):  # noqa: N818  # somebody else's doing
    """What is to be changed does not exist any more."""


async def write_rank(api: Api, rank: Sequence[Manifest], former: Mapping[Key, Json], done: set[Key]) -> None:
    """Create what is new of one rank, and change the rest to what it is to be.

    Args:
        api: The nested API server.
        rank: Objects as they are to be.
        former: Objects as they were declared before, by key.
        done: Takes in the keys of what was written.

    Raises:
        Vanished: One that was declared before is gone.
        NotEstablished: The API server refused one of them.
        ProviderFault: It did not answer.
    """
    fresh = [item for item in rank if key_of(item.body) not in former]
    await establish.create_rank(api, fresh, lambda manifest: done.add(key_of(manifest.body)))
    try:
        await gather_all(*(_change(api, item, former, done) for item in rank if key_of(item.body) in former))
    except* Vanished as group:
        raise group.exceptions[0] from group
    except* establish.NotEstablished as group:
        raise group.exceptions[0] from group


async def remove(api: Api, bodies: Sequence[Json], done: set[Key]) -> None:
    """Take away what is declared no more; what is gone already is no matter."""
    done |= {key_of(body) for body in bodies}
    await gather_all(*(api.delete(body) for body in bodies))


async def _change(api: Api, manifest: Manifest, former: Mapping[Key, Json], done: set[Key]) -> None:
    body = manifest.next_body or manifest.body
    patch = merge_patch(former[key_of(body)], body)
    status = patch.pop("status", None)
    kind = KINDS.get(body["kind"])
    writer = kind.writer if kind else NODE if body["kind"] in _WITH_STATUS else PEOPLE
    apart = kind.status if kind else body["kind"] in _WITH_STATUS
    if status and not apart:
        patch["status"] = status
    try:
        if patch:
            await api.patch(body, patch, writer=writer)
        done.add(key_of(body))
        if status and apart:
            await api.patch(body, {"status": status}, subresource="status", writer=writer)
    except ApiError as error:
        where = f"{body['kind']} {body['metadata']['name']}"
        if error.status == _MISSING:
            raise Vanished(f"{where} does not exist any more") from error
        raise establish.NotEstablished(f"{where}: refused: {error.message}") from error
