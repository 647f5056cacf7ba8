// Command prometheus answers the query interface of a Prometheus over series that a file describes: real PromQL, by
// the engine of Prometheus itself, without scraping, storage or configuration. It listens on a unix socket, behind the
// program that every request comes through and is put down by.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	state := flag.String("state", "/run/cluster/monitoring.json", "file with the series and rules")
	socket := flag.String("socket", "", "unix socket to listen on")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	if err := serve(ctx, *state, *socket); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers until the context ends. The file is read before the socket exists, so whoever finds the socket finds
// the series too.
func serve(ctx context.Context, state, socket string) error {
	world := &world{path: state}
	if _, err := world.present(); err != nil {
		return err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: newAPI(world).handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
