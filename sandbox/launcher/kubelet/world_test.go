package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// start is when the containers of these tests were started; their world was prepared a minute later.
var start = time.Now().UTC().Truncate(time.Second).Add(-time.Hour)

// pods is a set of pods by name, all of one namespace.
type pods map[string]*pod

func (p pods) Get(_ context.Context, namespace, name string) (*pod, error) {
	if namespace != "shop" {
		return nil, nil
	}
	return p[name], nil
}

// world is a node with its pods, served without TLS to a client that counts as the API server.
type world struct {
	*httptest.Server
	journal string
}

func newWorld(t *testing.T, members pods, said map[string]any) world {
	t.Helper()
	return serve(t, members, said, nil)
}

// newNetworkedWorld is one whose containers have programs that open connections.
func newNetworkedWorld(t *testing.T, members pods, networks Networks) world {
	t.Helper()
	return serve(t, members, map[string]any{}, networks)
}

func serve(t *testing.T, members pods, said map[string]any, networks Networks) world {
	t.Helper()
	folder := t.TempDir()
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	path, journal := filepath.Join(folder, "output.json"), filepath.Join(folder, "streams.log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	handler := (&Node{Output: path, Journal: NewJournal(journal), Pods: members, Networks: networks}).Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return world{server, journal}
}

// entries gives what stands in the journal.
func (w world) entries(t *testing.T) []Entry {
	t.Helper()
	text, err := os.ReadFile(w.journal)
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var entry Entry
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

// said is a file with one declared log and one declared command.
func said(log map[string]any) map[string]any {
	return map[string]any{
		"until": start.Add(time.Minute),
		"logs":  []any{log},
		"usual": map[string]any{
			"starting": []any{map[string]any{"text": "starting <image>"}},
			"started":  []any{map[string]any{"text": "starting <image>"}, map[string]any{"after": 1, "text": "listening on <port>"}},
			"unready":  []any{map[string]any{"after": 12, "text": "unhealthy"}},
			"failed":   []any{map[string]any{"after": 9, "text": "exit <code>"}},
			"done":     []any{map[string]any{"after": 2, "text": "finished"}},
		},
		"commands": []any{
			map[string]any{"namespace": "shop", "subject": "web", "command": []string{"cat", "/etc/app.conf"}, "stdout": "level=info\n"},
			map[string]any{"namespace": "shop", "subject": "web", "command": []string{"check"}, "stderr": "degraded\n", "exit_code": 3},
			map[string]any{"command": []string{"hostname"}, "stdout": "<pod>\n"},
		},
	}
}

// aPod is one of the Deployment web, or of another owner, with a container "main".
func aPod(t *testing.T, name, owner, status string) *pod {
	t.Helper()
	text := `{"metadata":{"name":"` + name + `","namespace":"shop","uid":"u-` + name + `","labels":{"pod-template-hash":"7c5f"},
	 "ownerReferences":[` + owner + `]},
	 "spec":{"containers":[{"name":"main","image":"web:v1","ports":[{"containerPort":9000}]}]},
	 "status":{"containerStatuses":[{"name":"main",` + status + `}]}}`
	made := &pod{}
	if err := json.Unmarshal([]byte(text), made); err != nil {
		t.Fatal(err)
	}
	return made
}

const replicaSet = `{"kind":"ReplicaSet","name":"web-7c5f"}`

func at(seconds int) string {
	return `"` + start.Add(time.Duration(seconds)*time.Second).Format(time.RFC3339) + `"`
}

func running(seconds int) string {
	return `"containerID":"containerd://r","ready":true,"state":{"running":{"startedAt":` + at(seconds) + `}}`
}

func crashed(reason, code string) string {
	return `"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":` + code +
		`,"reason":"` + reason + `","containerID":"containerd://t","startedAt":` + at(0) + `,"finishedAt":` + at(4) + `}}`
}
