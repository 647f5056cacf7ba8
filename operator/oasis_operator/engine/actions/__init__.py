"""Abstract operations and what the environment recorded of them: grammar, requests, effects, matching."""
