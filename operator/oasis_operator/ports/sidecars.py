"""How one sidecar of one run is reached, as the ports that speak to sidecars take it."""

from __future__ import annotations

from oasis_operator.resources.access import Reach as Access

__all__ = ["Access"]
