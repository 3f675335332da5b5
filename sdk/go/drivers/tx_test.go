package drivers

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn.invalid/cairn"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
)

// A database that the application and Cairn share, and a way to begin a transaction in it.
type database struct {
	url   string
	begin func(t *testing.T) (tx *cairn.Tx, finish func(commit bool) error)
	close func()
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func finishSQL(tx *sql.Tx) func(bool) error {
	return func(commit bool) error {
		if commit {
			return tx.Commit()
		}
		return tx.Rollback()
	}
}

func openSQL(t *testing.T, driver, source, url string, wrap func(*sql.Tx) *cairn.Tx) *database {
	t.Helper()
	db := must[*sql.DB](t)(sql.Open(driver, source))
	return &database{url: url, close: func() { _ = db.Close() }, begin: func(t *testing.T) (*cairn.Tx, func(bool) error) {
		tx := must[*sql.Tx](t)(db.Begin())
		return wrap(tx), finishSQL(tx)
	}}
}

func postgres(t *testing.T) string {
	t.Helper()
	server := os.Getenv("CAIRN_TEST_POSTGRES")
	if server == "" {
		t.Skip("CAIRN_TEST_POSTGRES is not set")
	}
	template, name := os.Getenv("CAIRN_TEST_TEMPLATE"), strings.ToLower("drivers_"+strings.NewReplacer("/", "_").Replace(t.Name()))
	if template == "" {
		template = "template0"
	}
	psql := func(statement string) {
		if out, err := exec.Command("psql", "-Xq", "-d", server, "-c", statement).CombinedOutput(); err != nil {
			t.Fatalf("psql: %v: %s", err, out)
		}
	}
	psql("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)")
	psql("CREATE DATABASE " + name + " TEMPLATE " + template)
	t.Cleanup(func() { psql("DROP DATABASE " + name + " WITH (FORCE)") })
	return server[:strings.LastIndex(server, "/")+1] + name
}

// onEach runs a test with every driver, on a store that has the workflow "order".
func onEach(t *testing.T, test func(t *testing.T, db *database)) {
	kinds := map[string]func(t *testing.T) *database{
		"sqlite3": func(t *testing.T) *database {
			file := filepath.Join(t.TempDir(), "shop.db")
			return openSQL(t, "sqlite3", file, "sqlite:"+file, func(tx *sql.Tx) *cairn.Tx { return cairn.TxSQLite(tx) })
		},
		"pgxstdlib": func(t *testing.T) *database {
			url := postgres(t)
			return openSQL(t, "pgx", url, url, func(tx *sql.Tx) *cairn.Tx { return cairn.TxPostgres(tx) })
		},
		"libpq": func(t *testing.T) *database {
			url := postgres(t)
			return openSQL(t, "postgres", url+"?sslmode=disable", url, func(tx *sql.Tx) *cairn.Tx { return cairn.TxPostgres(tx) })
		},
		"pgx": func(t *testing.T) *database {
			ctx, url := context.Background(), postgres(t)
			conn := must[*pgx.Conn](t)(pgx.Connect(ctx, url))
			return &database{url: url, close: func() { _ = conn.Close(ctx) }, begin: func(t *testing.T) (*cairn.Tx, func(bool) error) {
				tx := must[pgx.Tx](t)(conn.Begin(ctx))
				return cairn.TxPgx(tx), func(commit bool) error {
					if commit {
						return tx.Commit(ctx)
					}
					return tx.Rollback(ctx)
				}
			}}
		},
	}
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			t.Cleanup(db.close)
			engine := must[*cairn.Engine](t)(cairn.Open(context.Background(), cairn.Config{URL: db.url}))
			must[*cairn.Deployed](t)(engine.Deploy(context.Background(), cairn.NewWorkflow("order", 1).Step("a", nil)))
			if err := engine.Close(); err != nil {
				t.Fatal(err)
			}
			test(t, db)
		})
	}
}

func app() *cairn.App {
	app := cairn.NewApp()
	cairn.Handle(app, "%", func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	return app
}

func work(t *testing.T, url string) (*cairn.Engine, int) {
	t.Helper()
	engine := must[*cairn.Engine](t)(cairn.Open(context.Background(), cairn.Config{URL: url}))
	t.Cleanup(func() { _ = engine.Close() })
	return engine, must[int](t)(engine.Work(context.Background(), app(), cairn.WorkerConfig{UntilIdle: true}))
}

func TestAJobIsCommittedWithTheTransaction(t *testing.T) {
	onEach(t, func(t *testing.T, db *database) {
		ctx := context.Background()
		var ids []cairn.TxID
		for _, commit := range []bool{true, false} {
			tx, finish := db.begin(t)
			task := cairn.NewTask[int, any]("billing.invoice.v1")
			ids = append(ids, must[cairn.TxID](t)(task.EnqueueTx(ctx, tx, 17, &cairn.JobOptions{Key: map[bool]string{true: "one", false: "two"}[commit]})))
			many := must[[]cairn.TxID](t)(tx.EnqueueMany(ctx, []cairn.JobSpec{
				{Type: "later.v1", Options: &cairn.JobOptions{Delay: time.Hour}},
				{Type: "later.v1", Options: &cairn.JobOptions{At: time.Now().Add(time.Hour), Metadata: map[string]any{"a": 1}}}}))
			if len(many) != 2 || many[0].ID == many[1].ID {
				t.Error(many)
			}
			if err := finish(commit); err != nil {
				t.Fatal(err)
			}
		}
		tx, finish := db.begin(t)
		again := must[cairn.TxID](t)(tx.Enqueue(ctx, "billing.invoice.v1", 18, &cairn.JobOptions{Key: "one"}))
		if !again.Existing || again.ID != ids[0].ID {
			t.Error("the key was not known:", again, ids)
		}
		if err := finish(true); err != nil {
			t.Fatal(err)
		}
		db.close()
		engine, n := work(t, db.url)
		if n != 1 {
			t.Error("executed:", n)
		}
		job := cairn.JobOf[int](engine, ids[0].ID)
		if result := must[int](t)(job.Result(ctx)); result != 17 {
			t.Error(result)
		}
		var events []string
		job.Events(ctx)(func(e *cairn.Event, err error) bool { events = append(events, e.Type); return err == nil })
		if got := strings.Join(events, " "); got != "created leased started succeeded" {
			t.Error(got)
		}
		if _, err := cairn.JobOf[int](engine, ids[1].ID).Get(ctx); !errors.Is(err, cairn.ErrNotFound) {
			t.Error("the job of a transaction that was rolled back:", err)
		}
		later := 0
		engine.Jobs(ctx, cairn.JobFilter{Type: "later.v1"})(func(j *cairn.Job, err error) bool {
			later++
			if err != nil || j.Status != "pending" || j.RunAt.Before(time.Now().Add(50*time.Minute)) {
				t.Error(j, err)
			}
			return err == nil
		})
		if later != 2 {
			t.Error("later:", later)
		}
	})
}

func TestAnInstanceIsStartedWithTheTransaction(t *testing.T) {
	onEach(t, func(t *testing.T, db *database) {
		ctx := context.Background()
		tx, finish := db.begin(t)
		id := must[cairn.TxID](t)(tx.Start(ctx, "order", map[string]int{"n": 17}, &cairn.StartOptions{Key: "order-17", Group: "ann"}))
		if err := finish(true); err != nil {
			t.Fatal(err)
		}
		tx, finish = db.begin(t)
		again := must[cairn.TxID](t)(tx.Start(ctx, "order", nil, &cairn.StartOptions{Key: "order-17"}))
		if !again.Existing || again.ID != id.ID || id.Existing {
			t.Error(id, again)
		}
		if err := finish(true); err != nil {
			t.Fatal(err)
		}
		tx, finish = db.begin(t)
		if _, err := tx.Start(ctx, "unknown", nil, nil); !errors.Is(err, cairn.ErrNotFound) {
			t.Error(err)
		}
		_ = finish(false)
		tx, finish = db.begin(t)
		lost := must[cairn.TxID](t)(tx.Start(ctx, "order", nil, nil))
		if err := finish(false); err != nil {
			t.Fatal(err)
		}
		db.close()
		engine := must[*cairn.Engine](t)(cairn.Open(ctx, cairn.Config{URL: db.url}))
		defer engine.Close()
		worker, stop := context.WithCancel(ctx)
		done := make(chan error)
		go func() {
			_, err := engine.Work(worker, app(), cairn.WorkerConfig{})
			done <- err
		}()
		run := cairn.InstanceOf[map[string]int](engine, id.ID)
		if output := must[map[string]int](t)(run.Result(ctx)); output["n"] != 17 {
			t.Error(output)
		}
		if row := must[*cairn.Instance](t)(run.Get(ctx)); row.Group != "ann" {
			t.Error(row.Group)
		}
		if _, err := cairn.InstanceOf[any](engine, lost.ID).Get(ctx); !errors.Is(err, cairn.ErrNotFound) {
			t.Error(err)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestTwoSQLitesInOneProcessAreRefused(t *testing.T) {
	ctx, file := context.Background(), filepath.Join(t.TempDir(), "shop.db")
	engine := must[*cairn.Engine](t)(cairn.Open(ctx, cairn.Config{URL: "sqlite:" + file}))
	db := must[*sql.DB](t)(sql.Open("sqlite3", filepath.Join(t.TempDir(), "other.db")))
	defer db.Close()
	tx := must[*sql.Tx](t)(db.Begin())
	defer tx.Rollback()
	if _, err := cairn.TxSQLite(tx).Enqueue(ctx, "a", nil, nil); !errors.Is(err, cairn.ErrSchemaOlder) {
		t.Error("a file without tables:", err)
	}
	same := must[*sql.DB](t)(sql.Open("sqlite3", file))
	defer same.Close()
	begun := must[*sql.Tx](t)(same.Begin())
	_, err := cairn.TxSQLite(begun).Enqueue(ctx, "a", nil, nil)
	if !errors.Is(err, cairn.ErrMisuse) || !strings.Contains(err.Error(), "SharedSQLite") {
		t.Error("an open engine:", err)
	}
	_ = begun.Rollback()
	_ = same.Close()
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	reopened := must[*sql.DB](t)(sql.Open("sqlite3", file))
	defer reopened.Close()
	last := must[*sql.Tx](t)(reopened.Begin())
	must[cairn.TxID](t)(cairn.TxSQLite(last).Enqueue(ctx, "a", nil, nil))
	if err := last.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestTablesThatAreTooNewAreNotWrittenTo(t *testing.T) {
	ctx, file := context.Background(), filepath.Join(t.TempDir(), "shop.db")
	if err := must[*cairn.Engine](t)(cairn.Open(ctx, cairn.Config{URL: "sqlite:" + file})).Close(); err != nil {
		t.Fatal(err)
	}
	shop := must[*sql.DB](t)(sql.Open("sqlite3", file))
	defer shop.Close()
	for oldest, want := range map[int]error{1: nil, 1000: cairn.ErrSchemaNewer} {
		must[sql.Result](t)(shop.Exec("UPDATE workflow_migration SET oldest = ?", oldest))
		tx := must[*sql.Tx](t)(shop.BeginTx(ctx, nil))
		if _, err := cairn.TxSQLite(tx).Enqueue(ctx, "a.v1", nil, nil); !errors.Is(err, want) {
			t.Error(oldest, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
