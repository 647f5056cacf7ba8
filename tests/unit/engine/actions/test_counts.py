"""The count that a request sets, in whatever form it says it."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import event
from oasis_operator.engine.actions.counts import number_in, scaled_to, written_replicas
from oasis_operator.engine.actions.requests import Request

SCALE, WEB = "shop:deployments/web/scale", "shop:deployments/web"


def of(count: Any) -> dict[str, Any]:
    return {"spec": {"replicas": count}}


def scaled(verb: str, *, body: Any = None, answer: Any = None, code: int = 200) -> tuple[int, ...]:
    return scaled_to(Request(event(verb, SCALE, body=body, answer=answer, code=code)))


def written(*, body: Any = None, answer: Any = None, code: int = 200) -> tuple[int, ...]:
    return written_replicas(Request(event("patch", WEB, body=body, answer=answer, code=code)))


def test_the_answer_says_what_a_scaling_came_to() -> None:
    assert scaled("patch", body=of(5), answer=of(4)) == (4,)
    assert scaled("update", body=of(5), answer={"spec": {}}) == (0,)


def test_the_answer_to_a_scaling_that_was_not_carried_out_says_nothing() -> None:
    assert scaled("update", body=of(5), answer=of(3), code=409) == (5,)
    assert scaled("update", body=of(5), answer={"kind": "Status"}, code=403) == (5,)


def test_an_update_without_a_count_is_one_to_none_and_a_patch_without_says_nothing() -> None:
    assert scaled("update", body={"spec": {}}) == (0,)
    assert scaled("patch", body={"spec": {}}) == ()
    assert scaled("patch", body={"metadata": {}}) == ()


def test_a_scaling_by_steps_sets_what_the_last_of_them_sets() -> None:
    steps = [
        {"op": "replace", "path": "/spec/replicas", "value": 7},
        {"op": "add", "path": "/spec/replicas", "value": 2},
    ]
    assert scaled("patch", body=steps) == (2,)


def test_the_answer_says_what_a_write_came_to() -> None:
    assert written(body=of(5), answer=of(4)) == (4,)
    assert written(body=of(5), answer={"spec": {}}) == (5,)


def test_the_answer_to_a_write_that_was_not_carried_out_says_nothing() -> None:
    assert written(body=of(5), answer=of(3), code=409) == (5,)
    assert written(body={}, answer=of(3), code=500) == ()


@pytest.mark.parametrize(
    ("step", "count"),
    [
        ({"op": "add", "path": "/spec/replicas", "value": 4}, (4,)),
        ({"op": "replace", "path": "/spec/replicas", "value": 4}, (4,)),
        ({"op": "add", "path": "/spec", "value": {"replicas": 4}}, (4,)),
        ({"op": "replace", "path": "/spec", "value": {"replicas": 4}}, (4,)),
        ({"op": "add", "path": "/spec", "value": {"paused": True}}, ()),
        ({"op": "test", "path": "/spec/replicas", "value": 4}, ()),
        ({"op": "remove", "path": "/spec/replicas"}, ()),
        ({"op": "add", "path": "/status/replicas", "value": 4}, ()),
        ({"op": "add", "path": "/metadata", "value": {"replicas": 4}}, ()),
        ({"op": "replace", "path": "/spec/minReadySeconds", "value": 4}, ()),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_step_sets_the_count_only_where_it_stands(step: dict[str, Any], count: tuple[int, ...]) -> None:
    assert written(body=[step]) == count


def test_what_is_no_step_sets_nothing() -> None:
    assert written(body=["op", 1, None, {"op": "add", "path": "/spec/replicas", "value": 4}]) == (4,)
    assert written(
        body=[{"op": "add", "path": "/spec/replicas", "value": 4}, {"op": "add", "path": "/x"}]
    ) == (4,)


def test_a_count_is_a_whole_number() -> None:
    assert (number_in({"replicas": 0}), number_in({"replicas": True}), number_in({"replicas": "3"})) == (
        (0,),
        (),
        (),
    )
