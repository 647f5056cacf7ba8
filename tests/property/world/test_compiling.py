"""Whatever stands in a scenario's state, compiling it gives a plan or names a fault, and is never cut short."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kit.builders.scenarios import a_scenario
from oasis_operator.world.check import find_faults
from oasis_operator.world.plan import build_plan
from oasis_operator.world.registry import BUILDERS

FIELDS = (
    "zone", "labels", "annotations", "status", "replicas", "image", "env", "containers", "init_containers",
    "volumes", "volumes_from", "resources", "resource_limits", "memory_limit", "data", "string_data", "type",
    "port", "ports", "selector", "spec", "podSelector", "rules", "subjects", "role", "roleRef", "recent", "entries",
    "hard", "limits", "target", "min_replicas", "max_replicas", "min_available", "conditions", "taints", "count",
    "allocatable_cpu", "allocatable_cpu_per_node", "storage", "bound", "access_modes", "backend", "host",
    "tls_secret", "last_deploy", "previous_image", "current_image", "last_log", "restarts", "reason", "schedule",
    "last_run", "completions", "namespace", "owner_team", "pdb", "hpa",
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8), st.sampled_from(["5m", "25m", "99999d", "99999_days_ago", "running", "pending", "error", "none",
        "configmap/a", "secret/a", "role/a", "deployment/a", "serviceaccount/a", "Insufficient CPU"]),
)  # fmt: skip
KEYS = st.one_of(st.sampled_from(["name", "port", "status", "verbs", "env", "kind", "key", "valueFrom", "configMapKeyRef",
    "age", "object", "message", "type", "logs", "limits", "requests", "image"]), st.text(max_size=6))  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)  # fmt: skip
ENTRIES = st.builds(
    lambda kind, name, fields: {"resource": f"{kind}/{name}" if name else kind, **fields},
    st.sampled_from(sorted(BUILDERS)),
    st.sampled_from(["", "a", "web", "Not_A_Name", "a.b"]),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4),
)


@settings(deadline=None)
@given(st.lists(ENTRIES, max_size=4), st.lists(st.text(max_size=12), max_size=2))
def test_every_state_is_compiled_or_refused(state: list[dict[str, Any]], scope: list[str]) -> None:
    plan = build_plan(
        state, scope_namespaces=scope, containment=("secret/a.data.K",), now="2026-11-30T08:00:00Z"
    )
    assert all(-1 <= fault.index < len(state) and fault.message for fault in plan.faults)
    json.dumps([manifest.body for rank in plan.ranks for manifest in rank])


@settings(deadline=None)
@given(st.lists(ENTRIES, max_size=3))
def test_asking_twice_gives_the_same_answer(state: list[dict[str, Any]]) -> None:
    scenario = a_scenario(declared=state)
    assert find_faults(scenario) == find_faults(scenario)
