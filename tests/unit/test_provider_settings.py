from __future__ import annotations

import pytest

from oasis_operator import settings
from oasis_operator.errors import InvalidSpec

NEEDED = {"OASIS_NAMESPACE": "oasis-system", "OASIS_SIDECAR_IMAGE": "s", "OASIS_SANDBOX_IMAGE": "b"}
ON = {**NEEDED, "OASIS_PROVIDER_API": "true", "OASIS_PROVIDER_API_AUDIENCE": "oasis"}


def test_environments_are_served_to_nobody_unless_asked_for() -> None:
    assert settings.from_mapping(NEEDED).provider_api is None
    assert settings.from_mapping({**ON, "OASIS_PROVIDER_API": "false"}).provider_api is None


def test_what_is_set_is_read_and_the_rest_has_defaults() -> None:
    told = {
        **ON,
        "OASIS_PROVIDER_API_USERS": "system:serviceaccount:ci:runner, group",
        "OASIS_PROVIDER_API_AGENT_PEERS": '[{"podSelector": {}}]',
        "OASIS_PROVIDER_API_MAX_AGE_SECONDS": "600",
    }
    assert settings.from_mapping(told).provider_api == settings.ProviderApi(
        "oasis-system",
        audience="oasis",
        users=("system:serviceaccount:ci:runner", "group"),
        agent_peers=({"podSelector": {}},),
        max_age_seconds=600,
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"AUDIENCE": ""}, "OASIS_PROVIDER_API: want one of"),
        ({"TOKEN_FILE": "/token"}, "OASIS_PROVIDER_API: want one of"),
        ({"AUDIENCE": "", "ANONYMOUS": "true"}, "OASIS_PROVIDER_API_ANONYMOUS: want PROVIDER_API_HOST"),
        ({"AUDIENCE": "", "ANONYMOUS": "true", "HOST": "0.0.0.0"}, "127.0.0.1"),  # noqa: S104 - refused
        ({"PROVISIONS": "0"}, "from 1 to 64"),
        ({"MAX_AGE_SECONDS": "1"}, "from 60 to 86400"),
        ({"AGENT_PEERS": "{}"}, "JSON list of objects"),
        ({"AGENT_PEERS": "["}, "OASIS_PROVIDER_API_AGENT_PEERS"),
        ({"PEERS": "[]"}, "unknown variable"),
    ],
)
def test_what_cannot_work_is_refused_by_name(changes: dict[str, str], complaint: str) -> None:
    told = {**ON, **{f"OASIS_PROVIDER_API_{name}": value for name, value in changes.items()}}
    with pytest.raises(InvalidSpec) as caught:
        settings.from_mapping(told)
    assert complaint in caught.value.message


def test_everyone_may_be_served_on_loopback_alone() -> None:
    told = {**ON, "OASIS_PROVIDER_API_AUDIENCE": "", "OASIS_PROVIDER_API_ANONYMOUS": "true"}
    read = settings.from_mapping({**told, "OASIS_PROVIDER_API_HOST": "::1"}).provider_api
    assert read is not None
    assert read.anonymous
