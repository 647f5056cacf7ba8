package main

import (
	"context"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// Querier gives the series to the engine.
func (c *content) Querier(from, to int64) (storage.Querier, error) {
	return &querier{content: c, from: from, to: to}, nil
}

type querier struct {
	*content
	from, to int64
}

func (*querier) Close() error { return nil }

// Select gives the series that match; they are sorted already.
func (q *querier) Select(_ context.Context, _ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	from, to := q.from, q.to
	if hints != nil {
		from, to = hints.Start, hints.End
	}
	set := &seriesSet{place: -1}
	for _, one := range q.matching(from, to, matchers) {
		set.members = append(set.members, &part{of: one, from: from, to: to})
	}
	return set
}

// matching gives the series that have a sample in a range and match.
func (c *content) matching(from, to int64, matchers []*labels.Matcher) []*series {
	var found []*series
	for _, one := range c.series {
		if first, last := one.span(from, to); first <= last && matches(one.labels, matchers) {
			found = append(found, one)
		}
	}
	return found
}

func matches(those labels.Labels, matchers []*labels.Matcher) bool {
	for _, matcher := range matchers {
		if !matcher.Matches(those.Get(matcher.Name)) {
			return false
		}
	}
	return true
}

func (q *querier) LabelValues(_ context.Context, name string, _ *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	var values []string
	for _, one := range q.matching(q.from, q.to, matchers) {
		if text := one.labels.Get(name); text != "" {
			values = append(values, text)
		}
	}
	return unique(values), nil, nil
}

func (q *querier) LabelNames(_ context.Context, _ *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	var names []string
	for _, one := range q.matching(q.from, q.to, matchers) {
		one.labels.Range(func(each labels.Label) { names = append(names, each.Name) })
	}
	return unique(names), nil, nil
}

func unique(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

type seriesSet struct {
	members []*part
	place   int
}

func (s *seriesSet) Next() bool {
	s.place++
	return s.place < len(s.members)
}
func (s *seriesSet) At() storage.Series              { return s.members[s.place] }
func (*seriesSet) Err() error                        { return nil }
func (*seriesSet) Warnings() annotations.Annotations { return nil }

// part is a series within a range.
type part struct {
	of       *series
	from, to int64
}

func (p *part) Labels() labels.Labels { return p.of.labels }

func (p *part) Iterator(chunkenc.Iterator) chunkenc.Iterator { return p.of.samples(p.from, p.to) }
