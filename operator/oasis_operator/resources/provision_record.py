"""What is on record of one environment at a foreign provider, and of one conformance answer.

The record of a provision is written before the provider is asked, so that an operator that starts anew knows
that it asked. It holds credentials and state with the scenario's values, and is removed with the environment.

Spec: 08-provider-conformance §3.2, 08-provider-conformance §3.8.3.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator import errors
from oasis_operator.wire.provider import ProvisionAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = "oasis-operator.dev/provision/v1"
ANSWER_SCHEMA: Final = "oasis-operator.dev/conformance/v1"


@dataclass(frozen=True, slots=True)
class Provision:
    """One environment that was asked for.

    Attributes:
        key: Identifier of the run's attempt.
        namespace: Namespace of the ScenarioRun.
        run: Its name.
        run_uid: Its UID.
        provider: `spec.provider` of the Environment as it was then.
        knows_ids: Whether the provider takes the identifier that is proposed.
        asked_at: When it was asked first, RFC 3339.
        environment_id: As the provider answered; before that as proposed, which may mean nothing to it.
        answer: The answer, None as long as there is none.
        before: Snapshot before the agent was let in, None as long as there is none.
        orphaned: Whether the run has no more use for it, so that it is torn down whenever that is possible.
    """

    key: str
    namespace: str
    run: str
    run_uid: str
    provider: Mapping[str, Any]
    knows_ids: bool
    asked_at: str
    environment_id: str
    answer: Mapping[str, Any] | None = None
    before: Mapping[str, Any] | None = None
    orphaned: bool = False

    @property
    def can_be_torn_down(self) -> bool:
        """Whether the provider can be told which environment is meant."""
        return self.answer is not None or self.knows_ids

    @property
    def provisioned(self) -> ProvisionAnswer | None:
        """The answer as the contract has it, None as long as there is none."""
        return ProvisionAnswer.from_json(dict(self.answer)) if self.answer is not None else None

    def dump(self) -> bytes:
        """Give the bytes that are kept."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, ensure_ascii=False).encode()


def read_provision(content: bytes) -> Provision | None:
    """Read a record; None where the bytes are another kind of record.

    Raises:
        ProviderFault: They are damaged.
    """
    body = _body(content)
    if body.pop("schema", None) != SCHEMA:
        return None
    try:
        return Provision(**body)
    except TypeError as error:
        raise _damaged() from error


@dataclass(frozen=True, slots=True)
class Declared:
    """A conformance answer, kept for the attempt that asked for it.

    Attributes:
        namespace: Namespace of the Evaluation.
        evaluation: Its name.
        evaluation_uid: Its UID.
        answer: As it came.
    """

    namespace: str
    evaluation: str
    evaluation_uid: str
    answer: Mapping[str, Any]

    def dump(self) -> bytes:
        """Give the bytes that are kept."""
        return json.dumps({"schema": ANSWER_SCHEMA, **asdict(self)}, ensure_ascii=False).encode()


def read_declared(content: bytes) -> Declared | None:
    """Read a kept answer; None where the bytes are another kind of record.

    Raises:
        ProviderFault: They are damaged.
    """
    body = _body(content)
    if body.pop("schema", None) != ANSWER_SCHEMA:
        return None
    try:
        return Declared(**body)
    except TypeError as error:
        raise _damaged() from error


def _body(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _damaged() from error
    if not isinstance(body, dict):
        raise _damaged()
    return body


def _damaged() -> errors.ProviderFault:
    return errors.ProviderFault("a record of the provider is damaged", reason="RecordUnreadable")
