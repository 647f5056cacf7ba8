"""Clusters that are not ours to run: a context the user names, or kind where a Docker engine runs."""

import shutil

from localcluster import command
from localcluster.errors import ClusterError
from localcluster.settings import CONTEXT, Paths

KIND_NAME = CONTEXT


def docker_runs() -> bool:
    """Whether a Docker engine answers; the client alone is not enough."""
    return shutil.which("docker") is not None and command.attempt(["docker", "info"]).returncode == 0


def kind_is_usable() -> bool:
    """Whether kind is installed and has an engine to run on."""
    return shutil.which("kind") is not None and docker_runs()


def report(action: str, context: str) -> int:
    """Answer `up`, `down` and `status` for a cluster that the user brought: nothing is created or removed.

    Raises:
        ClusterError: kubectl knows no such context.
    """
    known = command.run(["kubectl", "config", "get-contexts", "-o", "name"]).split()
    if context not in known:
        raise ClusterError(f"kubectl knows no context {context!r}; it knows: {', '.join(known) or 'none'}")
    if action == "status":
        command.say(command.run(["kubectl", "--context", context, "get", "nodes"]).rstrip())
    else:
        command.say(f"using the existing context {context}; nothing is created or removed")
    return 0


def kind(action: str, paths: Paths) -> int:
    """Run `up`, `down` or `status` on a kind cluster; its kubeconfig lies where the local node's would."""
    exists = KIND_NAME in command.run(["kind", "get", "clusters"]).split()
    if action == "up":
        if not exists:
            with command.step("creating a kind cluster"):
                paths.state.mkdir(parents=True, exist_ok=True)
                command.run(["kind", "create", "cluster", "--name", KIND_NAME, "--wait", "180s"])
        _write_kubeconfig(paths)
        command.say(f"cluster is up; KUBECONFIG={paths.kubeconfig} (context {CONTEXT})")
    elif action == "down":
        if exists:
            command.run(["kind", "delete", "cluster", "--name", KIND_NAME])
        paths.kubeconfig.unlink(missing_ok=True)
        command.say("kind cluster removed")
    else:
        command.say(f"kind cluster {KIND_NAME} {'exists' if exists else 'does not exist'}")
        return 0 if exists else 1
    return 0


def _write_kubeconfig(paths: Paths) -> None:
    """Write kind's kubeconfig under the context name that everything else expects."""
    paths.state.mkdir(parents=True, exist_ok=True)
    paths.kubeconfig.touch(mode=0o600)
    paths.kubeconfig.write_text(command.run(["kind", "get", "kubeconfig", "--name", KIND_NAME]))
    environment = {"KUBECONFIG": str(paths.kubeconfig)}
    command.run(["kubectl", "config", "rename-context", f"kind-{KIND_NAME}", CONTEXT], env=environment)
