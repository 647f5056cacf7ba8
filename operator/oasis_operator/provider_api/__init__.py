"""The provider contract, served for environments of the operator's own, for other evaluators to use."""
