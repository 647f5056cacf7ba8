package reads

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oasis-operator.dev/sandbox/launcher/kubelet"
)

const (
	usualLines = 100
	mostLines  = 5000
	mostSteps  = 11_000
	usualSpan  = time.Hour
)

// loki answers from what the containers log. Its errors are plain text, as there.
func (w *world) loki() http.Handler {
	mux := http.NewServeMux()
	for path, one := range map[string]func(url.Values, []kubelet.Stream) (any, error){
		"query": lokiQuery, "query_range": lokiRange, "labels": lokiLabels, "label": lokiLabels, "series": lokiSeries,
	} {
		mux.HandleFunc("GET /loki/api/v1/"+path, w.streams(one))
		mux.HandleFunc("POST /loki/api/v1/"+path, w.streams(one))
	}
	mux.HandleFunc("GET /loki/api/v1/label/{name}/values", func(out http.ResponseWriter, r *http.Request) {
		w.streams(func(asked url.Values, streams []kubelet.Stream) (any, error) {
			return lokiValues(r.PathValue("name"), asked, streams)
		})(out, r)
	})
	mux.HandleFunc("GET /loki/api/v1/status/buildinfo", func(out http.ResponseWriter, _ *http.Request) {
		send(out, http.StatusOK, object{
			"version": "3.6.1", "revision": "c2a7f1e9", "branch": "release-3.6.x", "buildUser": "root@buildhost",
			"buildDate": "2026-10-21T09:14:02Z", "goVersion": "go1.25.3",
		})
	})
	mux.HandleFunc("GET /ready", plain("ready\n"))
	return mux
}

func (w *world) streams(one func(url.Values, []kubelet.Stream) (any, error)) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		asked, err := form(r)
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		streams, err := w.Logs.Streams(r.Context())
		if err != nil {
			http.Error(out, "empty ring", http.StatusInternalServerError)
			return
		}
		answer, err := one(asked, streams)
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		send(out, http.StatusOK, object{"status": "success", "data": answer})
	}
}

// lines of a stream that a query keeps, within a range of which the end is not part.
func (q logQuery) lines(one kubelet.Stream, from, to time.Time) []kubelet.Line {
	var kept []kubelet.Line
	for _, line := range one.Lines {
		if !line.At.Before(from) && line.At.Before(to) && q.keeps(line.Text) {
			kept = append(kept, line)
		}
	}
	return kept
}

func lokiQuery(asked url.Values, streams []kubelet.Stream) (any, error) {
	query, err := parseLogQuery(asked.Get("query"))
	if err != nil {
		return nil, err
	}
	if query.counted == "" {
		return nil, errors.New("log queries are not supported as an instant query type, please change your query to a range query type")
	}
	at, err := lokiTime(asked, "time", time.Now())
	if err != nil {
		return nil, err
	}
	result := []object{}
	for _, one := range query.numbers(streams, []time.Time{at}) {
		result = append(result, object{"metric": one.labels, "value": one.values[0]})
	}
	return object{"resultType": "vector", "result": result, "stats": object{}}, nil
}

func lokiRange(asked url.Values, streams []kubelet.Stream) (any, error) {
	query, err := parseLogQuery(asked.Get("query"))
	if err != nil {
		return nil, err
	}
	from, to, err := lokiSpan(asked, usualSpan)
	if err != nil {
		return nil, err
	}
	if query.counted == "" {
		return lokiLines(query, asked, streams, from, to)
	}
	moments, err := steps(asked.Get("step"), from, to)
	if err != nil {
		return nil, err
	}
	result := []object{}
	for _, one := range query.numbers(streams, moments) {
		result = append(result, object{"metric": one.labels, "values": one.values})
	}
	return object{"resultType": "matrix", "result": result, "stats": object{}}, nil
}

// lokiLines gives the lines themselves: the newest ones, or the oldest ones where it is asked forward.
func lokiLines(query logQuery, asked url.Values, streams []kubelet.Stream, from, to time.Time) (any, error) {
	limit := number(asked.Get("limit"), usualLines, math.MaxInt32)
	if limit > mostLines {
		return nil, fmt.Errorf("max entries limit per query exceeded, limit > max_entries_limit_per_query (%d > %d)", limit, mostLines)
	}
	forward := strings.EqualFold(asked.Get("direction"), "forward")
	type placed struct {
		stream int
		line   kubelet.Line
	}
	var all []placed
	for i, one := range streams {
		if matchAll(query.matchers, one.Labels) {
			for _, line := range query.lines(one, from, to) {
				all = append(all, placed{i, line})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		if forward {
			return a.line.At.Compare(b.line.At)
		}
		return b.line.At.Compare(a.line.At)
	})
	result, places := []object{}, map[int]int{}
	values := [][][2]string{}
	for _, one := range all[:min(limit, len(all))] {
		place, ok := places[one.stream]
		if !ok {
			place = len(values)
			places[one.stream] = place
			values = append(values, nil)
			result = append(result, object{"stream": streams[one.stream].Labels})
		}
		values[place] = append(values[place], [2]string{strconv.FormatInt(one.line.At.UnixNano(), 10), one.line.Text})
	}
	for i := range result {
		result[i]["values"] = values[i]
	}
	return object{"resultType": "streams", "result": result, "stats": object{}}, nil
}

func lokiLabels(_ url.Values, streams []kubelet.Stream) (any, error) {
	var names []string
	for _, one := range streams {
		for name := range one.Labels {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func lokiValues(name string, asked url.Values, streams []kubelet.Stream) (any, error) {
	var query logQuery
	if text := asked.Get("query"); text != "" {
		var err error
		if query, err = parseLogQuery(text); err != nil {
			return nil, err
		}
	}
	values := []string{}
	for _, one := range streams {
		if text := one.Labels[name]; text != "" && matchAll(query.matchers, one.Labels) {
			values = append(values, text)
		}
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}

func lokiSeries(asked url.Values, streams []kubelet.Stream) (any, error) {
	selectors := append(asked["match[]"], asked["match"]...)
	if len(selectors) == 0 {
		selectors = []string{""}
	}
	found := []map[string]string{}
	for _, one := range streams {
		for _, text := range selectors {
			var query logQuery
			if text != "" {
				var err error
				if query, err = parseLogQuery(text); err != nil {
					return nil, err
				}
			}
			if matchAll(query.matchers, one.Labels) {
				found = append(found, one.Labels)
				break
			}
		}
	}
	return found, nil
}

// lokiTime reads a moment: nanoseconds, seconds with or without a fraction, or RFC 3339.
func lokiTime(asked url.Values, name string, otherwise time.Time) (time.Time, error) {
	text := asked.Get(name)
	if text == "" {
		return otherwise, nil
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		if len(text) <= 10 {
			return time.Unix(whole, 0), nil
		}
		return time.Unix(0, whole), nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < 1e10 {
		return time.UnixMicro(int64(seconds * 1e6)), nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, fmt.Errorf("could not parse '%s' parameter: %w", name, err)
	}
	return at, nil
}

// lokiSpan reads the range of a request.
func lokiSpan(asked url.Values, usual time.Duration) (time.Time, time.Time, error) {
	to, err := lokiTime(asked, "end", time.Now())
	if err != nil {
		return to, to, err
	}
	if text := asked.Get("since"); text != "" {
		if usual, err = duration(text); err != nil {
			return to, to, err
		}
	}
	from, err := lokiTime(asked, "start", to.Add(-usual))
	if err == nil && to.Before(from) {
		err = errors.New("end timestamp must not be before or equal to start time")
	}
	return from, to, err
}

func steps(text string, from, to time.Time) ([]time.Time, error) {
	step := max(time.Second, to.Sub(from)/250).Round(time.Second)
	if text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err == nil {
			step = time.Duration(min(seconds, 1e8) * float64(time.Second))
		} else if step, err = duration(text); err != nil {
			return nil, err
		}
		if step <= 0 {
			return nil, errors.New("zero or negative query resolution step widths are not accepted. Try a positive integer")
		}
	}
	if to.Sub(from)/step > mostSteps {
		return nil, errors.New("exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter")
	}
	var moments []time.Time
	for at := from; !at.After(to); at = at.Add(step) {
		moments = append(moments, at)
	}
	return moments, nil
}

// counts are the numbers of one stream, or of several that were added up.
type counts struct {
	labels map[string]string
	values [][2]any
}

// numbers counts lines at some moments; where there are none, there is no number, as there.
func (q logQuery) numbers(streams []kubelet.Stream, moments []time.Time) []counts {
	groups, order := map[string]*counts{}, []string{}
	for _, at := range moments {
		sums := map[string][]float64{}
		for _, one := range streams {
			if !matchAll(q.matchers, one.Labels) {
				continue
			}
			value := q.count(one, at)
			if value == 0 {
				continue
			}
			labels, key := q.grouped(one.Labels)
			if groups[key] == nil {
				groups[key] = &counts{labels: labels}
				order = append(order, key)
			}
			sums[key] = append(sums[key], value)
		}
		for key, values := range sums {
			text := strconv.FormatFloat(q.together(values), 'f', -1, 64)
			groups[key].values = append(groups[key].values, [2]any{float64(at.UnixMilli()) / 1000, text})
		}
	}
	var found []counts
	for _, key := range order {
		found = append(found, *groups[key])
	}
	return found
}

func (q logQuery) count(one kubelet.Stream, at time.Time) float64 {
	value := 0.0
	for _, line := range q.lines(one, at.Add(-q.over), at) {
		if strings.HasPrefix(q.counted, "bytes") {
			value += float64(len(line.Text))
		} else {
			value++
		}
	}
	if strings.HasSuffix(q.counted, "rate") {
		return value / q.over.Seconds()
	}
	return value
}

// grouped gives the labels of what a stream is added up into, and what tells them from others.
func (q logQuery) grouped(all map[string]string) (map[string]string, string) {
	if q.added == "" {
		return all, fmt.Sprint(all)
	}
	labels := map[string]string{}
	for _, name := range q.by {
		if text, ok := all[name]; ok {
			labels[name] = text
		}
	}
	return labels, fmt.Sprint(labels)
}

func (q logQuery) together(values []float64) float64 {
	sum := 0.0
	for _, one := range values {
		sum += one
	}
	switch q.added {
	case "min":
		return slices.Min(values)
	case "max":
		return slices.Max(values)
	case "avg":
		return sum / float64(len(values))
	case "count":
		return float64(len(values))
	}
	return sum
}
