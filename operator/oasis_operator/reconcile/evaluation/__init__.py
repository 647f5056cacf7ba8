"""Reconciler of Evaluation: preflight, fan-out in phases, aggregation, verdict."""
