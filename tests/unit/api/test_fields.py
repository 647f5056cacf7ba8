from __future__ import annotations

import pytest

from oasis_operator.api import fields, v1alpha1
from oasis_operator.errors import InvalidSpec


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("1h30m", 5400), ("1500ms", 1.5), ("1m1s1ms", 61.001), ("0s", 0)],
)
def test_a_duration_in_seconds(text: str, seconds: float) -> None:
    assert fields.duration_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "1.5h", "-3s", "PT3S", "3 s", "1d", "5s\n"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(InvalidSpec, match="not a duration"):
        fields.duration_seconds(text)


def test_a_short_text_is_not_clipped() -> None:
    assert fields.clip("a" * 256, 256) == "a" * 256


@pytest.mark.parametrize("limit", [256, 40, 5, 0])
def test_a_clipped_text_fits_and_tells_its_length(limit: int) -> None:
    clipped = fields.clip("b" * 1000, limit)
    assert len(clipped) == limit
    if limit >= 40:
        assert clipped.endswith("[1000 characters]")


def test_faults_are_reported_together_without_values() -> None:
    body = {"spec": {"http": {"port": 0}, "image": "s3cret-" * 100, "mode": "Off", "tols": []}}
    with pytest.raises(InvalidSpec) as caught:
        v1alpha1.Agent.parse(body)
    message = caught.value.message
    for path in ("spec.http.port", "spec.image", "spec.mode", "spec.tols"):
        assert path in message
    assert "s3cret" not in message


def test_a_status_of_a_newer_operator_is_read() -> None:
    body = {"spec": {"kubernetes": {}}, "status": {"observedGeneration": 4, "fromTheFuture": {"a": 1}}}
    assert v1alpha1.Environment.parse(body).status.observed_generation == 4


def test_an_object_without_status_has_not_been_seen() -> None:
    assert v1alpha1.Environment.parse({"spec": {"kubernetes": {}}}).status.observed_generation == -1


def test_parts_cannot_be_changed() -> None:
    agent = v1alpha1.Agent.parse({"spec": {"http": {"port": 80}, "image": "a", "mode": "ReadOnly"}})
    with pytest.raises(ValueError, match="frozen"):
        agent.spec.image = "b"  # type: ignore[misc]


def test_absent_values_are_left_out_but_a_null_inside_a_body_stays() -> None:
    steps = [{"request": {"method": "POST", "path": "/x", "body": {"spec": None}}}]
    identity = {"name": "a", "version": "1.0.0"}
    spec = {
        "scripted": {"identity": identity, "scripts": [{"scenarios": ["*"], "steps": steps}]},
        "mode": "ReadOnly",
    }
    dumped = fields.dump(v1alpha1.Agent.parse({"spec": spec}).spec)
    assert dumped["scripted"]["scripts"][0]["steps"] == steps
    assert "http" not in dumped
