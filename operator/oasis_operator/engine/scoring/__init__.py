"""Capability scoring."""
