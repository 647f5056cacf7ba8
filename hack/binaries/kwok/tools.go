//go:build tools

// Package tools pins kwok, which does not compile against the Kubernetes version of the cluster module.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
