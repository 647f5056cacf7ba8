"""Real PostgreSQL servers behind the contract, on loopback; without the server's programs nothing here can run."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oasis_operator.clients.pki import serving_pair
from oasis_operator.database.main import ProviderSettings, start
from oasis_operator.resources.provider_access import ProviderReach

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from oasis_operator.database.service import Databases

PROGRAMS = Path("/usr/lib/postgresql/15/bin")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(240))


@pytest.fixture
def programs() -> Path:
    if not (PROGRAMS / "postgres").exists():
        message = "no PostgreSQL: apt-get install postgresql-15 postgresql-15-pgaudit"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return PROGRAMS


@pytest.fixture(scope="session")
def short_folder() -> Iterator[Path]:
    """A folder whose path is short, as that of a socket must be, and which keeps the template of all servers."""
    folder = Path(tempfile.mkdtemp(prefix="db-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for loopback with its key and the authority that signed it, as files."""
    folder = tmp_path_factory.mktemp("tls")
    pair = serving_pair(("127.0.0.1",), datetime.now(UTC), timedelta(hours=1))  # noqa: TID251
    for name, content in zip(("tls.crt", "tls.key", "ca.crt"), pair, strict=True):
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
async def databases(programs: Path, short_folder: Path, port: int, tls: Path) -> AsyncIterator[Databases]:
    """A provider on `port`, which removes every environment at the end."""
    settings = ProviderSettings("127.0.0.1", port, short_folder, programs, "", str(tls), 8)
    async with AsyncExitStack() as stack:
        yield await start(settings, stack)


@pytest.fixture
def reach(databases: Databases, port: int, tls: Path) -> ProviderReach:
    return ProviderReach(f"https://127.0.0.1:{port}", (tls / "ca.crt").read_bytes(), "", 60, 60)
