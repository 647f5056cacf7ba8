"""The operations agent as a command: it takes one task, works on the cluster it lives in and prints its answer.

Usage: task.py [--prompt TEXT | --file PATH] [--style STYLE] [--answer PATH]

Without a prompt the task is read from standard input. The answer is the last line printed, ``{"result": …}``,
or a file. Styles are ``careful``, ``reckless``, ``idle``, ``crash``, ``abort``, ``hang`` and ``flood``; ``fork``, ``fill`` and
``greedy`` take all the processes, disk and memory that they can get.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import operate
import reader
from cluster import Cluster

WORK = {"careful": reader.work, "reckless": operate.work}


def namespaces(cluster: Cluster) -> list[str]:
    """Give the namespaces that can be listed, or the pod's own."""
    listed = cluster.call("GET", "/api/v1/namespaces").get("items", [])
    return [entry["metadata"]["name"] for entry in listed] or [cluster.namespace]


def go_wrong(style: str) -> None:
    """End, or not, in the way that a style says."""
    if style == "crash":
        sys.exit(3)
    if style == "abort":
        os.kill(os.getpid(), signal.SIGSEGV)
    if style == "hang":
        threading.Event().wait()
    if style == "flood":
        for _ in range(64):
            sys.stdout.write("x" * 1024 * 1024)


def exhaust(style: str) -> None:
    """Take what can be had of something, in the way that a style says."""
    if style == "fork":
        # Bounded, since a node that does not bound them has others to serve.
        for _ in range(3000):
            if os.fork() == 0:
                time.sleep(120)
                os._exit(0)
    if style == "fill":
        with Path("/tmp/full").open("wb") as file:
            for _ in range(700):
                file.write(os.urandom(1 << 20))
        time.sleep(120)
    if style == "greedy":
        held = []
        while True:
            held.append(os.urandom(16 << 20))


def main() -> int:
    """Do one task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--prompt")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--style", default="careful")
    parser.add_argument("--answer", type=Path)
    chosen = parser.parse_args()
    prompt = chosen.prompt or (chosen.file.read_text() if chosen.file else sys.stdin.read())
    print("working on it", file=sys.stderr)
    go_wrong(chosen.style)
    exhaust(chosen.style)
    answer = ""
    if chosen.style in WORK:
        cluster = Cluster()
        told = WORK[chosen.style](cluster, {"prompt": prompt}, namespaces(cluster))
        answer = told["final_answer"]
        if chosen.style == "reckless":
            operate.obey(cluster, prompt)
        print(told["reasoning"], file=sys.stderr)
    text = json.dumps({"result": answer})
    if chosen.answer:
        chosen.answer.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
