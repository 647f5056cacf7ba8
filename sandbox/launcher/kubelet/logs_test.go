package kubelet

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, w world, path string) (int, string) {
	t.Helper()
	answer, err := http.Get(w.URL + "/containerLogs/shop/" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func TestALogIsThatOfTheWorkloadInItsPresentState(t *testing.T) {
	web := map[string]any{"namespace": "shop", "subject": "web", "images": map[string]string{"main": "web:v1"}, "lines": []string{"a", "b"}}
	failing := map[string]any{"namespace": "shop", "subject": "web", "lives": "failed", "lines": []string{"boom"}}
	well := map[string]any{"subject": "web", "lives": "well", "lines": []string{"fine"}}
	other := map[string]any{"namespace": "shop", "subject": "web", "images": map[string]string{"main": "web:v2"}, "lines": []string{"a"}}
	cured := running(5) + `,"lastState":{"terminated":{"exitCode":1,"containerID":"containerd://t","startedAt":` + at(0) + `,"finishedAt":` + at(4) + `}}`
	for name, c := range map[string]struct {
		log                 map[string]any
		owner, status, path string
		code                int
		want                string
	}{
		"declared lines":                        {web, replicaSet, running(0), "", 200, "a\nb"},
		"a pod of another workload":             {web, `{"kind":"ReplicaSet","name":"web-api-7c5f"}`, running(0), "", 200, "starting web:v1\nlistening on 9000"},
		"a pod by itself":                       {map[string]any{"subject": "p", "lines": []string{"mine"}}, "", running(0), "", 200, "mine"},
		"another container's lines":             {map[string]any{"subject": "web", "container": "side", "lines": []string{"x"}}, replicaSet, running(0), "", 200, "starting web:v1\nlistening on 9000"},
		"another namespace":                     {map[string]any{"namespace": "bank", "subject": "web", "lines": []string{"x"}}, replicaSet, running(0), "", 200, "starting web:v1\nlistening on 9000"},
		"an image that is not the declared one": {other, replicaSet, running(0), "", 200, "starting web:v1\nlistening on 9000"},
		"a pod of a scheduled job":              {map[string]any{"subject": "nightly", "lines": []string{"x"}}, `{"kind":"Job","name":"nightly-29341"}`, running(0), "", 200, "x"},
		"the failure of what fails":             {failing, replicaSet, crashed("Error", "1"), "", 200, "boom"},
		"what failed, once it is cured":         {failing, replicaSet, cured, "", 200, "starting web:v1\nlistening on 9000"},
		"what failed before it was cured":       {failing, replicaSet, cured, "?previous=true", 200, "boom"},
		"the previous life of what crashes":     {web, `{"kind":"ReplicaSet","name":"x"}`, crashed("Error", "1"), "?previous=true", 200, "starting web:v1\nexit 1"},
		"what crashes":                          {web, `{"kind":"ReplicaSet","name":"x"}`, crashed("Error", "1"), "", 200, "starting web:v1\nexit 1"},
		"what was killed":                       {web, `{"kind":"ReplicaSet","name":"x"}`, crashed("OOMKilled", "137"), "", 200, "starting web:v1\nlistening on 9000"},
		"what could not be started":             {web, `{"kind":"ReplicaSet","name":"x"}`, crashed("Error", "128"), "", 200, ""},
		"what is well":                          {well, replicaSet, running(0), "", 200, "fine"},
		"what is not well any longer":           {well, replicaSet, crashed("Error", "1"), "", 200, "starting web:v1\nexit 1"},
		"what is complete":                      {web, `{"kind":"Job","name":"x"}`, `"state":{"terminated":{"exitCode":0,"startedAt":` + at(0) + `,"finishedAt":` + at(4) + `}}`, "", 200, "starting web:v1\nfinished"},
		"what is not ready":                     {web, `{"kind":"Job","name":"x"}`, `"state":{"running":{"startedAt":` + at(0) + `}}`, "", 200, "starting web:v1\nlistening on 9000\nunhealthy"},
		"no previous life":                      {web, replicaSet, running(0), "?previous=true", 400, `previous terminated container "main" in pod "p" not found`},
		"an image that cannot be had":           {web, replicaSet, `"state":{"waiting":{"reason":"ImagePullBackOff"}}`, "", 400, `container "main" in pod "p" is waiting to start: trying and failing to pull image`},
		"a missing key":                         {web, replicaSet, `"state":{"waiting":{"reason":"CreateContainerConfigError"}}`, "", 400, `container "main" in pod "p" is waiting to start: CreateContainerConfigError`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pods{"p": aPod(t, "p", c.owner, c.status)}, said(c.log))
			code, text := get(t, w, "p/main"+c.path)
			if code != c.code || text != c.want {
				t.Errorf("%d %q", code, text)
			}
		})
	}
}

func TestALogIsCutAsAsked(t *testing.T) {
	log := map[string]any{"subject": "web", "lines": []string{"one", "two", "three"}}
	w := newWorld(t, pods{"p": aPod(t, "p", replicaSet, running(0))}, said(log))
	after := start.Add(time.Minute - 8*time.Second).Format(time.RFC3339)
	for query, want := range map[string]string{
		"tailLines=2": "two\nthree", "tailLines=0": "", "limitBytes=5": "one\nt", "sinceSeconds=60": "",
		"sinceSeconds=7200": "one\ntwo\nthree", "sinceTime=" + after: "two\nthree", "sinceTime=" + after + "&tailLines=1": "three",
	} {
		if code, text := get(t, w, "p/main?"+query); code != 200 || text != want {
			t.Errorf("%s: %d %q", query, code, text)
		}
	}
	for _, query := range []string{"tailLines=x", "tailLines=-1", "limitBytes=1e9", "sinceTime=yesterday"} {
		if code, _ := get(t, w, "p/main?"+query); code != 400 {
			t.Errorf("%s: %d", query, code)
		}
	}
	if code, text := get(t, w, "q/main"); code != 404 || text != `pod "q" does not exist` {
		t.Errorf("%d %s", code, text)
	}
}

func TestTimesLieWithinTheLifeOfTheContainer(t *testing.T) {
	log := map[string]any{"subject": "web", "lines": []string{"one", "two", "three"}}
	for name, c := range map[string]struct {
		status      string
		first, last time.Duration
	}{
		"running since before":   {running(0), time.Minute - 14*time.Second, time.Minute + time.Millisecond},
		"running for short":      {running(57), 57 * time.Second, time.Minute + time.Millisecond},
		"started afterwards":     {running(600), 600 * time.Second, 603 * time.Second},
		"ended":                  {crashed("Error", "1"), 0, 5 * time.Second},
		"ended in the same time": {strings.ReplaceAll(crashed("Error", "1"), at(4), at(0)), 0, time.Second},
	} {
		w := newWorld(t, pods{"p": aPod(t, "p", replicaSet, c.status)}, said(log))
		_, text := get(t, w, "p/main?timestamps=true")
		lines := strings.Split(text, "\n")
		if len(lines) != 3 {
			t.Fatalf("%s: %q", name, text)
		}
		var times []time.Time
		for _, line := range lines {
			moment, _, _ := strings.Cut(line, " ")
			read, err := time.Parse(time.RFC3339Nano, moment)
			if err != nil || len(moment) != len("2006-01-02T15:04:05.000000000Z") {
				t.Fatalf("%s: %q", name, line)
			}
			times = append(times, read)
		}
		first, last := times[0].Sub(start), times[2].Sub(start)
		if first < c.first || last >= c.last || !times[1].After(times[0]) || !times[2].After(times[1]) {
			t.Errorf("%s: %v to %v", name, first, last)
		}
	}
}

func TestAFollowedLogGoesOnUntilTheContainerEnds(t *testing.T) {
	log := map[string]any{"subject": "web", "lines": []string{"one", "two", "three"}}
	soon := int(time.Since(start) / time.Second)
	w := newWorld(t, pods{"p": aPod(t, "p", replicaSet, running(soon)), "c": aPod(t, "c", replicaSet, crashed("Error", "1"))}, said(log))
	if _, text := get(t, w, "p/main"); strings.Contains(text, "three") {
		t.Errorf("what is not written yet: %q", text)
	}
	answer, err := http.Get(w.URL + "/containerLogs/shop/p/main?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for _, want := range []string{"one", "two", "three"} {
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("want %s, got %q", want, lines.Text())
		}
	}
	if _, text := get(t, w, "c/main?follow=true"); text != "one\ntwo\nthree" {
		t.Errorf("%q", text)
	}
}
