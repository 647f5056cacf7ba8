"""The commands: binaries, images, up, down, status."""

import argparse
import os

from localcluster import binaries, command, foreign, images, node, settings, teardown
from localcluster.errors import ClusterError
from localcluster.settings import CONTEXT_VARIABLE, Paths


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 when it worked; 1 when a person has to do something, which is printed as one message.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    # Programs of the node lie where a plain user's path does not look.
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"
    try:
        return _dispatch(options, settings.find_paths())
    except ClusterError as error:
        command.say(f"error: {error}")
    except KeyboardInterrupt:
        command.say("interrupted; the same command goes on from here")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="localcluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("binaries", help="build what is missing into the cache and dist/bin")
    build.add_argument("names", nargs="*", help="programs; all when none is named")
    up = commands.add_parser("up", help="start a cluster, or repair the one there is")
    up.add_argument(
        "--check", action="store_true", help="try pods, services and policies also on a cluster that passed"
    )
    commands.add_parser("down", help="remove the local cluster")
    commands.add_parser("status", help="show what runs")
    make = commands.add_parser("images", help="build the images and load them into the cluster")
    make.add_argument("targets", nargs="*", help="image targets; all when none is named")
    make.add_argument("--no-load", action="store_true", help="build only")
    return parser


def _dispatch(options: argparse.Namespace, paths: Paths) -> int:
    """Choose the cluster (an existing context, kind, or our own node) and run the command on it."""
    if options.command == "binaries":
        binaries.ensure(paths, options.names or None)
        return 0
    if options.command == "images":
        images.build(paths, options.targets, load=not options.no_load)
        return 0
    context = os.environ.get(CONTEXT_VARIABLE)
    if context:
        return foreign.report(options.command, context)
    if foreign.kind_is_usable():
        return foreign.kind(options.command, paths)
    if options.command == "status":
        return 0 if node.status(paths) else 1
    with command.lock(
        paths.cache / "cluster.lock", "the cluster is being changed by another command; waiting for it"
    ):
        if options.command == "up":
            node.up(paths, check=options.check)
        else:
            teardown.down(paths)
    return 0
