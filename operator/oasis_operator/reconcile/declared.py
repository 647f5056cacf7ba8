"""What the provider of an Environment declares for a profile, and what is missing in it.

The operator answers for its own worlds; a foreign provider is asked, once for each attempt of an Evaluation.

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
    """

    answer: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    fault: str = ""
    is_foreign: bool = False

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
    if environment is None or environment.provider is None:
        answer = conformance.conformance_answer(profile, deps.version)
        return Declaration(answer, check_provider(profile, answer, tier))
    meta = evaluation["metadata"]
    key = names.opaque_token("conformance", meta["uid"], attempt)
    kept = await deps.foreign.provisions.get(key)
    known = read_declared(kept) if kept is not None else None
    if known is not None:
        return _held(profile, known.answer, tier)
    found = await ask(deps, meta["namespace"], environment.provider, profile, tier)
    if not found.fault:
        record = Declared(meta["namespace"], meta["name"], meta["uid"], found.answer)
        await deps.foreign.provisions.keep(key, record.dump())
    return found


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
    return _held(profile, answer, tier)


def _held(profile: Profile, answer: Mapping[str, Any], tier: int) -> Declaration:
    return Declaration(answer, check_provider(profile, answer, tier), is_foreign=True)


def _unanswered(profile: Profile, error: errors.OasisError) -> Gap:
    remedy = _REMEDIES.get(error.reason, _OTHERWISE)
    if isinstance(error, errors.NotReady):
        remedy = "create the object that spec.provider names, with that key"
    message = f"provider does not satisfy {profile.identifier} requirement `{ENDPOINT}`: {error.message}"
    return Gap(ENDPOINT, "200 with a conformance answer", error.message[:200], message[:1000], remedy)
