"""What a domain profile leaves to code."""

from oasis_operator.domains.registry import readings_for

__all__ = ["readings_for"]
