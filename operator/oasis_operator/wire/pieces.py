"""Documents that are fetched in pieces: what is announced of the whole with each of them."""

from __future__ import annotations

from typing import Final

TOTAL_SIZE_HEADER: Final = "X-Total-Size"
"""How many bytes the whole has."""
DIGEST_HEADER: Final = "X-Digest"
"""Digest of the whole, as `sha256:` and its hexadecimal digits."""
