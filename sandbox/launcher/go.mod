module oasis-operator.dev/sandbox/launcher

go 1.24.0
