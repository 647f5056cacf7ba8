package kubelet

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// output is what the containers of a world say, as the probe writes it.
type output struct {
	Until    time.Time         `json:"until"` // moment of the preparation
	Logs     []declared        `json:"logs"`
	Usual    map[string][]told `json:"usual"`
	Commands []canned          `json:"commands"`
}

// owner says whose a log or an answer is. A namespace, subject or container that is empty stands for any.
type owner struct {
	Namespace string `json:"namespace"`
	Subject   string `json:"subject"`
	Container string `json:"container"`
}

// declared is a log that the scenario declares.
type declared struct {
	owner
	// Images are those of the declared containers: what runs another one is not what the scenario speaks of.
	Images map[string]string `json:"images"`
	// Lives are those that have this log: what is declared to fail has been cured of it where it runs, and what is
	// declared to be well is not where it failed. Otherwise it is that of any.
	Lives string   `json:"lives"`
	Lines []string `json:"lines"`
}

// told is a line of a log that nobody declares.
type told struct {
	After int    `json:"after"` // seconds from the start of the container
	Text  string `json:"text"`
}

// canned is what a command prints.
type canned struct {
	owner
	Command  []string `json:"command"`
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	ExitCode int      `json:"exit_code"`
	unknown  bool     // whether it stands for arguments that nothing is declared of
}

const (
	usualGap  = 7 * time.Second  // between two lines of a log
	laterGap  = time.Second      // the same in a container that was started after the preparation
	laterSpan = 10 * time.Second // in which it then has written all of it

	// Ends are told to the second; what happened in that second happened before.
	lastSecond = 900 * time.Millisecond
)

func readOutput(path string) (output, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return output{}, nil
	}
	if err != nil {
		return output{}, err
	}
	var said output
	return said, json.Unmarshal(text, &said)
}

// rank tells how closely something belongs to a container, 0 for not at all.
func (o owner) rank(p *pod, container string) int {
	if (o.Namespace != "" && o.Namespace != p.Metadata.Namespace) || (o.Container != "" && o.Container != container) {
		return 0
	}
	rank := 1
	switch {
	case o.Subject == "":
	case o.Subject == p.Metadata.Name:
		rank = 5
	case slices.Contains(p.workloads(), o.Subject):
		rank = 3
	default:
		return 0
	}
	if o.Container != "" {
		rank++
	}
	return rank
}

// line is a line of a log with its time.
type line struct {
	at   time.Time
	text string
}

// lines gives the log of one life of a container, the future included.
func (o output) lines(p *pod, container string, one run) []line {
	best, rank := declared{}, 0
	for _, log := range o.Logs {
		if this := log.rank(p, container); this > rank && log.fits(p.image(container), container, one) {
			best, rank = log, this
		}
	}
	if rank > 0 {
		return o.spread(best.Lines, one)
	}
	var lines []line
	for _, kind := range one.kinds() {
		for _, told := range o.Usual[kind] {
			at := one.started.Add(time.Duration(told.After) * time.Second)
			if one.over && at.After(one.ended) {
				at = one.ended
			}
			at = at.Add(time.Duration(len(lines)) * time.Millisecond)
			lines = append(lines, line{jittered(at, one.id), filled(told.Text, p, container, one)})
		}
	}
	return lines
}

func (d declared) fits(image, container string, one run) bool {
	failed := one.over && one.code != 0
	if (d.Lives == "failed" && !failed) || (d.Lives == "well" && failed) {
		return false
	}
	wanted, ok := d.Images[container]
	return !ok || wanted == image
}

// startFailed is the exit code of a container that could not even be started.
const startFailed = 128

// kinds names the usual lines of a life, in their order.
func (r run) kinds() []string {
	switch {
	case r.over && r.code == startFailed:
		return nil
	case r.over && r.reason == "OOMKilled":
		return []string{"started"}
	case r.over && r.code != 0:
		return []string{"starting", "failed"}
	case r.over:
		return []string{"starting", "done"}
	case r.ready:
		return []string{"started"}
	}
	return []string{"started", "unready"}
}

// spread gives declared lines their times: the last at the end of the container's life or, if it lives, at the
// moment of the preparation, and none before its beginning.
func (o output) spread(texts []string, one run) []line {
	count := time.Duration(len(texts))
	first, gap := one.started, min(laterGap, laterSpan/max(count, 1))
	if later := !one.over && one.started.After(o.Until); !later {
		end := o.Until
		if one.over {
			end = one.ended.Add(lastSecond)
		}
		gap = min(usualGap, end.Sub(one.started)/max(count, 1))
		first = end.Add(-gap * (count - 1))
	}
	lines := make([]line, len(texts))
	for i, text := range texts {
		at := first.Add(gap * time.Duration(i))
		if gap > time.Millisecond {
			at = jittered(at, one.id+strconv.Itoa(i))
		}
		lines[i] = line{at, text}
	}
	return lines
}

// jittered moves a time by less than a millisecond, always in the same way, since no clock stands at zeros.
func jittered(at time.Time, seed string) time.Time {
	sum := digest(seed + at.String())
	return at.Add(time.Duration(binary.BigEndian.Uint32(sum[:4]) % 999_983))
}

// answer gives what a command prints, nil where the container has no such program. A program of which only other
// arguments are declared finds nothing by these.
func (o output) answer(p *pod, container string, command []string) *canned {
	var best *canned
	rank, known := 0, false
	for i, one := range o.Commands {
		this := one.rank(p, container)
		known = known || (this > 0 && len(command) > 0 && slices.Index(one.Command, command[0]) == 0)
		if this > rank && slices.Equal(one.Command, command) {
			best, rank = &o.Commands[i], this
		}
	}
	switch {
	case best == nil && known:
		text := fmt.Sprintf("%s: %s: No such file or directory\n", command[0], command[len(command)-1])
		return &canned{Stderr: text, ExitCode: 1, unknown: true}
	case best == nil || best.Subject != "":
		return best
	}
	usual := *best
	usual.Stdout = filled(usual.Stdout, p, container, run{})
	return &usual
}

// filled puts what belongs to the container into a usual text.
func filled(text string, p *pod, container string, one run) string {
	return strings.NewReplacer(
		"<container>", container, "<pod>", p.Metadata.Name, "<image>", p.image(container),
		"<port>", strconv.Itoa(p.port(container)), "<code>", strconv.Itoa(one.code),
		"<now>", time.Now().UTC().Format(time.UnixDate),
	).Replace(text)
}

// sandbox gives an identifier such as a runtime has for a pod.
func (p *pod) sandbox() string {
	return fmt.Sprintf("%x", digest("sandbox/"+p.Metadata.UID))
}
