package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"oasis-operator.dev/sandbox/launcher/kubelet"
	"oasis-operator.dev/sandbox/launcher/reads"
)

// readsCommand is the argument with which this program answers for the tools beside the cluster.
const readsCommand = "reads"

func (s settings) monitoring(name string) string { return s.run("monitoring", name) }

// watchMonitoring starts what answers for the tools beside the cluster once the probe has written what they say, which
// it does only where the state speaks of any. What ends is started again after a pause: an agent can exhaust it, and
// the cluster does not need it.
func watchMonitoring(ctx context.Context, s settings) {
	for ; ctx.Err() == nil; pause(ctx, lookEvery) {
		programs, err := monitoringPrograms(s)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		done := make(chan struct{}, len(programs))
		for _, one := range programs {
			go func() {
				keep(ctx, s, one)
				done <- struct{}{}
			}()
		}
		for range programs {
			<-done
		}
		return
	}
}

// monitoringPrograms gives what is to run, from the file that the probe writes.
func monitoringPrograms(s settings) ([]component, error) {
	text, err := os.ReadFile(s.monitoring("state.json"))
	if err != nil {
		return nil, err
	}
	var said reads.State
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("read the state of the tools: %w", err)
	}
	programs := []component{{
		name: "launcher", args: []string{readsCommand}, env: append(s.environment(), "GOGC=50", "GOMEMLIMIT=64MiB"),
	}}
	if _, wanted := said.Listen["prometheus"]; wanted {
		programs = append(programs, component{
			name: "prometheus", args: []string{"--state=" + s.monitoring("state.json"), "--socket=" + s.prometheusSocket()},
			env: []string{"GOGC=50", "GOMEMLIMIT=128MiB"},
		})
	}
	return programs, nil
}

// keep runs a program until the context ends.
func keep(ctx context.Context, s settings, what component) {
	for backoff := lookEvery; ctx.Err() == nil; backoff = min(2*backoff, maxBackoff) {
		started, err := start(s, what)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			pause(ctx, backoff)
			continue
		}
		began := time.Now()
		select {
		case <-ctx.Done():
			started.stop(time.Second)
			return
		case <-started.done:
		}
		fmt.Fprintln(os.Stderr, started.report())
		if time.Since(began) > time.Minute {
			backoff = lookEvery
		}
		pause(ctx, backoff)
	}
}

// environment gives the settings to a program of ours.
func (s settings) environment() []string {
	return []string{
		"CLUSTER_RUN_DIR=" + s.runDir, "CLUSTER_DATA_DIR=" + s.dataDir, "CLUSTER_PKI_DIR=" + s.pkiDir,
		"CLUSTER_LISTEN=" + s.listen, "CLUSTER_TOOLS_LISTEN=" + s.toolsListen, "CLUSTER_PORT=" + strconv.Itoa(s.port),
		"CLUSTER_TERMINATION_LOG=" + os.DevNull,
	}
}

// serveReads answers for the tools until the context ends, and tells the probe once all of them listen.
func serveReads(ctx context.Context, s settings) error {
	_, node, err := nodeAgents(s)
	if err != nil {
		return err
	}
	pods, ok := node.Pods.(kubelet.Lister)
	if !ok {
		return errors.New("the pods cannot be listed")
	}
	server := &reads.Server{
		State: s.monitoring("state.json"), Listen: s.toolsListen, Socket: s.prometheusSocket(),
		Journal: kubelet.NewJournal(s.run("reads.log")),
		Logs:    &kubelet.Collector{Output: node.Output, Pods: pods},
	}
	return server.Serve(ctx, func() error {
		return replaceFile(s.monitoring("ready"), []byte(time.Now().UTC().Format(time.RFC3339Nano)+"\n"))
	})
}
