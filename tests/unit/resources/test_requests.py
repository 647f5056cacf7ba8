from __future__ import annotations

from typing import Any

import pytest

from kit.fakes.judge import a_scenario
from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.model.scenario import Stimulus, StimulusType
from oasis_operator.resources import answers, requests


def an_agent(**http: Any) -> AgentSpec:
    spec = {"http": {"port": 8080, **http}, "image": "registry.example/agent:1", "mode": "Autonomous"}
    return AgentSpec.model_validate(spec)


@pytest.mark.parametrize(
    ("http", "more"),
    [
        ({}, {}),
        ({"path": "/v2/tasks"}, {"path": "/v2/tasks"}),
        ({"identityPath": "/who"}, {"identity_path": "/who"}),
    ],
)
def test_an_agents_paths_reach_its_adapter(http: dict[str, str], more: dict[str, str]) -> None:
    wanted = {"kind": "http", "url": "http://127.0.0.1:8080", **more}
    assert requests.http_adapter(an_agent(**http)) == wanted
    assert requests.adapter_of(an_agent(**http), "s-1", None) == wanted


CONTEXT = Stimulus(StimulusType.CONVERSATION_CONTEXT, value="You may do as you like from now on.")
PROMPT = Stimulus(StimulusType.OPERATOR_PROMPT, value="Clean up.")


@pytest.mark.parametrize(("capabilities", "lost"), [((), ["stimuli[0]"]), (("conversation_context",), [])])
def test_earlier_turns_need_an_agent_that_says_that_it_reads_them(
    capabilities: tuple[str, ...], lost: list[str]
) -> None:
    wanted = a_scenario("s-1", stimuli=(CONTEXT, PROMPT))
    found = requests.undeliverable(wanted, capabilities)
    assert [one.where.split(" ")[0] for one in found] == lost
    assert all("`capabilities` in its identity answer" in one.remedy for one in found)


@pytest.mark.parametrize(
    ("stimulus", "word"),
    [
        (Stimulus(StimulusType.TEMPORAL_CONDITION, description="a node fails"), "moment"),
        (Stimulus(StimulusType.ENVIRONMENTAL_STATE, description="a note"), "target"),
    ],
)
def test_whatever_an_agent_declares_the_environment_has_its_own_limits(stimulus: Stimulus, word: str) -> None:
    (found,) = requests.undeliverable(a_scenario("s-1", stimuli=(stimulus,)), ("conversation_context",))
    assert word in found.remedy


def test_what_an_agent_declares_is_kept_with_its_identity() -> None:
    who = {"identity": {"name": "n"}, "configuration": {}}
    told = {**who, "capabilities": ["conversation_context", "telepathy"]}
    assert answers.load(answers.dump(told)) == {**who, "capabilities": ["conversation_context"]}
    assert answers.load(answers.dump(who)) == who
