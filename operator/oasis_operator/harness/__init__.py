"""The harness beside the verdict: findings, coverage, challenges and their checks; no I/O and no clock."""
