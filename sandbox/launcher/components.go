package main

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

//go:embed stages.yaml
var bootStages []byte

// controllers are those that a user of a cluster would miss. node-lifecycle must stay: without it the
// not-ready taint is never taken off a node and nothing is scheduled.
var controllers = []string{
	"cronjob", "daemonset", "deployment", "disruption", "endpointslice", "endpoints", "garbage-collector",
	"horizontal-pod-autoscaler", "job", "namespace", "node-lifecycle", "persistentvolume-binder",
	"persistentvolume-protection", "persistentvolumeclaim-protection", "pod-garbage-collector", "replicaset",
	"replicationcontroller", "resourcequota", "root-ca-certificate-publisher", "serviceaccount",
	"serviceaccount-token", "statefulset", "taint-eviction",
}

// droppedAPIs are served by default and needed by nothing here; each costs start-up time and memory.
var droppedAPIs = []string{
	"certificates.k8s.io/v1",
	"node.k8s.io/v1",
	"resource.k8s.io/v1",
}

// droppedAdmission are the plug-ins that need a dropped API.
var droppedAdmission = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest",
	"RuntimeClass",
}

// component is one program of the control plane.
type component struct {
	name  string
	argv0 string // what the program is called by; clients derive their field manager from it
	args  []string
	env   []string
	heed  func(line string) // told every line of its log
}

func etcd(s settings) component {
	// What it advertises must look like an address, but nobody listens there: a single member has no peers.
	const client, peer = "http://localhost:2379", "http://localhost:2380"
	return component{name: "etcd", args: []string{
		"--data-dir=" + s.data("etcd"),
		"--listen-client-urls=" + s.etcdURL(), "--advertise-client-urls=" + client,
		"--listen-peer-urls=unix://" + s.data("peer.sock"), "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--unsafe-no-fsync=true", "--snapshot-count=1000000", "--log-level=warn",
		"--quota-backend-bytes=1073741824", "--max-request-bytes=8388608",
	}, env: []string{"GOGC=50"}}
}

func apiServer(s settings) component {
	args := []string{
		"--etcd-servers=" + s.etcdURL(),
		"--etcd-healthcheck-timeout=10s",
		"--bind-address=" + s.listen, fmt.Sprintf("--secure-port=%d", s.port),
		"--tls-cert-file=" + s.data("pki", "apiserver.crt"), "--tls-private-key-file=" + s.data("pki", "apiserver.key"),
		"--client-ca-file=" + s.pki("ca.crt"), "--authorization-mode=RBAC",
		// As by default: who shows no credentials is anonymous, so that a 401 in the log means wrong ones.
		"--anonymous-auth=true",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + s.data("pki", "sa.key"),
		"--service-account-signing-key-file=" + s.data("pki", "sa.key"),
		"--service-account-extend-token-expiration=false",
		"--service-cluster-ip-range=" + serviceRange, "--allow-privileged=true",
		// Rotation would lose what has not been read yet, so the file never reaches its limit.
		"--audit-log-path=" + s.run("audit", "audit.log"), "--audit-policy-file=" + s.data("audit-policy.yaml"),
		"--audit-log-mode=blocking-strict", "--audit-log-maxsize=1000000", "--audit-log-format=json",
		"--runtime-config=" + strings.Join(droppedAPIs, "=false,") + "=false",
		"--disable-admission-plugins=" + strings.Join(droppedAdmission, ","),
		"--egress-selector-config-file=" + s.data("egress.yaml"),
		"--kubelet-client-certificate=" + s.data("pki", "kubelet.crt"), "--kubelet-client-key=" + s.data("pki", "kubelet.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--profiling=false", "--contention-profiling=false", "--event-ttl=24h", "--shutdown-send-retry-after=false",
	}
	if s.address.IsLoopback() {
		args = append(args, "--endpoint-reconciler-type=none")
	} else {
		args = append(args, "--advertise-address="+s.address.String())
	}
	// A start leaves much garbage behind: collecting it at every doubling takes half a CPU-second. The limit is what
	// an idle server may have, above what a start needs, so that it costs none; more is used where it is not enough.
	tuning := []string{"GOGC=400", "GOMEMLIMIT=200MiB"}
	lost := &lostEvents{path: s.run("audit", "lost.log")}
	return component{name: "kube-apiserver", args: args, env: tuning, heed: lost.heed}
}

func controllerManager(s settings) component {
	names := make([]string, len(controllers))
	for i, name := range controllers {
		names[i] = name + "-controller"
	}
	return component{name: "kube-controller-manager", args: []string{
		"--kubeconfig=" + s.data("kubeconfig", "controller-manager"),
		"--controllers=" + strings.Join(names, ","),
		"--leader-elect=false", "--secure-port=0", "--profiling=false", "--controller-start-interval=0s",
		"--root-ca-file=" + s.pki("ca.crt"), "--service-account-private-key-file=" + s.data("pki", "sa.key"),
		"--use-service-account-credentials=false", "--cluster-cidr=" + podRange,
		// Node heartbeats are rare, see stages.yaml, so their absence means nothing.
		"--node-monitor-grace-period=24h", "--node-monitor-period=10s",
		// A claim that the binder meets before its volume waits for the next round, which is 15 s away by default.
		"--pvclaimbinder-sync-period=1s",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	}, env: []string{"GOGC=60"}}
}

func scheduler(s settings) component {
	return component{name: "kube-scheduler", args: []string{
		"--config=" + s.data("scheduler.yaml"), "--secure-port=0",
		"--feature-gates=DynamicResourceAllocation=false",
	}, env: []string{"GOGC=60"}}
}

// nodeAgent plays the nodes. It goes by the name of what it plays, since the API server notes the names of
// its writers in the objects they write.
func nodeAgent(s settings) component {
	return component{name: "kwok", argv0: "kubelet", args: []string{
		"--kubeconfig=" + s.data("kubeconfig", "kubelet"), "--config=" + s.run("kwok", "kwok.yaml"),
		"--manage-all-nodes", "--node-lease-duration-seconds=0", "--cidr=" + podRange,
	}, env: []string{"GOGC=60", "HOME=/nonexistent"}}
}

func schedulerConfiguration(s settings) []byte {
	return fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s, qps: 500, burst: 1000}
leaderElection: {leaderElect: false}
enableProfiling: false
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
`, s.data("kubeconfig", "scheduler"))
}

// writeFiles writes the configuration files; the stages go last, since the probe may wait for them.
func writeFiles(s settings) error {
	files := []struct {
		path string
		text []byte
	}{
		{s.data("audit-policy.yaml"), auditPolicy},
		{s.data("egress.yaml"), egressConfiguration()},
		{s.data("scheduler.yaml"), schedulerConfiguration(s)},
		{s.run("nodes"), fmt.Appendf(nil, "%d\n", s.nodes)},
		{s.run("kwok", "kwok.yaml"), bootStages},
	}
	for _, file := range files {
		if err := os.WriteFile(file.path, file.text, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", file.path, err)
		}
	}
	return nil
}
