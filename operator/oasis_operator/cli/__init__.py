"""The `oasis` command line: one module per command over one small cluster client."""
