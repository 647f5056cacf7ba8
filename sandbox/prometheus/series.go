package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// interval lies between two samples of a series, in milliseconds.
const interval = int64(15_000)

// The shapes of a series: what lies between two of its points.
const (
	shapeLine  = "line"  // a straight line
	shapeStep  = "step"  // the earlier of both values
	shapeCount = "count" // points are rates per second, on straight lines, and the value is what they add up to
)

// series is one time series as a function of time. Samples are made of it when they are asked for, so history of any
// length takes no memory.
type series struct {
	Labels map[string]string `json:"labels"`
	Shape  string            `json:"shape"`
	From   float64           `json:"from"`            // the first sample is not before this
	Until  *float64          `json:"until,omitempty"` // the last one is not after this; absent while it goes on
	Lapses bool              `json:"lapses"`          // whether it ends without a sample that says so
	Whole  bool              `json:"whole"`           // whether values of a count are whole numbers
	Points [][2]float64      `json:"points"`          // (seconds since 1970, value); two at one moment are a jump

	labels labels.Labels
	sums   []float64 // of a count, what has added up at each point
	offset int64     // of the moments of samples
}

func (s *series) prepare() error {
	s.labels = labels.FromMap(s.Labels)
	if len(s.Points) == 0 || s.Labels[labels.MetricName] == "" {
		return fmt.Errorf("series %s: want a name and at least one point", s.labels)
	}
	for i := 1; i < len(s.Points); i++ {
		if s.Points[i][0] < s.Points[i-1][0] {
			return fmt.Errorf("series %s: points are not in the order of their times", s.labels)
		}
	}
	switch s.Shape {
	case shapeLine, shapeStep:
	case shapeCount:
		s.sums = make([]float64, len(s.Points))
		s.sums[0] = (s.Points[0][0] - s.From) * s.Points[0][1]
		for i := 1; i < len(s.Points); i++ {
			before, after := s.Points[i-1], s.Points[i]
			s.sums[i] = s.sums[i-1] + (after[0]-before[0])*(after[1]+before[1])/2
		}
	default:
		return fmt.Errorf("series %s: shape %q: want line, step or count", s.labels, s.Shape)
	}
	// All that is told by one target is told at once.
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(s.Labels["job"] + "/" + s.Labels["instance"]))
	s.offset = int64(sum.Sum32()) % interval
	return nil
}

// at gives the value at a moment in seconds.
func (s *series) at(t float64) float64 {
	next := sort.Search(len(s.Points), func(i int) bool { return s.Points[i][0] > t })
	if s.Shape == shapeCount {
		return s.counted(t, next)
	}
	if next == 0 {
		return s.Points[0][1]
	}
	before := s.Points[next-1]
	if next == len(s.Points) || s.Shape == shapeStep {
		return before[1]
	}
	return between(before, s.Points[next], t)
}

// counted gives what has added up; `next` is the first point after the moment.
func (s *series) counted(t float64, next int) float64 {
	sum := 0.0
	switch {
	case next == 0:
		sum = (t - s.From) * s.Points[0][1]
	case next == len(s.Points):
		last := s.Points[next-1]
		sum = s.sums[next-1] + (t-last[0])*last[1]
	default:
		before := s.Points[next-1]
		sum = s.sums[next-1] + (t-before[0])*(before[1]+between(before, s.Points[next], t))/2
	}
	if s.Whole {
		return math.Floor(sum)
	}
	return sum
}

func between(before, after [2]float64, t float64) float64 {
	return before[1] + (after[1]-before[1])*(t-before[0])/(after[0]-before[0])
}

// span gives the moments of the first and the last sample within a range, both included, in milliseconds.
func (s *series) span(from, to int64) (int64, int64) {
	from = max(from, milliseconds(s.From))
	to = min(to, time.Now().UnixMilli())
	if s.Until != nil {
		to = min(to, milliseconds(*s.Until)+interval)
		if s.Lapses {
			to = min(to, milliseconds(*s.Until))
		} // otherwise one sample more says that it has ended
	}
	first := from - s.offset
	if rest := ((first % interval) + interval) % interval; rest != 0 {
		first += interval - rest
	}
	return first + s.offset, to
}

// samples walks over the samples of a series; it is the iterator that the engine wants.
type samples struct {
	of       *series
	next, to int64
	t        int64
	v        float64
}

func (s *series) samples(from, to int64) *samples {
	first, last := s.span(from, to)
	return &samples{of: s, next: first, to: last, t: math.MinInt64}
}

func (s *samples) Next() chunkenc.ValueType {
	if s.next > s.to {
		return chunkenc.ValNone
	}
	s.t = s.next
	s.next += interval
	if s.of.Until != nil && s.t > milliseconds(*s.of.Until) {
		s.v = math.Float64frombits(value.StaleNaN)
	} else {
		s.v = s.of.at(float64(s.t) / 1000)
	}
	return chunkenc.ValFloat
}

func (s *samples) Seek(t int64) chunkenc.ValueType {
	if s.t >= t {
		return chunkenc.ValFloat
	}
	if s.next < t {
		s.next += (t - s.next + interval - 1) / interval * interval
	}
	return s.Next()
}

func (s *samples) At() (int64, float64) { return s.t, s.v }
func (s *samples) AtT() int64           { return s.t }
func (*samples) AtST() int64            { return 0 }
func (*samples) Err() error             { return nil }

func (*samples) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) { return 0, nil }
func (*samples) AtFloatHistogram(*histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	return 0, nil
}
