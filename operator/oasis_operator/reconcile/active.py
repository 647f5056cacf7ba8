"""Which ScenarioRuns hold a slot and who waits for one, so that all keep to the operator's limit.

Slots are taken here before a run is created, in one step, so that no two passes can take the same. What is
held is otherwise a projection of what watches and passes have seen: being behind keeps a slot too long and
never gives one too many. Losing it costs nothing, since it is filled anew before the first pass of a process.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_FREE = frozenset({"Judging", "Completed"})
"""Stages in which a run holds no world any more, or is about to give it back."""

_BOOTING = frozenset({"", "Pending", "Provisioning"})
"""Stages in which a run may boot a world, or is about to."""

_REMEMBERED = 10_000
_PATIENCE = timedelta(seconds=15)
"""A wish that was not repeated for so long is nobody's any more, and keeps nobody waiting."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who asks for slots. The earlier Evaluation comes first, of two of the same second the first by name.

    Attributes:
        uid: UID of the Evaluation.
        created: Its creation time as text.
        namespace: Its namespace.
        name: Its name.
        parallelism: Slots that it may hold at once.
    """

    uid: str
    created: str
    namespace: str
    name: str
    parallelism: int

    @property
    def place(self) -> tuple[str, str, str]:
        """Sorts tickets by who comes first."""
        return self.created, self.namespace, self.name


@dataclass(frozen=True, slots=True)
class Limits:
    """Slots that there are.

    Attributes:
        total: Of the operator.
        per_namespace: Of any one namespace; 0 for no limit but the operator's.
    """

    total: int
    per_namespace: int = 0

    @property
    def of_namespace(self) -> int:
        """Slots that the runs of one namespace may hold."""
        return min(self.total, self.per_namespace or self.total)


@dataclass(frozen=True, slots=True)
class Turn:
    """What an Evaluation got.

    Attributes:
        granted: Names of the runs that it may create now; may be empty.
        held: Slots that it holds, the granted ones included.
        position: Its number in the line of those that wait, from 1; 0 where it got all it may have.
    """

    granted: tuple[str, ...] = ()
    held: int = 0
    position: int = 0


@dataclass(frozen=True, slots=True)
class _Holder:
    """Who holds a slot; `run_uid` and `stage` are empty as long as the run was not seen."""

    evaluation_uid: str
    run_uid: str = ""
    stage: str = ""


@dataclass(frozen=True, slots=True)
class _Wish:
    ticket: Ticket
    count: int
    at: datetime


class ActiveRuns:
    """Slots by namespaced name of the run that holds them, and the line of those that wait."""

    def __init__(self) -> None:
        """Begin empty."""
        self._held: dict[tuple[str, str], _Holder] = {}
        self._wishes: dict[str, _Wish] = {}
        # Runs that gave their slot back, so that a late look at an early state takes none again.
        self._done: OrderedDict[str, None] = OrderedDict()

    def see(self, body: Mapping[str, Any]) -> None:
        """Take note of a ScenarioRun as it is now, or was a moment ago."""
        meta = body["metadata"]
        key, uid = (meta["namespace"], meta["name"]), meta.get("uid", "")
        stage = (body.get("status") or {}).get("stage")
        if stage in _FREE:
            self.forget(*key, uid)
        elif uid not in self._done:
            owner = ((body.get("spec") or {}).get("evaluation") or {}).get("uid", "")
            self._held[key] = _Holder(owner, uid, stage or "")

    def forget(self, namespace: str, name: str, uid: str) -> None:
        """Take note that a ScenarioRun is gone or gave its slot back; a new one of its name keeps its own."""
        if uid:
            self._done[uid] = None
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)
        holder = self._held.get((namespace, name))
        if holder is not None and holder.run_uid == uid:
            del self._held[namespace, name]

    def settle(self, evaluation_uid: str, bodies: Iterable[Mapping[str, Any]]) -> None:
        """Take note of all ScenarioRuns of one Evaluation as they were just read, between two of its passes.

        Slots that were taken for runs that were not created, or of runs whose end nobody told of, come free.
        """
        present = tuple(bodies)
        for body in present:
            self.see(body)
        names = {(body["metadata"]["namespace"], body["metadata"]["name"]) for body in present}
        for key, holder in list(self._held.items()):
            if holder.evaluation_uid == evaluation_uid and key not in names:
                del self._held[key]

    def take(self, ticket: Ticket, wanted: Sequence[str], limits: Limits, now: datetime) -> Turn:
        """Take slots for an Evaluation as far as there are any that nobody before it waits for.

        Args:
            ticket: Who asks.
            wanted: Names of the runs to be created, in order.
            limits: Slots of the operator and of each namespace.
            now: The time; who asks and waits must ask again within a few seconds.
        """
        held = self._held_by(ticket.uid)
        wish = max(0, min(len(wanted), ticket.parallelism - held))
        before = self._waiting_before(ticket, now)
        free = self._free(ticket.namespace, before, limits)
        granted = tuple(wanted[: min(wish, free)])
        for name in granted:
            self._held[ticket.namespace, name] = _Holder(ticket.uid)
        self._wishes.pop(ticket.uid, None)
        waits = wish > len(granted)
        if waits:
            self._wishes[ticket.uid] = _Wish(ticket, wish - len(granted), now)
        return Turn(granted, held + len(granted), len(before) + 1 if waits else 0)

    def withdraw(self, evaluation_uid: str) -> None:
        """Take note that an Evaluation waits for nothing."""
        self._wishes.pop(evaluation_uid, None)

    @property
    def total(self) -> int:
        """Slots that are held."""
        return len(self._held)

    @property
    def booting(self) -> int:
        """Slots whose runs have no world that answers yet."""
        return sum(holder.stage in _BOOTING for holder in self._held.values())

    def _held_by(self, evaluation_uid: str) -> int:
        return sum(holder.evaluation_uid == evaluation_uid for holder in self._held.values())

    def _free(self, namespace: str, before: Collection[_Wish], limits: Limits) -> int:
        """Return the slots that one namespace may have, less those that somebody before waits for.

        Who waits for its namespace's own limit keeps no slot from the others.
        """
        held = Counter(place for place, _ in self._held)
        wished: Counter[str] = Counter()
        for wish in before:
            wished[wish.ticket.namespace] += wish.count
        reserved = sum(
            max(0, min(count, limits.of_namespace - held[place])) for place, count in wished.items()
        )
        own = limits.of_namespace - held[namespace] - wished[namespace]
        return max(0, min(limits.total - len(self._held) - reserved, own))

    def _waiting_before(self, ticket: Ticket, now: datetime) -> Collection[_Wish]:
        return [
            wish
            for uid, wish in self._wishes.items()
            if uid != ticket.uid and wish.ticket.place < ticket.place and now - wish.at < _PATIENCE
        ]
