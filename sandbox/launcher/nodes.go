package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"
)

const (
	lookEvery  = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// playNodes keeps the node agent running until the context ends: restarted with new stages when the file is
// replaced, and after a backoff when it dies. The digest of the stages in force stands in kwok/loaded.
func playNodes(ctx context.Context, s settings, failed func(error)) {
	p := player{settings: s}
	defer func() { p.agent.stop(time.Second) }()
	for ; ctx.Err() == nil; pause(ctx, lookEvery) {
		if err := p.look(); err != nil {
			failed(err)
			return
		}
	}
}

// player is the node agent with the stages it was started with.
type player struct {
	settings
	agent   *child
	loaded  os.FileInfo
	backoff time.Duration
	retryAt time.Time
}

// look starts or restarts the agent where there is a reason to.
func (p *player) look() error {
	if p.agent != nil && p.agent.ended() {
		fmt.Fprintln(os.Stderr, p.agent.report())
		p.agent, p.retryAt = nil, time.Now().Add(p.backoff)
		p.backoff = min(2*p.backoff, maxBackoff)
	}
	path := p.run("kwok", "kwok.yaml")
	present, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look for the stages: %w", err)
	}
	changed := p.loaded == nil || !os.SameFile(present, p.loaded) || !present.ModTime().Equal(p.loaded.ModTime())
	if !changed && (p.agent != nil || time.Now().Before(p.retryAt)) {
		return nil
	}
	stages, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the stages: %w", err)
	}
	p.agent.stop(time.Second)
	if p.agent, err = start(p.settings, nodeAgent(p.settings)); err != nil {
		return err
	}
	if changed {
		p.loaded, p.backoff = present, lookEvery
	}
	return announce(p.settings, stages)
}

// announce tells the probe which stages the running node agent was started with.
func announce(s settings, stages []byte) error {
	digest := sha256.Sum256(stages)
	return replaceFile(s.run("kwok", "loaded"), []byte(hex.EncodeToString(digest[:])+"\n"))
}

// replaceFile writes a file so that a reader sees the old or the new text and nothing between.
func replaceFile(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(path+".new", path)
}

func pause(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}
