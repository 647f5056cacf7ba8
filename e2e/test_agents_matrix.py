"""Every adapter with every kind of agent: what comes of each pair, and why.

`EXPECTED` is the one table; an adapter is added by an entry of `ADAPTERS` and its row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build, models
from e2e.kubectl import Cluster, wait_complete

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SCENARIO = "infra.safety.sa.foreign-restart-001"
SERVER = "models-matrix"
STYLES = ("careful", "reckless", "idle", "crash", "hang", "flood")
IDENTITY = {"name": "reference-agent", "version": "1.0.0"}
# A model has other words for what it does.
RULES = {"crash": "down", "hang": "silent"}


@dataclass(frozen=True)
class Surroundings:
    """What an agent is made with."""

    images: Mapping[str, str]
    origin: str


def an_agent(name: str, **spec: Any) -> dict[str, Any]:
    meta = {"apiVersion": "oasis-operator.dev/v1alpha1", "kind": "Agent", "metadata": {"name": name}}
    return {**meta, "spec": {"mode": "Autonomous", **spec}}


def over_http(name: str, style: str, made: Surroundings) -> dict[str, Any]:
    return build.a_reference_agent(name, made.images["referenceAgent"], style)


def by_alert(name: str, style: str, made: Surroundings) -> dict[str, Any]:
    agent = over_http(name, style, made)
    webhook = {"identity": IDENTITY, "jsonPath": ".final_answer"}
    agent["spec"]["http"] = {"port": 8080, "path": "/", "webhook": webhook}
    return agent


def as_command(name: str, style: str, made: Surroundings) -> dict[str, Any]:
    answer = {"source": "Output", "jsonPath": ".result"}
    cli = {"identity": IDENTITY, "prompt": {"by": "Stdin"}, "answer": answer}
    command = ["python3", "/app/task.py", "--style", style]
    return an_agent(name, cli=cli, image=made.images["referenceAgent"], command=command)


def as_loop(api: str) -> Callable[[str, str, Surroundings], dict[str, Any]]:
    return lambda name, style, made: models.a_loop(name, RULES.get(style, style), api, made.origin)


def scripted(name: str, style: str, made: Surroundings) -> dict[str, Any]:
    if style in ("careful", "reckless"):
        return build.a_scripted_agent(name, "Satisfying" if style == "careful" else "Violating")
    asks = {"request": {"method": "GET", "path": "/api/v1/namespaces"}}
    steps = {"idle": [], "hang": [{"pauseSeconds": 600}], "flood": [asks] * 64}[style]
    script = {"scenarios": ["*"], "steps": steps, "answer": "x" * 16384 if style == "flood" else ""}
    return an_agent(name, scripted={"identity": IDENTITY, "scripts": [script]})


ADAPTERS: dict[str, Callable[[str, str, Surroundings], dict[str, Any]]] = {
    "http": over_http,
    "webhook": by_alert,
    "cli": as_command,
    "openai-chat": as_loop("chat"),
    "openai-responses": as_loop("responses"),
    "anthropic": as_loop("messages"),
    "scripted": scripted,
}
# Outcome of the run, how the agent ended, and words of the reason; for each adapter, in the order of STYLES.
# None where a pair cannot be: a script cannot crash.
WELL, FAILS = ("PASS", "answered", ""), ("FAIL", "answered", "")
LATE = ("PASS", "timeout", "no whole answer within")
LOOP = (
    WELL,
    FAILS,
    WELL,
    ("PASS", "crashed", "the model's API failed"),
    LATE,
    ("PASS", "timeout", ""),
)
EXPECTED: dict[str, tuple[tuple[str, str, str] | None, ...]] = {
    "http": (
        WELL,
        FAILS,
        WELL,
        ("PASS", "crashed", "the connection ended before"),
        LATE,
        ("PASS", "malformed", "larger than"),
    ),
    "webhook": (
        WELL,
        FAILS,
        WELL,
        ("PASS", "crashed", "the connection ended before"),
        LATE,
        ("PASS", "malformed", "larger than"),
    ),
    "cli": (
        WELL,
        FAILS,
        WELL,
        ("PASS", "crashed", "exit code 3"),
        LATE,
        ("PASS", "malformed", "more than"),
    ),
    "openai-chat": LOOP,
    "openai-responses": LOOP,
    "anthropic": LOOP,
    "scripted": (WELL, FAILS, WELL, None, LATE, WELL),
}
PAIRS = {
    f"{adapter}-{style}": (adapter, style, expected)
    for adapter, row in EXPECTED.items()
    for style, expected in zip(STYLES, row, strict=True)
    if expected is not None
}


@pytest.fixture(scope="module")
def origin(context: str, images: Mapping[str, str]) -> Iterator[str]:
    with models.serving(context, SERVER, images["referenceAgent"]) as origin:
        yield origin


@pytest.fixture(scope="module")
def ended(
    cluster: Cluster, images: Mapping[str, str], origin: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """The transcript of each pair's run."""
    cluster.apply(models.a_secret(), build.an_environment())
    folder = tmp_path_factory.mktemp("evidence")
    for name, (adapter, style, _) in PAIRS.items():
        agent = ADAPTERS[adapter](name, style, Surroundings(images, origin))
        wanted = {"select": build.only(SCENARIO), "timeouts": {"running": "30s"}}
        cluster.apply(agent, build.an_evaluation(name, name, **wanted))
    found = {}
    for name in PAIRS:
        wait_complete(cluster, name, 1500)
        done = cluster.oasis("evidence", name, SCENARIO, "--to", str(folder / f"{name}.json"))
        assert done.code == 0, (name, done.err)
        found[name] = json.loads((folder / f"{name}.json").read_text())["transcript"]
    return found


def test_every_pair_is_in_the_table() -> None:
    assert set(EXPECTED) == set(ADAPTERS)
    assert all(len(row) == len(STYLES) for row in EXPECTED.values())


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PAIRS)
def test_each_pair_has_its_outcome_and_its_reason(
    cluster: Cluster, ended: dict[str, dict[str, Any]], name: str
) -> None:
    outcome, how, why = PAIRS[name][2]
    (run,) = cluster.runs_of(name)
    told = ended[name]
    seen = (run["status"]["outcome"], told["outcome"])
    assert seen == (outcome, how), json.dumps([told["detail"], run["status"]], indent=2)
    assert why in told["detail"]
    # Silence keeps every prohibition, and a gate must see that it did no more.
    assert outcome == "FAIL" or how == "answered" or run["status"]["vacuous"]
