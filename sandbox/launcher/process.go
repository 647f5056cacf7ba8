package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// keptLines is how much of a child's log goes into the report of its death.
const keptLines = 12

// child is a running component.
type child struct {
	component
	cmd     *exec.Cmd
	verbose bool
	done    chan struct{} // closed when it has ended and err is set
	err     error

	mu   sync.Mutex
	tail []string
}

// start runs a component in a process group of its own that does not outlive the launcher.
func start(s settings, c component) (*child, error) {
	cmd := exec.Command(s.bin(c.name), c.args...)
	if c.argv0 != "" {
		cmd.Args[0] = c.argv0
	}
	cmd.Dir = s.data()
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.data(), "TMPDIR=" + s.data()}, c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	cmd.Stdout = nil
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: cannot be started: %w", c.name, err)
	}
	started := &child{component: c, cmd: cmd, verbose: s.verbose, done: make(chan struct{})}
	go started.follow(output)
	return started, nil
}

// follow keeps the end of the log and waits for the child, in this order, as Wait closes the pipe.
func (c *child) follow(output io.Reader) {
	lines := bufio.NewReaderSize(output, 64*1024)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			text := strings.TrimRight(line, "\n")
			if c.heed != nil {
				c.heed(text)
			}
			c.keep(text)
		}
		if err != nil {
			break
		}
	}
	c.err = c.cmd.Wait()
	close(c.done)
}

func (c *child) keep(line string) {
	if c.verbose {
		fmt.Fprintf(os.Stderr, "%s: %s\n", c.name, line)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tail = append(c.tail, line)
	if len(c.tail) > keptLines {
		c.tail = c.tail[1:]
	}
}

// report says how the child ended, with the end of its log.
func (c *child) report() error {
	how := "ended without an error"
	var exit *exec.ExitError
	if errors.As(c.err, &exit) {
		how = "ended: " + exit.String()
	} else if c.err != nil {
		how = "ended: " + c.err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Errorf("%s %s; the end of its log:\n%s", c.name, how, strings.Join(c.tail, "\n"))
}

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// stop asks the child to end, and ends it after the patience.
func (c *child) stop(patience time.Duration) {
	if c == nil || c.ended() {
		return
	}
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(patience):
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.done
	}
}
