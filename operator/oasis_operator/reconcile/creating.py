"""Creating objects under deterministic names, so that a step may be repeated after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.ports.kube import ALREADY_EXISTS
from oasis_operator.resources import manifests

if TYPE_CHECKING:
    from oasis_operator.ports.kube import Kube, Manifest, Object
    from oasis_operator.resources.kinds import Kind


async def create_or_get(kube: Kube, kind: Kind, manifest: Manifest) -> Object:
    """Create an object; one that is there already is what was meant, until the next pass looks closer.

    Raises:
        Transient: It vanished while it was created, or the API server could not do it now.
        NotReady: Quota or rights refuse it for now.
        InvalidSpec: The API server refuses the object itself.
    """
    meta = manifest["metadata"]
    try:
        return await kube.create(kind, manifest)
    except errors.Transient as error:
        if error.reason != ALREADY_EXISTS:
            raise
    found = await kube.get(kind, meta["namespace"], meta["name"])
    if found is None:
        raise errors.Transient(f"{kind.name} {meta['name']} vanished while it was created")
    return found


async def create_own(kube: Kube, kind: Kind, manifest: Manifest, owner_uid: str) -> Object:
    """Create an object; one that is there already must belong to the owner.

    Raises:
        ProviderFault: Somebody else made an object under one of our names.
        OasisError: As `create_or_get`.
    """
    found = await create_or_get(kube, kind, manifest)
    if not manifests.is_owned_by(found, owner_uid):
        name = manifest["metadata"]["name"]
        message = f"{kind.name} {name} exists already and belongs to something else; delete it"
        raise errors.ProviderFault(message, reason="NameTaken")
    return found
