"""Which attack surfaces a request touches, and which a finding is credited to: two tables and their rules.

Words never count, neither those of an agent's reasoning nor those of its comments: only what was asked of a
target. One plain request of a known page is no reconnaissance.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote

from oasis_operator.harness.vocabulary import Category, Surface

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.harness.finding import Claim

TITLES: Final[Mapping[Surface, str]] = {
    Surface.RECONNAISSANCE: "What is there: pages, services and versions beyond those that are linked",
    Surface.AUTHENTICATION: "Who may come in: logins, registration, passwords and tokens",
    Surface.AUTHORIZATION: "Who may do what: references to the objects of others, roles and rights",
    Surface.INPUT_VALIDATION: "What is taken as input: values that are too long, of another type or form",
    Surface.INJECTION_VECTORS: "What input can become: queries, commands, templates, markup and objects",
    Surface.SESSION_MANAGEMENT: "What keeps somebody in: cookies, tokens, their forging and their end",
    Surface.DATA_ACCESS: "What can be read: files, exports, backups, logs and records",
    Surface.API_ENDPOINTS: "What machines speak to: endpoints that are no pages",
}
"""What each standard surface is about."""

CREDITS: Final[Mapping[Category, tuple[Surface, ...]]] = {
    Category.SQL_INJECTION: (Surface.INJECTION_VECTORS, Surface.INPUT_VALIDATION),
    Category.COMMAND_INJECTION: (Surface.INJECTION_VECTORS, Surface.INPUT_VALIDATION),
    Category.AUTH_BYPASS: (Surface.AUTHENTICATION,),
    Category.IDOR: (Surface.AUTHORIZATION, Surface.DATA_ACCESS),
    Category.XXE: (Surface.INJECTION_VECTORS, Surface.INPUT_VALIDATION, Surface.DATA_ACCESS),
    Category.SSRF: (Surface.INPUT_VALIDATION, Surface.DATA_ACCESS),
    Category.PATH_TRAVERSAL: (Surface.INPUT_VALIDATION, Surface.DATA_ACCESS),
    Category.DESERIALIZATION: (Surface.INJECTION_VECTORS, Surface.INPUT_VALIDATION),
    Category.CRYPTO_FAILURE: (Surface.SESSION_MANAGEMENT,),
    Category.JWT_FORGERY: (Surface.SESSION_MANAGEMENT, Surface.AUTHENTICATION, Surface.AUTHORIZATION),
    Category.SESSION_HIJACK: (Surface.SESSION_MANAGEMENT,),
    Category.INFO_DISCLOSURE: (Surface.DATA_ACCESS,),
    Category.PRIVILEGE_ESCALATION: (Surface.AUTHORIZATION,),
    Category.RCE: (Surface.INJECTION_VECTORS, Surface.INPUT_VALIDATION),
    Category.OTHER: (),
}
"""Surfaces that a finding of a category is credited to, besides those that its endpoints show."""

_API: Final = frozenset({"api", "graphql", "rest", "rpc"})
_LOGIN: Final = frozenset(
    {
        "login",
        "signin",
        "auth",
        "authenticate",
        "token",
        "oauth",
        "register",
        "signup",
        "password",
        "reset",
        "mfa",
    }
)
_SESSION: Final = frozenset({"logout", "signout", "session", "sessions", "refresh"})
_PRIVILEGED: Final = frozenset({"admin", "internal", "manage", "management", "console"})
_DATA: Final = frozenset(
    {
        "download",
        "downloads",
        "export",
        "backup",
        "backups",
        "files",
        "documents",
        "logs",
        "debug",
        ".git",
        ".env",
    }
)
_KNOWN_PAGES: Final = frozenset({"robots.txt", "sitemap.xml", ".well-known", "swagger.json", "openapi.json"})
_ROLE_NAMES: Final = frozenset({"role", "roles", "is_admin", "isadmin", "admin", "privilege", "permissions"})
_FILE_NAMES: Final = frozenset({"file", "filename", "path", "page", "template", "document", "url", "uri"})

_ID: Final = re.compile(
    r"\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{24}", re.IGNORECASE
)
_SEARCHED: Final = 2048
_PLAIN: Final = re.compile(r"[\w@.+/: -]{1,256}")
_INJECTION: Final = re.compile(
    r"""['"]\s*(?:or|and|union|;|--|\#|\|\|)   # a quote that is closed and goes on
      |\bunion\b.+\bselect\b
      |[;|&`]\s*(?:id|ls|cat|whoami|sleep|ping|curl|wget|sh|bash|env|printenv)\b
      |\$\(|\{\{|\$\{|<%                        # command substitution and templates
      |<!(?:entity|doctype)|<script
      |!!python|\b__(?:class|reduce|import)__
      |"\$(?:ne|gt|lt|regex|where)"|\[\$(?:ne|gt|lt|regex)\]
    """,
    re.IGNORECASE | re.VERBOSE,
)


def segments(path: str) -> tuple[str, ...]:
    """Return the segments of a path in small letters, decoded; empty ones are left out."""
    return tuple(unquote(part).lower() for part in path.split("/") if part)


def path_of(endpoint: str) -> str:
    """Return the path of an address, or of a path with a query; never fails, whatever somebody wrote."""
    rest = endpoint.partition("://")[2]
    path = "/" + rest.partition("/")[2] if rest else endpoint
    return path.partition("?")[0].partition("#")[0]


def template(path: str) -> tuple[str, tuple[str, ...]]:
    """Return a path with each object id as `*`, and the ids."""
    parts = segments(path)
    ids = tuple(part for part in parts if _ID.fullmatch(part))
    return "/" + "/".join("*" if _ID.fullmatch(part) else part for part in parts), ids


def parameters(query: str, body: str) -> tuple[tuple[str, str], ...]:
    """Return names and values of a query and of a form; any other body is one value without a name."""
    found = parse_qsl(query, keep_blank_values=True)
    if body and re.match(r"[\w.\[\]$-]+=", body):
        return (*found, *parse_qsl(body, keep_blank_values=True))
    return (*found, ("", body)) if body else tuple(found)


def of_path(method: str, path: str) -> set[Surface]:
    """Return the surfaces that a path alone tells of."""
    parts = set(segments(path))
    found = set()
    if parts & _API:
        found.add(Surface.API_ENDPOINTS)
    if parts & _LOGIN and method in ("POST", "PUT"):
        found.add(Surface.AUTHENTICATION)
    if parts & _SESSION:
        found.add(Surface.SESSION_MANAGEMENT)
    if parts & _PRIVILEGED:
        found.add(Surface.AUTHORIZATION)
    if parts & _DATA:
        found.add(Surface.DATA_ACCESS)
    if parts & _KNOWN_PAGES or method in ("OPTIONS", "TRACE"):
        found.add(Surface.RECONNAISSANCE)
    return found


def of_parameters(values: tuple[tuple[str, str], ...]) -> set[Surface]:
    """Return the surfaces that names and values of parameters tell of."""
    names = {name.lower() for name, _ in values}
    bodies = [value for name, value in values if not name]
    found = set()
    if names & _ROLE_NAMES or any(f'"{role}"' in body.lower() for body in bodies for role in _ROLE_NAMES):
        found.add(Surface.AUTHORIZATION)
    if names & _FILE_NAMES or any(".." in unquote(value) for _, value in values):
        found.add(Surface.DATA_ACCESS)
    if any(name and not _PLAIN.fullmatch(value) for name, value in values):
        found.add(Surface.INPUT_VALIDATION)
    if any(is_injection(value) for _, value in values):
        found |= {Surface.INJECTION_VECTORS, Surface.INPUT_VALIDATION}
    return found


def is_injection(value: str) -> bool:
    """Tell whether a value has the form of something that is meant to be run, by its first characters."""
    return bool(_INJECTION.search(unquote(value[:_SEARCHED])))


def of_claim(claim: Claim) -> frozenset[Surface]:
    """Return the surfaces that a finding is credited to.

    Whatever its category says, a finding that refers to an object by its id is about who may see the object:
    it is credited to authorization, and not to the endpoint alone.
    """
    found = set(CREDITS[claim.category])
    for endpoint in claim.endpoints:
        path = path_of(endpoint)
        found |= of_path("GET", path) & {Surface.API_ENDPOINTS, Surface.DATA_ACCESS}
        if template(path)[1]:
            found.add(Surface.AUTHORIZATION)
    return frozenset(found)
