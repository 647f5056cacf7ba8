module oasis-operator.dev/hack/binaries/kwok

go 1.24.0

require sigs.k8s.io/kwok v0.8.0
