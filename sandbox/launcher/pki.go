package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// validity outlives any run and the time for which its cluster waited to be claimed; the authority itself is made
// for one run and thrown away with it.
const validity = 7 * 24 * time.Hour

// serviceIP is what the Service "kubernetes" gets in serviceRange.
const (
	serviceIP    = "10.96.0.1"
	serviceRange = "10.96.0.0/16"
	podRange     = "10.244.0.0/16"
)

// authority issues the certificates of one nested cluster.
type authority struct {
	certificate *x509.Certificate
	key         any
	pem         []byte
}

// client is an identity that speaks to the API server.
type client struct {
	name   string // file name
	user   string
	groups []string
}

// The scheduler has the role that the API server creates for it. That role of the controller manager covers only
// a controller manager that uses an account per controller, which costs requests and memory here.
var clients = []client{
	{name: "controller-manager", user: "system:kube-controller-manager", groups: []string{"system:masters"}},
	{name: "scheduler", user: "system:kube-scheduler"},
	{name: "kubelet", user: "system:kubelet", groups: []string{"system:masters"}},
	{name: "admin", user: "kubernetes-admin", groups: []string{"system:masters"}},
}

func readAuthority(s settings) (*authority, error) {
	bundle, err := os.ReadFile(s.pki("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the cluster authority: %w", err)
	}
	keyText, err := os.ReadFile(s.pki("ca.key"))
	if err != nil {
		return nil, fmt.Errorf("read the cluster authority: %w", err)
	}
	certificateBlock, _ := pem.Decode(bundle)
	keyBlock, _ := pem.Decode(keyText)
	if certificateBlock == nil || keyBlock == nil {
		return nil, errors.New("read the cluster authority: ca.crt or ca.key is not PEM")
	}
	certificate, err := x509.ParseCertificate(certificateBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read ca.crt: %w", err)
	}
	key, err := parseKey(keyBlock)
	if err != nil {
		return nil, fmt.Errorf("read ca.key: %w", err)
	}
	return &authority{certificate: certificate, key: key, pem: bundle}, nil
}

func parseKey(block *pem.Block) (any, error) {
	if block.Type == "EC PRIVATE KEY" {
		return x509.ParseECPrivateKey(block.Bytes)
	}
	return x509.ParsePKCS8PrivateKey(block.Bytes)
}

// issueAll writes every certificate, key and kubeconfig that the cluster needs.
func (a *authority) issueAll(s settings) error {
	if err := a.issueServing(s); err != nil {
		return err
	}
	// The API server does not verify whom it talks to on a node, but it insists on TLS.
	node := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:node", Organization: []string{"system:nodes"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if err := a.issue(node, s.data("pki", "node.crt"), s.data("pki", "node.key")); err != nil {
		return err
	}
	for _, c := range clients {
		if err := a.issueClient(s, c); err != nil {
			return err
		}
	}
	return writeServiceAccountKey(s)
}

func (a *authority) issueServing(s settings) error {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost",
		},
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP(serviceIP), s.address},
	}, s.data("pki", "apiserver.crt"), s.data("pki", "apiserver.key"))
}

func (a *authority) issueClient(s settings, c client) error {
	certificate, key := s.data("pki", c.name+".crt"), s.data("pki", c.name+".key")
	if c.name == "admin" {
		certificate, key = s.run("admin", "client.crt"), s.run("admin", "client.key")
		if err := os.WriteFile(s.run("admin", "ca.crt"), a.pem, 0o600); err != nil {
			return fmt.Errorf("write ca.crt: %w", err)
		}
	}
	err := a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: c.user, Organization: c.groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, certificate, key)
	if err != nil {
		return err
	}
	return writeKubeconfig(s, c.name, certificate, key)
}

func (a *authority) issue(template *x509.Certificate, certificatePath, keyPath string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("make a serial number: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-5 * time.Minute)
	template.NotAfter = time.Now().Add(validity)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("issue %s: %w", template.Subject.CommonName, err)
	}
	if err := writePEM(certificatePath, "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(keyPath, key)
}

// writeServiceAccountKey makes the key pair that signs service account tokens.
func writeServiceAccountKey(s settings) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the service account key: %w", err)
	}
	return writeKey(s.data("pki", "sa.key"), key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeKubeconfig writes JSON, which every reader of kubeconfig files takes as YAML.
func writeKubeconfig(s settings, name, certificate, key string) error {
	type object = map[string]any
	text, err := json.Marshal(object{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": "cluster",
		"clusters":        []object{{"name": "cluster", "cluster": object{"server": s.server(), "certificate-authority": s.pki("ca.crt")}}},
		"users":           []object{{"name": name, "user": object{"client-certificate": certificate, "client-key": key}}},
		"contexts":        []object{{"name": "cluster", "context": object{"cluster": "cluster", "user": name}}},
	})
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return os.WriteFile(s.data("kubeconfig", name), text, 0o600)
}
