"""One evaluator per kind of assertion and verification block."""
