"""The command line of each program of the cluster."""

from pathlib import Path

from localcluster import settings
from localcluster.network import Network
from localcluster.settings import NODE_NAME, Paths


def etcd(paths: Paths, network: Network) -> list[str]:
    """Etcd without fsync: the data is disposable, and pods start noticeably faster."""
    del network
    client = f"https://127.0.0.1:{settings.ETCD_PORT}"
    peer = f"http://127.0.0.1:{settings.ETCD_PEER_PORT}"
    return [
        "--name=node",
        f"--data-dir={paths.state}/etcd",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=node={peer}",
        f"--cert-file={paths.pki}/etcd.crt",
        f"--key-file={paths.pki}/etcd.key",
        f"--trusted-ca-file={paths.pki}/ca.crt",
        "--client-cert-auth",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=4294967296",
        "--auto-compaction-retention=5m",
        "--log-level=warn",
    ]


def kube_apiserver(paths: Paths, network: Network) -> list[str]:
    """The API server as in production: RBAC, node authorizer, default admission, aggregation."""
    pki = paths.pki
    return [
        f"--bind-address={network.node_address}",
        f"--advertise-address={network.node_address}",
        f"--secure-port={settings.API_PORT}",
        f"--etcd-servers=https://127.0.0.1:{settings.ETCD_PORT}",
        f"--etcd-cafile={pki}/ca.crt",
        f"--etcd-certfile={pki}/etcd.crt",
        f"--etcd-keyfile={pki}/etcd.key",
        f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        f"--kubelet-client-certificate={pki}/apiserver-kubelet.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet.key",
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-cluster-ip-range={network.services}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki}/service-account.pub",
        f"--service-account-signing-key-file={pki}/service-account.key",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki}/front-proxy.crt",
        f"--proxy-client-key-file={pki}/front-proxy.key",
        "--enable-aggregator-routing=true",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        "--profiling=false",
    ]


def kube_controller_manager(paths: Paths, network: Network) -> list[str]:
    """All default controllers; it also gives the node its pod network."""
    pki = paths.pki
    return [
        *_delegated(pki / "controller-manager.kubeconfig"),
        f"--secure-port={settings.CONTROLLER_PORT}",
        f"--cert-dir={paths.state}/certs",
        f"--client-ca-file={pki}/ca.crt",
        f"--root-ca-file={pki}/ca.crt",
        f"--cluster-signing-cert-file={pki}/ca.crt",
        f"--cluster-signing-key-file={pki}/ca.key",
        f"--service-account-private-key-file={pki}/service-account.key",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--use-service-account-credentials=true",
        "--allocate-node-cidrs=true",
        "--node-cidr-mask-size=24",
        f"--cluster-cidr={network.pods}",
        f"--service-cluster-ip-range={network.services}",
        "--profiling=false",
    ]


def kube_scheduler(paths: Paths, network: Network) -> list[str]:
    """The default scheduler."""
    del network
    return [
        *_delegated(paths.pki / "scheduler.kubeconfig"),
        f"--secure-port={settings.SCHEDULER_PORT}",
        f"--cert-dir={paths.state}/certs",
        "--profiling=false",
    ]


def _delegated(kubeconfig: Path) -> list[str]:
    """What controller manager and scheduler have in common."""
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
    ]


def kubelet(paths: Paths, network: Network) -> list[str]:
    """The node agent; everything that shows inside pods lies under its neutral root folder."""
    return [
        f"--config={paths.config}/kubelet.json",
        f"--kubeconfig={paths.pki}/kubelet.kubeconfig",
        f"--root-dir={paths.node_data}/kubelet",
        f"--cert-dir={paths.state}/certs",
        f"--hostname-override={NODE_NAME}",
        f"--node-ip={network.node_address}",
        "--v=1",
    ]


def kube_proxy(paths: Paths, network: Network) -> list[str]:
    """Services by packet filter; node ports only on the node's own address."""
    return [
        f"--kubeconfig={paths.pki}/proxy.kubeconfig",
        f"--hostname-override={NODE_NAME}",
        "--proxy-mode=iptables",
        f"--cluster-cidr={network.pods}",
        f"--nodeport-addresses={network.node_address}/32",
        "--iptables-localhost-nodeports=false",
        "--iptables-min-sync-period=100ms",
        "--conntrack-max-per-core=0",
        f"--healthz-bind-address=127.0.0.1:{settings.PROXY_HEALTH_PORT}",
        f"--metrics-bind-address=127.0.0.1:{settings.PROXY_METRICS_PORT}",
    ]


def kube_router(paths: Paths, network: Network) -> list[str]:
    """Enforcement of network policies and nothing else.

    kube-router lets every pod reach the node-port range of the node past its policies. Node ports are
    translated before that rule, by kube-proxy, so the range protects nothing here and is set to two ports
    that nobody listens on. Its health server would listen on all addresses and stays off.
    """
    return [
        f"--kubeconfig={paths.pki}/router.kubeconfig",
        f"--hostname-override={NODE_NAME}",
        "--run-router=false",
        "--run-service-proxy=false",
        "--run-firewall=true",
        "--enable-ipv6=false",
        f"--service-cluster-ip-range={network.services}",
        "--service-node-port-range=1-2",
        "--health-port=0",
        "--metrics-port=0",
    ]
