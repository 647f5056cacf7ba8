package main

import (
	"bufio"
	"context"
	"net"
	"net/http"
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

func TestLogsGoToThePodsOfTheirWorkload(t *testing.T) {
	until := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	logs := []workloadLog{
		{Namespace: "shop", Subject: "web", Until: until, Lines: []string{"a", "b"}},
		{Namespace: "shop", Subject: "web-api", Until: until, Lines: []string{"c"}},
		{Namespace: "shop", Subject: "web-api", Container: "migrate", Until: until, Lines: []string{"d"}},
	}
	for _, c := range []struct{ namespace, pod, container, want string }{
		{"shop", "web-7c5f-x", "web", "2026-11-30T07:59:53Z a|2026-11-30T08:00:00Z b"},
		{"shop", "web-api-7c5f-x", "web-api", "2026-11-30T08:00:00Z c"},
		{"shop", "web-api-7c5f-x", "migrate", "2026-11-30T08:00:00Z d"},
		{"shop", "webx-7c5f-x", "webx", ""},
		{"bank", "web-7c5f-x", "web", ""},
	} {
		if got := strings.Join(linesOf(logs, c.namespace, c.pod, c.container), "|"); got != c.want {
			t.Errorf("%s/%s/%s: got %q, want %q", c.namespace, c.pod, c.container, got, c.want)
		}
	}
}

func TestOnlyTheAgentsOfNodesCanBeDialled(t *testing.T) {
	for target, want := range map[string]string{
		"10.0.1.2:10250": "200", "127.0.0.1:8443": "502", "10.0.1.2:80": "502", "[::1]:10250": "200", "junk": "502",
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

func TestNothingCanBeRunOnANode(t *testing.T) {
	handler := nodeHandler(settings{runDir: t.TempDir()})
	for _, path := range []string{"/exec/ns/p/c", "/attach/ns/p/c", "/portForward/ns/p", "/run/ns/p/c", "/pods", "/metrics"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			request, _ := http.NewRequest(method, path, nil)
			recorder := &status{}
			handler.ServeHTTP(recorder, request)
			if recorder.code != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, recorder.code)
			}
		}
	}
}

type status struct{ code int }

func (s *status) Header() http.Header         { return http.Header{} }
func (s *status) Write(p []byte) (int, error) { return len(p), nil }
func (s *status) WriteHeader(code int)        { s.code = code }
