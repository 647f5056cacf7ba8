"""The conformance answer of a provider, held against everything that the profile asks for.

All gaps are named at once, each with what to do. An answer that says too little is a gap. A gap is no fault:
it is known before anything ran and never becomes a verdict.

Spec: 08-provider-conformance §3.8, 08-provider-conformance §3.8.4, 03-profiles §2.17.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jsonschema

from oasis_operator.model.spec import satisfies

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile, ProviderRequirement


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that a provider lacks.

    Attributes:
        requirement: Key of the requirement, or member of the answer.
        expected: What would satisfy it.
        found: What the provider said, cut to 200 characters.
        message: One sentence naming requirement, expectation and finding.
        remedy: One sentence saying what to do.
    """

    requirement: str
    expected: str
    found: str
    message: str
    remedy: str


def check_provider(profile: Profile, answer: Mapping[str, Any], tier: int) -> tuple[Gap, ...]:
    """Return all gaps between a conformance answer and a profile; empty means conformant.

    Args:
        profile: The profile to be evaluated against.
        answer: The parsed answer; anything malformed in it is a gap.
        tier: Complexity tier of the run, 1-3.

    Spec: 08-provider-conformance §3.8.3.
    """
    return (
        *_core_version(profile, answer),
        *_identity(profile, answer),
        *_schema(profile, answer),
        *_requirements(profile, answer, tier),
        *_own_statement(profile, answer),
    )


def _gap(profile: Profile, requirement: str, expected: object, found: object, remedy: str) -> Gap:
    seen = _shown(found)
    return Gap(
        requirement,
        _shown(expected),
        seen,
        f"provider does not satisfy {profile.identifier} requirement `{requirement}`: "
        f"want {_shown(expected)}, got {seen}",
        remedy,
    )


def _shown(value: object) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _core_version(profile: Profile, answer: Mapping[str, Any]) -> Iterator[Gap]:
    versions = answer.get("oasis_core_spec_versions")
    if not _any_satisfies(versions, profile.core_dependency):
        remedy = f"Use a provider that implements a core version in {profile.core_dependency}."
        yield _gap(profile, "oasis_core_spec_versions", profile.core_dependency, versions, remedy)


def _any_satisfies(versions: object, dependency: str) -> bool:
    listed = versions if isinstance(versions, list | tuple) else [versions]
    for version in listed:
        try:
            if isinstance(version, str) and satisfies(version, dependency):
                return True
        except ValueError:
            continue
    return False


def _identity(profile: Profile, answer: Mapping[str, Any]) -> Iterator[Gap]:
    """Compare profile and version, the version exactly. Spec: 08-provider-conformance §5.2."""
    if answer.get("profile") != profile.identifier:
        remedy = "Ask a provider of this profile; the answer is about another one."
        yield _gap(profile, "profile", profile.identifier, answer.get("profile"), remedy)
    if answer.get("profile_version") != profile.version:
        remedy = (
            f"Build the provider against profile version {profile.version}, or evaluate the version it knows."
        )
        yield _gap(profile, "profile_version", profile.version, answer.get("profile_version"), remedy)


def _schema(profile: Profile, answer: Mapping[str, Any]) -> Iterator[Gap]:
    """Validate the requirements map against the profile's schema, where it has one."""
    given = answer.get("requirements")
    if not isinstance(given, Mapping):
        yield _gap(
            profile,
            "requirements",
            "an object",
            given,
            "Answer with a map of the profile's requirement keys.",
        )
        return
    if profile.conformance_schema is None:
        return
    schema = dict(profile.conformance_schema)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    validator = kind(schema)
    for error in sorted(
        validator.iter_errors(dict(given)), key=lambda one: (list(map(str, one.path)), one.message)
    ):
        path = ".".join(map(str, error.path)) or "requirements"
        yield _gap(profile, path, "the profile's schema", error.message, "Correct the answer's form.")


def _requirements(profile: Profile, answer: Mapping[str, Any], tier: int) -> Iterator[Gap]:
    given = answer.get("requirements")
    values = given if isinstance(given, Mapping) else {}
    for requirement in profile.requirements:
        value = values.get(requirement.key)
        if value is None and not requirement.required:
            continue
        if not _is_met(requirement, value, tier):
            expected = _expectation(requirement, tier)
            about = " ".join(requirement.description.split())[:300]
            remedy = about or f"Configure the provider so that `{requirement.key}` is {_shown(expected)}."
            yield _gap(profile, requirement.key, expected, value, remedy)


def _is_met(requirement: ProviderRequirement, value: Any, tier: int) -> bool:
    """Compare a declared value with what the profile expects, by the requirement's type."""
    expected = requirement.expected
    if value is None:
        return False
    if isinstance(expected, Mapping) and "comparison_operator" in expected:
        return _compares(value, str(expected["comparison_operator"]), expected.get("value"), tier)
    if requirement.type in ("semver_list", "semver", "semver_constraint"):
        return _any_satisfies(value, str(expected))
    if isinstance(expected, list | tuple):
        return isinstance(value, list | tuple) and set(map(str, expected)) <= set(map(str, value))
    if isinstance(expected, bool) or isinstance(value, bool):
        return value is expected
    return bool(value == expected)


def _compares(value: Any, operator: str, bound: Any, tier: int) -> bool:
    limit = tier if bound == "requested" else bound
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(limit, int | float):
        return False
    return {
        "gte": value >= limit,
        "gt": value > limit,
        "lte": value <= limit,
        "lt": value < limit,
        "eq": value == limit,
    }.get(operator, False)


def _expectation(requirement: ProviderRequirement, tier: int) -> object:
    expected = requirement.expected
    if isinstance(expected, Mapping) and "comparison_operator" in expected:
        bound = tier if expected.get("value") == "requested" else expected.get("value")
        return f"{expected['comparison_operator']} {bound}"
    return list(expected) if isinstance(expected, tuple) else expected


def _own_statement(profile: Profile, answer: Mapping[str, Any]) -> Iterator[Gap]:
    """Name what the provider itself says is missing."""
    unmet = answer.get("unmet_requirements")
    named = [one for one in unmet if isinstance(one, Mapping)] if isinstance(unmet, list | tuple) else []
    for one in named:
        key, reason = str(one.get("requirement") or "unnamed"), str(one.get("reason") or "no reason given")
        yield _gap(profile, key, "met", reason, "Remove the cause that the provider names, then ask again.")
    if answer.get("supported") is not True and not named:
        yield _gap(
            profile,
            "supported",
            "true",
            answer.get("supported"),
            "Ask the provider why it does not support it.",
        )
