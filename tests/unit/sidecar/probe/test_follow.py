from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oasis_operator.sidecar.probe import follow
from oasis_operator.sidecar.probe.follow import Follower, LogChanged
from oasis_operator.wire.audit_log import LineChain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BEFORE = b"before the run\n"
LINES = b"opening\nread\ndelete\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.log"
    path.write_bytes(BEFORE + LINES)
    return path


def add(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def head_of(content: bytes) -> str:
    chain = LineChain()
    chain.add(content)
    return chain.head


async def test_pieces_begin_at_the_opening_sentinel_and_end_with_a_line(log: Path) -> None:
    follower = Follower(log, len(BEFORE))
    add(log, b"cut of")
    piece = await follower.piece(0, 1000)
    assert (piece.content, piece.size_bytes, piece.head) == (LINES, len(LINES), head_of(LINES))
    assert (await follower.piece(0, 15)).content == b"opening\nread\n"
    assert (await follower.piece(len(LINES), 1000)).content == b""
    add(log, b"f\n")
    piece = await follower.piece(len(LINES), 1000)
    assert (piece.content, piece.head) == (b"cut off\n", head_of(LINES + b"cut off\n"))


async def test_a_line_longer_than_a_piece_comes_in_several(log: Path) -> None:
    follower = Follower(log, len(BEFORE))
    add(log, b"y" * 100 + b"\nend\n")
    found, heads = b"", []
    while len(found) < (piece := await follower.piece(len(found), 30)).size_bytes:
        found += piece.content
        heads.append(piece.head)
    assert found == LINES + b"y" * 100 + b"\nend\n"
    assert heads[0] == head_of(LINES) == heads[1]
    assert heads[-1] == head_of(found)


async def test_a_log_of_several_marks_is_served_from_any_place(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "_PIECE", 16)
    follower = Follower(log, len(BEFORE))
    for number in range(40):
        add(log, b"line %d\n" % number)
        await follower.catch_up()
    whole = LINES + b"".join(b"line %d\n" % number for number in range(40))
    for offset in (0, 8, 100, len(whole) - 3):
        piece = await follower.piece(offset, 60)
        assert whole[offset:].startswith(piece.content)
        assert piece.head == head_of(whole[: offset + len(piece.content)])
    assert await follower.find_change() == ""


def rewritten(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"delete", b"patch!"))


def shorter(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"delete\n", b""))


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [rewritten, shorter, replaced, removed])
async def test_a_log_that_was_changed_is_told_and_not_served(
    log: Path, change: Callable[[Path], None]
) -> None:
    follower = Follower(log, len(BEFORE))
    await follower.catch_up()
    assert await follower.find_change() == ""
    change(log)
    with pytest.raises((LogChanged, OSError)):
        await follower.piece(0, 1000)
    assert await follower.find_change() != ""


async def test_a_change_that_nobody_asked_for_is_found_at_the_end(log: Path) -> None:
    follower = Follower(log, len(BEFORE))
    await follower.catch_up()
    rewritten(log)
    assert "lines of it were changed" in await follower.find_change()


async def test_a_change_that_was_seen_cannot_be_taken_back(log: Path) -> None:
    follower = Follower(log, len(BEFORE))
    await follower.catch_up()
    write(log, BEFORE)
    await follower.catch_up()
    write(log, BEFORE + LINES)
    assert "cut off" in await follower.find_change()
    with pytest.raises(LogChanged):
        await follower.piece(0, 1000)


async def test_a_place_that_the_log_never_had_is_a_change(log: Path) -> None:
    with pytest.raises(LogChanged):
        await Follower(log, len(BEFORE)).piece(len(LINES) + 1, 10)
