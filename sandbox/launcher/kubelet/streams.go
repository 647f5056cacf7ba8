package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// listLimit bounds how much of the pods is read at once.
	listLimit = 64 << 20
	// keptLines bounds what is kept of pods that are gone.
	keptLines = 200_000
	// lookAtMost is how often the pods are looked at for those who read their logs.
	lookAtMost = time.Second
)

// Stream is the log of the lives of one container.
type Stream struct {
	Labels map[string]string
	Lines  []Line
}

// Line is a line of a log with its time.
type Line struct {
	At   time.Time
	Text string
}

// List gives all pods.
func (s *Server) List(ctx context.Context) ([]*pod, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/v1/pods", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "kubelet")
	answer, err := s.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, listLimit))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("look up the pods: %s", answer.Status)
	}
	var found struct{ Items []*pod }
	return found.Items, json.Unmarshal(text, &found)
}

// Lister lists all pods.
type Lister interface {
	List(ctx context.Context) ([]*pod, error)
}

// Collector gathers what containers log, as an agent on each node would, and keeps it when a pod is gone. What it
// says of a life is what the node says of it.
type Collector struct {
	Output string // as of Node
	Pods   Lister

	mu     sync.Mutex
	looked time.Time
	lives  map[string]life
	order  []string // of the lives, in the order in which they were seen first
}

// life is one life of a container.
type life struct {
	labels map[string]string
	lines  []Line
}

// Streams gives what was logged until now.
func (c *Collector) Streams(ctx context.Context) ([]Stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookAtMost {
		if err := c.look(ctx); err != nil {
			return nil, err
		}
		c.looked = time.Now()
	}
	places := map[string]int{}
	var streams []Stream
	for _, key := range c.order {
		one := c.lives[key]
		name := strings.Join([]string{one.labels["namespace"], one.labels["pod"], one.labels["container"]}, "/")
		place, ok := places[name]
		if !ok {
			place = len(streams)
			places[name] = place
			streams = append(streams, Stream{Labels: one.labels})
		}
		streams[place].Lines = append(streams[place].Lines, upTo(one.lines, time.Now())...)
	}
	for _, one := range streams {
		slices.SortStableFunc(one.Lines, func(a, b Line) int { return a.At.Compare(b.At) })
	}
	return streams, nil
}

// Follow looks at the pods from time to time until the context ends, so that those are known that soon are gone.
func (c *Collector) Follow(ctx context.Context) {
	for ctx.Err() == nil {
		_, _ = c.Streams(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

// look takes in the lives of all containers as they are.
func (c *Collector) look(ctx context.Context) error {
	said, err := readOutput(c.Output)
	if err != nil {
		return err
	}
	pods, err := c.Pods.List(ctx)
	if err != nil {
		return err
	}
	if c.lives == nil {
		c.lives = map[string]life{}
	}
	present := map[string]bool{}
	for _, p := range pods {
		for _, container := range append(slices.Clone(p.Spec.InitContainers), p.Spec.Containers...) {
			for _, previous := range []bool{true, false} {
				one, err := p.run(container.Name, previous)
				if err != nil {
					continue // it has not lived
				}
				key := strings.Join([]string{p.Metadata.UID, container.Name, one.id, one.started.String()}, "/")
				if _, known := c.lives[key]; !known {
					c.order = append(c.order, key)
				}
				present[key] = true
				c.lives[key] = life{p.labels(container.Name), exported(said.lines(p, container.Name, one))}
			}
		}
	}
	c.forget(present)
	return nil
}

// forget drops the oldest lives of what is gone where too much is kept.
func (c *Collector) forget(present map[string]bool) {
	count := 0
	for _, one := range c.lives {
		count += len(one.lines)
	}
	c.order = slices.DeleteFunc(c.order, func(key string) bool {
		if count <= keptLines || present[key] {
			return false
		}
		count -= len(c.lives[key].lines)
		delete(c.lives, key)
		return true
	})
}

// labels are those by which a log is found, as an agent on the node takes them from the pod.
func (p *pod) labels(container string) map[string]string {
	names := p.workloads()
	app := names[len(names)-1]
	for _, key := range []string{"app.kubernetes.io/name", "app"} {
		if text := p.Metadata.Labels[key]; text != "" {
			app = text
		}
	}
	found := map[string]string{
		"namespace": p.Metadata.Namespace, "pod": p.Metadata.Name, "container": container,
		"app": app, "job": p.Metadata.Namespace + "/" + app, "stream": "stderr",
	}
	if p.Spec.NodeName != "" {
		found["node_name"] = p.Spec.NodeName
	}
	return found
}

func exported(lines []line) []Line {
	found := make([]Line, len(lines))
	for i, one := range lines {
		found[i] = Line{one.at, one.text}
	}
	return found
}

func upTo(lines []Line, then time.Time) []Line {
	for i, one := range lines {
		if one.At.After(then) {
			return lines[:i]
		}
	}
	return lines
}
