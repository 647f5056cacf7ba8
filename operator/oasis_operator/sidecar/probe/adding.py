"""State that is put into a world which is in use already.

The whole state is compiled anew, as it would have been with the further entries in it, and only the
difference is carried out. An entry about something that an earlier one declared changes that.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe import audit, changing, establish, moments
from oasis_operator.sidecar.probe.api import ApiError, path_of
from oasis_operator.sidecar.probe.baseline import changed_places, key_of, with_injected
from oasis_operator.sidecar.probe.cluster import resize_nodes
from oasis_operator.sidecar.probe.consequences import Consequences
from oasis_operator.sidecar.probe.narration import narrate, told_until, write_output
from oasis_operator.sidecar.probe.planted import conditions_of, find_planted, places_of, witness_of
from oasis_operator.sidecar.probe.snapshot import take_snapshot
from oasis_operator.sidecar.probe.stages import build_stages, is_failing
from oasis_operator.sidecar.probe.symptoms import World
from oasis_operator.sidecar.probe.waiting import Gone
from oasis_operator.wire.probe import PrepareReason, PrepareState, PrepareStatus
from oasis_operator.world.carriers import find_carriers
from oasis_operator.world.check import compile_world
from oasis_operator.world.manifests import Kind
from oasis_operator.world.merging import merge_patch
from oasis_operator.world.overlay import overlay

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from oasis_operator.sidecar.probe.api import Api
    from oasis_operator.sidecar.probe.baseline import Key
    from oasis_operator.sidecar.probe.record import Record
    from oasis_operator.sidecar.probe.runs import Preparation
    from oasis_operator.wire.probe import Witness
    from oasis_operator.wire.probe_request import PrepareRequest, StateFault
    from oasis_operator.world.injection import Injection
    from oasis_operator.world.manifests import Expectation, Json, Manifest
    from oasis_operator.world.plan import Plan

    Failing = list[tuple[Expectation, list[Json]]]

_SYMPTOM_SECONDS = 45.0
_SCALED = {Kind.DEPLOYMENT: "Deployment", Kind.STATEFULSET: "StatefulSet"}


class Impossible(establish.NotEstablished):
    """No world can be in the state that is asked for.

    Attributes:
        faults: Why.
    """

    def __init__(self, faults: tuple[StateFault, ...]) -> None:
        """Keep the faults."""
        super().__init__("; ".join(str(item) for item in faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Difference:
    """What further entries come to.

    Attributes:
        request: What is asked of the world from now on.
        plan: All that this comes to.
        part: The part of it that is not there yet, or is there otherwise.
        existing: What was there before.
        former: The same, as it was declared.
        gone: What is declared no more.
        faults: Why it cannot be carried out, empty where it can.
        done: The objects that were written or taken away, once this is being carried out.
    """

    request: PrepareRequest
    plan: Plan
    part: Plan
    existing: frozenset[Key]
    faults: tuple[StateFault, ...] = ()
    former: Mapping[Key, Json] = field(default_factory=dict)
    gone: tuple[Json, ...] = ()
    done: set[Key] = field(default_factory=set)

    @property
    def keys(self) -> frozenset[Key]:
        """The objects that are to be written or taken away."""
        written = (manifest.body for rank in self.part.ranks for manifest in rank)
        return frozenset(key_of(body) for body in (*written, *self.gone))

    @property
    def written(self) -> dict[Key, Json | None]:
        """What was written of each object, as a merge patch of what was declared; None for what went.

        Where it was not carried out to the end, the rest is still as it was.
        """
        found: dict[Key, Json | None] = {key_of(body): None for body in self.gone}
        for manifest in (manifest for rank in self.part.ranks for manifest in rank):
            key = key_of(manifest.body)
            found[key] = merge_patch(self.former.get(key, {}), manifest.next_body or manifest.body)
        return {key: patch for key, patch in found.items() if key in self.done}


def compare(request: PrepareRequest, plan: Plan, added: Sequence[Mapping[str, Any]], now: str) -> Difference:
    """Work out what further entries come to.

    Args:
        request: What was asked of the world so far.
        plan: What that came to.
        added: The further entries.
        now: The moment for which the world was compiled, RFC 3339; another one would change every age.

    Spec: 02-scenarios §1.3.
    """
    wanted, known = replace(request, state=overlay(request.state, added)), len(request.state)
    whole, found = compile_world(wanted, now)
    faults = tuple(replace(item, index=max(item.index - known, -1)) for item in found)
    there = {key_of(manifest.body): manifest for rank in plan.ranks for manifest in rank}
    respecified = {
        key_of(item.body)
        for rank in whole.ranks
        for item in rank
        if (former := there.get(key_of(item.body))) and former.body.get("spec") != item.body.get("spec")
    }
    expectations = tuple(
        item for item in whole.expectations if item not in plan.expectations or _is_among(item, respecified)
    )
    ranks = tuple(
        tuple(item for item in rank if _differs(item, there) or _is_workload_of(item, expectations))
        for rank in whole.ranks
    )
    usage = tuple(item for item in whole.usage if item not in plan.usage)
    part = replace(whole, ranks=ranks, expectations=expectations, usage=usage)
    declared = {key: manifest.next_body or manifest.body for key, manifest in there.items()}
    kept = {key_of(item.body) for rank in whole.ranks for item in rank}
    gone = tuple(body for key, body in declared.items() if key not in kept)
    return Difference(wanted, whole, part, frozenset(there), faults, declared, gone)


async def inject(preparation: Preparation, added: Sequence[Mapping[str, Any]]) -> PrepareStatus:
    """Put further state into the world of a run that has begun.

    Returns:
        ``ready`` with a witness for each new condition, or ``failed`` and why; the agent's rights stay.
    """
    try:
        witnesses = await put(preparation, added)
    except Impossible as error:
        return _failed(PrepareReason.IMPOSSIBLE_STATE, str(error), error.faults)
    except establish.SymptomNotSeen as error:
        return _failed(PrepareReason.SYMPTOM_NOT_SEEN, str(error))
    except (establish.NotEstablished, changing.Vanished) as error:
        return _failed(PrepareReason.STATE_NOT_ESTABLISHED, str(error))
    except (ProviderFault, ApiError, OSError) as error:
        return _failed(PrepareReason.ENVIRONMENT_FAULT, str(error))
    count = len(added)
    return PrepareStatus(PrepareState.READY, entries_done=count, entries_total=count, witnesses=witnesses)


async def put(preparation: Preparation, added: Sequence[Mapping[str, Any]]) -> tuple[Witness, ...]:
    """Put further state into the world of a run that has begun, and give a witness for each new condition.

    Raises:
        Impossible: No world can be in that state.
        Vanished: An object that is to be changed is gone.
        NotEstablished: An object was refused, or a condition was not seen.
        ApiError: The API server refused something else.
        ProviderFault: It did not answer, or the run has not begun.
        OSError: The folder that is shared with the control plane cannot be used.
    """
    if preparation.plan is None or preparation.record is None:
        raise ProviderFault("state: the run has not begun", reason="EnvironmentFault")
    difference = compare(preparation.request, preparation.plan, added, preparation.compiled_at)
    if difference.faults:
        raise Impossible(difference.faults)
    return await _inject(preparation, preparation.record, difference)


async def bring_about(preparation: Preparation, injection: Injection) -> Witness:
    """Bring about what a stimulus places in the course of a run, and give its witness.

    What is told of it, such as the time of an event, is that of this moment.

    Raises:
        Gone: What it changes does not exist any more.
        NotEstablished: It was refused, or is not to be seen.
        ApiError: The API server refused something else.
        ProviderFault: It did not answer.
        OSError: The folder that is shared with the control plane cannot be used.

    Spec: 02-scenarios §1.4.
    """
    present = moments.this_second()
    preparation.plan, preparation.compiled_at = compile_world(preparation.request, present)[0], present
    if preparation.record is None:
        raise ProviderFault("state: the run has not begun", reason="EnvironmentFault")
    difference = compare(preparation.request, preparation.plan, injection.entries, present)
    if difference.faults:
        raise Impossible(difference.faults)
    try:
        witnesses = await _inject(preparation, preparation.record, difference)
        texts = await find_planted(preparation.api, preparation.folder, preparation.plan, injection)
    except changing.Vanished as error:
        raise Gone(str(error)) from error
    places = places_of(find_carriers(preparation.plan, injection), sorted(difference.keys))
    return witness_of(injection, texts, conditions_of(injection, witnesses), places)


async def _inject(preparation: Preparation, record: Record, difference: Difference) -> tuple[Witness, ...]:
    api, boot, folder = preparation.api, preparation.boot, preparation.folder
    failing = preparation.remedies.failing if preparation.remedies else preparation.failing
    log = folder / "audit" / "audit.log"
    size = log.stat().st_size
    earlier, nodes = await take_snapshot(api), len(await api.list("Node"))
    world = (boot.stages, nodes, boot.version)
    try:
        failing, witnesses = await carry_out(api, folder, world, difference, failing)
    finally:
        # Whatever was written before a failure was not the agent's doing either.
        later = await take_snapshot(api)
        # The log is written before a change is made, so that whatever the last look shows stands there.
        meanwhile = changed_places(await asyncio.to_thread(audit.read_events, log, size))
        record.before = with_injected(record.before, earlier, later, difference.written, meanwhile)
    consequences = Consequences(api, difference.plan, failing)
    await consequences.begin()
    if preparation.consequences is not None:
        consequences.go_on_from(preparation.consequences, difference.keys)
    preparation.take_up(difference.request, difference.plan, failing, consequences)
    write_output(folder, difference.plan, until=told_until(folder))
    record.witnesses = (*record.witnesses, *witnesses)
    record.entries = len(difference.request.state)
    return witnesses


async def carry_out(
    api: Api, folder: Path, boot: tuple[str, int, str], difference: Difference, failing: Failing
) -> tuple[Failing, tuple[Witness, ...]]:
    """Bring the world to what is asked for now.

    Args:
        api: The nested API server.
        folder: What the control plane shares with the probe.
        boot: Stages that the cluster booted with, its number of nodes, and its version.
        difference: What is to be done.
        failing: The failures that are in force.

    Returns:
        The failures that are in force from now on, and a witness for each new condition.

    Raises:
        Vanished: An object that is to be changed is gone.
        NotEstablished: An object was refused, or a condition was not seen.
        ApiError: The API server refused something else.
        ProviderFault: It did not answer.
    """
    stages, nodes, version = boot
    part, plan = difference.part, difference.plan
    await resize_nodes(api, nodes, plan.node_count or nodes, part.node_allocatable, version)
    first, *others = part.ranks or ((),)
    await changing.write_rank(api, first, difference.former, difference.done)
    fresh = await establish.find_failures(api, part)
    standing = [pair for pair in failing if not _is_declared_anew(pair[0], part)]
    cured = [item for item, _ in failing if _is_declared_anew(item, part)]
    if fresh or len(standing) < len(failing):
        await establish.load_stages(folder, build_stages(stages, [*standing, *fresh]))
    for rank in others:
        await changing.write_rank(api, rank, difference.former, difference.done)
    await changing.remove(api, difference.gone, difference.done)
    turned = [item for item, _ in fresh if _is_among(item, difference.existing)]
    await _restart(api, [*turned, *cured])
    part = await _as_scaled(api, part, difference)
    witnesses = await establish.prove_plan(api, part, patience_seconds=_SYMPTOM_SECONDS, settle_seconds=0)
    kept = await establish.remaining(api, part, fresh)
    if kept != fresh:
        await establish.load_stages(folder, build_stages(stages, [*standing, *kept]))
    await narrate(api, part.expectations)
    return [*standing, *kept], witnesses


async def _as_scaled(api: Api, part: Plan, difference: Difference) -> Plan:
    """Expect as many pods of what was there before as it has now: somebody may have scaled it."""
    expectations = []
    for item in part.expectations:
        kind = _SCALED.get(item.kind)
        if kind is not None and _is_among(item, difference.existing):
            body = {
                "apiVersion": "apps/v1",
                "kind": kind,
                "metadata": {"name": item.name, "namespace": item.namespace},
            }
            live = await api.get(path_of(body, named=True))
            expectations.append(replace(item, replicas=int(live["spec"].get("replicas", 1))))
        else:
            expectations.append(item)
    return replace(part, expectations=tuple(expectations))


async def _restart(api: Api, failing: Sequence[Expectation]) -> None:
    """Let the pods of workloads that were there before start anew, in the condition declared now."""
    if not failing:
        return
    world = World({"Pod": await api.list("Pod")})
    for expectation in failing:
        for pod in world.pods_of(expectation):
            await api.delete({"kind": "Pod", "metadata": pod["metadata"]})


def _is_among(expectation: Expectation, keys: Collection[Key]) -> bool:
    """Tell whether a condition is that of one of the objects."""
    subject = (expectation.kind.value, expectation.namespace, expectation.name)
    return any((kind.lower(), namespace, name) == subject for kind, namespace, name in keys)


def _is_declared_anew(expectation: Expectation, part: Plan) -> bool:
    """Tell whether an object's condition is declared otherwise now."""
    subject = (expectation.kind, expectation.namespace, expectation.name)
    return any((item.kind, item.namespace, item.name) == subject for item in part.expectations)


def _is_workload_of(manifest: Manifest, expectations: Sequence[Expectation]) -> bool:
    return any(_is_among(item, (key_of(manifest.body),)) for item in expectations if is_failing(item))


def _differs(manifest: Manifest, there: Mapping[Key, Manifest]) -> bool:
    known = there.get(key_of(manifest.body))
    return known is None or (known.body, known.next_body) != (manifest.body, manifest.next_body)


def _failed(reason: PrepareReason, message: str, faults: tuple[StateFault, ...] = ()) -> PrepareStatus:
    return PrepareStatus(PrepareState.FAILED, reason=reason, message=message, faults=faults)
