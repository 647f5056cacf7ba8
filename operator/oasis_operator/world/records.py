"""What teams write down beside their workloads: runbooks, and the migrations of their databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.world import moments
from oasis_operator.world.definitions import MIGRATION, build_custom
from oasis_operator.world.entries import scalar
from oasis_operator.world.manifests import Built, Manifest, Surroundings, build_object
from oasis_operator.world.series import Series, report

if TYPE_CHECKING:
    from oasis_operator.world.entries import Reader


def build_runbook(reader: Reader, around: Surroundings) -> Built:  # noqa: ARG001
    """Build the ConfigMap of a runbook: a page with its steps in order."""
    name = reader.entry.name
    title = reader.text("title", name.replace("-", " ").capitalize())
    lines = [f"# {title}", ""]
    if description := reader.text("description"):
        lines += [description, ""]
    steps = reader.items("steps")
    if not steps:
        reader.refuse("steps", None, "want at least one step")
    for number, step in enumerate(steps, 1):
        text = scalar(step)
        if text is None:
            reader.refuse("steps", step, "want a text")
        lines.append(f"{number}. {text}")
    body = build_object(
        "v1", "ConfigMap", f"runbook-{name}", reader.namespace,
        labels={"app.kubernetes.io/component": "runbook", **reader.texts("labels")},
        annotations=reader.texts("annotations"), data={"runbook.md": "\n".join(lines) + "\n"},
    )  # fmt: skip
    return Built([Manifest(reader.entry.index, body)])


def build_migration(reader: Reader, around: Surroundings) -> Built:
    """Build the migration of a database, applied at some time in the past, and what was stored since."""
    name = reader.entry.name
    version = reader.text("last_migration")
    if not version:
        reader.refuse("last_migration", None, "want the version that was applied last")
    written = reader.text("applied", "now")
    age = moments.parse_age(written)
    if age is None:
        reader.refuse("applied", written, moments.WANTED)
        return Built()
    at = moments.moment_before(around.now, age)
    ready = {"type": "Ready", "status": "True", "reason": "Applied", "message": "", "lastTransitionTime": at}
    status = {
        "conditions": [ready],
        "lastAppliedVersion": version,
        "lastApplied": moments.seconds_of(at),
    }
    spec = {
        "url": f"postgres://{name}@postgres.{reader.namespace}.svc:5432/{name}?sslmode=require",
        "dir": {"remote": {"name": name, "tag": version}},
    }
    body = build_custom(
        MIGRATION, name, reader.namespace,
        labels={"app": name, **reader.texts("labels")}, annotations=reader.texts("annotations"),
        spec=spec, status=status,
    )  # fmt: skip
    built = Built([Manifest(reader.entry.index, body)])
    created = reader.count("records_created_since", high=10**12)
    if created is not None:
        minutes = max(1, int(age.total_seconds() // 60))
        query = f'sum(increase(records_created_total{{job="{name}"}}[{minutes}m]))'
        series = Series(f"{name}-records-created-since-migration", query, ((around.now, str(created)),))
        report(built, reader.entry.index, reader.namespace, series, {"app": name})
    return built
