"""Opens the HTML report in Chromium, light and dark, and asks axe-core what is wrong with it.

Needs `chromium` on the path and the file `axe.min.js` of the npm package axe-core, which is the argument.
Everything that folds is unfolded first. The policy that forbids scripts is taken out for the check alone.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kit.builders import large_reports
from kit.builders.reports import DELETE
from oasis_operator.engine.reports import render

if TYPE_CHECKING:
    from oasis_operator.model.report import Report

_POLICY: Final = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_ASK: Final = """
document.querySelectorAll("details").forEach(one => { one.open = true });
axe.run(document).then(found => document.body.setAttribute("data-found", JSON.stringify({
  passes: found.passes.length,
  violations: found.violations.map(one => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 200)])
})));
"""
_BROWSER: Final = (
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--virtual-time-budget=30000",
    "--dump-dom",
)
_SCHEMES: Final = {"light": (), "dark": ("--blink-settings=preferredColorScheme=0",)}


def main(axe: Path) -> int:
    """Print what axe finds in each page; returns 1 where it finds anything."""
    pages = {
        "pass": large_reports.a_course_report(),
        "fail": large_reports.a_course_report(DELETE),
        "provider failure": large_reports.a_fault_report(),
        "fifty scenarios": large_reports.a_large_report(50, 25),
    }
    wrong = 0
    for name, report in pages.items():
        for scheme, options in _SCHEMES.items():
            found = _ask(report, axe.read_text(encoding="utf-8"), options)
            wrong += len(found["violations"])
            print(f"{name}, {scheme}: {found['passes']} rules pass, {len(found['violations'])} do not")
            for one in found["violations"]:
                print(f"  {one}")
    return 1 if wrong else 0


def _ask(report: Report, axe: str, options: tuple[str, ...]) -> dict[str, Any]:
    text = _POLICY.sub("", render("report.html", report))
    text = text.replace("</body>", f"<script>{axe}</script><script>{_ASK}</script></body>")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(text, encoding="utf-8")
        command = [*_BROWSER, *options, f"--user-data-dir={folder}/profile", page.as_uri()]
        dumped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)  # noqa: S603 - fixed
    match = re.search(r'data-found="([^"]*)"', dumped.stdout)
    if match is None:
        raise SystemExit("the browser gave no answer")
    answer: dict[str, Any] = json.loads(html.unescape(match[1]))
    return answer


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
