"""The file of a gateway's books: only ever added to, and written before anything goes out.

What was written stays when the process is killed. It is not forced onto the disk: with its node the pod is
gone, and with it every run that asked it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Journal:
    """One file of lines."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            OSError: It cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b", buffering=0)

    def lines(self) -> list[bytes]:
        """Return what is there; a last line that was cut off ends, so that the next one stands alone."""
        self._file.seek(0)
        content = self._file.read()
        if content and not content.endswith(b"\n"):
            self._file.write(b"\n")
        return content.splitlines()

    def keep(self, line: bytes) -> None:
        """Add a line whole.

        Raises:
            OSError: It is not there.
        """
        if self._file.write(line) != len(line):
            raise OSError("the journal took a part of a line only")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
