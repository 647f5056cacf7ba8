"""Reconciler of Agent: references and last verdicts."""
