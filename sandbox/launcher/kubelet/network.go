package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

// networkLimit bounds how much of a list is read.
const networkLimit = 128 << 20

// Networks gives what connections between pods depend on, as it is now.
type Networks interface {
	Network(ctx context.Context) (*network, error)
}

// network is what connections depend on.
type network struct {
	pods       []core.Pod
	namespaces map[string]map[string]string // labels by name
	services   []core.Service
	policies   []networking.NetworkPolicy
}

// outcome is how a connection ends.
type outcome int

const (
	connected outcome = iota
	refused           // nobody listens there
	silent            // nothing ever comes back
	unknown           // nobody has that name
)

// Network asks the API server.
func (s *Server) Network(ctx context.Context) (*network, error) {
	var (
		pods       core.PodList
		namespaces core.NamespaceList
		services   core.ServiceList
		policies   networking.NetworkPolicyList
	)
	for path, list := range map[string]any{
		"/api/v1/pods": &pods, "/api/v1/namespaces": &namespaces, "/api/v1/services": &services,
		"/apis/networking.k8s.io/v1/networkpolicies": &policies,
	} {
		if err := s.list(ctx, path, list); err != nil {
			return nil, err
		}
	}
	found := &network{pods: pods.Items, services: services.Items, policies: policies.Items, namespaces: map[string]map[string]string{}}
	for _, one := range namespaces.Items {
		found.namespaces[one.Name] = one.Labels
	}
	return found, nil
}

func (s *Server) list(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "kubelet")
	answer, err := s.Client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("list %s: %s", path, answer.Status)
	}
	return json.NewDecoder(io.LimitReader(answer.Body, networkLimit)).Decode(into)
}

// connect tells how a connection of a pod to a host and port ends, and the address that the host has.
func (n *network) connect(namespace, name, host string, port int32) (outcome, string) {
	from := n.peerOf(n.pod(namespace, name))
	address, service := n.resolve(namespace, host)
	if address == "" {
		return unknown, ""
	}
	if service != nil {
		return n.toService(from, service, port), address
	}
	target := n.byAddress(address)
	if target == nil {
		// There is nothing outside of this cluster, and nothing that tells so either.
		return silent, address
	}
	return n.toPod(from, target, port), address
}

func (n *network) toService(from peer, service *core.Service, port int32) outcome {
	for _, offered := range service.Spec.Ports {
		if offered.Port != port {
			continue
		}
		for i := range n.pods {
			one := &n.pods[i]
			if !backs(service, one) || !ready(one) {
				continue
			}
			number := targetPort(offered, one)
			if !permits(n.policies, from, n.peerOf(one), number) {
				return silent
			}
			return connected
		}
	}
	return refused
}

func (n *network) toPod(from peer, target *core.Pod, port int32) outcome {
	switch {
	case !permits(n.policies, from, n.peerOf(target), port):
		return silent
	case ready(target) && n.listens(target, port):
		return connected
	}
	return refused
}

// listens tells whether a pod listens on a port: one that it names, or, where it names none, one that a Service says.
func (n *network) listens(one *core.Pod, port int32) bool {
	named := containerPorts(one)
	for _, known := range named {
		if known.ContainerPort == port {
			return true
		}
	}
	for i := range n.services {
		if len(named) > 0 || !backs(&n.services[i], one) {
			continue
		}
		for _, offered := range n.services[i].Spec.Ports {
			if targetPort(offered, one) == port {
				return true
			}
		}
	}
	return false
}

// resolve gives the address of a host as a pod of a namespace sees it, and the Service that it is, if any.
func (n *network) resolve(namespace, host string) (string, *core.Service) {
	if ip := net.ParseIP(host); ip != nil {
		for i := range n.services {
			if n.services[i].Spec.ClusterIP == ip.String() {
				return ip.String(), &n.services[i]
			}
		}
		return ip.String(), nil
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, "."), ".svc.cluster.local")
	name, space, found := strings.Cut(strings.TrimSuffix(host, ".svc"), ".")
	if !found {
		space = namespace
	}
	for i := range n.services {
		one := &n.services[i]
		if one.Name == name && one.Namespace == space {
			return one.Spec.ClusterIP, one
		}
	}
	return "", nil
}

func (n *network) pod(namespace, name string) *core.Pod {
	for i := range n.pods {
		if n.pods[i].Namespace == namespace && n.pods[i].Name == name {
			return &n.pods[i]
		}
	}
	return nil
}

func (n *network) byAddress(address string) *core.Pod {
	for i := range n.pods {
		one := &n.pods[i]
		if one.Status.PodIP == address && one.Status.Phase != core.PodSucceeded && one.Status.Phase != core.PodFailed {
			return one
		}
	}
	return nil
}

func (n *network) peerOf(one *core.Pod) peer {
	if one == nil {
		return peer{}
	}
	return peer{
		pod: true, namespace: one.Namespace, labels: one.Labels, namespaceLabels: n.namespaces[one.Namespace],
		ip: net.ParseIP(one.Status.PodIP), ports: containerPorts(one),
	}
}

func containerPorts(one *core.Pod) []core.ContainerPort {
	var found []core.ContainerPort
	for _, container := range one.Spec.Containers {
		found = append(found, container.Ports...)
	}
	return found
}

func backs(service *core.Service, one *core.Pod) bool {
	if service.Namespace != one.Namespace || len(service.Spec.Selector) == 0 {
		return false
	}
	for key, value := range service.Spec.Selector {
		if one.Labels[key] != value {
			return false
		}
	}
	return true
}

func ready(one *core.Pod) bool {
	if one.DeletionTimestamp != nil {
		return false
	}
	for _, condition := range one.Status.Conditions {
		if condition.Type == core.PodReady {
			return condition.Status == core.ConditionTrue
		}
	}
	return false
}

func targetPort(offered core.ServicePort, one *core.Pod) int32 {
	if name := offered.TargetPort.StrVal; name != "" {
		for _, named := range containerPorts(one) {
			if named.Name == name {
				return named.ContainerPort
			}
		}
		return 0
	}
	if offered.TargetPort.IntVal != 0 {
		return offered.TargetPort.IntVal
	}
	return offered.Port
}
