"""How the requests of the conformance suite travel: as they are, with whatever comes back put down."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from oasis_operator import errors
from oasis_operator.clients.provider_http import HttpProvider
from oasis_operator.conformance.talk import Call, Reply
from oasis_operator.resources.provider_access import ProviderReach

if TYPE_CHECKING:
    from oasis_operator.resources.provider_access import AgentAccess

_HEAD_START_SECONDS = 0.25


class HttpLine:
    """Implements `conformance.talk.Line`."""

    def __init__(
        self,
        reach: ProviderReach,
        provider: HttpProvider | None = None,
        head_start_seconds: float = _HEAD_START_SECONDS,
    ) -> None:
        """Speak to the provider at `reach`; of two requests at once the first has a head start."""
        self._head_start = head_start_seconds
        self._reach = reach
        self._provider = provider or HttpProvider()

    async def send(self, call: Call) -> Reply:
        """Send one request and return its answer."""
        reach = self._reach if call.with_token else replace(self._reach, token="")
        return await self._reply(reach, call)

    async def overlap(self, first: Call, then: Call) -> tuple[Reply, Reply | None]:
        """Send `then` a moment after `first`, without waiting for its answer."""
        under_way = asyncio.create_task(self.send(first))
        await asyncio.sleep(self._head_start)
        early = await self.send(then)
        was_early = not under_way.done()
        return await under_way, early if was_early else None

    async def act(self, access: AgentAccess, path: str) -> Reply:
        """Ask the environment's own API for a path with the agent's credentials."""
        reach = ProviderReach(access.server, access.ca.encode(), access.token)
        return await self._reply(reach, Call("GET", path))

    async def _reply(self, reach: ProviderReach, call: Call) -> Reply:
        try:
            found = await self._provider.send(
                reach, call.method, call.path, call.body, seconds=reach.provision_seconds
            )
        except errors.ProviderFault as error:
            return Reply(0, fault=error.message)
        return Reply(found.status, found.content, found.media_type)
