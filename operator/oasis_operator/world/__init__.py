"""A scenario's declared state and the agent's part in it as Kubernetes objects; no I/O and no clock."""
