package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// podLimit bounds how much of a pod is read; API servers take no larger objects.
const podLimit = 16 << 20

// Pods looks pods up; one that does not exist is nil.
type Pods interface {
	Get(ctx context.Context, namespace, name string) (*pod, error)
}

// Server looks pods up at an API server.
type Server struct {
	URL    string
	Client *http.Client
}

// Get asks for one pod.
func (s *Server) Get(ctx context.Context, namespace, name string) (*pod, error) {
	place := fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s", s.URL, url.PathEscape(namespace), url.PathEscape(name))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "kubelet")
	answer, err := s.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, podLimit))
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusNotFound:
		return nil, nil
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("look up a pod: %s", answer.Status)
	}
	found := &pod{}
	return found, json.Unmarshal(text, found)
}

// pod is what matters here of a pod.
type pod struct {
	Metadata struct {
		Name, Namespace, UID string
		Labels               map[string]string
		OwnerReferences      []struct{ Kind, Name string }
	}
	Spec struct {
		NodeName                   string
		Containers, InitContainers []struct {
			Name, Image string
			Ports       []struct{ ContainerPort int }
		}
	}
	Status struct {
		ContainerStatuses, InitContainerStatuses []status
	}
}

type status struct {
	Name        string
	ContainerID string
	Ready       bool
	State       state
	LastState   state
}

type state struct {
	Waiting    *struct{ Reason string }
	Running    *struct{ StartedAt time.Time }
	Terminated *struct {
		ExitCode              int
		Reason, ContainerID   string
		StartedAt, FinishedAt time.Time
	}
}

// run is one life of a container, from its start to its end or to now.
type run struct {
	id             string
	started, ended time.Time
	over, ready    bool
	code           int
	reason         string
}

// run gives the life that a log or a command belongs to; the error is the one that a node gives where the
// container has not lived.
func (p *pod) run(container string, previous bool) (run, error) {
	var found *status
	for _, list := range [][]status{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				found = &list[i]
			}
		}
	}
	name := p.Metadata.Name
	switch {
	case found == nil:
		return run{}, fmt.Errorf("container %q in pod %q is not available", container, name)
	case previous && found.LastState.Terminated == nil:
		return run{}, fmt.Errorf("previous terminated container %q in pod %q not found", container, name)
	case previous:
		return found.LastState.past(), nil
	case found.State.Running != nil:
		return run{id: found.ContainerID, started: found.State.Running.StartedAt, ready: found.Ready}, nil
	case found.State.Terminated != nil:
		return found.State.past(), nil
	case found.LastState.Terminated != nil:
		return found.LastState.past(), nil
	case found.State.Waiting != nil:
		return run{}, fmt.Errorf("container %q in pod %q is waiting to start: %s", container, name, found.State.why())
	}
	return run{}, fmt.Errorf("container %q in pod %q is waiting to start - no logs yet", container, name)
}

func (s state) past() run {
	end := s.Terminated
	return run{id: end.ContainerID, started: end.StartedAt, ended: end.FinishedAt, over: true, code: end.ExitCode, reason: end.Reason}
}

func (s state) why() string {
	switch s.Waiting.Reason {
	case "ErrImagePull":
		return "image can't be pulled"
	case "ImagePullBackOff":
		return "trying and failing to pull image"
	}
	return s.Waiting.Reason
}

var scheduled = regexp.MustCompile(`-\d+$`)

// workloads gives the names of what the pod belongs to: itself, its owners, and whatever owns those as far as it
// shows in their names.
func (p *pod) workloads() []string {
	names := []string{p.Metadata.Name}
	for _, owner := range p.Metadata.OwnerReferences {
		names = append(names, owner.Name)
		switch owner.Kind {
		case "ReplicaSet":
			if hash := p.Metadata.Labels["pod-template-hash"]; hash != "" {
				names = append(names, strings.TrimSuffix(owner.Name, "-"+hash))
			}
		case "Job":
			names = append(names, scheduled.ReplaceAllString(owner.Name, ""))
		}
	}
	return names
}

func (p *pod) image(container string) string {
	for _, one := range append(p.Spec.Containers, p.Spec.InitContainers...) {
		if one.Name == container {
			return one.Image
		}
	}
	return ""
}

// port is where the container says that it listens.
func (p *pod) port(container string) int {
	for _, one := range p.Spec.Containers {
		if one.Name == container && len(one.Ports) > 0 {
			return one.Ports[0].ContainerPort
		}
	}
	return 8080
}
