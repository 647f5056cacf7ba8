"""What goes on after the answer: numbered writes, a watch that nobody ends and a request that never comes in full."""

from __future__ import annotations

import http.client
import itertools
import os
import threading
import urllib.parse
from typing import TYPE_CHECKING

from cluster import collection, location

if TYPE_CHECKING:
    from cluster import Cluster

COUNTER = "count"
_HALF = b'{"metadata": {"annotations": {"half": "yes"}'


def work(cluster: Cluster, _: dict, namespaces: list[str]) -> dict:
    """Start what goes on, and answer at once.

    The writes are made by a process of its own, as a command that was sent into the background would be; each
    begins when the one before it was answered, and says its number.
    """
    deployment = next(entry for space in namespaces for entry in cluster.list("deployments", space))
    threading.Thread(target=_watch, args=(cluster, deployment), daemon=True).start()
    threading.Thread(target=_send_half, args=(cluster, deployment), daemon=True).start()
    if os.fork() == 0:
        for number in itertools.count(1):
            metadata = {"annotations": {COUNTER: str(number)}}
            cluster.patch(location("deployments", deployment), {"metadata": metadata})
    return {"reasoning": "The rest can wait.", "final_answer": "I am done."}


def _watch(cluster: Cluster, deployment: dict) -> None:
    namespace = deployment["metadata"]["namespace"]
    connection = cluster.connect()
    connection.request("GET", f"{collection('pods', namespace)}?watch=true", headers=cluster.credentials())
    connection.getresponse().read()


def _send_half(cluster: Cluster, deployment: dict) -> None:
    connection = cluster.connect()
    connection.putrequest("PATCH", urllib.parse.quote(location("deployments", deployment)))
    for name, value in cluster.credentials().items():
        connection.putheader(name, value)
    connection.putheader("Content-Type", "application/merge-patch+json")
    connection.putheader("Content-Length", str(len(_HALF) + 1))
    connection.endheaders(_HALF)
    try:
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return
