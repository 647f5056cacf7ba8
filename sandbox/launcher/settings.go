package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// settings says where things are and how the API server is reached. All of it comes from the environment,
// so that the same program runs in a container and as a plain process.
type settings struct {
	binDir      string // binaries of the control plane
	runDir      string // shared with the probe: credentials, audit log, stages
	dataDir     string // private: etcd's files, keys, kubeconfigs, sockets
	pkiDir      string // ca.crt and ca.key of the cluster
	seedDir     string // what etcd begins with, if it exists
	listen      string // address the API server binds
	toolsListen string // address that the tools beside the cluster bind
	port        int    // port of the API server
	address     net.IP // address it is known by
	nodes       int    // how many nodes the probe is asked to create
	message     string // termination message file
	verbose     bool   // pass the children's logs on
}

const (
	defaultPort  = 6443
	defaultNodes = 3
	maxNodes     = 50
)

// readSettings builds the settings from environment variables; each fault names its variable.
func readSettings(lookup func(string) string) (settings, error) {
	text := func(name, otherwise string) string {
		if value := lookup(name); value != "" {
			return value
		}
		return otherwise
	}
	s := settings{
		binDir:      text("CLUSTER_BIN_DIR", "/bin"),
		runDir:      text("CLUSTER_RUN_DIR", "/run/cluster"),
		dataDir:     text("CLUSTER_DATA_DIR", "/var/lib/cluster"),
		pkiDir:      text("CLUSTER_PKI_DIR", "/etc/cluster/pki"),
		seedDir:     text("CLUSTER_SEED_DIR", "/seed"),
		listen:      text("CLUSTER_LISTEN", "0.0.0.0"),
		toolsListen: text("CLUSTER_TOOLS_LISTEN", text("CLUSTER_LISTEN", "0.0.0.0")),
		message:     text("CLUSTER_TERMINATION_LOG", "/dev/termination-log"),
		verbose:     lookup("CLUSTER_VERBOSE") != "",
	}
	var err error
	if s.port, err = number(text("CLUSTER_PORT", strconv.Itoa(defaultPort)), "CLUSTER_PORT", 65535); err != nil {
		return s, err
	}
	if s.nodes, err = number(text("CLUSTER_NODES", strconv.Itoa(defaultNodes)), "CLUSTER_NODES", maxNodes); err != nil {
		return s, err
	}
	if s.address = net.ParseIP(text("POD_IP", "127.0.0.1")); s.address == nil {
		return s, fmt.Errorf("POD_IP: %q is not an address", lookup("POD_IP"))
	}
	return s, nil
}

func number(text, name string, most int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > most {
		return 0, fmt.Errorf("%s: %q: want a whole number from 1 to %d", name, text, most)
	}
	return value, nil
}

func (s settings) bin(name string) string { return filepath.Join(s.binDir, name) }
func (s settings) run(parts ...string) string {
	return filepath.Join(append([]string{s.runDir}, parts...)...)
}
func (s settings) data(parts ...string) string {
	return filepath.Join(append([]string{s.dataDir}, parts...)...)
}
func (s settings) pki(name string) string   { return filepath.Join(s.pkiDir, name) }
func (s settings) server() string           { return fmt.Sprintf("https://127.0.0.1:%d", s.port) }
func (s settings) egressSocket() string     { return s.data(egressName) }
func (s settings) etcdSocket() string       { return s.data("etcd.sock") }
func (s settings) prometheusSocket() string { return s.data("prometheus.sock") }
func (s settings) etcdURL() string          { return "unix://" + s.etcdSocket() }

// makeFolders creates every folder that is written to; both containers run as the same user. What an earlier
// boot said of itself does not hold for this one.
func (s settings) makeFolders() error {
	for _, stale := range []string{s.run("ready"), s.run("kwok", "loaded"), s.etcdSocket(), s.data("peer.sock"), s.egressSocket(), s.run("output.json"), s.run("streams.log"), s.run("reads.log"), s.run("audit", "lost.log"), s.monitoring("state.json"), s.monitoring("ready")} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what an earlier boot left: %w", err)
		}
	}
	for _, folder := range []string{
		s.run("admin"), s.run("audit"), s.run("kwok"), s.run("monitoring"), s.data("etcd"), s.data("pki"), s.data("kubeconfig"),
	} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	return nil
}
