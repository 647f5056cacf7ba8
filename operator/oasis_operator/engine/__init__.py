"""The verdict machine: pure, deterministic, without input or output."""
