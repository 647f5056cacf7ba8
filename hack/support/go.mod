module oasis-operator.dev/hack/support

go 1.24.0
