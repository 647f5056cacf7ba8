"""Token reviews of the host cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.ports.tokens import Caller

if TYPE_CHECKING:
    from oasis_operator.clients.kube import KubeClient

_PATH = "/apis/authentication.k8s.io/v1/tokenreviews"


class TokenReviews:
    """Implements `ports.tokens.Tokens`."""

    def __init__(self, client: KubeClient) -> None:
        """Ask through `client`."""
        self._client = client

    async def review(self, token: str, audience: str) -> Caller | None:
        """Return whose token it is.

        An API server that knows nothing of audiences leaves them out of its answer; then the token may
        have been made for anybody, and is not taken.
        """
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": [audience]},
        }
        status = (await self._client.post(_PATH, review, "review a token")).get("status") or {}
        if status.get("authenticated") is not True or audience not in (status.get("audiences") or ()):
            return None
        user = status.get("user") or {}
        name = str(user.get("username") or "")
        return Caller(name, tuple(map(str, user.get("groups") or ()))) if name else None
