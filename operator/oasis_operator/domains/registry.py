"""Which readings go with which profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.domains.packs import shipped_packs
from oasis_operator.engine.readings import NO_READINGS, Level, Readings, digest_of

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile
    from oasis_operator.profile.bindings import BindingPack


def readings_for(profile: Profile) -> Readings:
    """Return our readings of a profile's prose, none for a profile that is not known here.

    A reading counts only for the very text that it was written for, whatever the profile is called.
    """
    pack = shipped_packs().get(profile.identifier)
    return NO_READINGS if pack is None else bind(pack, profile)


def bind(pack: BindingPack, profile: Profile) -> Readings:
    """Return the readings that a pack gives of a profile; what it says of other texts is left out.

    Args:
        pack: The pack.
        profile: The profile.
    """
    scenarios = {(one.id, one.digest): one for one in profile.scenarios}
    met = [one for one in pack.scenarios if (one.identifier, one.digest) in scenarios]
    rubrics = {}
    for one in met:
        if one.levels:
            rubric = scenarios[one.identifier, one.digest].scoring.rubric
            key = digest_of({"id": one.identifier, "rubric": rubric})
            rubrics[key] = tuple(Level(name, rule) for name, rule in one.levels)
    return Readings(
        behaviors=pack.behaviors,
        texts={key: rule for one in met for key, rule in one.texts.items()},
        rubrics=rubrics,
        truths={(one.identifier, one.digest): one.truth for one in met if one.truth},
        stimuli={(one.identifier, one.digest): one.stimuli for one in met if one.stimuli},
    )
