"""The record of attempts: what later attempts on the same subject are held against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from oasis_operator.model.attempt import Attempt


class Attempts(Protocol):
    """An append-only record by namespace and subject, out of reach of whoever may delete our objects."""

    async def note(self, facts: Attempt) -> None:
        """Add the facts to what is on record of their attempt, durably before returning.

        What is on record already is not added again and nothing is taken back.

        Raises:
            ProviderFault: When the record cannot be kept.
        """
        ...

    async def get(self, namespace: str, subject: str, evaluation_uid: str, number: int) -> Attempt | None:
        """Return what is on record of one attempt, or None.

        Raises:
            ProviderFault: When the record cannot be read, which must never be taken for an empty one.
        """
        ...

    async def of_subject(self, namespace: str, subject: str) -> tuple[Attempt, ...]:
        """Return every attempt on a subject that is on record, the oldest first; may be empty.

        Raises:
            ProviderFault: When any part of the record cannot be read.
        """
        ...
