package kubelet

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
)

// moment is RFC 3339 with microseconds, as in the audit log.
const moment = "2006-01-02T15:04:05.000000Z"

// journalLimit bounds the journal; beyond it nothing is answered any more, since nothing may go unrecorded.
const journalLimit = 64 << 20

var errFull = errors.New("the journal is full")

// Entry tells of one request to a node.
type Entry struct {
	Time      string   `json:"time"`
	Kind      string   `json:"kind"` // logs, exec, attach or portforward
	Namespace string   `json:"namespace"`
	Pod       string   `json:"pod"`
	Container string   `json:"container,omitempty"`
	Query     string   `json:"query,omitempty"`   // of logs
	Command   []string `json:"command,omitempty"` // of exec
	TTY       bool     `json:"tty,omitempty"`
	Stdin     []byte   `json:"stdin,omitempty"` // at most stdinLimit bytes
	MoreStdin bool     `json:"more_stdin,omitempty"`
	Port      int32    `json:"port,omitempty"`
	Answer    string   `json:"answer,omitempty"` // of exec: canned or unknown; of the others, but logs: refused
	ExitCode  int      `json:"exit_code,omitempty"`
}

// Journal is a file of entries, one JSON a line.
type Journal struct {
	path string
	mu   sync.Mutex
}

// NewJournal names the file, which comes into being with the first entry.
func NewJournal(path string) *Journal { return &Journal{path: path} }

// Add appends an entry, of a request to a node or of one that is put down in the same way.
func (j *Journal) Add(entry any) error {
	text, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	file, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size()+int64(len(text)) > journalLimit {
		return errors.Join(err, errFull)
	}
	_, err = file.Write(append(text, '\n'))
	return err
}
