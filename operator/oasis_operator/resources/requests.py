"""Bodies that the operator sends to the sidecars of a run, built from a scenario and an Agent."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.script import Witness
from oasis_operator.model import scenario, witness
from oasis_operator.resources import agent_pod, gateway, network_policy
from oasis_operator.wire.agent import CONVERSATION_CONTEXT
from oasis_operator.world import check, injection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from oasis_operator.api.v1alpha1 import agent, command
    from oasis_operator.api.v1alpha1.http import Webhook
    from oasis_operator.api.v1alpha1.script import Scripted, ScriptedIdentity, Step
    from oasis_operator.resources.reach_pod import Target
    from oasis_operator.world.monitoring.tools import Tool

_NO_CHANGE = (
    "say in the stimulus's `state` what the world becomes, as in `preconditions.environment.state`: prose "
    "alone cannot be brought about"
)
_NO_TARGET = "name the object that holds it in the stimulus's `target`, or give entries in its `state`"
_NOT_THERE = (
    "evaluate in an Environment of kind kubernetes, or declare what is placed in the scenario's state"
)
_NO_CONTEXT = (
    f"use an agent that declares the capability {CONVERSATION_CONTEXT}: one over HTTP that reads `context` "
    "lists it under `capabilities` in its identity answer, a scripted one cannot; or leave the scenario out"
)

_SPOKEN_BEFORE = scenario.StimulusType.CONVERSATION_CONTEXT
_PLACED = frozenset({scenario.StimulusType.ENVIRONMENTAL_STATE, scenario.StimulusType.TOOL_OUTPUT_INJECTION})


def prepare_request(run_id: str, wanted: scenario.Scenario, settle_seconds: int) -> dict[str, Any]:
    """Return the PrepareRequest of a run."""
    return {
        "run_id": run_id,
        "scenario_id": wanted.id,
        "settle_seconds": settle_seconds,
        **check.request_body(wanted),
    }


def release_request(
    denied: Iterable[Target],
    environment_ip: str | None = None,
    credential: Mapping[str, str] | None = None,
    cluster_ca: str = "",
    tools: Iterable[Tool] = (),
) -> dict[str, Any]:
    """Return the ReleaseRequest: what must be blocked, what must work, and the agent's credential.

    Args:
        denied: Targets that must not be reached.
        environment_ip: Address of the environment pod; None for an identity pod.
        credential: `{username, token, namespace}` as the probe issued it.
        cluster_ca: CA of the nested cluster, PEM.
        tools: The tools that listen beside it, which must work as well.
    """
    environment = {"name": "environment", "host": agent_pod.API_NAMES[2], "port": network_policy.API_PORT}
    beside = [{"name": tool.name, "host": tool.host, "port": tool.port} for tool in tools]
    allowed = [environment, *beside] if environment_ip else []
    access = (
        {
            "token": credential["token"],
            "ca": cluster_ca,
            "namespace": credential["namespace"],
            "server": agent_pod.SERVER,
        }
        if credential
        else None
    )
    return {
        "deny": [{"name": item.name, "host": item.host, "port": item.port} for item in denied],
        "allow": allowed,
        "credential": access,
    }


def run_request(
    run_id: str, boot_id: str, wanted: scenario.Scenario, adapter: Mapping[str, Any], timeout_seconds: float
) -> dict[str, Any]:
    """Return the RunRequest: the prompt and what goes with it.

    Several prompts of one scenario are one task and are joined in order.

    Args:
        run_id: Identifies the delivery.
        boot_id: The adapter process that the delivery was recorded for; another one refuses it.
        wanted: The scenario.
        adapter: As `adapter_of` gives it.
        timeout_seconds: Time that the agent has.

    Spec: 04-execution §1, 02-scenarios §1.4.
    """
    conditions = wanted.preconditions.agent
    return {
        "run_id": run_id,
        "boot_id": boot_id,
        "adapter": dict(adapter),
        "prompt": prompt(wanted),
        "tools": list(conditions.tools),
        "mode": conditions.mode,
        "scope": dict(conditions.scope),
        "context": context(wanted),
        "timeout_seconds": timeout_seconds,
        "approvals": conditions.approvals.value,
    }


def prompt(wanted: scenario.Scenario) -> str:
    """Return the text that the agent is given."""
    kind = scenario.StimulusType.OPERATOR_PROMPT
    return "\n\n".join(item.value or "" for item in wanted.stimuli if item.type is kind)


def context(wanted: scenario.Scenario) -> list[dict[str, str]]:
    """Return the earlier turns of the conversation, in order."""
    kind = scenario.StimulusType.CONVERSATION_CONTEXT
    return [{"role": "user", "content": item.value or ""} for item in wanted.stimuli if item.type is kind]


def waits(wanted: scenario.Scenario) -> bool:
    """Tell whether something of a scenario takes effect only at a moment of the run."""
    return any(item.type is scenario.StimulusType.TEMPORAL_CONDITION for item in wanted.stimuli)


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """A stimulus that cannot be applied in a run.

    Attributes:
        where: Its place and type, such as `stimuli[1] (temporal_condition)`.
        remedy: What to do about it.
    """

    where: str
    remedy: str


def undeliverable(
    wanted: scenario.Scenario, capabilities: Collection[str], *, is_foreign: bool = False
) -> tuple[Undeliverable, ...]:
    """Return the stimuli that cannot be applied; empty where all can.

    One that is placed needs a target or state entries, since nothing could show otherwise that it was; what
    becomes of the world at a moment of the run must be said in entries, or as a text at a target. Earlier
    turns need an agent that says that it reads them: to one that ignores them the stimulus was not applied.

    Args:
        wanted: The scenario.
        capabilities: What the agent declares, of `wire.agent.CAPABILITIES`.
        is_foreign: Whether a foreign provider makes the world; it is told the scenario's state alone.

    Spec: 08-provider-conformance §3.1, 08-provider-conformance §3.6.
    """
    found = []
    for index, item in enumerate(wanted.stimuli):
        place = f"stimuli[{index}] ({item.type}"
        if item.type is scenario.StimulusType.TEMPORAL_CONDITION and not injection.is_placed(item):
            found.append(Undeliverable(f"{place} without state)", _NO_CHANGE))
        elif is_foreign and injection.is_placed(item):
            found.append(Undeliverable(f"{place} at a foreign provider)", _NOT_THERE))
        elif item.type in _PLACED and not (item.target or "state" in item.extra):
            found.append(Undeliverable(f"{place} without target)", _NO_TARGET))
        elif item.type is _SPOKEN_BEFORE and CONVERSATION_CONTEXT not in capabilities:
            found.append(Undeliverable(f"{place}, which the agent does not say that it reads)", _NO_CONTEXT))
    return tuple(found)


def adapter_of(
    spec: agent.AgentSpec, scenario_id: str, witnesses: witness.Witnesses | None
) -> dict[str, Any]:
    """Return the `adapter` member for this agent in this scenario.

    A scripted agent plays its first script whose globs match, else the profile's witness where it asks for
    one, else nothing but its answer.
    """
    if spec.scripted is not None:
        return {"kind": "scripted", **_script(spec.scripted, scenario_id, witnesses)}
    if spec.cli is not None:
        return _command_adapter(spec, spec.cli)
    if spec.model is not None and spec.image is None:
        return gateway.adapter_of(spec, spec.model)
    return {**_http_adapter(spec)}


def identity_adapter(spec: agent.AgentSpec) -> dict[str, str]:
    """Return what the adapter is asked with for the agent's identity: texts only, since it is a query.

    A command is not asked; its program is looked up in the image. One with a webhook must listen.
    """
    declared = _declared_identity(spec)
    if declared is None:
        return {name: str(value) for name, value in _http_adapter(spec).items()}
    told = {
        "name": declared.name,
        "version": declared.version,
        "description": declared.description or "",
    }
    if spec.cli is not None:
        return {"kind": "cli", "program": (spec.command or ("",))[0], **told}
    return {"kind": "webhook", "url": agent_pod.agent_url(spec), **told}


def with_declared(spec: agent.AgentSpec, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity answer with the configuration that counts: who is not asked reports none."""
    is_declared = _declared_identity(spec) is not None
    return {**answer, "configuration": dict(spec.configuration)} if is_declared else dict(answer)


def _declared_identity(spec: agent.AgentSpec) -> ScriptedIdentity | None:
    """Return the identity of an agent in a container that is not asked for one."""
    if spec.cli is not None:
        return spec.cli.identity
    return spec.http.webhook.identity if spec.http and spec.http.webhook else None


def _command_adapter(spec: agent.AgentSpec, cli: command.Cli) -> dict[str, Any]:
    prompt, answer = fields.dump(cli.prompt), fields.dump(cli.answer)
    if "jsonPath" in answer:
        answer["json_path"] = answer.pop("jsonPath")
    return {
        "kind": "cli",
        "command": list(spec.command or ()),
        "args": list(spec.args or ()),
        "prompt": prompt,
        "answer": answer,
        "tty": cli.tty,
        "success_codes": list(cli.success_codes),
        **({"approvals": fields.dump(cli.approvals)} if cli.approvals else {}),
    }


def _http_adapter(spec: agent.AgentSpec) -> dict[str, Any]:
    """Return the `adapter` member for an agent that is spoken to over HTTP."""
    http = spec.http
    if http is not None and http.webhook is not None:
        return _webhook_adapter(agent_pod.agent_url(spec), http.path, http.webhook)
    paths = {"path": http.path, "identity_path": http.identity_path} if http else {}
    given = {name: path for name, path in paths.items() if path is not None}
    return {"kind": "http", "url": agent_pod.agent_url(spec), **given}


def _webhook_adapter(url: str, path: str | None, webhook: Webhook) -> dict[str, Any]:
    given = {
        "path": path,
        "json_path": webhook.json_path,
        "works_for_seconds": webhook.works_for_seconds,
    }
    told = {name: value for name, value in given.items() if value is not None}
    return {"kind": "webhook", "url": url, "labels": dict(webhook.labels), **told}


def _script(scripted: Scripted, scenario_id: str, witnesses: witness.Witnesses | None) -> dict[str, Any]:
    for script in scripted.scripts:
        if any(fnmatch.fnmatchcase(scenario_id, glob) for glob in script.scenarios):
            answer = script.answer if script.answer is not None else scripted.answer
            return {
                "steps": [_step(step) for step in script.steps],
                "answer": answer or "",
                "reasoning": script.reasoning or "",
            }
    if scripted.witness is not None and witnesses is not None:
        satisfying = scripted.witness is Witness.SATISFYING
        played = witnesses.satisfying if satisfying else witnesses.violating
        steps = [dict(step) for step in played.steps]
        return {"steps": steps, "answer": played.answer, "reasoning": played.reasoning}
    return {"steps": [], "answer": scripted.answer or "", "reasoning": ""}


def _step(step: Step) -> dict[str, Any]:
    if step.request is None:
        return {"pause_seconds": step.pause_seconds}
    request = fields.dump(step.request)
    if "contentType" in request:
        request["content_type"] = request.pop("contentType")
    return {"request": request}
