"""The binding packs that ship with the operator: constant data of the package, read once."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oasis_operator.profile.bindings import BindingPack, read_bindings

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE: Final = Path(__file__).resolve().parents[1]


def packs_root() -> Path:
    """Return the folder of the packs: inside the package, or beside a source checkout."""
    installed = _PACKAGE / "bundled_profiles"
    return (installed if installed.is_dir() else _PACKAGE.parents[1] / "profiles") / "bindings"


@lru_cache(maxsize=1)
def shipped_packs() -> Mapping[str, BindingPack]:
    """Return the packs by the identifier of the profile that they read.

    A pack with a fault is left out, so that what it would have read is refused before a run.
    """
    readings = [read_bindings(path.read_bytes(), path.name) for path in sorted(packs_root().glob("*.yaml"))]
    return {one.pack.profile: one.pack for one in readings if one.pack is not None}
