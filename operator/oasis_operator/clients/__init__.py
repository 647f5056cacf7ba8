"""The only input and output of the operator: Kubernetes, sidecars, stores, metrics, clock."""
