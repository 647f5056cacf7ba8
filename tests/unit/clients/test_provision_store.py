from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from oasis_operator import errors
from oasis_operator.clients.provision_store import FileProvisions
from oasis_operator.resources.provision_record import Declared, Provision, read_declared, read_provision

if TYPE_CHECKING:
    from pathlib import Path

KEY = "abcdefghij"
RECORD = Provision(
    KEY, "shop", "run", "uid-1", {"url": "https://p.example"}, True, "2026-01-05T12:00:00+00:00", "w-1"
)


async def test_a_record_outlives_the_process_and_is_its_owners_alone(tmp_path: Path) -> None:
    root = tmp_path / "provisions"
    await FileProvisions(root).keep(KEY, RECORD.dump())
    kept = await FileProvisions(root).get(KEY)
    assert kept is not None
    assert read_provision(kept) == RECORD
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in root.iterdir()] == [0o600]
    assert await FileProvisions(root).keys() == (KEY,)


async def test_a_later_record_stands_in_place_of_the_earlier_one(tmp_path: Path) -> None:
    store = FileProvisions(tmp_path)
    await store.keep(KEY, b"one")
    await store.keep(KEY, b"two")
    assert await store.get(KEY) == b"two"
    assert await store.keys() == (KEY,)


async def test_what_is_discarded_is_gone_and_absence_is_no_fault(tmp_path: Path) -> None:
    store = FileProvisions(tmp_path / "absent")
    assert await store.keys() == ()
    assert await store.get(KEY) is None
    await store.discard(KEY)
    await store.keep(KEY, b"x")
    await store.discard(KEY)
    assert await store.keys() == ()


@pytest.mark.parametrize("key", ["../../etc/x", "", "ABCDEFGHIJ", "abcdefghij.json"])
async def test_nothing_but_an_identifier_names_a_file(tmp_path: Path, key: str) -> None:
    with pytest.raises(errors.ProviderFault):
        await FileProvisions(tmp_path).keep(key, b"x")


async def test_a_volume_that_refuses_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = FileProvisions(tmp_path / "file")
    for call in (store.keep(KEY, b"x"), store.keys(), store.get(KEY)):
        with pytest.raises(errors.ProviderFault) as caught:
            await call
        assert caught.value.reason == "RecordFault"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7"])
def test_a_damaged_record_is_a_fault_and_never_none(content: bytes) -> None:
    for reader in (read_provision, read_declared):
        with pytest.raises(errors.ProviderFault):
            reader(content)


def test_each_kind_of_record_is_read_as_itself_alone() -> None:
    declared = Declared("shop", "check", "uid-2", {"provider": "p"})
    assert read_declared(declared.dump()) == declared
    assert read_provision(declared.dump()) is None
    assert read_declared(RECORD.dump()) is None


def test_a_record_with_members_of_another_version_is_a_fault() -> None:
    with pytest.raises(errors.ProviderFault):
        read_provision(RECORD.dump().replace(b'"run_uid"', b'"run_id"'))
