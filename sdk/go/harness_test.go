package cairn_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

// scripts/test-go sets what is needed:
//
//	CAIRN_PROGRAM        the program cairn, for a server
//	CAIRN_TEST_POSTGRES  a database that may create others
//	CAIRN_TEST_TEMPLATE  one with Cairn's tables, to be copied
//
// Tests of what is not there are skipped; scripts/test-go counts a skipped test as failed.

var background = context.Background()

// CAIRN_TEST_LOG=1 shows what the engines log.
var quiet = slog.New(slog.NewTextHandler(logWriter(), nil))

func logWriter() io.Writer {
	if os.Getenv("CAIRN_TEST_LOG") != "" {
		return os.Stderr
	}
	return io.Discard
}

func unique() string {
	var b [6]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func psql(statement string) error {
	out, err := exec.Command("psql", "-Xq", "-d", os.Getenv("CAIRN_TEST_POSTGRES"), "-c", statement).CombinedOutput()
	if err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

// shared stores of this test process.
var shared struct {
	sync.Mutex
	postgres, http string
	cleanups       []func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(shared.cleanups) - 1; i >= 0; i-- {
		shared.cleanups[i]()
	}
	os.Exit(code)
}

func postgresURL(t *testing.T) string {
	t.Helper()
	server := os.Getenv("CAIRN_TEST_POSTGRES")
	if server == "" {
		t.Skip("CAIRN_TEST_POSTGRES is not set")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.postgres == "" {
		name, template := "go_"+unique(), os.Getenv("CAIRN_TEST_TEMPLATE")
		if template == "" {
			template = "template0"
		}
		if err := psql("CREATE DATABASE " + name + " TEMPLATE " + template); err != nil {
			t.Fatal(err)
		}
		shared.cleanups = append(shared.cleanups, func() { _ = psql("DROP DATABASE " + name + " WITH (FORCE)") })
		shared.postgres = server[:strings.LastIndex(server, "/")+1] + name
	}
	return shared.postgres
}

func httpURL(t *testing.T) string {
	t.Helper()
	program := os.Getenv("CAIRN_PROGRAM")
	if program == "" {
		t.Skip("CAIRN_PROGRAM is not set")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.http == "" {
		folder, err := os.MkdirTemp("", "cairn-go")
		if err != nil {
			t.Fatal(err)
		}
		url, stop, err := serve(program, "--url", "sqlite:"+filepath.Join(folder, "cairn.db"))
		if err != nil {
			t.Fatal(err)
		}
		shared.http = url
		shared.cleanups = append(shared.cleanups, func() { stop(); os.RemoveAll(folder) })
	}
	return shared.http
}

// serve starts a server on any free port.
func serve(program string, options ...string) (url string, stop func(), err error) {
	command := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0"}, options...)...)
	output, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if url = regexp.MustCompile(`http://[0-9.]+:\d+`).FindString(lines.Text()); url != "" {
			go io.Copy(io.Discard, output)
			return url, stop, nil
		}
	}
	stop()
	return "", nil, fmt.Errorf("the server did not start")
}

func open(t *testing.T, config cairn.Config) *cairn.Engine {
	t.Helper()
	if config.Logger == nil {
		config.Logger = quiet
	}
	db, err := cairn.Open(background, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// onEach runs a test on every kind of store; without cgo, on a server.
func onEach(t *testing.T, test func(t *testing.T, db *cairn.Engine)) {
	kinds := []string{"memory", "sqlite", "postgres", "http"}
	if cairn.LibraryVersion() == "" {
		kinds = []string{"http"}
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			test(t, open(t, cairn.Config{URL: urlOf(t, kind)}))
		})
	}
}

func urlOf(t *testing.T, kind string) string {
	switch kind {
	case "sqlite":
		return "sqlite:" + filepath.Join(t.TempDir(), "cairn.db")
	case "postgres":
		return postgresURL(t)
	case "http":
		return httpURL(t)
	}
	return "memory:"
}

// anyStore is one store that this build can open.
func anyStore(t *testing.T) *cairn.Engine {
	t.Helper()
	if cairn.LibraryVersion() == "" {
		return open(t, cairn.Config{URL: httpURL(t)})
	}
	return open(t, cairn.Config{URL: "memory:"})
}

// work executes everything that is there.
func work(t *testing.T, db *cairn.Engine, app *cairn.App) int {
	t.Helper()
	n, err := db.Work(background, app, cairn.WorkerConfig{UntilIdle: true, Look: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// start runs a worker until the test ends or stop is called, which returns how many tasks it executed.
func start(t *testing.T, db *cairn.Engine, app *cairn.App, config cairn.WorkerConfig) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(background)
	if config.Look == 0 {
		config.Look = 50 * time.Millisecond
	}
	done := make(chan int, 1)
	go func() {
		n, err := db.Work(ctx, app, config)
		if err != nil {
			t.Error(err)
		}
		done <- n
	}()
	var once sync.Once
	n := 0
	stop = func() int {
		once.Do(func() { cancel(); n = <-done })
		return n
	}
	t.Cleanup(func() { stop() })
	return stop
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
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

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// collect gathers the rows of a list.
func collect[T any](t *testing.T, list func(yield func(*T, error) bool)) []*T {
	t.Helper()
	var rows []*T
	list(func(row *T, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
		return true
	})
	return rows
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }
