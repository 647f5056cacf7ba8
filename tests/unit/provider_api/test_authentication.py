from __future__ import annotations

import asyncio
from typing import Any

import pytest

from oasis_operator import errors
from oasis_operator.ports.tokens import Caller
from oasis_operator.provider_api.authentication import ClusterToken, FixedToken
from oasis_operator.provider_api.refusals import Refused


class Tokens:
    """A cluster that knows some tokens."""

    def __init__(self, **known: Caller) -> None:
        self.known: dict[str, Caller] = known
        self.asked: list[tuple[str, str]] = []
        self.broken = False

    async def review(self, token: str, audience: str) -> Caller | None:
        self.asked.append((token, audience))
        await asyncio.sleep(0)
        if self.broken:
            raise errors.Transient("no answer", reason="Network")
        return self.known.get(token)


class Time:
    """Seconds that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


ALICE = Caller("system:serviceaccount:ci:alice", ("system:serviceaccounts:ci",))


async def status(authentication: Any, header: str) -> int:
    try:
        await authentication.admit(header)
    except Refused as refused:
        return refused.status
    return 200


@pytest.mark.parametrize(
    ("users", "header", "wanted"),
    [
        ((), "Bearer good", 200),
        ((), "Bearer bad", 401),
        ((), "", 401),
        ((), "Bearer " + "x" * 20_000, 401),
        (("system:serviceaccount:ci:alice",), "Bearer good", 200),
        (("system:serviceaccounts:ci",), "Bearer good", 200),
        (("bob",), "Bearer good", 403),
    ],
)
async def test_the_cluster_says_who_asks_and_the_settings_who_may(
    users: tuple[str, ...], header: str, wanted: int
) -> None:
    tokens = Tokens(good=ALICE)
    assert await status(ClusterToken(tokens, "oasis-provider", users, Time()), header) == wanted
    assert all(audience == "oasis-provider" for _, audience in tokens.asked)


async def test_what_the_cluster_said_is_believed_for_a_minute_and_its_no_for_seconds() -> None:
    tokens, time = Tokens(good=ALICE), Time()
    authentication = ClusterToken(tokens, "a", (), time)
    assert [await status(authentication, f"Bearer {word}") for word in ("good", "good", "bad", "bad")] == [
        200, 200, 401, 401,
    ]  # fmt: skip
    assert len(tokens.asked) == 2
    time.now += 6
    await status(authentication, "Bearer good")
    await status(authentication, "Bearer bad")
    assert len(tokens.asked) == 3
    tokens.known.clear()
    time.now += 61
    assert await status(authentication, "Bearer good") == 401


async def test_a_cluster_that_does_not_answer_admits_nobody() -> None:
    tokens = Tokens(good=ALICE)
    tokens.broken = True
    assert await status(ClusterToken(tokens, "a", (), Time()), "Bearer good") == 503


async def test_what_is_kept_of_tokens_is_bounded() -> None:
    tokens = Tokens()
    authentication = ClusterToken(tokens, "a", (), Time())
    await asyncio.gather(*(status(authentication, f"Bearer t{number}") for number in range(2000)))
    assert len(authentication._said) <= 1024


async def test_a_fixed_token_may_be_changed_and_an_empty_one_admits_nobody() -> None:
    said = ["one"]
    authentication = FixedToken(lambda: said[0])
    assert await status(authentication, "Bearer one") == 200
    said[0] = "two"
    assert await status(authentication, "Bearer one") == 401
    said[0] = " "
    assert await status(authentication, "Bearer  ") == 401
    assert await status(authentication, "Bearer x") == 503
