from __future__ import annotations

import pytest

from oasis_operator import settings
from oasis_operator.errors import InvalidSpec

NEEDED = {
    "OASIS_NAMESPACE": "oasis-system",
    "OASIS_SIDECAR_IMAGE": "sidecar:1",
    "OASIS_SANDBOX_IMAGE": "sandbox:1",
}


def test_what_is_not_set_takes_its_default() -> None:
    images = settings.Images(sidecar="sidecar:1", sandbox="sandbox:1")
    assert settings.from_mapping(NEEDED) == settings.Settings(namespace="oasis-system", images=images)


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    assert settings.from_mapping({**NEEDED, "OASIS_PARALLELISM": " "}) == settings.from_mapping(NEEDED)


def test_variables_of_others_are_left_alone() -> None:
    assert settings.from_mapping({**NEEDED, "PATH": "/bin"}) == settings.from_mapping(NEEDED)


def test_namespaces_are_sorted_and_unique() -> None:
    assert settings.from_mapping({**NEEDED, "OASIS_WATCH_NAMESPACES": "b, a,,b"}).watch_namespaces == (
        "a",
        "b",
    )


def test_policies_are_read_unless_told_otherwise() -> None:
    assert settings.from_mapping(NEEDED).reads_policies
    assert settings.from_mapping({**NEEDED, "OASIS_READ_POLICIES": "true"}).reads_policies
    assert not settings.from_mapping({**NEEDED, "OASIS_READ_POLICIES": "false"}).reads_policies


def test_origins_of_models_are_sorted_and_hold_no_path() -> None:
    text = " https://b.example, http://10.0.0.7:8000,https://[2001:db8::1],"
    found = settings.from_mapping({**NEEDED, "OASIS_MODEL_ORIGINS": text}).model_origins
    assert found == ("http://10.0.0.7:8000", "https://[2001:db8::1]", "https://b.example")
    for wrong in ("models.example", "https://models.example/v1", "https://u:p@models.example", "ftp://m"):
        with pytest.raises(InvalidSpec, match="OASIS_MODEL_ORIGINS"):
            settings.from_mapping({**NEEDED, "OASIS_MODEL_ORIGINS": wrong})


def test_the_api_server_is_what_every_pod_is_told() -> None:
    told = {**NEEDED, "KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "6443"}
    assert settings.from_mapping(told).api_server == settings.Endpoint("10.96.0.1", 6443)
    named = {**told, "OASIS_API_SERVER_HOST": "api.example.test"}
    assert settings.from_mapping(named).api_server == settings.Endpoint("api.example.test", 6443)


def test_resources_are_read_from_json_with_numbers_as_text() -> None:
    read = settings.from_mapping(
        {**NEEDED, "OASIS_AGENT_RESOURCES": '{"limits": {"cpu": 2, "memory": "1Gi"}}'}
    )
    assert read.resources.agent == {"limits": {"cpu": "2", "memory": "1Gi"}}
    assert read.resources.sidecar == settings.SandboxResources().sidecar


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("PARALLELISM", "0", "from 1 to 64"),
        ("PARALLELISM", "1e3", "whole number"),
        ("PARALLELISM", "٣", "whole number"),
        ("RUNNING_TIMEOUT_SECONDS", "15m", "whole number"),
        ("SETTLE_SECONDS", "-1", "whole number"),
        ("HEALTH_PORT", "70000", "from 1 to 65535"),
        ("LOG_LEVEL", "trace", "one of DEBUG"),
        ("READ_POLICIES", "yes", "true or false"),
        ("IMAGE_PULL_POLICY", "Sometimes", "one of Always"),
        ("WATCH_NAMESPACES", "a,B", "'B' is not an object name"),
        ("AGENT_RESOURCES", "{", "property name"),
        ("AGENT_RESOURCES", "[]", "JSON object"),
        ("AGENT_RESOURCES", '{"limit": {}}', "requests and limits"),
        ("AGENT_RESOURCES", '{"limits": 1}', "must be JSON objects"),
        ("NAMESPASE", "x", "unknown variable"),
    ],
)
def test_a_faulty_variable_is_named(name: str, text: str, complaint: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        settings.from_mapping({**NEEDED, f"OASIS_{name}": text})
    assert f"OASIS_{name}: " in caught.value.message
    assert complaint in caught.value.message


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(InvalidSpec) as caught:
        settings.from_mapping({"OASIS_PARALLELISM": "x", "KUBERNETES_SERVICE_PORT": "y"})
    assert caught.value.reason == "InvalidSettings"
    for name in (*NEEDED, "OASIS_PARALLELISM", "KUBERNETES_SERVICE_PORT"):
        assert name in caught.value.message
