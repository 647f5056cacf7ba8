"""Prometheus metrics. Labels come from small fixed sets: no names of runs, no free text.

The shape of the pass metrics is that of other operators, so that habits carry over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PASS_BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)
_STAGE_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
_OUTCOMES = ("PASS", "FAIL", "PROVIDER_FAILURE", "none")
_CONTROLLERS = ("agents", "environments", "evaluations", "scenarioruns")
_RESULTS = ("success", "transient", "invalid", "not_ready", "error")
_CAUSES = frozenset(
    {
        "AccessUnusable",
        "AdapterFault",
        "ArtifactDamaged",
        "ArtifactMissing",
        "ArtifactStoreFault",
        "ArtifactTooLarge",
        "EnvironmentLeftBehind",
        "EvidenceUnreachable",
        "JudgeFault",
        "NameTaken",
        "ObjectRefused",
        "ProfileChanged",
        "ProviderAnswerMalformed",
        "ProviderAnswerTooLarge",
        "ProviderFailed",
        "ProviderFault",
        "ProviderHungUp",
        "ProviderNotDone",
        "ProviderRedirected",
        "ProviderRefused",
        "ProviderTimeout",
        "ProviderUnfinished",
        "ProviderUnreachable",
        "ProviderWrongEnvironment",
        "ProvisionUnknown",
        "SidecarRefused",
    }
)


GAUGES = {
    "oasis_workqueue_depth": "Objects that wait to be looked at.",
    "oasis_workqueue_failing": "Objects whose last pass failed.",
    "oasis_workqueue_longest_running_seconds": "Age of the oldest pass that goes on.",
    "oasis_scenario_runs_active": "Scenario runs that hold a slot.",
    "oasis_event_loop_lag_seconds": "Lateness of the event loop.",
    "oasis_watch_behind_seconds": "Age of the oldest change that no watch has told of.",
    "oasis_evaluations_lapsed": "Passed Evaluations whose verdict is older than a policy allows.",
    "oasis_admission_list_renewed_timestamp_seconds": "When the admission list was renewed; 0 without.",
    "oasis_admission_list_subjects": "Subjects on the admission list.",
}
"""Gauges that are read when they are asked for, with their help."""


class Metrics:
    """Implements `ports.recorder.Meter` and measures the workers."""

    def __init__(self, version: str) -> None:
        """Register every metric, with its known label values at zero."""
        self._registry = registry = CollectorRegistry()
        self._passes = Counter(
            "oasis_reconcile_total", "Passes by result.", ("controller", "result"), registry=registry
        )
        self._pass_seconds = Histogram(
            "oasis_reconcile_time_seconds",
            "Length of passes.",
            ("controller",),
            buckets=_PASS_BUCKETS,
            registry=registry,
        )
        self._verdicts = Counter(
            "oasis_evaluations_total", "Evaluations that ended, by verdict.", ("verdict",), registry=registry
        )
        self._scenarios = Counter(
            "oasis_scenario_runs_total",
            "Scenario runs that ended, by outcome.",
            ("outcome",),
            registry=registry,
        )
        self._stages = Histogram(
            "oasis_scenario_stage_seconds",
            "Length of the stages of scenario runs.",
            ("stage",),
            buckets=_STAGE_BUCKETS,
            registry=registry,
        )
        self._faults = Counter(
            "oasis_provider_faults_total", "Faults of the harness, by cause.", ("cause",), registry=registry
        )
        info = Gauge("oasis_build_info", "Version of the operator.", ("version",), registry=registry)
        info.labels(version).set(1)
        self._start_at_zero()

    def gauges(self, sources: Mapping[str, Callable[[], float]]) -> None:
        """Register the gauges that are read when they are asked for, each with its source.

        Args:
            sources: One for each of `GAUGES`.

        Raises:
            KeyError: One is missing.
        """
        for name, text in GAUGES.items():
            Gauge(name, text, registry=self._registry).set_function(sources[name])

    def render(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)

    def passed(self, plural: str, result: str, seconds: float) -> None:
        """Count one pass."""
        self._passes.labels(plural, result).inc()
        self._pass_seconds.labels(plural).observe(seconds)

    def verdict(self, namespace: str, verdict: str) -> None:  # noqa: ARG002 - namespaces are no bounded set
        """Count one Evaluation that ended."""
        self._verdicts.labels(verdict).inc()

    def scenario(self, outcome: str) -> None:
        """Count one scenario run that ended."""
        self._scenarios.labels(outcome).inc()

    def stage(self, stage: str, seconds: float) -> None:
        """Observe how long one stage took."""
        self._stages.labels(stage).observe(seconds)

    def fault(self, cause: str) -> None:
        """Count one fault of the harness."""
        self._faults.labels(cause if cause in _CAUSES else "other").inc()

    def _start_at_zero(self) -> None:
        """Make every known series exist, so that a rate sees its first event."""
        for controller in _CONTROLLERS:
            for result in _RESULTS:
                self._passes.labels(controller, result)
        for outcome in _OUTCOMES:
            self._verdicts.labels(outcome)
            self._scenarios.labels(outcome)
        for cause in (*sorted(_CAUSES), "other"):
            self._faults.labels(cause)
