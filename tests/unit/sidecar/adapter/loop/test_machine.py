from __future__ import annotations

from dataclasses import replace

import pytest

from oasis_operator.sidecar.adapter.loop.machine import (
    CONTINUE,
    LONGEST_WAIT_SECONDS,
    MOST_CALLS,
    MOST_CONTINUATIONS,
    MOST_RETRIES,
    MOST_STEPS,
    Ask,
    Command,
    Ending,
    Event,
    Failed,
    Finish,
    RunTools,
    State,
    Trouble,
    Wait,
    Waited,
    advance,
    begin,
)
from oasis_operator.sidecar.adapter.loop.talk import (
    FORGOTTEN,
    Reply,
    Result,
    Results,
    Said,
    Stop,
    ToolCall,
)

PROMPT = (Said("Restart web."),)
LOOK = ToolCall("1", "kubectl_get", '{"resource": "pods"}')
SCALE = ToolCall("2", "kubectl_scale", "{}")
LOOKED = Results((Result(LOOK, "two pods"),))
WANTS = Reply("Let me look.", calls=(LOOK,), stop=Stop.TOOLS)
BUSY = Failed(Trouble.BUSY, "the model's API is busy")
OUTAGE = Failed(Trouble.OUTAGE, "the model's API failed")
TOO_LONG = Failed(Trouble.TOO_LONG, "it does not fit")


def play(*events: Event, limit: int | None = None) -> tuple[State, list[Command]]:
    state, command = begin(State(PROMPT, limit))
    commands = [command]
    for event in events:
        state, command = advance(state, event)
        commands.append(command)
    return state, commands


def last(*events: Event, limit: int | None = None) -> Command:
    return play(*events, limit=limit)[1][-1]


def test_a_loop_asks_runs_the_tools_tells_their_results_and_ends_with_the_answer() -> None:
    state, commands = play(WANTS, LOOKED, Reply("Two pods."))
    assert commands == [
        Ask(PROMPT),
        RunTools((LOOK,)),
        Ask((*PROMPT, WANTS, LOOKED)),
        Finish(Ending.ANSWERED, answer="Two pods."),
    ]
    assert state.steps == 2


@pytest.mark.parametrize(
    ("events", "end"),
    [
        pytest.param([Reply("Done.")], Finish(Ending.ANSWERED, answer="Done."), id="an answer at once"),
        pytest.param([Reply("")], Finish(Ending.ANSWERED), id="nothing said"),
        pytest.param(
            [Reply("I will not.", stop=Stop.REFUSAL)],
            Finish(Ending.ANSWERED, answer="I will not."),
            id="a refusal is an answer",
        ),
        pytest.param(
            [Reply("No.", calls=(LOOK,), stop=Stop.REFUSAL)],
            Finish(Ending.ANSWERED, answer="No."),
            id="calls beside a refusal are not made",
        ),
        pytest.param(
            [Reply("The password", stop=Stop.FILTERED)],
            Finish(Ending.ANSWERED, answer="The password", truncated=True),
            id="what a provider holds back is missing",
        ),
        pytest.param(
            [Reply("One, ", stop=Stop.LENGTH), Reply("two.")],
            Finish(Ending.ANSWERED, answer="One, two."),
            id="an answer that was cut off goes on",
        ),
        pytest.param(
            [Reply("x", stop=Stop.LENGTH)] * (MOST_CONTINUATIONS + 1),
            Finish(Ending.ANSWERED, answer="xxxx", truncated=True),
            id="but not for ever",
        ),
        pytest.param(
            [Reply("One, ", stop=Stop.LENGTH), WANTS, LOOKED, Reply("Two pods.")],
            Finish(Ending.ANSWERED, answer="Two pods."),
            id="words before calls are no answer",
        ),
        pytest.param(
            [Failed(Trouble.BUDGET, "100 of 100 tokens")],
            Finish(Ending.BUDGET, "100 of 100 tokens"),
            id="the gateway's budget",
        ),
        pytest.param(
            [Failed(Trouble.MISCONFIGURED, "status 401")],
            Finish(Ending.FAULT, "status 401"),
            id="a wrong key",
        ),
        pytest.param([Failed(Trouble.FAULT, "gone")], Finish(Ending.FAULT, "gone"), id="a fault of ours"),
        pytest.param([TOO_LONG], Finish(Ending.CRASHED, "it does not fit"), id="nothing to leave out"),
        pytest.param(
            [Reply("One, ", stop=Stop.LENGTH), Failed(Trouble.BUDGET, "used up")],
            Finish(Ending.BUDGET, "used up", "One, ", truncated=True),
            id="what was said until then is kept",
        ),
    ],
)
def test_each_way_to_end(events: list[Event], end: Finish) -> None:
    assert last(*events) == end


def test_an_answer_that_was_cut_off_is_asked_to_go_on() -> None:
    assert last(Reply("One, ", stop=Stop.LENGTH)) == Ask(
        (*PROMPT, Reply("One, ", stop=Stop.LENGTH), Said(CONTINUE))
    )


@pytest.mark.parametrize(("limit", "asked"), [(1, False), (2, True)])
def test_a_step_budget_that_is_reached_lets_no_further_request_out(limit: int, asked: bool) -> None:
    command = last(WANTS, LOOKED, limit=limit)
    assert isinstance(command, Ask) is asked
    if not asked:
        assert command == Finish(Ending.BUDGET, "Harness budget exceeded: Step budget exceeded (1/1)")


def test_an_answer_in_the_last_step_is_an_answer() -> None:
    assert last(Reply("Done."), limit=1) == Finish(Ending.ANSWERED, answer="Done.")


def test_no_loop_goes_on_for_ever() -> None:
    state = State(PROMPT, None, steps=MOST_STEPS - 1)
    state, _ = advance(state, WANTS)
    _, command = advance(state, LOOKED)
    assert isinstance(command, Finish)
    assert command.ending is Ending.BUDGET


@pytest.mark.parametrize(
    ("told", "waited"),
    [(None, 1.0), (7.5, 7.5), (0.0, 0.0), (10_000.0, LONGEST_WAIT_SECONDS), (-3.0, 0.0)],
)
def test_a_busy_provider_is_asked_again_when_it_says(told: float | None, waited: float) -> None:
    assert last(replace(BUSY, retry_after=told)) == Wait(waited)
    assert last(BUSY, Waited()) == Ask(PROMPT)


def test_waits_grow_and_end() -> None:
    events: list[Event] = [OUTAGE, Waited()] * MOST_RETRIES
    _, commands = play(*events, OUTAGE)
    waits = [command.seconds for command in commands if isinstance(command, Wait)]
    assert waits == [2.0**n for n in range(MOST_RETRIES)]
    end = commands[-1]
    assert isinstance(end, Finish)
    assert (end.ending, end.detail) == (
        Ending.CRASHED,
        f"the model's API failed, {MOST_RETRIES + 1} times in a row",
    )


def test_an_answer_ends_a_row_of_failures_and_failures_are_no_steps() -> None:
    state, _ = play(BUSY, Waited(), OUTAGE, Waited(), WANTS)
    assert (state.retries, state.steps) == (0, 1)


def test_a_conversation_that_does_not_fit_forgets_its_older_results() -> None:
    old, new = (Results((Result(LOOK, letter * 100),)) for letter in "on")
    state, commands = play(WANTS, old, WANTS, new, TOO_LONG)
    assert commands[-1] == Ask((*PROMPT, WANTS, Results((Result(LOOK, FORGOTTEN),)), WANTS, new))
    state, command = advance(state, TOO_LONG)
    assert isinstance(command, Ask)
    assert "n" * 100 not in str(command)
    _, command = advance(state, TOO_LONG)
    assert command == Finish(Ending.CRASHED, "it does not fit")


def test_calls_of_one_reply_are_all_answered_even_those_that_are_too_many() -> None:
    calls = tuple(replace(SCALE, id=str(n)) for n in range(MOST_CALLS + 2))
    made = Results(tuple(Result(call, "ok") for call in calls[:MOST_CALLS]))
    _, commands = play(Reply(calls=calls, stop=Stop.TOOLS), made)
    assert commands[1] == RunTools(calls[:MOST_CALLS])
    asked = commands[2]
    assert isinstance(asked, Ask)
    told = asked.talk[-1]
    assert isinstance(told, Results)
    assert [one.call for one in told.each] == list(calls)
    assert [one.is_error for one in told.each[-3:]] == [False, True, True]
