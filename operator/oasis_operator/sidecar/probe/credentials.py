"""The agent's credential: made when the world is ready, refused once the run is over."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe.api import Api, ApiError, gather_all, path_of
from oasis_operator.sidecar.probe.cluster import ensure, wait_for
from oasis_operator.sidecar.probe.snapshot import cleaned

if TYPE_CHECKING:
    from oasis_operator.world.manifests import Json
    from oasis_operator.world.principal import Principal

#: Longer than any run; the credential ends earlier, when it is revoked.
_VALID_SECONDS = 24 * 3600
_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Issued:
    """A credential that the API server issued.

    Attributes:
        principal: Whose it is.
        token: The bearer token.
        credential_id: As the audit log names the credential.
    """

    principal: Principal
    token: str
    credential_id: str


async def issue(api: Api, principal: Principal) -> Issued:
    """Create the account with its rights, and a token for it.

    Raises:
        ApiError: The API server refused an object or the token.
        ProviderFault: The rights did not come into force.
    """
    for part in _in_order(principal):
        await gather_all(*(ensure(api, body) for body in part))
    path = f"/api/v1/namespaces/{principal.home}/serviceaccounts/{principal.account}/token"
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": _VALID_SECONDS},
    }
    answer = await api.request("POST", path, request)
    token = str(answer["status"]["token"])

    async def is_granted() -> bool:
        return all(await _grants(api, principal))

    await wait_for("rights of the agent", is_granted, patience_seconds=_PATIENCE_SECONDS, every=0.02)
    return Issued(principal, token, f"JTI={_token_id(token)}")


async def revoke(api: Api, principal: Principal) -> tuple[Json, ...]:
    """Take the bindings and the account away, and see that the API server refuses the agent.

    The API server may know a token for some seconds after its account is gone; without its bindings, which it
    misses at once, the token is good for nothing.

    Returns:
        What was taken away, as it was until then: the run's end must not look like a change of the world.

    Raises:
        ApiError: The API server refused a deletion.
        ProviderFault: The agent was not refused.
    """
    taken = [
        body
        for body in principal.objects
        if body["kind"].endswith("Binding") or body["kind"] == "ServiceAccount"
    ]
    found = await gather_all(*(_read(api, body) for body in taken))
    await gather_all(*(api.delete(body) for body in taken))

    async def is_refused() -> bool:
        return not any(await _grants(api, principal))

    await wait_for("revocation", is_refused, patience_seconds=_PATIENCE_SECONDS, every=0.02)
    return tuple(item for item in found if item is not None)


async def _read(api: Api, body: Json) -> Json | None:
    try:
        found = dict(await api.get(path_of(body, named=True)))
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    return cleaned(found, body["apiVersion"], body["kind"])


def _in_order(principal: Principal) -> tuple[list[Json], ...]:
    first = ("Namespace",)
    second = ("ServiceAccount", "ClusterRole", "Role")
    return (
        [body for body in principal.objects if body["kind"] in first],
        [body for body in principal.objects if body["kind"] in second],
        [body for body in principal.objects if body["kind"].endswith("Binding")],
    )


async def _grants(api: Api, principal: Principal) -> list[bool]:
    """Ask about one right of every binding: whether each is in force."""
    namespaces = [
        body["metadata"]["namespace"] for body in principal.objects if body["kind"] == "RoleBinding"
    ]
    asked = [{"verb": "list", "resource": "nodes"}]
    asked += [{"verb": "list", "resource": "pods", "namespace": namespace} for namespace in namespaces]
    return await gather_all(*(_review(api, principal, attributes) for attributes in asked))


async def _review(api: Api, principal: Principal, attributes: dict[str, str]) -> bool:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": principal.username,
            "groups": list(principal.groups),
            "resourceAttributes": attributes,
        },
    }
    answer = await api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"].get("allowed"))


def _token_id(token: str) -> str:
    """Read the identifier of a token that the API server just issued."""
    try:
        payload = token.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["jti"])
    except (IndexError, ValueError, KeyError) as error:
        raise ProviderFault("token of the agent: has no identifier", reason="EnvironmentFault") from error
