module oasis-operator.dev/hack/binaries/helm

go 1.24.0

require helm.sh/helm/v4 v4.3.2
