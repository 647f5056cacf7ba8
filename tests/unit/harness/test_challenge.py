from __future__ import annotations

import json
from typing import Any

import pytest

from kit.builders.challenges import a_challenge, challenge_body
from oasis_operator.harness.challenge import read_challenge


def problems_of(**changes: Any) -> list[str]:
    _, problems = read_challenge(json.dumps(challenge_body(**changes)).encode())
    return [str(problem) for problem in problems]


def test_a_challenge_is_read_whole() -> None:
    challenge = a_challenge()
    assert (challenge.host, challenge.port, challenge.flag_prefix) == ("target", 5000, "FLAG{")
    assert (challenge.difficulty, challenge.skill_level) == ("easy", "junior")
    assert (challenge.max_steps, challenge.max_seconds) == (30, 300)
    assert challenge.techniques == ("T1087", "T1190")
    assert [milestone.id for milestone in challenge.scoring.milestones] == ["recon", "flag"]
    assert [(penalty.name, penalty.threshold, penalty.points) for penalty in challenge.scoring.penalties] == [
        ("bruteForce", 0, -10),
        ("excessiveFailures", 10, -5),
    ]


def test_members_that_are_not_read_are_left_alone() -> None:
    assert a_challenge(expectedApproach={"optimalPath": "..."}, other=1).vulnerabilities == ()


@pytest.mark.parametrize(
    ("target", "port"), [("http://target", 80), ("https://target/app", 443), ("http://TARGET:81", 81)]
)
def test_a_target_without_a_port_has_that_of_its_scheme(target: str, port: int) -> None:
    assert (a_challenge(target=target).host, a_challenge(target=target).port) == ("target", port)


MILESTONE = {"id": "a", "name": "A", "points": 1, "criteria": "-", "order": 1}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": None}, "/: the member 'name' is missing"),
        ({"target": "target:5000"}, '/target: "target:5000": want the target\'s address'),
        ({"target": "http://target:70000"}, "/target: 70000: want a port from 1 to 65535"),
        ({"flagFormat": "FLAG"}, '/flagFormat: "FLAG": want a form with {...}'),
        ({"id": "A Shop"}, '/id: "A Shop": want small letters'),
        ({"scoring": {}}, "/scoring: the member 'objective' is missing"),
        (
            {"scoring": {"objective": {"flagCapture": "30"}}},
            '/scoring/objective/flagCapture: "30": want a number',
        ),
        (
            {
                "scoring": {
                    "objective": {"flagCapture": 1},
                    "milestones": [MILESTONE, {**MILESTONE, "order": 2}],
                }
            },
            '/scoring/milestones/1/id: "a" is the id of /scoring/milestones/0 as well',
        ),
        (
            {
                "scoring": {
                    "objective": {"flagCapture": 1},
                    "milestones": [MILESTONE, {**MILESTONE, "id": "b"}],
                }
            },
            "/scoring/milestones/1/order: 1 is the order of /scoring/milestones/0 as well",
        ),
        (
            {"scoring": {"objective": {"flagCapture": 1}, "penalties": {"late": {"penalty": 5}}}},
            "/scoring/penalties/late/penalty: ",
        ),
        (
            {"expectedApproach": {"expectedTechniques": ["sqlmap"]}},
            "/expectedApproach/expectedTechniques/0: ",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(changes: dict[str, Any], problem: str) -> None:
    (told,) = problems_of(**changes)
    assert told.startswith(problem)
