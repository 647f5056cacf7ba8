module entry

go 1.25.0
