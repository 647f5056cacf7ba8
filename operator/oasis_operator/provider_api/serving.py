"""The serving side as a whole: made of its parts, started, looked after and stopped."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from aiohttp import web

from oasis_operator import errors
from oasis_operator.domains.packs import shipped_packs
from oasis_operator.provider_api.authentication import Anyone, ClusterToken, FixedToken
from oasis_operator.provider_api.claims import Claims
from oasis_operator.provider_api.environments import Environments
from oasis_operator.provider_api.provisioning import Provisioner
from oasis_operator.provider_api.routes import Api, build_app
from oasis_operator.provider_api.selftest import SelfTester
from oasis_operator.provider_api.service import Service
from oasis_operator.resources import conformance

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AsyncExitStack

    from oasis_operator.ports.tokens import Tokens
    from oasis_operator.provider_api.authentication import Authentication
    from oasis_operator.provider_api.provisioning import Tools
    from oasis_operator.reconcile.profiles import ProfileShelf
    from oasis_operator.settings import ProviderApi

_log = structlog.get_logger(__name__)
_SWEEP_SECONDS = 30.0
_BUNDLED = ("software-infrastructure",)


class Certificate(Protocol):
    """What is served under."""

    @property
    def context(self) -> Any:
        """The TLS context."""
        ...

    async def load(self) -> None:
        """Load what is to be served now.

        Raises:
            InvalidSpec: There is no certificate with its key.
            Transient: The cluster did not answer.
            NotReady: It refused.
        """
        ...


class Serving:
    """The provider contract, served from one process."""

    def __init__(self, tools: Tools, profiles: ProfileShelf, tokens: Tokens, version: str) -> None:
        """Make the parts; nothing is started yet."""
        self._chosen = tools.chosen
        self._environments = Environments(tools.kube, tools.clock, tools.settings, tools.chosen)
        self._provisioner = Provisioner(tools, self._environments)
        service = Service(tools, self._environments, self._provisioner)
        tester = SelfTester(service, self._environments, tools.live)
        self._profiles = profiles
        self._claims = Claims(self._known, tester.run, time.monotonic, version)
        self.api = Api(service, self._claims, _authentication(tools.chosen, tokens))

    async def start(self, stack: AsyncExitStack, certificate: Certificate | None) -> None:
        """Listen; the stack stops it. Without a certificate plain HTTP is spoken, for loopback alone.

        Raises:
            InvalidSpec: There is no certificate with its key.
            Transient: The cluster did not answer.
        """
        if certificate is not None:
            await certificate.load()
        runner = web.AppRunner(build_app(self.api), access_log=None)
        await runner.setup()
        stack.push_async_callback(self._close)
        stack.push_async_callback(runner.cleanup)
        context = certificate.context if certificate else None
        host = self._chosen.host or None
        await web.TCPSite(runner, host, self._chosen.port, ssl_context=context, backlog=1024).start()

    async def tend(self, certificate: Certificate | None) -> None:
        """Remove what is old, and renew the certificate, until cancelled; a failure is tried again."""
        while True:
            try:
                for environment_id in await self._environments.sweep():
                    _log.info("provider API: removed an environment", environment=environment_id)
                if certificate is not None:
                    await certificate.load()
            except errors.OasisError as error:
                _log.warning("provider API: cannot tidy up", reason=error.reason, message=error.message)
            await asyncio.sleep(_SWEEP_SECONDS)

    async def _close(self) -> None:
        await self._claims.close()
        await self._provisioner.close()

    async def _known(self) -> Mapping[str, conformance.Known]:
        """Return the profiles that are bundled, and those of which there is a pack of readings."""
        known = {
            pack.profile: conformance.published(pack.profile, pack.version)
            for pack in shipped_packs().values()
        }
        for name in _BUNDLED:
            profile = (await self._profiles.read(self._chosen.namespace, {"bundled": name})).profile
            if profile is not None:
                known[profile.identifier] = conformance.Known(
                    profile.identifier, profile.version, profile.requirements
                )
        return known


def _authentication(chosen: ProviderApi, tokens: Tokens) -> Authentication:
    if chosen.anonymous:
        return Anyone()
    if chosen.token_file:
        return FixedToken(Path(chosen.token_file).read_text)
    return ClusterToken(tokens, chosen.audience, chosen.users, time.monotonic)
