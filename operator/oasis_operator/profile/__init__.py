"""Domain profiles: bytes to model, in two steps, collecting every fault."""
