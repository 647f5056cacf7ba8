from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.challenges import COMPOSE, a_challenge, a_compose
from kit.surroundings import SPECIFICATION
from oasis_operator.harness import challenge_plan
from oasis_operator.harness.challenge import read_challenge
from oasis_operator.harness.compose import read_compose

if TYPE_CHECKING:
    from oasis_operator.harness.challenge import Challenge
    from oasis_operator.harness.challenge_plan import Plan

PUBLISHED = SPECIFICATION.parent / "challenges"


def planned(text: str = COMPOSE, challenge: Challenge | None = None, **images: str) -> Plan:
    return challenge_plan.plan_challenge(challenge or a_challenge(), a_compose(text), images)


def problems_of(text: str = COMPOSE, **images: Any) -> list[str]:
    plan = planned(text, **images)
    assert not plan.runs
    assert plan.pods == ()
    return [str(problem) for problem in plan.problems]


def test_pods_start_after_what_they_wait_for_and_reach_whom_they_share_a_network_with() -> None:
    plan = planned()
    assert plan.runs
    names = [pod.name for pod in plan.pods]
    assert names.index("db") < names.index("web")
    pods = {pod.name: pod for pod in plan.pods}
    assert {name: pod.reaches for name, pod in pods.items()} == {
        "web": ("db", "kali"),
        "db": ("web",),
        "kali": ("web",),
    }
    assert {name: pod.role for name, pod in pods.items()} == {
        "web": "target",
        "db": "support",
        "kali": "attack-box",
    }
    assert (pods["web"].ports, pods["web"].names) == ((5000,), ("target", "web"))
    assert plan.notes == ()


def test_the_flag_of_the_run_is_filled_in_where_it_is_asked_for() -> None:
    (web,) = [pod for pod in planned().pods if pod.role == "target"]
    assert web.carries_flag == ("FLAG",)
    filled = {name: challenge_plan.fill_in(text, "FLAG{1}") for name, text in web.service.environment.items()}
    assert filled == {"FLAG": "FLAG{1}", "MODE": "plain"}
    assert challenge_plan.fill_in("$$5 $OASIS_FLAG ${X-y}", "f") == "$5 f y"


def test_a_challenge_whose_image_brings_its_own_flag_is_told_to_prove_nothing() -> None:
    assert "is no proof" in planned(COMPOSE.replace("${OASIS_FLAG}", "FLAG{fixed}")).notes[0]


def test_an_image_is_never_built() -> None:
    text = COMPOSE.replace("image: shop:1", "build: {context: ./web}")
    assert problems_of(text) == [
        (
            "/services/web/build: is built from './web', and images are never built here: give one with "
            "--image web=REFERENCE"
        )
    ]
    web = next(pod for pod in planned(text, web="shop:2").pods if pod.name == "web")
    assert (web.image, web.image_source) == ("shop:2", "map")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("hostname: target", "hostname: shop", "/target: 'target' is no service of the compose file"),
        ("[NET_RAW]", "[SYS_ADMIN, NET_RAW]", "/services/kali/cap_add: SYS_ADMIN: want some of "),
        ("${MODE:-plain}", "${MODE}", "/services/web/environment/MODE: ${MODE} has no value here"),
        ("image: db:1", "image: 'db 1'", '/services/db/image: "db 1": want an image reference'),
        ("image: db:1", "image: db:1\n    depends_on: [web]", "/services: "),
    ],
)
def test_what_cannot_run_is_told_with_its_reason(old: str, new: str, problem: str) -> None:
    (told,) = problems_of(COMPOSE.replace(old, new))
    assert told.startswith(problem)


def test_an_image_for_nobody_is_a_mistake() -> None:
    assert problems_of(wbe="shop:2") == ["/: an image for 'wbe', which is no service of the compose file"]


def test_two_services_of_one_pod_name_are_refused() -> None:
    text = "services: {target: {image: a}, a.b: {image: a}, a_b: {image: a}}"
    assert len(problems_of(text)) == 2


def test_a_challenge_without_an_attack_box_is_attacked_from_a_pod_of_the_agent() -> None:
    plan = planned(challenge=replace(a_challenge(), attack_box=""))
    assert plan.notes == ("no service is the attack box: the agent attacks from a pod of its own",)


@pytest.mark.upstream
def test_every_published_challenge_is_read_and_runs_with_an_image_or_says_that_it_needs_one() -> None:
    if not PUBLISHED.is_dir():
        pytest.skip(f"the published challenges are not at {PUBLISHED}")
    folders = sorted(path.parent for path in PUBLISHED.glob("*/challenge.json") if path.parent.name[0] != "_")
    assert len(folders) == 20
    for folder in folders:
        challenge, problems = read_challenge((folder / "challenge.json").read_bytes())
        compose, more = read_compose((folder / "docker-compose.yml").read_bytes())
        assert (problems, more) == ((), ()), folder.name
        assert challenge is not None
        assert compose is not None
        assert challenge.id == folder.name
        refused = challenge_plan.plan_challenge(challenge, compose, {})
        assert ["--image target=" in problem.message for problem in refused.problems] == [True], folder.name
        plan = challenge_plan.plan_challenge(challenge, compose, {"target": "example:1"})
        assert {pod.role: pod.name for pod in plan.pods} == {"target": "target", "attack-box": "kali"}
