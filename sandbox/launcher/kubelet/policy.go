package kubelet

import (
	"net"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// peer is one end of a connection: a pod, or an address of nobody.
type peer struct {
	pod             bool
	namespace       string
	labels          map[string]string
	namespaceLabels map[string]string
	ip              net.IP
	ports           []core.ContainerPort // that a pod names
}

// permits tells whether a connection may be: whether the policies that select one of its ends let it out there and
// in here. An end that none selects in a direction is open in it; among several, one that allows is enough.
func permits(policies []networking.NetworkPolicy, from, to peer, port int32) bool {
	return permitsOut(policies, from, to, port) && permitsIn(policies, from, to, port)
}

func permitsOut(policies []networking.NetworkPolicy, from, to peer, port int32) bool {
	selected := false
	for i := range policies {
		policy := &policies[i]
		if !selects(policy, from) || !hasType(policy, networking.PolicyTypeEgress) {
			continue
		}
		selected = true
		for _, rule := range policy.Spec.Egress {
			if matchesPort(rule.Ports, to, port) && matchesPeer(policy.Namespace, rule.To, to) {
				return true
			}
		}
	}
	return !selected
}

func permitsIn(policies []networking.NetworkPolicy, from, to peer, port int32) bool {
	selected := false
	for i := range policies {
		policy := &policies[i]
		if !selects(policy, to) || !hasType(policy, networking.PolicyTypeIngress) {
			continue
		}
		selected = true
		for _, rule := range policy.Spec.Ingress {
			if matchesPort(rule.Ports, to, port) && matchesPeer(policy.Namespace, rule.From, from) {
				return true
			}
		}
	}
	return !selected
}

func selects(policy *networking.NetworkPolicy, end peer) bool {
	return end.pod && end.namespace == policy.Namespace && matchesLabels(&policy.Spec.PodSelector, end.labels)
}

// hasType tells whether a policy is about a direction. The API server fills the types in where they are left out; a
// policy that reaches here without them is about what goes in, and about what goes out where it has rules for that.
func hasType(policy *networking.NetworkPolicy, wanted networking.PolicyType) bool {
	if len(policy.Spec.PolicyTypes) == 0 {
		return wanted == networking.PolicyTypeIngress || len(policy.Spec.Egress) > 0
	}
	for _, one := range policy.Spec.PolicyTypes {
		if one == wanted {
			return true
		}
	}
	return false
}

// matchesPeer tells whether one of the peers of a rule is meant; a rule without any means everybody.
func matchesPeer(namespace string, rules []networking.NetworkPolicyPeer, end peer) bool {
	for _, rule := range rules {
		if rule.IPBlock != nil {
			if inBlock(rule.IPBlock, end.ip) {
				return true
			}
			continue
		}
		if !end.pod {
			continue
		}
		inNamespace := end.namespace == namespace
		if rule.NamespaceSelector != nil {
			inNamespace = matchesLabels(rule.NamespaceSelector, end.namespaceLabels)
		}
		if inNamespace && (rule.PodSelector == nil || matchesLabels(rule.PodSelector, end.labels)) {
			return true
		}
	}
	return len(rules) == 0
}

func inBlock(block *networking.IPBlock, ip net.IP) bool {
	if !contains(block.CIDR, ip) {
		return false
	}
	for _, hole := range block.Except {
		if contains(hole, ip) {
			return false
		}
	}
	return true
}

func contains(cidr string, ip net.IP) bool {
	_, network, err := net.ParseCIDR(cidr)
	return err == nil && ip != nil && network.Contains(ip)
}

// matchesPort tells whether one of the ports of a rule is meant; a rule without any means all of them. Only TCP is
// ever spoken here.
func matchesPort(rules []networking.NetworkPolicyPort, to peer, port int32) bool {
	for _, rule := range rules {
		if rule.Protocol != nil && *rule.Protocol != core.ProtocolTCP {
			continue
		}
		switch {
		case rule.Port == nil:
			return true
		case rule.Port.Type == intstr.String:
			for _, named := range to.ports {
				if named.Name == rule.Port.StrVal && named.ContainerPort == port {
					return true
				}
			}
		case rule.EndPort != nil:
			if port >= rule.Port.IntVal && port <= *rule.EndPort {
				return true
			}
		case rule.Port.IntVal == port:
			return true
		}
	}
	return len(rules) == 0
}

func matchesLabels(selector *meta.LabelSelector, found map[string]string) bool {
	parsed, err := meta.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(found))
}
