"""One module for each source of evidence: each turns what a scenario says into checks, once."""
