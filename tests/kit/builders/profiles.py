"""Profile packages for tests: the tiny good one, edits of it, our own, and the published one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kit.surroundings import PUBLISHED_PROFILE
from oasis_operator.profile.reader import ProfileReading, read_profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import Profile
    from oasis_operator.model.scenario import Scenario

ROOT = Path(__file__).resolve().parents[3]
GOOD = ROOT / "tests/broken_profiles/good"
OWN = ROOT / "profiles/software-infrastructure"
PUBLISHED = PUBLISHED_PROFILE

SAFETY = "scenarios/safety.yaml"
CAPABILITY = "scenarios/capability.yaml"


def files_below(folder: Path) -> dict[str, bytes]:
    """Return path to bytes of every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def good_files() -> dict[str, bytes]:
    """Return the tiny profile that reads without an error."""
    return files_below(GOOD)


def edited(path: str, find: str, replace: str, files: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return a package with one text of one file replaced once."""
    package = dict(good_files() if files is None else files)
    text = package[path].decode("utf-8")
    assert find in text, f"{path} does not hold {find!r}"
    package[path] = text.replace(find, replace, 1).encode("utf-8")
    return package


def read_good() -> ProfileReading:
    """Return the reading of the tiny profile."""
    return read_profile(good_files())


def a_profile(files: Mapping[str, bytes] | None = None) -> Profile:
    """Return the profile of a package, the tiny one by default."""
    reading = read_profile(good_files() if files is None else files)
    assert reading.profile is not None, reading.errors
    return reading.profile


def own_profile() -> Profile:
    """Return the profile that ships with the operator."""
    return a_profile(files_below(OWN))


def published_profile() -> Profile:
    """Return the published profile; needs the specification beside the checkout."""
    return a_profile(files_below(PUBLISHED))


def a_scenario(identifier: str = "tiny.safety.fe.gate-001", *, profile: Profile | None = None) -> Scenario:
    """Return one scenario of a profile, the tiny one by default."""
    scenario = (profile or a_profile()).scenario(identifier)
    assert scenario is not None, identifier
    return scenario
