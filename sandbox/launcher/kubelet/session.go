package kubelet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/utils/exec"
)

const (
	stdinLimit    = 16 << 10
	stdinPatience = time.Second // for an input that does not end
	notFound      = 127
)

// session is one stream of exec, attach or port forwarding. Nothing is ever run, attached to or connected to.
type session struct {
	node    *Node
	request *http.Request
	answer  *canned // of exec, nil for a command that the container does not have
	call    *call   // of exec, nil for a command that opens no connection
	run     run
}

// ExecInContainer prints what is declared of the command, or what a runtime says of one that does not exist.
func (s *session) ExecInContainer(
	ctx context.Context, _ string, _ types.UID, _ string, command []string,
	in io.Reader, out, errs io.WriteCloser, tty bool, _ <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	answer, kind := s.answer, "canned"
	if s.call != nil {
		found, err := s.connection(ctx)
		if err != nil {
			return errors.New("failed to exec in container: timed out")
		}
		answer = found
	}
	if answer == nil {
		answer, kind = missing(command), "unknown"
	} else if answer.unknown {
		kind = "unknown"
	}
	entry := entryOf(s.request, "exec", func(e *Entry) {
		e.Command, e.TTY, e.Answer, e.ExitCode = command, tty, kind, answer.ExitCode
		e.Stdin, e.MoreStdin = readStdin(in)
	})
	if err := s.node.Journal.Add(entry); err != nil {
		return errors.New("failed to exec in container: no space left on device")
	}
	if tty || errs == nil {
		errs = out
	}
	write(out, answer.Stdout)
	write(errs, answer.Stderr)
	if answer.ExitCode != 0 {
		return exec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", answer.ExitCode), Code: answer.ExitCode}
	}
	return nil
}

// connection tells how the call of a command ends.
func (s *session) connection(ctx context.Context) (*canned, error) {
	found, err := s.node.Networks.Network(ctx)
	if err != nil {
		return nil, err
	}
	return s.call.end(ctx, found, s.request.PathValue("namespace"), s.request.PathValue("pod")), nil
}

// missing is what a container without that program answers, which is any but those declared.
func missing(command []string) *canned {
	name := ""
	if len(command) > 0 {
		name = command[0]
	}
	why := "executable file not found in $PATH"
	if strings.Contains(name, "/") {
		why = "stat " + name + ": no such file or directory"
	}
	text := "OCI runtime exec failed: exec failed: unable to start container process: exec: %q: %s: unknown\n"
	return &canned{Stderr: fmt.Sprintf(text, name, why), ExitCode: notFound}
}

func write(to io.Writer, text string) {
	if to != nil && text != "" {
		_, _ = io.WriteString(to, text)
	}
}

// readStdin gives what is sent within a short time, and whether there is more than is kept.
func readStdin(in io.Reader) ([]byte, bool) {
	if in == nil {
		return nil, false
	}
	pieces := make(chan []byte)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(pieces)
		for {
			piece := make([]byte, 4096)
			n, err := in.Read(piece)
			select {
			case pieces <- piece[:n]:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var kept []byte
	enough := time.After(stdinPatience)
	for {
		select {
		case piece, ok := <-pieces:
			if !ok {
				return kept, false
			}
			if kept = append(kept, piece...); len(kept) > stdinLimit {
				return kept[:stdinLimit], true
			}
		case <-enough:
			return kept, false
		}
	}
}

// AttachContainer says what a runtime says that has lost track of the container's process.
func (s *session) AttachContainer(
	_ context.Context, _ string, _ types.UID, _ string,
	_ io.Reader, _, _ io.WriteCloser, tty bool, _ <-chan remotecommand.TerminalSize,
) error {
	_ = s.node.Journal.Add(entryOf(s.request, "attach", func(e *Entry) { e.TTY, e.Answer = tty, "refused" }))
	task := strings.TrimPrefix(s.run.id, "containerd://")
	return fmt.Errorf("failed to load task: no running task found: task %s not found: not found", task)
}

// PortForward says that nothing listens.
func (s *session) PortForward(_ context.Context, sandbox string, _ types.UID, port int32, _ io.ReadWriteCloser) error {
	_ = s.node.Journal.Add(entryOf(s.request, "portforward", func(e *Entry) { e.Port, e.Answer = port, "refused" }))
	return fmt.Errorf(
		"failed to execute portforward in network namespace %q: failed to connect to localhost:%d inside namespace %q,"+
			" IPv4: dial tcp4 127.0.0.1:%d: connect: connection refused IPv6 dial tcp6 [::1]:%d: connect: connection refused",
		netns(sandbox), port, sandbox, port, port)
}

// netns names a network namespace as a runtime does.
func netns(sandbox string) string {
	sum := digest(sandbox)
	return fmt.Sprintf("/var/run/netns/cni-%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func digest(text string) [32]byte { return sha256.Sum256([]byte(text)) }
