"""What the second step works on: a scenario together with the nodes that it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.profile.collector import Nearest, Reporter
    from oasis_operator.profile.yaml_nodes import Node


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario whose references are still to be checked."""

    scenario: Scenario
    node: Node
    reporter: Reporter

    def at(self, *path: str | int) -> tuple[int, int]:
        """Return where a member stands; the nearest enclosing one where it is absent."""
        node = self.node
        for step in path:
            below = node.get(step) if isinstance(step, str) else _item(node, step)
            if below is None:
                break
            node = below
        return node.at

    def report(
        self, number: str, message: str, *path: str | int, value: object = "", remedy: str | Nearest = ""
    ) -> None:
        """File a fault of the scenario family at a member."""
        self.reporter.report(
            f"SCN{number}", message, at=self.at(*path), value=value, remedy=remedy, path=render_path(path)
        )


def _item(node: Node, index: int) -> Node | None:
    items = node.items or []
    return items[index] if index < len(items) else None


def render_path(path: tuple[Any, ...]) -> str:
    """Return a path as text, such as `stimuli[0].type`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else (f".{step}" if text else step)
    return text
