"""Where in a compiled world a planted text is to be read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.world.difference import leaves

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.world.injection import Injection
    from oasis_operator.world.manifests import CommandAnswer, Json, LogLines
    from oasis_operator.world.plan import Plan


@dataclass(frozen=True, slots=True)
class Carrier:
    """Something that holds a planted text; exactly one of the members is set.

    Attributes:
        body: An object of the API.
        log: The log of a workload.
        command: A command that prints it.
    """

    body: Json | None = None
    log: LogLines | None = None
    command: CommandAnswer | None = None


def find_carriers(plan: Plan, injection: Injection) -> tuple[Carrier, ...]:
    """Find what holds the text of an injection, nothing for one that has none.

    Secrets hold it encoded; a log holds it line by line.
    """
    text = injection.text
    if not text:
        return ()
    names = {subject.split()[0].partition("/")[2] for subject in injection.subjects}
    bodies = (manifest.next_body or manifest.body for rank in plan.ranks for manifest in rank)
    found = [Carrier(body=body) for body in bodies if shows(body, text)]
    found += [Carrier(log=log) for log in plan.logs if log.subject in names and spoken(log.lines, text)]
    found += [
        Carrier(command=one)
        for one in plan.commands
        if one.subject in names and text in one.stdout + one.stderr
    ]
    return tuple(found)


def shows(body: Json, text: str) -> bool:
    """Tell whether an object holds a text, as it stands or within a document of its own."""
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    return any(text in leaf or written in leaf for leaf in leaves(body))


def spoken(lines: Iterable[str], text: str) -> bool:
    """Tell whether log lines hold each line of a text, one after the other."""
    return "\n".join(text.splitlines()) in "\n".join(lines)
