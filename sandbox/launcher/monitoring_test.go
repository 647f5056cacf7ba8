package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOnlyWhatListensIsStarted(t *testing.T) {
	folder := t.TempDir()
	s := settings{runDir: folder, dataDir: folder, toolsListen: "127.0.0.9"}
	if _, err := monitoringPrograms(s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	for text, want := range map[string]string{
		`{"listen": {"loki": {"port": 3100}}}`:                               "launcher",
		`{"listen": {"loki": {"port": 3100}, "prometheus": {"port": 9090}}}`: "launcher prometheus",
	} {
		write(t, s.monitoring("state.json"), []byte(text))
		programs, err := monitoringPrograms(s)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range programs {
			names = append(names, one.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", text, got)
		}
		if environment := strings.Join(programs[0].env, " "); !strings.Contains(environment, "CLUSTER_TOOLS_LISTEN=127.0.0.9") {
			t.Errorf("%s", environment)
		}
	}
}

func TestAToolThatEndsIsStartedAgain(t *testing.T) {
	folder := t.TempDir()
	s := settings{binDir: folder, dataDir: folder, runDir: folder}
	script := "#!/bin/sh\necho x >> " + filepath.Join(folder, "starts") + "\n"
	if err := os.WriteFile(s.bin("tool"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		keep(ctx, s, component{name: "tool"})
	}()
	deadline := time.Now().Add(10 * time.Second)
	for {
		if text, _ := os.ReadFile(filepath.Join(folder, "starts")); strings.Count(string(text), "x") >= 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it was not started three times")
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	<-done
}

func TestWhatAnEarlierBootSaidOfToolsIsGone(t *testing.T) {
	folder := t.TempDir()
	s := settings{runDir: filepath.Join(folder, "run"), dataDir: filepath.Join(folder, "data")}
	for _, name := range []string{"state.json", "ready"} {
		write(t, s.monitoring(name), []byte("{}"))
	}
	write(t, s.run("reads.log"), []byte("{}"))
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.monitoring("state.json"), s.monitoring("ready"), s.run("reads.log")} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
