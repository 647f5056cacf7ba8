"""A suite for anybody's provider: what the contract asks, tried by requests alone. It does no I/O of its own.

Spec: 08-provider-conformance §3.
"""
