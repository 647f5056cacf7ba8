"""What evaluators read of an environment, made of what its probe tells: audit entries, states, differences.

Pure: the same log and the same objects give the same answers.

Spec: 04-execution §2.2, 05-reporting §1.1.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from oasis_operator.wire.fields import Fields, fault
from oasis_operator.wire.observation import AuditEntry
from oasis_operator.world.entries import canonical_kind
from oasis_operator.world.registry import BUILDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from oasis_operator.wire.provider import ResourceRef

    Object = Mapping[str, Any]

#: Users of the control plane itself and of the probe. Nobody else can come by their credentials; whoever acts
#: as one of them by impersonation stands in the log under their own name.
OWN_USERS = frozenset(
    {
        "kubernetes-admin",
        "system:apiserver",
        "system:kube-controller-manager",
        "system:kube-scheduler",
        "system:kubelet",
    }
)
#: Objects that come and go by themselves.
RESTLESS_KINDS = frozenset({"Event", "Lease", "PodMetrics", "NodeMetrics"})
_RESTLESS_MEMBERS = frozenset({"resourceVersion", "generation", "managedFields"})
_ACCOUNT_ID = "authentication.kubernetes.io/credential-id"


def audit_entries(events: Iterable[Object], parameters: Fields) -> tuple[dict[str, Any], ...]:
    """Return one entry for each request, in the order of the log.

    Args:
        events: Kubernetes audit events.
        parameters: `time_from`, `time_to`, `namespace`, `resource_type`, `verb`, `user`, each optional.

    Raises:
        InvalidInput: A parameter is of another type, or no time.
    """
    first, last = (_moment(parameters, name) for name in ("time_from", "time_to"))
    wanted = {name: parameters.text(name, "", longest=253) for name in ("namespace", "verb", "user")}
    resource = parameters.text("resource_type", "", longest=253)
    found = []
    for event in _requests(events):
        entry = _entry(event)
        at = _parsed(entry.timestamp)
        if (first and at and at < first) or (last and at and at > last):
            continue
        if any(value and getattr(entry, name) != value for name, value in wanted.items()):
            continue
        if resource and not _is_kind(resource, entry.resource):
            continue
        found.append({**entry.to_json(), "source_ips": list(entry.source_ips)})
    return tuple(found)


def _requests(events: Iterable[Object]) -> Iterator[Object]:
    """Yield the last event of each request, in the order in which they began; a client may choose its id."""
    last: dict[tuple[str, ...], Object] = {}
    for event in events:
        user = (event.get("user") or {}).get("username", "")
        if user in OWN_USERS:
            continue
        names = ("auditID", "requestReceivedTimestamp", "verb", "requestURI")
        key = (*(str(event.get(name, "")) for name in names), str(user))
        known = last.get(key)
        bodies = (event.get("requestObject"), (known or {}).get("requestObject"))
        last[key] = {**event, "requestObject": next((body for body in bodies if body is not None), None)}
    yield from last.values()


def _entry(event: Object) -> AuditEntry:
    reference, user = event.get("objectRef") or {}, event.get("user") or {}
    status, body = event.get("responseStatus") or {}, event.get("requestObject")
    credential = (user.get("extra") or {}).get(_ACCOUNT_ID) or ("",)
    return AuditEntry(
        timestamp=str(event.get("requestReceivedTimestamp", "")),
        verb=str(event.get("verb", "")),
        resource=str(reference.get("resource", "")),
        user=str(user.get("username", "")),
        subresource=str(reference.get("subresource", "")),
        namespace=str(reference.get("namespace", "")),
        name=str(reference.get("name", "")),
        request_body="" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")),
        audit_id=str(event.get("auditID", "")),
        api_group=str(reference.get("apiGroup", "")),
        api_version=str(reference.get("apiVersion", "")),
        request_uri=str(event.get("requestURI", "")),
        response_code=int(status.get("code") or 0),
        response_message=str(status.get("message") or ""),
        source_ips=tuple(map(str, event.get("sourceIPs") or ())),
        impersonated_user=str((event.get("impersonatedUser") or {}).get("username", "")),
        credential_id=str(credential[0]),
    )


def select(objects: Iterable[Object], wanted: Sequence[ResourceRef]) -> tuple[Object, ...]:
    """Return the objects that one of the references means; without any, all of them."""
    if not wanted:
        return tuple(objects)
    return tuple(item for item in objects if any(_is_meant(item, one) for one in wanted))


def steady(objects: Iterable[Object]) -> tuple[Object, ...]:
    """Return the objects that do not come and go by themselves."""
    return tuple(item for item in objects if item["kind"] not in RESTLESS_KINDS)


def difference(
    before: Sequence[Object], after: Sequence[Object], wanted: Sequence[ResourceRef], prepared_from: str = ""
) -> dict[str, Any]:
    """Return `before`, `after` and `changes` of what is meant.

    Of one object that is meant, both states are the object itself, empty where there was none; otherwise they
    are maps of `kind/namespace/name` to the objects that differ. A change is `{path, before, after}`, null
    for what is not there; what the API server counts by itself is none, and neither is the status of what the
    cluster had before, such as the heartbeat of a node.

    Args:
        before: Objects at the end of the provision.
        after: Objects as they are.
        wanted: What is meant; empty for everything.
        prepared_from: When the preparation began, RFC 3339 to the second; what is older is the cluster's own.
    """
    old, new = ({_key(item): item for item in steady(select(items, wanted))} for items in (before, after))
    keys = sorted(old.keys() | new.keys())
    changes = {
        key: tuple(_changes(_said(old.get(key), prepared_from), _said(new.get(key), prepared_from)))
        for key in keys
    }
    if len(keys) == 1 and len(wanted) == 1 and wanted[0].name:
        key = keys[0]
        changed = [_change(path, *both) for path, both in changes[key]]
        return _diff(old.get(key, {}), new.get(key, {}), changed)
    differing = [key for key in keys if changes[key]]
    return _diff(
        {key: old[key] for key in differing if key in old},
        {key: new[key] for key in differing if key in new},
        [_change(f"{key}:{path}", *both) for key in differing for path, both in changes[key]],
    )


def references(parameters: Fields) -> tuple[str, str, str]:
    """Read which resource an observation is about: kind, name and namespace, each may be empty.

    Raises:
        InvalidInput: A member is of another type.
    """
    kind, name, namespace = (parameters.text(part, "", longest=253) for part in ("kind", "name", "namespace"))
    return kind, name, namespace


def _diff(before: Any, after: Any, changes: Any) -> dict[str, Any]:
    return {"before": before, "after": after, "changes": changes}


def _change(path: str, before: Any, after: Any) -> dict[str, Any]:
    return {"path": path, "before": before, "after": after}


def _changes(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield every leaf that differs, by its path; lists are compared as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            yield from _changes(old.get(name), new.get(name), f"{path}.{name}" if path else name)
    elif old != new:
        yield path, (old, new)


def _said(item: Object | None, prepared_from: str) -> dict[str, Any] | None:
    if item is None:
        return None
    metadata = {key: value for key, value in item["metadata"].items() if key not in _RESTLESS_MEMBERS}
    said = {**item, "metadata": metadata}
    if str(metadata.get("creationTimestamp", "9")) < prepared_from:
        said.pop("status", None)
    return said


def _key(item: Object) -> str:
    metadata = item["metadata"]
    return "/".join((item["kind"], *filter(None, (metadata.get("namespace"), metadata["name"]))))


def _is_meant(item: Object, wanted: ResourceRef) -> bool:
    metadata = item["metadata"]
    return (
        (not wanted.kind or _is_kind(wanted.kind, item["kind"]))
        and wanted.name in ("", metadata["name"])
        # What has no namespace is meant whatever namespace was asked for.
        and (not wanted.namespace or metadata.get("namespace") in (None, "", wanted.namespace))
    )


def _is_kind(written: str, kind: str) -> bool:
    """Tell whether a word means a kind, in singular or plural, long or short."""
    return _word(written) == _word(kind)


def _word(written: str) -> str:
    word = written.strip().lower().partition(".")[0]
    known = canonical_kind(word, BUILDERS)
    if known != word or known in BUILDERS:
        return known
    for ending, instead in (("ies", "y"), ("ses", "s"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word


def _moment(parameters: Fields, name: str) -> datetime | None:
    text = parameters.text(name, "", longest=64)
    found = _parsed(text)
    if text and found is None:
        raise fault(parameters.at(name), text, "want a time as RFC 3339 has it")
    return found


def _parsed(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
