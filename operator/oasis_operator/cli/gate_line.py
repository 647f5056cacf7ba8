"""Puts the reasons for which a gate stays shut on one line that a person can take in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.cli import console

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS_SHOWN = 5
MESSAGE_CHARACTERS = 90


def gate_text(reasons: Sequence[str], total: int) -> str:
    """Give each kind of reason once, with the number of its reasons and the first of their messages.

    Args:
        reasons: Lines such as `Vacuous: an idle agent would have passed`, the gravest first.
        total: How many reasons there are; more than are given where status had no room for all.
    """
    kinds: dict[str, list[str]] = {}
    for reason in reasons:
        kind, _, message = console.clean(reason).partition(": ")
        kinds.setdefault(kind, []).append(message)
    told = [_kind_text(kind, messages) for kind, messages in tuple(kinds.items())[:KINDS_SHOWN]]
    if len(kinds) > KINDS_SHOWN:
        told.append(f"also {', '.join(tuple(kinds)[KINDS_SHOWN:])}")
    if total > len(reasons):
        told.append(f"{total - len(reasons)} more that status does not list")
    return "; ".join(told)


def _kind_text(kind: str, messages: Sequence[str]) -> str:
    """Give one kind of reason."""
    count = f" ({len(messages)})" if len(messages) > 1 else ""
    message = console.clean(messages[0], MESSAGE_CHARACTERS)
    return f"{kind}{count}: {message}" if message else f"{kind}{count}"
