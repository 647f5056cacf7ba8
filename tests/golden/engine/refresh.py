"""Write the recorded evidence and its result anew; run it only when a change of either is meant."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "operator"), str(ROOT / "tests"), str(ROOT / "tests/unit/engine")]

if __name__ == "__main__":
    import test_replay

    (test_replay.GOLDEN / "evidence.json").write_bytes(test_replay.EVIDENCE)
    (test_replay.GOLDEN / "result.json").write_bytes(
        test_replay.judge_document(test_replay.PROFILE, test_replay.EVIDENCE)
    )
