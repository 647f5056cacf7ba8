"""Reconciler of Environment: readiness and conformance."""
