package cairn

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"cairn.invalid/cairn/internal/hook"
)

// Config says how to open an engine. The zero value opens $CAIRN_URL, else sqlite:cairn.db.
type Config struct {
	URL          string        // "": $CAIRN_URL, else sqlite:cairn.db
	Token        string        // of http: URLs; "": $CAIRN_TOKEN. Of https: $CAIRN_CA_FILE names authorities to trust
	Seed         uint64        // source of ids and jitter, for tests; 0: the system's random numbers
	VirtualClock bool          // time stands still until it is advanced; for tests
	Start        time.Time     // of a virtual clock; zero: the present
	NoMigrate    bool          // reject an older schema instead of migrating it
	NoTimers     bool          // due timers are applied only before a claim
	Retry        time.Duration // how long a call waits for a store that cannot be reached; 0: 10 s
	MaxPayload   int           // bytes of a payload or result; 0: 1 MiB
	MaxBatch     int           // jobs in one commit; 0: 1000
	Codec        Codec         // nil: encoding/json
	Logger       *slog.Logger  // nil: slog.Default()
	SharedSQLite bool          // the program's own SQLite driver uses the system's libsqlite3; see TxSQLite

	trial *hook.Trial // of cairntest: calls of handlers go wrong
}

func (c Config) withDefaults() Config {
	if c.URL == "" {
		c.URL = os.Getenv("CAIRN_URL")
	}
	if c.URL == "" {
		c.URL = "sqlite:cairn.db"
	}
	if c.Token == "" {
		c.Token = os.Getenv("CAIRN_TOKEN")
	}
	if c.Retry == 0 {
		c.Retry = 10 * time.Second
	}
	if c.MaxPayload == 0 {
		c.MaxPayload = 1 << 20
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = 1000
	}
	if c.Codec == nil {
		c.Codec = jsonCodec{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

func (c Config) check() error {
	if c.Retry < 0 {
		return newError(ErrBadInput, "Retry is %s; it must not be negative", c.Retry)
	}
	if c.MaxPayload < 0 || c.MaxBatch < 0 {
		return newError(ErrBadInput, "a limit of the configuration is negative")
	}
	return nil
}

// Engine is an open store or a connection to a server. It is safe for concurrent use.
type Engine struct {
	config Config
	link   transport
	file   string // of an SQLite store, its absolute path; else ""

	ctx    context.Context // ends when calls that wait must end
	cancel context.CancelCauseFunc
	work   context.Context // ends when workers must end
	stop   context.CancelFunc

	lock       sync.Mutex
	isStopping bool // no new worker
	isClosed   bool // no new call
	calls      sync.WaitGroup
	workers    sync.WaitGroup
	closed     chan struct{}
	noWait     atomic.Bool   // the server does not know wait_ms
	waits      chan struct{} // one for each call that waits in the engine
	goroutines atomic.Int64  // that the engine has started and that have not ended
}

// Open opens a store or connects to a server.
func Open(ctx context.Context, config Config) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	if err := config.check(); err != nil {
		return nil, err
	}
	link, err := openTransport(ctx, config)
	if err != nil {
		return nil, err
	}
	e := &Engine{config: config, link: link, file: sqliteFile(config.URL), closed: make(chan struct{}), waits: make(chan struct{}, maxWaits)}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.work, e.stop = context.WithCancel(context.Background())
	openFiles.add(e.file, config.SharedSQLite)
	e.watchNotices()
	return e, nil
}

// Close stops the engine's workers as the end of their contexts does, waits for calls under way
// and closes the store. Later calls answer ErrClosed. Closing again does nothing. Handlers must
// not call it.
func (e *Engine) Close() error {
	e.lock.Lock()
	isFirst := !e.isStopping
	e.isStopping = true
	e.lock.Unlock()
	if !isFirst {
		<-e.closed
		return nil
	}
	e.stop()
	e.workers.Wait()

	e.lock.Lock()
	e.isClosed = true
	e.lock.Unlock()
	e.cancel(errClosed())
	untilDone(&e.calls, func() { e.link.wake("") })
	e.link.close()
	openFiles.remove(e.file, e.config.SharedSQLite)
	close(e.closed)
	return nil
}

// untilDone waits for a group and calls wake meanwhile: a call that has just begun to wait would
// miss a single one.
func untilDone(group *sync.WaitGroup, wake func()) {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	for {
		wake()
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func errClosed() error { return newError(ErrClosed, "the engine is closed") }

// enter begins a call; leave ends it.
func (e *Engine) enter() error {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.isClosed {
		return errClosed()
	}
	e.calls.Add(1)
	return nil
}

func (e *Engine) leave() { e.calls.Done() }

// spawn starts a goroutine that must end before Close returns, unless it is a handler that was
// left behind. cairntest counts them.
func (e *Engine) spawn(run func()) {
	e.goroutines.Add(1)
	go func() {
		defer e.goroutines.Add(-1)
		run()
	}()
}

func init() {
	hook.Goroutines = func(engine any) int { return int(engine.(*Engine).goroutines.Load()) }
	hook.OpenTrial = func(config any, trial *hook.Trial) (any, error) {
		c := config.(Config)
		c.trial = trial
		return Open(context.Background(), c)
	}
	hook.Verdict = func(engine any, id string, laws []string) ([]byte, error) {
		e := engine.(*Engine)
		if err := e.enter(); err != nil {
			return nil, err
		}
		defer e.leave()
		link, can := e.link.(interface {
			verdict(id string, laws []string) ([]byte, error)
		})
		if !can {
			return nil, newError(ErrUnsupported, "there are no faults without libcairn: build with cgo")
		}
		return link.verdict(id, laws)
	}
}

// URL returns the URL that was opened, without its password.
func (e *Engine) URL() string { return e.link.url() }

// Now returns the time of the store's clock.
func (e *Engine) Now(ctx context.Context) (time.Time, error) {
	clock, err := e.clock(ctx)
	return clock.Now, err
}

type clock struct {
	Now  time.Time  `json:"now"`
	Next *time.Time `json:"next"` // the next thing that becomes due
}

func (e *Engine) clock(ctx context.Context) (clock, error) {
	var answer clock
	err := e.get(ctx, "/v1/clock", &answer)
	return answer, err
}

// Call sends any request of the HTTP interface, on any URL. It answers an error only if there
// is no answer: a status of 400 and above is an answer, too. body nil: none; json.RawMessage is
// sent as it is, and so is a string (a workflow file); anything else is encoded as JSON.
func (e *Engine) Call(ctx context.Context, method, target string, body any) (status int, answer json.RawMessage, err error) {
	var text []byte
	switch body := body.(type) {
	case nil:
	case string:
		text = []byte(body)
	default:
		if text, err = encodeJSON(body); err != nil {
			return 0, nil, err
		}
	}
	return e.send(ctx, request{method: method, target: target, body: text, isRead: method == "GET"})
}

// send makes a request. The answer of a read is not awaited once the context has ended; a write
// that has begun is, so that its outcome is known.
func (e *Engine) send(ctx context.Context, r request) (int, []byte, error) {
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	if err := e.enter(); err != nil {
		return 0, nil, err
	}
	defer e.leave()
	if !r.isRead {
		return e.link.call(context.WithoutCancel(ctx), r)
	}
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unhook := context.AfterFunc(e.ctx, func() { cancel(context.Cause(e.ctx)) })
	defer unhook()
	status, answer, err := e.link.call(both, r)
	if err != nil && both.Err() != nil {
		err = e.whyEnded(ctx, both)
	}
	return status, answer, err
}

// whyEnded is the error of a call that was given up: of its own context, or of the engine.
func (e *Engine) whyEnded(own, both context.Context) error {
	if err := own.Err(); err != nil {
		return err
	}
	return context.Cause(both)
}

// do sends a request and decodes its answer into out, unless out is nil; a status of 400 and
// above is an error.
func (e *Engine) do(ctx context.Context, r request, out any) error {
	status, answer, err := e.send(ctx, r)
	if err != nil {
		return err
	}
	if status >= 400 {
		return errorOfAnswer(status, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return newError(ErrInternal, "the answer of %s %s cannot be read: %v", r.method, r.target, err)
	}
	return nil
}

func (e *Engine) get(ctx context.Context, target string, out any) error {
	return e.do(ctx, request{method: "GET", target: target, isRead: true, repeat: true}, out)
}

// post sends a JSON body; nil: none.
func (e *Engine) post(ctx context.Context, target string, body any, repeat bool, out any) error {
	r := request{method: "POST", target: target, repeat: repeat}
	if body != nil {
		text, err := encodeJSON(body)
		if err != nil {
			return err
		}
		r.body = text
	}
	return e.do(ctx, r, out)
}

func errorOfAnswer(status int, answer []byte) error {
	var said struct{ Code, Message, Detail, Hint string }
	if json.Unmarshal(answer, &said) != nil || said.Code == "" {
		return &Error{Code: "internal", Message: "the server sent an error that is not Cairn's", Detail: string(answer), HTTPStatus: status}
	}
	return errorOfCode(said.Code, said.Message, said.Detail, said.Hint, status)
}
