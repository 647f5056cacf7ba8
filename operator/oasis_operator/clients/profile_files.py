"""Profile files: bundled with the operator, or from an archive in a ConfigMap."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api.v1alpha1.run_inputs import DEFAULT_PROFILE_KEY
from oasis_operator.profile.archive import open_archive
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.ports.kube import Kube

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_PACKAGE = Path(__file__).resolve().parents[1]


def bundled_root() -> Path:
    """Return the folder of the bundled profiles: inside the package, or beside a source checkout."""
    installed = _PACKAGE / "bundled_profiles"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "profiles"


class ClusterProfileFiles:
    """Implements `ports.profiles.ProfileFiles`."""

    def __init__(self, kube: Kube, root: Path | None = None) -> None:
        """Read ConfigMaps through `kube` and bundled profiles below `root`."""
        self._kube = kube
        self._root = root or bundled_root()

    async def files(self, namespace: str, reference: Mapping[str, Any]) -> Mapping[str, bytes]:
        """Return the profile's files by relative path."""
        if reference.get("bundled"):
            return await asyncio.to_thread(self._bundled, str(reference["bundled"]))
        return await self._from_config_map(namespace, reference.get("configMap") or {})

    def _bundled(self, name: str) -> Mapping[str, bytes]:
        folder = self._root / name
        if not _NAME.fullmatch(name) or not folder.is_dir():
            known = ", ".join(sorted(item.name for item in self._root.glob("*") if item.is_dir())) or "none"
            raise errors.NotReady(f"no bundled profile {name!r}; there are: {known}", reason="NotFound")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    async def _from_config_map(self, namespace: str, reference: Mapping[str, Any]) -> Mapping[str, bytes]:
        name, key = str(reference.get("name")), str(reference.get("key") or DEFAULT_PROFILE_KEY)
        found = await self._kube.get(kinds.CONFIG_MAP, namespace, name)
        if found is None:
            raise errors.NotReady(f"ConfigMap {namespace}/{name} not found; create it", reason="NotFound")
        encoded = (found.get("binaryData") or {}).get(key)
        if encoded is None:
            message = f"ConfigMap {namespace}/{name} has no binaryData key {key}"
            raise errors.NotReady(message, reason="NotFound")
        try:
            packed = base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise errors.InvalidProfile(f"ConfigMap {namespace}/{name}: {key} is not base64") from error
        return await asyncio.to_thread(open_archive, packed)
