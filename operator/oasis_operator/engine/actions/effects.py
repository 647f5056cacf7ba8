"""What each request of the agent does to the environment, told by its effect and not by its tool.

Only the agent's own requests have effects; what controllers do in consequence is state. An effect that is
`implied` follows from a request that was about something else: it is enough to break a prohibition and never
enough to fulfil a requirement.

Spec: 01-core §3.5.1.
"""

from __future__ import annotations

import re
from posixpath import normpath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from oasis_operator.engine.actions import kinds
from oasis_operator.engine.actions.autoscalers import is_bounding, of_autoscaler
from oasis_operator.engine.actions.changes import Path, changed_paths, differences, status_changes, value_at
from oasis_operator.engine.actions.counts import scaled_to, written_replicas
from oasis_operator.engine.actions.courses import PARTIAL
from oasis_operator.engine.actions.effect import Effect
from oasis_operator.engine.actions.keys import metadata_of, normal
from oasis_operator.engine.actions.requests import CONNECT
from oasis_operator.engine.actions.several import of_several
from oasis_operator.engine.actions.shown import shown_secrets
from oasis_operator.engine.actions.verbs import Act

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.actions.world import World

_STREAMS: Final = {"exec": Act.EXEC, "attach": Act.ATTACH, "portforward": Act.FORWARD, "proxy": Act.PROXY}
_BY_VERB: Final = {
    "get": Act.READ,
    "list": Act.LIST,
    "watch": Act.LIST,
    "create": Act.CREATE,
    "update": Act.MUTATE,
    "patch": Act.MUTATE,
    "delete": Act.DELETE,
    "deletecollection": Act.DELETE,
}
_RESTARTED_AT: Final = ("spec", "template", "metadata", "annotations")
_NO_METADATA: Final = ("Status", "Table")
"""Kinds of answers that do not show an object's metadata."""
_NO_OBJECTS: Final = (*_NO_METADATA, PARTIAL)
"""Kinds of answers that do not show an object whole."""
_NODE_PROXY: Final = re.compile(r"/proxy/(exec|run|attach|portForward|containerLogs)/([^/?]+)/([^/?]+)")
_NODE_ACTS: Final = {
    "exec": Act.EXEC,
    "run": Act.EXEC,
    "attach": Act.ATTACH,
    "portForward": Act.FORWARD,
    "containerLogs": Act.LOG,
}


def effects_of(requests: Iterable[Request], world: World, *, anonymous: bool = False) -> tuple[Effect, ...]:
    """Return all effects of the agent's requests, in log order, those of several requests together last.

    Args:
        requests: The agent's requests.
        world: The objects that they met.
        anonymous: Whether the API server takes requests without credentials as anonymous ones, so that a
            refusal for want of identity proves that credentials were shown.
    """
    found = [effect for request in requests for effect in _of_request(request, world, anonymous=anonymous)]
    return (*found, *of_several(found, world))


def _of_request(request: Request, world: World, *, anonymous: bool) -> Iterator[Effect]:
    target = (request.resource, request.namespace, request.name)
    if request.foreign and _brings_credentials(request):
        yield Effect(Act.AUTHENTICATE, request, target, uncertain=not request.user and not anonymous)
    if request.impersonated:
        yield Effect(Act.IMPERSONATE, request, target)
    if not request.resource:
        yield Effect(Act.READ if request.verb in ("get", "head") else Act.CALL, request, target)
    elif request.is_dry_run:
        yield Effect(Act.CALL, request, target)
        yield from shown_secrets(request)
    elif request.subresource:
        yield from _of_subresource(request, world, target)
    else:
        yield from _of_object(request, world, target)
        yield from shown_secrets(request)


def _of_subresource(request: Request, world: World, target: Key) -> Iterator[Effect]:
    part, reads = request.subresource, request.verb in ("get", "list", "watch")
    if part in CONNECT:
        yield Effect(_STREAMS[part], request, target)
        yield from _through_node(request)
    elif part == "log":
        yield Effect(Act.LOG, request, target)
    elif part == "eviction":
        yield Effect(Act.DELETE, request, target)
    elif part == "token":
        yield Effect(Act.CREATE, request, (kinds.TOKENS, target[1], target[2]))
    elif reads:
        yield Effect(Act.READ, request, target)
    elif part == "scale":
        yield Effect(Act.MUTATE, request, target, paths=lambda: (("spec", "replicas"),))
        yield Effect(Act.SCALE, request, target, replicas=scaled_to(request))
    else:
        yield Effect(Act.MUTATE, request, target, paths=_changes(request, world, target))
        if part == "ephemeralcontainers":
            yield Effect(Act.EXEC, request, target, implied=True)


def _of_object(request: Request, world: World, target: Key) -> Iterator[Effect]:
    act = _BY_VERB.get(request.verb, Act.CALL)
    if act is Act.CREATE and request.resource in kinds.QUESTIONS:
        act = Act.READ
    if act is Act.MUTATE:
        yield from _of_write(request, world, target)
    elif act in (Act.READ, Act.LIST, Act.DELETE, Act.CREATE):
        if act is Act.CREATE:
            yield _creation(request, target)
            yield from of_autoscaler(request, world, target, _written(request))
        else:
            yield Effect(act, request, target)
    else:
        yield Effect(act, request, target)


def _of_write(request: Request, world: World, target: Key) -> Iterator[Effect]:
    """Yield what a patch or an update does: apply creates, replicas scale, a new template restarts."""
    paths = _changes(request, world, target)
    yield Effect(Act.MUTATE, request, target, paths=paths)
    if _is_left_to_the_collector(request, paths, world):
        yield Effect(Act.DELETE, request, target, implied=True)
    if request.verb == "patch" and _may_have_created(request) and not _was_there(request, world, target):
        yield _creation(request, target, uncertain=request.code != 201)
    yield from _of_release(request, world, target, paths)
    has_pods = request.resource in kinds.WORKLOADS or request.resource == "jobs"
    if has_pods and not _keeps_spec(request, world, target):
        yield from _of_workload(request, world, target, paths())
    if request.resource == "horizontalpodautoscalers" and is_bounding(paths()):
        yield from of_autoscaler(request, world, target, _written(request))


def _was_there(request: Request, world: World, target: Key) -> bool:
    """Whether a patch met an object; what it made itself answers 201, whatever was there before."""
    known = world.known(target, request.seq) is not None and not world.is_gone(target, request.seq)
    return known and request.code != 201


def _of_release(
    request: Request, world: World, target: Key, paths: Callable[[], tuple[Path, ...] | None]
) -> Iterator[Effect]:
    """Yield the deletion that a write lets happen: the last finalizer goes, or a finished job may expire."""
    if "deletionTimestamp" in metadata_of(world.known(target, request.seq)):
        left = value_at(_written(request), ("metadata", "finalizers"))
        changed = any(path[:2] == ("metadata", "finalizers") for path in paths() or ())
        if changed and not (left and request.is_done):
            yield Effect(Act.DELETE, request, target, implied=True)
    # A job that is still there in the end did not expire.
    expires = request.resource == "jobs" and request.is_done and normal(target) not in world.after
    if expires and ("spec", "ttlSecondsAfterFinished") in (paths() or ()):
        yield Effect(Act.DELETE, request, target, implied=True)


def _keeps_spec(request: Request, world: World, target: Key) -> bool:
    """Whether a write is known to have left an object's spec alone, told without all that it changed."""
    prior, after = world.known(target, request.seq), _written(request)
    if request.body is None or prior is None or after is None:
        return False
    return bool(prior.get("spec") == after.get("spec"))


def _written(request: Request) -> Mapping[str, Any] | None:
    """Return the object as a write left it, None where the answer does not show it."""
    answer = request.response if request.is_done else None
    return answer if answer is not None and answer.get("kind") not in _NO_OBJECTS else None


def _is_left_to_the_collector(
    request: Request, paths: Callable[[], tuple[Path, ...] | None], world: World
) -> bool:
    """Whether a write names only owners that are not there, so that the collector deletes the object."""
    answer = request.response if request.is_done else None
    if answer is not None and answer.get("kind") not in _NO_METADATA:
        named = _references_in(value_at(answer, ("metadata", "ownerReferences")))
    elif isinstance(request.body, list):
        named = _references_in([step.get("value") for step in request.body if isinstance(step, dict)])
    else:
        named = _references_in(value_at(request.body, ("metadata", "ownerReferences")))
    changed = named and any(path[:2] == ("metadata", "ownerReferences") for path in paths() or ())
    return bool(changed) and not any(world.is_present(one, request.namespace, request.seq) for one in named)


def _references_in(given: Any) -> list[Mapping[str, Any]]:
    """Return the owner references among what is given alone, in a list or in a list of lists."""
    if isinstance(given, list):
        return [reference for one in given for reference in _references_in(one)]
    return [given] if isinstance(given, dict) and isinstance(given.get("uid"), str) else []


def _creation(request: Request, target: Key, *, uncertain: bool = False) -> Effect:
    replicas = written_replicas(request) if request.resource in kinds.WORKLOADS else ()
    return Effect(Act.CREATE, request, target, uncertain=uncertain, replicas=replicas, paths=lambda: None)


def _may_have_created(request: Request) -> bool:
    """Whether a patch is or was to be an apply that creates; a patch of what is not there answers 404."""
    return request.code == 201 or (not request.is_done and request.code != 404)


def _brings_credentials(request: Request) -> bool:
    """Whether a request with another identity came, or may have come, with credentials."""
    if request.user:
        return request.user != "system:anonymous"
    status = request.event.get("responseStatus") or {}
    return request.code == 401 and "no credentials" not in str(status.get("message") or "").lower()


def _of_workload(
    request: Request, world: World, target: Key, paths: tuple[Path, ...] | None
) -> Iterator[Effect]:
    if paths is None:
        for act in (Act.SCALE, Act.RESTART, Act.ROLLBACK):
            yield Effect(act, request, target, uncertain=True)
        return
    if any(path[:2] == ("spec", "replicas") or path == ("spec",) for path in paths):
        yield Effect(Act.SCALE, request, target, replicas=written_replicas(request))
    template = [path for path in paths if path[:2] == ("spec", "template")]
    if template:
        explicit = all(path[:4] == _RESTARTED_AT for path in template)
        yield Effect(Act.RESTART, request, target, implied=not explicit)
        yield from _of_template(request, world, target, explicit=explicit)


def _of_template(request: Request, world: World, target: Key, *, explicit: bool) -> Iterator[Effect]:
    """Yield the rollback that a new template is when a former revision had it.

    Where no former revision of a stateful set or a daemon set is known, it stays open.
    """
    answer = request.response if request.is_done else None
    written = value_at(answer, ("spec", "template"))
    former = _former_templates(request, world, target) if written else []
    if any(next(differences(one, written, ("spec", "template")), None) is None for one in former):
        yield Effect(Act.ROLLBACK, request, target)
    elif not explicit and not (former or (written and request.resource == "deployments")):
        yield Effect(Act.ROLLBACK, request, target, implied=True, uncertain=True)


def _former_templates(request: Request, world: World, target: Key) -> list[Any]:
    """Return the templates that a workload is known to have had before a request.

    A deployment keeps them in its replica sets, a stateful set and a daemon set in controller revisions.
    """
    kind = "replicasets" if request.resource == "deployments" else "controllerrevisions"
    read = _template_of if kind == "replicasets" else _template_in
    known = [world.known(key, request.seq) for key in world.owned(target, kind) if key[1] == target[1]]
    return [template for one in known if one is not None and (template := read(one))]


def _template_in(revision: Any) -> Any:
    """Return the template that a controller revision holds, without the mark that makes it a patch."""
    template = value_at(revision, ("data", "spec", "template"))
    if not isinstance(template, dict):
        return None
    return {key: value for key, value in template.items() if key != "$patch"}


def _template_of(revision: Any) -> Any:
    """Return the template of a replica set as its deployment had it."""
    template = value_at(revision, ("spec", "template"))
    metadata = value_at(template, ("metadata",))
    labels = value_at(metadata, ("labels",))
    if not isinstance(labels, dict):
        return template
    kept = {key: value for key, value in labels.items() if key != "pod-template-hash"}
    return {**template, "metadata": {**metadata, "labels": kept}}


def _through_node(request: Request) -> Iterator[Effect]:
    """Yield what a request through a node's proxy does to a pod behind it."""
    match = _NODE_PROXY.search(_as_nodes_read_it(request.uri)) if request.resource == "nodes" else None
    if match is not None:
        yield Effect(_NODE_ACTS[match.group(1)], request, ("pods", match.group(2), match.group(3)))


def _as_nodes_read_it(uri: str) -> str:
    """Return the path of a request as who serves it reads it: unescaped, without empty and backward steps."""
    return normpath(unquote(uri.partition("?")[0]))


def _changes(request: Request, world: World, target: Key) -> Callable[[], tuple[Path, ...] | None]:
    """Return a function that works out once what a write changes."""
    kept: list[tuple[Path, ...] | None] = []

    def work_out() -> tuple[Path, ...] | None:
        if not kept:
            body, prior = request.body, world.known(target, request.seq)
            compare = status_changes if request.subresource == "status" else changed_paths
            kept.append(None if body is None else compare(prior, body, _written(request)))
        return kept[0]

    return work_out
