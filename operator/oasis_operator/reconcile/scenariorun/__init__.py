"""Reconciler of ScenarioRun: one scenario from sandbox to judged evidence."""
