package reads

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const receiver = "default"

func (w *world) alertmanager() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v2/status", w.alertStatus)
	mux.HandleFunc("GET /api/v2/alerts", w.alerts)
	mux.HandleFunc("GET /api/v2/alerts/groups", w.alertGroups)
	mux.HandleFunc("GET /api/v2/receivers", func(out http.ResponseWriter, _ *http.Request) {
		send(out, http.StatusOK, []object{{"name": receiver}})
	})
	mux.HandleFunc("GET /api/v2/silences", func(out http.ResponseWriter, _ *http.Request) {
		send(out, http.StatusOK, []object{})
	})
	mux.HandleFunc("GET /api/v2/silence/{id}", func(out http.ResponseWriter, r *http.Request) {
		send(out, http.StatusNotFound, fmt.Sprintf("silence %s not found", r.PathValue("id")))
	})
	for _, path := range []string{"POST /api/v2/silences", "DELETE /api/v2/silence/{id}", "POST /api/v2/alerts"} {
		mux.HandleFunc(path, func(out http.ResponseWriter, _ *http.Request) {
			send(out, http.StatusForbidden, object{"code": 403, "message": "read-only access"})
		})
	}
	mux.HandleFunc("GET /-/healthy", plain("OK"))
	mux.HandleFunc("GET /-/ready", plain("OK"))
	return mux
}

func (w *world) alertStatus(out http.ResponseWriter, _ *http.Request) {
	state, err := w.file.present()
	if err != nil {
		send(out, http.StatusInternalServerError, err.Error())
		return
	}
	send(out, http.StatusOK, object{
		"cluster": object{"name": "01KB6Q2V8T3M5W7X9Y0Z1A2B3C", "status": "ready", "peers": []any{}},
		"config": object{"original": "route:\n  receiver: " + receiver + "\n  group_by:\n  - alertname\n  group_wait: 30s\n" +
			"  group_interval: 5m\n  repeat_interval: 4h\nreceivers:\n- name: " + receiver + "\n"},
		"uptime": moment(state.Now - 1_012_345).Format(stamp),
		"versionInfo": object{
			"branch": "HEAD", "buildDate": "20261012-08:51:30", "buildUser": "root@9c1f5e2a7b3d", "goVersion": "go1.25.2",
			"revision": "b7d1c0f5a3e94c2d8f6e0b1a2c3d4e5f60718293", "version": "0.30.0",
		},
	})
}

// firing gives the alerts that were sent on and that a request asks for.
func (w *world) firing(r *http.Request) ([]object, error) {
	state, err := w.file.present()
	if err != nil {
		return nil, err
	}
	var matchers []matcher
	for _, text := range r.URL.Query()["filter"] {
		// A value may stand without quotation marks.
		s := &scanner{text: text}
		one, err := s.matcher()
		if err != nil {
			name, value, ok := strings.Cut(text, "=")
			if !ok || strings.ContainsAny(value, "~\"") || strings.HasSuffix(name, "!") {
				return nil, fmt.Errorf("bad matcher format: %s", text)
			}
			one = matcher{name: strings.TrimSpace(name), operator: "=", value: strings.TrimSpace(value)}
		}
		matchers = append(matchers, one)
	}
	found := []object{}
	if r.URL.Query().Get("active") == "false" {
		return found, nil
	}
	for _, one := range state.Alerts {
		if one.State == "firing" && matchAll(matchers, one.Labels) {
			found = append(found, sent(one))
		}
	}
	return found, nil
}

func sent(one Alert) object {
	now := time.Now().UTC()
	annotations := one.Annotations
	if annotations == nil {
		annotations = map[string]string{}
	}
	return object{
		"annotations": annotations, "labels": one.Labels, "fingerprint": fingerprint(one.Labels),
		"startsAt": moment(one.FiringAt).Format(stamp), "updatedAt": now.Add(-20 * time.Second).Format(stamp),
		"endsAt": now.Add(220 * time.Second).Format(stamp), "generatorURL": one.Generator,
		"receivers": []object{{"name": receiver}},
		"status":    object{"inhibitedBy": []any{}, "mutedBy": []any{}, "silencedBy": []any{}, "state": "active"},
	}
}

func fingerprint(labels map[string]string) string {
	sum := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		_, _ = sum.Write([]byte(name + "\xff" + labels[name] + "\xff"))
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

func (w *world) alerts(out http.ResponseWriter, r *http.Request) {
	found, err := w.firing(r)
	if err != nil {
		send(out, http.StatusBadRequest, err.Error())
		return
	}
	send(out, http.StatusOK, found)
}

func (w *world) alertGroups(out http.ResponseWriter, r *http.Request) {
	found, err := w.firing(r)
	if err != nil {
		send(out, http.StatusBadRequest, err.Error())
		return
	}
	groups := []object{}
	for _, one := range found {
		name := one["labels"].(map[string]string)["alertname"]
		groups = append(groups, object{
			"labels": object{"alertname": name}, "receiver": object{"name": receiver}, "alerts": []object{one},
		})
	}
	send(out, http.StatusOK, groups)
}
