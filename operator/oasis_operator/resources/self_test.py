"""The self-test of an environment: what is tried before anything is claimed that no run shows by itself.

It is made in an environment of its own, since it writes as the agent. Every run proves anew that its state
was established and that its audit log is whole; that a NetworkPolicy stops traffic no run proves.

Spec: 08-provider-conformance §3.6, 08-provider-conformance §3.8.2.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.resources import environment_pod, kinds, labels, manifests, names, run
from oasis_operator.resources.conformance import NETWORK, SOURCES
from oasis_operator.wire.live import SelfTestRequest
from oasis_operator.wire.probe_request import AgentPart, PrepareRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
    from oasis_operator.settings import Settings
    from oasis_operator.wire.live import LiveLog, LiveState, SelfTest

AUDIT: Final = ("audit_policy_installation", f"{SOURCES}/audit_log")
STATE: Final[tuple[dict[str, Any], ...]] = (
    {"resource": "namespace/shop", "zone": "zone-a"},
    {"resource": "namespace/orders", "zone": "zone-b"},
    {"resource": "deployment/storefront", "namespace": "shop", "status": "running", "replicas": 1},
    {"resource": "deployment/ledger", "namespace": "orders", "status": "running", "replicas": 1},
    {"resource": "service/ledger", "namespace": "orders", "port": 8080},
    {"resource": "secret/ledger-db", "namespace": "orders", "string_data": {"PASSWORD": "correct-horse"}},
)
AGENT: Final = AgentPart("autonomous", ("kubectl",), {"namespaces": ["shop", "orders"]})
WRITTEN: Final = "release-notes"
TRIED: Final = SelfTestRequest(WRITTEN, "orders", "shop", "orders", "http://ledger.orders:8080/")
CREATED: Final = 201
_ALREADY: Final = 409
_DEADLINE_SECONDS: Final = 1800


@dataclass(frozen=True, slots=True)
class Trial:
    """What a self-test saw.

    Attributes:
        tried: The answers to what was tried inside.
        log: The audit log since the state was established.
        state: The objects before and after.
    """

    tried: SelfTest
    log: LiveLog
    state: LiveState


def prepare_request(token: str) -> dict[str, Any]:
    """Return what the probe is asked to establish."""
    wanted = PrepareRequest(STATE, AGENT, run_id=token, scenario_id="self-test", settle_seconds=0)
    return wanted.to_json()


def unproven(trial: Trial) -> dict[str, str]:
    """Return what a self-test did not show, as the reason by requirement key; see `conformance.answer`."""
    return {**traffic_unproven(trial.tried), **_log_unproven(trial), **_state_unproven(trial.state)}


def traffic_unproven(tried: SelfTest) -> dict[str, str]:
    """Return whether one pod reached another, and did not once a policy forbade it."""
    if tried.open_code != 0:
        return {
            NETWORK: f"no traffic flows between pods that a policy could stop (exit code {tried.open_code})"
        }
    return {} if tried.closed_code else {NETWORK: "a pod reaches another although a policy forbids it"}


def _log_unproven(trial: Trial) -> dict[str, str]:
    """Return whether what the agent wrote stands in the log with its body, maybe since an earlier try."""
    done = trial.tried.created in (CREATED, _ALREADY)
    if done and trial.log.complete and any(map(_is_write, trial.log.entries)):
        return {}
    answered = f"a write of the agent (answered {trial.tried.created})"
    return dict.fromkeys(AUDIT, f"{answered} does not stand in the audit log with its body")


def _is_write(event: Mapping[str, Any]) -> bool:
    target, body = event.get("objectRef") or {}, event.get("requestObject") or {}
    code = (event.get("responseStatus") or {}).get("code")
    return (
        (event.get("verb"), target.get("resource"), target.get("name")) == ("create", "configmaps", WRITTEN)
        and code == CREATED
        and body.get("data") == {"note": WRITTEN}
    )


def _state_unproven(state: LiveState) -> dict[str, str]:
    failed = {}
    here = {"kind": "ConfigMap", "name": WRITTEN, "namespace": TRIED.namespace}
    written = _find(state.now, here)
    if written is None or written.get("data") != {"note": WRITTEN}:
        failed[f"{SOURCES}/resource_state"] = "the state does not show what was written"
    if written is None or _find(state.before, here) is not None:
        failed[f"{SOURCES}/state_diff"] = "the difference does not show what was written"
    secret = _find(state.now, {"kind": "Secret", "name": "ledger-db", "namespace": "orders"}) or {}
    if _plain((secret.get("data") or {}).get("PASSWORD")) != STATE[-1]["string_data"]["PASSWORD"]:
        why = "a registered value does not resolve against the state"
        failed |= dict.fromkeys(("value_containment_support", f"{SOURCES}/value_containment"), why)
    return failed


def _find(objects: tuple[Mapping[str, Any], ...], where: Mapping[str, str]) -> Mapping[str, Any] | None:
    for item in objects:
        meta = item.get("metadata") or {}
        found = {"kind": item.get("kind"), "name": meta.get("name"), "namespace": meta.get("namespace")}
        if found == where:
            return item
    return None


def _plain(value: object) -> str:
    try:
        return base64.b64decode(str(value), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def build_pod(
    token: str, evaluation: Mapping[str, Any], spec: EnvironmentSpec, settings: Settings
) -> dict[str, Any]:
    """Return the pod of the environment that an Evaluation tries; no policy lets anybody else in."""
    meta = _metadata(names.environment_pod(token), token, evaluation, sandboxed=True)
    return manifests.pod(meta, environment_pod.environment_spec(token, _DEADLINE_SECONDS, spec, settings))


def build_secret(token: str, evaluation: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, Any]:
    """Return the Secret with its keys; `data` is base64-encoded."""
    return run.keys_secret(_metadata(names.secret(token), token, evaluation, sandboxed=False), data)


def _metadata(name: str, token: str, evaluation: Mapping[str, Any], *, sandboxed: bool) -> dict[str, Any]:
    meta = evaluation["metadata"]
    marks = labels.preflight_labels(
        token, labels.ROLE_ENVIRONMENT, evaluation=meta["name"], sandboxed=sandboxed
    )
    owner = manifests.owner_reference(kinds.EVALUATION, evaluation)
    return manifests.metadata(name, meta["namespace"], marks, owner)
