package reads

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// logQuery is a query in LogQL: a selector of streams with filters of lines and, where it asks for numbers, what is
// counted of them and how that is added up.
type logQuery struct {
	matchers []matcher
	filters  []lineFilter
	counted  string // count_over_time, rate, bytes_over_time or bytes_rate; empty for the lines themselves
	over     time.Duration
	added    string // sum, min, max, avg or count; empty where each stream stands for itself
	by       []string
}

type lineFilter struct {
	negated    bool
	text       string
	expression *regexp.Regexp
}

func (f lineFilter) keeps(line string) bool {
	found := false
	if f.expression != nil {
		found = f.expression.MatchString(line)
	} else {
		found = strings.Contains(line, f.text)
	}
	return found != f.negated
}

func (q logQuery) keeps(line string) bool {
	for _, one := range q.filters {
		if !one.keeps(line) {
			return false
		}
	}
	return true
}

var errOpen = errors.New("parse error : queries require at least one regexp or equality matcher that does not have an empty-compatible value. For instance, app=~\".*\" does not meet this requirement, but app=~\".+\" will")

// parseLogQuery reads a query; what is beyond selectors, filters of lines and counts over them is refused.
func parseLogQuery(text string) (logQuery, error) {
	s := &scanner{text: text}
	found, err := s.logQuery()
	if err != nil {
		return found, err
	}
	if s.space(); s.place < len(s.text) {
		return found, s.fail("end of input; line filters, count_over_time, rate, bytes_over_time, bytes_rate and their sum, min, max, avg or count are supported")
	}
	return found, nil
}

func (s *scanner) logQuery() (logQuery, error) {
	word := s.word()
	switch word {
	case "":
		return s.pipeline()
	case "sum", "min", "max", "avg", "count":
		return s.aggregation(word)
	case "count_over_time", "rate", "bytes_over_time", "bytes_rate":
		return s.counting(word)
	}
	s.place -= len(word)
	return logQuery{}, s.fail("{, count_over_time, rate, bytes_over_time, bytes_rate, sum, min, max, avg or count")
}

func (s *scanner) aggregation(word string) (logQuery, error) {
	by, err := s.grouping()
	if err != nil {
		return logQuery{}, err
	}
	if s.take("(") == "" {
		return logQuery{}, s.fail("(")
	}
	inner := s.word()
	switch inner {
	case "count_over_time", "rate", "bytes_over_time", "bytes_rate":
	default:
		s.place -= len(inner)
		return logQuery{}, s.fail("count_over_time, rate, bytes_over_time or bytes_rate")
	}
	found, err := s.counting(inner)
	if err != nil {
		return found, err
	}
	if s.take(")") == "" {
		return found, s.fail(")")
	}
	if by == nil {
		if by, err = s.grouping(); err != nil {
			return found, err
		}
	}
	found.added, found.by = word, by
	return found, nil
}

// grouping reads `by (a, b)`, nil where there is none.
func (s *scanner) grouping() ([]string, error) {
	if s.take("by") == "" {
		return nil, nil
	}
	if s.take("(") == "" {
		return nil, s.fail("(")
	}
	by := []string{}
	for s.take(")") == "" {
		word := s.word()
		if word == "" {
			return nil, s.fail("IDENTIFIER or )")
		}
		by = append(by, word)
		s.take(",")
	}
	return by, nil
}

func (s *scanner) counting(word string) (logQuery, error) {
	if s.take("(") == "" {
		return logQuery{}, s.fail("(")
	}
	found, err := s.pipeline()
	if err != nil {
		return found, err
	}
	if s.take("[") == "" {
		return found, s.fail("[")
	}
	length, _, _ := strings.Cut(s.text[s.place:], "]")
	if found.over, err = duration(length); err != nil || found.over <= 0 {
		return found, s.fail("DURATION")
	}
	s.place += len(length)
	if s.take("]") == "" || s.take(")") == "" {
		return found, s.fail("])")
	}
	found.counted = word
	return found, nil
}

// pipeline reads a selector with the filters behind it.
func (s *scanner) pipeline() (logQuery, error) {
	matchers, err := s.selector()
	if err != nil {
		return logQuery{}, err
	}
	found := logQuery{matchers: matchers}
	if !closed(matchers) {
		return found, errOpen
	}
	for {
		operator := s.take("|=", "!=", "|~", "!~")
		if operator == "" {
			return found, nil
		}
		text, err := s.quoted()
		if err != nil {
			return found, err
		}
		filter := lineFilter{negated: operator[0] == '!', text: text}
		if operator[1] == '~' {
			if filter.expression, err = regexp.Compile(text); err != nil {
				return found, fmt.Errorf("parse error : %w", err)
			}
		}
		found.filters = append(found.filters, filter)
	}
}

// closed tells whether a selector does not mean just everything.
func closed(matchers []matcher) bool {
	for _, one := range matchers {
		if !one.matches(nil) {
			return true
		}
	}
	return false
}

var unit = regexp.MustCompile(`^(\d+)(ms|s|m|h|d|w)`)

// duration reads 90s, 5m or 1h30m.
func duration(text string) (time.Duration, error) {
	units := map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 168 * time.Hour,
	}
	sum, rest := time.Duration(0), strings.TrimSpace(text)
	for rest != "" {
		part := unit.FindStringSubmatch(rest)
		if part == nil || len(part[1]) > 7 {
			return 0, fmt.Errorf("cannot parse %q to a valid duration", text)
		}
		sum += time.Duration(number(part[1], 0, 1e7)) * units[part[2]]
		rest = rest[len(part[0]):]
	}
	return sum, nil
}
