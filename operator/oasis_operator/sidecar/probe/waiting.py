"""Temporal conditions: what the world becomes once an agent has done something, or after a while.

The audit log is read while it is written. As soon as it shows that the moment of a stimulus has come, the
state that the stimulus declares is brought about like any other, proven, and put on record with its trigger.

How it ends, for each stimulus:
- brought about: there is a witness;
- `fault`: its moment came and the environment did not become what it should, which is a fault of ours;
- `missed`: its moment came when the run was over, what it changes was gone, or it could not be brought about
  and the agent had taken something away, or changed something meanwhile: that is none;
- nothing of this: its moment never came.

Spec: 02-scenarios §1.4, 08-provider-conformance §3.1.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import ProviderFault
from oasis_operator.model.audit_log import parse_line
from oasis_operator.model.timing import Counted, Tally, count
from oasis_operator.sidecar.probe import audit, moments
from oasis_operator.sidecar.probe.api import ApiError
from oasis_operator.sidecar.probe.establish import NotEstablished

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from pathlib import Path

    from oasis_operator.wire.probe import Witness
    from oasis_operator.world.injection import Injection

    BringAbout = Callable[[Injection], Awaitable[Witness]]

_EVERY_SECONDS: Final = 0.02
_CROSSED: Final = "the agent changed what it needs"
_OVER: Final = "its moment came when the run was all but over"


class Gone(Exception):  # noqa: N818  # it is the agent's doing, and no failure
    """What a stimulus changes does not exist any more."""


@dataclass(slots=True)
class Told:
    """How far a stimulus is.

    Attributes:
        injection: What it places.
        came_at: When the environment saw that its moment had come; empty before.
        audit_id: Request that made it come; empty for one that is a matter of time.
        witness: That it is in place; None where it is not.
        fault: Why the environment did not bring it about.
        missed: Why it was not brought about through no fault of the environment's.
    """

    injection: Injection
    came_at: str = ""
    audit_id: str = ""
    witness: Witness | None = None
    fault: str = ""
    missed: str = ""


@dataclass(slots=True)
class Waiting:
    """Waits for the moments of one run.

    Attributes:
        log: The audit log.
        username: The agent's user.
        told: What is waited for, in the scenario's order.
        since: From when requests count, RFC 3339; empty before the prompt.
    """

    log: Path
    username: str
    told: list[Told]
    since: str = ""
    _tally: Tally | None = None
    _begun: float = 0.0
    _offset: int = 0
    _seen: int = -1
    _has_deleted: bool = False
    _begins: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, log: Path, username: str, injections: Iterable[Injection]) -> Waiting | None:
        """Wait for the moments of a run's stimuli; None where none has any."""
        told = [Told(one) for one in injections if one.moment is not None]
        return cls(log, username, told) if told else None

    def begin(self) -> str:
        """Count from now on, since the prompt is about to be sent; a second call changes nothing."""
        if not self.since:
            self._offset = self.log.stat().st_size
            self.since = moments.now()
            self._begun = time.monotonic()
            self._tally = Tally(self.username, self.since)
            self._begins.set()
        return self.since

    async def watch(self, bring_about: BringAbout) -> None:
        """Bring about each stimulus when its moment has come; ends when there is none left."""
        await self._begins.wait()
        while pending := [one for one in self.told if not one.came_at]:
            await self._read_on()
            for one in pending:
                if self._has_come(one):
                    await self._meet(one, bring_about)
            await asyncio.sleep(_EVERY_SECONDS)

    def to_json(self, entries: Iterable[Mapping[str, Any]], end: str) -> list[dict[str, Any]]:
        """Give what became of each stimulus, as the evidence has it.

        Args:
            entries: All audit events of the run, with their places.
            end: When the run ended, RFC 3339; empty where nobody knows.
        """
        known = list(entries)
        tally = count(known, self.username, self.since)
        places = {str(entry.get("auditID")): entry.get("seq") for entry in known}
        return [self._account(one, tally, places, end) for one in self.told]

    async def _read_on(self) -> None:
        size = self.log.stat().st_size
        if size != self._seen:
            self._seen = size
            for event in await asyncio.to_thread(self._events):
                if self._tally is not None and Counted.MUTATIONS in self._tally.add(event):
                    self._has_deleted |= event.get("verb") in ("delete", "deletecollection")

    def _events(self) -> list[dict[str, Any]]:
        found, marker = [], self.username.encode()
        for line, end in audit.read_lines(self.log, self._offset):
            self._offset = end
            event = parse_line(line) if marker in line else None
            if event is not None:
                found.append(event)
        return found

    def _has_come(self, one: Told) -> bool:
        moment = one.injection.moment
        if moment is None or self._tally is None:
            return False
        if moment.counted is Counted.SECONDS:
            return time.monotonic() - self._begun >= moment.number
        return self._tally.has_come(moment)

    @property
    def _changes(self) -> int:
        return self._tally.counts.get(Counted.MUTATIONS, 0) if self._tally else 0

    async def _meet(self, one: Told, bring_about: BringAbout) -> None:
        one.came_at = moments.now()
        moment = one.injection.moment
        if moment is not None and self._tally is not None and moment.counted in self._tally.last:
            one.audit_id = str(self._tally.last[moment.counted].get("auditID", ""))
        changes = self._changes
        try:
            one.witness = await bring_about(one.injection)
        except Gone as error:
            one.missed = str(error)
        except asyncio.CancelledError:
            one.missed = _OVER
            raise
        except (NotEstablished, ApiError) as error:
            # Whoever works on the same objects, or took away what they need, can keep them from ever being
            # as they should.
            await self._read_on()
            crossed = self._has_deleted or self._changes > changes
            one.fault, one.missed = ("", f"{_CROSSED}: {error}") if crossed else (str(error), "")
        except (ProviderFault, OSError) as error:
            one.fault = str(error)
        except Exception as error:  # noqa: BLE001  # a bug of ours must not look like a moment that never came
            one.fault = f"internal error: {error!r}"

    def _account(self, one: Told, tally: Tally, places: Mapping[str, Any], end: str) -> dict[str, Any]:
        moment, missed = one.injection.moment, one.missed
        last = tally.last.get(moment.counted) if moment is not None else None
        came = one.came_at
        if not came and self.since and moment is not None and last and tally.has_come(moment):
            came, missed = end or moments.now(), _OVER
        witness = one.witness.to_json() if one.witness else None
        waited: dict[str, Any] = {
            "timing": one.injection.timing,
            "since": self.since or None,
            "came_at": came or None,
            "audit_id": one.audit_id,
            "entry": places.get(one.audit_id) if one.audit_id else None,
        }
        return {
            "index": one.injection.index,
            "delivered_at": witness["at"] if witness else None,
            "witness": witness,
            "moment": waited,
            "fault": one.fault,
            "missed": missed,
        }
