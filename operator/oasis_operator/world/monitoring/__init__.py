"""What an operator's tools beside the cluster say of a world: metrics, logs, traces, alerts, dashboards."""
