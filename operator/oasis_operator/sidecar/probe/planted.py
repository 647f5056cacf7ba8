"""Whether what stimuli place is there to be read, seen where the agent will read it."""

from __future__ import annotations

import asyncio
import base64
import json
import shlex
import time
from typing import TYPE_CHECKING, Any

import aiohttp

from oasis_operator.sidecar.probe import moments
from oasis_operator.sidecar.probe.api import Api, ApiError, path_of
from oasis_operator.sidecar.probe.establish import SymptomNotSeen
from oasis_operator.wire.probe import Witness
from oasis_operator.world.carriers import Carrier, find_carriers, shows, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from oasis_operator.world.injection import Injection
    from oasis_operator.world.manifests import CommandAnswer, Json, LogLines
    from oasis_operator.world.plan import Plan

_REFUSED = 400
_PATIENCE_SECONDS = 15.0
_LOOK_EVERY_SECONDS = 0.1


async def prove_planted(api: Api, plan: Plan, witnesses: tuple[Witness, ...]) -> tuple[Witness, ...]:
    """Look for all that was placed before the prompt, as somebody with kubectl would.

    Args:
        api: The nested API server.
        plan: The plan that was carried out.
        witnesses: What was seen of the declared conditions.

    Returns:
        A witness for each stimulus, in their order.

    Raises:
        SymptomNotSeen: Something is not to be read.
        ApiError: The API server refused a request.
        ProviderFault: It did not answer.
    """
    found = []
    for injection in plan.injections:
        if injection.moment is None:
            carriers = find_carriers(plan, injection)
            texts = [await _read_at_last(api, carrier, injection.text) for carrier in carriers]
            places = places_of(carriers, injection.objects)
            found.append(witness_of(injection, texts, conditions_of(injection, witnesses), places))
    return tuple(found)


async def find_planted(api: Api, folder: Path, plan: Plan, injection: Injection) -> list[str]:
    """Look for a text that was placed in the course of the run, without a word in the nodes' journal.

    Raises:
        ApiError: The API server refused a request.
        ProviderFault: It did not answer.
        OSError: What containers say cannot be read.
    """
    found = []
    for carrier in find_carriers(plan, injection):
        if carrier.body is not None:
            found.append(await _in_object(api, carrier.body, injection.text))
        else:
            found.append(_in_output(folder, injection.text))
    return found


def places_of(carriers: Iterable[Carrier], objects: Iterable[tuple[str, str, str]]) -> tuple[Json, ...]:
    """Give where what a stimulus places is to be read, as its witness names it.

    Args:
        carriers: What holds its text.
        objects: Objects that it makes or changes, as (kind, namespace, name); told where it has no text.
    """
    found = [_place(carrier) for carrier in carriers]
    if not found:
        found = [{"kind": kind, "namespace": namespace, "name": name} for kind, namespace, name in objects]
    return tuple(found)


def _place(carrier: Carrier) -> Json:
    if carrier.log is not None:
        return {"namespace": carrier.log.namespace, "name": carrier.log.subject, "log": True}
    if carrier.command is not None:
        command, told = shlex.join(carrier.command.command), carrier.command
        return {"namespace": told.namespace, "name": told.subject, "command": command}
    body = carrier.body or {}
    metadata = body["metadata"]
    namespace = metadata.get("namespace", "")
    return {"kind": body["kind"], "namespace": namespace, "name": metadata["name"]}


def witness_of(
    injection: Injection, texts: list[str], conditions: list[str], places: tuple[Json, ...]
) -> Witness:
    """Give the witness of a stimulus.

    Args:
        injection: What it places.
        texts: Where its text was read, empty for a place where it was not.
        conditions: What was seen of the conditions of what it is about.
        places: Where it is to be read.

    Raises:
        SymptomNotSeen: Its text is not in one of the places that hold it.
    """
    if injection.text and not (texts and all(texts)):
        where = ", ".join(injection.subjects)
        raise SymptomNotSeen(f"stimuli[{injection.index}]: {where}: its text is not to be read there")
    observed = "; ".join(dict.fromkeys([*texts, *conditions])) or "the API server took it"
    condition = "planted" if injection.text else "changed"
    subject = ", ".join(injection.subjects)
    return Witness(subject, condition, observed[:2048], moments.now(), injection.index, places)


def conditions_of(injection: Injection, witnesses: tuple[Witness, ...]) -> list[str]:
    """Give what was seen of the conditions of what a stimulus is about."""
    named = {subject.split()[0] for subject in injection.subjects}
    return [
        f"{item.subject}: {item.condition}: {item.observed}"
        for item in witnesses
        if item.stimulus is None and item.subject.split()[0] in named
    ]


async def _read_at_last(api: Api, carrier: Carrier, text: str) -> str:
    """Read what holds a text until it does; a container that is just being started anew says nothing yet."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        found = await _read(api, carrier, text)
        if found or time.monotonic() > deadline:
            return found
        await asyncio.sleep(_LOOK_EVERY_SECONDS)


async def _read(api: Api, carrier: Carrier, text: str) -> str:
    """Read what holds a text; give where it was read, or nothing."""
    if carrier.body is not None:
        return await _in_object(api, carrier.body, text)
    if carrier.log is not None:
        return await _in_log(api, carrier.log, text)
    return await _in_command(api, carrier.command, text) if carrier.command is not None else ""


async def _in_object(api: Api, body: Json, text: str) -> str:
    live = await api.get(path_of(body, named=True))
    if body["kind"] == "Secret":
        live = {**live, "data": {key: _plain(value) for key, value in live.get("data", {}).items()}}
    metadata = live["metadata"]
    version = metadata.get("resourceVersion", "")
    where = f"{body['kind']} {metadata['name']} in {metadata.get('namespace') or 'the cluster'}"
    return f"read in {where}, version {version}" if shows(live, text) else ""


async def _in_log(api: Api, log: LogLines, text: str) -> str:
    for pod in await _pods_of(api, log.namespace, log.subject):
        name, containers = pod["metadata"]["name"], pod["spec"]["containers"]
        container = log.container or containers[0]["name"]
        path = f"{path_of(pod, named=True)}/log"
        for previous in ("false", "true"):
            try:
                said = await api.text(f"{path}?container={container}&previous={previous}")
            except ApiError as error:
                if error.status != _REFUSED:
                    raise
                continue
            if spoken(said.splitlines(), text):
                return f"read in the log of pod {name} in {log.namespace}, container {container}"
    return ""


async def _in_command(api: Api, answer: CommandAnswer, text: str) -> str:
    for pod in await _pods_of(api, answer.namespace, answer.subject):
        query = [("container", pod["spec"]["containers"][0]["name"]), ("stdout", "true"), ("stderr", "true")]
        query += [("command", word) for word in answer.command]
        try:
            said = await api.run(f"{path_of(pod, named=True)}/exec", query)
        except aiohttp.WSServerHandshakeError:
            continue
        if text in said:
            return f"printed by {shlex.join(answer.command)} in pod {pod['metadata']['name']}"
    return ""


def _in_output(folder: Path, text: str) -> str:
    said: Mapping[str, Any] = json.loads((folder / "output.json").read_text())
    if any(spoken(log["lines"], text) for log in said["logs"]):
        return "handed to the nodes as a log"
    printed = any(text in one["stdout"] + one["stderr"] for one in said["commands"])
    return "handed to the nodes as what a command prints" if printed else ""


async def _pods_of(api: Api, namespace: str, subject: str) -> list[Json]:
    """Give the pods of a workload by the label that all pods of ours have, and one of that very name."""
    pods = await api.list("Pod", namespace)
    return [
        {**pod, "kind": "Pod", "apiVersion": "v1"}
        for pod in pods
        if pod["metadata"]["name"] == subject or pod["metadata"].get("labels", {}).get("app") == subject
    ]


def _plain(value: str) -> str:
    return base64.b64decode(value).decode(errors="replace")
