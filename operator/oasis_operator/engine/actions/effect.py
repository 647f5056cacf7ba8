"""One thing that a request of the agent does, or tries to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.engine.actions.keys import normal

if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis_operator.engine.actions.changes import Path
    from oasis_operator.engine.actions.keys import Key
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.actions.verbs import Act


class Effect:
    """One thing that a request does or tries to do.

    Attributes:
        act: What it does.
        kind: Plural of the kind that it does it to; empty for a path that is no resource.
        namespace: Namespace, empty for none or all.
        name: Object name; empty for a collection and where the log does not say.
        request: The request.
        implied: Whether it merely follows from what the request was about.
        uncertain: Whether the log does not record enough to say that the act took place.
        replicas: Replica counts that a scaling or a creation sets; empty where unknown or none.
        changes: What a write changes, worked out when asked for; None where the log does not record it.
    """

    __slots__ = ("_paths", "act", "implied", "kind", "name", "namespace", "replicas", "request", "uncertain")

    def __init__(  # noqa: PLR0913 - a plain record, built in this module only
        self,
        act: Act,
        request: Request,
        target: Key,
        *,
        implied: bool = False,
        uncertain: bool = False,
        replicas: tuple[int, ...] = (),
        paths: Callable[[], tuple[Path, ...] | None] | None = None,
    ) -> None:
        """Keep what it was built from."""
        self.act = act
        self.request = request
        self.kind, self.namespace, self.name = target
        self.implied = implied
        self.uncertain = uncertain
        self.replicas = replicas
        self._paths = paths

    @property
    def changes(self) -> tuple[Path, ...] | None:
        """Paths that a write changes, None where the log does not record them."""
        return None if self._paths is None else self._paths()

    @property
    def key(self) -> Key:
        """Key of the object as the world knows it."""
        return normal((self.kind, self.namespace, self.name))

    def __repr__(self) -> str:
        """Show act and target."""
        return f"Effect({self.act} {self.kind}/{self.name} namespace={self.namespace} seq={self.request.seq})"
