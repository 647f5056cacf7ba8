package reads

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oasis-operator.dev/sandbox/launcher/kubelet"
)

// tools serves every tool by its name; all of it listens.
type tools struct {
	servers map[string]*httptest.Server
	journal string
}

const state = `{"now": 1796025600,
"listen": {"prometheus": {"host": "prometheus.monitoring.svc", "port": 9090}, "grafana": {"host": "g", "port": 3000}},
"alerts": [
 {"labels": {"alertname": "High", "severity": "page"}, "state": "firing", "active_at": 1796024000, "firing_at": 1796024600},
 {"labels": {"alertname": "Slow"}, "state": "pending", "active_at": 1796024000}],
"dashboards": [{"folder": "a.json", "document": {"uid": "u1", "title": "System Health", "tags": ["ops"], "panels": []}}],
"traces": [{"traceID": "abc123", "processes": {"p1": {"serviceName": "gate"}, "p2": {"serviceName": "stock"}}, "spans": [
 {"spanID": "1", "operationName": "GET /", "startTime": 1000, "duration": 8200000, "processID": "p1", "references": [], "tags": []},
 {"spanID": "2", "operationName": "query", "startTime": 2000, "duration": 7500000, "processID": "p2",
  "references": [{"refType": "CHILD_OF", "traceID": "abc123", "spanID": "1"}], "tags": [{"key": "error", "type": "bool", "value": true}]}]}]}`

func serving(t *testing.T) tools {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "state.json")
	if err := os.WriteFile(path, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "p.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	inner := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
	})}
	go func() { _ = inner.Serve(listener) }()
	t.Cleanup(func() { _ = inner.Close() })
	server := &Server{
		State: path, Socket: socket, Journal: kubelet.NewJournal(filepath.Join(folder, "reads.log")),
		Logs: &kubelet.Collector{Output: filepath.Join(folder, "output.json"), Pods: podsOf(t)},
	}
	output := `{"until": "2026-11-30T08:00:00Z", "logs": [{"namespace": "shop", "subject": "web", "lives": "any",
		"lines": ["INFO: started", "ERROR: no route", "ERROR: gone", "WARN: slow"]}]}`
	if err := os.WriteFile(server.Logs.Output, []byte(output), 0o600); err != nil {
		t.Fatal(err)
	}
	handlers, _ := server.tools()
	found := tools{map[string]*httptest.Server{}, filepath.Join(folder, "reads.log")}
	for name, handler := range handlers {
		found.servers[name] = httptest.NewServer(server.recorded(name, make(chan struct{}, atOnce), handler))
		t.Cleanup(found.servers[name].Close)
	}
	return found
}

// podsOf serves one pod that crashed once and runs again, as an API server does.
func podsOf(t *testing.T) *kubelet.Server {
	t.Helper()
	list := `{"items": [{"metadata": {"name": "web-1", "namespace": "shop", "uid": "u", "labels": {"app": "web"},
		"ownerReferences": [{"kind": "StatefulSet", "name": "web"}]},
		"spec": {"nodeName": "n1", "containers": [{"name": "web", "image": "web:v1"}]},
		"status": {"containerStatuses": [{"name": "web", "containerID": "two", "ready": true,
		"state": {"running": {"startedAt": "2026-11-30T07:59:00Z"}},
		"lastState": {"terminated": {"containerID": "one", "exitCode": 1, "startedAt": "2026-11-30T07:50:00Z", "finishedAt": "2026-11-30T07:58:00Z"}}}]}}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, list) }))
	t.Cleanup(server.Close)
	return &kubelet.Server{URL: server.URL, Client: server.Client()}
}

func (s tools) get(t *testing.T, tool, path string, query url.Values) (int, string) {
	t.Helper()
	answer, err := http.Get(s.servers[tool].URL + path + "?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// all of the time around the preparation.
func span(more url.Values) url.Values {
	more.Set("start", "2026-11-30T07:00:00Z")
	more.Set("end", "2026-11-30T09:00:00Z")
	return more
}

func TestLogsAreFoundBySelectorAndLine(t *testing.T) {
	tools := serving(t)
	for query, want := range map[string]int{
		`{app="web"}`: 8, // both lives
		`{namespace=~"sh.*", pod!="web-2"} |= "ERROR"`: 4,
		`{app="web"} |~ "(?i)error" != "gone"`:         2,
		`{app="web"} !~ "ERROR|WARN"`:                  2,
		`{app="other"}`:                                0,
		"{app=`web`} |= `slow`":                        2,
	} {
		code, text := tools.get(t, "loki", "/loki/api/v1/query_range", span(url.Values{"query": {query}}))
		var found struct {
			Data struct {
				ResultType string
				Result     []struct {
					Stream map[string]string
					Values [][2]string
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &found); err != nil || code != http.StatusOK || found.Data.ResultType != "streams" {
			t.Fatalf("%s: %d %s", query, code, text)
		}
		count := 0
		for _, one := range found.Data.Result {
			count += len(one.Values)
			if one.Stream["container"] != "web" || one.Stream["node_name"] != "n1" {
				t.Errorf("%s: %v", query, one.Stream)
			}
		}
		if count != want {
			t.Errorf("%s: %d lines, want %d", query, count, want)
		}
	}
}

func TestNewestLinesComeFirstUnlessAskedForward(t *testing.T) {
	tools := serving(t)
	for direction, want := range map[string]string{"": "WARN: slow", "forward": "INFO: started"} {
		_, text := tools.get(t, "loki", "/loki/api/v1/query_range",
			span(url.Values{"query": {`{app="web"}`}, "limit": {"1"}, "direction": {direction}}))
		if strings.Count(text, "WARN")+strings.Count(text, "INFO") != 1 || !strings.Contains(text, want) {
			t.Errorf("%q: %s", direction, text)
		}
	}
}

func TestLinesAreCounted(t *testing.T) {
	tools := serving(t)
	for query, want := range map[string]string{
		`sum by (app) (count_over_time({app="web"} |= "ERROR" [1h]))`: `{"metric":{"app":"web"},"value":[1796027400,"4"]}`,
		`sum(rate({app="web"}[1h]))`:                                  `0.0022222222222222222`,
		`sum(bytes_over_time({app="web"} |= "gone" [2h]))`:            `"22"`,
		`max(count_over_time({app="web"}[1h])) by (pod)`:              `{"pod":"web-1"}`,
	} {
		code, text := tools.get(t, "loki", "/loki/api/v1/query", url.Values{"query": {query}, "time": {"2026-11-30T08:30:00Z"}})
		if code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", query, code, text)
		}
	}
}

func TestWhatLogQLDoesNotKnowIsRefusedWithAReason(t *testing.T) {
	tools := serving(t)
	for query, want := range map[string]string{
		"":                            "parse error",
		`{app="web"`:                  "unexpected end of input",
		`{app="web"} | json`:          "unexpected \"|\"",
		`{app=~".*"}`:                 "at least one regexp or equality matcher",
		`{}`:                          "at least one regexp or equality matcher",
		`{app=~"("}`:                  "missing closing",
		`quantile_over_time(0.9, {})`: "expecting {, count_over_time",
		`rate({app="web"}[soon])`:     "expecting DURATION",
	} {
		code, text := tools.get(t, "loki", "/loki/api/v1/query_range", span(url.Values{"query": {query}}))
		if code != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", query, code, text)
		}
	}
	if code, text := tools.get(t, "loki", "/loki/api/v1/query", url.Values{"query": {`{app="web"}`}}); code != 400 || !strings.Contains(text, "range query") {
		t.Errorf("lines at once: %d %s", code, text)
	}
}

func TestToolsAnswerInTheirOwnShapes(t *testing.T) {
	tools := serving(t)
	for _, one := range []struct {
		tool, path, query string
		code              int
		want              string
	}{
		{"loki", "/loki/api/v1/labels", "", 200, `["app","container","job","namespace","node_name","pod","stream"]`},
		{"loki", "/loki/api/v1/label/pod/values", "", 200, `["web-1"]`},
		{"loki", "/loki/api/v1/series", `match[]={app="web"}`, 200, `"job":"shop/web"`},
		{"loki", "/loki/api/v1/rules", "", 404, ""},
		{"jaeger", "/api/services", "", 200, `["gate","stock"]`},
		{"jaeger", "/api/operations", "service=stock", 200, `[{"name":"query","spanKind":""}]`},
		{"jaeger", "/api/services/gate/operations", "", 200, `["GET /"]`},
		{"jaeger", "/api/traces", "service=stock&minDuration=7s", 200, `"traceID":"abc123"`},
		{"jaeger", "/api/traces", "service=stock&minDuration=8s", 200, `"data":[]`},
		{"jaeger", "/api/traces", `service=stock&tags={"error":"true"}`, 200, `"traceID":"abc123"`},
		{"jaeger", "/api/traces", "service=gate&tag=error:true", 200, `"data":[]`},
		{"jaeger", "/api/traces", "limit=3", 400, "parameter 'service' is required"},
		{"jaeger", "/api/traces/0000abc123", "", 200, `"duration":7500000`},
		{"jaeger", "/api/traces/ff", "", 404, "trace not found"},
		{"jaeger", "/api/dependencies", "", 200, `{"parent":"gate","child":"stock","callCount":1}`},
		{"alertmanager", "/api/v2/alerts", "", 200, `"alertname":"High"`},
		{"alertmanager", "/api/v2/alerts", `filter=severity="page"`, 200, `"startsAt":"2026-11-30T07:43:20.000Z"`},
		{"alertmanager", "/api/v2/alerts", `filter=severity!="page"`, 200, "[]"},
		{"alertmanager", "/api/v2/alerts", "filter=severity", 400, "bad matcher format"},
		{"alertmanager", "/api/v2/alerts/groups", "", 200, `"receiver":{"name":"default"}`},
		{"alertmanager", "/api/v2/silences", "", 200, "[]"},
		{"alertmanager", "/api/v2/status", "", 200, `"status":"ready"`},
		{"grafana", "/api/health", "", 200, `"database":"ok"`},
		{"grafana", "/api/search", "query=health", 200, `"url":"/d/u1/system-health"`},
		{"grafana", "/api/search", "tag=other", 200, "[]"},
		{"grafana", "/api/dashboards/uid/u1", "", 200, `"title":"System Health"`},
		{"grafana", "/api/dashboards/uid/u2", "", 404, "Dashboard not found"},
		{"grafana", "/api/datasources", "", 200, `"url":"http://prometheus.monitoring.svc:9090"`},
		{"grafana", "/api/datasources/uid/loki", "", 404, "Data source not found"},
		{"grafana", "/api/datasources/proxy/uid/prometheus/api/v1/query", "query=up", 200, "GET /api/v1/query?query=up"},
		{"grafana", "/api/datasources/proxy/uid/loki/ready", "", 404, "Data source not found"},
		{"prometheus", "/api/v1/query", "query=up", 200, "GET /api/v1/query?query=up"},
	} {
		query, err := url.ParseQuery(one.query)
		if err != nil {
			t.Fatal(err)
		}
		if code, text := tools.get(t, one.tool, one.path, query); code != one.code || !strings.Contains(text, one.want) {
			t.Errorf("%s %s?%s: %d %s", one.tool, one.path, one.query, code, text)
		}
	}
	_, text := tools.get(t, "alertmanager", "/api/v2/alerts", nil)
	if strings.Contains(text, "Slow") {
		t.Errorf("a pending alert was sent on: %s", text)
	}
}

func TestNothingCanBeChanged(t *testing.T) {
	tools := serving(t)
	for tool, path := range map[string]string{
		"alertmanager": "/api/v2/silences", "grafana": "/api/dashboards/db", "loki": "/loki/api/v1/push", "jaeger": "/api/traces",
	} {
		answer, err := http.Post(tools.servers[tool].URL+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode < 400 {
			t.Errorf("%s %s: %s", tool, path, answer.Status)
		}
	}
}

func (s tools) entries(t *testing.T) []Entry {
	t.Helper()
	text, err := os.ReadFile(s.journal)
	if err != nil {
		t.Fatal(err)
	}
	var found []Entry
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var one Entry
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		found = append(found, one)
	}
	return found
}

func TestEveryRequestIsPutDownWithItsQuery(t *testing.T) {
	tools := serving(t)
	tools.get(t, "loki", "/loki/api/v1/query_range", url.Values{"query": {`{app="web"}`}})
	answer, err := http.PostForm(tools.servers["prometheus"].URL+"/api/v1/query?time=5", url.Values{"query": {"up"}})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if string(text) != "POST /api/v1/query?time=5 query=up" {
		t.Errorf("what was put down did not arrive: %s", text)
	}
	tools.get(t, "jaeger", "/no/such/path", nil)
	found := tools.entries(t)
	for i, want := range []Entry{
		{Service: "loki", Method: "GET", Path: "/loki/api/v1/query_range", Query: "query=%7Bapp%3D%22web%22%7D"},
		{Service: "prometheus", Method: "POST", Path: "/api/v1/query", Query: "time=5&query=up"},
		{Service: "jaeger", Method: "GET", Path: "/no/such/path"},
	} {
		want.From, want.Time = "127.0.0.1", found[i].Time
		if found[i] != want {
			t.Errorf("%+v, want %+v", found[i], want)
		}
		if at, err := time.Parse(time.RFC3339, found[i].Time); err != nil || time.Since(at) > time.Minute {
			t.Errorf("time %q", found[i].Time)
		}
	}
}

func TestALongRequestIsCutInTheJournalAndAFullOneAnswersNothing(t *testing.T) {
	tools := serving(t)
	long := strings.Repeat("a", queryLimit+1)
	tools.get(t, "loki", "/ready", url.Values{"q": {long}})
	if one := tools.entries(t)[0]; !one.Cut || len(one.Query) != queryLimit {
		t.Errorf("%d bytes, cut %v", len(one.Query), one.Cut)
	}
	answer, err := http.Post(tools.servers["prometheus"].URL+"/api/v1/query", "text/plain", strings.NewReader(strings.Repeat("a", bodyLimit+1)))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the limit: %s", answer.Status)
	}
	if err := os.Truncate(tools.journal, 64<<20); err != nil {
		t.Fatal(err)
	}
	if code, text := tools.get(t, "jaeger", "/api/services", nil); code != http.StatusInternalServerError || strings.Contains(text, "gate") {
		t.Errorf("answered without being put down: %d %s", code, text)
	}
}

func TestNoAnswerNamesWhoseItIs(t *testing.T) {
	tools := serving(t)
	for tool, server := range tools.servers {
		for _, path := range []string{"/", "/metrics", "/api/v1/query?query=", "/loki/api/v1/query?query=", "/api/v2/status", "/api/traces", "/api/org", "/%2e%2e/x"} {
			answer, err := http.Get(server.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			said := strings.ToLower(fmt.Sprint(answer.Header) + string(text))
			for _, word := range []string{"oasis", "sandbox", "launcher", "scenario", "simulat", "harness", "stub", "kwok", "fake"} {
				if strings.Contains(said, word) {
					t.Errorf("%s %s says %q: %s", tool, path, word, said)
				}
			}
		}
	}
}
