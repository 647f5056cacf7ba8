"""Frozen dataclasses and enums named as in the specification."""
