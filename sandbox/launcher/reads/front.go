// Package reads answers what an operator's tools answer beside a cluster: Prometheus, Alertmanager, Loki, Jaeger and
// Grafana, as far as they are read. It changes nothing, starts no process, and connects to nothing but the API server
// and the program that evaluates PromQL. Every request is put down before it is answered.
package reads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oasis-operator.dev/sandbox/launcher/kubelet"
)

const (
	bodyLimit  = 1 << 20
	queryLimit = 16 << 10 // of a query in the journal
	atOnce     = 32       // requests that are worked on
	stamp      = "2006-01-02T15:04:05.000Z"
)

// Server answers for all tools of a world.
type Server struct {
	State   string // file with the state
	Listen  string // address to listen on
	Socket  string // of the program that evaluates PromQL
	Journal *kubelet.Journal
	Logs    *kubelet.Collector
}

// Entry tells of one request to a tool.
type Entry struct {
	Time    string `json:"time"`
	Service string `json:"service"` // prometheus, alertmanager, loki, jaeger or grafana
	From    string `json:"from"`    // address that the connection came from
	Method  string `json:"method"`
	Path    string `json:"path"`
	Query   string `json:"query,omitempty"` // with the members of a form that was posted
	Cut     bool   `json:"cut,omitempty"`   // whether path or query were longer
}

// world is what handlers answer from.
type world struct {
	*Server
	file *file
	prom http.Handler
}

// tools gives the handler of each tool.
func (s *Server) tools() (map[string]http.Handler, *file) {
	w := &world{Server: s, file: &file{path: s.State}, prom: s.proxy()}
	return map[string]http.Handler{
		"prometheus": w.prom, "alertmanager": w.alertmanager(), "loki": w.loki(),
		"jaeger": w.jaeger(), "grafana": w.grafana(),
	}, w.file
}

// Serve answers until the context ends. Once everything listens, `ready` is called.
func (s *Server) Serve(ctx context.Context, ready func() error) error {
	handlers, file := s.tools()
	state, err := file.present()
	if err != nil {
		return err
	}
	ended := make(chan error, len(state.Listen))
	turns := make(chan struct{}, atOnce)
	for name, one := range state.Listen {
		handler, ok := handlers[name]
		if !ok {
			return fmt.Errorf("listen: %q: no such tool", name)
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(s.Listen, strconv.Itoa(one.Port)))
		if err != nil {
			return fmt.Errorf("listen for %s: %w", name, err)
		}
		server := &http.Server{
			Handler: s.recorded(name, turns, handler), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second,
			WriteTimeout: 40 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		}
		go func() { ended <- server.Serve(listener) }()
		defer server.Close()
	}
	if _, wanted := state.Listen["prometheus"]; wanted {
		if err := s.awaitSocket(ctx); err != nil {
			return err
		}
	}
	if _, wanted := state.Listen["loki"]; wanted {
		go s.Logs.Follow(ctx)
	}
	if err := ready(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// awaitSocket waits until the program behind the socket answers.
func (s *Server) awaitSocket(ctx context.Context) error {
	for {
		connection, err := net.Dial("unix", s.Socket)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// proxy hands requests to the program that evaluates PromQL.
func (s *Server) proxy() http.Handler {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", s.Socket)
	}}
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "prometheus"
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
		},
	}
}

// recorded puts a request down, and then has it answered; one that cannot be put down is not.
func (s *Server) recorded(name string, turns chan struct{}, inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-r.Context().Done():
			return
		}
		text, err := readBody(w, r)
		if err != nil {
			http.Error(w, "http: request body too large", http.StatusRequestEntityTooLarge)
			return
		}
		if err := s.Journal.Add(entryOf(name, r, text)); err != nil {
			http.Error(w, "no space left on device", http.StatusInternalServerError)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// readBody gives the body of a request, which can be read once more afterwards.
func readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	r.Body = io.NopCloser(strings.NewReader(string(text)))
	r.ContentLength = int64(len(text))
	return string(text), err
}

func entryOf(name string, r *http.Request, body string) Entry {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	query := strings.Join(slices.DeleteFunc([]string{r.URL.RawQuery, body}, func(text string) bool { return text == "" }), "&")
	entry := Entry{
		Time: time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), Service: name, From: host, Method: r.Method,
		Path: r.URL.Path, Query: query,
	}
	entry.Cut = len(entry.Path) > queryLimit || len(entry.Query) > queryLimit
	entry.Path, entry.Query = entry.Path[:min(len(entry.Path), queryLimit)], entry.Query[:min(len(entry.Query), queryLimit)]
	return entry
}

// send writes an answer in JSON.
func send(w http.ResponseWriter, code int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

// plain gives a handler that always says the same.
func plain(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

type object = map[string]any

// form gives the parameters of a request, those of its body included.
func form(r *http.Request) (url.Values, error) {
	if err := r.ParseForm(); err != nil {
		return nil, errors.New("bad_data: cannot parse the parameters")
	}
	return r.Form, nil
}

func number(text string, otherwise, most int) int {
	if value, err := strconv.Atoi(text); err == nil && value > 0 {
		return min(value, most)
	}
	return otherwise
}
