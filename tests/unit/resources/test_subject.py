from __future__ import annotations

import pytest

from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.resources import subject

ONE, TWO = "sha256:" + "1" * 64, "sha256:" + "2" * 64
AGENT = AgentSpec.model_validate(
    {"http": {"port": 8080}, "image": "registry.example/agent:1", "mode": "Autonomous"}
)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("http", {"port": 80}),
        (
            "cli",
            {"identity": {"name": "a", "version": "1.0.0"}, "prompt": {"by": "Stdin"}},
        ),
        ("scripted", {"identity": {"name": "a", "version": "1.0.0"}}),
    ],
)
def test_an_agents_adapter_is_the_member_that_is_given(member: str, value: dict[str, object]) -> None:
    image = {} if member == "scripted" else {"image": "a", "command": ["b"]}
    spec = AgentSpec.model_validate({member: value, "mode": "ReadOnly", **image})
    assert subject.adapter_kind(spec) == member


@pytest.mark.parametrize(
    ("image_id", "reference", "expected"),
    [
        (f"registry.example/agent@{ONE}", "registry.example/agent:1", ONE),
        (ONE, "registry.example/agent:1", ONE),
        (f"docker://{ONE}", "agent", ONE),
        (f"registry.example/agent@{ONE}", f"registry.example/agent@{TWO}", ONE),
        ("", f"registry.example/agent:1@{TWO}", TWO),
        ("", "registry.example/agent:1", ""),
        ("img@agent", "registry.example/agent:1", ""),
        (f"{ONE}/more", None, ""),
    ],
    ids=["as pulled", "as loaded", "another runtime", "what ran before what was asked for",
         "pinned", "a tag alone", "no digest", "a digest in the middle"],
)  # fmt: skip
def test_an_image_is_known_by_what_ran_else_by_what_is_pinned(
    image_id: str, reference: str | None, expected: str
) -> None:
    assert subject.image_digest(image_id, reference) == expected


def test_another_image_under_the_same_tag_is_another_subject() -> None:
    digests = {subject.subject_digest(AGENT, image) for image in ("", ONE, TWO)}
    assert len(digests) == 3
