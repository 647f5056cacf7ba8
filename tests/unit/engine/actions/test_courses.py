"""What is known of an object between the writes on it: the last answer that shows it, or that nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.effects import a_log, a_world
from kit.builders.evidence import OTHER_IP, deployment, event, thing
from oasis_operator.engine.actions.changes import value_at
from oasis_operator.engine.actions.courses import Courses
from oasis_operator.engine.actions.requests import Request

WEB = ("deployments", "shop", "web")
SCALE = "shop:deployments/web/scale"
OTHERS = {"user": "system:controller", "ip": OTHER_IP}
PARTIAL = {
    "kind": "PartialObjectMetadata",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "b"}},
}


def patched(**more: Any) -> dict[str, Any]:
    return event("patch", "shop:deployments/web", **{"body": {}, **OTHERS, **more})


def scaled(count: Any, **more: Any) -> dict[str, Any]:
    answer = {"kind": "Scale", "spec": {} if count is None else {"replicas": count}}
    return event("update", SCALE, **{"body": answer, "answer": answer, **OTHERS, **more})


def after(*events: dict[str, Any], before: list[Any] | None = None) -> tuple[Any, bool]:
    """Return the Deployment as it is known after some events, and whether that tells all."""
    log = a_log(*events)
    world = a_world(log, before)
    return world.known(WEB, len(log) + 1), world.is_clear(WEB, len(log) + 1)


def replicas(found: Any) -> Any:
    return value_at(found, ("spec", "replicas"))


def test_an_answer_shows_the_object() -> None:
    found, clear = after(patched(answer=deployment(image="web:v2")))
    assert (value_at(found, ("spec", "template", "spec", "containers", "image")), clear) == (["web:v2"], True)


@pytest.mark.parametrize("code", [300, 304, 404, 409, 499])
def test_a_write_that_was_refused_changed_nothing(code: int) -> None:
    found, clear = after(patched(code=code, answer=deployment(replicas=9)))
    assert (replicas(found), clear) == (3, True)


@pytest.mark.parametrize("code", [0, 500, 504])
def test_a_write_of_which_nobody_can_tell_leaves_the_object_open(code: int) -> None:
    found, clear = after(patched(code=code, answer=deployment(replicas=9)))
    assert (replicas(found), clear) == (3, False)


def test_a_write_that_was_carried_out_and_shows_nothing_leaves_the_object_open() -> None:
    assert after(patched())[1] is False
    assert after(patched(answer={"kind": "Status", "metadata": {"x": 1}, "status": "Success"}))[1] is False
    assert (
        after(patched(answer={"kind": "Status", "metadata": {"x": 1}}), patched(answer=deployment()))[1]
        is True
    )


def test_a_write_that_was_only_tried_out_changed_nothing() -> None:
    assert after(patched(query="dryRun=All", answer=deployment(replicas=9))) == (deployment(), True)


def test_a_scaling_is_shown_by_its_answer_and_keeps_all_else() -> None:
    found, clear = after(scaled(7))
    assert (replicas(found), clear) == (7, True)
    assert {**found, "spec": {**found["spec"], "replicas": 3}} == deployment()


def test_a_scaling_follows_what_was_written_before_it() -> None:
    found, _ = after(patched(answer=deployment(image="web:v2")), scaled(7))
    assert value_at(found, ("spec", "template", "spec", "containers", "image")) == ["web:v2"]
    again, _ = after(patched(answer=deployment(image="web:v2")), scaled(7), scaled(8))
    assert replicas(again) == 8
    third, _ = after(scaled(7), patched(answer=deployment(replicas=7, image="web:v2")), scaled(8))
    assert value_at(third, ("spec", "template", "spec", "containers", "image")) == ["web:v2"]


def test_an_answer_without_a_count_is_one_to_none() -> None:
    assert replicas(after(scaled(None))[0]) == 0


def test_a_scaling_whose_answer_shows_no_count_is_told_by_its_body() -> None:
    table = {"kind": "Table", "rows": [{"object": {**PARTIAL, "metadata": {"name": "web"}}}]}
    body = {"kind": "Scale", "spec": {"replicas": 7}}
    assert replicas(after(scaled(7, answer=table, body=body))[0]) == 7


def test_a_scaling_of_which_nobody_can_tell_leaves_the_object_open() -> None:
    table = {"kind": "Table", "rows": []}
    for more in ({"code": 0}, {"code": 500}, {"answer": table, "body": None}):
        found, clear = after(scaled(7, **more))
        assert (replicas(found), clear) == (3, False), more


def test_a_scaling_of_what_is_not_known_shows_no_object() -> None:
    assert after(scaled(7), before=[]) == (None, True)


def test_a_spec_that_is_none_gets_the_count() -> None:
    odd = {**deployment(), "spec": "x"}
    assert after(scaled(7), before=[odd])[0]["spec"] == {"replicas": 7}


def test_metadata_alone_are_put_into_what_is_known() -> None:
    found, clear = after(patched(answer=PARTIAL))
    assert (found["metadata"], found["spec"], clear) == (PARTIAL["metadata"], deployment()["spec"], True)
    newer, _ = after(patched(answer=deployment(replicas=9)), patched(answer=PARTIAL))
    assert (newer["metadata"], replicas(newer)) == (PARTIAL["metadata"], 9)


def test_a_write_without_a_resource_is_followed_nowhere() -> None:
    bare = patched(answer=deployment(replicas=9), objectRef={"namespace": "shop", "name": "web"})
    assert after(bare) == (deployment(), True)


@pytest.mark.parametrize("reference", [None, "x", ["x"]])
def test_an_event_that_does_not_say_what_it_was_on_is_left_out(reference: Any) -> None:
    broken = {**patched(answer=deployment(replicas=9)), "objectRef": reference}
    assert after(broken) == (deployment(), True)


def test_an_event_whose_status_is_none_is_left_out_and_one_without_is_not() -> None:
    broken = {**patched(answer=deployment(replicas=9)), "responseStatus": "x"}
    assert after(broken) == (deployment(), True)
    bare = {name: value for name, value in patched().items() if name != "responseStatus"}
    assert after(bare)[1] is False


def test_a_kind_is_read_once_however_often_it_is_asked_for() -> None:
    read: list[int] = []

    def reader(event_: dict[str, Any]) -> Request:
        read.append(event_["seq"])
        return Request(event_)

    log = a_log(patched(answer=deployment()), event("update", "shop:pods/a", answer=thing("Pod", "a")))
    courses = Courses(log, {}, reader)
    assert courses.places("deployments") is courses.places("deployments")
    assert courses.of("deployments") is courses.of("deployments")
    assert list(courses.places("deployments")) == [1]
    assert read == [1]


UNSEEN = patched(code=500)
SEEN = patched(answer=deployment(replicas=9))


@pytest.mark.parametrize(
    ("events", "clear"),
    [
        ((SEEN, UNSEEN), False),
        ((UNSEEN, SEEN), True),
        ((SEEN, UNSEEN, SEEN), True),
        ((SEEN, UNSEEN, SEEN, UNSEEN), False),
        ((UNSEEN, UNSEEN, SEEN), True),
    ],
)
def test_what_is_known_tells_all_unless_a_later_write_went_unseen(
    events: tuple[dict[str, Any], ...], *, clear: bool
) -> None:
    assert after(*events)[1] is clear
