"""Domain profiles: bytes to model, in two steps, collecting every fault.

The first step reads each file on its own (`yaml_nodes`, `markdown` and one module per document); the second
checks what the files say of each other (`rules`, `references`, `completeness`). `reader` joins them.
"""
