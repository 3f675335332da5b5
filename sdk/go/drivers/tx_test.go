package drivers

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
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

// ---- options

// option names, for a field of JobOptions and StartOptions, a value that is not the default.
func jobOptions() map[string]*cairn.JobOptions {
	priority := int32(7)
	return map[string]*cairn.JobOptions{
		"Key": {Key: "k"}, "Priority": {Priority: &priority}, "MaxAttempts": {MaxAttempts: 9}, "At": {At: later},
		"Delay": {Delay: time.Hour}, "Metadata": {Metadata: map[string]any{"tenant": "é"}}, "Tags": {Tags: map[string]string{"a": "b"}},
		"Timeout": {Timeout: time.Minute}, "Retry": {Retry: &cairn.Backoff{Kind: "linear", Base: 2 * time.Second, Max: time.Hour, Jitter: 0.5}},
		"Group": {Group: "ann"}, "OnExisting": {Key: "x", OnExisting: cairn.FailIfExisting}, "Debounce": {Key: "x", Debounce: time.Second}}
}

func startOptions() map[string]*cairn.StartOptions {
	return map[string]*cairn.StartOptions{
		"Version": {Version: 1}, "Key": {Key: "k"}, "At": {At: later}, "Delay": {Delay: time.Hour}, "Group": {Group: "ann"},
		"Metadata": {Metadata: map[string]any{"tenant": "é"}}, "Tags": {Tags: map[string]string{"a": "b"}},
		"OnExisting": {Key: "x", OnExisting: cairn.FailIfExisting}}
}

var later = time.Date(2100, 1, 1, 12, 0, 0, 123000000, time.UTC)

// needsEngine are the options that a transaction refuses.
var needsEngine = map[string]bool{"OnExisting": true, "Debounce": true}

// row is a job or an instance without what differs between any two.
func row(t *testing.T, value any) map[string]any {
	t.Helper()
	text := must[[]byte](t)(json.Marshal(value))
	found := map[string]any{}
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "key", "idempotency_key", "created_at", "updated_at", "started_at", "why"} {
		delete(found, name)
	}
	for _, name := range []string{"run_at", "start_at"} {
		if at, err := time.Parse(time.RFC3339, fmt.Sprint(found[name])); err == nil && !at.Equal(later) {
			found[name] = time.Until(at).Round(time.Hour).String()
		}
	}
	return found
}

// fields are the names of a struct's fields, each of which the table must have.
func checkFields(t *testing.T, options any, has func(name string) bool) {
	t.Helper()
	kind := reflect.TypeOf(options)
	for i := 0; i < kind.NumField(); i++ {
		if !has(kind.Field(i).Name) {
			t.Errorf("%s.%s is not tried", kind.Name(), kind.Field(i).Name)
		}
	}
}

func TestATransactionTakesTheOptionsOfTheEngine(t *testing.T) {
	engine, tx := reflect.TypeFor[*cairn.Engine](), reflect.TypeFor[*cairn.Tx]()
	for _, name := range []string{"Enqueue", "Start"} {
		ofEngine, _ := engine.MethodByName(name)
		ofTx, _ := tx.MethodByName(name)
		if ofEngine.Type.NumIn() != ofTx.Type.NumIn() {
			t.Fatal(name, ofEngine.Type, ofTx.Type)
		}
		for i := 1; i < ofTx.Type.NumIn(); i++ { // 0 is the receiver
			if ofEngine.Type.In(i) != ofTx.Type.In(i) {
				t.Error(name, ofEngine.Type.In(i), ofTx.Type.In(i))
			}
		}
	}
	jobs, starts := jobOptions(), startOptions()
	checkFields(t, cairn.JobOptions{}, func(name string) bool { return jobs[name] != nil })
	checkFields(t, cairn.StartOptions{}, func(name string) bool { return starts[name] != nil })
	onEach(t, func(t *testing.T, db *database) {
		ctx := context.Background()
		tx, finish := db.begin(t)
		jobIDs, startIDs := map[string]string{}, map[string]string{}
		for name, options := range jobs {
			id, err := tx.Enqueue(ctx, "a.v1", 1, options)
			if needsEngine[name] != errors.Is(err, cairn.ErrBadInput) || err != nil && !needsEngine[name] {
				t.Error(name, err)
			}
			jobIDs[name] = id.ID
		}
		for name, options := range starts {
			id, err := tx.Start(ctx, "order", 1, options)
			if needsEngine[name] != errors.Is(err, cairn.ErrBadInput) || err != nil && !needsEngine[name] {
				t.Error(name, err)
			}
			startIDs[name] = id.ID
		}
		if err := finish(true); err != nil {
			t.Fatal(err)
		}
		db.close()
		engine := must[*cairn.Engine](t)(cairn.Open(ctx, cairn.Config{URL: db.url}))
		defer engine.Close()
		compareJobs(t, engine, jobs, jobIDs)
		compareStarts(t, engine, starts, startIDs)
	})
}

func compareJobs(t *testing.T, engine *cairn.Engine, options map[string]*cairn.JobOptions, ids map[string]string) {
	ctx := context.Background()
	for name, o := range options {
		if needsEngine[name] {
			continue
		}
		made := must[*cairn.Job](t)(cairn.JobOf[any](engine, ids[name]).Get(ctx))
		if name == "Key" && made.Key != "k" {
			t.Error("the key is", made.Key)
		}
		own := *o
		own.Key = ""
		same := must[*cairn.JobHandle[json.RawMessage]](t)(engine.Enqueue(ctx, "a.v1", 1, &own))
		if got, want := row(t, made), row(t, must[*cairn.Job](t)(same.Get(ctx))); !reflect.DeepEqual(got, want) {
			t.Error(name, got, want)
		}
	}
}

func compareStarts(t *testing.T, engine *cairn.Engine, options map[string]*cairn.StartOptions, ids map[string]string) {
	ctx := context.Background()
	for name, o := range options {
		if needsEngine[name] {
			continue
		}
		made := must[*cairn.Instance](t)(cairn.InstanceOf[any](engine, ids[name]).Get(ctx))
		if name == "Key" && made.Key != "k" {
			t.Error("the key is", made.Key)
		}
		own := *o
		own.Key = ""
		same := must[*cairn.InstanceHandle[json.RawMessage]](t)(engine.Start(ctx, "order", 1, &own))
		if got, want := row(t, made), row(t, must[*cairn.Instance](t)(same.Get(ctx))); !reflect.DeepEqual(got, want) {
			t.Error(name, got, want)
		}
	}
}

// ---- functions

func TestAFunctionIsDeployedWithTheTransactionThatStartsIt(t *testing.T) {
	onEach(t, func(t *testing.T, db *database) {
		ctx, app, name := context.Background(), cairn.NewApp(), "buy \"é\"<&>\u2028"
		buy := cairn.NewFunction[int, int](name, 2, &cairn.FunctionOptions{DLQ: true, MaxAttempts: 5}).Handle(app,
			func(c *cairn.Context, n int) (int, error) { return n + 1, nil })
		other := cairn.NewFunction[int, int](name, 2, nil)
		tx, finish := db.begin(t)
		first := must[cairn.TxID](t)(buy.StartTx(ctx, tx, 1, nil))
		second := must[cairn.TxID](t)(buy.StartTx(ctx, tx, 2, &cairn.StartOptions{Version: 2, Key: "k"}))
		if err := finish(true); err != nil {
			t.Fatal(err)
		}
		for want, start := range map[error]func(tx *cairn.Tx) (cairn.TxID, error){
			cairn.ErrMisuse: func(tx *cairn.Tx) (cairn.TxID, error) { return other.StartTx(ctx, tx, 1, nil) },
			cairn.ErrNotFound: func(tx *cairn.Tx) (cairn.TxID, error) {
				return buy.StartTx(ctx, tx, 1, &cairn.StartOptions{Version: 7})
			},
			cairn.ErrBadInput: func(tx *cairn.Tx) (cairn.TxID, error) {
				return cairn.NewFunction[int, int]("x~2", 1, nil).StartTx(ctx, tx, 1, nil)
			},
		} {
			tx, finish = db.begin(t)
			if _, err := start(tx); !errors.Is(err, want) {
				t.Error(want, err)
			}
			_ = finish(false)
		}
		db.close()
		engine := must[*cairn.Engine](t)(cairn.Open(ctx, cairn.Config{URL: db.url}))
		defer engine.Close()
		go engine.Work(ctx, app, cairn.WorkerConfig{}) // it deploys the function, too: it is the same
		for id, want := range map[string]int{first.ID: 2, second.ID: 3} {
			if got := must[int](t)(cairn.InstanceOf[int](engine, id).Result(ctx)); got != want {
				t.Error(got, want)
			}
		}
	})
}
