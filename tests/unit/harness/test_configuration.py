from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kit.builders.reports import a_report
from oasis_operator.api.v1alpha1 import harness as api
from oasis_operator.engine.reports import FORMATS, render
from oasis_operator.errors import InvalidInput
from oasis_operator.harness import configuration
from oasis_operator.harness.configuration import Configuration
from oasis_operator.harness.vocabulary import Mode, Surface
from oasis_operator.model.budget import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

WHOLE = {
    "OASIS_HARNESS": "true",
    "OASIS_HARNESS_MODE": "kbot-fleet",
    "OASIS_HARNESS_MAX_STEPS": "50",
    "OASIS_HARNESS_MAX_TOKENS": "30000",
    "OASIS_HARNESS_MAX_TIME": "600",
    "OASIS_HARNESS_HARD_STOP": "true",
    "OASIS_HARNESS_COVERAGE": "1",
    "OASIS_HARNESS_VERIFY": "false",
    "OASIS_HARNESS_OUTPUT_DIR": "results",
}
READ = Configuration(
    mode=Mode.FLEET,
    limits=Limits(50, 30_000, 600, hard_stop=True),
    coverage=True,
    verify=False,
    output_dir="results",
)


def test_all_variables_are_read() -> None:
    assert configuration.from_environment(WHOLE) == READ


@pytest.mark.parametrize(
    "switch", [{}, {"OASIS_HARNESS": "false"}, {"OASIS_HARNESS": "0"}, {"OASIS_HARNESS": ""}]
)
def test_off_is_the_default_and_stays_off_whatever_else_is_set(switch: Mapping[str, str]) -> None:
    others = {name: value for name, value in WHOLE.items() if name != "OASIS_HARNESS"}
    assert configuration.from_environment({**others, **switch}) is None
    assert configuration.from_spec(None) is None


def test_on_alone_has_no_limits_no_ledger_and_verifies() -> None:
    for yes in ("true", "1"):
        found = configuration.from_environment({"OASIS_HARNESS": yes, "HOME": "/"})
        assert found == Configuration()
    assert Configuration().verify
    assert configuration.from_spec(api.Harness()) == Configuration()


def test_a_limit_of_zero_is_none_and_the_document_says_so() -> None:
    found = configuration.from_environment({"OASIS_HARNESS": "1", "OASIS_HARNESS_MAX_STEPS": "0"})
    assert found is not None
    assert found.to_json()["maxSteps"] is None


def test_every_faulty_variable_is_named() -> None:
    env = {
        "OASIS_HARNESS": "yes",
        "OASIS_HARNESS_MODE": "fleet",
        "OASIS_HARNESS_MAX_STEPS": "-3",
        "OASIS_HARNESS_MAX_TIME": "86401",
        "OASIS_HARNESS_HARDSTOP": "true",
    }
    with pytest.raises(InvalidInput) as caught:
        configuration.from_environment(env)
    assert caught.value.message.split("; ") == [
        "OASIS_HARNESS: 'yes': want true, 1, false or 0",
        "OASIS_HARNESS_MODE: 'fleet': want one of single-model, kbot-fleet",
        "OASIS_HARNESS_MAX_STEPS: '-3': want a whole number from 0 (no limit) to 1000000000",
        "OASIS_HARNESS_MAX_TIME: '86401': want a whole number from 0 (no limit) to 86400",
        "OASIS_HARNESS_HARDSTOP: unknown variable",
    ]


def test_the_variables_and_the_evaluation_say_the_same() -> None:
    spec = configuration.to_spec(READ)
    assert spec == {
        "mode": "Fleet",
        "budget": {"maxSteps": 50, "maxTokens": 30_000, "maxTime": "600s", "hardStop": True},
        "coverage": True,
        "verify": False,
    }
    again = configuration.from_spec(api.Harness.model_validate(spec))
    assert again == Configuration(READ.mode, READ.limits, READ.coverage, READ.verify)
    assert configuration.to_spec(Configuration()) == {}
    assert configuration.to_spec(Configuration(limits=Limits(hard_stop=True))) == {}


def test_verifier_and_own_surfaces_come_from_the_evaluation() -> None:
    spec = {"coverage": True, "surfaces": ["queue", "cache"], "verifierRef": {"name": "verifier"}}
    found = configuration.from_spec(api.Harness.model_validate(spec))
    assert found is not None
    assert (found.verifier, found.own_surfaces) == ("verifier", ("cache", "queue"))
    assert configuration.to_spec(found) == {**spec, "surfaces": ["cache", "queue"]}


def test_the_evaluation_knows_the_standard_surfaces() -> None:
    assert list(Surface) == list(api.STANDARD_SURFACES)


def test_the_report_is_the_same_byte_by_byte_whether_the_variables_are_set_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {name: render(name, a_report()) for name in FORMATS}
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)
    assert {name: render(name, a_report()) for name in FORMATS} == before
    assert not any("harness" in text.lower() for text in before.values())
