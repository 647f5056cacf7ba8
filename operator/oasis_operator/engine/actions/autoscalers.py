"""What a write on an autoscaler does to the workload that it scales.

Spec: 01-core §3.5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine.actions import kinds
from oasis_operator.engine.actions.changes import Path, value_at
from oasis_operator.engine.actions.effect import Effect
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.actions.world import World

_TARGET: Final = ("spec", "scaleTargetRef")
_BOUNDS: Final = (*(("spec", key) for key in ("minReplicas", "maxReplicas")), _TARGET)


def is_bounding(paths: tuple[Path, ...] | None) -> bool:
    """Whether a change of an autoscaler is or may be one of its bounds or of what it scales."""
    return paths is None or any(path[:2] in _BOUNDS or path == ("spec",) for path in paths)


def of_autoscaler(
    request: Request, world: World, target: Key, left: Mapping[str, Any] | None
) -> Iterator[Effect]:
    """Yield the scaling of its target that a new or changed autoscaler stands for.

    A change that does not say what is scaled leaves that as it was. Where nobody can tell what it was, it may
    be any workload of the namespace.
    """
    if request.resource != "horizontalpodautoscalers" or request.code == 404:
        return
    written, prior = left or request.body, world.known(target, request.seq)
    spec = value_at(written, ("spec",))
    former = value_at(prior, ("spec", "scaleTargetRef"))
    asked = None if request.is_done else _target_asked_for(request.body, former)
    aims = (asked, value_at(spec, ("scaleTargetRef",)), former)
    aim = next((one for one in aims if isinstance(one, dict) and one), None)
    if aim is not None and written is not None:
        bounds = (value_at(spec, (key,)) for key in ("minReplicas", "maxReplicas"))
        counts = tuple(number for number in bounds if isinstance(number, int))
        key = (kinds.plural_of_object(str(aim.get("kind"))), target[1], str(aim.get("name")))
        yield Effect(Act.SCALE, request, key, implied=True, replicas=counts)
    elif written is None or not world.is_clear(target, request.seq):
        for plural in sorted(kinds.WORKLOADS):
            for key, _ in world.objects(plural, target[1]):
                yield Effect(Act.SCALE, request, key, implied=True, uncertain=True)


def _target_asked_for(body: Any, former: Any) -> Mapping[str, Any]:
    """Return what was to be scaled by a write that was not carried out, empty where it does not say."""
    target: dict[str, Any] = dict(former) if isinstance(former, dict) else {}
    if isinstance(body, dict):
        named = value_at(body, _TARGET)
        return {**target, **named} if isinstance(named, dict) else {}
    changed = False
    for step in body if isinstance(body, list) else ():
        path = tuple(str(step.get("path") or "").strip("/").split("/")) if isinstance(step, dict) else ()
        value = step.get("value") if path else None
        whole = value if path == _TARGET else value_at(value, _TARGET[1:]) if path == _TARGET[:1] else None
        if isinstance(whole, dict):
            target, changed = dict(whole), True
        elif path[:-1] == _TARGET:
            target, changed = {**target, path[-1]: value}, True
    return target if changed else {}
