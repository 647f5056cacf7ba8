package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// lostEvent is what the API server says in its own log of an audit event that its audit log could not hold: the
// body of a patch that is no JSON, such as an apply in YAML, cannot be encoded and takes the whole event with it.
type lostEvent struct {
	ID       string `json:"auditID"`
	Stage    string `json:"stage"`
	Verb     string `json:"verb"`
	User     string `json:"user"`
	As       string `json:"as,omitempty"` // user that it was carried out as, where that is another one
	URI      string `json:"requestURI"`
	Received string `json:"received"` // with microseconds, as in the audit log
	Code     int    `json:"code"`
}

// lostMarks begin the lines of such a message, the last of which tells of the event.
var lostMarks = [2]string{"] Error in audit plugin 'log' affecting 1 audit events: ", "Impacted events:"}

const microseconds = "2006-01-02T15:04:05.000000Z"

// lostEvents reads the API server's log line by line and keeps the lost events in a file, one JSON a line.
type lostEvents struct {
	path string
	seen int // lines of the message so far
}

func (l *lostEvents) heed(line string) {
	switch {
	case line != "" && line[0] == 'E' && strings.Contains(line, lostMarks[0]):
		l.seen = 1
	case l.seen == 1 && line == lostMarks[1]:
		l.seen = 2
	case l.seen == 2:
		l.seen = 0
		if event, ok := parseLost(line); ok {
			l.keep(event)
		}
	default:
		l.seen = 0
	}
}

// keep appends the event. One that cannot be kept leaves its request without an end, which the probe tells.
func (l *lostEvents) keep(event lostEvent) {
	text, err := json.Marshal(event)
	if err != nil {
		return
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(append(text, '\n'))
		_ = file.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "keep a lost audit event:", err)
	}
}

// parseLost reads the API server's one-line form of an event; whatever a client chose is quoted in it.
func parseLost(line string) (lostEvent, bool) {
	received, rest, found := strings.Cut(line, " AUDIT: ")
	at, err := time.Parse(time.RFC3339Nano, received)
	if !found || err != nil {
		return lostEvent{}, false
	}
	values := map[string]string{}
	for rest != "" {
		name, after, found := strings.Cut(rest, "=")
		quoted, err := strconv.QuotedPrefix(after)
		if !found || err != nil {
			return lostEvent{}, false
		}
		values[name], _ = strconv.Unquote(quoted)
		rest = strings.TrimPrefix(after[len(quoted):], " ")
	}
	code, err := strconv.Atoi(values["response"])
	if err != nil || values["stage"] == "" {
		return lostEvent{}, false
	}
	event := lostEvent{
		ID: values["id"], Stage: values["stage"], Verb: values["method"], User: values["user"],
		URI: values["uri"], Received: at.UTC().Format(microseconds), Code: code,
	}
	if as := values["as"]; as != "<self>" {
		event.As = as
	}
	return event, true
}
