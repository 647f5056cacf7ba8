"""What becomes of the pods on a node that goes, or that drives them away by a taint.

A cordon or a taint of another effect keeps new pods away and leaves those that run.

Spec: 01-core §3.5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions.changes import Path, value_at
from oasis_operator.engine.actions.effect import Effect
from oasis_operator.engine.actions.keys import Key, metadata_of
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.actions.world import World

_TAINTS: Final = ("spec", "taints")
_CONDITIONS: Final = ("status", "conditions")
_DRIVING: Final = "NoExecute"
_BY_READINESS: Final = {
    "False": "node.kubernetes.io/not-ready",
    "Unknown": "node.kubernetes.io/unreachable",
}
"""Taints that the control plane gives a node that says so of its readiness."""

Members = list["Mapping[str, Any]"]


def pods_of_deleted(effect: Effect, node: Key, world: World, *, uncertain: bool) -> Iterator[Effect]:
    """Yield the deletion of the pods on a node that is deleted, which the control plane cleans up."""
    for key, open_ in _pods_on(node, world, effect.request.seq):
        yield _deletion(effect, key, uncertain=uncertain or open_)


def pods_driven_off(effect: Effect, world: World) -> Iterator[Effect]:
    """Yield the deletion of the pods that a write on a node drives off it.

    A pod that tolerates the taint for a while is deleted unless the taint goes before: whether it was, is
    open where it is not there in the end. All is open where nobody can tell what the write changed.
    """
    request, prior = effect.request, world.known(effect.key, effect.request.seq)
    taints = _new_taints(request, prior)
    unseen = request.body is None and (prior is None or _answered(request) is None)
    if not taints and not unseen:
        return
    for key, open_ in _pods_on(effect.key, world, request.seq):
        stays = _seconds_on(world.known(key, request.seq), taints)
        if unseen:
            yield _deletion(effect, key, uncertain=True)
        elif stays is None or stays > 0:
            may_go = stays is not None and (request.is_done or not request.code)
            if may_go and not _is_there_in_the_end(key, world, request.seq):
                yield _deletion(effect, key, uncertain=True)
        else:
            yield _deletion(effect, key, uncertain=open_ or prior is None)


def _deletion(effect: Effect, pod: Key, *, uncertain: bool) -> Effect:
    return Effect(Act.DELETE, effect.request, pod, implied=True, uncertain=uncertain or effect.uncertain)


def _pods_on(node: Key, world: World, seq: int) -> Iterator[tuple[Key, bool]]:
    """Yield the pods on a node at a place in the log, and whether nobody can tell that they were there."""
    for key, item in world.objects("pods"):
        known, clear = world.known(key, seq), world.is_clear(key, seq)
        if (known is None and clear) or world.is_gone(key, seq):
            continue
        places = (_node_of(one) for one in (known or item, world.after.get(key)))
        if next((place for place in places if place), None) == node[2]:
            yield key, known is None


def _node_of(pod: Mapping[str, Any] | None) -> Any:
    return value_at(pod, ("spec", "nodeName"))


def _is_there_in_the_end(pod: Key, world: World, seq: int) -> bool:
    left = world.after.get(pod)
    return left is not None and metadata_of(left).get("uid") == metadata_of(world.known(pod, seq)).get("uid")


def _answered(request: Request) -> Mapping[str, Any] | None:
    """Return the node as a write left it, None where the answer does not show it."""
    answer = request.response if request.is_done else None
    return answer if answer is not None and answer.get("kind") == "Node" else None


def _new_taints(request: Request, prior: Mapping[str, Any] | None) -> Members:
    """Return the taints that drive pods away and that a write gave a node, or was to give it.

    Of a node that nobody saw before, those in the answer may have been there.
    """
    path = _CONDITIONS if request.subresource == "status" else _TAINTS
    after = None if prior is None else _answered(request)
    written = _members_in(request.body, path, prior) if after is None else _members(value_at(after, path))
    former = _driving(_members(value_at(prior, path)), path)
    return [one for one in _driving(written, path) if one not in former]


def _driving(members: Iterable[Mapping[str, Any]], path: Path) -> Members:
    """Return what of a node's taints or conditions drives pods away, as taints without their times."""
    if path == _TAINTS:
        taints = [one for one in members if one.get("effect") == _DRIVING]
        return [{"key": one.get("key"), "value": one.get("value") or ""} for one in taints]
    told = [str(one.get("status")) for one in members if one.get("type") == "Ready"]
    return [{"key": _BY_READINESS[status], "value": ""} for status in told if status in _BY_READINESS]


def _members_in(body: Any, path: Path, prior: Mapping[str, Any] | None) -> Members:
    """Return the members of a list of a node that a body of any form writes."""
    if not isinstance(body, list):
        return _members(value_at(body, path))
    return [one for step in body if isinstance(step, dict) for one in _of_step(step, path, prior)]


def _of_step(step: Mapping[str, Any], path: Path, prior: Mapping[str, Any] | None) -> Members:
    """Return the members of a list that one step of a JSON patch writes: all, one, or a part of one."""
    way, value = tuple(str(step.get("path")).split("/")[1:]), step.get("value")
    if len(way) <= len(path):
        return _members(value_at(value, path[len(way) :])) if way == path[: len(way)] else []
    if way[: len(path)] != path:
        return []
    place, *part = way[len(path) :]
    if not part:
        return _members([value])
    former = _members(value_at(prior, path))
    kept = former[int(place)] if place.isdecimal() and int(place) < len(former) else {}
    return [{**kept, part[0]: value}]


def _members(given: Any) -> Members:
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _seconds_on(pod: Mapping[str, Any] | None, taints: Members) -> float | None:
    """Return for how many seconds a pod stays in spite of taints, None for ever."""
    tolerations = _members(value_at(pod, ("spec", "tolerations")))
    limits: list[float] = []
    for taint in taints:
        used = [one for one in tolerations if _tolerates(one, taint)]
        if not used:
            return 0
        given = (one.get("tolerationSeconds") for one in used)
        limits += [max(seconds, 0) for seconds in given if isinstance(seconds, int)]
    return min(limits, default=None)


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    key, anything = toleration.get("key"), toleration.get("operator") == "Exists"
    if toleration.get("effect") not in (None, "", _DRIVING):
        return False
    if not key:
        return anything
    return key == taint["key"] and (anything or (toleration.get("value") or "") == taint["value"])
