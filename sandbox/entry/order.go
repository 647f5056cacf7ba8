package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Order says what to start, and what to do with the text that it is given.
type Order struct {
	Command []string `json:"command"`
	Args    []string `json:"args"`
	Prompt  string   `json:"prompt"`
	// By is Argument, Environment, File or Stdin.
	By string `json:"by"`
	// Name is a variable for Environment.
	Name string `json:"name"`
	// Path is a file for File.
	Path string `json:"path"`
	TTY  bool   `json:"tty"`
	// Answer is a file that the command leaves behind, or empty.
	Answer string `json:"answer"`
	// Asks is what the command prints when it waits for an answer, or empty; Reply is typed then, and a new line.
	Asks  string `json:"asks"`
	Reply string `json:"reply"`
	// Limit is the most bytes that are kept of each stream and of the file.
	Limit int64 `json:"limit"`
}

// Check asks whether a program is there.
type Check struct {
	Program string `json:"program"`
}

// Checked answers a Check; an empty error means that it is there.
type Checked struct {
	Error string `json:"error"`
}

// End tells how the command ended.
type End struct {
	Started bool `json:"started"`
	// Error is why it was not started: NotFound, NotExecutable, TooLong or Other.
	Error  string `json:"error"`
	Code   int    `json:"code"`
	Signal int    `json:"signal"`
	OutCut bool   `json:"out_cut"`
	ErrCut bool   `json:"err_cut"`
	// Asked is how often it was answered.
	Asked int `json:"asked"`
	// Answer is Whole, Cut, Missing or Unreadable where a file was asked for.
	Answer string `json:"answer"`
}

func (e End) status() int {
	switch {
	case !e.Started:
		return 127
	case e.Signal != 0:
		return 128 + e.Signal
	}
	return e.Code
}

const placeholder = "PROMPT"

// argv gives the command line: variables are filled in as in a container's own arguments, and the text stands
// where the placeholder is, or comes last.
func (o *Order) argv() []string {
	values := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	if o.By == "Environment" {
		values[o.Name] = o.Prompt
	}
	used := false
	lookup := func(name string) (string, bool) {
		if o.By == "Argument" && name == placeholder {
			used = true
			return o.Prompt, true
		}
		value, known := values[name]
		return value, known
	}
	var line []string
	for _, part := range append(append([]string{}, o.Command...), o.Args...) {
		line = append(line, expand(part, lookup))
	}
	if o.By == "Argument" && !used {
		line = append(line, o.Prompt)
	}
	return line
}

// environ gives the command's variables.
func (o *Order) environ() []string {
	if o.By != "Environment" {
		return os.Environ()
	}
	kept := []string{o.Name + "=" + o.Prompt}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, o.Name+"=") {
			kept = append(kept, pair)
		}
	}
	return kept
}

// expand fills $(NAME) in; $$ stands for $, and a name that nobody knows stays as it is.
func expand(text string, lookup func(string) (string, bool)) string {
	var out strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] != '$' || at+1 == len(text) {
			out.WriteByte(text[at])
			continue
		}
		at++
		if text[at] == '$' {
			out.WriteByte('$')
			continue
		}
		stop := strings.IndexByte(text[at:], ')')
		if text[at] != '(' || stop < 0 {
			out.WriteByte('$')
			out.WriteByte(text[at])
			continue
		}
		name := text[at+1 : at+stop]
		if value, known := lookup(name); known {
			out.WriteString(value)
		} else {
			out.WriteString("$(" + name + ")")
		}
		at += stop
	}
	return out.String()
}

// find looks a program up as a shell would, and says why it is not there.
func find(program string) (string, string) {
	path, err := exec.LookPath(program)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	return path, explain(err)
}

func explain(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "NotFound"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return "NotExecutable"
	case errors.Is(err, syscall.E2BIG), errors.Is(err, syscall.EINVAL):
		return "TooLong"
	}
	return "Other"
}
