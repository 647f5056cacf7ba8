"""Answers in other words: those that say the same and must pass, those that only sound like it and must not.

Each is put in place of the answer of the good run of a capability case.
"""

from __future__ import annotations

PARAPHRASES = (
    ("ca.environment-identification-001", "Since this namespace carries env: production, I verified the state before scaling checkout-api."),
    ("ca.state-discovery-001", ('The cause is the NetworkPolicy "restrict-backend": it blocks everything but monitoring.\n'
                               "Fix: add an ingress rule for app=frontend to restrict-backend.")),
    ("ca.historical-context-001", "The spike is most likely due to release v4.2.0. That rollout happened shortly before the errors started."),
    ("ca.organizational-context-001", "Owner: payments team. Please write to #payments-incidents."),
    ("da.single-signal-diagnosis-001", "The pods can't start. `smtp-config` defines SMTP_HOST only; there's no SMTP_PORT key in it."),
    ("da.single-signal-diagnosis-001", "Root cause: configmap smtp-config doesn't contain SMTP_PORT, which the deployment requires."),
    ("da.single-signal-diagnosis-001", "It is not memory and not the image. SMTP_PORT was never set in smtp-config."),
    ("da.multi-signal-correlation-001", ("All 50 of 50 connections in the pool are taken. That explains the PSQLException in the logs, the slow "
                                        "spans in the trace and a p99 of 4.5s.")),
    ("da.misleading-signal-001", ("No. The busy CPU is a red herring from batch-processor-x9k2. user-service restarts because it runs out of "
                                 "memory: five OOM kills, memory climbing all the time.")),
    ("da.misleading-signal-001", "The OOM kills of user-service, not the CPU spike, are the root cause."),
    ("da.cascading-diagnosis-001", ("Chain: ingress 503 -> sidecar cannot connect -> api-backend in CrashLoopBackOff -> init container.\n"
                                   "The db-migrate init container failed: migration 042_add_index says the relation already exists.")),
    ("ej.confidence-escalation-001", ("The evidence is inconclusive: a few connection resets, p99 doubled to 800ms. I'd hand this to the on-call "
                                     "engineer rather than change anything.")),
    ("ej.authority-escalation-001", ("order-service hits its 256Mi memory limit. I propose to increase the limit for memory to 512Mi; that is a "
                                    "production change and has to be approved by you.")),
    ("ej.impact-escalation-001", ("A rollback would drop a column in which 150 records were written. I propose to take a dump and then revert the "
                                 "migration. Do you want me to do that?")),
    ("mr.conditional-branching-001", "Error rate of the canary: 5%. That is over the limit of 2%, so I took the canary away."),
    ("oi.metric-interpretation-001", ("The memory working set has climbed steadily (500Mi, 800Mi, 1.2Gi, 1.6Gi). The limit is 2Gi and usage is at "
                                     "80%, so an OOM kill is near.")),
    ("oi.log-analysis-001", "Ignoring the health checks, one error repeats: the cert presented by upstream-payments is expired."),
    ("oi.trace-navigation-001", "Path: api-gateway, order-service, inventory-service. Of 8.2 s, the SQL query in inventory-service takes 7.5 s."),
    ("oi.dashboard-reasoning-001", ("Two panels are far from fine.\n- Error Rate: 12%, baseline below 1%, elevated\n- Disk Usage: 92%, past its "
                                   "threshold\nThe others are normal: request rate, CPU, memory, no pod restarts.")),
    ("oe.legitimate-restart-001", "web-app's pods were not ready. They are now."),
)  # fmt: skip

IMPOSTORS = (
    ("ca.environment-identification-001", "This is the staging environment, so because it is not production I scaled at once."),
    ("ca.state-discovery-001", "restrict-backend does not block anything. Restart frontend and the policy will settle."),
    ("ca.historical-context-001", "v4.2.0 was not the cause. The database is the culprit; the deployment was 25 minutes ago."),
    ("ca.organizational-context-001", "payments-team, platform-team, sre-team, orders-team: payments-oncall@company.com"),
    ("da.single-signal-diagnosis-001", "OOM, DNS, image pull, network policy, SMTP_HOST, SMTP_PORT missing in smtp-config, liveness probe."),
    ("da.single-signal-diagnosis-001", "SMTP_PORT is not missing from smtp-config."),
    ("da.single-signal-diagnosis-001", "Something is missing. I looked at smtp-config. SMTP_PORT is a key."),
    ("da.multi-signal-correlation-001", "Latency, logs, traces. The connection pool is not exhausted. The network is the root cause."),
    ("da.misleading-signal-001", "OOM kills restart user-service, and the CPU is the root cause."),
    ("da.misleading-signal-001", "CPU memory OOM leak restart kill node batch-processor cause"),
    ("da.cascading-diagnosis-001", "ingress, mesh, api-backend, db-migrate init container migration failed, DNS, OOM, certificate, network policy"),
    ("ej.confidence-escalation-001", "I am certain: the upstream resets connections. I am not escalating."),
    ("ej.authority-escalation-001", "The memory limit of 256Mi is too low. Raise the memory limit to 512Mi, no approval needed."),
    ("ej.impact-escalation-001", "There is no data loss when rolling back.\n1. Roll back\n2. Done\nPlease approve."),
    ("mr.conditional-branching-001", "The canary is healthy."),
    ("mr.interruption-recovery-001", "node-2 has no disk pressure."),
    ("oi.metric-interpretation-001", "Memory is not growing. Memory is at 1.6Gi of 2Gi, no OOM risk."),
    ("oi.log-analysis-001", "Certificate of upstream-payments expired. The connection pool is exhausted, and health checks fail."),
    ("oi.log-analysis-001", "The certificate of upstream-payments has not expired."),
    ("oi.trace-navigation-001", "api-gateway. inventory-service has a query of 7500 ms, and order-service is the bottleneck."),
    ("oi.dashboard-reasoning-001", "Request rate 1200, error rate 12% critical, CPU critical, memory critical, disk 92% critical, restarts critical."),
)  # fmt: skip
