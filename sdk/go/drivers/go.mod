module cairn.invalid/cairn/drivers

go 1.22

replace cairn.invalid/cairn => ..

require (
	cairn.invalid/cairn v0.0.0
	github.com/jackc/pgx/v5 v5.7.1
	github.com/lib/pq v1.10.9
	github.com/mattn/go-sqlite3 v1.14.24
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.2 // indirect
	golang.org/x/crypto v0.27.0 // indirect
	golang.org/x/sync v0.8.0 // indirect
	golang.org/x/text v0.18.0 // indirect
)
