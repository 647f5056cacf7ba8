"""The oasis command line."""
