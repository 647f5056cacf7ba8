"""Programs that run beside an environment or an agent: probe, adapter and reachability check."""
