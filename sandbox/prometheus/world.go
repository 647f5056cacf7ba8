package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// content is what the file says, as far as it is about metrics.
type content struct {
	Now        float64             `json:"now"` // moment of the preparation, seconds since 1970
	Prometheus section             `json:"prometheus"`
	Alerts     []alert             `json:"alerts"`
	Listen     map[string]listened `json:"listen"`
	series     []*series           // those of the section, ready to be asked for
}

type listened struct {
	Port int    `json:"port"`
	Host string `json:"host"`
}

type section struct {
	Series   []*series           `json:"series"`
	Metadata map[string]metadata `json:"metadata"`
	Targets  []target            `json:"targets"`
	Groups   []group             `json:"groups"`
}

type metadata struct {
	Type string `json:"type"`
	Help string `json:"help"`
	Unit string `json:"unit"`
}

type target struct {
	Labels map[string]string `json:"labels"`
	Pool   string            `json:"pool"`
	URL    string            `json:"url"`
}

// group is one of alerting rules; what its alerts are stands apart, with their states.
type group struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Name        string            `json:"name"`
	Query       string            `json:"query"`
	Duration    float64           `json:"duration"` // seconds
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"` // firing, pending or inactive
}

// alert is one that is active.
type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"`
	ActiveAt    float64           `json:"active_at"`
	Value       float64           `json:"value"`
}

// world is the file, read anew whenever it was replaced.
type world struct {
	path   string
	mu     sync.Mutex
	seen   os.FileInfo
	loaded *content
}

// present gives what the file says now.
func (w *world) present() (*content, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := os.Stat(w.path)
	if err != nil {
		return nil, fmt.Errorf("read the series: %w", err)
	}
	if w.seen != nil && os.SameFile(info, w.seen) && info.ModTime().Equal(w.seen.ModTime()) {
		return w.loaded, nil
	}
	text, err := os.ReadFile(w.path)
	if err != nil {
		return nil, fmt.Errorf("read the series: %w", err)
	}
	fresh := &content{}
	if err := json.Unmarshal(text, fresh); err != nil {
		return nil, fmt.Errorf("read the series: %w", err)
	}
	for _, one := range fresh.Prometheus.Series {
		if err := one.prepare(); err != nil {
			return nil, err
		}
	}
	fresh.series = fresh.Prometheus.Series
	slices.SortFunc(fresh.series, func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
	w.seen, w.loaded = info, fresh
	return fresh, nil
}

// milliseconds gives a moment as samples have it.
func milliseconds(seconds float64) int64 { return int64(seconds * 1000) }

func moment(seconds float64) time.Time {
	return time.UnixMilli(milliseconds(seconds)).UTC()
}
