package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestVariablesAreFilledInAsInAContainersArguments(t *testing.T) {
	known := map[string]string{"A": "1", "PROMPT": "say $(A)"}
	lookup := func(name string) (string, bool) { value, found := known[name]; return value, found }
	for text, want := range map[string]string{
		"plain":         "plain",
		"$(A)-$(A)":     "1-1",
		"$$(A)":         "$(A)",
		"$(B)":          "$(B)",
		"$(A":           "$(A",
		"$A $ ":         "$A $ ",
		"end$":          "end$",
		"<$(PROMPT)>":   "<say $(A)>",
		"$$$(A)":        "$1",
		"price: $$5 ok": "price: $5 ok",
	} {
		if got := expand(text, lookup); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestThePromptStandsWhereItsPlaceIsOrComesLast(t *testing.T) {
	order := Order{Command: []string{"tool"}, Args: []string{"-p", "$(PROMPT)", "-v"}, Prompt: "do it", By: "Argument"}
	if got := order.argv(); !reflect.DeepEqual(got, []string{"tool", "-p", "do it", "-v"}) {
		t.Error(got)
	}
	order.Args = []string{"--print"}
	if got := order.argv(); !reflect.DeepEqual(got, []string{"tool", "--print", "do it"}) {
		t.Error(got)
	}
	order.By = "Stdin"
	if got := order.argv(); !reflect.DeepEqual(got, []string{"tool", "--print"}) {
		t.Error(got)
	}
}

func shell(script string) *Order {
	return &Order{Command: []string{"sh", "-c", script}, By: "Stdin", Limit: 1 << 20}
}

func text(t *testing.T, folder, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestThePromptIsDeliveredInEachWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep/task.txt")
	for name, order := range map[string]*Order{
		"argument":    {Command: []string{"sh", "-c", `printf %s "$1"`, "x"}, By: "Argument"},
		"environment": {Command: []string{"sh", "-c", `printf %s "$TASK"`}, By: "Environment", Name: "TASK"},
		"file":        {Command: []string{"cat"}, Args: []string{file}, By: "File", Path: file},
		"stdin":       {Command: []string{"cat"}, By: "Stdin"},
	} {
		folder := t.TempDir()
		order.Prompt, order.Limit = "line 1\n$(HOME) é", 1<<20
		end := run(order, folder)
		if end != (End{Started: true}) {
			t.Errorf("%s: %+v", name, end)
		}
		if got := text(t, folder, "out"); got != order.Prompt {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestATerminalIsATerminalAndDoesNotEchoWhatIsTyped(t *testing.T) {
	folder := t.TempDir()
	order := shell(`test -t 0 && test -t 1 && echo yes; read line; echo "got $line"`)
	order.TTY, order.Prompt = true, "do it"
	if end := run(order, folder); end != (End{Started: true}) {
		t.Fatalf("%+v", end)
	}
	if got := strings.ReplaceAll(text(t, folder, "out"), "\r", ""); got != "yes\ngot do it\n" {
		t.Errorf("%q", got)
	}
}

func TestExitCodesSignalsAndWhatCannotBeStartedAreToldApart(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(broken, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	long := shell("true")
	long.By, long.Prompt = "Argument", strings.Repeat("x", 200_000)
	for name, each := range map[string]struct {
		order *Order
		want  End
		code  int
	}{
		"code":           {shell("exit 3"), End{Started: true, Code: 3}, 3},
		"signal":         {shell("kill -9 $$$$"), End{Started: true, Signal: 9}, 137},
		"not there":      {&Order{Command: []string{"/no/such"}}, End{Error: "NotFound"}, 127},
		"not executable": {&Order{Command: []string{broken}}, End{Error: "NotExecutable"}, 127},
		"too long":       {long, End{Error: "TooLong"}, 127},
	} {
		end := run(each.order, t.TempDir())
		if end != each.want || end.status() != each.code {
			t.Errorf("%s: %+v, status %d", name, end, end.status())
		}
	}
}

func TestOutputIsKeptUpToItsBoundAndTheCommandGoesOn(t *testing.T) {
	folder := t.TempDir()
	order := shell("head -c 300000 /dev/zero; echo done >&2; exit 4")
	order.Limit = 1000
	if end := run(order, folder); end != (End{Started: true, Code: 4, OutCut: true}) {
		t.Errorf("%+v", end)
	}
	if len(text(t, folder, "out")) != 1000 || text(t, folder, "err") != "done\n" {
		t.Error("not what was printed")
	}
}

func TestWhatACommandLeavesRunningDoesNotHoldItsEndBack(t *testing.T) {
	began := time.Now()
	end := run(shell("sleep 30 & echo done"), t.TempDir())
	if end != (End{Started: true}) || time.Since(began) > 10*time.Second {
		t.Errorf("%+v after %s", end, time.Since(began))
	}
}

func TestAFileThatIsLeftBehindIsKeptButNoLinkAndNoPipe(t *testing.T) {
	place := t.TempDir()
	secret, link, pipe, plain := filepath.Join(place, "s"), filepath.Join(place, "l"), filepath.Join(place, "p"), filepath.Join(place, "f")
	_ = os.WriteFile(secret, []byte("key"), 0o600)
	_ = os.Symlink(secret, link)
	_ = syscall.Mkfifo(pipe, 0o600)
	for path, want := range map[string]string{
		link: "Unreadable", pipe: "Unreadable", place: "Unreadable", plain: "Whole", filepath.Join(place, "none"): "Missing",
	} {
		folder := t.TempDir()
		order := shell("printf 'the answer' > " + plain)
		order.Answer = path
		if end := run(order, folder); end.Answer != want {
			t.Errorf("%s: %+v", path, end)
		}
		if want == "Whole" && text(t, folder, "answer") != "the answer" {
			t.Error("not the answer")
		}
	}
	order := shell("head -c 2000 /dev/zero > " + plain)
	order.Answer, order.Limit = plain, 1000
	if end := run(order, t.TempDir()); end.Answer != "Cut" {
		t.Errorf("%+v", end)
	}
}

func TestChecksAreAnsweredUntilTheOrderComes(t *testing.T) {
	folder := t.TempDir()
	for program, want := range map[string]string{"sh": "", "/no/such": "NotFound"} {
		folder := t.TempDir()
		_ = write(folder, checkFile, Check{Program: program})
		go func() {
			for {
				if _, err := os.Stat(filepath.Join(folder, checkedFile)); err == nil {
					_ = write(folder, orderFile, Order{Prompt: "now"})
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		order, err := await(folder)
		if err != nil || order.Prompt != "now" {
			t.Fatal(order, err)
		}
		checked := Checked{}
		_ = json.Unmarshal([]byte(text(t, folder, checkedFile)), &checked)
		if checked.Error != want {
			t.Errorf("%s: %+v", program, checked)
		}
	}
	_ = os.WriteFile(filepath.Join(folder, orderFile), []byte("{"), 0o644)
	if _, err := await(folder); err == nil {
		t.Error("half an order was taken")
	}
}

func TestACommandThatAsksIsAnsweredEachTime(t *testing.T) {
	script := `for n in 1 2; do printf 'Go on? '; read line; echo "[$line]"; done`
	for name, tty := range map[string]bool{"pipe": false, "terminal": true} {
		folder := t.TempDir()
		order := shell(script)
		order.By, order.TTY, order.Asks, order.Reply = "Environment", tty, "Go on? ", "no"
		order.Name = "TASK"
		end := run(order, folder)
		if end != (End{Started: true, Asked: 2}) {
			t.Errorf("%s: %+v", name, end)
		}
		if got := strings.Count(text(t, folder, "out"), "[no]"); got != 2 {
			t.Errorf("%s: %q", name, text(t, folder, "out"))
		}
	}
}

func TestAQuestionIsFoundWhereverItIsCutAndNotAnsweredForEver(t *testing.T) {
	var out, in strings.Builder
	asking := &asker{next: &out, stdin: &in, asks: []byte("ok?"), reply: "y"}
	for _, part := range []string{"is it o", "k", "?ok", "", "? and o", "k!", strings.Repeat("ok?", 100)} {
		_, _ = asking.Write([]byte(part))
	}
	if asking.times() != mostReplies || in.String() != strings.Repeat("y\n", mostReplies) {
		t.Errorf("%d times: %q", asking.times(), in.String())
	}
}
