"""The verdict as the API spells it."""

from enum import StrEnum


class Verdict(StrEnum):
    """The only three verdicts there are; no verdict is an absent field.

    Spec: 01-core §3.6.
    """

    PASS = "PASS"  # noqa: S105 - a verdict, not a credential
    FAIL = "FAIL"
    PROVIDER_FAILURE = "PROVIDER_FAILURE"
