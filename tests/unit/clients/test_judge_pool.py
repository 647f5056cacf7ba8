from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from oasis_operator import errors
from oasis_operator.clients.judge_pool import JudgePool

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def pool() -> Iterator[JudgePool]:
    pool = JudgePool(seconds=30)
    yield pool
    pool.close()


def die() -> None:
    os._exit(1)


def hang() -> None:
    time.sleep(60)


def fail() -> None:
    raise ValueError("a defect of the engine")


@pytest.mark.timeout(60)
async def test_a_worker_that_dies_hangs_or_fails_is_a_fault_and_the_next_call_works(pool: JudgePool) -> None:
    with pytest.raises(errors.ProviderFault, match="worker died"):
        await pool._call("judge", die)
    with pytest.raises(errors.ProviderFault, match="a defect of the engine"):
        await pool._call("judge", fail)
    pool._seconds = 0.2
    with pytest.raises(errors.ProviderFault, match="within"):
        await pool._call("judge", hang)
    pool._seconds = 30
    reading = await pool.read_profile({})
    assert reading.profile is None
    assert reading.errors
