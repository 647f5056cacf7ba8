"""The model gateway: the one process that holds a model's API key, and counts what is asked with it."""
