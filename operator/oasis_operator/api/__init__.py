"""Shapes of the custom resources and their conditions."""
