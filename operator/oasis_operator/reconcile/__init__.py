"""Level-triggered reconcilers, one folder per kind, each observe, decide, act, status."""
