"""When the list is written: on every change, and for its sign of life."""

from __future__ import annotations

from dataclasses import replace

from kit.fakes.clock import FakeClock
from kit.fakes.cluster import SETTINGS
from kit.fakes.kube import FakeKube
from oasis_operator.gates.publishing import RENEW_SECONDS, Publisher
from oasis_operator.resources import kinds
from unit.gates.test_listing import evaluation, policy

LIST = "gate-list"


def a_publisher(name: str = LIST) -> tuple[Publisher, FakeKube, FakeClock]:
    kube, clock = FakeKube(), FakeClock()
    kube.seed(kinds.EVALUATION, evaluation())
    return Publisher(kube, clock, replace(SETTINGS, admission_list=name)), kube, clock


def writes(kube: FakeKube) -> int:
    return len([call for call in kube.writes if call.kind == kinds.ADMISSION_LIST.name])


async def test_the_list_is_made_and_then_written_only_where_it_changes() -> None:
    publisher, kube, clock = a_publisher()
    await publisher.once()
    assert [one["evaluation"] for one in kube.one(kinds.ADMISSION_LIST, "", LIST)["spec"]["subjects"]] == [
        "check"
    ]
    made = writes(kube)
    clock.advance(1)
    await publisher.once()
    assert writes(kube) == made
    kube.seed(kinds.EVALUATION_POLICY, {**policy(), "metadata": {"name": "floors", "namespace": ""}})
    await publisher.once()
    assert writes(kube) == made + 1
    assert publisher.subjects == 1


async def test_its_sign_of_life_is_renewed_without_any_change() -> None:
    publisher, kube, clock = a_publisher()
    await publisher.once()
    before = kube.one(kinds.ADMISSION_LIST, "", LIST)["spec"]["renewedAt"]
    clock.advance(RENEW_SECONDS)
    await publisher.once()
    assert kube.one(kinds.ADMISSION_LIST, "", LIST)["spec"]["renewedAt"] > before
    assert publisher.renewed_timestamp_seconds == clock.now().timestamp()


async def test_nothing_is_written_without_a_gate() -> None:
    publisher, kube, _ = a_publisher("")
    await publisher.once()
    assert writes(kube) == 0
    assert publisher.renewed_timestamp_seconds == 0.0
