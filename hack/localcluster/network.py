"""The node's networks: which addresses it takes, its bridge, its own packet filter rules, and their removal.

The node gets an address of its own on a link without members. The cluster therefore listens on nothing that
other machines reach, and its certificates outlive a change of the machine's address. That link is a bridge
too, since not every kernel has dummy links, and the network plugin accepts no second address on the pods'
bridge.
"""

import contextlib
import ipaddress
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from localcluster import command
from localcluster.errors import ClusterError
from localcluster.settings import BRIDGE, NODE_LINK

_BLOCKS = ("10.213.0.0/16", "10.187.0.0/16", "10.151.0.0/16", "172.27.0.0/16")
_COMMENT = "k8s-node"
_LINKS = (BRIDGE, NODE_LINK)
_OUR_CHAIN = re.compile(r"^:(KUBE-\S+|CNI-\S+) ")
_OUR_SET = re.compile(r"^(inet6:)?(KUBE-|kube-router)")

# What the node's programs change and `down` sets back.
_SYSCTLS = (
    "net/ipv4/ip_forward",
    "net/ipv4/conf/all/route_localnet",
    "net/bridge/bridge-nf-call-iptables",
    "net/netfilter/nf_conntrack_max",
    "net/netfilter/nf_conntrack_tcp_timeout_established",
    "net/netfilter/nf_conntrack_tcp_timeout_close_wait",
    "vm/overcommit_memory",
    "kernel/panic",
    "kernel/panic_on_oops",
)


@dataclass(frozen=True, slots=True)
class Network:
    """Addresses of the cluster, all out of one block that the host does not route elsewhere."""

    pods: str
    services: str
    node_address: str
    api_service: str


def choose(routes: Iterable[str]) -> Network:
    """Take the first block that overlaps none of the host's routes.

    Args:
        routes: Destinations; `default` and other words are ignored.

    Raises:
        ClusterError: Every block is in use.
    """
    taken = []
    for route in routes:
        with contextlib.suppress(ValueError):
            taken.append(ipaddress.IPv4Network(route, strict=False))
    for text in _BLOCKS:
        block = ipaddress.IPv4Network(text)
        if not any(block.overlaps(other) for other in taken if other.prefixlen > 0):
            base = int(block.network_address)
            return Network(
                pods=f"{ipaddress.IPv4Address(base)}/24",
                services=f"{ipaddress.IPv4Address(base + 0x8000)}/20",
                node_address=str(ipaddress.IPv4Address(base + 0xFF01)),
                api_service=str(ipaddress.IPv4Address(base + 0x8001)),
            )
    raise ClusterError(
        f"all of {', '.join(_BLOCKS)} are routed on this machine; free one of them for the cluster"
    )


def load_or_choose(file: Path) -> Network:
    """The networks of the existing cluster, or a free choice, remembered in `file`."""
    if file.exists():
        return Network(**json.loads(file.read_text()))
    routes = json.loads(command.run(["ip", "-json", "-4", "route", "show", "table", "all"]))
    network = choose(str(route["dst"]) for route in routes)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(network)))
    return network


def save_sysctls(file: Path) -> None:
    """Remember the kernel settings as they were before the first `up`."""
    if not file.exists():
        values = {
            key: Path("/proc/sys", key).read_text().strip()
            for key in _SYSCTLS
            if Path("/proc/sys", key).exists()
        }
        file.write_text(json.dumps(values))


def restore_sysctls(file: Path) -> None:
    """Set the remembered kernel settings back; one that is gone or locked is left."""
    if file.exists():
        for key, value in json.loads(file.read_text()).items():
            with contextlib.suppress(OSError):
                Path("/proc/sys", key).write_text(value)


def _set(key: str, value: str) -> None:
    """Write a kernel setting where the kernel has it."""
    file = Path("/proc/sys", key)
    if file.exists() and file.read_text().strip() != value:
        file.write_text(value)


def ensure(network: Network) -> None:
    """Bring up the links and rules of the node; what is there already stays."""
    _set("net/ipv4/ip_forward", "1")
    _set("net/bridge/bridge-nf-call-iptables", "1")
    for name in _LINKS:
        if not _has_link(name):
            command.run(["ip", "link", "add", name, "type", "bridge"])
        _set(f"net/ipv6/conf/{name}/disable_ipv6", "1")
        command.run(["ip", "link", "set", name, "up"])
    command.run(["ip", "addr", "replace", f"{network.node_address}/32", "dev", NODE_LINK])
    for rule in _rules(network):
        _ensure_rule(rule)


def _rules(network: Network) -> list[list[str]]:
    """Our own rules: pods' traffic may be forwarded, leaves with the host's address, and is never IPv6.

    Network policies here speak of IPv4 only. Pods have no IPv6 address either, but link-local ones would do
    to reach the node or each other past every policy, so such packets are dropped.
    """
    comment = ["-m", "comment", "--comment", _COMMENT]
    pods = network.pods
    rules = [
        ["iptables", "filter", "FORWARD", "-s", pods, *comment, "-j", "ACCEPT"],
        ["iptables", "filter", "FORWARD", "-d", pods, *comment, "-j", "ACCEPT"],
        ["iptables", "nat", "POSTROUTING", "-s", pods, "!", "-d", pods, *comment, "-j", "MASQUERADE"],
    ]
    if Path("/proc/sys/net/ipv6").exists():
        rules += [
            ["ip6tables", "filter", chain, "-i", BRIDGE, *comment, "-j", "DROP"]
            for chain in ("INPUT", "FORWARD")
        ]
    return rules


def _ensure_rule(rule: list[str]) -> None:
    """Append one rule unless it is there."""
    program, table, *spec = rule
    if command.attempt([program, "-w", "-t", table, "-C", *spec]).returncode != 0:
        command.run([program, "-w", "-t", table, "-A", *spec])


def _has_link(name: str) -> bool:
    return Path("/sys/class/net", name).exists()


def remove(network: Network | None) -> None:
    """Take away links, rules, chains and address sets; nothing but the cluster's is touched.

    The chains can go by their prefixes, because `up` refuses a machine on which another node agent runs.
    """
    for name in _LINKS:
        if _has_link(name):
            command.run(["ip", "link", "delete", name])
    for rule in _rules(network) if network else ():
        program, table, *spec = rule
        command.attempt([program, "-w", "-t", table, "-D", *spec])
    for family in ("iptables", "ip6tables"):
        for table in ("nat", "filter", "mangle", "raw"):
            _remove_chains(family, table)
    listed = command.attempt(["ipset", "list", "-n"]).stdout.split()
    for name in listed:
        if _OUR_SET.match(name):
            command.attempt(["ipset", "destroy", name])


def _remove_chains(family: str, table: str) -> None:
    """Delete the chains of kube-proxy, the kubelet and kube-router from one table, in one transaction."""
    saved = command.attempt([f"{family}-save", "-t", table]).stdout
    text = removal(saved)
    if text:
        command.run([f"{family}-restore", "-w", "--noflush"], stdin=f"*{table}\n{text}COMMIT\n")


def removal(saved: str) -> str:
    """What removes our chains from the table of an `iptables-save` text, for `iptables-restore --noflush`.

    Returns:
        Lines that flush our chains, delete every jump to them, then delete them; empty when there are none.
    """
    lines = saved.splitlines()
    chains = [match.group(1) for line in lines if (match := _OUR_CHAIN.match(line))]
    jumps = []
    for line in lines:
        words = line.split()
        if words[:1] == ["-A"] and words[1] not in chains and any(target in words[2:] for target in chains):
            jumps.append("-D" + line.removeprefix("-A"))
    flushed = [f":{chain} - [0:0]" for chain in chains]
    deleted = [f"-X {chain}" for chain in chains]
    return "".join(f"{line}\n" for line in (*flushed, *jumps, *deleted))
