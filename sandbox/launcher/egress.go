package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"oasis-operator.dev/sandbox/launcher/kubelet"
)

// nodePort is where every node says that its agent listens.
const nodePort = "10250"

// egressName is the socket's name, in the folder in which the API server runs. A connection that is refused is told
// to whoever asked for it with this name, so it is that of a usual proxy and has no folder of ours in it.
const egressName = "konnectivity-server.socket"

// nodeRange has the addresses of all nodes, as the probe gives them.
var nodeRange = net.IPNet{IP: net.IPv4(10, 0, 0, 0), Mask: net.CIDRMask(16, 32)}

// egressConfiguration sends whatever the API server dials on behalf of its users through our socket, so that
// nothing else in this network, and no address elsewhere, can be reached by way of it.
func egressConfiguration() []byte {
	return fmt.Appendf(nil, `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
  - name: cluster
    connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: %[1]s}}}
  - name: controlplane
    connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: %[1]s}}}
`, egressName)
}

// serveNodes answers the API server's connections: those to the port of a node's agent get the stub that plays
// it, all others are refused. It returns once it listens.
func serveNodes(ctx context.Context, s settings) error {
	secure, node, err := nodeAgents(s)
	if err != nil {
		return err
	}
	outer, err := net.Listen("unix", s.egressSocket())
	if err != nil {
		return fmt.Errorf("listen for the API server: %w", err)
	}
	inner := &queue{connections: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: node.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(tls.NewListener(inner, secure)) }()
	go accept(outer, inner)
	go func() {
		<-ctx.Done()
		_ = outer.Close()
		_ = server.Close()
	}()
	return nil
}

// nodeAgents gives the agents of the nodes, and how they speak to the API server that calls them.
func nodeAgents(s settings) (*tls.Config, *kubelet.Node, error) {
	serving, err := tls.LoadX509KeyPair(s.data("pki", "node.crt"), s.data("pki", "node.key"))
	if err != nil {
		return nil, nil, fmt.Errorf("load the certificate of the nodes: %w", err)
	}
	own, err := tls.LoadX509KeyPair(s.data("pki", "kubelet.crt"), s.data("pki", "kubelet.key"))
	if err != nil {
		return nil, nil, fmt.Errorf("load the certificate of the node agents: %w", err)
	}
	bundle, err := os.ReadFile(s.pki("ca.crt"))
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster authority: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(bundle)
	secure := &tls.Config{
		Certificates: []tls.Certificate{serving}, MinVersion: tls.VersionTLS12,
		ClientCAs: clients, ClientAuth: tls.VerifyClientCertIfGiven,
	}
	asker := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: clients, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
	}}
	server := &kubelet.Server{URL: s.server(), Client: asker}
	return secure, &kubelet.Node{
		Output:   s.run("output.json"),
		Journal:  kubelet.NewJournal(s.run("streams.log")),
		Pods:     server,
		Networks: server,
	}, nil
}

func accept(outer net.Listener, inner *queue) {
	for {
		connection, err := outer.Accept()
		if err != nil {
			return
		}
		go connect(connection, inner)
	}
}

// connect reads one CONNECT request and passes the connection on, or refuses it.
func connect(connection net.Conn, inner *queue) {
	_ = connection.SetReadDeadline(time.Now().Add(10 * time.Second))
	reader := bufio.NewReader(connection)
	request, err := http.ReadRequest(reader)
	if err != nil || request.Method != http.MethodConnect {
		_ = connection.Close()
		return
	}
	_ = connection.SetReadDeadline(time.Time{})
	if !isNode(request.Host) {
		_, _ = connection.Write([]byte("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"))
		_ = connection.Close()
		return
	}
	if _, err := connection.Write([]byte("HTTP/1.1 200 Connection Established\r\n\r\n")); err != nil {
		_ = connection.Close()
		return
	}
	inner.put(&buffered{Conn: connection, reader: reader})
}

// isNode tells whether an address is the agent of a node.
func isNode(address string) bool {
	host, port, err := net.SplitHostPort(address)
	return err == nil && port == nodePort && nodeRange.Contains(net.ParseIP(host))
}

// buffered reads first what was read ahead while the request was parsed.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }

// queue is a listener whose connections are handed to it.
type queue struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func (q *queue) put(connection net.Conn) {
	select {
	case q.connections <- connection:
	case <-q.closed:
		_ = connection.Close()
	}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case connection := <-q.connections:
		return connection, nil
	case <-q.closed:
		return nil, errors.New("closed")
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

func (q *queue) Addr() net.Addr { return &net.UnixAddr{Name: "nodes", Net: "unix"} }
