"""What gates outside are told: the list that admission compares with, and verdicts over HTTP."""
