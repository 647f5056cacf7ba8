"""The definitions and the chart against a real API server; nothing but the definitions is ever stored."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from chart.conftest import ROOT, Rendered, Run
from oasis_operator.api import fields
from unit.api.cases import CHANGES, KINDS, REFUSED, TAKEN, Case, Change, body_of

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.cluster

LOCAL = Path.home() / ".cache/oasis-operator/cluster/kubeconfig"
ROOT_PATH = f"/apis/{fields.GROUP}/{fields.VERSION}"
CRDS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MANAGER = "oasis-definition-test"


class Server:
    """A few raw requests with strict field validation."""

    def __init__(self, api: Any) -> None:
        self._api = api

    def send(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, dict[str, Any]]:
        content_type = "application/apply-patch+yaml" if method == "PATCH" else "application/json"
        request = self._api.param_serialize(
            method,
            path,
            query_params=list(query.items()),
            header_params={"Accept": "application/json", "Content-Type": content_type},
            body=body,
            auth_settings=["BearerToken"],
        )
        response = self._api.call_api(*request)
        return response.status, json.loads(response.read())


@pytest.fixture(scope="module")
def server() -> Server:
    from kubernetes import client
    from kubernetes import config as kube_config

    config: Any = kube_config  # it has no annotations

    path = os.environ.get("KUBECONFIG") or (str(LOCAL) if LOCAL.is_file() else "")
    if not path:
        pytest.skip("no cluster: set KUBECONFIG or run make cluster-up")
    return Server(config.new_client_from_config(path, client_configuration=client.Configuration()))


@pytest.fixture(scope="module", autouse=True)
def definitions(server: Server) -> Iterator[None]:
    """Install the definitions where there are none, and then take them away again."""
    files = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "crds").glob("*.yaml"))
    ]
    made = []
    for crd in files:
        path = f"{CRDS_PATH}/{crd['metadata']['name']}"
        status, found = server.send("GET", path)
        if status == 404:
            status, found = server.send("PATCH", path, crd, fieldManager=MANAGER, fieldValidation="Strict")
            assert status in (200, 201), found["message"]
            made.append(path)
        else:
            # What is installed is what a release left; only the same text can be tested against it.
            assert found["spec"]["versions"][0]["schema"] == crd["spec"]["versions"][0]["schema"], path
    _wait_until_served(server, [crd["spec"]["names"]["kind"] for crd in files])
    yield
    for path in made:
        server.send("DELETE", path)


def _wait_until_served(server: Server, kinds: list[str]) -> None:
    for _ in range(100):
        if all(server.send("GET", _path(kind))[0] == 200 for kind in kinds):
            return
        time.sleep(0.1)
    pytest.fail("the definitions were taken but are not served")


def _path(kind: str) -> str:
    definition = KINDS[kind]
    scope = "" if definition.scope == "Cluster" else "/namespaces/default"
    return f"{ROOT_PATH}{scope}/{definition.plural}"


def _create(server: Server, body: dict[str, Any], **query: str) -> tuple[int, dict[str, Any]]:
    return server.send("POST", _path(body["kind"]), body, fieldValidation="Strict", **query)


@pytest.mark.parametrize("case", TAKEN, ids=lambda case: case.name)
def test_a_good_object_is_taken(server: Server, case: Case) -> None:
    status, answer = _create(server, case.body("crd-test"), dryRun="All")
    assert status == 201, answer["message"]
    assert answer["spec"] == case.spec
    assert answer.get("status") == ({"observedGeneration": -1} if KINDS[case.kind].has_status else None)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case.kind}: {case.name}")
def test_a_bad_object_is_refused(server: Server, case: Case) -> None:
    status, answer = _create(server, case.body("crd-test"), dryRun="All")
    assert status == 422
    assert case.message is not None
    assert case.message in answer["message"]


def _replace(server: Server, path: str, stored: dict[str, Any], spec: Any) -> tuple[int, dict[str, Any]]:
    """Try another spec; an operator that is installed may write the status in between and is given way to."""
    for _ in range(20):
        status, answer = server.send("PUT", path, {**stored, "spec": spec}, dryRun="All")
        if status != 409:
            return status, answer
        _, stored = server.send("GET", path)
    pytest.fail("never in time")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.kind}: {change.name}")
def test_a_change_is_judged_by_what_was_before(server: Server, change: Change) -> None:
    path = f"{_path(change.kind)}/crd-test"
    status, stored = _create(server, body_of(change.kind, change.before, "crd-test"))
    assert status == 201, stored["message"]
    try:
        status, answer = _replace(server, path, stored, change.after)
    finally:
        server.send("DELETE", path)
    if change.message is None:
        assert status == 200, answer["message"]
    else:
        assert status == 422
        assert change.message in answer["message"]


def test_a_misspelled_field_is_refused(server: Server) -> None:
    body = body_of("Evaluation", {**TAKEN[6].spec, "repetition": 3}, "crd-test")
    status, answer = _create(server, body, dryRun="All")
    assert status == 400
    assert 'unknown field "spec.repetition"' in answer["message"]


def test_a_list_in_the_configuration_is_refused(server: Server) -> None:
    body = body_of(
        "Agent", {**TAKEN[0].spec, "configuration": {"zones": ["a"], "mode": {"b": "c"}}}, "crd-test"
    )
    status, answer = _create(server, body, dryRun="All")
    assert status == 422
    assert "spec.configuration.zones" in answer["message"]
    assert "spec.configuration.mode" in answer["message"]


def test_the_rendered_chart_is_taken(server: Server, helm: Run) -> None:
    done = helm("template", "crd-test", str(ROOT / "charts/oasis-operator"), "--namespace", "default")
    assert done.returncode == 0, done.stderr
    rendered = Rendered(tuple(manifest for manifest in yaml.safe_load_all(done.stdout) if manifest))
    for manifest in rendered.manifests:
        status, answer = server.send(
            "PATCH",
            _object_path(manifest),
            manifest,
            fieldManager=MANAGER,
            force="true",
            dryRun="All",
            fieldValidation="Strict",
        )
        assert status in (200, 201), (manifest["kind"], answer["message"])


def _object_path(manifest: dict[str, Any]) -> str:
    group, _, version = manifest["apiVersion"].rpartition("/")
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    kind = manifest["kind"].lower()
    plural = f"{kind[:-1]}ies" if kind.endswith("policy") else f"{kind}s"
    namespace = manifest["metadata"].get("namespace")
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{scope}/{plural}/{manifest['metadata']['name']}"
