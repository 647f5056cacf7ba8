"""A small profile to begin with, cut from a whole one: the scenarios of one suite and what they stand on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import Profile

IDENTIFIER: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""What the identifier of a profile looks like, from its first to its last character."""
_SCENARIO: Final = re.compile(r"\binfra\.[a-z]+\.[a-z]+\.[a-z0-9-]+-\d{3}\b")


def build_starter(
    profile: Profile, files: Mapping[str, bytes], suite_id: str, identifier: str
) -> dict[str, bytes]:
    """Return the files of a profile that has the scenarios of one suite, under an identifier of its own.

    Documents of categories, behaviours and operations stay whole: new scenarios are written with them. Rows
    of tables about scenarios that are left out go.

    Args:
        profile: What `files` were read to.
        files: Contents by path; left as they are.
        suite_id: A suite of the profile; its scenarios have files of their own.
        identifier: That of the new profile, which is its name as well.
    """
    kept = {name for suite in profile.suites if suite.id == suite_id for name in suite.scenarios}
    sources = {one.source.file for one in profile.scenarios} - {
        one.source.file for one in profile.scenarios if one.id not in kept
    }
    wanted = sources | {f"witnesses/{name}.yaml" for name in kept} | {f"suites/{suite_id}.yaml"}
    renamed = {profile.identifier: identifier, profile.name: identifier}
    return {
        path: _rewritten(path, data.decode(), kept, renamed).encode()
        for path, data in files.items()
        if path in wanted or not path.startswith(("scenarios/", "witnesses/", "suites/"))
    }


def _rewritten(path: str, text: str, kept: set[str], renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        text = text.replace(old, new)
    if not path.endswith(".md"):
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not (line.startswith("|") and _names_others(line, kept)))


def _names_others(line: str, kept: set[str]) -> bool:
    return bool(set(_SCENARIO.findall(line)) - kept)
