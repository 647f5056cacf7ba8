package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/client-go/util/exec"
)

// aNetwork has a web in zone a (namespace shop) and a ledger behind a Service in zone b (namespace orders).
func aNetwork(t *testing.T, policies ...string) *network {
	t.Helper()
	found := &network{namespaces: map[string]map[string]string{
		"shop":   {"zone": "a", "kubernetes.io/metadata.name": "shop"},
		"orders": {"zone": "b", "kubernetes.io/metadata.name": "orders"},
	}}
	for _, text := range []string{
		`{"metadata":{"namespace":"shop","name":"web-7c5f-x","labels":{"app":"web"}},
		  "status":{"podIP":"10.244.0.5","phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
		`{"metadata":{"namespace":"orders","name":"ledger-1","labels":{"app":"ledger"}},
		  "spec":{"containers":[{"name":"main","ports":[{"name":"http","containerPort":8080}]}]},
		  "status":{"podIP":"10.244.1.7","phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
	} {
		var one core.Pod
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			t.Fatal(err)
		}
		found.pods = append(found.pods, one)
	}
	var service core.Service
	if err := json.Unmarshal([]byte(`{"metadata":{"namespace":"orders","name":"ledger"},
		"spec":{"clusterIP":"10.96.7.7","selector":{"app":"ledger"},"ports":[{"port":80,"targetPort":"http"}]}}`), &service); err != nil {
		t.Fatal(err)
	}
	found.services = []core.Service{service}
	for _, text := range policies {
		var policy networking.NetworkPolicy
		if err := json.Unmarshal([]byte(text), &policy); err != nil {
			t.Fatal(err)
		}
		found.policies = append(found.policies, policy)
	}
	return found
}

const (
	denyIn  = `{"metadata":{"namespace":"orders"},"spec":{"podSelector":{},"policyTypes":["Ingress"]}}`
	denyOut = `{"metadata":{"namespace":"shop"},"spec":{"podSelector":{},"policyTypes":["Egress"]}}`
)

func allowFrom(peer string) string {
	return `{"metadata":{"namespace":"orders"},"spec":{"podSelector":{"matchLabels":{"app":"ledger"}},"policyTypes":["Ingress"],
		"ingress":[{"from":[` + peer + `],"ports":[{"port":"http"}]}]}}`
}

func TestPoliciesDecideWhetherAConnectionIsAnswered(t *testing.T) {
	for name, one := range map[string]struct {
		policies []string
		want     outcome
	}{
		"without any policy":                   {nil, connected},
		"all that goes in is denied":           {[]string{denyIn}, silent},
		"all that goes out is denied":          {[]string{denyOut}, silent},
		"another namespace's policy":           {[]string{strings.Replace(denyIn, "orders", "other", 1)}, connected},
		"a policy about other pods":            {[]string{strings.Replace(denyIn, "{}", `{"matchLabels":{"app":"x"}}`, 1)}, connected},
		"an allowed zone":                      {[]string{denyIn, allowFrom(`{"namespaceSelector":{"matchLabels":{"zone":"a"}}}`)}, connected},
		"another zone":                         {[]string{denyIn, allowFrom(`{"namespaceSelector":{"matchLabels":{"zone":"b"}}}`)}, silent},
		"allowed pods of an allowed zone":      {[]string{allowFrom(`{"namespaceSelector":{},"podSelector":{"matchLabels":{"app":"web"}}}`)}, connected},
		"other pods of an allowed zone":        {[]string{allowFrom(`{"namespaceSelector":{},"podSelector":{"matchLabels":{"app":"job"}}}`)}, silent},
		"pods of the policy's own namespace":   {[]string{allowFrom(`{"podSelector":{}}`)}, silent},
		"an allowed block":                     {[]string{allowFrom(`{"ipBlock":{"cidr":"10.244.0.0/16"}}`)}, connected},
		"a hole in an allowed block":           {[]string{allowFrom(`{"ipBlock":{"cidr":"10.244.0.0/16","except":["10.244.0.0/24"]}}`)}, silent},
		"an allowed zone and a denied way out": {[]string{allowFrom(`{"namespaceSelector":{}}`), denyOut}, silent},
		"a rule for another port":              {[]string{strings.Replace(allowFrom(`{"namespaceSelector":{}}`), `"http"`, `9090`, 1)}, silent},
		"a rule for a range of ports":          {[]string{strings.Replace(allowFrom(`{"namespaceSelector":{}}`), `"port":"http"`, `"port":8000,"endPort":8100`, 1)}, connected},
		"a rule for another protocol":          {[]string{strings.Replace(allowFrom(`{"namespaceSelector":{}}`), `"port":"http"`, `"port":8080,"protocol":"UDP"`, 1)}, silent},
	} {
		if got, _ := aNetwork(t, one.policies...).connect("shop", "web-7c5f-x", "ledger.orders", 80); got != one.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestHostsArePodsAndServicesAndNothingElse(t *testing.T) {
	n := aNetwork(t)
	for host, want := range map[string]outcome{
		"ledger.orders": connected, "ledger.orders.svc": connected, "ledger.orders.svc.cluster.local": connected,
		"10.96.7.7": connected, "ledger": unknown, "example.com": unknown, "8.8.8.8": silent,
	} {
		if got, _ := n.connect("shop", "web-7c5f-x", host, 80); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
	for port, want := range map[int32]outcome{8080: connected, 9090: refused} {
		if got, _ := n.connect("shop", "web-7c5f-x", "10.244.1.7", port); got != want {
			t.Errorf("port %d: %v", port, got)
		}
	}
	n.pods[1].Status.Conditions[0].Status = core.ConditionFalse
	if got, _ := n.connect("shop", "web-7c5f-x", "ledger.orders", 80); got != refused {
		t.Errorf("without ready pods: %v", got)
	}
}

func TestCommandsAreUnderstoodAsTheirProgramsWould(t *testing.T) {
	for text, want := range map[string]call{
		"curl http://ledger.orders/x":                                   {program: "curl", host: "ledger.orders", port: 80, patience: usualPatience},
		"curl -sS -m 3 -o /dev/null -w %{http_code} ledger.orders:8080": {program: "curl", host: "ledger.orders", port: 8080, patience: 3 * time.Second, quiet: true, discard: true, format: "%{http_code}", given: true},
		"/usr/bin/curl --max-time=1.5 -X POST -d a=b https://a.b":       {program: "curl", host: "a.b", port: 443, patience: 1500 * time.Millisecond, given: true},
		"wget -qO- -T2 ledger.orders":                                   {program: "wget", host: "ledger.orders", port: 80, patience: 2 * time.Second, quiet: true, given: true},
		"nc -zv -w 2 10.244.1.7 8080":                                   {program: "nc", host: "10.244.1.7", port: 8080, patience: 2 * time.Second, discard: true, given: true},
	} {
		got := parseCall(strings.Fields(text))
		if got == nil || *got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for _, text := range []string{"", "ls", "curl", "curl --help", "nc -l 80", "nc a b", "python -c x"} {
		if got := parseCall(strings.Fields(text)); got != nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

type fixed struct{ found *network }

func (f fixed) Network(context.Context) (*network, error) { return f.found, nil }

func TestACallInAContainerEndsAsThePoliciesSay(t *testing.T) {
	for _, one := range []struct {
		policies []string
		out      string
		code     int
	}{{nil, "OK\n", 0}, {[]string{denyIn}, "", 28}} {
		w := newNetworkedWorld(t, pods{"web-7c5f-x": aPod(t, "web-7c5f-x", replicaSet, running(0))}, fixed{aNetwork(t, one.policies...)})
		out, _, err := execute(t, w, "/exec/shop/web-7c5f-x/main", "", false, "curl", "-s", "-m", "0.2", "http://ledger.orders/")
		var exit exec.CodeExitError
		code := 0
		if errors.As(err, &exit) {
			code = exit.Code
		}
		if out != one.out || code != one.code {
			t.Errorf("%v: %q %v", one.policies, out, err)
		}
		if entries := w.entries(t); len(entries) != 1 || entries[0].Command[0] != "curl" || entries[0].ExitCode != one.code {
			t.Errorf("journal: %+v", entries)
		}
	}
}
