package main

import (
	"bytes"
	"io"
	"sync"
)

// mostReplies bounds a command that asks for ever.
const mostReplies = 64

// asker passes on what a command prints and types the reply each time that it asks.
type asker struct {
	mutex sync.Mutex
	next  io.Writer
	stdin io.Writer
	asks  []byte
	reply string
	// rest is the end of what was printed that may be the beginning of a question.
	rest  []byte
	asked int
}

func (a *asker) Write(data []byte) (int, error) {
	written, err := a.next.Write(data)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.rest = append(a.rest, data...)
	for a.asked < mostReplies {
		at := bytes.Index(a.rest, a.asks)
		if at < 0 {
			break
		}
		a.rest = a.rest[at+len(a.asks):]
		a.asked++
		// One that does not read has a pipe of 64 KiB, which all replies together do not fill.
		_, _ = io.WriteString(a.stdin, a.reply+"\n")
	}
	if over := len(a.rest) - len(a.asks) + 1; over > 0 {
		a.rest = append([]byte(nil), a.rest[over:]...)
	}
	return written, err
}

func (a *asker) times() int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.asked
}
