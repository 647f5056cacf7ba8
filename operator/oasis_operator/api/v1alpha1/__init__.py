"""Custom resources of version v1alpha1."""
