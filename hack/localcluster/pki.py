"""Issues the cluster's keys and certificates with the openssl command, and the kubeconfigs that use them."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

from localcluster import command
from localcluster.network import Network
from localcluster.settings import API_PORT, CONTEXT, NODE_NAME, Paths

_DAYS = "3650"
_CURVE = ("-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True, slots=True)
class Identity:
    """One certificate: its file name, subject and alternative names."""

    name: str
    common_name: str
    organization: str = ""
    alternatives: tuple[str, ...] = ()
    authority: str = "ca"


CLIENTS = (
    Identity("admin", "kubernetes-admin", "system:masters"),
    Identity("controller-manager", "system:kube-controller-manager"),
    Identity("scheduler", "system:kube-scheduler"),
    Identity("proxy", "system:kube-proxy"),
    Identity("router", "kube-router"),
    Identity("kubelet", f"system:node:{NODE_NAME}", "system:nodes"),
)


def ensure(paths: Paths, network: Network) -> None:
    """Issue everything once; a cluster that restarts keeps its certificates and so its trust."""
    done = paths.pki / ".done"
    if done.exists():
        return
    paths.pki.mkdir(parents=True, exist_ok=True, mode=0o700)
    for authority in ("ca", "front-proxy-ca"):
        _issue_authority(paths.pki, authority)
    for identity in (*CLIENTS, *_servers(network)):
        _issue(paths.pki, identity)
    key = paths.pki / "service-account.key"
    command.run(["openssl", "genrsa", "-out", key, "2048"])
    command.run(["openssl", "rsa", "-in", key, "-pubout", "-out", paths.pki / "service-account.pub"])
    for identity in CLIENTS:
        write_kubeconfig(paths, network, identity.name, paths.pki / f"{identity.name}.kubeconfig")
    write_kubeconfig(paths, network, "admin", paths.kubeconfig)
    done.touch()


def _servers(network: Network) -> tuple[Identity, ...]:
    """Server certificates and the clients that only the API server plays."""
    here = (f"IP:{network.node_address}", "IP:127.0.0.1", "DNS:localhost", f"DNS:{NODE_NAME}")
    service = (
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    )
    names = tuple(f"DNS:{name}" for name in service)
    return (
        Identity("apiserver", "kube-apiserver", "", (*here, f"IP:{network.api_service}", *names)),
        Identity("kubelet-server", f"system:node:{NODE_NAME}", "system:nodes", here),
        Identity("etcd", "etcd", "", here),
        Identity("apiserver-kubelet", "kube-apiserver-kubelet-client", "system:masters"),
        Identity("front-proxy", "front-proxy-client", "", (), "front-proxy-ca"),
    )


def _issue_authority(folder: Path, name: str) -> None:
    """Make a self-signed certificate authority."""
    stem = folder / name
    command.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", *_CURVE, "-days", _DAYS, "-subj", f"/CN={name}"),
            *("-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"),
            *("-keyout", f"{stem}.key", "-out", f"{stem}.crt"),
        ]
    )


def _issue(folder: Path, identity: Identity) -> None:
    """Make a key and have its certificate signed by the identity's authority."""
    stem = folder / identity.name
    authority = folder / identity.authority
    organization = f"/O={identity.organization}" if identity.organization else ""
    request = folder / f"{identity.name}.csr"
    command.run(
        [
            *("openssl", "req", "-new", "-newkey", "ec", *_CURVE, "-keyout", f"{stem}.key"),
            *("-subj", f"{organization}/CN={identity.common_name}", "-out", str(request)),
        ]
    )
    extensions = folder / f"{identity.name}.ext"
    lines = ["keyUsage=critical,digitalSignature", "extendedKeyUsage=serverAuth,clientAuth"]
    if identity.alternatives:
        lines.append("subjectAltName=" + ",".join(identity.alternatives))
    extensions.write_text("\n".join(lines) + "\n")
    command.run(
        [
            *("openssl", "x509", "-req", "-in", str(request), "-days", _DAYS, "-extfile", str(extensions)),
            *(
                "-CA",
                f"{authority}.crt",
                "-CAkey",
                f"{authority}.key",
                "-CAcreateserial",
                "-out",
                f"{stem}.crt",
            ),
        ]
    )
    request.unlink()
    extensions.unlink()


def write_kubeconfig(paths: Paths, network: Network, name: str, target: Path) -> None:
    """Write a self-contained kubeconfig (as JSON, which is YAML) for one of the client identities."""

    def encoded(file: str) -> str:
        return base64.b64encode((paths.pki / file).read_bytes()).decode()

    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [
            {
                "name": CONTEXT,
                "cluster": {
                    "server": f"https://{network.node_address}:{API_PORT}",
                    "certificate-authority-data": encoded("ca.crt"),
                },
            }
        ],
        "users": [
            {
                "name": name,
                "user": {
                    "client-certificate-data": encoded(f"{name}.crt"),
                    "client-key-data": encoded(f"{name}.key"),
                },
            }
        ],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": name}}],
    }
    target.touch(mode=0o600)
    target.write_text(json.dumps(document, indent=2) + "\n")
