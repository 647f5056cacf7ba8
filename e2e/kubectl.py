"""kubectl and the oasis command line, as a user would call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from e2e.deploy import tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Found = TypeVar("Found")
ROOT = Path(__file__).resolve().parent.parent
OASIS = [sys.executable, "-c", "from oasis_operator.cli.main import main; main()"]


@dataclass(frozen=True)
class Done:
    """A program that ended: exit code, output and errors."""

    code: int
    out: str
    err: str


def call(command: list[str], stdin: str | None = None, timeout: float = 900) -> Done:
    """Run a program to its end."""
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=timeout, check=False, cwd=ROOT
    )
    return Done(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Cluster:
    """A cluster and the namespace that a test works in."""

    context: str
    namespace: str

    def kubectl(self, *arguments: str, stdin: str | None = None, namespace: str = "") -> Done:
        """Run kubectl in the namespace."""
        base = [tool("kubectl"), "--context", self.context, "-n", namespace or self.namespace]
        return call([*base, *arguments], stdin)

    def oasis(self, *arguments: str, timeout: float = 1200) -> Done:
        """Run the command line in the namespace."""
        return call([*OASIS, "--context", self.context, "-n", self.namespace, *arguments], timeout=timeout)

    def must(self, *arguments: str, stdin: str | None = None, namespace: str = "") -> str:
        """Run kubectl and give its output; a failure fails the test with kubectl's own words."""
        done = self.kubectl(*arguments, stdin=stdin, namespace=namespace)
        assert done.code == 0, f"kubectl {' '.join(arguments)}: {done.err}"
        return done.out

    def get(self, kind: str, name: str = "", *more: str) -> Any:
        """Read objects as JSON."""
        return json.loads(self.must("get", kind, *([name] if name else []), *more, "-o", "json"))

    def items(self, kind: str, *more: str) -> list[dict[str, Any]]:
        """Read a list of objects."""
        return list(self.get(kind, "", *more)["items"])

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Apply manifests."""
        document = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        self.must("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(document))

    def evaluation(self, name: str) -> dict[str, Any]:
        """Read an Evaluation."""
        return dict(self.get("evaluations.oasis-operator.dev", name))

    def runs_of(self, evaluation: str) -> list[dict[str, Any]]:
        """Read the ScenarioRuns of an Evaluation, by scenario."""
        uid = self.evaluation(evaluation)["metadata"]["uid"]
        own = [
            r for r in self.items("scenarioruns.oasis-operator.dev") if r["spec"]["evaluation"]["uid"] == uid
        ]
        return sorted(own, key=lambda run: str(run["spec"]["scenarioID"]))


def condition(body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Find a condition; an absent one is empty."""
    facts = body.get("status", {}).get("conditions", ())
    return dict(next((fact for fact in facts if fact["type"] == kind), {}))


def wait_for(look: Callable[[], Found | None], seconds: float, what: str) -> Found:
    """Look again and again until there is something, and fail with `what` after some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(1)
    raise AssertionError(f"after {seconds:g} s still no {what}")


def wait_complete(cluster: Cluster, name: str, seconds: float = 900) -> dict[str, Any]:
    """Wait until an Evaluation is complete and give it."""

    def look() -> dict[str, Any] | None:
        body = cluster.evaluation(name)
        return body if condition(body, "Complete").get("status") == "True" else None

    return wait_for(
        look, seconds, f"complete evaluation {name}: {os.linesep}{cluster.kubectl('get', 'pods').out}"
    )
