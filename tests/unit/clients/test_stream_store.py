from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from oasis_operator import errors
from oasis_operator.clients.stream_store import FileStreams
from oasis_operator.wire.audit_log import LineChain

if TYPE_CHECKING:
    from pathlib import Path

KEY = "abcdefghij"


def head_of(content: bytes) -> str:
    chain = LineChain()
    chain.add(content)
    return chain.head


async def kept(streams: FileStreams, *pieces: bytes) -> bytes:
    whole = b""
    for piece in pieces:
        offset = await streams.size(KEY)
        whole += piece
        await streams.append(KEY, offset, piece, head_of(whole))
    return whole


async def test_a_log_is_appended_to_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    whole = await kept(FileStreams(tmp_path), b"one\n", b"tw")
    streams = FileStreams(tmp_path)
    assert await streams.size(KEY) == len(whole)
    await streams.append(KEY, len(whole), b"o\n", head_of(b"one\ntwo\n"))
    assert (tmp_path / KEY / "audit.log").read_bytes() == b"one\ntwo\n"
    assert streams.path(KEY) == str(tmp_path / KEY / "audit.log")


@pytest.mark.parametrize(
    ("offset", "head"),
    [(4, head_of(b"two\ntwo\n")), (0, head_of(b"two\n")), (9, head_of(b"one\ntwo\n"))],
    ids=["another head", "again", "a gap"],
)
async def test_what_does_not_follow_is_refused_and_not_kept(tmp_path: Path, offset: int, head: str) -> None:
    streams = FileStreams(tmp_path)
    await kept(streams, b"one\n")
    with pytest.raises(errors.ProviderFault):
        await streams.append(KEY, offset, b"two\n", head)
    assert await streams.size(KEY) == 4
    assert await FileStreams(tmp_path).size(KEY) == 4


async def test_a_log_is_bounded(tmp_path: Path) -> None:
    streams = FileStreams(tmp_path, limit_bytes=6)
    await kept(streams, b"one\n")
    with pytest.raises(errors.ProviderFault):
        await streams.append(KEY, 4, b"two\n", head_of(b"one\ntwo\n"))
    assert await streams.size(KEY) == 4


async def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        streams = FileStreams(tmp_path / "streams")
        await streams.begin(KEY, b"{}")
        await kept(streams, b"hunter2\n")
    finally:
        os.umask(before)
    folder = tmp_path / "streams" / KEY
    modes = [path.stat().st_mode & 0o777 for path in (folder.parent, folder, *sorted(folder.iterdir()))]
    assert modes == [0o700, 0o700, 0o600, 0o600]


async def test_all_of_a_run_is_removed_and_absence_is_fine(tmp_path: Path) -> None:
    streams = FileStreams(tmp_path)
    await streams.begin(KEY, b"{}")
    await kept(streams, b"one\n")
    assert await streams.keys() == (KEY,)
    await streams.discard(KEY)
    await streams.discard(KEY)
    assert await streams.keys() == ()
    assert (await streams.size(KEY), await streams.beginning(KEY)) == (0, None)
    assert not await streams.has_begun(KEY)
    assert await FileStreams(tmp_path / "absent").keys() == ()


async def test_a_beginning_comes_back_and_is_replaced(tmp_path: Path) -> None:
    streams = FileStreams(tmp_path)
    await streams.begin(KEY, b"one")
    await streams.begin(KEY, b"two")
    assert await streams.beginning(KEY) == b"two"
    assert await streams.has_begun(KEY)


async def test_a_key_cannot_name_another_folder(tmp_path: Path) -> None:
    streams = FileStreams(tmp_path / "streams")
    for call in (streams.begin("../x", b""), streams.append("../x", 0, b"", ""), streams.discard("../x")):
        with pytest.raises(errors.ProviderFault):
            await call
    assert not (tmp_path / "x").exists()
