"""What a change of an API object changes: field paths as tuples of keys, list positions left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Path = tuple[str, ...]

NOISE: Final[frozenset[Path]] = frozenset(
    {
        ("status",),
        *(
            ("metadata", key)
            for key in [
                "resourceVersion",
                "generation",
                "managedFields",
                "creationTimestamp",
                "selfLink",
                "uid",
            ]
        ),
    }
)
"""Paths that change by themselves or that the API server sets."""

_DEEPEST: Final = 40


def differences(one: Any, other: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths in which two JSON values differ, noise left out; a path may come more than once.

    Lists of equal length are compared place by place; others differ as a whole. Absent, null and empty
    members are the same thing, since the API drops them at will.
    """
    if path in NOISE or one == other:
        return
    shallow = len(path) < _DEEPEST
    if shallow and isinstance(one, dict) and isinstance(other, dict):
        # Most members are alike, and this is asked of every object that is written.
        for key in sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key)):
            yield from differences(one.get(key), other.get(key), (*path, key))
    elif shallow and isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from differences(left, right, path)
    elif _is_something(one) and _is_something(other):
        yield path
    elif _is_something(one) or _is_something(other):
        yield from _leaves(one if _is_something(one) else other, path)


def named_paths(body: Any) -> tuple[Path, ...]:
    """Return the paths that a request body names: of a JSON patch, of a merge patch or of an object."""
    if isinstance(body, list):
        return tuple(
            dict.fromkeys(path for step in body if isinstance(step, dict) for path in _of_step(step))
        )
    if not isinstance(body, dict):
        return ()
    plain = {key: value for key, value in body.items() if key not in ("kind", "apiVersion")}
    return tuple(dict.fromkeys(path for path in _leaves(plain, ()) if path and path not in NOISE))


def value_at(body: Any, path: Path) -> Any:
    """Return the value at a path, lists on the way read as lists of values; None where there is none."""
    for index, key in enumerate(path):
        if isinstance(body, list):
            return [value_at(item, path[index:]) for item in body]
        if not isinstance(body, dict):
            return None
        body = body.get(key)
    return body


def touches(path: Path, wanted: str) -> bool:
    """Return whether a changed path lies at, under or above a wanted one, written with dots.

    A wanted path of a single word, such as `image`, stands for every path in which the word occurs.
    """
    if "." not in wanted and wanted in path:
        return True
    text = ".".join(path)
    return text == wanted or text.startswith(f"{wanted}.") or wanted.startswith(f"{text}.")


def changed_paths(
    prior: Mapping[str, Any] | None, body: Any, after: Mapping[str, Any] | None
) -> tuple[Path, ...]:
    """Return the paths that a write changed or tried to change.

    Args:
        prior: The object before, or None where it is not known.
        body: The request body.
        after: The object in the answer, or None where the write failed or no answer was recorded.
    """
    if prior is not None and after is not None:
        found = tuple(dict.fromkeys(differences(prior, after)))
        if not found or _may_change_by_omission(body):
            return found
        named = _stored_paths(body)
        return tuple(path for path in found if any(_related(path, name) for name in named))
    named = _stored_paths(body)
    if prior is None or isinstance(body, list):
        return named
    return tuple(path for path in named if value_at(prior, path) != value_at(body, path))


def _stored_paths(body: Any) -> tuple[Path, ...]:
    """Return the paths that a body names, and those under which the API keeps what it names otherwise."""
    named = named_paths(body)
    return named + tuple(("data", *path[1:]) for path in named if path[:1] == ("stringData",))


def _may_change_by_omission(body: Any) -> bool:
    """Whether a body changes what it does not name: a whole object, a JSON patch, a directive to replace."""
    if not isinstance(body, dict):
        return True
    return ("kind" in body and "apiVersion" in body) or _has_directive(body, 0)


def _has_directive(body: Any, depth: int) -> bool:
    """Whether a strategic merge patch says anywhere to drop what it leaves out."""
    if depth > _DEEPEST:
        return True
    if isinstance(body, list):
        return any(_has_directive(item, depth + 1) for item in body)
    if not isinstance(body, dict):
        return False
    return any(
        key in ("$patch", "$retainKeys") or _has_directive(value, depth + 1) for key, value in body.items()
    )


def status_changes(
    prior: Mapping[str, Any] | None, body: Any, after: Mapping[str, Any] | None
) -> tuple[Path, ...]:
    """Return the paths under `status` that a write of the status alone changed or tried to change.

    The arguments are those of `changed_paths`.
    """
    named = tuple(path for path in named_paths(body) if path[:1] == ("status",))
    if prior is None or after is None:
        return named
    found = (("status", *path) for path in differences(prior.get("status"), after.get("status")))
    return tuple(path for path in dict.fromkeys(found) if any(_related(path, name) for name in named))


def _related(one: Path, other: Path) -> bool:
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def _of_step(step: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the paths that one step of a JSON patch changes, those within its value included."""
    for member in ("path", "from") if step.get("op") == "move" else ("path",):
        parts = [
            part.replace("~1", "/").replace("~0", "~") for part in str(step.get(member, "")).split("/")[1:]
        ]
        path = tuple(part for part in parts if not part.isdecimal() and part != "-")
        value = step.get("value") if member == "path" else None
        if step.get("op") != "test":
            yield from _leaves(value, path) if isinstance(value, dict | list) and value else (path,)


def _leaves(body: Any, path: Path) -> Iterator[Path]:
    shallow = len(path) < _DEEPEST
    if shallow and isinstance(body, dict) and body:
        for key, value in body.items():
            yield from _leaves(value, (*path, str(key)))
    elif shallow and isinstance(body, list) and any(isinstance(item, dict) for item in body):
        for item in body:
            yield from _leaves(item, path)
    else:
        yield path


def _is_something(value: Any) -> bool:
    return value is not None and value not in ({}, [])
