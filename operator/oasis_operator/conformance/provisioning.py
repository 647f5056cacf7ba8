"""Rules of provision and teardown: what must be refused, what is made, and what is left afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from oasis_operator.conformance.rules import RULES
from oasis_operator.conformance.talk import Call, Reply
from oasis_operator.wire.conformance import Extension, extensions_of
from oasis_operator.wire.provider import Route, Status

if TYPE_CHECKING:
    from oasis_operator.conformance.session import Session

_GONE_IDS = "no-such-environment-0000"
_REFUSED = (400, 422)
_NEED_ONE = ("PROV-", "SNAP-", "INJ-", "OBS-", "TEAR-", "BODY-4")
_ABOUT_ONE = (Route.STATE_SNAPSHOT, Route.INJECT_STATE, Route.OBSERVE)


async def refuse(session: Session) -> None:
    """Send what no provider should take."""
    record = session.record
    broken = await session.send(Call("POST", Route.PROVISION, b'{"scenario_id": '))
    session.note(broken)
    record.check("BODY-1", broken.status == 400, f"POST {Route.PROVISION} of half an object: {broken}")
    headless = await session.post(Route.PROVISION, {"scenario_id": "conformance.suite.000", "tier": 1})
    says_so = headless.is_done and headless.body.get("status") == Status.ERROR
    record.check(
        "PROV-6", headless.status in _REFUSED or says_so, f"a provision without `environment`: {headless}"
    )
    for route in _ABOUT_ONE:
        reply = await session.post(route, _about(route, _GONE_IDS))
        record.check("ENV-1", reply.status == 404, f"{route} of an environment that never was: {reply}")


async def provision(session: Session) -> str:
    """Make an environment and return its identifier; empty where none came of it."""
    record = session.record
    reply = await session.post(Route.PROVISION, session.request())
    ready = reply.status in (200, 201) and reply.body.get("status") == Status.READY
    named = reply.body.get("environment_id")
    if not record.check("PROV-1", ready, f"POST {Route.PROVISION}: {reply}"):
        _nothing_made(session)
        return ""
    parts = urlsplit(str(reply.body.get("agent_endpoint") or ""))
    record.check(
        "PROV-3", parts.scheme and parts.netloc, f"agent_endpoint: {reply.body.get('agent_endpoint')!r}"
    )
    credentials = reply.body.get("agent_credentials")
    kept = isinstance(credentials, dict) and any(credentials.values())
    record.check("PROV-4", kept, f"agent_credentials are {type(credentials).__name__}, with nothing in them")
    if not record.check("PROV-2", isinstance(named, str) and named, f"environment_id: {named!r}"):
        _nothing_made(session)
        return ""
    session.access = dict(reply.body)
    await _again(session, str(named))
    await _proposed(session)
    return str(named)


def _nothing_made(session: Session) -> None:
    skipped = [rule for rule in RULES if rule.startswith(_NEED_ONE)]
    session.record.skip(*skipped, why="there is no environment to try it on")


async def _again(session: Session, first: str) -> None:
    """Make another environment: of split entries, with a member that nobody knows."""
    split = [
        {"kind": "namespace", "name": "orders"},
        {"kind": "configmap", "name": "settings", "namespace": "orders",
         "spec": {"data": {"LOG_LEVEL": "info"}}},
    ]  # fmt: skip
    environment = {"type": session.subject.environment_type, "state": split}
    reply = await session.post(Route.PROVISION, session.request(environment=environment))
    taken = session.record.check(
        "PROV-7", reply.is_done and reply.body.get("status") == Status.READY, f"of split entries: {reply}"
    )
    odd = await session.post(Route.PROVISION, session.request(x_member_of_nobody={"a": 1}))
    ready = odd.is_done and odd.body.get("status") == Status.READY
    session.record.check("BODY-4", ready, f"a provision with an unknown member: {odd}")
    others = [one.body.get("environment_id") for one, made in ((reply, taken), (odd, ready)) if made]
    if not others:
        session.record.skip("PROV-5", why="no second environment was made")
        return
    distinct = len({first, *others}) == len(others) + 1
    session.record.check(
        "PROV-5", distinct, f"{len(others) + 1} provisions were answered with {first!r} again"
    )
    for environment_id in {str(one) for one in others} - {first}:
        await _tear(session, environment_id)


async def _proposed(session: Session) -> None:
    """Propose an identifier twice, and look at it while it comes about."""
    if Extension.ENVIRONMENT_ID not in extensions_of(session.declared):
        why = "the provider does not list `environment_id` among its extensions"
        session.record.skip("PROV-8", "PROV-9", "OBS-11", why=why)
        return
    wanted = f"{session.subject.token}-proposed"
    body = session.request(environment_id=wanted)
    look = Call.post(
        Route.OBSERVE, {"environment_id": wanted, "observation_type": "audit_log", "parameters": {}}
    )
    first, early = await session.line.overlap(Call.post(Route.PROVISION, body), look)
    session.note(first)
    _early(session, early)
    again = await session.post(Route.PROVISION, body)
    same = (
        first.is_done
        and again.is_done
        and first.body.get("environment_id") == again.body.get("environment_id") == wanted
    )
    session.record.check("PROV-8", same, f"{wanted} proposed twice: first {first}, then {again}")
    other = await session.post(Route.PROVISION, {**body, "scenario_id": "conformance.suite.002"})
    session.record.check("PROV-9", other.status == 409, f"{wanted} proposed for another body: {other}")
    for environment_id in (wanted, session.note(other)):
        if environment_id:
            await _tear(session, environment_id)


def _early(session: Session, early: Reply | None) -> None:
    """Judge an observation made during a provision; a provider that is faster than it shows nothing."""
    if early is None:
        session.record.skip("OBS-11", why="the environment was ready before it could be observed too early")
        return
    session.record.check("OBS-11", early.is_refusal, f"observed while being provisioned: {early}")


async def end(session: Session, environment_id: str) -> None:
    """Tear down an environment twice, and see what is left of it."""
    record = session.record
    first = await _tear(session, environment_id)
    destroyed = first.is_done and first.body.get("status") == Status.DESTROYED
    record.check("TEAR-1", destroyed, f"POST {Route.TEARDOWN}: {first}")
    again = await _tear(session, environment_id)
    settled = again.status in (404, 410) or (again.is_done and again.body.get("status") == Status.DESTROYED)
    record.check("TEAR-2", settled, f"POST {Route.TEARDOWN} again: {again}")
    for route in _ABOUT_ONE:
        reply = await session.post(route, _about(route, environment_id))
        record.check("TEAR-3", reply.is_refusal, f"{route} after the teardown: {reply}")


async def _tear(session: Session, environment_id: str) -> Reply:
    reply = await session.post(Route.TEARDOWN, {"environment_id": environment_id})
    if reply.is_done and environment_id in session.alive:
        session.alive.remove(environment_id)
    return reply


def _about(route: Route, environment_id: str) -> dict[str, object]:
    """Return a sound request about one environment."""
    extra: dict[Route, dict[str, object]] = {
        Route.INJECT_STATE: {"state": [{"resource": "namespace/late"}]},
        Route.OBSERVE: {"observation_type": "audit_log", "parameters": {}},
    }
    return {"environment_id": environment_id, **extra.get(route, {})}
