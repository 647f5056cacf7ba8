package main

import (
	"bufio"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func lookup(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestSettingsNameTheVariableAtFault(t *testing.T) {
	for name, value := range map[string]string{"CLUSTER_PORT": "0", "CLUSTER_NODES": "many", "POD_IP": "nowhere"} {
		if _, err := readSettings(lookup(map[string]string{name: value})); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	s, err := readSettings(lookup(nil))
	if err != nil || s.port != 6443 || s.nodes != 3 || s.bin("etcd") != "/bin/etcd" {
		t.Errorf("defaults: %+v, %v", s, err)
	}
}

func TestOnlyTheAgentsOfNodesCanBeDialled(t *testing.T) {
	for target, want := range map[string]string{
		"10.0.1.2:10250": "200", "127.0.0.1:8443": "502", "10.0.1.2:80": "502", "junk": "502",
		"127.0.0.1:10250": "502", "[::1]:10250": "502", "10.244.1.7:10250": "502", "node:10250": "502",
		// Where the tools beside the cluster are told to be, and where they are.
		"10.0.255.10:9090": "502", "10.0.1.2:9090": "502", "127.0.0.1:9090": "502", "127.0.0.1:3000": "502",
	} {
		near, far := net.Pipe()
		inner := &queue{connections: make(chan net.Conn, 1), closed: make(chan struct{})}
		go connect(far, inner)
		go func() { _, _ = near.Write([]byte("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n")) }()
		answer, err := bufio.NewReader(near).ReadString('\n')
		if err != nil || !strings.Contains(answer, want) {
			t.Errorf("%s: %q, %v", target, answer, err)
		}
		if passed := len(inner.connections) == 1; want == "502" && passed {
			t.Errorf("%s: passed on", target)
		}
		_ = near.Close()
	}
}

func TestARefusedConnectionTellsNoFolderOfOurs(t *testing.T) {
	text := string(egressConfiguration())
	named := 0
	for _, part := range strings.Split(text, "udsName: ")[1:] {
		name, _, _ := strings.Cut(part, "}")
		if named++; name != filepath.Base(name) || strings.Contains(name, "egress") {
			t.Errorf("the API server tells its users of %q", name)
		}
	}
	if named != 2 {
		t.Errorf("%d sockets in %s", named, text)
	}
}

func TestTheAPIServerFindsTheSocketFromWhereItRuns(t *testing.T) {
	folder := t.TempDir()
	s := settings{binDir: folder, dataDir: folder}
	listener, err := net.Listen("unix", s.egressSocket())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	script := "#!/bin/sh\ntest -S " + egressName + "\n"
	if err := os.WriteFile(s.bin("seeker"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	started, err := start(s, component{name: "seeker"})
	if err != nil {
		t.Fatal(err)
	}
	if <-started.done; started.err != nil {
		t.Errorf("no socket %s in the folder of a child: %v", egressName, started.err)
	}
}

func TestTheFirstChildThatEndsIsNamedWithItsLastWords(t *testing.T) {
	folder := t.TempDir()
	script := "#!/bin/sh\necho out of luck >&2\nexit 3\n"
	if err := os.WriteFile(filepath.Join(folder, "doomed"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &cluster{settings: settings{binDir: folder, dataDir: folder}, fail: cancel}
	if err := c.launch(ctx, component{name: "doomed"}); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	text := context.Cause(ctx).Error()
	for _, part := range []string{"doomed", "exit status 3", "out of luck"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}

func TestASignalEndsAChildThatDoesNotListen(t *testing.T) {
	folder := t.TempDir()
	script := "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.1; done\n"
	if err := os.WriteFile(filepath.Join(folder, "deaf"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	started, err := start(settings{binDir: folder, dataDir: folder}, component{name: "deaf"})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	started.stop(300 * time.Millisecond)
	if !started.ended() {
		t.Error("still there")
	}
}
