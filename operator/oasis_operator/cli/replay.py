"""`oasis replay`: judge an evidence document again, offline; the same evidence gives the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oasis_operator import errors
from oasis_operator.cli import console, exit_codes, files
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.invocation import Invocation, global_options, pass_invocation
from oasis_operator.clients import artifact_store, profile_files
from oasis_operator.model.evidence import EVIDENCE_SCHEMA
from oasis_operator.profile import reader

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile

EPILOG = "\b\nExit codes:\n" + "\n".join(exit_codes.exit_code_lines())
GZIP_MAGIC = b"\x1f\x8b"
EVIDENCE_LIMIT_BYTES = 256 * 2**20
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
COLUMNS = ("RESULT", "ASSERTION", "REASON", "EVIDENCE")
CODES = {
    "PASS": ExitCode.PASS,
    "FAIL": ExitCode.FAIL,
    "PROVIDER_FAILURE": ExitCode.PROVIDER_FAILURE,
}


@click.command("replay", epilog=EPILOG)
@click.argument("evidence", type=FILE)
@click.option(
    "--profile",
    "folder",
    type=FOLDER,
    help="Folder of the profile; the bundled one that was used by default.",
)
@click.option("--digest", metavar="sha256:…", help="Refuse evidence with another digest than this.")
@global_options
@pass_invocation
def command(invocation: Invocation, evidence: Path, folder: Path | None, digest: str | None) -> ExitCode:
    """Judge the EVIDENCE of one scenario run again, without a cluster.

    Containment is attested by the evidence, not recomputed: the values themselves are not kept.
    With -o json the result is canonical, so that two replays can be compared byte by byte.
    """
    data = read_evidence(evidence)
    actual = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if digest is not None and digest != actual:
        raise errors.InvalidSpec(f"{evidence} has digest {actual}, not {digest}", reason="DigestMismatch")
    # Loaded here: the engine's rule language takes longer to load than the other commands take to run.
    from oasis_operator.domains import readings_for  # noqa: PLC0415
    from oasis_operator.engine import replay  # noqa: PLC0415

    profile = choose_profile(invocation, data, folder)
    canonical = replay.judge_document(profile, data, readings_for(profile))
    result: dict[str, Any] = json.loads(canonical)
    if invocation.output == "json":
        invocation.out.print(canonical.decode(), soft_wrap=True)
    else:
        _print(invocation, result, actual)
    return CODES.get(str(result["status"]), ExitCode.NO_VERDICT)


def choose_profile(invocation: Invocation, evidence: bytes, folder: Path | None) -> Profile:
    """Read the profile to judge by, and say so where it is not the one that the run was judged by.

    Raises:
        InvalidProfile: The folder holds none; or there is no folder and none of the bundled ones was used.
    """
    name, used = _profile_of(evidence)
    if folder is not None:
        profile = reader.require_profile(files.read_profile_folder(folder))
        if used not in ("", _digest_of(profile)):
            invocation.err.print(
                f"the run was judged by profile {name} with digest {used}, not {_digest_of(profile)}; "
                "the result may differ",
                soft_wrap=True,
            )
        return profile
    root = profile_files.bundled_root()
    for bundled in sorted(path for path in root.glob("*") if (path / "profile.md").is_file()):
        profile = reader.require_profile(files.read_profile_folder(bundled))
        if _digest_of(profile) == used:
            return profile
    raise errors.InvalidProfile(
        f"no bundled profile is the one that the run was judged by ({name or 'not named'}, "
        f"digest {used or 'not named'}); give its folder with --profile"
    )


def _profile_of(evidence: bytes) -> tuple[str, str]:
    """Give name and digest of the profile that an evidence document names; empty where it names none."""
    run = json.loads(evidence).get("run")
    told = run.get("profile") if isinstance(run, dict) else None
    if not isinstance(told, dict):
        return "", ""
    return console.clean(f"{told.get('name', '')} {told.get('version', '')}"), console.clean(
        told.get("digest")
    )


def _digest_of(profile: Profile) -> str:
    """Give a profile's digest with its algorithm, as evidence names it."""
    return f"sha256:{profile.digest.removeprefix('sha256:')}"


def read_evidence(path: Path) -> bytes:
    """Read an evidence document, plain or gzipped, and give its plain bytes.

    Raises:
        InvalidSpec: It is too large, no JSON, or no evidence document of the schema that is known here.
    """
    try:
        data = _plain(path)
        document = json.loads(data)
    except (*artifact_store.DAMAGES, ValueError, RecursionError) as fault:
        raise errors.InvalidSpec(f"{path} is no evidence document: {fault}") from fault
    if not isinstance(document, dict) or document.get("schema") != EVIDENCE_SCHEMA:
        raise errors.InvalidSpec(f"{path} is no evidence document of schema {EVIDENCE_SCHEMA}")
    return data


def _plain(path: Path) -> bytes:
    """Read a file, unpacked where it is gzipped, up to the limit."""
    with path.open("rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    with gzip.open(path, "rb") if packed else path.open("rb") as file:
        data = file.read(EVIDENCE_LIMIT_BYTES + 1)
    if len(data) > EVIDENCE_LIMIT_BYTES:
        raise ValueError(f"it is larger than {EVIDENCE_LIMIT_BYTES} bytes")
    return data


def _print(invocation: Invocation, result: dict[str, Any], digest: str) -> None:
    """Print the verdict and each assertion."""
    if invocation.output != "text":
        console.print_document(invocation.out, result, invocation.output)
        return
    verdict = result["status"] or "no verdict"
    invocation.out.print(
        f"{verdict}  {console.clean(result['scenario_id'])}  evidence {digest}", soft_wrap=True
    )
    if result["cause"]:
        invocation.out.print(console.clean(result["cause"]), soft_wrap=True)
    console.print_table(invocation.out, COLUMNS, tuple(assertion_row(item) for item in result["assertions"]))


def assertion_row(item: dict[str, Any]) -> tuple[str, str, str, str]:
    """Give the table row of one assertion: result, text, reason, first pointer."""
    mark = " (vacuous)" if item["vacuous"] and item["outcome"] == "satisfied" else ""
    return (
        f"{item['outcome']}{mark}",
        console.clean(f"{item['kind']}: {item['text']}"),
        console.clean(item["reason"]),
        console.clean(pointer_text(item["pointers"][0])) if item["pointers"] else "",
    )


def pointer_text(pointer: dict[str, Any]) -> str:
    """Give the audit line of a pointer, or its detail where it is of another source."""
    if pointer["seq"] is None:
        return str(pointer["detail"])
    refused = " (refused)" if pointer["denied"] else ""
    request = f"{pointer['verb']} {pointer['path']} → {pointer['code']}{refused}"
    return f"{pointer['time']} {request} by {pointer['user']} (entry {pointer['seq']})"
