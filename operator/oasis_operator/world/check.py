"""Whether a scenario's world can be had at all, told from its text alone.

The probe asks the same question right before it prepares a world, with the same code; asked before a run it
keeps a scenario that nobody could ever run from being taken for a fault of the harness.

Spec: 02-scenarios §1.3, 01-core §3.7.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import InvalidInput
from oasis_operator.wire.fields import Fields, shown
from oasis_operator.wire.probe_request import CheckRequest, StateFault
from oasis_operator.world.carriers import find_carriers
from oasis_operator.world.difference import compare, find_obstacles
from oasis_operator.world.injection import Injection, read_injections, stimulus_parts
from oasis_operator.world.monitoring import tools
from oasis_operator.world.overlay import Raw, overlay
from oasis_operator.world.plan import Plan, build_plan
from oasis_operator.world.principal import check_agent, may_run_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oasis_operator.model.scenario import Scenario
    from oasis_operator.world.monitoring.tools import Tool

_ANY_MOMENT: Final = "2000-01-01T00:00:00Z"
"""No fault depends on the time of the preparation."""


def compile_world(request: CheckRequest, now: str) -> tuple[Plan, tuple[StateFault, ...]]:
    """Compile the state and the agent's part, and name every static fault of either.

    Args:
        request: What is asked for.
        now: The moment of preparation, RFC 3339.

    Returns:
        The plan, which must not be carried out where there are faults, and the faults: those of the agent's
        part first, then those of the state by entry.
    """
    faults = list(check_agent(request.agent))
    injections = read_injections(request.stimuli, request.state, faults)
    injections, state = _before_prompt(request, injections, now)
    plan = compile_state(request, state, now)
    faults += _told(plan.faults, request, injections)
    if not plan.faults:
        faults += _unplaceable(request, state, injections, now)
    return replace(plan, injections=injections, state=state), tuple(faults)


def _before_prompt(
    request: CheckRequest, injections: Iterable[Injection], now: str
) -> tuple[tuple[Injection, ...], tuple[Raw, ...]]:
    """Give the injections with the objects that they make or change, and the state with those in it."""
    found, state = [], request.state
    for injection in injections:
        if injection.moment is None and injection.entries:
            following = overlay(state, injection.entries)
            plans = (compile_state(request, each, now) for each in (state, following))
            objects = tuple(sorted(change.key for change in compare(*plans).changes))
            found.append(replace(injection, objects=objects))
            state = following
        else:
            found.append(injection)
    return tuple(found), state


def compile_state(request: CheckRequest, state: Sequence[Raw], now: str) -> Plan:
    """Compile a state that a request's own has become.

    Args:
        request: What is asked for.
        state: The state as it is from then on.
        now: The moment at which it is compiled, RFC 3339.
    """
    named = () if check_agent(request.agent) else request.agent.scope.get("namespaces")
    return build_plan(state, scope_namespaces=list(named or ()), containment=request.containment, now=now)


def _told(
    faults: Iterable[StateFault], request: CheckRequest, injections: Iterable[Injection]
) -> Iterator[StateFault]:
    """Yield faults of the state; those of entries that stimuli add name the stimulus."""
    added = [item for item in injections if item.entries and not item.moment]
    for fault in faults:
        own = next((item for item in added if fault.resource and _adds(item, fault.resource)), None)
        if fault.index >= len(request.state) and own is not None:
            yield replace(fault, index=-1, resource=f"stimuli[{own.index}] {fault.resource}")
        else:
            yield replace(fault, index=min(fault.index, len(request.state) - 1))


def _why_unread(request: CheckRequest, plan: Plan, injection: Injection) -> str:
    """Tell why nobody could read a text, empty where the agent can."""
    carriers = find_carriers(plan, injection)
    if not carriers:
        return "is nowhere to be read there"
    if all(carrier.command for carrier in carriers) and not may_run_commands(request.agent):
        return f"an agent in mode {request.agent.mode} runs no commands; want another target, or autonomous"
    return ""


def _adds(injection: Injection, resource: str) -> bool:
    return any(str(entry.get("resource")) == resource for entry in injection.entries)


def _unplaceable(
    request: CheckRequest, state: Sequence[Raw], injections: Iterable[Injection], now: str
) -> Iterator[StateFault]:
    """Yield what cannot be brought about: a text that nobody could read, a change that no run can make."""
    plan = compile_state(request, state, now)
    for injection in injections:
        where = f"stimuli[{injection.index}] {', '.join(injection.subjects)}"
        following = plan
        if injection.moment:
            state = overlay(state, injection.entries)
            following = compile_state(request, state, now)
            for fault in following.faults:
                yield replace(fault, index=-1, resource=f"stimuli[{injection.index}] {fault.resource}")
            if following.faults:
                continue
            for subject, why in find_obstacles(plan, following):
                yield StateFault(-1, where, "", subject, why)
        if injection.text and (why := _why_unread(request, following, injection)):
            yield StateFault(-1, where, "text", shown(injection.text), why)
        plan = following


def request_body(scenario: Scenario) -> dict[str, Any]:
    """Return what a scenario asks of its world, as the body that a probe reads.

    Spec: 02-scenarios §1.3, 08-provider-conformance §3.2.
    """
    wanted = scenario.preconditions
    return {
        "state": [dict(entry) for entry in wanted.environment.state],
        "agent": {
            "mode": wanted.agent.mode,
            "tools": list(wanted.agent.tools),
            "scope": dict(wanted.agent.scope),
        },
        "containment": list(dict.fromkeys(one.value_ref for one in scenario.verification.value_containment)),
        "stimuli": list(stimulus_parts(scenario.stimuli)),
    }


def find_faults(scenario: Scenario) -> tuple[StateFault, ...]:
    """Return why no cluster can be what a scenario asks for; empty where one can."""
    try:
        return compile_world(_request(scenario), _ANY_MOMENT)[1]
    except InvalidInput as error:
        return (StateFault(-1, "", "", "", error.message),)


def find_tools(scenario: Scenario) -> tuple[Tool, ...]:
    """Return the tools that listen beside a scenario's cluster; none where nobody can have its world."""
    try:
        return tools_of(compile_world(_request(scenario), _ANY_MOMENT)[0])
    except InvalidInput:
        return ()


def tools_of(plan: Plan) -> tuple[Tool, ...]:
    """Return the tools that a world needs from its beginning, for what later stimuli bring about as well."""
    later = [entry for injection in plan.injections for entry in injection.entries]
    manifests = [manifest for rank in plan.ranks for manifest in rank]
    return tools.find_tools(manifests, (*plan.state, *later), has_logs=bool(plan.logs))


def _request(scenario: Scenario) -> CheckRequest:
    # A probe reads JSON, in which a tuple and a list are the same.
    return CheckRequest.from_json(Fields(json.loads(json.dumps(request_body(scenario)))))
