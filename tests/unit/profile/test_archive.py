from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from kit.builders.profiles import good_files, read_good
from oasis_operator.errors import InvalidProfile
from oasis_operator.profile import archive
from oasis_operator.profile.layout import MAX_FILE_BYTES
from oasis_operator.profile.reader import read_profile


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(buffer.getvalue())


def a_file(name: str, data: bytes = b"x") -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), data


def of_type(name: str, kind: bytes) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, "/etc/passwd"
    return member, b""


def test_what_was_packed_is_opened_again_and_reads_the_same() -> None:
    files = good_files()
    opened = archive.open_archive(archive.pack_archive(files))
    assert opened == files
    assert read_profile(opened) == read_good()


def test_the_same_files_give_the_same_archive() -> None:
    files = good_files()
    assert archive.pack_archive(files) == archive.pack_archive(dict(reversed(files.items())))


def test_folders_and_a_leading_dot_are_no_matter() -> None:
    folder = tarfile.TarInfo("./scenarios")
    folder.type = tarfile.DIRTYPE
    assert archive.open_archive(packed((folder, b""), a_file("./profile.md", b"# A"))) == {
        "profile.md": b"# A"
    }


@pytest.mark.parametrize("name", ["../profile.md", "/etc/profile.md", "a/../../b.md", "a\\b.md", "a//b.md"])
def test_a_path_that_leaves_the_package_is_refused(name: str) -> None:
    with pytest.raises(InvalidProfile, match="PKG005"):
        archive.open_archive(packed(a_file(name)))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused(kind: bytes) -> None:
    with pytest.raises(InvalidProfile, match="PKG007"):
        archive.open_archive(packed(of_type("profile.md", kind)))


def test_a_path_twice_is_refused() -> None:
    with pytest.raises(InvalidProfile, match="PKG009"):
        archive.open_archive(packed(a_file("a.md"), a_file("./a.md", b"y")))


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidProfile, match="PKG002"):
        archive.open_archive(packed(a_file("a.md", b"x" * (MAX_FILE_BYTES + 1))))


def test_many_large_files_are_refused() -> None:
    files = [a_file(f"{number}.md", b"x" * MAX_FILE_BYTES) for number in range(17)]
    with pytest.raises(InvalidProfile, match="PKG003"):
        archive.open_archive(packed(*files))


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    bomb = gzip.compress(b"\0" * (64 << 20))
    assert len(bomb) < 100_000
    with pytest.raises(InvalidProfile, match="PKG003"):
        archive.open_archive(bomb)


def test_too_many_files_are_refused() -> None:
    with pytest.raises(InvalidProfile, match="PKG003"):
        archive.open_archive(packed(*(a_file(f"{number}.md", b"") for number in range(2001))))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not an archive",
        gzip.compress(b"not a tar archive at all" * 100),
        archive.pack_archive({"a.md": b"a"})[:-12],
        archive.pack_archive({"a.md": b"a"}) + b"more",
    ],
    ids=["nothing", "text", "compressed text", "cut short", "with a tail"],
)
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidProfile, match="PKG006"):
        archive.open_archive(data)
