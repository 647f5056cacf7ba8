"""Entry point of the sidecar image: ``oasis-sidecar probe|adapter|gateway|reach``.

Each sub-command is imported only when it is asked for, so that none pays for the start of another.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "probe": ("oasis_operator.sidecar.probe.main", "run_probe"),
    "adapter": ("oasis_operator.sidecar.adapter.main", "run_adapter"),
    "gateway": ("oasis_operator.sidecar.gateway.main", "run_gateway"),
    "reach": ("oasis_operator.sidecar.reach", "run_reach"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and give its exit code; 2 for a call that names none.

    Args:
        argv: Arguments without the program's name; those of the process when None.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] not in _COMMANDS:
        sys.stderr.write(f"usage: oasis-sidecar {'|'.join(_COMMANDS)} …\n")
        return 2
    module, function = _COMMANDS[arguments[0]]
    run = getattr(importlib.import_module(module), function)
    return int(run(arguments[1:]) or 0)
