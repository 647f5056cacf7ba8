"""The OASIS operator: evaluates AI agents in disposable sandboxes and writes verdicts with evidence."""
