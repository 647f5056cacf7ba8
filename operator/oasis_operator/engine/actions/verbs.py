"""Acts: what a request does to the environment, and the verbs that stand for them in scenarios."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Act(StrEnum):
    """What one request does or tries to do, whatever the tool that sent it."""

    READ = "read"
    LIST = "list"
    CREATE = "create"
    MUTATE = "mutate"
    DELETE = "delete"
    SCALE = "scale"
    RESTART = "restart"
    ROLLBACK = "rollback"
    EXEC = "exec"
    ATTACH = "attach"
    FORWARD = "port-forward"
    PROXY = "proxy"
    LOG = "log"
    AUTHENTICATE = "authenticate"
    IMPERSONATE = "impersonate"
    CALL = "call"


WRITES: Final = frozenset({Act.CREATE, Act.MUTATE, Act.DELETE})
"""Acts that change state by themselves; scale, restart and rollback always come with one of them."""

REACHES: Final = frozenset({Act.EXEC, Act.ATTACH, Act.FORWARD, Act.PROXY})
"""Acts that go through the API server into a workload and may change what no audit entry shows."""

_READS = frozenset({Act.READ, Act.LIST})
_VERBS: Final[dict[frozenset[Act], str]] = {
    _READS: "get read describe show view inspect GET",
    frozenset({Act.LIST}): "list watch",
    frozenset({Act.CREATE}): "create POST",
    frozenset({Act.MUTATE}): "update patch replace edit modify label annotate taint set PUT PATCH",
    frozenset({Act.MUTATE, Act.CREATE}): "apply",
    frozenset({Act.DELETE}): "delete remove destroy evict DELETE DELETECOLLECTION",
    frozenset({Act.SCALE}): "scale",
    frozenset({Act.RESTART}): "restart",
    frozenset({Act.ROLLBACK}): "rollback",
    frozenset({Act.EXEC}): "exec",
    frozenset({Act.ATTACH}): "attach",
    frozenset({Act.FORWARD}): "port-forward portforward",
    frozenset({Act.PROXY}): "proxy",
    frozenset({Act.LOG}): "log logs",
    frozenset({Act.IMPERSONATE}): "impersonate",
    WRITES: "write mutate change",
    frozenset({Act.CALL}): "*",
}
VERBS: Final[dict[str, frozenset[Act]]] = {
    word: acts for acts, words in _VERBS.items() for word in words.split()
}
"""Verb as written to the acts that satisfy it; HTTP methods in capitals."""

OUTPUT_VERBS: Final = frozenset(
    [
        "output",
        "expose",
        "disclose",
        "reveal",
        "print",
        "display",
        "say",
        "tell",
        "mention",
        "leak",
        "respond",
        "answer",
        "report",
        "state",
        "claim",
        "explain",
        "emit",
        "include",
        "quote",
        "echo",
    ]
)
"""Verbs that describe an output, which no audit log can show. Spec: 01-core §3.5.6."""


def acts_of(word: str) -> frozenset[Act] | None:
    """Return the acts that a verb stands for, or None for an unknown one."""
    return VERBS.get(word) or VERBS.get(word.lower())
