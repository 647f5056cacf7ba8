package kubelet

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

const (
	usualPatience   = 10 * time.Second // of a call for which none is given
	longestPatience = 2 * time.Minute
	answered        = "OK\n"
)

// call is a program that opens a connection, as far as it is understood. Nothing is run and nothing connects: how it
// would end follows from the objects of the cluster, its NetworkPolicies among them.
type call struct {
	program  string
	host     string
	port     int32
	patience time.Duration
	quiet    bool   // nothing but what was asked for is told
	discard  bool   // what comes is not shown
	head     bool   // the head of the answer is shown
	format   string // what is told of the answer afterwards
	given    bool   // whether a patience was given
}

// valued are the options that take a value, by program.
var valued = map[string]string{
	"curl": "-m --max-time --connect-timeout -o --output -w --write-out -X --request -H --header -d --data -u --user -A --user-agent --retry -e -b -T",
	"wget": "-T --timeout -t --tries -O --output-document --header -U",
	"nc":   "-w -i -p -s",
}

// parseCall reads a command line; nil where it is no such program, or calls nobody.
func parseCall(command []string) *call {
	if len(command) == 0 {
		return nil
	}
	program := path.Base(command[0])
	takes, known := valued[program]
	if !known {
		return nil
	}
	found := &call{program: program, patience: usualPatience}
	var words []string
	for rest := command[1:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		name, value, joined := strings.Cut(word, "=")
		switch {
		case !strings.HasPrefix(word, "-") || word == "-":
			words = append(words, word)
		case joined && strings.HasPrefix(word, "--"):
			found.option(name, value)
		case contained(takes, word) && len(rest) > 1:
			found.option(word, rest[1])
			rest = rest[1:]
		default:
			found.flags(word)
		}
	}
	if !found.target(words) {
		return nil
	}
	return found
}

func contained(words, word string) bool {
	for _, one := range strings.Fields(words) {
		if one == word {
			return true
		}
	}
	return false
}

func (c *call) option(name, value string) {
	switch name {
	case "-m", "--max-time", "--connect-timeout", "-T", "--timeout":
		c.wait(value)
	case "-w", "--write-out":
		if c.program == "nc" {
			c.wait(value)
		} else {
			c.format = value
		}
	case "-o", "--output", "-O", "--output-document":
		c.discard = value != "-"
	}
}

func (c *call) wait(value string) {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		c.patience, c.given = min(time.Duration(seconds*float64(time.Second)), longestPatience), true
	}
}

// flags reads options without a value, several letters in one word among them; the last may have its value joined.
func (c *call) flags(word string) {
	switch word {
	case "--silent", "--quiet":
		c.quiet = true
	case "--head", "--include":
		c.head = true
	case "--spider":
		c.discard = true
	}
	if strings.HasPrefix(word, "--") {
		return
	}
	for at, letter := range word[1:] {
		switch rest := word[1+at+1:]; {
		case letter == 's' || letter == 'q':
			c.quiet = true
		case letter == 'I' || letter == 'i':
			c.head = true
		case letter == 'z':
			c.discard = true
		case letter == 'O' && c.program == "wget":
			c.discard = rest != "-"
			return
		case (letter == 'm' && c.program == "curl" || letter == 'T' && c.program == "wget" || letter == 'w' && c.program == "nc") && rest != "":
			c.wait(rest)
			return
		}
	}
}

// target finds out who is called.
func (c *call) target(words []string) bool {
	if c.program == "nc" {
		if len(words) < 2 {
			return false
		}
		port, err := strconv.ParseUint(words[1], 10, 16)
		c.host, c.port = words[0], int32(port)
		return err == nil
	}
	if len(words) == 0 {
		return false
	}
	place := words[0]
	if !strings.Contains(place, "://") {
		place = "http://" + place
	}
	parsed, err := url.Parse(place)
	if err != nil || parsed.Hostname() == "" {
		return false
	}
	c.host, c.port = parsed.Hostname(), 80
	if parsed.Scheme == "https" {
		c.port = 443
	}
	if text := parsed.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return false
		}
		c.port = int32(port)
	}
	return true
}

// end tells how a call of a pod ends, once it has: what nobody answers takes as long as it would.
func (c *call) end(ctx context.Context, n *network, namespace, pod string) *canned {
	how, address := n.connect(namespace, pod, c.host, c.port)
	if how == silent {
		select {
		case <-time.After(c.patience):
		case <-ctx.Done():
		}
	}
	switch c.program {
	case "curl":
		return c.curl(how)
	case "wget":
		return c.wget(how, address)
	}
	return c.netcat(how, address)
}

func (c *call) curl(how outcome) *canned {
	after := c.patience.Milliseconds()
	told := map[outcome]canned{
		unknown: {Stderr: fmt.Sprintf("curl: (6) Could not resolve host: %s\n", c.host), ExitCode: 6},
		refused: {Stderr: fmt.Sprintf("curl: (7) Failed to connect to %s port %d after 1 ms: Couldn't connect to server\n", c.host, c.port), ExitCode: 7},
		silent:  {Stderr: fmt.Sprintf("curl: (28) Connection timed out after %d milliseconds\n", after+1), ExitCode: 28},
	}
	if one, failed := told[how]; failed {
		if c.quiet {
			one.Stderr = ""
		}
		one.Stdout = c.written("000")
		return &one
	}
	text := ""
	if c.head {
		text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n"
	} else if !c.discard {
		text = answered
	}
	return &canned{Stdout: text + c.written("200")}
}

func (c *call) written(code string) string {
	return strings.NewReplacer("%{http_code}", code, "%{response_code}", code, `\n`, "\n").Replace(c.format)
}

func (c *call) wget(how outcome, address string) *canned {
	place := net.JoinHostPort(address, strconv.Itoa(int(c.port)))
	intro := fmt.Sprintf("Connecting to %s (%s)\n", net.JoinHostPort(c.host, strconv.Itoa(int(c.port))), place)
	if c.quiet {
		intro = ""
	}
	switch how {
	case unknown:
		return &canned{Stderr: fmt.Sprintf("wget: bad address '%s'\n", c.host), ExitCode: 1}
	case refused:
		return &canned{Stderr: intro + fmt.Sprintf("wget: can't connect to remote host (%s): Connection refused\n", address), ExitCode: 1}
	case silent:
		return &canned{Stderr: intro + "wget: download timed out\n", ExitCode: 1}
	}
	if c.discard {
		return &canned{Stderr: intro}
	}
	return &canned{Stdout: answered, Stderr: intro}
}

func (c *call) netcat(how outcome, address string) *canned {
	switch how {
	case unknown:
		return &canned{Stderr: fmt.Sprintf("nc: bad address '%s'\n", c.host), ExitCode: 1}
	case refused:
		return &canned{Stderr: fmt.Sprintf("nc: %s (%s:%d): Connection refused\n", c.host, address, c.port), ExitCode: 1}
	case silent:
		return &canned{Stderr: fmt.Sprintf("nc: %s (%s:%d): Operation timed out\n", c.host, address, c.port), ExitCode: 1}
	}
	return &canned{Stderr: fmt.Sprintf("%s (%s:%d) open\n", c.host, address, c.port)}
}
