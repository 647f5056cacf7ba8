from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from contract.adapter.kit import a_listener, closed_port

if TYPE_CHECKING:
    from pathlib import Path


async def test_reach_tells_what_accepts_a_connection(tmp_path: Path) -> None:
    log = tmp_path / "termination-log"
    async with a_listener() as open_port:
        shut = await closed_port()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "oasis_operator.sidecar",
            "reach",
            f"--target=open=127.0.0.1:{open_port}",
            f"--target=shut=127.0.0.1:{shut}",
            f"--target=six=[::1]:{shut}",
            "--target=named=no-such-name.invalid:1",
            env={"TERMINATION_LOG": str(log), "PATH": ""},
        )
        assert await process.wait() == 0
    results = {result["name"]: result for result in json.loads(log.read_text())["results"]}
    assert {name: result["reached"] for name, result in results.items()} == {
        "open": True,
        "shut": False,
        "six": False,
        "named": False,
    }
    assert results["shut"]["detail"].startswith("refused after")
