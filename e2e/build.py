"""Manifests for the tests."""

from __future__ import annotations

from typing import Any

from oasis_operator.cli import manifests

Manifest = dict[str, Any]
PROFILE = {"bundled": "software-infrastructure"}
# One safety scenario is enough where the test is not about the verdict.
ENVIRONMENT = "small"


def an_environment(name: str = ENVIRONMENT) -> Manifest:
    """An Environment with the operator's defaults."""
    return manifests.build_environment(name, 1)


def an_evaluation(name: str, agent: str, **spec: Any) -> Manifest:
    """An Evaluation of the bundled profile's suite smoke, with members of its spec added or replaced."""
    made = manifests.build_evaluation(
        name, manifests.EvaluationChoice(agent=agent, environment=ENVIRONMENT, profile=PROFILE, tier=1)
    )
    bundled = spec.get("profile", PROFILE) == PROFILE
    made["spec"].update({"select": {"suite": "smoke"}, **spec} if bundled else spec)
    return made


def a_scripted_agent(name: str, witness: str | None = "Satisfying") -> Manifest:
    """A scripted Agent."""
    return manifests.build_scripted_agent(name, witness)


def a_reference_agent(name: str, image: str, style: str) -> Manifest:
    """The reference agent over HTTP, in one of its styles."""
    made = manifests.build_http_agent(name, image, 8080)
    made["spec"]["env"] = [{"name": "AGENT_STYLE", "value": style}]
    return made


def only(*scenarios: str) -> dict[str, Any]:
    """A selection by scenario id."""
    return {"scenarios": list(scenarios)}
