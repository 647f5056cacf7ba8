package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheSeedIsEtcdsDataWithoutTheUnwrittenPartOfItsLog(t *testing.T) {
	folder := t.TempDir()
	log := append(bytes.Repeat([]byte{7}, page+1), make([]byte, 10*page)...)
	write(t, filepath.Join(folder, "from/member/snap/db"), []byte("database\x00\x00"))
	write(t, filepath.Join(folder, "from/member/wal/0.wal"), log)
	write(t, filepath.Join(folder, "from/member/wal/0.tmp"), log)
	seed, s := filepath.Join(folder, "seed"), settings{dataDir: filepath.Join(folder, "data"), seedDir: filepath.Join(folder, "seed")}
	if err := copyData(filepath.Join(folder, "from/member"), filepath.Join(seed, "member"), trimmed, 0o755, 0o644); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(seed, "member/wal/0.wal"))
	if err != nil || !bytes.Equal(kept, log[:2*page]) {
		t.Errorf("the log has %d bytes, %v", len(kept), err)
	}
	if _, err := os.Stat(filepath.Join(seed, "member/wal/0.tmp")); err == nil {
		t.Error("a file that holds nothing was kept")
	}
	if err := plantSeed(s); err != nil {
		t.Fatal(err)
	}
	planted, err := os.ReadFile(s.data("etcd", "member/wal/0.wal"))
	if err != nil || len(planted) != logSegment || !bytes.Equal(planted[:2*page], kept) || len(bytes.TrimRight(planted, "\x00")) != page+1 {
		t.Errorf("the planted log has %d bytes, %v", len(planted), err)
	}
	database, err := os.ReadFile(s.data("etcd", "member/snap/db"))
	if err != nil || string(database) != "database\x00\x00" {
		t.Errorf("the planted database is %q, %v", database, err)
	}
}

func TestASeedIsPlantedOnlyWhereThereIsNoData(t *testing.T) {
	folder := t.TempDir()
	s := settings{dataDir: folder, seedDir: filepath.Join(folder, "seed")}
	if err := plantSeed(s); err != nil {
		t.Errorf("no seed: %v", err)
	}
	write(t, filepath.Join(s.seedDir, "member/snap/db"), []byte("seed"))
	write(t, s.data("etcd", "member/snap/db"), []byte("an earlier start"))
	if err := plantSeed(s); err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(s.data("etcd", "member/snap/db")); string(kept) != "an earlier start" {
		t.Errorf("the data became %q", kept)
	}
}
