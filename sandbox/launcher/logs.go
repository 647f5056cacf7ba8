package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// workloadLog is what the pods of one workload have logged, as the probe writes it to logs.json. Without a
// container it is the log of each container that has none of its own.
type workloadLog struct {
	Namespace string    `json:"namespace"`
	Subject   string    `json:"subject"`
	Container string    `json:"container"`
	Until     time.Time `json:"until"`
	Lines     []string  `json:"lines"`
}

// nodeHandler plays the agent of every node as far as logs go. There is no way to run anything: exec, attach and
// port forwarding are not found.
func nodeHandler(s settings) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		logs, err := readLogs(s.run("logs.json"))
		if err != nil {
			http.Error(w, "failed to read the log", http.StatusInternalServerError)
			return
		}
		writeLog(w, r, linesOf(logs, r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")))
	})
	return mux
}

func readLogs(path string) ([]workloadLog, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var logs []workloadLog
	return logs, json.Unmarshal(text, &logs)
}

// linesOf gives the log of the workload that a pod belongs to: the one whose name is the longest beginning of the
// pod's. Lines get times a few seconds apart, the last of them the time of the preparation.
func linesOf(logs []workloadLog, namespace, pod, container string) []string {
	var best *workloadLog
	for i, log := range logs {
		mine := pod == log.Subject || strings.HasPrefix(pod, log.Subject+"-")
		if !mine || log.Namespace != namespace || (log.Container != "" && log.Container != container) {
			continue
		}
		if best == nil || rank(log) > rank(*best) {
			best = &logs[i]
		}
	}
	if best == nil {
		return nil
	}
	lines := make([]string, len(best.Lines))
	for i, line := range best.Lines {
		at := best.Until.Add(-time.Duration(len(best.Lines)-1-i) * 7 * time.Second)
		lines[i] = fmt.Sprintf("%s %s", at.UTC().Format(time.RFC3339Nano), line)
	}
	return lines
}

// rank is higher for a longer name and, of the same workload, for a container's own log.
func rank(log workloadLog) int {
	if log.Container != "" {
		return 2*len(log.Subject) + 1
	}
	return 2 * len(log.Subject)
}

func writeLog(w http.ResponseWriter, r *http.Request, lines []string) {
	query := r.URL.Query()
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil && tail >= 0 && tail < len(lines) {
		lines = lines[len(lines)-tail:]
	}
	w.Header().Set("Content-Type", "text/plain")
	for _, line := range lines {
		if query.Get("timestamps") != "true" {
			_, line, _ = strings.Cut(line, " ")
		}
		fmt.Fprintln(w, line)
	}
	if query.Get("follow") == "true" {
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		<-r.Context().Done()
	}
}
