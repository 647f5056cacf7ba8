package kubelet

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

// execute speaks to the node as an API server does.
func execute(t *testing.T, w world, path, stdin string, tty bool, command ...string) (string, string, error) {
	t.Helper()
	place, _ := url.Parse(w.URL + path)
	query := url.Values{"command": command, "output": {"1"}}
	options := remotecommand.StreamOptions{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Tty: tty}
	if tty {
		query.Set("tty", "1")
	} else {
		query.Set("error", "1")
	}
	if stdin != "" {
		query.Set("input", "1")
		options.Stdin = strings.NewReader(stdin)
	}
	place.RawQuery = query.Encode()
	client, err := remotecommand.NewSPDYExecutor(&rest.Config{}, http.MethodPost, place)
	if err != nil {
		t.Fatal(err)
	}
	err = client.StreamWithContext(context.Background(), options)
	return options.Stdout.(*bytes.Buffer).String(), options.Stderr.(*bytes.Buffer).String(), err
}

func aWorld(t *testing.T) world {
	members := pods{
		"web-7c5f-x": aPod(t, "web-7c5f-x", replicaSet, running(0)),
		"api-7c5f-x": aPod(t, "api-7c5f-x", `{"kind":"ReplicaSet","name":"api-7c5f"}`, running(0)),
		"down":       aPod(t, "down", "", crashed("Error", "1")),
	}
	return newWorld(t, members, said(map[string]any{}))
}

func TestADeclaredCommandPrintsWhatIsDeclared(t *testing.T) {
	w := aWorld(t)
	out, errs, err := execute(t, w, "/exec/shop/web-7c5f-x/main", "", false, "cat", "/etc/app.conf")
	if out != "level=info\n" || errs != "" || err != nil {
		t.Errorf("%q %q %v", out, errs, err)
	}
	out, _, err = execute(t, w, "/exec/shop/api-7c5f-x/main", "", false, "hostname")
	if out != "api-7c5f-x\n" || err != nil {
		t.Errorf("%q %v", out, err)
	}
	out, errs, err = execute(t, w, "/exec/shop/web-7c5f-x/main", "", false, "check")
	var exit exec.CodeExitError
	if out != "" || errs != "degraded\n" || !errors.As(err, &exit) || exit.Code != 3 {
		t.Errorf("%q %q %v", out, errs, err)
	}
}

func TestWhatIsNotDeclaredIsNotThereAndIsNotRun(t *testing.T) {
	w := aWorld(t)
	witness := t.TempDir() + "/witness"
	for _, command := range [][]string{
		{"sh", "-c", "touch " + witness}, {"touch", witness}, {"/usr/bin/touch", witness}, {"id"}, {"catalogue"}, {},
	} {
		_, errs, err := execute(t, w, "/exec/shop/web-7c5f-x/main", "", false, command...)
		var exit exec.CodeExitError
		if !errors.As(err, &exit) || exit.Code != 127 || !strings.Contains(errs, "OCI runtime exec failed") {
			t.Errorf("%v: %q %v", command, errs, err)
		}
	}
	if out, _, err := execute(t, w, "/exec/shop/api-7c5f-x/main", "", true, "check"); err == nil || !strings.Contains(out, `exec: "check"`) {
		t.Errorf("another workload's command: %q %v", out, err)
	}
	_, errs, err := execute(t, w, "/exec/shop/web-7c5f-x/main", "", false, "cat", "/etc/passwd")
	if err == nil || errs != "cat: /etc/passwd: No such file or directory\n" {
		t.Errorf("another file: %q %v", errs, err)
	}
	if _, err := os.Stat(witness); err == nil {
		t.Error("a command was run")
	}
}

func TestAStreamIsPutDownWithItsInput(t *testing.T) {
	w := aWorld(t)
	_, _, _ = execute(t, w, "/exec/shop/web-7c5f-x/main", "secret input", false, "sh", "-s")
	_, _, _ = execute(t, w, "/exec/shop/web-7c5f-x/main", strings.Repeat("x", 100_000), false, "hostname")
	_, _ = get(t, w, "web-7c5f-x/main?tailLines=3")
	entries := w.entries(t)
	first := entries[0]
	if first.Kind != "exec" || first.Pod != "web-7c5f-x" || first.Container != "main" || strings.Join(first.Command, " ") != "sh -s" ||
		string(first.Stdin) != "secret input" || first.Answer != "unknown" || first.ExitCode != 127 || first.Time == "" {
		t.Errorf("%+v", first)
	}
	if second := entries[1]; second.Answer != "canned" || len(second.Stdin) != stdinLimit || !second.MoreStdin {
		t.Errorf("%+v, %d bytes", second.Answer, len(second.Stdin))
	}
	if third := entries[2]; third.Kind != "logs" || third.Query != "tailLines=3" {
		t.Errorf("%+v", third)
	}
}

func TestNothingIsAnsweredThatCannotBePutDown(t *testing.T) {
	w := aWorld(t)
	if err := os.WriteFile(w.journal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(w.journal, journalLimit); err != nil {
		t.Fatal(err)
	}
	if out, _, err := execute(t, w, "/exec/shop/web-7c5f-x/main", "", false, "hostname"); err == nil || out != "" {
		t.Errorf("exec: %q %v", out, err)
	}
	if code, text := get(t, w, "web-7c5f-x/main"); code != 500 {
		t.Errorf("logs: %d %q", code, text)
	}
}

func TestAttachingIsRefused(t *testing.T) {
	w := aWorld(t)
	out, _, err := execute(t, w, "/attach/shop/web-7c5f-x/main", "", false)
	if err == nil || !strings.Contains(err.Error(), "error attaching to container: failed to load task") || out != "" {
		t.Errorf("%q %v", out, err)
	}
	if entries := w.entries(t); entries[0].Kind != "attach" || entries[0].Answer != "refused" {
		t.Errorf("%+v", entries)
	}
}

func TestAForwardedPortRefusesConnections(t *testing.T) {
	w := aWorld(t)
	place, _ := url.Parse(w.URL + "/portForward/shop/web-7c5f-x")
	round, upgrader, err := spdy.RoundTripperFor(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.NewOnAddresses(
		spdy.NewDialer(upgrader, &http.Client{Transport: round}, http.MethodPost, place), []string{"127.0.0.1"}, []string{"0:6443"}, stop, ready, nil, &errs)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- forwarder.ForwardPorts() }()
	<-ready
	ports, err := forwarder.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get("http://127.0.0.1:" + strconv.Itoa(int(ports[0].Local)))
	if err == nil {
		_ = answer.Body.Close()
		t.Error("something answered")
	}
	<-done
	close(stop)
	entries := w.entries(t)
	if last := entries[len(entries)-1]; last.Kind != "portforward" || last.Port != 6443 || last.Answer != "refused" {
		t.Errorf("%+v", entries)
	}
}

func TestContainersThatDoNotRunHaveNoCommands(t *testing.T) {
	w := aWorld(t)
	for _, path := range []string{"/exec/shop/down/main", "/exec/shop/web-7c5f-x/side", "/attach/shop/down/main"} {
		if _, _, err := execute(t, w, path, "", false, "hostname"); err == nil || !strings.Contains(err.Error(), "container not found") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, _, err := execute(t, w, "/exec/bank/web-7c5f-x/main", "", false, "hostname"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("no pod: %v", err)
	}
}

func TestWhoShowsNoCertificateIsRefused(t *testing.T) {
	handler := (&Node{Pods: pods{}}).Handler()
	for _, path := range []string{"/containerLogs/shop/p/c", "/exec/shop/p/c", "/attach/shop/p/c", "/portForward/shop/p", "/pods"} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "https://10.0.1.2:10250"+path, nil))
		if recorder.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, recorder.Code)
		}
	}
}

func TestNothingElseIsServed(t *testing.T) {
	w := aWorld(t)
	for _, path := range []string{"/run/shop/web-7c5f-x/main", "/pods", "/runningpods/", "/metrics", "/logs/", "/debug/pprof/", "/configz", "/checkpoint/shop/web-7c5f-x/main"} {
		answer, err := http.Get(w.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
}
