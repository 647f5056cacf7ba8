"""Boots blank environments, one after another and several at once, and prints p50, p99, min and max.

An environment is up when its probe says so: control plane ready, nodes ready. Each is run as plain processes,
without the time that a container runtime takes. CPU and memory (proportional set size) are read then; with
`--prepare` also the time until a small scenario is prepared. `--no-seed` lets etcd begin with nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import _figures

from integration.world import nested

_TICKS = os.sysconf("SC_CLK_TCK")
_STATE = [
    {"resource": "namespace/shop", "zone": "zone-a"},
    {"resource": "deployment/web", "namespace": "shop", "status": "running", "replicas": 2},
    {"resource": "deployment/ledger", "namespace": "shop", "status": "CrashLoopBackOff", "replicas": 2},
]
_AGENT = {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}}


@dataclass
class Boot:
    """Figures of one boot: seconds, CPU-seconds and MiB, the latter two by program."""

    seconds: float = 0.0
    prepared: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--runs", type=int, default=5, help="boots one after another")
    parser.add_argument("-p", "--parallel", type=int, default=4, help="boots at once")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of boots at once")
    parser.add_argument("--prepare", action="store_true", help="prepare a small scenario in each")
    parser.add_argument("--no-seed", action="store_true", help="let etcd begin with nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder) / "programs"
        programs.mkdir()
        missing = nested.find_programs(programs)
        if not nested.build_launcher(programs):
            missing.append("go, to build the launcher")
        if missing:
            print(f"not built: {', '.join(missing)}")
            return
        if not arguments.no_seed:
            nested.make_seed(programs)
        boots = [boot(Path(folder), programs, arguments.prepare) for _ in range(arguments.runs)]
        report("one after another", boots)
        boots = [
            figures
            for _ in range(arguments.rounds if arguments.parallel > 1 else 0)
            for figures in at_once(Path(folder), programs, arguments.parallel, arguments.prepare)
        ]
        report(f"{arguments.parallel} at once", boots)


def boot(folder: Path, programs: Path, prepare: bool, together: threading.Barrier | None = None) -> Boot:
    figures = Boot()
    cluster = nested.Nested(Path(tempfile.mkdtemp(dir=folder)), programs)
    try:
        start = time.monotonic()
        cluster.start()
        figures.seconds = time.monotonic() - start
        assert cluster.launcher is not None
        assert cluster.probe is not None
        figures.cpu, figures.memory = usage([cluster.launcher.pid, cluster.probe.pid])
        if prepare:
            start = time.monotonic()
            told = cluster.prepare(_STATE, _AGENT, settle_seconds=1.0)
            figures.prepared = time.monotonic() - start
            if told["status"] != "ready":
                raise RuntimeError(f"not prepared: {told}")
        if together is not None:
            together.wait(180)
    finally:
        cluster.stop_processes()
    return figures


def at_once(folder: Path, programs: Path, count: int, prepare: bool) -> list[Boot]:
    found: list[Boot] = []
    together = threading.Barrier(count)
    threads = [
        threading.Thread(target=lambda: found.append(boot(folder, programs, prepare, together)))
        for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def usage(roots: list[int]) -> tuple[dict[str, float], dict[str, float]]:
    """Return CPU-seconds and MiB of processes and all that descend from them, by program."""
    children: dict[int, list[int]] = defaultdict(list)
    cpu: dict[str, float] = defaultdict(float)
    memory: dict[str, float] = defaultdict(float)
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            stats[int(path.parent.name)] = (name, rest.split())
            children[int(rest.split()[1])].append(int(path.parent.name))
    waiting = list(roots)
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        name, values = stats[pid]
        name = "probe" if pid == roots[-1] else name
        cpu[name] += (int(values[11]) + int(values[12])) / _TICKS
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    memory[name] += int(line.split()[1]) / 1024
    return dict(cpu), dict(memory)


def report(title: str, boots: list[Boot]) -> None:
    if not boots:
        return
    print(f"{title}, {len(boots)} boots")
    print(f"  until healthy  {shown([one.seconds for one in boots])} s")
    if boots[0].prepared:
        print(f"  until prepared {shown([one.prepared for one in boots])} s")
    print(f"  CPU            {shown([sum(one.cpu.values()) for one in boots])} s   {split(boots, 'cpu')}")
    print(
        f"  memory         {shown([sum(one.memory.values()) for one in boots])} MiB {split(boots, 'memory')}"
    )


def shown(values: list[float]) -> str:
    p50, p99, least, most = _figures.marks(values)
    return f"p50 {p50:7.2f}  p99 {p99:7.2f}  min {least:7.2f}  max {most:7.2f}"


def split(boots: list[Boot], what: str) -> str:
    names = sorted({name for one in boots for name in getattr(one, what)})
    medians = {name: statistics.median(getattr(one, what).get(name, 0.0) for one in boots) for name in names}
    return ", ".join(f"{name} {medians[name]:.2f}" for name in names)


if __name__ == "__main__":
    main()
