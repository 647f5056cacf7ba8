package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// nodePort is where every node says that its agent listens.
const nodePort = "10250"

// egressConfiguration sends whatever the API server dials on behalf of its users through our socket, so that
// nothing else in this network, and no address elsewhere, can be reached by way of it.
func egressConfiguration(s settings) []byte {
	return fmt.Appendf(nil, `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
  - name: cluster
    connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: %[1]s}}}
  - name: controlplane
    connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: %[1]s}}}
`, s.egressSocket())
}

// serveNodes answers the API server's connections: those to the port of a node's agent get the stub that plays
// it, all others are refused. It returns once it listens.
func serveNodes(ctx context.Context, s settings) error {
	certificate, err := tls.LoadX509KeyPair(s.data("pki", "node.crt"), s.data("pki", "node.key"))
	if err != nil {
		return fmt.Errorf("load the certificate of the nodes: %w", err)
	}
	outer, err := net.Listen("unix", s.egressSocket())
	if err != nil {
		return fmt.Errorf("listen for the API server: %w", err)
	}
	inner := &queue{connections: make(chan net.Conn), closed: make(chan struct{})}
	secured := tls.NewListener(inner, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	server := &http.Server{Handler: nodeHandler(s), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(secured) }()
	go accept(outer, inner)
	go func() {
		<-ctx.Done()
		_ = outer.Close()
		_ = server.Close()
	}()
	return nil
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
	if _, port, err := net.SplitHostPort(request.Host); err != nil || port != nodePort {
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
