from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kit.fakes import json_patch
from kit.fakes.cluster import SETTINGS
from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
from oasis_operator.resources import environment_pod, labels, manifests, names, run, warm_pod

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
ENVIRONMENT = {"metadata": {"name": "small", "namespace": "shop", "uid": "e-1"}}
SCENARIO_RUN = {"metadata": {"name": "check-1", "namespace": "shop", "uid": "u-1"}}
OBJECTS = run.run_objects(SCENARIO_RUN, 1, 600)
TOKEN = names.pool_id("e-1", "now", 0)


def a_spec(**more: Any) -> EnvironmentSpec:
    pool = {"size": 2, **({"maxAge": more.pop("max_age")} if "max_age" in more else {})}
    return EnvironmentSpec.model_validate({"kubernetes": {"warmPool": pool, **more}})


def a_pod(spec: EnvironmentSpec | None = None) -> dict[str, Any]:
    """Return a pod as it stands in the cluster."""
    chosen = spec or a_spec()
    template = warm_pod.template_of(chosen, SETTINGS)
    assert template is not None
    pod = warm_pod.build_warm_pod(TOKEN, ENVIRONMENT, chosen, SETTINGS, template)
    pod["metadata"] |= {"uid": "p-1", "resourceVersion": "7", "creationTimestamp": "2026-01-05T11:50:00Z"}
    return pod


def member(pod: dict[str, Any]) -> warm_pod.Member:
    found = warm_pod.member_of(pod)
    assert found is not None
    return found


def claimed(pod: dict[str, Any], seen: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the pod after a claim by who has seen it as `seen`."""
    return json_patch.apply(pod, warm_pod.claim(member(seen or pod), "e-1", OBJECTS, NOW))


def test_a_pooled_pod_is_an_environment_pod_that_tells_when_it_is_up() -> None:
    pod = a_pod()
    own = environment_pod.build_environment_pod(OBJECTS, a_spec(), SETTINGS)
    mine, other = pod["spec"]["containers"], own["spec"]["containers"]
    probe = next(item for item in mine if item["name"] == environment_pod.PROBE)
    check = probe.pop("startupProbe")
    assert check["httpGet"] == {"path": "/healthz", "port": 8443, "scheme": "HTTPS"}
    assert mine == other
    assert pod["spec"]["securityContext"] == own["spec"]["securityContext"]
    assert pod["spec"]["restartPolicy"] == "Never"


def test_the_pod_belongs_to_its_environment_and_the_keys_to_the_pod() -> None:
    pod = a_pod()
    secret = warm_pod.build_warm_secret(pod, {"ca.crt": "eA=="})
    assert manifests.is_owned_by(pod, "e-1")
    assert manifests.is_owned_by(secret, "p-1")
    assert secret["immutable"] is True
    assert secret["metadata"]["name"] == names.secret(TOKEN)
    holding_up = [item["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] for item in (pod, secret)]
    assert holding_up == [False, False], "the operator has no right to finalizers of these owners"


def test_a_claim_makes_the_pod_its_runs() -> None:
    pod = claimed(a_pod())
    meta = pod["metadata"]
    assert meta["ownerReferences"] == [dict(OBJECTS.owner)]
    wanted = {**OBJECTS.metadata("", labels.ROLE_ENVIRONMENT)["labels"], labels.RUN_UID: "u-1"}
    assert {**wanted, labels.TEMPLATE: meta["labels"][labels.TEMPLATE]} == meta["labels"]
    assert pod["spec"]["activeDeadlineSeconds"] == 600 + 600


def in_another_pool(pod: dict[str, Any]) -> None:
    pod["metadata"]["labels"][labels.POOL] = "e-2"


def in_no_pool(pod: dict[str, Any]) -> None:
    del pod["metadata"]["labels"][labels.POOL]


def another_pod(pod: dict[str, Any]) -> None:
    pod["metadata"]["uid"] = "p-2"


def of_another_template(pod: dict[str, Any]) -> None:
    pod["metadata"]["labels"][labels.TEMPLATE] = "another"


def going_away(pod: dict[str, Any]) -> None:
    pod["metadata"]["deletionTimestamp"] = "2026-01-05T12:00:00Z"


@pytest.mark.parametrize(
    "change", [in_another_pool, in_no_pool, another_pod, of_another_template, going_away]
)
def test_what_changed_since_it_was_seen_is_not_claimed(change: Callable[[dict[str, Any]], None]) -> None:
    pod = a_pod()
    change(pod)
    with pytest.raises(json_patch.Misfit):
        claimed(pod, a_pod())


@pytest.mark.parametrize("seconds", [60, 3600, 24 * 3600])
def test_the_deadline_of_a_pooled_pod_leaves_a_day_to_whoever_claims_it_last(seconds: int) -> None:
    template = warm_pod.template_of(a_spec(max_age=f"{seconds}s"), SETTINGS)
    assert template is not None
    assert template.deadline_seconds == seconds + warm_pod.LONGEST_RUN_SECONDS


def test_members_expire_within_the_last_fifth_of_their_time() -> None:
    pods = []
    for number in range(50):
        pod = a_pod()
        pod["metadata"]["name"] = names.environment_pod(names.pool_id("e-1", "now", number))
        pods.append(member(pod))
    ages = [(item.expires(1000) - item.created) / timedelta(seconds=1) for item in pods]
    assert min(ages) >= 800
    assert max(ages) <= 1000
    assert max(ages) - min(ages) > 100


def test_the_hash_tells_templates_apart_and_names_do_not_count() -> None:
    hashes = {
        warm_pod.template_of(spec, SETTINGS).hash  # type: ignore[union-attr]
        for spec in (a_spec(), a_spec(nodes=5), a_spec(runtimeClassName="gvisor"), a_spec(max_age="2h"))
    }
    assert len(hashes) == 4
    one, two = (
        warm_pod.template_of(a_spec(), SETTINGS),
        warm_pod.template_of(a_spec(settleSeconds=9), SETTINGS),
    )
    assert one == two


def test_no_pool_is_no_template() -> None:
    specs: tuple[dict[str, Any], ...] = ({"kubernetes": {}}, {"kubernetes": {"warmPool": {"size": 0}}})
    for spec in specs:
        assert warm_pod.template_of(EnvironmentSpec.model_validate(spec), SETTINGS) is None
