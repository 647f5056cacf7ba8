"""Answers of the Kubernetes API that are no success, as the taxonomy's exceptions."""

from __future__ import annotations

import json
from typing import Any

from oasis_operator import errors
from oasis_operator.ports import kube

_MESSAGE_LIMIT = 512


def fault_of(status: int, body: bytes, what: str) -> errors.OasisError:
    """Return the exception for an answer with an HTTP status of 400 or above.

    Args:
        status: HTTP status.
        body: The answer; a Kubernetes `Status` object where it comes from the API server itself.
        what: What was attempted, such as `create Pod default/a-1`.
    """
    detail = _status_object(body)
    message = f"{what}: {status} {str(detail.get('message') or 'no message')[:_MESSAGE_LIMIT]}"
    reason = str(detail.get("reason") or "")
    if status == 409:
        return errors.Transient(
            message, reason=kube.ALREADY_EXISTS if reason == "AlreadyExists" else kube.CONFLICT
        )
    if status == 403:
        return errors.NotReady(
            message, reason=kube.QUOTA_EXCEEDED if "exceeded quota" in message else kube.FORBIDDEN
        )
    if status in (400, 413, 422):
        return errors.InvalidSpec(message, reason=kube.REFUSED)
    return errors.Transient(message, reason=_TRANSIENT.get(status, kube.SERVER_ERROR))


_TRANSIENT = {410: kube.EXPIRED, 429: kube.THROTTLED}


def is_misfit(status: int, body: bytes) -> bool:
    """Tell whether an answer says that a JSON patch does not fit the object.

    An object that would become invalid is answered alike, but names the object and what is wrong with it.
    """
    return status == 422 and not (_status_object(body).get("details") or {}).get("causes")


def network_fault(error: BaseException, what: str) -> errors.Transient:
    """Return the exception for a request that got no answer."""
    return errors.Transient(f"{what}: {type(error).__name__}: {error}"[:_MESSAGE_LIMIT], reason=kube.NETWORK)


def _status_object(body: bytes) -> dict[str, Any]:
    """Return the `Status` object of an answer, or one that holds its text."""
    try:
        value = json.loads(body)
    except ValueError:
        return {"message": body[:_MESSAGE_LIMIT].decode("utf-8", "replace")}
    return value if isinstance(value, dict) else {}
