package kubelet

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	lookEvery = 5 * time.Second // at the pod whose log is followed
	stamp     = "2006-01-02T15:04:05.000000000Z07:00"
)

// logOptions are those of a request for logs; -1 stands for no limit.
type logOptions struct {
	tail, limit                  int64
	since                        time.Time
	timestamps, previous, follow bool
}

func readLogOptions(query url.Values) (logOptions, error) {
	options := logOptions{
		tail: -1, limit: -1,
		timestamps: query.Get("timestamps") == "true", previous: query.Get("previous") == "true",
		follow: query.Get("follow") == "true",
	}
	seconds := int64(-1)
	for name, place := range map[string]*int64{"tailLines": &options.tail, "limitBytes": &options.limit, "sinceSeconds": &seconds} {
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseInt(text, 10, 64)
			if err != nil || value < 0 {
				return options, fmt.Errorf("%s: %q", name, text)
			}
			*place = value
		}
	}
	if seconds >= 0 {
		options.since = time.Now().Add(-time.Duration(min(seconds, 1<<32)) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return options, fmt.Errorf("sinceTime: %q", text)
		}
		options.since = at
	}
	return options, nil
}

// logStream is one answer to a request for logs.
type logStream struct {
	node    *Node
	request *http.Request
	options logOptions
	to      http.ResponseWriter
	sent    int64
}

// write sends the log as it is and, where it is followed, goes on until the container ends or the client leaves.
func (l *logStream) write(p *pod, one run, said output) {
	container := l.request.PathValue("container")
	seen := before(said.lines(p, container, one), time.Now())
	shown := seen
	if tail := l.options.tail; tail >= 0 && tail < int64(len(shown)) {
		shown = shown[int64(len(shown))-tail:]
	}
	if !l.send(shown) || !l.options.follow {
		return
	}
	count := len(seen)
	for looked := time.Now(); !one.over; {
		select {
		case <-l.request.Context().Done():
			return
		case <-time.After(time.Second / 2):
		}
		if time.Since(looked) >= lookEvery {
			looked = time.Now()
			if p, one, said = l.again(p, one, said); p == nil {
				return
			}
		}
		lines := before(said.lines(p, container, one), time.Now())
		if count < len(lines) && !l.send(lines[count:]) {
			return
		}
		count = max(count, len(lines))
	}
}

// again looks at the pod once more: the life that is followed, as over where another one has begun, or no pod
// where it is gone.
func (l *logStream) again(p *pod, one run, said output) (*pod, run, output) {
	namespace, name := l.request.PathValue("namespace"), l.request.PathValue("pod")
	now, err := l.node.Pods.Get(l.request.Context(), namespace, name)
	if err != nil {
		return p, one, said
	}
	if now == nil || now.Metadata.UID != p.Metadata.UID {
		return nil, one, said
	}
	container := l.request.PathValue("container")
	present, err := now.run(container, false)
	if err != nil || present.id != one.id {
		if present, err = now.run(container, true); err != nil || present.id != one.id {
			return nil, one, said
		}
	}
	if fresh, err := readOutput(l.node.Output); err == nil {
		said = fresh
	}
	return now, present, said
}

// send writes lines within the limit, and tells whether more can be written.
func (l *logStream) send(lines []line) bool {
	for _, one := range lines {
		if one.at.Before(l.options.since) {
			continue
		}
		text := one.text + "\n"
		if l.options.timestamps {
			text = one.at.UTC().Format(stamp) + " " + text
		}
		if rest := l.options.limit - l.sent; l.options.limit >= 0 && int64(len(text)) > rest {
			text = text[:rest]
		}
		written, err := l.to.Write([]byte(text))
		l.sent += int64(written)
		if err != nil || l.sent == l.options.limit {
			return false
		}
	}
	if flusher, ok := l.to.(http.Flusher); ok {
		flusher.Flush()
	}
	return true
}

// before gives the lines that are written by then.
func before(lines []line, then time.Time) []line {
	for i, one := range lines {
		if one.at.After(then) {
			return lines[:i]
		}
	}
	return lines
}
