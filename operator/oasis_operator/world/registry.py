"""The registry of kinds: which builder makes what of an entry, kind by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from oasis_operator.world import (
    access,
    autoscaling,
    cluster,
    configuration,
    custom,
    dashboards,
    gitops,
    narrative,
    network,
    observability,
    records,
    storage,
    tracing,
    workloads,
)
from oasis_operator.world.entries import Reader
from oasis_operator.world.manifests import Built, Surroundings

Builder = Callable[[Reader, Surroundings], Built]

BUILDERS: Mapping[str, Builder] = {
    "namespace": cluster.build_namespace,
    "deployment": workloads.build_deployment,
    "statefulset": workloads.build_statefulset,
    "daemonset": workloads.build_daemonset,
    "pod": workloads.build_pod,
    "job": workloads.build_job,
    "cronjob": workloads.build_cronjob,
    "configmap": configuration.build_configmap,
    "secret": configuration.build_secret,
    "service": network.build_service,
    "ingress": network.build_ingress,
    "networkpolicy": network.build_networkpolicy,
    "pvc": storage.build_pvc,
    "storageclass": storage.build_storageclass,
    "serviceaccount": access.build_serviceaccount,
    "role": access.build_role,
    "clusterrole": access.build_role,
    "rolebinding": access.build_rolebinding,
    "clusterrolebinding": access.build_rolebinding,
    "node": cluster.build_node_entry,
    "nodes": cluster.build_nodes,
    "resourcequota": cluster.build_resourcequota,
    "limitrange": cluster.build_limitrange,
    "hpa": autoscaling.build_hpa,
    "pdb": autoscaling.build_pdb,
    "events": narrative.build_events,
    "logs": narrative.build_logs,
    "metrics": observability.build_metrics,
    "alert": observability.build_alert,
    "dashboard": dashboards.build_dashboard,
    "traces": tracing.build_traces,
    "runbook": records.build_runbook,
    "database-migration": records.build_migration,
    gitops.KIND: gitops.build_application,
    "customresource": custom.build_object_of_any_kind,
}
