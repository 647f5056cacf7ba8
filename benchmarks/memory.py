"""Memory of idle blank environments: the working set of a cgroup, and what of it each program has.

Each environment is run as plain processes in a memory cgroup of its own, which needs root and a writable
controller (v1 or v2); without one only the programs' shares are given. The working set is what a kubelet
counts: the usage without inactive pages of files. The programs are copied inside the group, as a node reads
an image once, so that the pages of the programs themselves count; `--cached` leaves them where they are, as
for every further environment of a node.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from integration.world import nested

if TYPE_CHECKING:
    from collections.abc import Iterator

_MIB = 2**20
_FIELDS = ("Rss", "Pss", "Anonymous")


class Group:
    """A memory cgroup for one environment."""

    def __init__(self, folder: Path, *, unified: bool) -> None:
        self.folder, self._unified = folder, unified
        folder.mkdir()

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Have every process that is started meanwhile belong to the group."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            (self.folder.parent / "cgroup.procs").write_text(str(os.getpid()))

    def figures(self) -> dict[str, float]:
        """Give MiB by kind."""
        usage = "memory.current" if self._unified else "memory.usage_in_bytes"
        prefix = "" if self._unified else "total_"
        stat = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
        total = int((self.folder / usage).read_text())
        inactive = int(stat[f"{prefix}inactive_file"])
        anonymous = "anon" if self._unified else "total_rss"
        return {
            "working set": (total - inactive) / _MIB,
            "anonymous": int(stat[anonymous]) / _MIB,
            "files, active": int(stat[f"{prefix}active_file"]) / _MIB,
            "files, inactive": inactive / _MIB,
        }

    def close(self) -> None:
        for _ in range(50):
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.1)


def own_group(number: int) -> Group | None:
    """Make a group below this process's own; None where that is not possible."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    paths = {kind: path for _, kind, path in (line.split(":", 2) for line in lines)}
    for root, kind, unified in (("/sys/fs/cgroup/memory", "memory", False), ("/sys/fs/cgroup", "", True)):
        parent = Path(root) / paths.get(kind, "/").lstrip("/")
        name = parent / f"environment-{os.getpid()}-{number}"
        if kind in paths and (parent / ("memory.stat" if unified else "memory.usage_in_bytes")).exists():
            with contextlib.suppress(OSError):
                return Group(name, unified=unified)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--runs", type=int, default=2, help="environments, one after another")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds from healthy to the measurement")
    parser.add_argument("--cached", action="store_true", help="do not count the pages of the programs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder) / "programs"
        programs.mkdir()
        missing = nested.find_programs(programs)
        if not nested.build_launcher(programs):
            missing.append("go, to build the launcher")
        if missing:
            print(f"not measured: {', '.join(missing)}")
            return
        nested.make_seed(programs)
        loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
        print(f"{os.cpu_count()} processors, load average {loads}; MiB after {arguments.idle:g} idle seconds")
        found = [
            measure(Path(folder), programs, number, arguments.idle, cached=arguments.cached)
            for number in range(arguments.runs)
        ]
    report("cgroup", [group for group, _, _ in found])
    report("anonymous memory and share of files, by program", [share for _, share, _ in found])
    report("CPU-seconds while idle, of one second", [{"all": burn} for _, _, burn in found])


def measure(
    folder: Path, programs: Path, number: int, idle: float, *, cached: bool
) -> tuple[dict[str, float], dict[str, float], float]:
    """Boot one environment, leave it alone, and give the figures of its group, programs and processor."""
    place = Path(tempfile.mkdtemp(dir=folder))
    group = own_group(number)
    cluster = None
    try:
        with group.entered() if group else contextlib.nullcontext():
            cluster = nested.Nested(place, programs if cached else copied(programs, place))
            cluster.start()
        assert cluster.launcher is not None
        assert cluster.probe is not None
        roots = [cluster.launcher.pid, cluster.probe.pid]
        time.sleep(idle / 2)
        before = ticks(roots)
        time.sleep(idle / 2)
        burn = (ticks(roots) - before) / os.sysconf("SC_CLK_TCK") / (idle / 2) if idle else 0.0
        return group.figures() if group else {}, shares(roots), burn
    finally:
        if cluster is not None:
            cluster.stop_processes()
        if group is not None:
            group.close()
        shutil.rmtree(place, ignore_errors=True)


def copied(programs: Path, place: Path) -> Path:
    """Copy the programs, so that their pages belong to whoever copies."""
    target = place / "programs"
    shutil.copytree(programs, target, symlinks=False)
    return target


def family(roots: list[int]) -> dict[int, str]:
    """Give all processes that descend from the roots, by name; the last root is the probe."""
    children: dict[int, list[int]] = defaultdict(list)
    names = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            names[int(path.parent.name)] = name
            children[int(rest.split()[1])].append(int(path.parent.name))
    found, waiting = {}, list(roots)
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        found[pid] = "probe" if pid == roots[-1] else names.get(pid, "?")
    return found


def shares(roots: list[int]) -> dict[str, float]:
    """Give anonymous memory and the share of mapped files of each program, in MiB."""
    found: dict[str, float] = {}
    for pid, name in family(roots).items():
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            values = {
                line.split(":")[0]: int(line.split()[1]) for line in lines[1:] if line.startswith(_FIELDS)
            }
            found[f"{name} anonymous"] = values["Anonymous"] / 1024
            found[f"{name} files"] = (values["Pss"] - values["Anonymous"]) / 1024
    return found


def ticks(roots: list[int]) -> int:
    """Give the processor time of all processes, in clock ticks."""
    total = 0
    for pid in family(roots):
        with contextlib.suppress(OSError):
            values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(values[11]) + int(values[12])
    return total


def report(title: str, found: list[dict[str, float]]) -> None:
    print(title)
    for name in found[0]:
        values = [figures.get(name, 0.0) for figures in found]
        middle = statistics.median(values)
        print(f"  {name:32} min {min(values):8.2f}  median {middle:8.2f}  max {max(values):8.2f}")


if __name__ == "__main__":
    main()
