package reads

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// matcher holds one label against a value or an expression, as all of these tools write it.
type matcher struct {
	name, operator, value string
	expression            *regexp.Regexp
}

func (m matcher) matches(labels map[string]string) bool {
	switch text := labels[m.name]; m.operator {
	case "=":
		return text == m.value
	case "!=":
		return text != m.value
	case "=~":
		return m.expression.MatchString(text)
	default:
		return !m.expression.MatchString(text)
	}
}

func matchAll(matchers []matcher, labels map[string]string) bool {
	for _, one := range matchers {
		if !one.matches(labels) {
			return false
		}
	}
	return true
}

// scanner reads a query from its beginning to its end.
type scanner struct {
	text  string
	place int
}

func (s *scanner) fail(wanted string) error {
	seen := "end of input"
	if rest := s.text[s.place:]; rest != "" {
		seen = strconv.Quote(strings.Fields(rest + " .")[0])
	}
	return fmt.Errorf("parse error at line 1, col %d: syntax error: unexpected %s, expecting %s", s.place+1, seen, wanted)
}

func (s *scanner) space() {
	for s.place < len(s.text) && strings.ContainsRune(" \t\r\n", rune(s.text[s.place])) {
		s.place++
	}
}

// take moves over the first of some signs that comes next, and gives it; empty where none does.
func (s *scanner) take(signs ...string) string {
	s.space()
	for _, sign := range signs {
		if strings.HasPrefix(s.text[s.place:], sign) {
			s.place += len(sign)
			return sign
		}
	}
	return ""
}

var identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*`)

func (s *scanner) word() string {
	s.space()
	found := identifier.FindString(s.text[s.place:])
	s.place += len(found)
	return found
}

// quoted reads a text in quotation marks or backticks.
func (s *scanner) quoted() (string, error) {
	s.space()
	prefix, err := strconv.QuotedPrefix(s.text[s.place:])
	if err != nil || prefix[0] == '\'' {
		return "", s.fail("STRING")
	}
	s.place += len(prefix)
	return strconv.Unquote(prefix)
}

// matcher reads `name operator "value"`.
func (s *scanner) matcher() (matcher, error) {
	one := matcher{name: s.word()}
	if one.name == "" {
		return one, s.fail("IDENTIFIER or }")
	}
	if one.operator = s.take("=~", "!~", "!=", "="); one.operator == "" {
		return one, s.fail("=, !=, =~ or !~")
	}
	var err error
	if one.value, err = s.quoted(); err != nil {
		return one, err
	}
	if strings.HasSuffix(one.operator, "~") {
		if one.expression, err = regexp.Compile("^(?s:" + one.value + ")$"); err != nil {
			return one, fmt.Errorf("parse error : %w", err)
		}
	}
	return one, nil
}

// selector reads matchers in braces.
func (s *scanner) selector() ([]matcher, error) {
	if s.take("{") == "" {
		return nil, s.fail("{")
	}
	var found []matcher
	for s.take("}") == "" {
		if len(found) > 0 && s.take(",") == "" {
			return nil, s.fail("} or ,")
		}
		if len(found) > 0 && s.take("}") != "" {
			break
		}
		one, err := s.matcher()
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}
