"""Pure builders of Kubernetes objects."""
