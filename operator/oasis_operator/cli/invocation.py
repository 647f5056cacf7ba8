"""What one call of the command line carries: global options, consoles, clock and the way to a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import click

from oasis_operator.cli import cluster, console

if TYPE_CHECKING:
    from rich.console import Console

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def connect(kubeconfig: str | None, context: str | None) -> cluster.Cluster:
    """Connect by kubeconfig.

    Raises:
        Transient: No usable kubeconfig, or no such context in it.
    """
    # Loaded here: the client takes longer to load than commands without a cluster take to run.
    from oasis_operator.cli import kubernetes_cluster  # noqa: PLC0415

    return kubernetes_cluster.connect(kubeconfig, context)


@dataclass(slots=True)
class Invocation:
    """Context object of every command.

    Attributes:
        namespace_option: Value of `--namespace`, or None for the context's own namespace.
        output: `text`, `json` or `yaml`.
        connect: Makes the cluster; called at most once.
        sleep: Waits for seconds; replaced in tests, as is `monotonic`.
    """

    kubeconfig: str | None = None
    context: str | None = None
    namespace_option: str | None = None
    output: str = "text"
    connect: Callable[[str | None, str | None], cluster.Cluster] = connect
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    out: Console = field(default_factory=console.make_console)
    err: Console = field(default_factory=lambda: console.make_console(stderr=True))
    _cluster: cluster.Cluster | None = None

    @property
    def cluster(self) -> cluster.Cluster:
        """The cluster, connected on first use.

        Raises:
            Transient: There is no usable kubeconfig.
        """
        if self._cluster is None:
            self._cluster = self.connect(self.kubeconfig, self.context)
        return self._cluster

    @property
    def namespace(self) -> str:
        """The namespace of the option, else of the kubeconfig's context."""
        return self.namespace_option or self.cluster.namespace

    def narrator(self) -> console.Narrator:
        """Make a narrator on stderr."""
        return console.Narrator(self.err, self.monotonic)


pass_invocation = click.make_pass_decorator(Invocation, ensure=True)


def _store(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Keep a global option's value in the invocation; an absent one leaves what stands there."""
    if value is not None:
        setattr(context.ensure_object(Invocation), str(option.name), value)


def _global_option(*names: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """Make an option that goes into the invocation rather than to the command."""
    return click.option(*names, expose_value=False, callback=_store, **settings)


def global_options(function: Decorated) -> Decorated:
    """Add the global options; they may stand before the command's name or after it."""
    for option in (
        _global_option(
            "-o", "--output", type=click.Choice(["text", "json", "yaml"]), help="How results are printed."
        ),
        _global_option(
            "-n",
            "--namespace",
            "namespace_option",
            metavar="NAME",
            help="Namespace; the context's own by default.",
        ),
        _global_option("--context", metavar="NAME", help="Kubeconfig context; the current one by default."),
        _global_option(
            "--kubeconfig", metavar="FILE", help="Kubeconfig; KUBECONFIG or ~/.kube/config by default."
        ),
    ):
        function = option(function)
    return function
