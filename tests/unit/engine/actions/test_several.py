"""What requests do through others or together: sets of pods, restarts by deletion or by counts, replacements."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.effects import a_log, a_world, effects, told
from kit.builders.evidence import deployment, event, pod, replica_set, thing
from oasis_operator.engine.actions.several import pods_of_emptied

SET = {**replica_set("web-1", "web"), "spec": {"replicas": 2}}
PODS = [pod("web-1-a", owner="web-1"), pod("web-1-b", owner="web-1")]
WORLD = [deployment(), SET, *PODS]
LONE = pod("lone")


def scale(count: int | None, target: str = "shop:replicasets/web-1", **more: Any) -> dict[str, Any]:
    body = None if count is None else {"spec": {"replicas": count}}
    return event("patch" if count is None else "update", f"{target}/scale", body=body, **more)


def web(act: str, *events: dict[str, Any], before: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """Return the effects of an act on the Deployment, without its name."""
    found = told(*events, act=act, before=WORLD if before is None else before)
    return [one[1:] for one in found if one[0] == "deployments/web"]


def test_scaling_a_set_scales_and_restarts_its_owner() -> None:
    assert web("scale", scale(5)) == [("implied", (5,))]
    assert web("restart", scale(5)) == [("implied", ())]
    assert told(scale(5), act="delete", before=WORLD) == []


def test_deleting_a_set_takes_its_owner_to_no_replicas() -> None:
    gone = event("delete", "shop:replicasets/web-1")
    assert web("scale", gone) == [("implied", (0,))]
    assert told(gone, act="delete", before=WORLD) == [("replicasets/web-1", "certain", ())]


def test_emptying_a_set_deletes_its_pods() -> None:
    assert told(scale(0), act="delete", before=WORLD) == [
        ("pods/web-1-a", "implied", ()),
        ("pods/web-1-b", "implied", ()),
    ]


def test_a_scaling_of_a_set_to_an_unknown_count_is_open() -> None:
    assert web("scale", scale(None)) == [("implied open", ())]
    assert web("restart", scale(None)) == [("implied open", ())]


def test_an_emptied_set_has_nothing_left_to_scale() -> None:
    empty = {**SET, "spec": {"replicas": 0}}
    assert web("scale", scale(5), before=[deployment(), empty]) == []


def test_what_is_done_to_sets_that_may_have_been_selected_is_open() -> None:
    refused = event("deletecollection", "shop:replicasets", query="labelSelector=app%3Dweb", code=403)
    unknown = {**SET, "metadata": {**SET["metadata"], "labels": {"app": "web"}}}
    shown = event("patch", "shop:replicasets/web-1", body={"metadata": {"labels": {"app": "web"}}}, code=0)
    assert [one[0] for one in web("scale", shown, refused)] == ["implied open"]
    assert [one[0] for one in web("restart", shown, refused)] == ["implied open"]
    assert web("scale", refused, before=[deployment(), unknown]) == [("implied", (0,))]


def test_a_set_that_may_have_been_scaled_may_have_lost_its_pods() -> None:
    perhaps = event("patch", "shop:replicasets/web-1", body=None, code=200)
    assert [one[0] for one in web("scale", perhaps)] == ["implied open"]


def test_deleting_every_pod_restarts_the_owner_in_full_and_one_of_them_in_part() -> None:
    first, second = (event("delete", f"shop:pods/web-1-{name}") for name in "ab")
    assert web("restart", first) == [("implied", ())]
    assert web("restart", first, second) == [("certain", ())]


def test_a_refused_deletion_leaves_a_pod() -> None:
    first = event("delete", "shop:pods/web-1-a")
    refused = event("delete", "shop:pods/web-1-b", code=403)
    assert web("restart", first, refused) == [("implied", ())]
    assert web("restart", refused) == [("implied", ())]


def test_a_deletion_that_may_have_hit_a_pod_leaves_it_open() -> None:
    shown = event("patch", "shop:pods/web-1-a", body={"metadata": {"labels": {"app": "web"}}}, code=0)
    refused = event("deletecollection", "shop:pods", query="labelSelector=app%3Dweb", code=403)
    assert web("restart", shown, refused) == [("implied open", ())]


def down_and_up(*counts: int, code: int = 200, target: str = "shop:deployments/web") -> list[dict[str, Any]]:
    return [scale(count, target, code=code) for count in counts]


def test_down_to_none_and_up_again_is_a_restart() -> None:
    assert web("restart", *down_and_up(0, 3), before=[deployment()]) == [("certain", ())]


@pytest.mark.parametrize("counts", [(0,), (3, 0), (1, 3), (0, 0), (3, 5)], ids=str)
def test_anything_else_is_none(counts: tuple[int, ...]) -> None:
    assert web("restart", *down_and_up(*counts), before=[deployment()]) == []


def test_each_time_down_and_up_is_one_restart() -> None:
    assert len(web("restart", *down_and_up(0, 3, 5), before=[deployment()])) == 1
    assert len(web("restart", *down_and_up(0, 3, 0, 3), before=[deployment()])) == 2


def test_a_refused_way_down_or_up_is_none() -> None:
    (down,), (up,) = down_and_up(0), down_and_up(3)
    assert web("restart", *down_and_up(0, code=403), up, before=[deployment()]) == []
    assert web("restart", down, *down_and_up(3, code=403), before=[deployment()]) == []


def test_one_that_went_down_and_another_that_came_up_are_none() -> None:
    other = down_and_up(3, target="shop:deployments/other")
    assert web("restart", *down_and_up(0), *other, before=[deployment(), deployment("other")]) == []


def test_what_only_follows_from_another_request_brings_nothing_down() -> None:
    hpa = {
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"minReplicas": 0, "scaleTargetRef": {"kind": "Deployment", "name": "web"}},
    }
    bound = event("create", "shop:horizontalpodautoscalers", body=hpa)
    assert web("restart", bound, *down_and_up(3), before=[deployment()]) == []


GONE = event("delete", "shop:deployments/web")


def anew(image: str = "web:v1", count: int = 3, **more: Any) -> dict[str, Any]:
    body = deployment(image=image, replicas=count)
    return event("create", "shop:deployments/web", **{"body": body, "code": 201, **more})


def changed(*events: dict[str, Any], before: list[Any] | None = None) -> list[Any]:
    """Return what the changes of what was replaced are said to be."""
    found = effects(*events, before=before)
    return [one.changes for one in found if one.act == "mutate" and one.implied]


def test_deleting_and_creating_anew_changes_what_differs() -> None:
    (paths,) = changed(GONE, anew("web:v2"))
    assert ("spec", "template", "spec", "containers", "image") in paths
    assert ("spec", "replicas") not in paths


def test_creating_what_was_not_deleted_changes_nothing() -> None:
    assert changed(anew()) == []
    assert changed(event("delete", "shop:deployments/other"), anew()) == []
    assert changed(anew(), GONE) == []


def test_a_workload_made_anew_is_restarted() -> None:
    assert web("restart", GONE, anew(), before=[deployment()]) == [("implied", ())]
    assert web("rollback", GONE, anew(), before=[deployment()]) == []


def test_a_workload_made_anew_with_another_count_is_scaled() -> None:
    assert web("scale", GONE, anew(count=7), before=[deployment()]) == [("implied", (7,))]
    assert web("scale", GONE, anew(), before=[deployment()]) == []
    assert web("scale", GONE, anew("web:v2"), before=[deployment()]) == []


def test_what_nobody_recorded_may_have_changed_anything() -> None:
    unseen = anew(body=None, answer=deployment(replicas=7))
    assert changed(GONE, unseen) == [None]
    assert web("scale", GONE, unseen, before=[deployment()]) == [("implied", (7,))]


def test_other_objects_made_anew_are_neither_restarted_nor_scaled() -> None:
    note = thing("ConfigMap", "a", data={"replicas": "3"})
    again = event("create", "shop:configmaps/a", body=thing("ConfigMap", "a", data={"replicas": "5"}))
    events = event("delete", "shop:configmaps/a"), again
    assert changed(*events, before=[note]) == [(("data", "replicas"),)]
    for act in ("restart", "scale"):
        assert told(*events, act=act, before=[note]) == []


def test_an_emptied_workload_loses_its_pods_and_a_set_is_told_of_elsewhere() -> None:
    def lost(*events: dict[str, Any]) -> list[tuple[str, bool, bool]]:
        world = a_world(a_log(*events), WORLD)
        found = pods_of_emptied(effects(*events, before=WORLD), world)
        return [(one.name, one.implied, one.uncertain) for one in found]

    assert lost(scale(0, "shop:deployments/web")) == [("web-1-a", True, False), ("web-1-b", True, False)]
    assert lost(scale(2, "shop:deployments/web")) == []
    assert lost(scale(0, "shop:deployments/other")) == []
