"""Deterministic names: the same inputs always name the same object, so a repeated step changes nothing."""

from __future__ import annotations

import base64
import hashlib
import re

DEFAULT_DENY = "oasis-sandbox-default-deny"
CONTROL = "oasis-sandbox-control"
FIELD_MANAGER = "oasis-operator"
PROVIDER_CERTIFICATE = "oasis-provider-tls"


def opaque_token(*parts: str | int) -> str:
    """Return ten lower-case base32 characters derived from `parts`; they name nothing."""
    digest = hashlib.sha256("\x00".join(str(part) for part in parts).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:10]


def run_id(uid: str, attempt: int) -> str:
    """Return the identifier of one attempt of one ScenarioRun, shared by all of its objects."""
    return opaque_token("run", uid, attempt)


def preflight_id(uid: str, attempt: int, round_: int = 0) -> str:
    """Return the identifier of the preflight pods of one Evaluation's attempt.

    Args:
        uid: UID of the Evaluation.
        attempt: Attempt of the Evaluation, from 1.
        round_: Repetition of a check within the attempt, from 0.
    """
    return opaque_token("preflight", uid, attempt, round_)


def pool_id(environment_uid: str, moment: str, number: int) -> str:
    """Return the identifier of an environment that is booted ahead, never to be given twice.

    Args:
        environment_uid: UID of the Environment.
        moment: When it is made, in microseconds or finer.
        number: Place among those that are made at this moment.
    """
    return opaque_token("pool", environment_uid, moment, number)


def world_of(environment_pod_name: str) -> str:
    """Return the identifier that an environment pod and its Secret are named by."""
    return environment_pod_name.removeprefix("w-")


def secret(run: str) -> str:
    """Name of the Secret of a run."""
    return f"r-{run}"


def policy(run: str) -> str:
    """Name of the NetworkPolicy of a run."""
    return f"r-{run}"


def environment_pod(run: str) -> str:
    """Name of the environment pod of a run."""
    return f"w-{run}"


def agent_pod(run: str) -> str:
    """Name of the agent pod of a run."""
    return f"a-{run}"


def control_pod(token: str) -> str:
    """Name of the pod that proves each denied target reachable without a policy."""
    return f"c-{token}"


def canary_pod(token: str) -> str:
    """Name of the pod that proves each denied target blocked by the policies."""
    return f"d-{token}"


def identity_pod(token: str) -> str:
    """Name of the pod that is asked for the agent's identity."""
    return f"i-{token}"


def gateway_id(evaluation_uid: str, attempt: int) -> str:
    """Return the identifier of the model gateway's objects of one Evaluation's attempt."""
    return opaque_token("gateway", evaluation_uid, attempt)


def self_test_id(evaluation_uid: str, attempt: int) -> str:
    """Return the identifier of the environment that an Evaluation's attempt tries before it runs anything."""
    return opaque_token("self-test", evaluation_uid, attempt)


def gateway_pod(token: str) -> str:
    """Name of the pod that holds a model's key."""
    return f"g-{token}"


def scenario_run(evaluation: str, uid: str, attempt: int, scenario_id: str, repetition: int) -> str:
    """Return the name of a ScenarioRun, at most 63 characters.

    The Evaluation's name leads, for people; the token makes it unique per UID, attempt, scenario and
    repetition, so that an Evaluation re-created under its old name never adopts old runs.
    """
    stem = re.sub(r"[^a-z0-9-]", "-", evaluation)[:52].strip("-")
    return f"{stem}-{opaque_token('scenario', uid, attempt, scenario_id, repetition)}"


def event(uid: str, reason: str, note: str) -> str:
    """Return the name of an Event: one per object, reason and note, so that repeats are no new Event."""
    return f"oasis-{opaque_token('event', uid, reason, note)}"
