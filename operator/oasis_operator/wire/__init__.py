"""JSON bodies of the agent, provider, probe and adapter contracts."""
