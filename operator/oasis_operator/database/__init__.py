"""A provider of another domain: PostgreSQL databases, served by the provider contract.

It shares the contract with the operator's own environments and nothing else: no part of what decides a
verdict knows that there are databases. See `docs/adr/0036-databases-by-the-contract.md`.
"""
