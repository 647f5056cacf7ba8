package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	// version is that of the Prometheus whose engine this is.
	version = "3.16.0"
	// evaluationSeconds lie between two evaluations of rules.
	evaluationSeconds = 30
	stamp             = "2006-01-02T15:04:05.999999999Z07:00"
)

type object = map[string]any

// lastOf gives when something that happens every so many seconds happened last.
func lastOf(every int64) string {
	now := time.Now().UTC()
	return now.Add(-time.Duration(now.UnixMilli()%(every*1000)) * time.Millisecond).Format(stamp)
}

func nothing(*http.Request, *content) (answer, *refusal) { return answer{data: []any{}}, nil }

func metadataOf(r *http.Request, c *content) (answer, *refusal) {
	found := object{}
	for name, one := range c.Prometheus.Metadata {
		if asked := r.FormValue("metric"); asked == "" || asked == name {
			found[name] = []metadata{one}
		}
	}
	return answer{data: found}, nil
}

func targetsOf(r *http.Request, c *content) (answer, *refusal) {
	active := []object{}
	state, pool := r.FormValue("state"), r.FormValue("scrapePool")
	for _, one := range c.Prometheus.Targets {
		if state == "dropped" || (pool != "" && pool != one.Pool) {
			continue
		}
		active = append(active, object{
			"discoveredLabels": one.Labels, "labels": one.Labels, "scrapePool": one.Pool, "scrapeUrl": one.URL,
			"globalUrl": one.URL, "lastError": "", "lastScrape": lastOf(interval / 1000),
			"lastScrapeDuration": 0.004, "health": "up", "scrapeInterval": "15s", "scrapeTimeout": "10s",
		})
	}
	return answer{data: object{"activeTargets": active, "droppedTargets": []any{}, "droppedTargetCounts": object{}}}, nil
}

func rulesOf(r *http.Request, c *content) (answer, *refusal) {
	kind := r.FormValue("type")
	if kind != "" && kind != "alert" && kind != "record" {
		return answer{}, invalid("type", fmt.Errorf("not supported value %q", kind))
	}
	groups := []object{}
	for _, one := range c.Prometheus.Groups {
		rules := []object{}
		for _, each := range one.Rules {
			names := r.Form["rule_name[]"]
			if kind != "record" && (len(names) == 0 || slices.Contains(names, each.Name)) {
				rules = append(rules, ruleOf(each, c.Alerts))
			}
		}
		if len(rules) > 0 {
			groups = append(groups, object{
				"name": one.Name, "file": one.File, "rules": rules, "interval": evaluationSeconds, "limit": 0,
				"evaluationTime": 0.0006, "lastEvaluation": lastOf(evaluationSeconds),
			})
		}
	}
	return answer{data: object{"groups": groups}}, nil
}

func ruleOf(one rule, alerts []alert) object {
	active := []object{}
	for _, each := range alerts {
		if each.Labels["alertname"] == one.Name {
			active = append(active, alertOf(each))
		}
	}
	return object{
		"state": one.State, "name": one.Name, "query": one.Query, "duration": one.Duration, "keepFiringFor": 0,
		"labels": notNil(one.Labels), "annotations": notNil(one.Annotations), "alerts": active, "health": "ok",
		"evaluationTime": 0.0003, "lastEvaluation": lastOf(evaluationSeconds), "type": "alerting",
	}
}

func alertsOf(_ *http.Request, c *content) (answer, *refusal) {
	active := []object{}
	for _, one := range c.Alerts {
		active = append(active, alertOf(one))
	}
	return answer{data: object{"alerts": active}}, nil
}

func alertOf(one alert) object {
	return object{
		"labels": notNil(one.Labels), "annotations": notNil(one.Annotations), "state": one.State,
		"activeAt": moment(one.ActiveAt).Format(stamp), "value": strconv.FormatFloat(one.Value, 'e', -1, 64),
	}
}

func notNil(words map[string]string) map[string]string {
	if words == nil {
		return map[string]string{}
	}
	return words
}

func alertmanagersOf(_ *http.Request, c *content) (answer, *refusal) {
	active := []object{}
	if one, ok := c.Listen["alertmanager"]; ok {
		active = append(active, object{"url": fmt.Sprintf("http://%s:%d/api/v2/alerts", one.Host, one.Port)})
	}
	return answer{data: object{"activeAlertmanagers": active, "droppedAlertmanagers": []any{}}}, nil
}

func buildInfo(*http.Request, *content) (answer, *refusal) {
	return answer{data: object{
		"version": version, "revision": "6d1b8f0f2c3c4b0f8e0a4c1d5e7f9a2b3c4d5e6f", "branch": "HEAD",
		"buildUser": "root@d4b1c5a7e6f0", "buildDate": "20261103-10:12:41", "goVersion": "go1.26.3",
	}}, nil
}

func runtimeInfo(_ *http.Request, c *content) (answer, *refusal) {
	if c.Now == 0 {
		return answer{}, &refusal{"internal", errors.New("not ready")}
	}
	began := moment(c.Now - 1_012_345).Format(stamp)
	return answer{data: object{
		"startTime": began, "CWD": "/prometheus", "hostname": "monitoring-1", "serverTime": time.Now().UTC().Format(stamp),
		"reloadConfigSuccess": true, "lastConfigTime": began, "corruptionCount": 0, "goroutineCount": 87, "GOMAXPROCS": 4,
		"GOMEMLIMIT": 3865470566, "GOGC": "75", "GODEBUG": "", "storageRetention": "15d",
	}}, nil
}
