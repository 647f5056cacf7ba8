"""Record what the audit log shows of each operation in `operations.yaml`; see README.md.

Usage: python tests/golden/audit/record.py [NAME ...]
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shlex
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))

import store
from cluster import HERE, STATE, Cluster

#: Operations that need a fresh history, and those that leave a mark for a while.
FIRST = ("rollout-undo", "rollout-undo-dry-run")
LAST = ("create-namespace", "delete-namespace", "delete-all-in-namespace", "delete-node")
#: What kubectl asks to learn the API, which depends on its cache alone.
_DISCOVERY = re.compile(r"/(api|apis(/[^/]+/[^/]+)?|openapi/.*)(\?.*)?$")
_CREDENTIAL = "authentication.kubernetes.io/credential-id"


class Recorder:
    """Carries out operations one after the other and keeps what the log says of each."""

    def __init__(self, cluster: Cluster, objects: dict[str, Any]) -> None:
        self.cluster, self.objects = cluster, objects

    def record(self, name: str, operation: Any) -> dict[str, Any]:
        """Carry out one operation and give its recording."""
        steps = operation if isinstance(operation, list) else [operation]
        steps = [{"run": step} if isinstance(step, str) else step for step in steps]
        user = steps[0].get("user", "deployer")
        before = self._keep(self.cluster.snapshot())
        offset = self.cluster.log.stat().st_size
        output = [self._carry_out(self._filled(step), user) for step in steps]
        time.sleep(0.7)
        after = self._keep(self.cluster.snapshot())
        (self.cluster.folder / f"{name}.out").write_text("\n".join(output))
        username = f"system:serviceaccount:shop:{user}"
        entries = self._entries(offset, username, steps)
        credentials = {
            value
            for entry in entries
            if entry["user"].get("username") == username
            for value in entry["user"].get("extra", {}).get(_CREDENTIAL, ())
        }
        return {"username": username, "credential_ids": sorted(credentials),
                "before": before, "after": after, "entries": entries}  # fmt: skip

    def _keep(self, snapshot: dict[Any, Any]) -> list[str]:
        names = []
        for key in sorted(snapshot):
            text = json.dumps(snapshot[key], sort_keys=True)
            digest = hashlib.sha256(text.encode()).hexdigest()[:8]
            self.objects[digest] = json.loads(text)
            names.append(digest)
        return names

    def _entries(self, offset: int, username: str, steps: list[Any]) -> list[Any]:
        with self.cluster.log.open("rb") as log:
            log.seek(offset)
            text = log.read().decode().replace(str(self.cluster.folder / "run" / "run"), "/run/cluster")
        text = text.replace(str(self.cluster.folder / "run"), "/run/cluster")
        events = [json.loads(line) for line in text.splitlines()]
        paths = [step["run"].split(" ")[1] for step in steps if step.get("credential")]
        names = {username, *(f"system:serviceaccount:shop:{s['mint']}" for s in steps if "mint" in s)}
        mine = [
            event
            for event in events
            if event["user"].get("username") in names
            or (event["requestURI"] in paths and event.get("userAgent", "").startswith("Python-urllib"))
        ]
        telling = [event for event in mine if not _DISCOVERY.match(event["requestURI"])]
        return [{"seq": seq, **without_noise(event)} for seq, event in enumerate(telling or mine, 1)]

    def _filled(self, step: Any) -> Any:
        """Put the names of the moment into a step."""
        text = json.dumps(step)
        ask = self.cluster
        text = re.sub(r"\{pod:(\w+)\}", lambda match: ask.pods(match.group(1))[0], text)
        text = re.sub(r"\{pods:(\w+)\}", lambda match: " ".join(ask.pods(match.group(1))), text)
        text = re.sub(r"\{rs:(\w+)\}", lambda match: ask.replica_set(match.group(1)), text)
        text = text.replace("{node}", ask.node()) if "{node}" in text else text
        if "{file}" in text:
            (ask.folder / "note").write_text("a note\n")
            text = text.replace("{file}", str(ask.folder / "note"))
        return json.loads(text)

    def _carry_out(self, step: Any, user: str) -> str:
        if "change" in step:
            return self._change(step, user)
        if step["run"].startswith("kubectl "):
            return self._kubectl(step, user)
        token = self.cluster.tokens[user]
        if "mint" in step:
            path = f"/api/v1/namespaces/shop/serviceaccounts/{step['mint']}/token"
            minted = json.loads(self._ask(token, "POST", path, {"body": {"spec": {}}}))
            token = minted["status"]["token"]
        method, path = step["run"].split(" ")
        return self._ask(token, method, path, step)

    def _change(self, step: Any, user: str) -> str:
        token, path = self.cluster.tokens[user], step["change"]
        item = json.loads(self._ask(token, "GET", path, {}))
        for member, value in step["set"].items():
            _assign(item, member, value)
        return self._ask(token, "PUT", path + step.get("at", ""), {"body": item})

    def _ask(self, token: str, method: str, path: str, step: Any) -> str:
        """Make a request as a raw client and give the answer, whatever it is."""
        context = ssl.create_default_context(cafile=self.cluster.admin_file("ca.crt"))
        headers = {"Content-Type": step.get("type", "application/json"), "Authorization": f"Bearer {token}"}
        if "accept" in step:
            headers["Accept"] = step["accept"]
        credential = step.get("credential")
        if credential == "certificate":
            context.load_cert_chain(
                self.cluster.admin_file("client.crt"), self.cluster.admin_file("client.key")
            )
        if credential == "wrong":
            headers["Authorization"] = "Bearer not-a-token"
        elif credential:
            del headers["Authorization"]
        data = json.dumps(step["body"]).encode() if "body" in step else None
        url = f"https://127.0.0.1:{self.cluster.nested.port}{path}"
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=context, timeout=15) as answer:  # noqa: S310
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return f"{error.code} {error.read().decode()}"

    def _kubectl(self, step: Any, user: str) -> str:
        words = shlex.split(step["run"])[1:]
        given = step.get("in")
        if isinstance(given, str):
            given = json.loads(json.dumps(_manifest(given)))
            for member, value in step.get("set", {}).items():
                _assign(given, member, value)
        more = {"KUBE_EDITOR": step["editor"]} if "editor" in step else {}
        process = self.cluster.kubectl(words, user, json.dumps(given) if given else None, **more)
        if "then" in step:
            _follow_up(process, step["then"])
        try:
            output, _ = process.communicate(timeout=step.get("seconds", 40))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
        return f"$ {step['run']}\n{output.decode(errors='replace')}(exit {process.returncode})"


def _follow_up(process: Any, path: str) -> None:
    """Use the port that a kubectl has opened."""
    line = process.stdout.readline().decode()
    match = re.search(r"127\.0\.0\.1:(\d+)", line)
    if match is None:
        return
    target = path if path.startswith("/") else "/"
    with (
        contextlib.suppress(OSError),
        urllib.request.urlopen(f"http://127.0.0.1:{match.group(1)}{target}", timeout=2) as answer,
    ):
        answer.read()


def _manifest(name: str) -> Any:
    kinds = ("Deployment", "ConfigMap")
    return next(item for item in STATE if item["kind"] in kinds and item["metadata"]["name"] == name)


def _assign(item: Any, member: str, value: Any) -> None:
    *way, last = member.split(".")
    for key in way:
        item = item[int(key)] if isinstance(item, list) else item.setdefault(key, {})
    item[last] = value


def without_noise(value: Any) -> Any:
    """A JSON value without `managedFields` and the descriptions of table columns."""
    if isinstance(value, dict):
        kept = {key: without_noise(item) for key, item in value.items() if key != "managedFields"}
        if "columnDefinitions" in kept:
            kept["columnDefinitions"] = [
                {**column, "description": ""} for column in kept["columnDefinitions"]
            ]
        return kept
    return [without_noise(item) for item in value] if isinstance(value, list) else value


def main(names: list[str]) -> None:
    """Record the named operations, all without a name, and drop recordings of operations that are no more."""
    operations = yaml.safe_load((HERE / "operations.yaml").read_text())
    objects, recordings = store.load() if names else ({}, {})
    queue = names or sorted(operations, key=lambda name: (name in LAST) - (name in FIRST))
    while queue:
        queue = _record_some(queue, operations, objects, recordings)
    store.save(objects, {name: recordings[name] for name in operations if name in recordings})


def _record_some(
    queue: list[str], operations: dict[str, Any], objects: dict[str, Any], recordings: dict[str, Any]
) -> list[str]:
    """Record operations on one cluster; give those that are left when its state could not be put back."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.start()
            recorder = Recorder(cluster, objects)
            for place, name in enumerate(queue, 1):
                recording = recordings[name] = recorder.record(name, operations[name])
                output = (cluster.folder / f"{name}.out").read_text()[:400]
                _tell(f"== {name}: {len(recording['entries'])} entries\n{output}")
                try:
                    cluster.restore()
                except AssertionError as problem:
                    _tell(f"!! after {name}: {str(problem)[:300]}")
                    return queue[place:]
        finally:
            cluster.nested.stop_processes()
    return []


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
