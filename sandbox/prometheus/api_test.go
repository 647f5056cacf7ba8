package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// counter is a series of requests: `rate` a second, of which there were ten times as many until half an hour ago.
func counter(code string, rate float64) map[string]any {
	now := float64(time.Now().Unix())
	return map[string]any{
		"labels": map[string]string{"__name__": "http_requests_total", "job": "web", "code": code},
		"shape":  "count", "whole": true, "from": now - 86400,
		"points": [][2]float64{{now - 1800, 10 * rate}, {now - 1800, rate}},
	}
}

func gauge(name string, value float64, more map[string]any) map[string]any {
	one := map[string]any{
		"labels": map[string]string{"__name__": name, "job": "web"}, "shape": "line",
		"from": float64(time.Now().Unix() - 3600), "points": [][2]float64{{float64(time.Now().Unix() - 3600), value}},
	}
	for key, value := range more {
		one[key] = value
	}
	return one
}

func serving(t *testing.T, state map[string]any) (*httptest.Server, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.json")
	write(t, path, state)
	world := &world{path: path}
	if _, err := world.present(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(newAPI(world).handler())
	t.Cleanup(server.Close)
	return server, path
}

func write(t *testing.T, path string, state map[string]any) {
	t.Helper()
	text, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".draft", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".draft", path); err != nil {
		t.Fatal(err)
	}
}

func stateOf(series ...map[string]any) map[string]any {
	return map[string]any{"now": float64(time.Now().Unix()), "prometheus": map[string]any{"series": series}}
}

func ask(t *testing.T, server *httptest.Server, path string, query url.Values) (int, map[string]any) {
	t.Helper()
	answer, err := http.Get(server.URL + path + "?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var found map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, found
}

// valueOf gives the only value of an instant query, NaN where there is none.
func valueOf(t *testing.T, server *httptest.Server, query string) float64 {
	t.Helper()
	code, answer := ask(t, server, "/api/v1/query", url.Values{"query": {query}})
	if code != http.StatusOK {
		t.Fatalf("%s: %d %v", query, code, answer)
	}
	result := answer["data"].(map[string]any)["result"].([]any)
	if len(result) != 1 {
		return math.NaN()
	}
	number, _ := strconv.ParseFloat(result[0].(map[string]any)["value"].([]any)[1].(string), 64)
	return number
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.02*math.Abs(want) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

func TestRatesAreThoseOfThePoints(t *testing.T) {
	server, _ := serving(t, stateOf(counter("200", 46), counter("500", 4)))
	near(t, "rate", valueOf(t, server, `sum(rate(http_requests_total[5m]))`), 50)
	near(t, "share", valueOf(t, server, `sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))`), 0.08)
	near(t, "before", valueOf(t, server, `sum(rate(http_requests_total[5m] offset 1h))`), 500)
	near(t, "increase over the jump", valueOf(t, server, `sum(increase(http_requests_total{code="200"}[1h]))`), 46*1800+460*1800)
}

func TestASeriesEndsWhereItEnds(t *testing.T) {
	ended := float64(time.Now().Unix() - 120)
	server, _ := serving(t, stateOf(
		gauge("ended", 7, map[string]any{"until": ended}), gauge("lapsed", 7, map[string]any{"until": ended, "lapses": true}),
		gauge("to_come", 7, map[string]any{"from": float64(time.Now().Unix() + 300)}),
	))
	if got := valueOf(t, server, "ended"); !math.IsNaN(got) {
		t.Errorf("a series that ended: %g", got)
	}
	near(t, "before its end", valueOf(t, server, "ended offset 3m"), 7)
	near(t, "a series that lapsed", valueOf(t, server, "timestamp(lapsed)"), ended)
	if got := valueOf(t, server, "timestamp(lapsed)"); math.Abs(got-ended) > 15 {
		t.Errorf("a series that lapsed was seen last at %g, want %g", got, ended)
	}
	if got := valueOf(t, server, "to_come"); !math.IsNaN(got) {
		t.Errorf("a series that has not begun: %g", got)
	}
}

func TestStepsAndLines(t *testing.T) {
	now := float64(time.Now().Unix())
	points := [][2]float64{{now - 3000, 0}, {now - 600, 240}}
	server, _ := serving(t, stateOf(
		gauge("line", 0, map[string]any{"points": points, "from": now - 3600}),
		gauge("step", 0, map[string]any{"points": points, "from": now - 3600, "shape": "step"}),
	))
	near(t, "line", valueOf(t, server, "line offset 30m"), 120)
	if got := valueOf(t, server, "step offset 30m"); got != 0 {
		t.Errorf("step: %g", got)
	}
	near(t, "step", valueOf(t, server, "step"), 240)
}

func TestTheFileIsReadAnewWhenItIsReplaced(t *testing.T) {
	server, path := serving(t, stateOf(gauge("a", 1, nil)))
	near(t, "a", valueOf(t, server, "a"), 1)
	write(t, path, stateOf(gauge("a", 2, nil)))
	near(t, "a", valueOf(t, server, "a"), 2)
}

func TestSeriesLabelsAndRanges(t *testing.T) {
	server, _ := serving(t, stateOf(counter("200", 46), counter("500", 4), gauge("up", 1, nil)))
	_, found := ask(t, server, "/api/v1/series", url.Values{"match[]": {`http_requests_total{code="500"}`, "up"}})
	if len(found["data"].([]any)) != 2 {
		t.Errorf("series: %v", found)
	}
	_, found = ask(t, server, "/api/v1/label/code/values", nil)
	if text := fmt.Sprint(found["data"]); text != "[200 500]" {
		t.Errorf("values: %s", text)
	}
	_, found = ask(t, server, "/api/v1/labels", url.Values{"match[]": {"up"}})
	if text := fmt.Sprint(found["data"]); text != "[__name__ job]" {
		t.Errorf("labels: %s", text)
	}
	now := time.Now().Unix()
	_, found = ask(t, server, "/api/v1/query_range", url.Values{
		"query": {"up"}, "start": {strconv.FormatInt(now-600, 10)}, "end": {strconv.FormatInt(now, 10)}, "step": {"1m"},
	})
	data := found["data"].(map[string]any)
	if data["resultType"] != "matrix" || len(data["result"].([]any)[0].(map[string]any)["values"].([]any)) != 11 {
		t.Errorf("range: %v", found)
	}
}

func TestWhatCannotBeAnsweredSaysWhy(t *testing.T) {
	server, _ := serving(t, stateOf(counter("200", 46)))
	for path, want := range map[string]string{
		"/api/v1/query?query=sum(":                              "invalid parameter \"query\"",
		"/api/v1/query?query=up&time=noon":                      "invalid parameter \"time\"",
		"/api/v1/query_range?query=up&start=0&end=9&step=0":     "zero or negative",
		"/api/v1/query_range?query=up&start=0&end=1e6&step=1ms": "maximum resolution",
		"/api/v1/series":                                        "no match[]",
		"/api/v1/rules?type=none":                               "not supported value",
	} {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var found map[string]string
		_ = json.NewDecoder(answer.Body).Decode(&found)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest || found["errorType"] != "bad_data" || !strings.Contains(found["error"], want) {
			t.Errorf("%s: %d %v", path, answer.StatusCode, found)
		}
	}
}

func TestAQueryCannotTakeAllMemory(t *testing.T) {
	many := make([]map[string]any, 400)
	for i := range many {
		many[i] = gauge(fmt.Sprintf("series_%d", i), 1, map[string]any{"from": float64(time.Now().Unix() - 14*86400)})
	}
	server, _ := serving(t, stateOf(many...))
	code, answer := ask(t, server, "/api/v1/query", url.Values{"query": {`{__name__=~"series_.*"}[14d]`}})
	if code != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(answer["error"]), "too many samples") {
		t.Errorf("%d %v", code, answer)
	}
}

func TestRulesAlertsAndTargets(t *testing.T) {
	state := stateOf(gauge("up", 1, nil))
	section := state["prometheus"].(map[string]any)
	section["groups"] = []any{map[string]any{"name": "g", "file": "f", "rules": []any{
		map[string]any{"name": "High", "query": "up > 0", "duration": 600, "state": "firing", "labels": map[string]string{"severity": "page"}},
		map[string]any{"name": "Low", "query": "up < 0", "state": "inactive"},
	}}}
	section["targets"] = []any{map[string]any{"labels": map[string]string{"job": "web"}, "pool": "web", "url": "http://web/metrics"}}
	state["alerts"] = []any{map[string]any{"labels": map[string]string{"alertname": "High"}, "state": "firing", "active_at": 1000, "value": 1}}
	state["listen"] = map[string]any{"alertmanager": map[string]any{"host": "am", "port": 9093}}
	server, _ := serving(t, state)
	for path, want := range map[string][]string{
		"/api/v1/rules":              {`"state":"firing"`, `"activeAt":"1970-01-01T00:16:40Z"`, `"name":"Low"`},
		"/api/v1/alerts":             {`"alertname":"High"`, `"value":"1e+00"`},
		"/api/v1/targets":            {`"health":"up"`, `"scrapeUrl":"http://web/metrics"`},
		"/api/v1/alertmanagers":      {`http://am:9093/api/v2/alerts`},
		"/api/v1/status/buildinfo":   {`"version":"3.`},
		"/api/v1/status/runtimeinfo": {`"storageRetention":"15d"`},
		"/api/v1/metadata":           {`"data":{}`},
	} {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 1<<16)
		count, _ := answer.Body.Read(text)
		_ = answer.Body.Close()
		for _, part := range want {
			if !strings.Contains(string(text[:count]), part) {
				t.Errorf("%s: no %s in %s", path, part, text[:count])
			}
		}
	}
}

func TestASeriesThatIsNoneIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	for _, one := range []map[string]any{
		gauge("a", 1, map[string]any{"shape": "curve"}), gauge("a", 1, map[string]any{"points": [][2]float64{}}),
		gauge("a", 1, map[string]any{"points": [][2]float64{{2, 1}, {1, 1}}}),
	} {
		write(t, path, stateOf(one))
		if _, err := (&world{path: path}).present(); err == nil || !strings.Contains(err.Error(), `__name__="a"`) {
			t.Errorf("%v: %v", one, err)
		}
	}
}
