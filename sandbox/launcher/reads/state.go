package reads

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// State is what the file says that the probe writes, as far as it is answered here.
type State struct {
	Now        float64             `json:"now"` // moment of the preparation, seconds since 1970
	Listen     map[string]Listened `json:"listen"`
	Alerts     []Alert             `json:"alerts"`
	Traces     []Trace             `json:"traces"`
	Dashboards []Dashboard         `json:"dashboards"`
}

// Listened is where one of the tools is found.
type Listened struct {
	Host string `json:"host"` // the name that it goes by
	Port int    `json:"port"`
}

// Alert is one that is active.
type Alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"` // firing or pending
	ActiveAt    float64           `json:"active_at"`
	FiringAt    float64           `json:"firing_at"`
	Generator   string            `json:"generator"`
}

// Dashboard is a document of a dashboard with where it stands.
type Dashboard struct {
	Folder   string          `json:"folder"`
	Document json.RawMessage `json:"document"`
}

// file is the state, read anew whenever it was replaced.
type file struct {
	path   string
	mu     sync.Mutex
	seen   os.FileInfo
	loaded *State
}

func (f *file) present() (*State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	if f.seen != nil && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) {
		return f.loaded, nil
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	fresh := &State{}
	if err := json.Unmarshal(text, fresh); err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	f.seen, f.loaded = info, fresh
	return fresh, nil
}

func moment(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)).UTC() }
