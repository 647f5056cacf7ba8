package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// drain is how long output is waited for once the command has ended: what it left running may hold it open.
const drain = time.Second

// run starts the command, waits for its end and keeps what it printed and left behind.
func run(order *Order, folder string) End {
	out, err := newSink(filepath.Join(folder, "out"), order.Limit, os.Stdout)
	if err != nil {
		return End{Error: "Other"}
	}
	errs, err := newSink(filepath.Join(folder, "err"), order.Limit, os.Stderr)
	if err != nil {
		return End{Error: "Other"}
	}
	end := conduct(order, out, errs)
	end.OutCut, end.ErrCut = out.finish(), errs.finish()
	if order.Answer != "" {
		end.Answer = keep(order.Answer, filepath.Join(folder, "answer"), order.Limit)
	}
	return end
}

func conduct(order *Order, out, errs io.Writer) End {
	if order.By == "File" {
		if err := place(order.Path, order.Prompt); err != nil {
			return End{Error: "Other"}
		}
	}
	line := order.argv()
	path, code := find(line[0])
	if code != "" {
		return End{Error: code}
	}
	streams, err := open(order.TTY)
	if err != nil {
		return End{Error: "Other"}
	}
	attributes := &syscall.ProcAttr{
		Env:   order.environ(),
		Files: streams.files(),
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: order.TTY},
	}
	pid, err := syscall.ForkExec(path, line, attributes)
	streams.closeTheirs()
	if err != nil {
		return End{Error: explain(err)}
	}
	forward(pid)
	asking := &asker{next: out, stdin: streams.stdin, asks: []byte(order.Asks), reply: order.Reply}
	if order.Asks != "" {
		out = asking
	}
	copied := streams.copy(order, out, errs)
	status := reap(pid)
	select {
	case <-copied:
	case <-time.After(drain):
	}
	if status.Signaled() {
		return End{Started: true, Signal: int(status.Signal()), Asked: asking.times()}
	}
	return End{Started: true, Code: status.ExitStatus(), Asked: asking.times()}
}

// reap waits for the command, and for whatever else was left to the first process of a container.
func reap(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || (ended == pid && (status.Exited() || status.Signaled())) {
			return status
		}
	}
}

// forward passes on what asks the container to end.
func forward(pid int) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		for got := range signals {
			if number, ok := got.(syscall.Signal); ok {
				_ = syscall.Kill(-pid, number)
			}
		}
	}()
}

// place writes the text where the command looks for it.
func place(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// keep copies a file that was left behind; a link, a pipe or a device is none.
func keep(from, to string, limit int64) string {
	source, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return "Missing"
	}
	if err != nil {
		return "Unreadable"
	}
	defer source.Close()
	if facts, err := source.Stat(); err != nil || !facts.Mode().IsRegular() {
		return "Unreadable"
	}
	sink, err := newSink(to, limit, io.Discard)
	if err != nil {
		return "Unreadable"
	}
	_, err = io.Copy(sink, io.LimitReader(source, limit+1))
	if cut := sink.finish(); err != nil {
		return "Unreadable"
	} else if cut {
		return "Cut"
	}
	return "Whole"
}

// sink keeps the beginning of a stream in a file and shows all of it to the container's log.
type sink struct {
	mutex sync.Mutex
	file  *os.File
	room  int64
	show  io.Writer
	cut   bool
	done  bool
}

func newSink(path string, limit int64, show io.Writer) (*sink, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NOFOLLOW
	file, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, err
	}
	return &sink{file: file, room: limit, show: show}, nil
}

// Write never fails: a command must not end because nobody keeps what it prints.
func (s *sink) Write(data []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.done {
		return len(data), nil
	}
	kept := data
	if int64(len(data)) > s.room {
		kept, s.cut = data[:s.room], true
	}
	written, err := s.file.Write(kept)
	s.room -= int64(written)
	s.cut = s.cut || err != nil
	_, _ = s.show.Write(kept)
	return len(data), nil
}

func (s *sink) finish() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.done = true
	if err := s.file.Close(); err != nil {
		s.cut = true
	}
	return s.cut
}
