"""State entries of a scenario to Kubernetes objects and expected conditions; no input, output or clock."""
