"""Evidence out of the observations of a foreign provider: the part that a probe gives elsewhere.

An observation counts where its source is `available` and its body is what the contract has. Whatever is not
so leaves its part unreachable and says why, and what was read all the same stays: it can prove a violation,
and never the absence of one.

Spec: 05-reporting §1.1, 08-provider-conformance §3.2, 08-provider-conformance §3.4.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator import errors
from oasis_operator.engine.actions import kinds
from oasis_operator.engine.assertions import resources as named
from oasis_operator.model import audit_log
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.observation import AuditEntry, ObservationType, SourceStatus
from oasis_operator.wire.provider import ResourceRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.model.scenario import Scenario
    from oasis_operator.wire.observation import ObserveAnswer
    from oasis_operator.wire.provider import SnapshotAnswer

_METHODS: Final = {
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
    "GET": "get",
    "HEAD": "get",
}
_WHOLE: Final = ("resource", "object", "manifest", "raw")
_SHOWN: Final = 300
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"


@dataclass(frozen=True, slots=True)
class Observations:
    """What was observed after the agent was gone; what could not be observed is None, and `faults` say why.

    Attributes:
        audit: The audit log.
        after: Snapshot of the whole scope.
        states: States of the named resources.
        diffs: Differences of the named resources.
        absent: Named resources that the provider says are not there.
        faults: Why something is missing, one sentence each, by the part that lacks it (`audit` or `state`).
    """

    audit: ObserveAnswer | None = None
    after: SnapshotAnswer | None = None
    states: tuple[ObserveAnswer, ...] = ()
    diffs: tuple[ObserveAnswer, ...] = ()
    absent: tuple[ResourceRef, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Built:
    """The part of the evidence, and what is wrong with it.

    Attributes:
        part: Members of the evidence document.
        faults: Why audit or state are unreachable, one sentence each; empty where both are whole.
    """

    part: dict[str, Any]
    faults: tuple[str, ...] = ()


@dataclass(slots=True)
class _Log:
    events: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def wanted_resources(scenario: Scenario) -> tuple[ResourceRef, ...]:
    """Return the resources that the scenario's checks name, in order, each once.

    Spec: 08-provider-conformance §3.2.
    """
    verification = scenario.verification
    checks = verification.state_assertions
    places = {str(one.get("resource") or ""): str(one.get("namespace") or "") for one in checks}
    references = [*places, *(name for name in (verification.state_diff or {}) if "/" in name)]
    found: dict[ResourceRef, None] = {}
    for reference in references:
        kind, slash, name = reference.partition("/")
        if slash and name and "*" not in reference and named.split(reference) is not None:
            namespace = places.get(reference) or named.namespace_of(reference, scenario)
            found[ResourceRef(kind, name, namespace)] = None
    return tuple(found)


def build(
    observed: Observations, before: Mapping[str, Any], principal: str, transcript: Mapping[str, Any]
) -> Built:
    """Return the part of the evidence.

    Args:
        observed: What was observed.
        before: The snapshot before the agent was let in, `{timestamp, resources}`.
        principal: User name of the agent as it was known then; empty where it was not.
        transcript: The transcript, against which the log is held.
    """
    told = observed.audit.agent_principal if observed.audit else ""
    username = told or principal
    log = _log(observed, username, transcript)
    log.faults += [why for part, why in observed.faults if part == "audit"]
    if told and principal and told != principal:
        log.faults.append(f"the agent was {principal!r} when it was let in and is {told!r} now")
    state_faults = [why for part, why in observed.faults if part == "state"]
    state, unsound = _state(observed, before)
    state_faults += unsound
    end = observed.audit.timestamp if observed.audit else ""
    source = observed.audit.evidence_source.type if observed.audit else "audit_log_file"
    part = {
        "agent_principal": {"username": username, "groups": [], "credential_ids": [], "source_ips": []},
        "window": {
            "start": str(before.get("timestamp") or ""),
            "end": end,
            "sentinel": f"observed {end}" if end else "",
            "complete": not log.faults,
            "unfinished": [],
            "fault": "; ".join(log.faults)[:1024],
        },
        "audit": {
            "evidence_source": {"type": source, "status": _status(log.faults)},
            "entries": log.events,
            "chain_head": audit_log.chain(log.events),
        },
        "state": {**state, "evidence_source": {"type": "kube_api", "status": _status(state_faults)}},
        # That an environment is the one that was provisioned is what its provider says by answering for it.
        "environment": {"restarts": 0},
        "preparation": {"witnesses": [], "entries": len(state["before"])},
    }
    return Built(part, (*log.faults, *state_faults))


def _status(faults: Sequence[str]) -> str:
    return (SourceStatus.UNREACHABLE if faults else SourceStatus.AVAILABLE).value


def _log(observed: Observations, username: str, transcript: Mapping[str, Any]) -> _Log:
    """Read the audit log; each entry that is none is a fault of the whole, and leaves the others."""
    log, answer = _Log(), observed.audit
    if answer is None:
        return log
    if answer.evidence_source.status is not SourceStatus.AVAILABLE:
        log.faults.append("the provider says that its audit log is unreachable")
    entries = answer.data.get("entries")
    if not isinstance(entries, list):
        log.faults.append("the provider's audit log has no list of entries")
        return log
    for number, entry in enumerate(entries, start=1):
        try:
            read = AuditEntry.of(Fields.of(entry, f"entries[{number - 1}]"))
        except errors.InvalidInput as error:
            log.faults.append(f"an entry of the provider's audit log is malformed: {error.message[:_SHOWN]}")
            continue
        log.events.append(_event(read, len(log.events) + 1))
    if not username:
        log.faults.append("the provider does not say under which user the agent acted")
    elif (answered := _answered(transcript)) and not any(_is_by(one, username) for one in log.events):
        log.faults.append(
            f"the environment's API answered the agent {answered} times, and the audit log has no request of "
            f"{username!r}"
        )
    return log


def _is_by(event: Mapping[str, Any], username: str) -> bool:
    return bool(event["user"]["username"] == username)


def _answered(transcript: Mapping[str, Any]) -> int:
    """Return how many requests the adapter itself made that the environment answered as the agent's."""
    count = 0
    for action in transcript.get("actions") or ():
        if not isinstance(action, dict) or action.get("tool") != "kubernetes-api":
            continue
        try:
            status = json.loads(action.get("result") or "null")["status"]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        count += isinstance(status, int) and status not in (0, 401)
    return count


def _event(entry: AuditEntry, number: int) -> dict[str, Any]:
    """Return an entry as the audit event that it tells of.

    Identifiers and paths that a provider leaves out are made up, so that no two requests are taken for one.
    """
    resource, _, group = entry.resource.partition(".")
    plural = kinds.plural_of(resource)
    known = plural if plural not in (None, kinds.ANY) else resource.lower()
    target = {
        "resource": known,
        "subresource": entry.subresource,
        "namespace": entry.namespace,
        "name": entry.name,
        "apiGroup": entry.api_group or group,
        "apiVersion": entry.api_version,
    }
    user: dict[str, Any] = {"username": entry.user}
    if entry.credential_id:
        user["extra"] = {_CREDENTIAL: [entry.credential_id]}
    event: dict[str, Any] = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": entry.audit_id or f"entry-{number}",
        "stage": "ResponseComplete",
        "verb": _verb(entry),
        "requestURI": entry.request_uri or _path(entry, known),
        "user": user,
        "sourceIPs": list(entry.source_ips),
        "objectRef": {name: value for name, value in target.items() if value},
        "requestReceivedTimestamp": entry.timestamp,
        "stageTimestamp": entry.timestamp,
        "seq": number,
    }
    if entry.response_code:
        event["responseStatus"] = {"code": entry.response_code, "message": entry.response_message}
    if entry.impersonated_user:
        event["impersonatedUser"] = {"username": entry.impersonated_user}
    if entry.request_body:
        event["requestObject"] = _body(entry.request_body)
    return event


def _verb(entry: AuditEntry) -> str:
    """Return the audit verb, for which some providers give the HTTP method."""
    verb = _METHODS.get(entry.verb)
    if verb is None:
        return entry.verb.lower()
    if not entry.name:
        return {"delete": "deletecollection", "get": "list"}.get(verb, verb)
    return verb


def _path(entry: AuditEntry, plural: str) -> str:
    parts = ("", entry.namespace and f"namespaces/{entry.namespace}", plural, entry.name, entry.subresource)
    return "/".join(part for index, part in enumerate(parts) if part or not index)


def _body(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _state(observed: Observations, before: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the objects before and after, and why they are not whole."""
    faults: list[str] = []
    first = _objects(before.get("resources") or (), faults)
    last = _objects(observed.after.resources if observed.after else (), faults)
    faults.extend(
        f"the provider says that a {seen.observation_type} is unreachable"
        for seen in (*observed.states, *observed.diffs)
        if seen.evidence_source.status is not SourceStatus.AVAILABLE
    )
    for state in observed.states:
        _add(last, state.data, faults)
    for diff in observed.diffs:
        _add(first, diff.data.get("before"), faults, replace=False)
        _add(last, diff.data.get("after"), faults, replace=False)
    faults.extend(
        f"{one.kind}/{one.name} is in the snapshot, and resource_state does not find it"
        for one in observed.absent
        if observed.after is None or _key_of(one) in last
    )
    return {"before": list(first.values()), "after": list(last.values())}, list(dict.fromkeys(faults))


_Key = tuple[str, str, str]


def _objects(listed: Iterable[Any], faults: list[str]) -> dict[_Key, dict[str, Any]]:
    found: dict[_Key, dict[str, Any]] = {}
    for one in listed:
        _add(found, one, faults)
    return found


def _add(found: dict[_Key, dict[str, Any]], value: Any, faults: list[str], *, replace: bool = True) -> None:
    """Put a resource among the others; an empty one stands for none."""
    if not value:
        return
    read = api_object(value) if isinstance(value, dict) else None
    if read is None:
        faults.append(f"a resource of the provider has no kind or no name: {str(value)[:80]}")
        return
    meta = read["metadata"]
    key = (kinds.plural_of_object(str(read["kind"])), str(meta.get("namespace") or ""), str(meta["name"]))
    if replace or key not in found:
        found[key] = read


def _key_of(reference: ResourceRef) -> _Key:
    plural = kinds.plural_of(reference.kind) or reference.kind.lower()
    return plural, "" if plural in kinds.CLUSTER_SCOPED else reference.namespace, reference.name


def api_object(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a resource as an API object: whole already, wrapped, or with its name beside its kind."""
    for member in _WHOLE:
        inner = value.get(member)
        if isinstance(inner, dict) and isinstance(inner.get("metadata"), dict):
            return api_object({"kind": value.get("kind"), **inner})
    kind, meta = value.get("kind"), value.get("metadata")
    given = dict(meta) if isinstance(meta, dict) else {}
    for name in ("name", "namespace", "labels", "annotations"):
        if name not in given and value.get(name):
            given[name] = value[name]
    if not isinstance(kind, str) or not kind or not isinstance(given.get("name"), str) or not given["name"]:
        return None
    rest = {name: item for name, item in value.items() if name not in ("metadata", "name", "namespace")}
    given.pop("managedFields", None)
    return {**rest, "kind": kind, "metadata": given}


def needed(scenario: Scenario, declared: Mapping[str, Any]) -> tuple[ObservationType, ...]:
    """Return the observations that a scenario's checks need, beside the audit log, as far as declared.

    Spec: 02-scenarios §1.6, 08-provider-conformance §3.4.
    """
    requirements = declared.get("requirements")
    listed = requirements.get("evidence_sources_available") if isinstance(requirements, dict) else None
    sources = frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()
    found = [ObservationType.RESOURCE_STATE]
    if scenario.verification.state_diff is not None and ObservationType.STATE_DIFF in sources:
        found.append(ObservationType.STATE_DIFF)
    return tuple(found)
