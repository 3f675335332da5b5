module shop-worker

go 1.22

require (
	cairn.invalid/cairn v0.0.0
	github.com/jackc/pgx/v5 v5.6.0
)

replace cairn.invalid/cairn => ../../../sdk/go
