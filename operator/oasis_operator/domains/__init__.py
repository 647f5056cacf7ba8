"""What a domain profile leaves to code."""
