"""The gateway's books against the stand-in server's own, whatever happens on the way."""

from __future__ import annotations

import asyncio
import json
import random
from typing import TYPE_CHECKING

import pytest

from contract.gateway.test_gateway import a_gateway
from kit.models import Turn, some_models
from oasis_operator.sidecar.gateway.usage import estimate
from oasis_operator.wire.gateway import Api

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 24


def a_script(chance: random.Random) -> list[Turn]:
    """Answers of all lengths, among them rate limits and failures that are asked for again."""
    turns = []
    for _ in range(CALLS):
        usage = (chance.randint(1, 5000), chance.randint(0, 900))
        refused = Turn("later", status=chance.choice([408, 429, 500, 503, 529]), headers={"Retry-After": "0"})
        turns += [refused] * chance.choice([0, 0, 1, 2])
        turns.append(Turn("x" * chance.randint(0, 400), usage=usage))
    return turns


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("api", Api)
async def test_books_are_the_servers_own_under_retries_and_streams(
    tmp_path: Path, api: Api, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a script, not a secret
    script = a_script(chance)
    async with some_models(*script) as models, a_gateway(tmp_path, models, api) as caller:
        answered = 0
        while answered < CALLS:
            status, _, _ = await caller.call(stream=chance.random() < 0.5)
            answered += status == 200
            so_far = await caller.usage()
            assert so_far["input"] + so_far["output"] == models.tokens
        told = await caller.usage()
        assert told["estimated"] is False
        assert told["input"] == sum(read for read, _ in models.books)
    assert len(models.asked) == len(script), "each call went out once, and each retry is a call of its own"


async def test_books_outlive_the_gateway_in_the_middle_of_a_script(tmp_path: Path) -> None:
    script = [Turn("x", usage=(number, 2)) for number in range(1, 9)]
    async with some_models(*script) as models:
        calls = 0
        for _ in range(4):
            async with a_gateway(tmp_path, models) as caller:
                for _ in range(2):
                    calls += 1
                    assert (await caller.call(calls))[0] == 200
                told = await caller.usage()
                assert told["input"] + told["output"] == models.tokens
    assert len(models.asked) == 8


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_callers_that_hang_up_are_charged_for_what_went_out_and_it_says_so(
    tmp_path: Path, stream: bool
) -> None:
    async with some_models(Turn("x", pause=0.3)) as models, a_gateway(tmp_path, models) as caller:
        for _ in range(3):
            calling = asyncio.create_task(caller.call(stream=stream))
            await asyncio.wait_for(models.arrived.wait(), 5)
            models.arrived.clear()
            calling.cancel()
            await asyncio.wait({calling})
        await asyncio.sleep(0.1)
        told = await caller.usage()
    assert len(models.asked) == 3
    assert told["estimated"] is True
    assert told["input"] >= 3 * estimate(len(json.dumps(caller.body())))


@pytest.mark.parametrize("at_once", [1, 5, 40])
@pytest.mark.parametrize("limit", [1, 100, 101, 1000])
async def test_a_hard_stop_lets_no_call_out_behind_its_limit_however_many_come_at_once(
    tmp_path: Path, limit: int, at_once: int
) -> None:
    usage = (30, 20)
    async with (
        some_models(Turn("x", usage=usage, pause=0.02)) as models,
        a_gateway(tmp_path, models, run_tokens=limit) as caller,
    ):
        for _ in range(3):
            await asyncio.gather(*(caller.call() for _ in range(at_once)))
        out, books, told = len(models.asked), models.tokens, await caller.usage()
        refused, _, headers = await caller.call()
    assert told["input"] + told["output"] == books
    # The last call began below the limit: what was used by then, those under way by their size, was less than it.
    begun = estimate(len(json.dumps(caller.body())))
    assert (out - 1) * min(begun, sum(usage)) < limit
    if books >= limit:
        assert (refused, headers["X-Gateway-Reason"]) == (403, "BudgetExceeded")
        assert len(models.asked) == out
