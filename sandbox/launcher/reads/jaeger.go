package reads

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	usualTraces = 20
	mostTraces  = 1500
)

// Trace is a trace as Jaeger gives it.
type Trace struct {
	TraceID   string             `json:"traceID"`
	Spans     []Span             `json:"spans"`
	Processes map[string]Process `json:"processes"`
	Warnings  any                `json:"warnings"`
}

// Span is one of its spans; times are microseconds.
type Span struct {
	TraceID       string      `json:"traceID"`
	SpanID        string      `json:"spanID"`
	OperationName string      `json:"operationName"`
	References    []Reference `json:"references"`
	StartTime     int64       `json:"startTime"`
	Duration      int64       `json:"duration"`
	Tags          []Tag       `json:"tags"`
	Logs          []any       `json:"logs"`
	ProcessID     string      `json:"processID"`
	Warnings      any         `json:"warnings"`
}

// Reference is what a span belongs to.
type Reference struct {
	RefType string `json:"refType"`
	TraceID string `json:"traceID"`
	SpanID  string `json:"spanID"`
}

// Tag is one of a span.
type Tag struct {
	Key   string `json:"key"`
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// Process is where a span was made.
type Process struct {
	ServiceName string `json:"serviceName"`
	Tags        []Tag  `json:"tags"`
}

type operation struct {
	Name     string `json:"name"`
	SpanKind string `json:"spanKind"`
}

func (w *world) jaeger() http.Handler {
	mux := http.NewServeMux()
	for path, one := range map[string]func(*http.Request, []Trace) (any, error){
		"services": services, "services/{service}/operations": operationNames, "operations": operations,
		"traces": findTraces, "traces/{id}": oneTrace, "dependencies": dependencies,
	} {
		mux.HandleFunc("GET /api/"+path, w.traced(one))
	}
	mux.HandleFunc("GET /{$}", plain("<!doctype html><html lang=\"en\"><head><title>Jaeger UI</title></head><body><div id=\"jaeger-ui-root\"></div></body></html>"))
	return mux
}

// notFound is an answer of 404.
type notFound struct{ text string }

func (n notFound) Error() string { return n.text }

func (w *world) traced(one func(*http.Request, []Trace) (any, error)) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		state, err := w.file.present()
		if err != nil {
			send(out, http.StatusInternalServerError, refusedBy(500, "storage is not available"))
			return
		}
		data, err := one(r, state.Traces)
		if err != nil {
			code := http.StatusBadRequest
			if _, ok := err.(notFound); ok {
				code = http.StatusNotFound
			}
			send(out, code, refusedBy(code, err.Error()))
			return
		}
		count := 0
		switch found := data.(type) {
		case []string:
			count = len(found)
		case []operation:
			count = len(found)
		}
		send(out, http.StatusOK, object{"data": data, "total": count, "limit": 0, "offset": 0, "errors": nil})
	}
}

func refusedBy(code int, text string) object {
	return object{"data": nil, "total": 0, "limit": 0, "offset": 0, "errors": []object{{"code": code, "msg": text}}}
}

func (t Trace) serviceOf(span Span) string { return t.Processes[span.ProcessID].ServiceName }

func services(_ *http.Request, traces []Trace) (any, error) {
	names := []string{}
	for _, trace := range traces {
		for _, span := range trace.Spans {
			names = append(names, trace.serviceOf(span))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func operationNames(r *http.Request, traces []Trace) (any, error) {
	names := []string{}
	for _, one := range operationsOf(r.PathValue("service"), traces) {
		names = append(names, one.Name)
	}
	return names, nil
}

func operations(r *http.Request, traces []Trace) (any, error) {
	service := r.URL.Query().Get("service")
	if service == "" {
		return nil, fmt.Errorf("parameter 'service' is required")
	}
	found := operationsOf(service, traces)
	if kind := r.URL.Query().Get("spanKind"); kind != "" {
		found = slices.DeleteFunc(found, func(one operation) bool { return one.SpanKind != kind })
	}
	return found, nil
}

func operationsOf(service string, traces []Trace) []operation {
	found := []operation{}
	for _, trace := range traces {
		for _, span := range trace.Spans {
			one := operation{span.OperationName, span.kind()}
			if trace.serviceOf(span) == service && !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	slices.SortFunc(found, func(a, b operation) int { return strings.Compare(a.Name, b.Name) })
	return found
}

func (s Span) kind() string {
	for _, tag := range s.Tags {
		if tag.Key == "span.kind" {
			return fmt.Sprint(tag.Value)
		}
	}
	return ""
}

func oneTrace(r *http.Request, traces []Trace) (any, error) {
	for _, trace := range traces {
		if sameTrace(trace.TraceID, r.PathValue("id")) {
			return []Trace{trace}, nil
		}
	}
	return nil, notFound{"trace not found"}
}

// sameTrace compares identifiers; leading zeros do not count.
func sameTrace(one, other string) bool {
	return strings.EqualFold(strings.TrimLeft(one, "0"), strings.TrimLeft(other, "0"))
}

// search is what traces are looked for by.
type search struct {
	service, operation string
	tags               map[string]string
	least, most        time.Duration
	from, to           int64
}

func findTraces(r *http.Request, traces []Trace) (any, error) {
	asked := r.URL.Query()
	found := []Trace{}
	if ids := asked["traceID"]; len(ids) > 0 {
		for _, trace := range traces {
			if slices.ContainsFunc(ids, func(id string) bool { return sameTrace(trace.TraceID, id) }) {
				found = append(found, trace)
			}
		}
		return found, nil
	}
	wanted, err := readSearch(asked)
	if err != nil {
		return nil, err
	}
	for _, trace := range traces {
		if slices.ContainsFunc(trace.Spans, func(span Span) bool { return wanted.finds(trace, span) }) {
			found = append(found, trace)
		}
	}
	return found[:min(len(found), number(asked.Get("limit"), usualTraces, mostTraces))], nil
}

func readSearch(asked url.Values) (search, error) {
	wanted := search{service: asked.Get("service"), operation: asked.Get("operation"), tags: map[string]string{}, to: 1<<63 - 1}
	if wanted.service == "" {
		return wanted, fmt.Errorf("parameter 'service' is required")
	}
	for name, place := range map[string]*int64{"start": &wanted.from, "end": &wanted.to} {
		if text := asked.Get(name); text != "" {
			value, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return wanted, fmt.Errorf("unable to parse param '%s': %w", name, err)
			}
			*place = value
		}
	}
	for name, place := range map[string]*time.Duration{"minDuration": &wanted.least, "maxDuration": &wanted.most} {
		if text := asked.Get(name); text != "" {
			value, err := time.ParseDuration(text)
			if err != nil {
				return wanted, fmt.Errorf("unable to parse param '%s': %w", name, err)
			}
			*place = value
		}
	}
	for _, text := range asked["tag"] {
		key, value, ok := strings.Cut(text, ":")
		if !ok {
			return wanted, fmt.Errorf("malformed 'tag' parameter, expecting key:value, received: %s", text)
		}
		wanted.tags[key] = value
	}
	for _, text := range asked["tags"] {
		if err := json.Unmarshal([]byte(text), &wanted.tags); err != nil {
			return wanted, fmt.Errorf("malformed 'tags' parameter, cannot unmarshal JSON: %w", err)
		}
	}
	return wanted, nil
}

func (s search) finds(trace Trace, span Span) bool {
	length := time.Duration(span.Duration) * time.Microsecond
	if trace.serviceOf(span) != s.service || (s.operation != "" && span.OperationName != s.operation) ||
		length < s.least || (s.most > 0 && length > s.most) || span.StartTime < s.from || span.StartTime > s.to {
		return false
	}
	for key, value := range s.tags {
		if !slices.ContainsFunc(span.Tags, func(tag Tag) bool { return tag.Key == key && fmt.Sprint(tag.Value) == value }) {
			return false
		}
	}
	return true
}

type dependency struct {
	Parent    string `json:"parent"`
	Child     string `json:"child"`
	CallCount int    `json:"callCount"`
}

func dependencies(_ *http.Request, traces []Trace) (any, error) {
	found := []dependency{}
	for _, trace := range traces {
		spans := map[string]Span{}
		for _, span := range trace.Spans {
			spans[span.SpanID] = span
		}
		for _, span := range trace.Spans {
			for _, reference := range span.References {
				parent, child := trace.serviceOf(spans[reference.SpanID]), trace.serviceOf(span)
				place := slices.IndexFunc(found, func(one dependency) bool { return one.Parent == parent && one.Child == child })
				if place < 0 && parent != child {
					found = append(found, dependency{parent, child, 1})
				} else if place >= 0 {
					found[place].CallCount++
				}
			}
		}
	}
	return found, nil
}
