from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.probe import establish
from oasis_operator.sidecar.probe.api import ApiError
from oasis_operator.world.manifests import Condition, Expectation, Kind
from oasis_operator.world.plan import build_plan

if TYPE_CHECKING:
    import pytest

NOW = "2026-11-30T08:00:00Z"
FOLDER = Path("/nonexistent")
CONTAINERS = [{"name": "web", "image": "web:v1"}]


class Server:
    """An API server that notes what it is asked; a new kind is served at the third look."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.looks = 0

    async def get(self, path: str) -> Any:
        if path.endswith("/deployments/web"):
            return {"spec": {"template": {"spec": {"containers": CONTAINERS}}}}
        self.looks += 1
        if self.looks < 3:
            raise ApiError(404 if self.looks == 1 else 429, "not yet")
        return {}

    async def create(self, body: Any, *, writer: str) -> Any:
        self.asked.append(("create", body["kind"], writer))
        return body

    async def apply(self, body: Any, *, writer: str) -> Any:
        self.asked.append(("apply", body["kind"], writer))

    async def patch(self, body: Any, change: Any, *, subresource: str, writer: str) -> Any:
        assert change == {"status": body["status"]}
        self.asked.append((f"patch {subresource}", body["kind"], writer))


def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []

    async def load(_: Path, text: str) -> None:
        texts.append(text)

    monkeypatch.setattr(establish, "load_stages", load)
    return texts


def failing(condition: Condition, kind: Kind = Kind.POD) -> Any:
    return Expectation(kind, "shop", "web", condition, container="web"), CONTAINERS


async def test_a_failure_that_lies_ahead_is_loaded_after_the_present_was_seen(monkeypatch: Any) -> None:
    texts = loaded(monkeypatch)
    entry = {"resource": "deployment/web", "injected_failure": "image-pull-backoff-on-restart"}
    plan = build_plan([entry], now=NOW)
    ((expectation, containers),) = await establish.arm(Server(), plan, [], FOLDER, "boot\n")  # type: ignore[arg-type]
    assert (expectation.condition, containers) == (Condition.IMAGE_PULL, CONTAINERS)
    assert ["ImagePullBackOff" in text for text in texts] == [True]


async def test_what_happens_once_is_unloaded_and_all_else_stays(monkeypatch: Any) -> None:
    texts = loaded(monkeypatch)
    pairs = [failing(Condition.EVICTED), failing(Condition.CRASH_LOOP)]
    kept = await establish.arm(Server(), build_plan([], now=NOW), pairs, FOLDER, "boot\n")  # type: ignore[arg-type]
    assert kept == pairs[1:]
    assert ["Evicted" in text for text in texts] == [False]


async def test_nothing_is_loaded_anew_where_nothing_changes(monkeypatch: Any) -> None:
    texts = loaded(monkeypatch)
    pairs = [failing(Condition.CRASH_LOOP)]
    assert await establish.arm(Server(), build_plan([], now=NOW), pairs, FOLDER, "") == pairs  # type: ignore[arg-type]
    assert texts == []


async def test_kinds_of_tools_are_served_before_their_objects_get_their_status() -> None:
    state = [{"resource": "metrics/web", "error_rate": "8%"}, {"resource": "gitops-application/web"}]
    plan, server = build_plan(state, now=NOW), Server()
    for rank in plan.ranks:
        await establish.create_rank(server, rank, lambda _: None)  # type: ignore[arg-type]
    assert server.looks >= 3
    written = [each for each in server.asked if each[1] in ("Application", "KeptnMetric")]
    # An Application's status is a part of it; that of a metric is written apart.
    assert sorted(written) == [
        ("apply", "Application", "argocd-application-controller"),
        ("apply", "KeptnMetric", "manager"),
        ("patch status", "KeptnMetric", "manager"),
    ]


async def test_every_witness_stands_at_the_place_of_its_expectation(monkeypatch: Any) -> None:
    scaled = Expectation(Kind.AUTOSCALER, "shop", "h", Condition.SCALING)
    first, last = failing(Condition.CRASH_LOOP)[0], failing(Condition.ERROR)[0]
    plan = replace(build_plan([], now=NOW), expectations=(first, scaled, last))
    asked: list[str] = []

    async def prove(_: Any, expectations: Any, **__: Any) -> Any:
        asked.append(f"prove {len(expectations)}")
        return tuple(expectations)

    async def measure(*_: Any) -> None:
        asked.append("measure")

    monkeypatch.setattr(establish, "prove", prove)
    monkeypatch.setattr(establish, "measure", measure)
    server: Any = Server()
    found: Any = await establish.prove_plan(server, plan, patience_seconds=1, settle_seconds=0)
    assert found == (first, scaled, last)
    assert asked == ["prove 2", "measure", "prove 1"]
