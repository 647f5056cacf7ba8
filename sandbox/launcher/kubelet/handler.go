// Package kubelet answers what an API server asks of the nodes of a cluster whose containers nobody runs: what
// they have logged, and what certain commands print in them. It starts no process, opens no connection but to the
// API server, and takes every answer from a file that the probe writes.
package kubelet

import (
	"fmt"
	"net/http"
	"time"

	constants "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	"k8s.io/kubelet/pkg/cri/streaming/remotecommand"
)

const (
	idleTimeout     = time.Hour
	creationTimeout = constants.DefaultStreamCreationTimeout
)

// Node plays the agents of all nodes.
type Node struct {
	Output  string   // file with what containers say, see output
	Journal *Journal // where every request is put down
	Pods    Pods
	// Networks tells what connections depend on; without it no container has a program that opens any.
	Networks Networks
}

// Handler serves logs, commands, attaching and port forwarding. Everything else is not found, as is, on a node
// that hardly allows anything, a good part of its interface.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.logs)
	for _, method := range []string{"GET", "POST"} {
		for _, pod := range []string{"{namespace}/{pod}", "{namespace}/{pod}/{uid}"} {
			mux.HandleFunc(method+" /exec/"+pod+"/{container}", n.exec)
			mux.HandleFunc(method+" /attach/"+pod+"/{container}", n.attach)
			mux.HandleFunc(method+" /portForward/"+pod, n.portForward)
		}
	}
	return authenticated(mux)
}

// authenticated refuses whoever does not show the certificate of a client of this cluster: an API server also
// carries its users to the port of a node by ways on which it shows none.
func authenticated(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

func (n *Node) logs(w http.ResponseWriter, r *http.Request) {
	options, err := readLogOptions(r.URL.Query())
	if err != nil {
		http.Error(w, `{"message": "Unable to decode query."}`, http.StatusBadRequest)
		return
	}
	pod, said, ok := n.look(w, r)
	if !ok {
		return
	}
	run, err := pod.run(r.PathValue("container"), options.previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !n.record(w, entryOf(r, "logs", func(e *Entry) { e.Query = r.URL.RawQuery })) {
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	log := logStream{node: n, request: r, options: options, to: w}
	log.write(pod, run, said)
}

func (n *Node) exec(w http.ResponseWriter, r *http.Request) {
	one, options, pod, said := n.open(w, r)
	if one == nil {
		return
	}
	container, command := r.PathValue("container"), r.URL.Query()["command"]
	one.answer = said.answer(pod, container, command)
	if one.answer == nil && n.Networks != nil {
		one.call = parseCall(command)
	}
	remotecommand.ServeExec(w, r, one, "", "", container, command, options,
		idleTimeout, creationTimeout, constants.SupportedStreamingProtocols)
}

func (n *Node) attach(w http.ResponseWriter, r *http.Request) {
	one, options, _, _ := n.open(w, r)
	if one == nil {
		return
	}
	remotecommand.ServeAttach(w, r, one, "", "", r.PathValue("container"), options,
		idleTimeout, creationTimeout, constants.SupportedStreamingProtocols)
}

func (n *Node) portForward(w http.ResponseWriter, r *http.Request) {
	pod, _, ok := n.look(w, r)
	if !ok {
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !n.record(w, entryOf(r, "portforward", func(e *Entry) { e.Query = r.URL.RawQuery })) {
		return
	}
	one := &session{node: n, request: r}
	portforward.ServePortForward(w, r, one, pod.sandbox(), "", options,
		idleTimeout, creationTimeout, portforward.SupportedProtocols)
}

// open begins a stream with a container that runs, or answers itself why there is none.
func (n *Node) open(w http.ResponseWriter, r *http.Request) (*session, *remotecommand.Options, *pod, output) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, nil, nil, output{}
	}
	pod, said, ok := n.look(w, r)
	if !ok {
		return nil, nil, nil, output{}
	}
	run, ok := living(w, pod, r.PathValue("container"))
	if !ok {
		return nil, nil, nil, output{}
	}
	return &session{node: n, request: r, run: run}, options, pod, said
}

// living gives the life of a container that runs, or answers itself that there is none.
func living(w http.ResponseWriter, pod *pod, container string) (run, bool) {
	run, err := pod.run(container, false)
	if err != nil || run.over {
		http.Error(w, fmt.Sprintf("container not found (%q)", container), http.StatusInternalServerError)
		return run, false
	}
	return run, true
}

// look gives the pod of a request and what containers say, or answers itself that there is none.
func (n *Node) look(w http.ResponseWriter, r *http.Request) (*pod, output, bool) {
	name := r.PathValue("pod")
	found, err := n.Pods.Get(r.Context(), r.PathValue("namespace"), name)
	if err != nil {
		http.Error(w, "failed to look up the pod", http.StatusInternalServerError)
		return nil, output{}, false
	}
	if found == nil {
		http.Error(w, fmt.Sprintf("pod %q does not exist", name), http.StatusNotFound)
		return nil, output{}, false
	}
	said, err := readOutput(n.Output)
	if err != nil {
		http.Error(w, "failed to read the container's files", http.StatusInternalServerError)
		return nil, output{}, false
	}
	return found, said, true
}

// record puts a request down before it is answered; one that cannot be is not answered.
func (n *Node) record(w http.ResponseWriter, entry Entry) bool {
	if err := n.Journal.Add(entry); err != nil {
		http.Error(w, "no space left on device", http.StatusInternalServerError)
		return false
	}
	return true
}

// entryOf begins the record of a request.
func entryOf(r *http.Request, kind string, fill func(*Entry)) Entry {
	entry := Entry{
		Time: time.Now().UTC().Format(moment), Kind: kind, Namespace: r.PathValue("namespace"),
		Pod: r.PathValue("pod"), Container: r.PathValue("container"),
	}
	fill(&entry)
	return entry
}
