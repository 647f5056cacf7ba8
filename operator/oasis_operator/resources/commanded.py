"""What a commanded agent's pod has beside that of any other: a first process that waits for the order.

The program comes from the adapter's image by a volume, so that nothing is asked of the agent's image. It runs
from the moment the adapter was released; the command is started by the order, which is the delivery.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from oasis_operator.resources import manifests

if TYPE_CHECKING:
    from oasis_operator.api.v1alpha1 import agent

TASK = "/run/task"
INIT = "/run/init"
_PROGRAM = f"{INIT}/entry"
_SCRATCH = "/tmp"  # noqa: S108 - a path of the agent's container


def volumes(spec: agent.AgentSpec) -> list[dict[str, Any]]:
    """Return the volumes of a commanded agent; none for any other."""
    if spec.cli is None:
        return []
    return [
        manifests.empty_volume("init", "16Mi"),
        # Two streams and a file of 4 MiB each, and the order.
        manifests.empty_volume("task", "32Mi"),
        *(manifests.empty_volume(name, "64Mi") for name, _ in _folders(spec)),
    ]


def adapter_mounts() -> list[dict[str, Any]]:
    """Return what the adapter mounts of them."""
    return [manifests.mount("init", INIT), manifests.mount("task", TASK)]


def adapter_env() -> list[dict[str, str]]:
    """Return the variables that tell the adapter to place the program."""
    return [{"name": "SIDECAR_ENTRY_DIR", "value": INIT}, {"name": "SIDECAR_TASK_DIR", "value": TASK}]


def agent_mounts(spec: agent.AgentSpec) -> list[dict[str, Any]]:
    """Return what the agent's container mounts of them; none for any other agent."""
    if spec.cli is None:
        return []
    return [
        manifests.mount("init", INIT, read_only=True),
        manifests.mount("task", TASK),
        *(manifests.mount(name, path) for name, path in _folders(spec)),
    ]


def entry_point(spec: agent.AgentSpec) -> dict[str, list[str]]:
    """Return `command` and `args` of the agent's container."""
    if spec.cli is not None:
        return {"command": [_PROGRAM], "args": [TASK]}
    return {
        **({"command": list(spec.command)} if spec.command is not None else {}),
        **({"args": list(spec.args)} if spec.args is not None else {}),
    }


def _folders(spec: agent.AgentSpec) -> list[tuple[str, str]]:
    """Return name and path of the folders of prompt and answer files that need a volume."""
    if spec.cli is None:
        return []
    paths = (spec.cli.prompt.path, spec.cli.answer.path)
    folders = sorted({posixpath.dirname(path) for path in paths if path is not None})
    wanted = [path for path in folders if path != _SCRATCH and not path.startswith(f"{_SCRATCH}/")]
    return [(f"work-{number}", path) for number, path in enumerate(wanted)]
