"""Protocols that the reconcilers need from the outside world."""
