"""A whole Evaluation on a cluster: scenarios a minute, where the time of a run goes, what it costs the node.

Needs an operator that is installed, and a kubeconfig (KUBECONFIG, else that of `make cluster-up`). The
bundled scenarios are run by the careful witness, each so often that there are as many runs as asked for.
Times of stages are those of the runs' own status. Processor time is that of this whole machine, which is the
node where the cluster is the local one; with `--pool` warm environments are kept.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.claim import LOCAL, RESTRICTED

from oasis_operator import errors
from oasis_operator.cli import manifests
from oasis_operator.clients.kube import KubeClient, connect
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMESPACE, ENVIRONMENT, AGENT, NAME = "oasis-benchmark-runs", "bench", "careful", "bench"
SCENARIOS = 6
PATIENCE_SECONDS = 1800.0
OWN = ("Running",)
"""Stages whose time is the agent's own."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--runs", type=int, default=48, help="runs, a multiple of the scenarios")
    parser.add_argument("--parallelism", type=int, default=12, help="runs at once, if the operator allows")
    parser.add_argument("--pool", type=int, default=0, help="size of the warm pool")
    arguments = parser.parse_args()
    kubeconfig = os.environ.get("KUBECONFIG") or (str(LOCAL) if LOCAL.exists() else "")
    if not kubeconfig:
        print("not measured: no cluster; set KUBECONFIG or run make cluster-up, and make deploy")
        return
    asyncio.run(measure(kubeconfig, arguments.runs, arguments.parallelism, arguments.pool))


async def measure(kubeconfig: str, runs: int, parallelism: int, pool: int) -> None:
    """Evaluate, print, and remove everything."""
    api = await connect(kubeconfig)
    try:
        await begin(api, pool)
        evaluation = manifests.build_evaluation(
            NAME,
            manifests.EvaluationChoice(
                agent=AGENT, environment=ENVIRONMENT, profile={"bundled": "software-infrastructure"}, tier=1
            ),
        )
        evaluation["metadata"]["namespace"] = NAMESPACE
        evaluation["spec"] |= {"parallelism": parallelism, "repetitions": max(1, runs // SCENARIOS)}
        if pool:
            await wait_for_pool(api, pool)
        start, busy = time.monotonic(), busy_seconds()
        await api.apply(kinds.EVALUATION, evaluation)
        status = await finished(api)
        wall, spent = time.monotonic() - start, busy_seconds() - busy
        report(await api.list(kinds.SCENARIO_RUN, NAMESPACE), status, (wall, spent), parallelism, pool)
    except errors.OasisError as error:
        print(f"not measured: {error.reason}: {error.message}")
    finally:
        await api._request("DELETE", f"/api/v1/namespaces/{NAMESPACE}", body={})  # noqa: SLF001 - no kind of ours
        await api.close()


async def begin(api: KubeClient, pool: int) -> None:
    """Make the namespace, the Environment and the Agent."""
    marks = {"name": NAMESPACE, "labels": RESTRICTED}
    await api._request("POST", "/api/v1/namespaces", body={"metadata": marks})  # noqa: SLF001
    environment = manifests.build_environment(ENVIRONMENT, 1)
    if pool:
        environment["spec"]["kubernetes"] = {"warmPool": {"size": pool}}
    for kind, manifest in (
        (kinds.ENVIRONMENT, environment),
        (kinds.AGENT, manifests.build_scripted_agent(AGENT, "Satisfying")),
    ):
        manifest["metadata"]["namespace"] = NAMESPACE
        await api.apply(kind, manifest)


async def wait_for_pool(api: KubeClient, size: int) -> None:
    """Wait until the pool is full."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        body = await api.get(kinds.ENVIRONMENT, NAMESPACE, ENVIRONMENT) or {}
        if (((body.get("status") or {}).get("warm") or {}).get("ready") or 0) >= size:
            return
        await asyncio.sleep(1)
    raise errors.NotReady(f"no {size} environments are ready in namespace {NAMESPACE}")


async def finished(api: KubeClient) -> dict[str, Any]:
    """Return the status of the Evaluation once it is over."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        body = await api.get(kinds.EVALUATION, NAMESPACE, NAME) or {}
        status = dict(body.get("status") or {})
        if any(
            item["type"] == "Complete" and item["status"] == "True" for item in status.get("conditions", ())
        ):
            return status
        await asyncio.sleep(0.5)
    raise errors.NotReady(f"Evaluation {NAMESPACE}/{NAME} is not over after {PATIENCE_SECONDS:g} s")


def busy_seconds() -> float:
    """Return the processor time that this machine has spent so far."""
    user, nice, system, _, _, *more = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + sum(more[:2])) / os.sysconf("SC_CLK_TCK")


def report(
    runs: Iterable[dict[str, Any]],
    status: dict[str, Any],
    cost: tuple[float, float],
    parallelism: int,
    pool: int,
) -> None:
    spans = [stages_of(run) for run in runs]
    wall, spent = cost
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{len(spans)} runs, {parallelism} at once, a warm pool of {pool}; verdict {status.get('verdict')}")
    print(f"{os.cpu_count()} processors, load average {loads} at the end")
    print(f"wall {wall:.1f} s, {60 * len(spans) / wall:.1f} runs a minute")
    print(f"processor {spent:.1f} s, {spent / max(1, len(spans)):.2f} s for each run, preflight included")
    print(f"{'seconds':28}" + "".join(f"{mark:>10}" for mark in ("p50", "p99", "min", "max")))
    names = list(dict.fromkeys(name for one in spans for name in one))
    rows = {name: [one[name] for one in spans if name in one] for name in names}
    rows["all but the agent's own"] = [
        sum(length for name, length in one.items() if name not in OWN) for one in spans
    ]
    for name, values in rows.items():
        cuts = statistics.quantiles(values, n=100, method="inclusive") if len(values) > 1 else values * 99
        marks = (statistics.median(values), cuts[98], min(values), max(values))
        print(f"{name:28}" + "".join(f"{mark:10.2f}" for mark in marks))


def stages_of(run: dict[str, Any]) -> dict[str, float]:
    """Return the seconds of each stage that ended."""
    found = {}
    for timing in (run.get("status") or {}).get("timings") or ():
        if timing.get("finishedAt"):
            begun, ended = (datetime.fromisoformat(timing[name]) for name in ("startedAt", "finishedAt"))
            found[str(timing["stage"])] = (ended - begun).total_seconds()
    return found


if __name__ == "__main__":
    main()
