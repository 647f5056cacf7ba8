"""What one pass sees of a run whose world a foreign provider makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.reconcile import foreign
from oasis_operator.resources import names
from oasis_operator.resources.provision_record import read_provision

if TYPE_CHECKING:
    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
    from oasis_operator.api.v1alpha1.foreign_provider import ForeignProvider
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.resources.provision_record import Provision
    from oasis_operator.wire.provider import ProvisionAnswer


@dataclass(frozen=True, slots=True)
class ForeignSeen:
    """The provider's part of a run.

    Attributes:
        spec: How the provider is reached: as it was when it was asked, else as the Environment has it.
        record: What is on record of this attempt's environment; None before it was asked for.
        is_asking: Whether this process has asked for it, and the answer was not put on record yet.
        result: How that ended; None while it goes on.
        earlier: Identifiers of earlier attempts whose environments are still there.
        trouble: Why the record cannot be read, or empty.
    """

    spec: ForeignProvider
    record: Provision | None = None
    is_asking: bool = False
    result: ProvisionAnswer | errors.ProviderFault | None = None
    earlier: tuple[str, ...] = ()
    trouble: str = ""


async def look(deps: Deps, uid: str, attempt: int, environment: EnvironmentSpec | None) -> ForeignSeen | None:
    """Return what is to be seen; None for a run whose world is the operator's own."""
    key = names.run_id(uid, attempt)
    try:
        record = await _record(deps, key)
        others = [names.run_id(uid, number) for number in range(1, attempt)]
        earlier = tuple([other for other in others if await _record(deps, other) is not None])
    except errors.ProviderFault as error:
        spec = environment.provider if environment else None
        return ForeignSeen(spec, trouble=error.message) if spec else None
    spec = environment.provider if environment else None
    if record is not None:
        spec = foreign.provider_of(record.provider)
    if spec is None:
        return None
    desk = deps.foreign.desk
    return ForeignSeen(spec, record, desk.is_known(key), desk.result(key), earlier)


async def _record(deps: Deps, key: str) -> Provision | None:
    """Return the record of an attempt whose environment the run still has a use for."""
    kept = await deps.foreign.provisions.get(key)
    record = read_provision(kept) if kept is not None else None
    return record if record is not None and not record.orphaned else None
