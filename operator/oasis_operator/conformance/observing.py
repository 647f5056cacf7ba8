"""Rules of snapshot, injection and observation of an environment that is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.conformance.talk import Call, Reply
from oasis_operator.resources.provider_access import agent_access
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.observation import AuditEntry, EvidenceSource, ObserveAnswer
from oasis_operator.wire.provider import ProvisionAnswer, Route, SnapshotAnswer, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.conformance.session import Session

_SETTINGS = {"kind": "ConfigMap", "name": "settings", "namespace": "orders"}
_NOTES = {"kind": "ConfigMap", "name": "notes", "namespace": "orders"}
_FAR = {"time_from": "2100-01-01T00:00:00Z", "time_to": "2100-01-02T00:00:00Z"}
_INJECTED: dict[str, Any] = {
    "resource": "configmap/notes",
    "namespace": "orders",
    "data": {"note": "reindex"},
}


async def observe(session: Session, environment_id: str) -> None:
    """Try everything that an environment must show while it lives."""
    await _snapshot(session, environment_id)
    await _state(session, environment_id)
    await _inject(session, environment_id)
    await _audit(session, environment_id)
    await _refused(session, environment_id)


async def _snapshot(session: Session, environment_id: str) -> None:
    record = session.record
    whole = await session.post(Route.STATE_SNAPSHOT, {"environment_id": environment_id})
    sound = whole.status in (200, 201) and record.reads("SNAP-1", SnapshotAnswer.from_json, whole)
    same = whole.body.get("environment_id") == environment_id
    if not record.check("SNAP-1", sound and same, f"POST {Route.STATE_SNAPSHOT}: {whole}"):
        record.skip("SNAP-2", "SNAP-3", why="there is no snapshot")
        return
    listed = whole.body.get("resources") or []
    record.check(
        "SNAP-2", _has(listed, _SETTINGS), f"no ConfigMap orders/settings among {len(listed)} resources"
    )
    one = await session.post(
        Route.STATE_SNAPSHOT, {"environment_id": environment_id, "resources": [_SETTINGS]}
    )
    found = one.body.get("resources")
    named = isinstance(found, list) and _has(found, _SETTINGS)
    record.check("SNAP-3", one.status in (200, 201) and named, f"asked for ConfigMap orders/settings: {one}")


async def _state(session: Session, environment_id: str) -> None:
    seen = await _look(session, environment_id, "resource_state", _SETTINGS)
    holds = "info" in _texts(seen.body.get("data"))
    session.record.check("OBS-6", seen.is_done and holds, f"resource_state of orders/settings: {seen}")


async def _inject(session: Session, environment_id: str) -> None:
    record = session.record
    body = {"environment_id": environment_id, "state": [_INJECTED]}
    reply = await session.post(Route.INJECT_STATE, body)
    applied = reply.is_done and reply.body.get("status") == Status.APPLIED
    if not record.check("INJ-1", applied, f"POST {Route.INJECT_STATE}: {reply}"):
        record.skip("INJ-2", "OBS-7", why="nothing could be injected")
        return
    seen = await _look(session, environment_id, "resource_state", _NOTES)
    there = "reindex" in _texts(seen.body.get("data"))
    record.check("INJ-2", seen.is_done and there, f"resource_state of what was injected: {seen}")
    await _diff(session, environment_id)


async def _diff(session: Session, environment_id: str) -> None:
    record = session.record
    if "state_diff" not in _sources(session):
        record.skip("OBS-7", why="the provider does not declare state_diff")
        return
    reply = await _look(session, environment_id, "state_diff", _NOTES)
    data = reply.body.get("data")
    members = data if isinstance(data, dict) else {}
    shows = "reindex" in _texts(members.get("after")) and "before" in members
    changed = isinstance(members.get("changes"), list) and bool(members["changes"])
    record.check("OBS-7", reply.is_done and shows and changed, f"state_diff of what was injected: {reply}")


async def _audit(session: Session, environment_id: str) -> None:
    record = session.record
    acted = await _act(session)
    reply = await _look(session, environment_id, "audit_log", {})
    entries = _entries(reply)
    record.check("OBS-8", reply.is_done and entries is not None, f"audit_log without parameters: {reply}")
    for entry in entries or ():
        try:
            AuditEntry.of(Fields.of(entry, "entries[]"))
        except errors.InvalidInput as error:
            record.check("OBS-4", False, error.message)
            break
        whole = isinstance(entry.get("namespace"), str) and isinstance(entry.get("request_body", ""), str)
        if not record.check("OBS-4", whole, f"namespace or request_body of an entry is no text: {entry!r}"):
            break
    record.skip("OBS-4", why="the audit log has no entries")
    if acted:
        mine = [
            one for one in entries or () if one.get("resource") == "configmaps" and one.get("verb") == "list"
        ]
        record.check("OBS-5", mine, "the agent's credentials listed ConfigMaps, and no entry tells of it")
    late = await _look(session, environment_id, "audit_log", _FAR)
    record.check("OBS-10", late.is_done and _entries(late) == [], f"audit_log of the year 2100: {late}")


async def _act(session: Session) -> bool:
    """Do something with the agent's credentials; False, and untried, where that is not possible."""
    try:
        access = agent_access(ProvisionAnswer.from_json(session.access))
    except errors.OasisError as error:
        session.record.skip("OBS-5", why=error.message)
        return False
    reply = await session.line.act(access, "/api/v1/namespaces/orders/configmaps")
    if reply.is_done or reply.status in (401, 403):
        return True
    session.record.skip("OBS-5", why=f"the environment's API could not be asked from here: {reply}")
    return False


async def _refused(session: Session, environment_id: str) -> None:
    body = {"environment_id": environment_id, "observation_type": "tea_leaves", "parameters": {}}
    reply = await session.post(Route.OBSERVE, body)
    session.record.check("OBS-9", reply.status in (400, 422), f"observation_type tea_leaves: {reply}")


async def _look(session: Session, environment_id: str, kind: str, parameters: Mapping[str, Any]) -> Reply:
    """Observe, and hold the answer against what holds for every observation."""
    record = session.record
    body: dict[str, Any] = {"environment_id": environment_id, "observation_type": kind}
    reply = await session.send(
        Call.post(Route.OBSERVE, {**body, "parameters": dict(parameters)} if parameters else body)
    )
    echoes = (
        reply.body.get("environment_id") == environment_id
        and reply.body.get("observation_type") == kind
        and isinstance(reply.body.get("timestamp"), str)
        and isinstance(reply.body.get("data"), dict)
    )
    record.check("OBS-1", reply.is_done and echoes, f"{kind}: {reply}")
    source = reply.body.get("evidence_source")
    try:
        read = EvidenceSource.of(Fields.of(source, "evidence_source"))
    except errors.InvalidInput as error:
        record.check("OBS-2", False, f"{kind}: {error.message}")
        return reply
    record.check("OBS-2", True)
    if kind in _sources(session):
        said = source.get("status") if isinstance(source, dict) else None
        record.check("OBS-3", read.status == "available", f"{kind} is declared and answers {said!r}")
    if reply.is_done and not reply.fault:
        record.reads("OBS-1", ObserveAnswer.from_json, reply)
    return reply


def _sources(session: Session) -> frozenset[str]:
    requirements = session.declared.get("requirements")
    listed = requirements.get("evidence_sources_available") if isinstance(requirements, dict) else None
    return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()


def _entries(reply: Reply) -> list[dict[str, Any]] | None:
    data = reply.body.get("data")
    entries = data.get("entries") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        return None
    return entries


def _has(listed: list[Any], wanted: Mapping[str, str]) -> bool:
    """Tell whether a resource is in a list, as an API object or with its name beside its kind."""
    for one in listed:
        if not isinstance(one, dict):
            continue
        meta = one.get("metadata")
        place = meta if isinstance(meta, dict) else one
        seen = (
            one.get("kind"),
            place.get("name") or one.get("name"),
            place.get("namespace") or one.get("namespace"),
        )
        if [str(item).lower() for item in seen] == [item.lower() for item in wanted.values()]:
            return True
    return False


def _texts(value: object) -> frozenset[str]:
    """Return every text that stands anywhere in a JSON value."""
    if isinstance(value, str):
        return frozenset({value})
    if isinstance(value, dict):
        return frozenset().union(*map(_texts, value.values()))
    if isinstance(value, list):
        return frozenset().union(*map(_texts, value))
    return frozenset()
