from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from oasis_operator import errors
from oasis_operator.clients.attempt_store import FileAttempts
from oasis_operator.model.attempt import Attempt, Ending, Start

SUBJECT = "sha256:" + "5" * 64


def an_attempt(number: int, verdict: str = "", at: str = "") -> Attempt:
    moment = at or f"2026-01-05T12:{number:02}:00+00:00"
    began = Start("s-1", 1, "check-abc", f"uid-{number}", moment)
    endings = (Ending(verdict, "", (), "", moment),) if verdict else ()
    return Attempt("shop", SUBJECT, "check", "uid", number, starts=(began,), endings=endings)


async def numbers(store: FileAttempts) -> list[int]:
    return [item.number for item in await store.of_subject("shop", SUBJECT)]


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


async def test_a_crash_while_a_file_is_replaced_leaves_the_facts_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileAttempts(tmp_path)
    await store.note(an_attempt(1))

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            await store.note(an_attempt(1, "FAIL"))
    assert await store.of_subject("shop", SUBJECT) == (an_attempt(1),)
    assert len(files(tmp_path)) == 1


async def test_facts_are_flushed_to_disk_before_the_file_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    flush, rename = os.fsync, Path.replace

    def flushed(handle: int) -> None:
        order.append("flush")
        flush(handle)

    def renamed(self: Path, target: Path) -> Path:
        order.append("rename")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(Path, "replace", renamed)
    await FileAttempts(tmp_path).note(an_attempt(1))
    assert order == ["flush", "rename", "flush"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"schema": "other"}', b'{"schema": "oasis-operator.dev/attempt/v1"}'],
)
async def test_a_damaged_record_is_a_fault_and_never_an_empty_one(tmp_path: Path, content: bytes) -> None:
    store = FileAttempts(tmp_path)
    await store.note(an_attempt(1))
    files(tmp_path)[0].write_bytes(content)
    for question in (store.of_subject("shop", SUBJECT), store.get("shop", SUBJECT, "uid", 1)):
        with pytest.raises(errors.ProviderFault) as caught:
            await question
        assert caught.value.reason == "RecordUnreadable"
    with pytest.raises(errors.ProviderFault):
        await store.note(an_attempt(1, "PASS"))


async def test_a_folder_that_cannot_be_listed_is_a_fault(tmp_path: Path) -> None:
    store = FileAttempts(tmp_path)
    await store.note(an_attempt(1))
    folder = files(tmp_path)[0].parent
    files(tmp_path)[0].unlink()
    folder.rmdir()
    folder.write_bytes(b"")
    with pytest.raises(errors.ProviderFault) as caught:
        await store.of_subject("shop", SUBJECT)
    assert caught.value.reason == "RecordUnreadable"


async def test_a_record_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "attempts").write_bytes(b"")
    with pytest.raises(errors.ProviderFault):
        await FileAttempts(tmp_path / "attempts").note(an_attempt(1))


async def test_of_too_many_attempts_the_oldest_that_did_not_fail_are_dropped(tmp_path: Path) -> None:
    store = FileAttempts(tmp_path, kept=3)
    for attempt in (an_attempt(1, "FAIL"), an_attempt(2), an_attempt(3, "PASS"), an_attempt(4, "FAIL")):
        await store.note(attempt)
    assert await numbers(store) == [1, 2, 4]
    await store.note(an_attempt(5, "PASS"))
    assert await numbers(store) == [1, 4, 5]
    await store.note(replace(an_attempt(6, "PASS"), profile="another"))
    assert await numbers(store) == [1, 4, 6]


async def test_no_text_of_a_user_names_a_place_outside(tmp_path: Path) -> None:
    root = tmp_path / "attempts"
    await FileAttempts(root).note(
        replace(an_attempt(1), namespace="../..", subject="/etc/passwd", evaluation_uid="../x")
    )
    assert len(files(root)) == len(files(tmp_path)) == 1
