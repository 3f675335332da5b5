module cairn.invalid/cairn/examples

go 1.22

replace cairn.invalid/cairn => ..

require cairn.invalid/cairn v0.0.0

require github.com/mattn/go-sqlite3 v1.14.24
