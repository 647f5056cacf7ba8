"""The text of a workload: no two different ones share it, and what no pod shows is not in it."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.resources.workload import LONGEST_TEXT, workload_of, workload_text

DIGEST = "sha256:" + "a" * 64
TEXTS = st.text(max_size=6) | st.sampled_from(["1:a,", "] args=[", "1:", ",", "@", "="])
BASE: dict[str, Any] = {"http": {"port": 80}, "image": f"agent@{DIGEST}", "mode": "Autonomous"}


def agent(**more: Any) -> AgentSpec:
    return AgentSpec.model_validate({**BASE, **more})


def taken_apart(text: str) -> list[list[str]]:
    """Read a text back by the lengths in it: the parts of each of its members."""
    members: list[list[str]] = []
    while text:
        head = re.match(r"[@=]?(\d+):", text)
        if head is None:
            start = re.match(r"\]? ?(image=|command=\[|args=\[|env=\[|model=)", text)
            assert start is not None, text
            members.append([])
            text = text[start.end() :]
            continue
        end = head.end() + int(head[1])
        assert text[end] == ","
        members[-1].append(text[0] * (text[0] in "@=") + text[head.end() : end])
        text = text[end + 1 :]
    return members


@given(command=st.lists(TEXTS, max_size=3), args=st.lists(TEXTS, max_size=3), value=TEXTS)
def test_a_text_can_be_taken_apart_into_what_it_was_made_of(command: Any, args: Any, value: str) -> None:
    env = [
        {"name": "A", "value": value},
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    text = workload_text(agent(command=command, args=args, env=env), DIGEST)
    assert taken_apart(text) == [[DIGEST], command, args, ["A", f"={value}", "B", "@s", "k"], [""]]


def test_without_a_container_or_its_digest_no_workload_is_the_subject() -> None:
    scripted = AgentSpec.model_validate(
        {"scripted": {"identity": {"name": "idle", "version": "1.0.0"}}, "mode": "Autonomous"}
    )
    assert workload_of(scripted, DIGEST) is None
    assert workload_of(agent(), "") is None
    assert workload_of(agent(args=["x" * 4096, "y" * 4096]), DIGEST) is None
    found = workload_of(agent(rights=["get pods"]), DIGEST)
    assert found is not None
    assert (len(found.text) < LONGEST_TEXT, found.rights) == (True, ("get pods",))
