"""Builds the binaries and images of the project and runs a real single-node cluster to try them on."""
