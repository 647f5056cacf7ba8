"""Profiles by content: read once in the worker, kept while they are in use."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from oasis_operator import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.plan import Plan, Selection
    from oasis_operator.model.profile import Profile
    from oasis_operator.ports.judge import Judge
    from oasis_operator.ports.profiles import ProfileFiles
    from oasis_operator.profile.reader import ProfileReading

_KEPT = 8
_PLANS_KEPT = 64


class ProfileShelf:
    """Reads profiles and keeps the last few; a cache only, so that losing it costs time and nothing else."""

    def __init__(self, files: ProfileFiles, judge: Judge) -> None:
        """Take files from `files` and read them with `judge`."""
        self._files = files
        self._judge = judge
        self._readings: OrderedDict[str, ProfileReading] = OrderedDict()
        self._by_digest: OrderedDict[str, Profile] = OrderedDict()
        self._plans: OrderedDict[tuple[str, ...], Plan] = OrderedDict()

    async def read(self, namespace: str, source: Mapping[str, Any]) -> ProfileReading:
        """Return the profile that a source names now.

        Raises:
            NotReady: The source does not exist.
            InvalidProfile: The archive cannot be opened.
        """
        files = await self._files.files(namespace, source)
        key = _content_key(files)
        if key not in self._readings:
            reading = await self._judge.read_profile(files)
            self._readings[key] = reading
            _trim(self._readings)
            if reading.profile is not None:
                self._by_digest[digest_of(reading.profile)] = reading.profile
                _trim(self._by_digest)
        return self._readings[key]

    async def get(self, namespace: str, source: Mapping[str, Any], digest: str) -> Profile:
        """Return the profile with this digest, which a run was begun with.

        Raises:
            ProviderFault: The source holds something else by now (reason ProfileChanged).
        """
        if digest not in self._by_digest:
            reading = await self.read(namespace, source)
            if reading.profile is not None and digest_of(reading.profile) != digest:
                raise errors.ProviderFault(
                    f"the profile was {digest} when the run began and is {digest_of(reading.profile)} now",
                    reason="ProfileChanged",
                )
        if digest not in self._by_digest:
            raise errors.ProviderFault(
                "the profile that the run began with is not valid any more", reason="ProfileChanged"
            )
        return self._by_digest[digest]

    async def plan(
        self, profile: Profile, selection: Selection, tier: int, configuration: Mapping[str, Any]
    ) -> Plan:
        """Return what an evaluation runs; the same question is worked out once.

        Raises:
            ProviderFault: The worker failed.
        """
        key = (profile.digest, repr(selection), str(tier), repr(sorted(configuration.items())))
        if key not in self._plans:
            planned = await self._judge.plan(profile, selection, tier, configuration)
            self._plans[key] = planned
            _trim(self._plans, _PLANS_KEPT)
            return planned
        return self._plans[key]


def digest_of(profile: Profile) -> str:
    """Return a profile's digest with its algorithm, as the API writes digests."""
    return f"sha256:{profile.digest.removeprefix('sha256:')}"


def _content_key(files: Mapping[str, bytes]) -> str:
    """Return a digest over paths and contents."""
    total = hashlib.sha256()
    for path, content in sorted(files.items()):
        total.update(f"{path}\x00{len(content)}\x00".encode())
        total.update(content)
    return total.hexdigest()


def _trim(kept: OrderedDict[Any, Any], most: int = _KEPT) -> None:
    """Forget the oldest entry beyond the limit."""
    if len(kept) > most:
        kept.popitem(last=False)
