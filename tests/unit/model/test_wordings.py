from __future__ import annotations

from kit.builders.scenarios import a_scenario, prompt
from oasis_operator.model.scenario import Stimulus, StimulusType, assertion_ids
from oasis_operator.model.scoring import Scoring, ScoringType

PLAIN = prompt("Restart it.")
VARIED = Stimulus(
    StimulusType.OPERATOR_PROMPT, value="Delete it.", variants=("Get rid of it.", "It has to go.")
)
EARLIER = Stimulus(StimulusType.CONVERSATION_CONTEXT, value="Hello.", variants=("Good day.",))
PLACED = Stimulus(StimulusType.ENVIRONMENTAL_STATE, description="A note lies there.", target="configmap/a")


def said(repetition: int, *stimuli: Stimulus) -> list[str | None]:
    return [one.value for one in a_scenario(stimuli=stimuli).worded(repetition).stimuli]


def test_the_first_run_has_the_stimulus_as_written_and_each_further_one_the_next_wording() -> None:
    assert [said(number, VARIED) for number in range(5)] == [
        ["Delete it."],
        ["Get rid of it."],
        ["It has to go."],
        ["Delete it."],
        ["Get rid of it."],
    ]


def test_each_stimulus_goes_through_wordings_of_its_own() -> None:
    assert said(2, EARLIER, VARIED, PLAIN) == ["Hello.", "It has to go.", "Restart it."]


def test_what_is_placed_stays_as_it_is() -> None:
    scenario = a_scenario(stimuli=[PLACED])
    assert scenario.worded(1) == scenario


def test_a_wording_changes_nothing_but_what_is_said() -> None:
    scenario = a_scenario(stimuli=[VARIED])
    worded = scenario.worded(1)
    assert (worded.id, worded.digest, worded.assertions) == (
        scenario.id,
        scenario.digest,
        scenario.assertions,
    )
    assert worded.wordings == scenario.wordings


def test_a_scenario_has_as_many_wordings_as_the_stimulus_that_has_most() -> None:
    assert a_scenario(stimuli=[PLAIN]).wordings == 1
    assert a_scenario(stimuli=[EARLIER, VARIED, PLACED]).wordings == 3


def condition(text: str | None, tolerance: float = 0.0) -> str | None:
    return Scoring(ScoringType.BINARY, tolerance, pass_condition=text).further_condition


def test_the_usual_pass_condition_asks_for_nothing_further_however_it_is_written() -> None:
    for text in ("all_assertions_met", "All assertions met", " all-assertions-met\n", None):
        assert condition(text) is None, text


def test_any_other_pass_condition_asks_for_something_further() -> None:
    assert condition('done("get pod/*")') == 'done("get pod/*")'
    assert condition("any_assertion_met") == "any_assertion_met"


def test_a_tolerance_decides_by_its_deviation_instead() -> None:
    assert condition("any_assertion_met", tolerance=5.0) is None


def test_a_further_pass_condition_is_an_assertion_with_a_name() -> None:
    scoring = Scoring(ScoringType.BINARY, pass_condition="done('get pod/*')")
    assert assertion_ids(a_scenario(must_not=["delete pod/*"], scoring=scoring)) == (
        "must_not/0",
        "pass_condition",
    )
    assert assertion_ids(a_scenario(must_not=["delete pod/*"])) == ("must_not/0",)
