"""Entry point of the provider: `oasis-database-provider`, configured by its environment alone.

| variable | default | |
|---|---|---|
| `DATABASE_HOST` | `127.0.0.1` | address to listen on and to hand out to agents |
| `DATABASE_PORT` | `8444` | port of the contract |
| `DATABASE_FOLDER` | `/var/lib/databases` | where servers keep what they write; a short path |
| `DATABASE_PROGRAMS` | `/usr/lib/postgresql/15/bin` | the server's programs |
| `DATABASE_TOKEN_FILE` | | the bearer token of whoever may ask; without it anyone may, on loopback alone |
| `DATABASE_TLS` | | folder with `tls.crt` and `tls.key`; without it plain HTTP, on loopback alone |
| `DATABASE_MOST` | `8` | environments at once |

Agents reach their environments over HTTPS in any case, under a certificate of this process's own; its
authority is part of what a provision answers with.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import signal
import ssl
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from oasis_operator.clients.clock import SystemClock
from oasis_operator.clients.pki import serving_pair
from oasis_operator.database.claims import Claims
from oasis_operator.database.service import Databases, Place
from oasis_operator.errors import InvalidSpec
from oasis_operator.provider_api.authentication import Anyone, FixedToken
from oasis_operator.provider_api.routes import Api, build_app

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_SWEEP_SECONDS = 60.0
_CERTIFIED = timedelta(days=365)
_PAIR = ("tls.crt", "tls.key")


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Settings of the provider, see the table above; empty paths stand for none."""

    host: str
    port: int
    folder: Path
    programs: Path
    token_file: str
    tls: str
    most: int


def read_settings(environment: Mapping[str, str]) -> ProviderSettings:
    """Read the settings.

    Raises:
        InvalidSpec: A number is none, or what is open to everyone is not on loopback.
    """
    settings = ProviderSettings(
        environment.get("DATABASE_HOST", "127.0.0.1"),
        _number(environment, "DATABASE_PORT", 8444, 65535),
        Path(environment.get("DATABASE_FOLDER", "/var/lib/databases")),
        Path(environment.get("DATABASE_PROGRAMS", "/usr/lib/postgresql/15/bin")),
        environment.get("DATABASE_TOKEN_FILE", ""),
        environment.get("DATABASE_TLS", ""),
        _number(environment, "DATABASE_MOST", 8, 100),
    )
    open_to_all = not (settings.token_file and settings.tls)
    if open_to_all and not _is_loopback(settings.host):
        lacking = "DATABASE_TOKEN_FILE" if settings.tls else "DATABASE_TLS"
        raise InvalidSpec(f"{lacking}: required with DATABASE_HOST {settings.host!r}, which is not loopback")
    return settings


def _number(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = environment.get(name, str(default))
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise InvalidSpec(f"{name}: {text!r}: want a whole number from 1 to {most}")
    return int(text)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def main() -> None:
    """Serve until a signal ends it; 2 for wrong settings."""
    try:
        settings = read_settings(os.environ)
        asyncio.run(_serve(settings))
    except (InvalidSpec, OSError) as error:
        sys.stderr.write(f"oasis-database-provider: {error}\n")
        sys.exit(2)


async def _serve(settings: ProviderSettings) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with AsyncExitStack() as stack:
        await start(settings, stack)
        await ended.wait()


async def start(settings: ProviderSettings, stack: AsyncExitStack) -> Databases:
    """Serve the contract; the stack ends it and removes every environment.

    Raises:
        OSError: The port is taken, or a file cannot be read.
    """
    settings.folder.mkdir(parents=True, exist_ok=True)
    clock = SystemClock()
    context, authority = _own_context(settings.host, clock.now())
    place = Place(settings.folder, settings.programs, settings.host, context, authority, settings.most)
    databases = Databases(place, clock.now)
    stack.push_async_callback(databases.close)
    who = FixedToken(Path(settings.token_file).read_text) if settings.token_file else Anyone()
    runner = web.AppRunner(build_app(Api(databases, Claims(version("oasis-operator")), who)), access_log=None)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    served = _context(Path(settings.tls)) if settings.tls else None
    await web.TCPSite(runner, settings.host, settings.port, ssl_context=served).start()
    sweeping = asyncio.create_task(_sweep(databases))
    stack.push_async_callback(_ended, sweeping)
    return databases


async def _sweep(databases: Databases) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        await databases.sweep()


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _own_context(host: str, now: datetime) -> tuple[ssl.SSLContext, str]:
    """Return a context under a new certificate, and the authority that signed it."""
    *pair, authority = serving_pair((host,), now, _CERTIFIED)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in zip(_PAIR, pair, strict=True):
            Path(folder, name).write_bytes(content)
        return _context(Path(folder)), authority.decode()


def _context(folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(folder / _PAIR[0], folder / _PAIR[1])
    return context


if __name__ == "__main__":
    main()
