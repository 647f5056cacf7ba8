"""An agent that is a model in a loop with tools; what is decided is pure, and what speaks is apart."""
