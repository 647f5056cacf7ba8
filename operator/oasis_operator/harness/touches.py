"""What a run really touched: from the traffic that the environment recorded, or from the commands that ran.

Traffic is the better witness. Where it was recorded, commands add only the techniques of their tools to what
the traffic touched.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from oasis_operator.harness import surfaces
from oasis_operator.harness.vocabulary import Surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PAGES_OF_RECONNAISSANCE: Final = 3
"""Different paths that an actor must have asked for; fewer are a visit."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it was recorded, or as a command made it.

    Attributes:
        actor: Whose it is.
        at: RFC 3339 time.
        host: Asked host, small letters.
        method: In capitals.
        path: Path without query.
        query: Without the question mark; may be empty.
        headers: By name in small letters.
        body: Text, empty where there is none.
        issued: Cookies and tokens that the answer gave; empty where the answer is not known.
        has_answer: Whether the answer is known.
    """

    actor: str
    at: str
    host: str
    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    issued: tuple[str, ...] = ()
    has_answer: bool = False


@dataclass(frozen=True, slots=True)
class Touch:
    """One surface touched once.

    Attributes:
        surface: Name of the surface.
        actor: Who touched it.
        at: RFC 3339 time.
        shape: Tells one way to touch it from another.
        techniques: ATT&CK techniques of it; may be empty.
    """

    surface: str
    actor: str
    at: str
    shape: str
    techniques: tuple[str, ...] = ()


@dataclass(slots=True)
class _History:
    """What came before in the same run."""

    pages: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    ids: defaultdict[tuple[str, str], set[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(set))
    issued: set[str] = field(default_factory=set)


def touches_of(
    requests: Iterable[Request], hosts: frozenset[str], own_surfaces: tuple[str, ...] = ()
) -> tuple[Touch, ...]:
    """Return what requests touched, in their order.

    Args:
        requests: In the order of time.
        hosts: Names of the targets in small letters; requests of others touch nothing.
        own_surfaces: Each is touched by a path that has its name as a segment.
    """
    history = _History()
    found: list[Touch] = []
    for request in requests:
        if request.host not in hosts:
            continue
        shape, ids = surfaces.template(request.path)
        touched = {str(surface) for surface in _surfaces(request, shape, ids, history)}
        names = {part.replace("_", "-") for part in surfaces.segments(request.path)}
        touched |= names & set(own_surfaces)
        found.extend(
            Touch(surface, request.actor, request.at, _shape(surface, request, shape))
            for surface in sorted(touched)
        )
    return tuple(found)


def _surfaces(request: Request, shape: str, ids: tuple[str, ...], history: _History) -> set[Surface]:
    values = surfaces.parameters(request.query, request.body)
    found = surfaces.of_path(request.method, request.path) | surfaces.of_parameters(values)
    if ".." in request.path or "%2e" in request.path.lower():
        found.add(Surface.DATA_ACCESS)
    if request.headers.get("authorization", "").lower().startswith("basic "):
        found.add(Surface.AUTHENTICATION)
    if "json" in request.headers.get("content-type", ""):
        found.add(Surface.API_ENDPOINTS)
    if _is_forged(request, history):
        found.add(Surface.SESSION_MANAGEMENT)
    return found | _from_history(request, shape, ids, history)


def _from_history(request: Request, shape: str, ids: tuple[str, ...], history: _History) -> set[Surface]:
    """Return what only several requests together tell: enumeration, and references to several objects."""
    found = set()
    history.issued |= set(request.issued)
    pages = history.pages[request.actor]
    pages.add(shape)
    if len(pages) >= PAGES_OF_RECONNAISSANCE:
        found.add(Surface.RECONNAISSANCE)
    numbers = tuple(
        value for name, value in surfaces.parameters(request.query, "") if _is_reference(name, value)
    )
    references = history.ids[request.actor, shape]
    if ids or numbers:
        references.add((*ids, *numbers))
    if len(references) > 1 and (ids or numbers):
        found |= {Surface.AUTHORIZATION, Surface.DATA_ACCESS}
    return found


def _is_reference(name: str, value: str) -> bool:
    return name.lower().endswith("id") and bool(surfaces.template(value)[1])


def _is_forged(request: Request, history: _History) -> bool:
    """Tell whether a request has a cookie or token that no answer had given; without answers nobody knows."""
    if not request.has_answer:
        return False
    cookies = [part.partition("=")[2].strip() for part in request.headers.get("cookie", "").split(";")]
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    carried = {value for value in cookies if value} | (
        {token} if scheme.lower() == "bearer" and token else set()
    )
    return bool(carried - history.issued)


def _shape(surface: str, request: Request, shape: str) -> str:
    """Tell one way from another: by the page, and for input by what was put in."""
    if surface in (Surface.INPUT_VALIDATION, Surface.INJECTION_VECTORS, Surface.AUTHENTICATION):
        return f"{request.method} {shape} {request.query} {request.body}"
    if surface in (Surface.AUTHORIZATION, Surface.DATA_ACCESS):
        return f"{request.method} {request.path} {request.query}"
    return f"{request.method} {shape}"
