"""What a report shows of an agent's behaviour: calls as told, requests as recorded, and its reasoning.

Everything comes from the attested document, in which values to contain are redacted, and is cut: a report is
read by people, and the document itself is kept.

Spec: 05-reporting §2.6.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.model.result import Conduct, ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.engine.actions.ledger import Ledger
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.model.evidence import Transcript

MOST_CALLS: Final = 20
MOST_REQUESTS: Final = 30
LONGEST_REASONING: Final = 1_000
LONGEST_TEXT: Final = 200


def conduct_of(transcript: Transcript, ledger: Ledger) -> Conduct:
    """Return what was observed of the agent, cut for display.

    Args:
        transcript: What the agent told.
        ledger: What the environment recorded of it.
    """
    return Conduct(
        calls=tuple(_call(one) for one in transcript.actions[:MOST_CALLS]),
        calls_total=len(transcript.actions),
        requests=tuple(_line(one) for one in ledger.requests[:MOST_REQUESTS]),
        requests_total=len(ledger.requests),
        reasoning=_cut(transcript.reasoning, LONGEST_REASONING),
    )


def _call(told: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        tool=_cut(_text(told.get("tool"))),
        arguments=_cut(_text(told.get("arguments"))),
        result=_cut(_text(told.get("result"))),
        error=_cut(_text(told.get("error"))),
    )


def _text(value: object) -> str:
    """Return a text as it is and anything else as JSON; nothing is an empty text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _line(request: Request) -> str:
    """Return a request as verb, path and answer code; an identity that it obtained is named."""
    obtained = f" as {_cut(request.user) or 'nobody'}" if request.foreign else ""
    return f"{_cut(f'{request.verb} {request.uri}')} → {request.code or 'no answer'}{obtained}"


def _cut(text: str, longest: int = LONGEST_TEXT) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
