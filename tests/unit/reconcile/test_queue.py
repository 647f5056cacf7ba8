from __future__ import annotations

import asyncio

import pytest

from oasis_operator.reconcile.queue import Backoff, Key, KeyQueue

A, B = Key("evaluations", "shop", "a"), Key("evaluations", "shop", "b")


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def queue(time: Time) -> KeyQueue:
    return KeyQueue(time, Backoff(first=1.0, longest=8.0), jitter=lambda: 0.0)


async def nothing(queue: KeyQueue) -> bool:
    """Tell whether no key is due."""
    try:
        await asyncio.wait_for(queue.get(), 0.02)
    except TimeoutError:
        return True
    return False


async def test_a_key_that_is_added_twice_is_handed_out_once(queue: KeyQueue) -> None:
    queue.add(A)
    queue.add(A)
    assert await queue.get() == A
    queue.done(A)
    assert await nothing(queue)


async def test_keys_come_in_the_order_in_which_they_are_due(queue: KeyQueue, time: Time) -> None:
    queue.add(A, 5)
    queue.add(B, 2)
    time.now = 10
    assert [await queue.get(), await queue.get()] == [B, A]


async def test_a_key_is_never_handed_out_while_it_is_looked_at(queue: KeyQueue) -> None:
    queue.add(A)
    await queue.get()
    queue.add(A)
    assert await nothing(queue)
    queue.done(A)
    assert await queue.get() == A


async def test_an_addition_moves_a_waiting_key_forward_and_never_back(queue: KeyQueue, time: Time) -> None:
    queue.add(A, 5)
    queue.add(A, 9)
    queue.add(A, 1)
    time.now = 1
    assert await queue.get() == A
    queue.done(A)
    time.now = 20
    assert await nothing(queue)


async def test_failures_wait_longer_each_time_up_to_a_bound_and_success_forgets_them(queue: KeyQueue) -> None:
    waits = []
    for _ in range(5):
        queue.add(A)
        queue._due[A] = 0.0
        queue._heap[0].due = 0.0
        await queue.get()
        waits.append(queue.failed(A))
    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0]
    queue._due[A] = 0.0
    queue._heap[0].due = 0.0
    await queue.get()
    queue.done(A)
    assert queue.failures(A) == 0


async def test_an_event_does_not_defeat_the_backoff(queue: KeyQueue, time: Time) -> None:
    queue.add(A)
    await queue.get()
    queue.add(A)
    queue.failed(A)
    assert await nothing(queue)
    time.now = 1
    assert await queue.get() == A


async def test_a_waiting_worker_wakes_when_something_is_added() -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add(A, 0.01)
    assert await asyncio.wait_for(waiting, 1) == A


async def test_depth_and_age_are_told(queue: KeyQueue, time: Time) -> None:
    queue.add(A)
    queue.add(B, 50)
    assert queue.depth == 1
    await queue.get()
    time.now = 3
    assert (queue.depth, queue.longest_running_seconds) == (0, 3.0)
