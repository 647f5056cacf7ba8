// Command launcher runs the control plane of one disposable cluster: etcd, API server, controller manager,
// scheduler and the program that plays the nodes. It issues their certificates, says when the API is ready,
// passes signals on, and ends with the name of the child that ended first.
//
// With the arguments "seed FOLDER" it makes the data that clusters begin with, see seed.go. With the argument "reads"
// it answers for the tools beside the cluster, see monitoring.go.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	bootPatience = 170 * time.Second // a machine on which many boot at once is slow; the operator's own limit is 180 s
	stopPatience = 5 * time.Second
	messageLimit = 4096
)

func main() {
	s, err := readSettings(os.Getenv)
	if err == nil {
		ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer cancel()
		switch {
		case len(os.Args) == 3 && os.Args[1] == "seed":
			err = makeSeed(ctx, s, os.Args[2])
		case len(os.Args) == 2 && os.Args[1] == readsCommand:
			err = serveReads(ctx, s)
		default:
			err = run(ctx, s)
		}
	}
	if err != nil {
		tell(s, err)
		os.Exit(1)
	}
}

// tell writes the reason to stderr and to the termination message.
func tell(s settings, reason error) {
	text := reason.Error()
	fmt.Fprintln(os.Stderr, text)
	if len(text) > messageLimit {
		text = text[:messageLimit]
	}
	if s.message != "" {
		_ = os.WriteFile(s.message, []byte(text), 0o600)
	}
}

// run boots the cluster and returns nil after a signal, or the report of the first child that ended.
func run(ctx context.Context, s settings) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cluster := &cluster{settings: s, fail: cancel}
	defer cluster.stop()
	if err := cluster.boot(ctx); err != nil {
		return first(ctx, err)
	}
	var playing sync.WaitGroup
	playing.Add(2)
	go func() {
		defer playing.Done()
		playNodes(ctx, s, func(err error) { cancel(err) })
	}()
	go func() {
		defer playing.Done()
		watchMonitoring(ctx, s)
	}()
	<-ctx.Done()
	playing.Wait()
	return first(ctx, nil)
}

// first gives the reason that ended the context, unless it was a signal; otherwise the error at hand.
func first(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// cluster holds the children in the order of their start.
type cluster struct {
	settings
	fail     context.CancelCauseFunc
	newborn  bool // whether the seed is being made, which nothing of this cluster may be left in
	children []*child
}

func (c *cluster) boot(ctx context.Context) error {
	if err := errors.Join(c.makeFolders(), plantSeed(c.settings)); err != nil {
		return err
	}
	if err := c.bootServer(ctx); err != nil {
		return err
	}
	if err := errors.Join(c.launch(ctx, controllerManager(c.settings)), c.launch(ctx, scheduler(c.settings))); err != nil {
		return err
	}
	return replaceFile(c.run("ready"), []byte(time.Now().UTC().Format(time.RFC3339Nano)+"\n"))
}

// bootServer starts etcd and the API server, and returns when the latter is ready.
func (c *cluster) bootServer(ctx context.Context) error {
	if err := c.launch(ctx, etcd(c.settings)); err != nil {
		return err
	}
	ca, err := readAuthority(c.settings)
	if err != nil {
		return err
	}
	if err := errors.Join(ca.issueAll(c.settings), writeFiles(c.settings)); err != nil {
		return err
	}
	if err := c.wait(ctx, "etcd", c.etcdListens); err != nil {
		return err
	}
	if err := serveNodes(ctx, c.settings); err != nil {
		return err
	}
	server := apiServer(c.settings)
	if c.newborn {
		server.args = append(server.args, "--feature-gates=APIServerIdentity=false")
	}
	if err := c.launch(ctx, server); err != nil {
		return err
	}
	ready, err := c.readiness(ca)
	if err != nil {
		return err
	}
	return c.wait(ctx, "kube-apiserver", ready)
}

// launch starts a component whose end is the end of the cluster.
func (c *cluster) launch(ctx context.Context, what component) error {
	started, err := start(c.settings, what)
	if err != nil {
		return err
	}
	c.children = append(c.children, started)
	go func() {
		<-started.done
		if ctx.Err() == nil {
			c.fail(started.report())
		}
	}()
	return nil
}

// stop ends the children, the last started first, so that none of them sees the API server or etcd gone.
func (c *cluster) stop() {
	for i := len(c.children) - 1; i >= 0; i-- {
		c.children[i].stop(stopPatience)
	}
}

// wait asks until the answer is true; the error names what was waited for and what it last said.
func (c *cluster) wait(ctx context.Context, what string, ask func(context.Context) (bool, string)) error {
	deadline := time.Now().Add(bootPatience)
	for {
		done, said := ask(ctx)
		if done {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not ready after %s: %s", what, bootPatience, said)
		}
		pause(ctx, 25*time.Millisecond)
	}
}

func (c *cluster) etcdListens(context.Context) (bool, string) {
	if _, err := os.Stat(c.etcdSocket()); err != nil {
		return false, err.Error()
	}
	return true, ""
}

// readiness asks the API server itself, as the administrator and by the address that clients inside use.
func (c *cluster) readiness(ca *authority) (func(context.Context) (bool, string), error) {
	certificate, err := tls.LoadX509KeyPair(c.run("admin", "client.crt"), c.run("admin", "client.key"))
	if err != nil {
		return nil, fmt.Errorf("load the administrator's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.certificate)
	asker := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}}
	return func(ctx context.Context) (bool, string) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server()+"/readyz", nil)
		if err != nil {
			return false, err.Error()
		}
		answer, err := asker.Do(request)
		if err != nil {
			return false, err.Error()
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 2048))
		return answer.StatusCode == http.StatusOK, strings.TrimSpace(string(text))
	}, nil
}
