package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

const (
	queryTimeout = 15 * time.Second
	maxSamples   = 3_000_000 // of one query in memory, 16 bytes each
	maxPoints    = 11_000    // of one series in an answer, as in Prometheus
	atOnce       = 3         // queries that are worked on
	lookback     = 5 * time.Minute
)

// api answers what a Prometheus of the same version answers, as far as it is read.
type api struct {
	world  *world
	engine *promql.Engine
	parser parser.Parser
	turns  chan struct{}
}

func newAPI(world *world) *api {
	reader := parser.NewParser(parser.Options{})
	engine := promql.NewEngine(promql.EngineOpts{
		Logger: slog.New(slog.DiscardHandler), MaxSamples: maxSamples, Timeout: queryTimeout, LookbackDelta: lookback,
		NoStepSubqueryIntervalFn: func(int64) int64 { return evaluationSeconds * 1000 },
		EnableAtModifier:         true, EnableNegativeOffset: true, Parser: reader,
	})
	return &api{world: world, engine: engine, parser: reader, turns: make(chan struct{}, atOnce)}
}

// answer is what a route gives: data, or why there is none.
type answer struct {
	data     any
	warnings []string
	infos    []string
}

// refusal is an error with its kind, in the words of Prometheus.
type refusal struct {
	kind  string
	error error
}

var codes = map[string]int{
	"bad_data": http.StatusBadRequest, "execution": http.StatusUnprocessableEntity, "canceled": 499,
	"timeout": http.StatusServiceUnavailable, "internal": http.StatusInternalServerError, "not_found": http.StatusNotFound,
}

type route func(r *http.Request, c *content) (answer, *refusal)

func (a *api) handler() http.Handler {
	mux := http.NewServeMux()
	for path, one := range map[string]route{
		"query": a.query, "query_range": a.queryRange, "series": a.series, "labels": a.labelNames,
		"format_query": a.formatQuery,
	} {
		mux.HandleFunc("GET /api/v1/"+path, a.serve(one))
		mux.HandleFunc("POST /api/v1/"+path, a.serve(one))
	}
	for path, one := range map[string]route{
		"label/{name}/values": a.labelValues, "metadata": metadataOf, "targets": targetsOf, "rules": rulesOf,
		"alerts": alertsOf, "alertmanagers": alertmanagersOf, "status/buildinfo": buildInfo,
		"status/runtimeinfo": runtimeInfo, "query_exemplars": nothing,
	} {
		mux.HandleFunc("GET /api/v1/"+path, a.serve(one))
	}
	for path, text := range map[string]string{"/-/healthy": "Prometheus Server is Healthy.\n", "/-/ready": "Prometheus Server is Ready.\n"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	return mux
}

func (a *api) serve(one route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		present, err := a.world.present()
		if err != nil {
			refuse(w, &refusal{"internal", errors.New("TSDB not ready")})
			return
		}
		if err := r.ParseForm(); err != nil {
			refuse(w, &refusal{"bad_data", fmt.Errorf("error parsing form values: %w", err)})
			return
		}
		found, refused := one(r, present)
		if refused != nil {
			refuse(w, refused)
			return
		}
		text, err := json.Marshal(struct {
			Status   string   `json:"status"`
			Data     any      `json:"data"`
			Warnings []string `json:"warnings,omitempty"`
			Infos    []string `json:"infos,omitempty"`
		}{"success", found.data, found.warnings, found.infos})
		if err != nil {
			refuse(w, &refusal{"internal", err})
			return
		}
		_, _ = w.Write(text)
	}
}

func refuse(w http.ResponseWriter, why *refusal) {
	w.WriteHeader(codes[why.kind])
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": why.kind, "error": why.error.Error()})
}

func invalid(name string, err error) *refusal {
	return &refusal{"bad_data", fmt.Errorf("invalid parameter %q: %w", name, err)}
}

func (a *api) query(r *http.Request, c *content) (answer, *refusal) {
	at, refused := timeOf(r, "time", time.Now())
	if refused != nil {
		return answer{}, refused
	}
	return a.run(r, func(ctx context.Context) (promql.Query, error) {
		return a.engine.NewInstantQuery(ctx, c, nil, r.FormValue("query"), at)
	})
}

func (a *api) queryRange(r *http.Request, c *content) (answer, *refusal) {
	var bounds [2]time.Time
	for i, name := range []string{"start", "end"} {
		at, err := parseTime(r.FormValue(name))
		if err != nil {
			return answer{}, invalid(name, err)
		}
		bounds[i] = at
	}
	if bounds[1].Before(bounds[0]) {
		return answer{}, invalid("end", errors.New("end timestamp must not be before start time"))
	}
	step, err := parseDuration(r.FormValue("step"))
	if err != nil {
		return answer{}, invalid("step", err)
	}
	if step <= 0 {
		return answer{}, invalid("step", errors.New("zero or negative query resolution step widths are not accepted. Try a positive integer"))
	}
	if bounds[1].Sub(bounds[0])/step > maxPoints {
		return answer{}, &refusal{"bad_data", errors.New("exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)")}
	}
	return a.run(r, func(ctx context.Context) (promql.Query, error) {
		return a.engine.NewRangeQuery(ctx, c, nil, r.FormValue("query"), bounds[0], bounds[1], step)
	})
}

// run works on a query once it is its turn.
func (a *api) run(r *http.Request, build func(context.Context) (promql.Query, error)) (answer, *refusal) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	if text := r.FormValue("timeout"); text != "" {
		chosen, err := parseDuration(text)
		if err != nil {
			return answer{}, invalid("timeout", err)
		}
		ctx, cancel = context.WithTimeout(ctx, chosen)
		defer cancel()
	}
	select {
	case a.turns <- struct{}{}:
		defer func() { <-a.turns }()
	case <-ctx.Done():
		return answer{}, &refusal{"timeout", promql.ErrQueryTimeout("query queue")}
	}
	query, err := build(ctx)
	if err != nil {
		return answer{}, invalid("query", err)
	}
	defer query.Close()
	result := query.Exec(ctx)
	if result.Err != nil {
		return answer{}, failed(result.Err)
	}
	warnings, infos := result.Warnings.AsStrings(r.FormValue("query"), 10, 10)
	// The value is gone with the query, so it becomes text before.
	text, err := json.Marshal(map[string]any{"resultType": result.Value.Type(), "result": result.Value})
	if err != nil {
		return answer{}, &refusal{"internal", err}
	}
	return answer{json.RawMessage(text), warnings, infos}, nil
}

func failed(err error) *refusal {
	var canceled promql.ErrQueryCanceled
	var late promql.ErrQueryTimeout
	switch {
	case errors.As(err, &canceled), errors.Is(err, context.Canceled):
		return &refusal{"canceled", err}
	case errors.As(err, &late):
		return &refusal{"timeout", err}
	}
	return &refusal{"execution", err}
}

func (a *api) formatQuery(r *http.Request, _ *content) (answer, *refusal) {
	expression, err := a.parser.ParseExpr(r.FormValue("query"))
	if err != nil {
		return answer{}, invalid("query", err)
	}
	return answer{data: expression.Pretty(0)}, nil
}

// selected gives the series that any of the selectors in match[] means, within the range of the request.
func (a *api) selected(r *http.Request, c *content) ([]*series, *refusal) {
	from, refused := timeOf(r, "start", time.UnixMilli(0))
	if refused != nil {
		return nil, refused
	}
	to, refused := timeOf(r, "end", time.Now())
	if refused != nil {
		return nil, refused
	}
	sets, err := a.parser.ParseMetricSelectors(r.Form["match[]"])
	if err != nil {
		return nil, invalid("match[]", err)
	}
	if len(sets) == 0 {
		return c.matching(from.UnixMilli(), to.UnixMilli(), nil), nil
	}
	var found []*series
	seen := map[*series]bool{}
	for _, matchers := range sets {
		for _, one := range c.matching(from.UnixMilli(), to.UnixMilli(), matchers) {
			if !seen[one] {
				seen[one] = true
				found = append(found, one)
			}
		}
	}
	return found, nil
}

func (a *api) series(r *http.Request, c *content) (answer, *refusal) {
	if len(r.Form["match[]"]) == 0 {
		return answer{}, &refusal{"bad_data", errors.New("no match[] parameter provided")}
	}
	found, refused := a.selected(r, c)
	sets := make([]labels.Labels, len(found))
	for i, one := range found {
		sets[i] = one.labels
	}
	return answer{data: sets}, refused
}

func (a *api) labelNames(r *http.Request, c *content) (answer, *refusal) {
	found, refused := a.selected(r, c)
	names := []string{}
	for _, one := range found {
		one.labels.Range(func(each labels.Label) { names = append(names, each.Name) })
	}
	return answer{data: unique(names)}, refused
}

func (a *api) labelValues(r *http.Request, c *content) (answer, *refusal) {
	name := r.PathValue("name")
	if !model.UTF8Validation.IsValidLabelName(name) {
		return answer{}, &refusal{"bad_data", fmt.Errorf("invalid label name: %q", name)}
	}
	found, refused := a.selected(r, c)
	values := []string{}
	for _, one := range found {
		if text := one.labels.Get(name); text != "" {
			values = append(values, text)
		}
	}
	return answer{data: unique(values)}, refused
}

func timeOf(r *http.Request, name string, otherwise time.Time) (time.Time, *refusal) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	at, err := parseTime(text)
	if err != nil {
		return at, invalid(name, err)
	}
	return at, nil
}

func parseTime(text string) (time.Time, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < 1e12 {
		return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC(), nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("cannot parse %q to a valid timestamp", text)
}

func parseDuration(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if math.IsNaN(seconds) || math.Abs(seconds) > 1e9 {
			return 0, fmt.Errorf("cannot parse %q to a valid duration. It overflows int64", text)
		}
		return time.Duration(seconds * float64(time.Second)), nil
	}
	if found, err := model.ParseDuration(text); err == nil {
		return time.Duration(found), nil
	}
	return 0, fmt.Errorf("cannot parse %q to a valid duration", text)
}
