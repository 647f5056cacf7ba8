"""What a piece of work costs, in wall and in processor time, with its spread."""

from __future__ import annotations

import gc
import os
import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADER = f"{'milliseconds':44}" + "".join(
    f"{clock + ' ' + mark:>11}" for clock in ("wall", "CPU") for mark in ("p50", "p99", "min", "max")
)


def announce(*inputs: str) -> None:
    """Print what is measured and how busy the machine is, without which no figure means anything."""
    for line in inputs:
        print(line)
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{os.cpu_count()} processors, load average {loads}")
    print(_HEADER)


def measure(what: str, work: Callable[[], object], runs: int) -> float:
    """Print percentiles of a number of runs after a first one; return the least processor time in ms."""
    work()
    gc.collect()
    wall, processor = [], []
    for _ in range(runs):
        start, started = time.perf_counter(), time.process_time()
        work()
        processor.append(1_000 * (time.process_time() - started))
        wall.append(1_000 * (time.perf_counter() - start))
    print(f"{what:44}" + "".join(f"{mark:11.2f}" for times in (wall, processor) for mark in marks(times)))
    return min(processor)


def marks(times: list[float]) -> tuple[float, float, float, float]:
    """Return median, 99th percentile, least and greatest."""
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return statistics.median(times), cuts[98], min(times), max(times)
