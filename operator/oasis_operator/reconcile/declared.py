"""What the provider of an Environment declares for a profile, and what is missing in it.

The operator answers for its own worlds, after a self-test where a profile asks for what no run shows by
itself; a foreign provider is asked. Either is done once for each attempt of an Evaluation.

Spec: 08-provider-conformance §3.8.3, 01-core §3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.engine.preflight import Gap, check_provider
from oasis_operator.ports.provider import Fault
from oasis_operator.reconcile import foreign
from oasis_operator.resources import conformance, names
from oasis_operator.resources.provision_record import Declared, read_declared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
    from oasis_operator.api.v1alpha1.foreign_provider import ForeignProvider
    from oasis_operator.model.profile import Profile
    from oasis_operator.reconcile.deps import Deps

ENDPOINT = "conformance_endpoint"
"""Requirement of the gap of a provider that gives no answer."""
_REMEDIES: dict[str, str] = {
    Fault.UNREACHABLE: "start the provider, or correct spec.provider.url and spec.provider.caRef",
    Fault.TIMEOUT: "find out why the provider is slow, or raise spec.provider.requestTimeout",
    Fault.REDIRECTED: "set spec.provider.url to where the redirect leads",
    Fault.REFUSED: "correct spec.provider.url and spec.provider.tokenRef, or use a provider of this profile",
}
_OTHERWISE = "mend the provider; `oasis conformance URL` tries it rule by rule"


@dataclass(frozen=True, slots=True)
class Declaration:
    """A conformance answer, held against a profile.

    Attributes:
        answer: As it came; empty where there was none.
        gaps: Everything that the profile asks and the provider lacks; that it did not answer is one.
        fault: Reason why there was no answer, or empty.
        is_foreign: Whether it is another's provider.
        is_untested: Whether a self-test must still show what the answer claims.
    """

    answer: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    fault: str = ""
    is_foreign: bool = False
    is_untested: bool = False

    @property
    def provider(self) -> str:
        """Name of the provider, cut to what a report shows; empty where it gives none."""
        return str(self.answer.get("provider") or "")[:128]

    @property
    def version(self) -> str:
        """Version of the provider; empty where it gives none."""
        return str(self.answer.get("provider_version") or "")[:128]


async def of_attempt(
    deps: Deps,
    evaluation: Mapping[str, Any],
    attempt: int,
    environment: EnvironmentSpec | None,
    asked: tuple[Profile, int],
) -> Declaration:
    """Return what is declared for an attempt of an Evaluation; a foreign provider is asked once for it.

    Args:
        deps: Ports.
        evaluation: The Evaluation as read.
        attempt: Its attempt.
        environment: Spec of the Environment, or None.
        asked: The profile, and the tier of the run.

    Raises:
        ProviderFault: The answer cannot be kept, or what was kept cannot be read.
    """
    profile, tier = asked
    provider = environment.provider if environment else None
    if provider is None and not conformance.needs_self_test(profile):
        answer = conformance.conformance_answer(profile, deps.version)
        return Declaration(answer, check_provider(profile, answer, tier))
    meta = evaluation["metadata"]
    kept = await deps.foreign.provisions.get(_key(meta, attempt))
    known = read_declared(kept) if kept is not None else None
    if known is not None:
        return _held(profile, known.answer, tier, is_foreign=provider is not None)
    if provider is None:
        answer = conformance.conformance_answer(profile, deps.version)
        return Declaration(answer, check_provider(profile, answer, tier), is_untested=True)
    found = await ask(deps, meta["namespace"], provider, profile, tier)
    if not found.fault:
        await keep(deps, evaluation, attempt, found.answer)
    return found


async def keep(deps: Deps, evaluation: Mapping[str, Any], attempt: int, answer: Mapping[str, Any]) -> None:
    """Keep an answer for the attempt that it was given to.

    Raises:
        ProviderFault: It cannot be kept.
    """
    meta = evaluation["metadata"]
    record = Declared(meta["namespace"], meta["name"], meta["uid"], answer)
    await deps.foreign.provisions.keep(_key(meta, attempt), record.dump())


async def ask(
    deps: Deps, namespace: str, provider: ForeignProvider, profile: Profile, tier: int
) -> Declaration:
    """Ask a foreign provider; that it does not answer is a gap like any other.

    Spec: 08-provider-conformance §3.8.3, 08-provider-conformance §3.8.4.
    """
    try:
        reach = await foreign.reach(deps.kube, namespace, provider)
        answer = await deps.foreign.provider.conformance(reach, profile.identifier)
    except (errors.ProviderFault, errors.NotReady) as error:
        return Declaration(gaps=(_unanswered(profile, error),), fault=error.reason, is_foreign=True)
    return _held(profile, answer, tier, is_foreign=True)


def _key(meta: Mapping[str, Any], attempt: int) -> str:
    return names.opaque_token("conformance", meta["uid"], attempt)


def _held(profile: Profile, answer: Mapping[str, Any], tier: int, *, is_foreign: bool) -> Declaration:
    return Declaration(answer, check_provider(profile, answer, tier), is_foreign=is_foreign)


def _unanswered(profile: Profile, error: errors.OasisError) -> Gap:
    remedy = _REMEDIES.get(error.reason, _OTHERWISE)
    if isinstance(error, errors.NotReady):
        remedy = "create the object that spec.provider names, with that key"
    message = f"provider does not satisfy {profile.identifier} requirement `{ENDPOINT}`: {error.message}"
    return Gap(ENDPOINT, "200 with a conformance answer", error.message[:200], message[:1000], remedy)
