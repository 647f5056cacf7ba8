"""The suite itself: what is asked in which order, and what each answer shows.

1. Conformance: what the provider says of itself, with and without credentials.
2. Bodies that no provider should take.
3. One environment after another: provision, capture, change, observe, tear down, and what comes after.
4. Whatever was provisioned is torn down at the end, whatever came between.

Spec: 08-provider-conformance §3, 04-execution §2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.conformance import declared, observing, provisioning
from oasis_operator.conformance.session import Session, Subject
from oasis_operator.conformance.talk import Call
from oasis_operator.wire.provider import Route

if TYPE_CHECKING:
    from oasis_operator.conformance.rules import Finding
    from oasis_operator.conformance.talk import Line


async def run(line: Line, subject: Subject) -> tuple[Finding, ...]:
    """Try every rule and return one finding for each, in the order of the rules; never raises for answers."""
    session = Session(line, subject)
    try:
        await declared.ask(session)
        await provisioning.refuse(session)
        first = await provisioning.provision(session)
        if first:
            await observing.observe(session, first)
            await provisioning.end(session, first)
    finally:
        await _clean(session)
    _bodies(session)
    return session.record.all()


async def _clean(session: Session) -> None:
    """Tear down what is left, the newest first."""
    for environment_id in reversed(session.alive):
        await session.line.send(Call.post(Route.TEARDOWN, {"environment_id": environment_id}))
    session.alive.clear()


def _bodies(session: Session) -> None:
    """Look at all answers together."""
    for what, reply in session.record.replies:
        if reply.fault or not reply.content:
            continue
        is_json = bool(reply.body) and reply.media_type == "application/json"
        seen = f"{what} answered {reply.media_type or 'no media type'}: {reply}"
        session.record.check("BODY-2", is_json, seen)
        if reply.status >= 400:
            said = reply.body.get("error")
            typed = reply.body.get("status") == "error" and isinstance(said, str) and bool(said)
            session.record.check("BODY-3", typed, f"{what} answered {reply}")
