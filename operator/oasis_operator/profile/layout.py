"""Which file of a package is what: the published layout of a profile, found below any one top folder.

Spec: 03-profiles §2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.profile.collector import Collector

PROFILE: Final = "profile.md"
SAFETY: Final = "safety-categories.md"
CAPABILITY: Final = "capability-categories.md"
BEHAVIORS: Final = "behavior-definitions.md"
LIBRARY: Final = "stimulus-library.md"
INTERFACES: Final = "interface-types.md"
GUIDE: Final = "provider-guide.md"
CONTRACT: Final = "provider-conformance.md"
REQUIREMENTS: Final = "provider-conformance-requirements.yaml"
DOCUMENTS: Final = (PROFILE, SAFETY, CAPABILITY, BEHAVIORS, LIBRARY, INTERFACES, GUIDE, CONTRACT)

MAX_FILE_BYTES: Final = 1 << 20
MAX_TOTAL_BYTES: Final = 16 << 20
MAX_FILES: Final = 2_000

_FOLDERS: Final = ("scenarios/", "suites/", "witnesses/")
_BYSTANDERS: Final = frozenset({"README.md", "LICENSE", "CHANGELOG.md", "SOURCE.yaml", "NOTICE"})


@dataclass(frozen=True, slots=True)
class Package:
    """The text files of a package by path below its root, and all bytes as they came."""

    texts: Mapping[str, str]
    files: Mapping[str, bytes]

    def folder(self, prefix: str) -> tuple[str, ...]:
        """Return the YAML files below a folder, sorted."""
        return tuple(
            path
            for path in sorted(self.texts)
            if path.startswith(prefix) and path.endswith((".yaml", ".yml"))
        )


def open_package(files: Mapping[str, bytes], collector: Collector) -> Package:
    """Return the package's texts; sizes, paths and encodings that do not do are faults."""
    files = _below_root(files)
    texts: dict[str, str] = {}
    if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_TOTAL_BYTES:
        collector.in_file("").report("PKG003", f"The package has {len(files)} files, or too many bytes.")
        return Package({}, files)
    for path in sorted(files):
        text = _decode(path, files[path], collector)
        if text is not None:
            texts[path] = text
    if PROFILE not in texts:
        collector.in_file(PROFILE).report("PKG001", "There is no profile.md.")
    return Package(texts, files)


def _below_root(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files by their path below the folder that holds profile.md."""
    roots = [path.removesuffix(PROFILE) for path in files if path == PROFILE or path.endswith("/" + PROFILE)]
    root = min(roots, key=lambda folder: (folder.count("/"), folder), default="")
    return {path.removeprefix(root): data for path, data in files.items() if path.startswith(root)}


def _decode(path: str, data: bytes, collector: Collector) -> str | None:
    reporter = collector.in_file(path)
    if path.startswith("/") or "\\" in path or ".." in path.split("/"):
        reporter.report("PKG005", "The path leaves the package or is malformed.", value=path)
        return None
    if not path.endswith((".md", ".yaml", ".yml")):
        _warn_if_stray(path, collector)
        return None
    if len(data) > MAX_FILE_BYTES:
        reporter.report("PKG002", f"The file has {len(data)} bytes, more than {MAX_FILE_BYTES}.")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reporter.report("PKG004", "The file is not UTF-8 text.", at=(line, 1))
        return None
    if text.startswith("\ufeff"):
        reporter.report("PKG008", "The file starts with a byte order mark.", at=(1, 1))
    _warn_if_stray(path, collector)
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _warn_if_stray(path: str, collector: Collector) -> None:
    is_known = path in (*DOCUMENTS, REQUIREMENTS) or path in _BYSTANDERS or path.startswith("docs/")
    in_folder = path.startswith(_FOLDERS) and path.endswith((".yaml", ".yml"))
    if not is_known and not in_folder:
        collector.in_file(path).report("PKG010", "The reader knows no use for this file.", value=path)
