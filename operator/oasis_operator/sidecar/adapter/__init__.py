"""The adapter sidecar: speaks the agent contract and records what was said."""
