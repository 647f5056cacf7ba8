package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The seed is etcd's data after the first start of an API server that nobody spoke to: the roles, priorities and
// namespaces that every cluster has and that take a fifth of a start to make. It is made when the image is, and
// holds neither keys nor anything of the cluster that it comes from but the certificate of an authority whose
// key was thrown away, in a list from which the next API server takes what has expired.

const (
	seedValidity = time.Minute
	// etcd allocates its log in segments; the seed holds what is written of the first, up to a whole page.
	logSegment = 64 * 1000 * 1000
	page       = 4096
)

// makeSeed boots etcd and an API server in a folder of their own and keeps etcd's data.
func makeSeed(ctx context.Context, s settings, target string) error {
	folder, err := os.MkdirTemp(filepath.Dir(filepath.Clean(target)), "making-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder)
	s.runDir, s.dataDir, s.pkiDir = filepath.Join(folder, "run"), filepath.Join(folder, "data"), filepath.Join(folder, "pki")
	s.listen, s.address = "127.0.0.1", net.IPv4(127, 0, 0, 1)
	if s.port, err = freePort(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cluster := &cluster{settings: s, fail: cancel, newborn: true}
	err = errors.Join(writeAuthority(s), s.makeFolders())
	if err == nil {
		err = cluster.bootServer(ctx)
	}
	err = first(ctx, err)
	cancel(nil)
	cluster.stop()
	if err != nil {
		return err
	}
	return copyData(filepath.Join(s.data("etcd"), "member"), filepath.Join(target, "member"), trimmed, 0o755, 0o644)
}

// freePort gives a port that nobody listens on, since the network may be the builder's own.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// plantSeed gives etcd the seed, if there is one and etcd has no data yet.
func plantSeed(s settings) error {
	if _, err := os.Stat(s.data("etcd", "member")); err == nil {
		return nil
	}
	if _, err := os.Stat(s.seedDir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return copyData(filepath.Join(s.seedDir, "member"), s.data("etcd", "member"), whole, 0o700, 0o600)
}

// writeAuthority makes the authority of the cluster that the seed comes from.
func writeAuthority(s settings) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"},
		NotBefore: time.Now().Add(-seedValidity), NotAfter: time.Now().Add(seedValidity),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("make the authority: %w", err)
	}
	if err := os.MkdirAll(s.pkiDir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return errors.Join(writePEM(s.pki("ca.crt"), "CERTIFICATE", der), writeKey(s.pki("ca.key"), key))
}

// copyData copies etcd's database and the log before it, which needs another length on each side.
func copyData(from, to string, resized func([]byte) ([]byte, int64), folder, file fs.FileMode) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("copy etcd's data: %w", err)
		}
		place := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			return os.MkdirAll(place, folder)
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.HasSuffix(path, ".tmp") {
			return err
		}
		length := int64(len(text))
		if strings.HasSuffix(path, ".wal") {
			text, length = resized(text)
		}
		if err := os.WriteFile(place, text, file); err != nil {
			return err
		}
		return os.Truncate(place, length)
	})
}

func trimmed(log []byte) ([]byte, int64) {
	length := min((len(bytes.TrimRight(log, "\x00"))/page+1)*page, len(log))
	return log[:length], int64(length)
}

func whole(log []byte) ([]byte, int64) { return log, logSegment }
