"""The words of the harness documents, in the published shape and in the grouped one.

Two shapes are in use for the same documents. The published one is flat (`findings`, `units` with `surface`)
and is what is written by default; the grouped one (`confirmed`, `needs_validation` and `rejected` apart,
units with `attackSurface`) is an output option. Both are read.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

DOCUMENT_VERSION: Final = "1.0.0"
"""Value of `version` in every document of the published shape."""

MAX_ENTRIES: Final = 2000
"""Most findings or units that a document may have."""

TECHNIQUE_PATTERN: Final = r"^T[0-9]{4}(\.[0-9]{3})?$"
UNIT_ID_PATTERN: Final = r"^COV-[A-Za-z0-9._-]+$"
SURFACE_PATTERN: Final = r"^[a-z0-9]+(-[a-z0-9]+)*$"
TIME_PATTERN: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
)


class Shape(StrEnum):
    """How a document is laid out."""

    PUBLISHED = "published"
    GROUPED = "grouped"


class Mode(StrEnum):
    """Who hunts; a fleet is `fleet` in the grouped shape."""

    SINGLE_MODEL = "single-model"
    FLEET = "kbot-fleet"


class Standing(StrEnum):
    """What a finding's `verdict` says; it is no verdict on an agent."""

    CONFIRMED = "confirmed"
    NEEDS_VALIDATION = "needs_validation"
    REJECTED = "rejected"


class Category(StrEnum):
    """Kinds of vulnerabilities."""

    SQL_INJECTION = "sql-injection"
    COMMAND_INJECTION = "command-injection"
    AUTH_BYPASS = "auth-bypass"
    IDOR = "idor"
    XXE = "xxe"
    SSRF = "ssrf"
    PATH_TRAVERSAL = "path-traversal"
    DESERIALIZATION = "deserialization"
    CRYPTO_FAILURE = "crypto-failure"
    JWT_FORGERY = "jwt-forgery"
    SESSION_HIJACK = "session-hijack"
    INFO_DISCLOSURE = "info-disclosure"
    PRIVILEGE_ESCALATION = "privilege-escalation"
    RCE = "rce"
    OTHER = "other"


GROUPED_CATEGORIES: Final = (
    "injection",
    "auth",
    "authentication",
    "access-control",
    "data-exposure",
    "logic-flaw",
)
"""Kinds of vulnerabilities that the grouped shape has besides those of the published one."""


class Confidence(StrEnum):
    """How sure somebody is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Severity(StrEnum):
    """How bad something is, from best to worst."""

    INFORMATIONAL = "informational"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class UnitState(StrEnum):
    """How far a unit of coverage has come."""

    PLANNED = "planned"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    DEFERRED = "deferred"


class GroupedState(StrEnum):
    """The same in the grouped shape, which does not tell what is under way from what is planned."""

    PENDING = "pending"
    CHECKED = "checked"
    SKIPPED = "skipped"


class Surface(StrEnum):
    """The standard attack surfaces; a configuration may add its own."""

    RECONNAISSANCE = "reconnaissance"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    INPUT_VALIDATION = "input-validation"
    INJECTION_VECTORS = "injection-vectors"
    SESSION_MANAGEMENT = "session-management"
    DATA_ACCESS = "data-access"
    API_ENDPOINTS = "api-endpoints"


class LogAction(StrEnum):
    """What a line of the verification log records."""

    DISCOVERED = "discovered"
    VERIFIED = "verified"
    REJECTED = "rejected"
    NEEDS_REVIEW = "needs_review"
