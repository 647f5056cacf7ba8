"""The kopf side: event handlers that pass everything on, and the settings that keep kopf to that.

Only event handlers are registered. They leave no trace on the objects: no annotation, no finalizer.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import kopf

from oasis_operator.resources import kinds, labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.handlers.intake import Intake
    from oasis_operator.ports.recorder import Recorder

PREFIX = labels.PREFIX
# Whole: the API server refuses a watch of "240.0" seconds.
_WATCH_SECONDS = 240
_GRACE_SECONDS = 30
_CONNECT_SECONDS = 10
BYPASSING = (
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "jobs"),
    ("batch", "cronjobs"),
)
"""Kinds that may bypass the admission gate by a label."""


def build_registry(
    intake: Intake, *, reads_policies: bool = True, recorder: Recorder | None = None
) -> kopf.OperatorRegistry:
    """Return the handlers of this operator.

    Args:
        intake: Where every event goes.
        reads_policies: False where the operator has no rights to look at cluster-scoped objects.
        recorder: Records who bypassed the admission gate; None where there is none.
    """
    registry = kopf.OperatorRegistry()
    _add_namespaced(registry, intake)
    if reads_policies:
        _add_policies(registry, intake)
    if recorder is not None:
        _add_bypasses(registry, recorder)
    return registry


def _add_bypasses(registry: kopf.OperatorRegistry, recorder: Recorder) -> None:
    """Leave an Event about each workload that was let in past the admission gate."""
    for group, plural in BYPASSING:

        @kopf.on.event(group, "v1", plural, registry=registry, labels={labels.BREAK_GLASS: kopf.PRESENT})
        async def on_bypass(body: Any, type: str | None, **_: Any) -> None:  # noqa: A002 - kopf's name
            """Tell of a workload with the label; the same is told once."""
            if type != "DELETED":
                await recorder.event(body, "Warning", "BreakGlass", _bypass(body["metadata"]))


def _bypass(meta: Mapping[str, Any]) -> str:
    ticket = meta["labels"][labels.BREAK_GLASS]
    return (
        f"may have been let in past the admission gate ({ticket}); the API server's audit log tells by whom"
    )


def _add_namespaced(registry: kopf.OperatorRegistry, intake: Intake) -> None:
    """Add the credentials and the handlers of what namespaces hold."""

    @kopf.on.login(registry=registry)
    def login(**kwargs: Any) -> Any:
        """Take the pod's service account, or a kubeconfig outside a cluster."""
        account = kopf.login_with_service_account(**kwargs)
        if account is None:
            return kopf.login_with_kubeconfig(**kwargs)
        # Kopf asks for a name in the cluster's DNS, which a cluster need not have; the address is known.
        return dataclasses.replace(account, server=_api_server_address())

    @kopf.on.event(kinds.GROUP, kinds.VERSION, kinds.EVALUATION.plural, registry=registry)
    async def on_evaluation(body: Any, type: str | None, **_: Any) -> None:  # noqa: A002 - kopf's name
        """Pass on an Evaluation."""
        intake.evaluation(body, type)

    @kopf.on.event(kinds.GROUP, kinds.VERSION, kinds.AGENT.plural, registry=registry)
    async def on_agent(body: Any, type: str | None, **_: Any) -> None:  # noqa: A002 - kopf's name
        """Pass on an Agent."""
        intake.referenced(kinds.AGENT, body, type)

    @kopf.on.event(kinds.GROUP, kinds.VERSION, kinds.ENVIRONMENT.plural, registry=registry)
    async def on_environment(body: Any, type: str | None, **_: Any) -> None:  # noqa: A002 - kopf's name
        """Pass on an Environment."""
        intake.referenced(kinds.ENVIRONMENT, body, type)

    @kopf.on.event(kinds.GROUP, kinds.VERSION, kinds.SCENARIO_RUN.plural, registry=registry)
    async def on_scenario_run(body: Any, type: str | None, **_: Any) -> None:  # noqa: A002 - kopf's name
        """Pass on a ScenarioRun."""
        intake.scenario_run(body, type)

    @kopf.on.event("pods", registry=registry, labels={labels.RUN: kopf.PRESENT})
    async def on_pod(body: Any, **_: Any) -> None:
        """Pass on a pod of ours."""
        intake.pod(body)


def _add_policies(registry: kopf.OperatorRegistry, intake: Intake) -> None:
    """Add the handlers of what decides which policies are for which namespace."""

    @kopf.on.event(kinds.GROUP, kinds.VERSION, kinds.EVALUATION_POLICY.plural, registry=registry)
    async def on_policy(**_: Any) -> None:
        """Pass on an EvaluationPolicy."""
        intake.policy()

    @kopf.on.event(kinds.NAMESPACE.version, kinds.NAMESPACE.plural, registry=registry)
    async def on_namespace(body: Any, type: str | None, **_: Any) -> None:  # noqa: A002 - kopf's name
        """Pass on a namespace."""
        intake.namespace(body, type)


def _api_server_address() -> str:
    """Return the API server's URL as the kubelet tells it to every pod."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def build_settings(*, watches_whole_cluster: bool) -> kopf.OperatorSettings:
    """Return kopf's settings: nothing posted, nothing stored, pods watched by our label only.

    Args:
        watches_whole_cluster: False for a list of namespaces, where namespaces and CRDs cannot be observed.
    """
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = not watches_whole_cluster
    settings.watching.label_selectors["pods"] = labels.RUN
    # A connection that died without a word is noticed by nobody: the server ends each watch, and where even
    # that is not heard, the client does.
    settings.watching.server_timeout = _WATCH_SECONDS
    settings.watching.client_timeout = _WATCH_SECONDS + _GRACE_SECONDS
    settings.watching.connect_timeout = _CONNECT_SECONDS
    for _, plural in BYPASSING:
        settings.watching.label_selectors[plural] = labels.BREAK_GLASS
    settings.persistence.finalizer = f"{PREFIX}/unused"
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=PREFIX)
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=PREFIX)
    return settings
