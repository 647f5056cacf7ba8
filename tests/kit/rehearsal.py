"""One script in one scenario's world on a real API server: prepared, played, stopped and judged as a run is.

What differs from a run in a cluster is that launcher and probe are plain processes beside this one.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.control_agents import LOOKS, sees_a_sign
from oasis_operator.clients.clock import SystemClock
from oasis_operator.domains import readings_for
from oasis_operator.engine.evidence import attest
from oasis_operator.engine.judge import judge
from oasis_operator.resources import evidence, requests
from oasis_operator.sidecar.adapter.options import Options
from oasis_operator.sidecar.adapter.record import Record
from oasis_operator.sidecar.adapter.scripted import ScriptedAgent
from oasis_operator.sidecar.adapter.task import Task
from oasis_operator.wire.adapter import Outcome, RunRequest
from oasis_operator.wire.agent import Action
from oasis_operator.wire.release import Credential
from oasis_operator.world.plan import build_plan

if TYPE_CHECKING:
    from kit.control_agents import ControlCase
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.model.witness import WitnessScript

RUN = "run-1"
CONFIGURATION = {"operational_mode": "read_write"}


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of it.

    Attributes:
        result: As the engine judged.
        document: The evidence, attested.
        codes: Answer codes of the requests, in order.
        seconds: How long the preparation of the world took.
    """

    result: ScenarioResult
    document: dict[str, Any]
    codes: tuple[str, ...]
    seconds: float


class NotPrepared(Exception):  # noqa: N818  # an answer to the author of a scenario
    """The world of a scenario could not be brought about."""


async def rehearse(
    world: Any,
    profile: Profile,
    scenario: Scenario,
    script: WitnessScript,
    control: ControlCase | None = None,
) -> Rehearsal:
    """Play a script in a blank world and judge what it did.

    Args:
        world: A blank world.
        profile: The profile.
        scenario: The scenario.
        script: What the agent does.
        control: The control agent that plays it: it may look around first, or tell of calls that it never made.

    Raises:
        NotPrepared: The environment could not be made so, with the probe's own words.
    """
    prepared, seconds = _prepare(world, scenario)
    at = SystemClock().now().isoformat().replace("+00:00", "Z")
    assert world.call("POST", "/v1/begin", {"run_id": RUN})[0] == 200
    if control is not None and control.otherwise is not None:
        seen = [str(world.kube(prepared["credential"]["token"], "GET", path)[1]) for path in LOOKS]
        script = control.otherwise if sees_a_sign(seen) else script
    record = await _play(world, prepared["credential"], scenario, script)
    if control is not None and control.told is not None:
        record.actions += _forged(control.told)
    part = world.stop()
    identity = evidence.RunIdentity(
        "uid", RUN, "evaluation", "uid", scenario.id, scenario.digest, 1, 1, {}, "0.0.0"
    )
    transcript = record.close(Outcome.ANSWERED, "").to_json()
    stimuli = evidence.stimuli_of(scenario, record.delivered_at, at)
    document = evidence.first_part(identity, {}, stimuli, transcript, None, {})
    # Everybody here has the address of this machine, so that only its user tells the agent from others.
    document["agent_principal"]["source_ips"] = ["192.0.2.7"]
    whole = evidence.with_probe_part(document, part, None, {})
    # The launcher is a process of ours, which nothing starts again.
    whole["environment"]["restarts"] = 0
    attested = attest(whole, _values(scenario, at))
    result = judge(profile, scenario, attested, CONFIGURATION, readings_for(profile))
    return Rehearsal(result, attested, tuple(action.error or "ok" for action in record.actions), seconds)


def _prepare(world: Any, scenario: Scenario) -> tuple[dict[str, Any], float]:
    begun = time.monotonic()
    code, answer = world.call("POST", "/v1/prepare", requests.prepare_request(RUN, scenario, 0))
    if code != 202:
        raise NotPrepared(str(answer))
    world.wait(lambda: _status(world)["status"] in ("ready", "failed"), "prepare", 120)
    prepared = _status(world)
    if prepared["status"] != "ready":
        raise NotPrepared(f"{prepared.get('reason')}: {prepared.get('message')} {prepared.get('faults')}")
    return prepared, time.monotonic() - begun


def _status(world: Any) -> dict[str, Any]:
    return dict(world.call("GET", "/v1/prepare")[1])


async def _play(world: Any, given: dict[str, Any], scenario: Scenario, script: WitnessScript) -> Record:
    ca = (Path(world.folder) / "run/admin/ca.crt").read_text()
    credential = Credential(given["token"], ca, given["namespace"], f"https://127.0.0.1:{world.port}")
    adapter = {
        "kind": "scripted", "steps": [dict(step) for step in script.steps],
        "answer": script.answer, "reasoning": script.reasoning,
    }  # fmt: skip
    request = RunRequest.from_json(requests.run_request(RUN, "", scenario, adapter, 300))
    record = Record()
    await ScriptedAgent().run(Task(request, credential, Options()), record)
    return record


def _forged(script: WitnessScript) -> list[Action]:
    """Give the calls of a script as an agent would tell of them, each with the answer that it wishes for."""
    requests_of = (step["request"] for step in script.steps if "request" in step)
    return [
        Action(f"call-{number}", "kubernetes-api", dict(request), json.dumps({"status": 200}))
        for number, request in enumerate(requests_of, start=1)
    ]


def _values(scenario: Scenario, now: str) -> dict[str, list[str]]:
    references = [one.value_ref for one in scenario.verification.value_containment]
    state = scenario.preconditions.environment.state
    found: dict[str, list[str]] = {}
    for reference, literal in build_plan(state, containment=references, now=now).values.items():
        found.setdefault(reference.partition("#")[0], []).append(literal)
    return found
