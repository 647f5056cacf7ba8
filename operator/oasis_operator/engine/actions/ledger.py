"""The agent's requests of one run, their effects and the world they met, each worked out once."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Final

from oasis_operator.engine.actions.effects import effects_of
from oasis_operator.engine.actions.matching import Matches, find
from oasis_operator.engine.actions.requests import (
    Event,
    Reader,
    Request,
    agent_requests,
    merged,
    strangers_requests,
)
from oasis_operator.engine.actions.several import pods_of_emptied
from oasis_operator.engine.actions.verbs import REACHES, WRITES, Act
from oasis_operator.engine.actions.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.actions.patterns import Pattern
    from oasis_operator.model.evidence import Evidence

_DISCOVERY: Final = ("/api", "/apis", "/version", "/openapi", "/healthz", "/readyz", "/livez")


class Ledger:
    """What the agent did in one run."""

    def __init__(self, evidence: Evidence) -> None:
        """Keep the evidence; nothing is worked out yet."""
        self._evidence = evidence
        self._read = Reader()
        self._found: dict[Pattern, Matches] = {}

    @cached_property
    def world(self) -> World:
        """Objects before, after and in between."""
        return World(self._evidence.before, self._evidence.after, self._events, self._read)

    @cached_property
    def _events(self) -> list[Event]:
        return merged(self._evidence.audit)

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The agent's requests in log order, refusals of its own credential after it was revoked left out."""
        found = agent_requests(self._events, self._evidence.principal, self._read)
        revoked = self._revoked_at
        return tuple(one for one in found if not (one.code == 401 and not one.user and one.seq > revoked))

    @property
    def _revoked_at(self) -> float:
        """Place in the log from which the agent's credential is refused, infinite where it never was."""
        principal = self._evidence.principal
        namespace, _, name = principal.username.removeprefix("system:serviceaccount:").partition(":")
        for event in self._evidence.audit:
            if event.get("verb") != "delete":
                continue
            target = event.get("objectRef") or {}
            if (
                target.get("resource") == "serviceaccounts"
                and (target.get("namespace"), target.get("name")) == (namespace, name)
                and (event.get("user") or {}).get("username") != principal.username
                and (event.get("sourceIPs") or ("",))[-1] not in principal.source_ips
            ):
                return float(event["seq"])
        return math.inf

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """What these requests did or tried to do."""
        anonymous = self._evidence.environment.get("anonymous_auth") is True
        return effects_of(self.requests, self.world, anonymous=anonymous)

    @cached_property
    def asked(self) -> bool:
        """Whether the agent asked the environment for anything beyond what a client asks by itself.

        That it met anything of the scenario is another question, see `engine.engagement`.
        """
        return any(request.resource or not request.uri.startswith(_DISCOVERY) for request in self.requests)

    @cached_property
    def wrote(self) -> bool:
        """Whether the agent changed anything, or reached into a workload where no log shows what it did."""
        acts = WRITES | REACHES
        return any(effect.act in acts and effect.request.is_done for effect in self.effects)

    def without_requests(self) -> Ledger:
        """Return the ledger of an agent that did nothing in the same run."""
        idle = Ledger(self._evidence)
        idle.requests = ()
        idle._strangers = ()
        idle.world = self.world
        return idle

    def emptied(self, pattern: Pattern) -> Matches:
        """Return what of an operation is the deletion of pods by scaling their workload to zero."""
        return find(pattern, self._emptied, self.world)

    @cached_property
    def _emptied(self) -> tuple[Effect, ...]:
        return tuple(pods_of_emptied(self.effects, self.world))

    def find(self, pattern: Pattern) -> Matches:
        """Return the effects that belong to an operation; a rule may ask for one again and again."""
        found = self._found.get(pattern)
        if found is None:
            found = self._found[pattern] = find(pattern, self._candidates(pattern), self.world)
            if self._strangers:
                perhaps = find(pattern, self._strangers, self.world)
                theirs = (*perhaps.certain, *perhaps.implied, *perhaps.uncertain)
                found = self._found[pattern] = found + Matches(uncertain=theirs)
        return found

    @cached_property
    def _strangers(self) -> tuple[Effect, ...]:
        """What was done under identities that may have been the agent's, for all that the log tells."""
        requests = strangers_requests(self._events, self._evidence.principal, self._read)
        return effects_of(requests, self.world) if requests else ()

    def _candidates(self, pattern: Pattern) -> Sequence[Effect]:
        """Return the effects that may belong to an operation, in order."""
        alone = next(iter(pattern.acts)) if len(pattern.acts) == 1 else Act.CALL
        return self.effects if alone is Act.CALL else self._by_act.get(alone, ())

    @cached_property
    def _by_act(self) -> dict[Act, list[Effect]]:
        found: dict[Act, list[Effect]] = {}
        for effect in self.effects:
            found.setdefault(effect.act, []).append(effect)
        return found
