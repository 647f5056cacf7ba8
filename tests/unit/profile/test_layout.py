from __future__ import annotations

import pytest

from kit.builders.profiles import good_files, read_good
from oasis_operator.profile import layout
from oasis_operator.profile.collector import Collector
from oasis_operator.profile.reader import read_profile


def opened(files: dict[str, bytes]) -> tuple[layout.Package, set[str]]:
    collector = Collector()
    package = layout.open_package(files, collector)
    return package, {fault.code for fault in collector.faults}


def test_the_root_is_the_folder_of_the_uppermost_profile_document() -> None:
    files = {f"a/b/{path}": data for path, data in good_files().items()}
    files["a/b/docs/profile.md"] = b"# Not this one"
    package, codes = opened(files)
    assert codes == set()
    assert package.texts["profile.md"].startswith("# Tiny")


def test_line_ends_of_another_system_are_no_matter() -> None:
    files = {path: data.replace(b"\n", b"\r\n") for path, data in good_files().items()}
    reading = read_profile(files)
    assert reading.faults == read_good().faults


@pytest.mark.parametrize(
    ("path", "data", "code"),
    [
        ("scenarios/a.yaml", b"id: \xff\xfe", "PKG004"),
        ("scenarios/a.yaml", b"#" * (layout.MAX_FILE_BYTES + 1), "PKG002"),
        ("scenarios/../a.yaml", b"id: a", "PKG005"),
        ("scenarios\\a.yaml", b"id: a", "PKG005"),
        ("notes.txt", b"-", "PKG010"),
        ("other.md", b"-", "PKG010"),
    ],
)
def test_a_file_that_does_not_do_is_told(path: str, data: bytes, code: str) -> None:
    package, codes = opened({"profile.md": b"# A", path: data})
    assert codes == {code}
    assert package.texts["profile.md"] == "# A"


def test_a_package_that_is_too_large_is_not_read_at_all() -> None:
    files = {f"scenarios/{n}.yaml": b"" for n in range(layout.MAX_FILES + 1)} | {"profile.md": b"# A"}
    package, codes = opened(files)
    assert codes == {"PKG003"} | ({"PKG001"} & codes)
    assert package.texts == {}


def test_no_files_at_all_is_an_error_and_no_exception() -> None:
    reading = read_profile({})
    assert reading.profile is None
    assert {fault.code for fault in reading.faults} == {"PKG001"}
