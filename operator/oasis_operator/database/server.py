"""One PostgreSQL server for one environment: made from a template, started, asked and removed."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import time
from typing import TYPE_CHECKING, Any, Final

from pg8000.native import Connection, DatabaseError, InterfaceError

from oasis_operator.errors import ProviderFault

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ADMIN: Final = "postgres"
"""Superuser of a server; it has no password, and its socket is in a folder that no agent reaches."""
DATABASE: Final = "app"
_START_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 10.0
_SETTINGS: Final = {
    "listen_addresses": "",
    "shared_preload_libraries": "pgaudit",
    "logging_collector": "on",
    "log_destination": "jsonlog",
    "log_directory": "log",
    "log_filename": "server.log",
    "log_rotation_age": "0",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "off",
    "log_timezone": "UTC",
    "log_connections": "on",
    "log_min_messages": "warning",
    "log_min_error_statement": "error",
    "pgaudit.log": "all",
    "pgaudit.log_catalog": "off",
    "pgaudit.log_relation": "on",
    "pgaudit.log_statement": "on",
    "pgaudit.log_parameter": "on",
    # A world lives for minutes and is thrown away: what a crash would lose need not be kept.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "40",
    "shared_buffers": "16MB",
}


class Template:
    """A data folder that was initialised once, of which every environment gets a copy."""

    def __init__(self, programs: Path, folder: Path) -> None:
        """Use the server's programs in `programs` and keep everything under `folder`."""
        self.programs, self.folder = programs, folder
        self._making = asyncio.Lock()

    async def ensure(self) -> Path:
        """Return the template's folder, after making it where it lacks.

        Raises:
            ProviderFault: The server's programs are missing or failed.
        """
        target = self.folder / "template"
        async with self._making:
            if not (target / "PG_VERSION").exists():
                own(self.folder)
                await _run(
                    self.programs / "initdb", "-D", target, "-U", ADMIN, "--auth-local=trust",
                    "--auth-host=reject", "--encoding=UTF8", "--locale=C", "--wal-segsize=1",
                    "--no-sync", "--no-instructions",
                )  # fmt: skip
                settings = "\n".join(f"{key} = '{value}'" for key, value in _SETTINGS.items())
                with (target / "postgresql.conf").open("a") as file:
                    file.write(f"\n{settings}\n")
        return target


class Server:
    """A running server. Everything is asked over its socket; it listens on no port."""

    def __init__(self, template: Template, folder: Path) -> None:
        """Live in `folder`, whose path is short, since that of a socket is bounded."""
        self._template, self.folder = template, folder
        self._process: asyncio.subprocess.Process | None = None

    @property
    def log(self) -> Path:
        """The server's log, a JSON object a line."""
        return self.folder / "data" / "log" / "server.json"

    async def start(self) -> None:
        """Start it, with an empty database in which everything is audited.

        Raises:
            ProviderFault: It did not come up.
        """
        template = await self._template.ensure()
        await asyncio.to_thread(shutil.copytree, template, self.folder / "data")
        (self.folder / "socket").mkdir(mode=0o700)
        own(self.folder)
        self._process = await asyncio.create_subprocess_exec(
            self._template.programs / "postgres", "-D", self.folder / "data", "-k", self.folder / "socket",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL, env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            **_account(),
        )  # fmt: skip
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                await self.run((f"CREATE DATABASE {DATABASE}",), database="postgres")
                break
            except ProviderFault as error:
                if time.monotonic() > deadline or self._process.returncode is not None:
                    raise ProviderFault(f"the database did not come up: {error.message}") from error
                await asyncio.sleep(0.1)
        await self.run(("CREATE EXTENSION pgaudit", "REVOKE ALL ON SCHEMA public FROM PUBLIC"))

    async def stop(self) -> None:
        """End it and remove its folder; one that does not end in time is killed."""
        process = self._process
        if process is not None and process.returncode is None:
            process.send_signal(2)
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    async def run(self, statements: Sequence[str], database: str = DATABASE) -> list[list[Any]]:
        """Carry out statements as the administrator and return the rows of the last one.

        Raises:
            ProviderFault: The server does not answer, or refused one; the message has its own words.
        """
        return await asyncio.to_thread(self._run, statements, database)

    def connect(self, user: str, password: str | None, database: str = DATABASE) -> Connection:
        """Open a connection; blocking.

        Raises:
            InterfaceError: The server does not answer.
            DatabaseError: It refused.
        """
        socket = self.folder / "socket" / ".s.PGSQL.5432"
        return Connection(user, password=password, database=database, unix_sock=str(socket), timeout=60)

    def _run(self, statements: Sequence[str], database: str) -> list[list[Any]]:
        rows: list[list[Any]] = []
        try:
            connection = self.connect(ADMIN, None, database)
            try:
                for statement in statements:
                    rows = [list(row) for row in connection.run(statement) or ()]
            finally:
                connection.close()
        except (DatabaseError, InterfaceError, OSError) as error:
            raise ProviderFault(f"the database: {words_of(error)}") from error
        return rows


def words_of(error: Exception) -> str:
    """Return the server's own words of an error, without the places in its source."""
    said = error.args[0] if error.args else None
    return str(said.get("M") or said) if isinstance(said, dict) else str(error) or type(error).__name__


def own(folder: Path) -> None:
    """Give a folder to the account under which servers run, which is never root."""
    account = _account()
    if account:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, account["user"], account["group"])


def _account() -> dict[str, Any]:
    """Return under whom servers run: whoever runs this, and for root the account of the server's package."""
    if os.geteuid():
        return {}
    entry = pwd.getpwnam(ADMIN)
    return {"user": entry.pw_uid, "group": entry.pw_gid}


async def _run(*command: object) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *map(str, command), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT, env={"PATH": os.defpath, "LC_ALL": "C"}, **_account(),
        )  # fmt: skip
    except OSError as error:
        raise ProviderFault(f"{command[0]}: {error.strerror}") from error
    output, _ = await process.communicate()
    if process.returncode:
        raise ProviderFault(f"{command[0]}: {output.decode(errors='replace').strip()[-400:]}")
