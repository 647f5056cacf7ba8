"""Rules of the conformance answer, and of the credentials that a provider wants.

Spec: 08-provider-conformance §3.8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from oasis_operator.conformance.talk import Call
from oasis_operator.engine.preflight import check_provider
from oasis_operator.wire.conformance import ConformanceAnswer
from oasis_operator.wire.provider import Route

if TYPE_CHECKING:
    from oasis_operator.conformance.session import Session

_NOBODYS = "profile-that-nobody-has-written"


async def ask(session: Session) -> None:
    """Ask what the provider says of itself, and what it says to those who ask badly."""
    record, wanted = session.record, session.subject.profile_id
    reply = await session.send(Call("GET", _query(wanted)))
    if not record.check("CONF-1", reply.status == 200 and reply.body, f"GET {_query(wanted)}: {reply}"):
        record.skip("CONF-2", "CONF-3", "CONF-4", "CONF-7", why="there is no conformance answer")
    else:
        session.declared = reply.body
        record.reads("CONF-2", ConformanceAnswer.from_json, reply)
        record.check("CONF-3", reply.body.get("profile") == wanted, f"asked for {wanted}: {reply}")
        _agree(session)
        _meet(session)
    await _ask_badly(session)
    await _ask_unknown(session)


def _query(profile: str) -> str:
    return f"{Route.CONFORMANCE}?profile={quote(profile, safe='')}"


def _agree(session: Session) -> None:
    """`supported` says that nothing is unmet. Spec: 08-provider-conformance §3.8.2."""
    supported, unmet = session.declared.get("supported"), session.declared.get("unmet_requirements") or []
    listed = unmet if isinstance(unmet, list) else [unmet]
    told = [one for one in listed if isinstance(one, dict) and one.get("requirement") and one.get("reason")]
    agrees = isinstance(supported, bool) and supported is not bool(listed) and len(told) == len(listed)
    detail = f"supported is {supported!r} and unmet_requirements are {listed!r}"
    session.record.check("CONF-4", agrees, detail)


def _meet(session: Session) -> None:
    profile = session.subject.profile
    if profile is None:
        session.record.skip("CONF-7", why="no profile was given to hold the answer against")
        return
    gaps = check_provider(profile, session.declared, session.subject.tier)
    named = ", ".join(dict.fromkeys(gap.requirement for gap in gaps))
    said = "; ".join(f"{gap.message}: {gap.remedy}" for gap in gaps)
    session.record.check("CONF-7", not gaps, f"{len(gaps)} gaps ({named}): {said}")


async def _ask_badly(session: Session) -> None:
    unknown = await session.send(Call("GET", _query(_NOBODYS)))
    claims = unknown.is_done and unknown.body.get("supported") is not False
    session.record.check("CONF-5", not claims and not unknown.status >= 500 and not unknown.fault,
                         f"asked for {_NOBODYS}: {unknown}")  # fmt: skip
    bare = await session.send(Call("GET", Route.CONFORMANCE))
    session.record.check("CONF-6", bare.status == 400, f"asked without `profile`: {bare}")


async def _ask_unknown(session: Session) -> None:
    """Ask without credentials, where the provider is to want them."""
    if not session.subject.has_token:
        session.record.skip("AUTH-1", why="no credentials were given, so that none can be left out")
        return
    for call in (
        Call("GET", _query(session.subject.profile_id), with_token=False),
        Call("POST", Route.TEARDOWN, b'{"environment_id": "none"}', with_token=False),
    ):
        reply = await session.send(call)
        seen = f"{call.method} {call.path.partition('?')[0]} without credentials: {reply}"
        session.record.check("AUTH-1", reply.status in (401, 403), seen)
