package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	lostHead   = `E1130 09:20:39.104817   26635 metrics.go:110] Error in audit plugin 'log' affecting 1 audit events: json: error calling MarshalJSON for type *runtime.Unknown: invalid character 'ÿ' looking for beginning of value`
	lostRecord = `2026-11-30T10:20:39.11004316+01:00 AUDIT: id="mi\"ne" stage="ResponseComplete" ip="127.0.0.1" method="patch" user="agent" groups="\"a\",\"b\"" as="<self>" asgroups="<lookup>" user-agent="x\" AUDIT: id=\"y" namespace="shop" uri="/api/v1/namespaces/shop/configmaps/app" response="404"`
)

func heard(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lost.log")
	events := &lostEvents{path: path}
	for _, line := range lines {
		events.heed(line)
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func TestALostAuditEventIsKeptWithWhatTheAPIServerSaysOfIt(t *testing.T) {
	as := strings.Replace(lostRecord, `as="<self>"`, `as="boss"`, 1)
	want := `{"auditID":"mi\"ne","stage":"ResponseComplete","verb":"patch","user":"agent",` +
		`"requestURI":"/api/v1/namespaces/shop/configmaps/app","received":"2026-11-30T09:20:39.110043Z","code":404}` + "\n"
	got := heard(t, "I1130 something else", lostHead, lostMarks[1], lostRecord, "", lostHead, lostMarks[1], as)
	if got != want+strings.Replace(want, `"user":"agent",`, `"user":"agent","as":"boss",`, 1) {
		t.Errorf("kept %s", got)
	}
}

func TestNothingElseIsTakenForALostAuditEvent(t *testing.T) {
	for name, lines := range map[string][]string{
		"no message before it": {lostRecord},
		"a line between":       {lostHead, "I1130 something", lostMarks[1], lostRecord},
		"another plugin":       {strings.Replace(lostHead, "'log'", "'webhook'", 1), lostMarks[1], lostRecord},
		"a warning":            {"W" + lostHead[1:], lostMarks[1], lostRecord},
		"no answer yet":        {lostHead, lostMarks[1], strings.Replace(lostRecord, `"404"`, `"<deferred>"`, 1)},
		"no time":              {lostHead, lostMarks[1], "now" + lostRecord},
		"an open quote":        {lostHead, lostMarks[1], strings.TrimSuffix(lostRecord, `"`)},
	} {
		if got := heard(t, lines...); got != "" {
			t.Errorf("%s: kept %s", name, got)
		}
	}
}
