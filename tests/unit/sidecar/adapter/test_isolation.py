from __future__ import annotations

from pathlib import Path

import pytest

from oasis_operator.sidecar import reach
from oasis_operator.sidecar.adapter import isolation
from oasis_operator.sidecar.adapter.options import Options
from oasis_operator.wire.release import Check, Expect, ReleaseRequest, Target

OPTIONS = Options(access_dir=Path("/nowhere"), connect_seconds=1.5, confirm_seconds=0.5, settle_seconds=0.0)
API = Target("api", "10.0.0.1", 443)
NODE = Target("node", "10.0.0.2", 10250)
WORLD = Target("world", "10.0.0.3", 6443)


class Network:
    """Answers each target's attempts from a list; the last answer stays."""

    def __init__(self, **answers: list[bool]) -> None:
        self.answers = {
            f"10.0.0.{ {'api': 1, 'node': 2, 'world': 3}[name] }": seen for name, seen in answers.items()
        }
        self.tried: list[tuple[str, float]] = []

    async def attempt(self, host: str, port: int, seconds: float) -> reach.Attempt:
        assert port
        self.tried.append((host, seconds))
        seen = self.answers[host]
        reached = seen.pop(0) if len(seen) > 1 else seen[0]
        return reach.Attempt(reached=reached, detail="open" if reached else "shut")


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_PAUSE_SECONDS", 0.0)


async def prove(
    monkeypatch: pytest.MonkeyPatch, network: Network, options: Options = OPTIONS
) -> tuple[Check, ...]:
    monkeypatch.setattr(reach, "attempt", network.attempt)
    return await isolation.prove(ReleaseRequest((API, NODE), (WORLD,)), options)


async def test_allows_come_first_then_denies_then_denies_again(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(api=[False], node=[False], world=[True])
    checks = await prove(monkeypatch, network)
    assert network.tried == [
        ("10.0.0.3", 1.5),
        ("10.0.0.1", 1.5),
        ("10.0.0.2", 1.5),
        ("10.0.0.1", 0.5),
        ("10.0.0.2", 0.5),
    ]
    assert checks == (
        Check("api", Expect.DENY, reached=False, detail="shut, then shut"),
        Check("node", Expect.DENY, reached=False, detail="shut, then shut"),
        Check("world", Expect.ALLOW, reached=True, detail="open"),
    )
    assert isolation.explain(checks) == ""


async def test_a_deny_that_opens_between_the_checks_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = await prove(monkeypatch, Network(api=[False, True], node=[False], world=[True]))
    assert isolation.explain(checks) == "api (must not be reached): shut, then open"


async def test_denies_mean_nothing_before_an_allow_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(api=[False], node=[False], world=[False])
    checks = await prove(monkeypatch, network)
    assert [host for host, _ in network.tried] == ["10.0.0.3"]
    assert isolation.explain(checks) == "world (must be reached): shut"


async def test_what_shows_the_wrong_thing_is_tried_until_it_settles(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(api=[True, True, False], node=[False], world=[False, False, True])
    patient = Options(access_dir=Path("/nowhere"), settle_seconds=30.0)
    assert isolation.explain(await prove(monkeypatch, network, patient)) == ""


async def test_a_deny_that_never_settles_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = await prove(monkeypatch, Network(api=[False], node=[True], world=[True]))
    assert isolation.explain(checks) == "node (must not be reached): open"
