"""The record of attempts as one JSON file for each, in a folder for each namespace and subject.

A file is replaced as a whole by one that holds more, so that a crash leaves either the facts before or those
after. A file that cannot be read is a fault and never an empty record.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.clients.artifact_store import write_whole
from oasis_operator.model.attempt import Attempt, Ending, Start, Violation

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "oasis-operator.dev/attempt/v1"
_KEPT = 500


class FileAttempts:
    """Implements `ports.attempts.Attempts` below one folder: `<namespace and subject>/<attempt>.json`."""

    def __init__(self, root: Path, kept: int = _KEPT) -> None:
        """Keep the record below `root`, of each subject at most `kept` attempts."""
        self._root = root
        self._kept = kept
        # Reading, joining and replacing is one step; the operator is the only writer.
        self._lock = threading.Lock()

    async def note(self, facts: Attempt) -> None:
        """Add facts durably."""
        await asyncio.to_thread(self._note, facts)

    async def get(self, namespace: str, subject: str, evaluation_uid: str, number: int) -> Attempt | None:
        """Return one attempt, or None."""
        return await asyncio.to_thread(
            _read, self._folder(namespace, subject) / _file(evaluation_uid, number)
        )

    async def of_subject(self, namespace: str, subject: str) -> tuple[Attempt, ...]:
        """Return all attempts on a subject, the oldest first."""
        found = await asyncio.to_thread(self._all, self._folder(namespace, subject))
        return tuple(attempt for _, attempt in found)

    def _folder(self, namespace: str, subject: str) -> Path:
        # Hashed, so that no text of a user can name another place.
        return self._root / hashlib.sha256(f"{namespace}\0{subject}".encode()).hexdigest()

    def _note(self, facts: Attempt) -> None:
        folder = self._folder(facts.namespace, facts.subject)
        target = folder / _file(*facts.key)
        with self._lock:
            before = _read(target)
            after = before.joined(facts) if before else facts
            if after == before:
                return
            try:
                write_whole(target, _dump(after))
                if before is None:
                    self._drop_beyond_limit(folder, target)
            except OSError as error:
                raise errors.ProviderFault(
                    f"cannot keep the record of attempts: {error.strerror}", reason="RecordFault"
                ) from error

    def _drop_beyond_limit(self, folder: Path, newest: Path) -> None:
        """Drop the oldest attempts of a subject with too many, those that ended without a failure first."""
        if len(_paths(folder)) <= self._kept:
            return
        others = [item for item in self._all(folder) if item[0] != newest]
        others.sort(key=lambda item: (item[1].has_failed, not item[1].endings, item[1].began_at))
        for path, _ in others[: len(others) + 1 - self._kept]:
            path.unlink(missing_ok=True)

    def _all(self, folder: Path) -> list[tuple[Path, Attempt]]:
        found = [(path, attempt) for path in _paths(folder) if (attempt := _read(path)) is not None]
        return sorted(found, key=lambda item: (item[1].began_at, item[1].evaluation, item[1].number))


def _paths(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(folder, error.strerror or "") from error


def _file(evaluation_uid: str, number: int) -> str:
    return f"{hashlib.sha256(f'{evaluation_uid}/{number}'.encode()).hexdigest()}.json"


def _dump(attempt: Attempt) -> bytes:
    body = {"schema": SCHEMA, **asdict(attempt)}
    return json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1).encode()


def _read(path: Path) -> Attempt | None:
    """Return the attempt that a file holds; None where there is none.

    Raises:
        ProviderFault: The file is there and cannot be read.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or "") from error
    try:
        return _attempt(json.loads(content))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _unreadable(path, "it is damaged") from error


def _attempt(body: Any) -> Attempt:
    if not isinstance(body, dict) or body.pop("schema", None) != SCHEMA:
        raise ValueError("another schema")
    return Attempt(
        **{
            **body,
            "starts": tuple(Start(**item) for item in body["starts"]),
            "violations": tuple(Violation(**item) for item in body["violations"]),
            "endings": tuple(
                Ending(**{**item, "failing": tuple(item["failing"])}) for item in body["endings"]
            ),
        }
    )


def _unreadable(path: Path, why: str) -> errors.ProviderFault:
    message = f"the record of attempts cannot be read: {path.parent.name[:12]}/{path.name[:12]}: {why}"
    return errors.ProviderFault(message, reason="RecordUnreadable")
