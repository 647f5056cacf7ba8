"""Claims of warm environments on a cluster, from the wish for one to an authenticated answer of its API.

Needs an operator that is installed, and a kubeconfig (KUBECONFIG, else that of `make cluster-up`) of a
cluster whose pods can be reached from here. The same code claims as in the operator: what is in the pool is
listed, a member's keys are read, its probe is asked whether it is blank, and one conditional patch takes
it. Then its probe is asked for a request as the administrator of the claimed API server. Each claimed
environment is deleted, and the operator fills the pool again, so that the machine is at work while others
are claimed; `--calm` waits for a full pool before each claim.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.clients.kube import KubeClient, connect
from oasis_operator.clients.probe_http import HttpProbe
from oasis_operator.clients.sidecar_http import Channel
from oasis_operator.reconcile.scenariorun import worlds
from oasis_operator.resources import access, kinds, labels, manifests, names, warm_pod
from oasis_operator.resources.run import RunObjects

if TYPE_CHECKING:
    from oasis_operator.resources.warm_pod import Member

NAMESPACE, ENVIRONMENT = "oasis-benchmark", "warm"
LOCAL = Path.home() / ".cache/oasis-operator/cluster/kubeconfig"
RUN_SECONDS = 600
PATIENCE_SECONDS = 300.0
RESTRICTED = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--runs", type=int, default=40, help="claims")
    parser.add_argument("--size", type=int, default=4, help="size of the pool")
    parser.add_argument("--calm", action="store_true", help="wait for a full pool before each claim")
    arguments = parser.parse_args()
    kubeconfig = os.environ.get("KUBECONFIG") or (str(LOCAL) if LOCAL.exists() else "")
    if not kubeconfig:
        print("not measured: no cluster; set KUBECONFIG or run make cluster-up, and make deploy")
        return
    asyncio.run(measure(kubeconfig, arguments.runs, arguments.size, calm=arguments.calm))


async def measure(kubeconfig: str, runs: int, size: int, *, calm: bool) -> None:
    """Fill a pool, claim from it, and remove everything."""
    api = await connect(kubeconfig)
    deps: Any = SimpleNamespace(kube=api, probe=HttpProbe(Channel()), meter=SimpleNamespace(fault=print))
    try:
        environment = await begin(api, size)
        found: list[dict[str, float]] = []
        for number in range(runs):
            await wait_ready(api, environment, size if calm or not number else 1)
            found.append(await claim(deps, environment, number))
        report(found, size, calm=calm)
    except errors.OasisError as error:
        print(f"not measured: {error.reason}: {error.message}")
    finally:
        await api._request("DELETE", f"/api/v1/namespaces/{NAMESPACE}", body={})  # noqa: SLF001 - no kind of ours
        await api.close()


async def begin(api: KubeClient, size: int) -> dict[str, Any]:
    """Make a namespace in which others than the operator may claim, and an Environment with a pool."""
    marks = {"name": NAMESPACE, "labels": {"oasis-operator.dev/sandbox-guard": "off", **RESTRICTED}}
    await api._request("POST", "/api/v1/namespaces", body={"metadata": marks})  # noqa: SLF001
    manifest = {
        "apiVersion": kinds.ENVIRONMENT.api_version,
        "kind": kinds.ENVIRONMENT.name,
        "metadata": {"name": ENVIRONMENT, "namespace": NAMESPACE},
        "spec": {"kubernetes": {"warmPool": {"size": size}}},
    }
    return await api.apply(kinds.ENVIRONMENT, manifest)


async def ready(api: KubeClient, environment: dict[str, Any]) -> list[Member]:
    pods = await api.list(kinds.POD, NAMESPACE, {labels.POOL: environment["metadata"]["uid"]})
    members = [member for member in map(warm_pod.member_of, pods) if member is not None]
    return [member for member in members if member.is_ready]


async def wait_ready(api: KubeClient, environment: dict[str, Any], count: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(await ready(api, environment)) < count:
        if time.monotonic() > deadline:
            raise errors.NotReady(f"no {count} environments are ready in namespace {NAMESPACE}")
        await asyncio.sleep(0.5)


async def claim(deps: Any, environment: dict[str, Any], number: int) -> dict[str, float]:
    """Claim one environment for an owner of its own, and give milliseconds by part."""
    meta = {"name": f"owner-{number}", "namespace": NAMESPACE}
    owner = await deps.kube.create(
        kinds.CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    )
    reference = manifests.owner_reference(kinds.CONFIG_MAP, owner)
    token = names.run_id(owner["metadata"]["uid"], 1)
    run = RunObjects(token, NAMESPACE, meta["name"], reference, RUN_SECONDS, token)
    start = time.perf_counter()
    members = await ready(deps.kube, environment)
    listed = time.perf_counter()
    uid, now = environment["metadata"]["uid"], datetime.fromtimestamp(time.time(), UTC)
    pod = await worlds.claim(deps, run, uid, members, now)
    claimed = time.perf_counter()
    if pod is None:
        raise errors.NotReady("nothing could be claimed")
    member = next(item for item in members if item.name == pod.name)
    secret = await deps.kube.get(kinds.SECRET, NAMESPACE, names.secret(member.token))
    reach = access.of(secret, member.state, "probe-token")
    waits = await deps.probe.health(reach) if reach else "it has no address"
    answered = time.perf_counter()
    if waits is not None:
        raise errors.NotReady(f"the claimed environment is not up: {waits}")
    await deps.kube.delete(kinds.CONFIG_MAP, NAMESPACE, meta["name"])
    await deps.kube.delete(kinds.POD, NAMESPACE, pod.name, grace_seconds=1)
    return {
        "pool listed": 1_000 * (listed - start),
        "found blank and claimed": 1_000 * (claimed - listed),
        "authenticated answer": 1_000 * (answered - claimed),
        "all": 1_000 * (answered - start),
    }


def report(found: list[dict[str, float]], size: int, *, calm: bool) -> None:
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{len(found)} claims from a pool of {size}, {'calm' if calm else 'while it is filled again'}")
    print(f"{os.cpu_count()} processors, load average {loads}")
    print(f"{'milliseconds':28}" + "".join(f"{mark:>10}" for mark in ("p50", "p99", "min", "max")))
    for name in found[0]:
        values = [one[name] for one in found]
        cuts = statistics.quantiles(values, n=100, method="inclusive") if len(values) > 1 else values * 99
        marks = (statistics.median(values), cuts[98], min(values), max(values))
        print(f"{name:28}" + "".join(f"{mark:10.1f}" for mark in marks))


if __name__ == "__main__":
    main()
