"""Requests to a workload as its instances count them: by answer, and by how long they took.

What is declared of a workload are rates, shares and quantiles; the counters are such that their queries give
these values.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from typing import TYPE_CHECKING, Final

from oasis_operator.world.monitoring.series import (
    HISTORY,
    Curve,
    Series,
    Shape,
    constant,
    labelled,
    merge,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.world.monitoring.measured import Workload

_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_QUANTILES: Final = {"latency-p50": 0.5, "latency-p90": 0.9, "latency-p95": 0.95, "latency-p99": 0.99}
#: How long requests take, in seconds, where nothing is declared.
_USUAL_MEDIAN: Final = 0.048
_USUAL_P99: Final = 0.21
#: The median as a part of the lowest quantile that is declared, and the longest one of the highest.
_MEDIAN_PART: Final = 0.35
_LONGEST: Final = 1.6


def build_traffic(workload: Workload, now: float) -> list[Series]:
    """Build the counters of a workload that serves requests."""
    begin = now - HISTORY
    base = {
        "job": workload.name,
        "namespace": workload.namespace,
        "service": workload.name,
        "instance": f"{workload.name}.{workload.namespace}.svc:8080",
    }
    total = workload.curves.get("request-rate") or constant(_usual_rate(workload), begin)
    share = workload.curves.get("error-rate")
    found = []
    if share is None:
        found.append(_counter("http_requests_total", {**base, "code": "200"}, total, begin))
    else:
        for code, curve in (
            ("200", merge((total, share), lambda values: values[0] * (1 - min(1, values[1])))),
            ("500", merge((total, share), lambda values: values[0] * min(1, values[1]))),
        ):
            found.append(_counter("http_requests_total", {**base, "code": code}, curve, begin))
    found += _durations(workload, base, total, begin)
    own = labelled({key: base[key] for key in ("job", "namespace", "service", "instance")})
    found.append(Series("up", own, Shape.STEP, constant(1, begin), begin))
    return found


def _durations(workload: Workload, base: dict[str, str], total: Curve, begin: float) -> list[Series]:
    name = "http_request_duration_seconds"
    shares = [share for part, share in sorted(_QUANTILES.items()) if part in workload.curves]
    curves = [workload.curves[part] for part in sorted(_QUANTILES) if part in workload.curves]
    # Where a bound is what is declared, the quantile is that very value.
    declared = {round(value, 6) for curve in curves for _, value in curve if value > 0}
    bounds = sorted(declared.union(_BOUNDS))

    def below(bound: float) -> Curve:
        return merge((total, *curves), lambda values: values[0] * part_below(bound, shares, values[1:]))

    found = [
        _counter(f"{name}_bucket", {**base, "le": f"{bound:g}"}, below(bound), begin) for bound in bounds
    ]
    found.append(_counter(f"{name}_bucket", {**base, "le": "+Inf"}, total, begin))
    found.append(_counter(f"{name}_count", base, total, begin))
    mean = merge((total, *curves), lambda values: values[0] * 1.2 * _anchors(shares, values[1:])[1][1])
    found.append(Series(f"{name}_sum", labelled(base), Shape.COUNT, mean, begin))
    return found


def part_below(bound: float, shares: Sequence[float], values: Sequence[float]) -> float:
    """Give the part of requests that take no longer than a bound.

    Args:
        bound: In seconds.
        shares: Which quantiles are known, ascending, such as 0.99.
        values: The known quantiles, in seconds.
    """
    anchors = _anchors(shares, values)
    if bound <= anchors[0][1]:
        return 0.0
    for before, after in itertools.pairwise(anchors):
        if bound <= after[1]:
            way = math.log(bound / before[1]) / math.log(after[1] / before[1])
            return before[0] + (after[0] - before[0]) * way
    return 1.0


def _anchors(shares: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    """Give (share, seconds) from the fastest request to the slowest, the median second, seconds ascending."""
    known = list(zip(shares, values, strict=True)) or [(0.5, _USUAL_MEDIAN), (0.99, _USUAL_P99)]
    if known[0][0] > 0.5:
        known.insert(0, (0.5, _MEDIAN_PART * known[0][1]))
    anchors = [(0.0, max(known[0][1], 1e-6) / 6)]
    for share, seconds in known:
        anchors.append((share, max(seconds, anchors[-1][1] * 1.0001)))
    return [*anchors, (1.0, anchors[-1][1] * _LONGEST)]


def _counter(name: str, labels: dict[str, str], curve: Curve, begin: float) -> Series:
    return Series(name, labelled(labels), Shape.COUNT, curve, begin, whole=True)


def _usual_rate(workload: Workload) -> float:
    """Give requests per second of which nobody speaks, always the same for a workload."""
    digest = hashlib.sha256(f"rate/{workload.namespace}/{workload.name}".encode()).digest()
    return 40.0 + digest[0] % 80
