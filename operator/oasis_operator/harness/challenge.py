"""Reads `challenge.json`: what is attacked, within which limits, and what an attack is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from oasis_operator.harness import challenge_schema, documents
from oasis_operator.harness.problems import Problem, check_schema, in_order, point, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE: Final = "challenge.json"
_PORTS: Final = {"http": 80, "https": 443}
_LAST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class TimeBonus:
    """Points for being fast: all up to `target_seconds`, then `decay_rate` fewer for each second."""

    max_points: float
    target_seconds: float
    decay_rate: float


@dataclass(frozen=True, slots=True)
class EfficiencyBonus:
    """Points for few steps: all up to `optimal_steps`, then `penalty_per_step` fewer for each step."""

    max_points: float
    optimal_steps: int
    penalty_per_step: float


@dataclass(frozen=True, slots=True)
class Milestone:
    """A step on the way.

    Attributes:
        id: Unique within the challenge.
        name: One line.
        points: What it is worth.
        criteria: When it is reached, in prose.
        order: Its place on the way.
    """

    id: str
    name: str
    points: float
    criteria: str
    order: int


@dataclass(frozen=True, slots=True)
class Quality:
    """Something that a person or a model has to judge; never counted by the harness."""

    name: str
    max_points: float
    criteria: str


@dataclass(frozen=True, slots=True)
class Penalty:
    """Points lost; `threshold` is the number from which on they are, 0 where one time is enough."""

    name: str
    points: float
    threshold: int = 0


@dataclass(frozen=True, slots=True)
class Scoring:
    """What an attack is worth; milestones by order, the other tuples by name."""

    flag_capture: float
    time_bonus: TimeBonus | None = None
    efficiency_bonus: EfficiencyBonus | None = None
    milestones: tuple[Milestone, ...] = ()
    qualities: tuple[Quality, ...] = ()
    penalties: tuple[Penalty, ...] = ()


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge.

    Attributes:
        id: Small letters, digits and hyphens.
        name: One line.
        category: Such as `web`.
        difficulty: Level that the challenge declares.
        skill_level: Level of an attacker that it declares; empty where it does not.
        host: Host of the target, a service of the compose file.
        port: TCP port of the target.
        flag_prefix: What a flag begins with, its opening brace included.
        description: What the agent is told.
        attack_box: Name of the container that attacks; empty where none is declared.
        max_steps: 0 for no limit.
        max_seconds: 0 for no limit.
        vulnerabilities: Names of the flaws, in prose.
        owasp: OWASP categories.
        techniques: ATT&CK techniques that are expected.
        scoring: What an attack is worth.
    """

    id: str
    name: str
    category: str
    difficulty: str
    host: str
    port: int
    flag_prefix: str
    description: str
    scoring: Scoring
    skill_level: str = ""
    attack_box: str = ""
    max_steps: int = 0
    max_seconds: int = 0
    vulnerabilities: tuple[str, ...] = ()
    owasp: tuple[str, ...] = ()
    techniques: tuple[str, ...] = field(default=())


def read_challenge(data: bytes) -> tuple[Challenge | None, tuple[Problem, ...]]:
    """Read a challenge, or say everything that is wrong with it.

    Returns:
        The challenge and no problem, or None and the problems in order of their places.
    """
    document, unreadable = documents.parse(data)
    if unreadable:
        return None, (unreadable,)
    problems = check_schema(challenge_schema.build_schema, document)
    problems = problems or in_order(_check(document))
    return (None, problems) if problems else (_read(document), ())


def _check(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Check what the schema cannot say."""
    port = _target(document)[1]
    if not 1 <= port <= _LAST_PORT:
        yield Problem("/target", "port", f"{port}: want a port from 1 to {_LAST_PORT}")
    for member in ("id", "order"):
        seen: dict[Any, int] = {}
        for index, milestone in enumerate(document["scoring"].get("milestones", ())):
            value = milestone[member]
            if value in seen:
                place = point("scoring", "milestones", index, member)
                first = point("scoring", "milestones", seen[value])
                yield Problem(place, "duplicate", f"{show(value)} is the {member} of {first} as well")
            seen.setdefault(value, index)


def _target(document: Mapping[str, Any]) -> tuple[str, int]:
    parts = urlsplit(document["target"])
    _, _, port = parts.netloc.partition(":")
    return parts.netloc.partition(":")[0].lower(), int(port) if port else _PORTS[parts.scheme]


def _read(document: Mapping[str, Any]) -> Challenge:
    host, port = _target(document)
    limits = document.get("limits", {})
    approach = document.get("expectedApproach", {})
    return Challenge(
        id=document["id"],
        name=document["name"],
        category=document["category"],
        difficulty=document["difficulty"],
        skill_level=document.get("metadata", {}).get("skillLevel", ""),
        host=host,
        port=port,
        flag_prefix=document["flagFormat"].partition("{")[0] + "{",
        description=document["description"],
        attack_box=document.get("containerName", ""),
        max_steps=limits.get("maxIterations", 0),
        max_seconds=limits.get("maxTimeSeconds", 0),
        vulnerabilities=tuple(approach.get("vulnerabilityType", ())),
        owasp=tuple(approach.get("owaspCategory", ())),
        techniques=tuple(sorted(set(approach.get("expectedTechniques", ())))),
        scoring=_read_scoring(document["scoring"]),
    )


def _read_scoring(scoring: Mapping[str, Any]) -> Scoring:
    objective = scoring["objective"]
    fast, lean = objective.get("timeBonus"), objective.get("efficiencyBonus")
    return Scoring(
        flag_capture=objective["flagCapture"],
        time_bonus=TimeBonus(fast["maxPoints"], fast["targetSeconds"], fast["decayRate"]) if fast else None,
        efficiency_bonus=EfficiencyBonus(lean["maxPoints"], lean["optimalSteps"], lean["penaltyPerStep"])
        if lean
        else None,
        milestones=tuple(
            Milestone(each["id"], each["name"], each["points"], each["criteria"], each["order"])
            for each in sorted(scoring.get("milestones", ()), key=lambda milestone: milestone["order"])
        ),
        qualities=tuple(
            Quality(name, each["maxPoints"], each["criteria"])
            for name, each in sorted(scoring.get("qualitative", {}).items())
        ),
        penalties=tuple(
            Penalty(name, each["penalty"], each.get("threshold", 0))
            for name, each in sorted(scoring.get("penalties", {}).items())
        ),
    )
