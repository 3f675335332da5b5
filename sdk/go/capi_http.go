//go:build !cgo || cairn_http

package cairn

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"cairn.invalid/cairn/internal/passage"
)

// LibraryVersion returns the version of libcairn; "" without cgo.
func LibraryVersion() string { return "" }

func unsupported(hint, format string, args ...any) *Error {
	e := newError(ErrUnsupported, format, args...)
	e.Hint = hint
	return e
}

// server is an engine behind HTTP.
type server struct {
	base   string // without a slash at its end
	name   string // the URL without its password
	config Config
	client *http.Client

	lock    sync.Mutex
	waiting map[string]map[*context.CancelFunc]struct{} // claims that wait, by worker
}

// maxAnswer bounds what is read of one answer.
const maxAnswer = 1 << 30

func openTransport(ctx context.Context, config Config) (transport, error) {
	at, err := url.Parse(config.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		scheme, _, _ := strings.Cut(config.URL, ":")
		return nil, unsupported("build with cgo and libcairn, or use the http: URL of a server (cairn serve)",
			"this program was built without libcairn, so it cannot open a URL that begins with %s:", scheme)
	}
	if config.VirtualClock || config.Seed != 0 {
		return nil, unsupported("start the server with --virtual-clock", "the clock of an http: URL is the server's")
	}
	if password, has := at.User.Password(); has && config.Token == "" {
		config.Token = password
	}
	s := &server{base: strings.TrimSuffix(at.Scheme+"://"+at.Host+at.Path, "/"), name: at.Redacted(), config: config,
		waiting: map[string]map[*context.CancelFunc]struct{}{}}
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.MaxIdleConnsPerHost = 64
	if own.TLSClientConfig, err = trusted(os.Getenv("CAIRN_CA_FILE")); err != nil {
		return nil, err
	}
	s.client = &http.Client{Transport: own}
	status, answer, err := s.call(ctx, request{method: "GET", target: "/v1/clock", isRead: true, repeat: true})
	if err == nil && status >= 400 {
		err = errorOfAnswer(status, answer)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// trusted makes certificates be checked by the authorities of a file; "": by the system's.
func trusted(file string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file == "" {
		return config, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, newError(ErrBadInput, "CAIRN_CA_FILE: %v", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, newError(ErrBadInput, "CAIRN_CA_FILE: %s has no certificate", file)
	}
	return config, nil
}

func (s *server) url() string { return s.name }

func (s *server) close() { s.client.CloseIdleConnections() }

// call sends a request, again and again while the server cannot be reached and that does no harm.
func (s *server) call(ctx context.Context, r request) (int, []byte, error) {
	var cancel context.CancelFunc
	until := time.Now().Add(s.config.Retry)
	ctx, cancel = context.WithTimeout(ctx, s.config.Retry+r.wait+30*time.Second)
	defer cancel()
	for pause := firstRest; ; pause = min(2*pause, longestRest) {
		status, answer, err := s.sendOnce(ctx, r)
		if err == nil && !isBusyAnswer(status, answer) {
			return status, answer, nil
		}
		mayRepeat := err == nil || r.repeat || wasNotSent(err)
		if !mayRepeat || ctx.Err() != nil || time.Now().Add(pause).After(until) {
			return status, answer, s.unreachable(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return status, answer, s.unreachable(ctx.Err())
		}
	}
}

// isBusyAnswer: the server could not reach its store, or a proxy the server.
func isBusyAnswer(status int, answer []byte) bool {
	if status != http.StatusServiceUnavailable && status != http.StatusBadGateway && status != http.StatusGatewayTimeout {
		return false
	}
	return isCode(errorOfAnswer(status, answer), ErrUnreachable, ErrInternal)
}

// wasNotSent reports whether nothing has reached the server.
func wasNotSent(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED)
}

func (s *server) unreachable(err error) error {
	if err == nil {
		return nil
	}
	e := newError(ErrUnreachable, "the server at %s could not be reached", s.name)
	e.Detail = err.Error()
	return e
}

func (s *server) sendOnce(ctx context.Context, r request) (int, []byte, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, s.base+r.target, body)
	if err != nil {
		return 0, nil, err
	}
	if s.config.Token != "" {
		request.Header.Set("Authorization", "Bearer "+s.config.Token)
	}
	if r.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, answer, err
}

// ask sends a JSON body and decodes the answer.
func (s *server) ask(ctx context.Context, target string, body any, repeat bool, wait time.Duration, out any) error {
	text, err := encodeJSON(body)
	if err != nil {
		return err
	}
	status, answer, err := s.call(ctx, request{method: "POST", target: target, body: text, repeat: repeat, wait: wait})
	if err != nil {
		return err
	}
	if status >= 400 {
		return errorOfAnswer(status, answer)
	}
	return json.Unmarshal(answer, out)
}

// ---- tasks

type nativeTask struct{ memory *passage.Memory }

type claimBody struct {
	Worker    string         `json:"worker,omitempty"`
	Types     []string       `json:"types,omitempty"`
	Functions []functionCode `json:"functions,omitempty"`
	Max       int            `json:"max"`
	LeaseMS   int64          `json:"lease_ms"`
	WaitMS    int64          `json:"wait_ms"`
	Runtime   string         `json:"runtime,omitempty"`
}

func claimBodyOf(c *claim, worker string) *claimBody {
	return &claimBody{Worker: worker, Types: c.types, Functions: c.functions, Max: c.max, LeaseMS: c.lease.Milliseconds(),
		WaitMS: c.wait.Milliseconds(), Runtime: c.runtime}
}

// taskBody is a task as the server sends it.
type taskBody struct {
	ID          string          `json:"id"`
	Token       string          `json:"token"`
	Kind        string          `json:"kind"`
	Type        string          `json:"type"`
	Input       json.RawMessage `json:"input"`
	Attempt     int32           `json:"attempt"`
	MaxAttempts int32           `json:"max_attempts"`
	Key         string          `json:"key"`
	LeaseUntil  time.Time       `json:"lease_until"`
	Deadline    time.Time       `json:"deadline"`
	InstanceID  string          `json:"instance_id"`
	Step        string          `json:"step"`
	Metadata    json.RawMessage `json:"metadata"`
	Reason      string          `json:"reason"`
	Signal      json.RawMessage `json:"signal"`
	passage.Memory
}

func tasksOf(bodies []*taskBody) []*leased {
	tasks := make([]*leased, 0, len(bodies))
	for _, b := range bodies {
		l := &leased{token: b.Token, task: Task{ID: b.ID, Kind: b.Kind, Type: b.Type, Key: b.Key, InstanceID: b.InstanceID, Step: b.Step,
			Reason: b.Reason, Input: b.Input, Attempt: b.Attempt, MaxAttempts: b.MaxAttempts, Signal: signalOf(b.Signal),
			LeaseUntil: b.LeaseUntil, Deadline: b.Deadline}}
		if !isNull(b.Metadata) {
			l.task.Metadata = b.Metadata
		}
		if b.Kind == "function" {
			l.native.memory, l.version = &b.Memory, b.Memory.Version
		}
		tasks = append(tasks, l)
	}
	return tasks
}

func (s *server) claim(ctx context.Context, c *claim) ([]*leased, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.wait > 0 {
		defer s.addWaiting(c.worker, &cancel)()
	}
	var answer struct {
		Tasks []*taskBody `json:"tasks"`
	}
	err := s.ask(ctx, "/v1/tasks/claim", claimBodyOf(c, c.worker), false, c.wait, &answer)
	if ctx.Err() != nil {
		return nil, nil // woken: a client that hangs up gets no tasks
	}
	return tasksOf(answer.Tasks), err
}

func (s *server) addWaiting(worker string, cancel *context.CancelFunc) (remove func()) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.waiting[worker] == nil {
		s.waiting[worker] = map[*context.CancelFunc]struct{}{}
	}
	s.waiting[worker][cancel] = struct{}{}
	return func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		delete(s.waiting[worker], cancel)
	}
}

func (s *server) canWake() bool { return true }

func (s *server) wake(worker string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for name, cancels := range s.waiting {
		if worker != "" && name != worker {
			continue
		}
		for cancel := range cancels {
			(*cancel)()
		}
	}
}

type resultBody struct {
	ID        string             `json:"id"`
	Token     string             `json:"token"`
	Outcome   string             `json:"outcome"`
	Output    json.RawMessage    `json:"output,omitempty"`
	Error     *string            `json:"error,omitempty"`
	DelayMS   *int64             `json:"delay_ms,omitempty"`
	Reason    string             `json:"reason,omitempty"`
	Event     string             `json:"event,omitempty"`
	TimeoutMS *int64             `json:"timeout_ms,omitempty"`
	Outbound  []passage.Outbound `json:"outbound,omitempty"`
}

func resultBodyOf(r *result) *resultBody {
	b := &resultBody{ID: r.task.task.ID, Token: r.task.token, Outcome: outcomeWords[r.outcome]}
	switch r.outcome {
	case outcomeComplete:
		b.Output = r.output
	case outcomeFail, outcomeDead, outcomeRetry:
		text := withoutNUL(r.err)
		b.Error = &text
	}
	if (r.outcome == outcomeRetry || r.outcome == outcomeRelease) && r.delay >= 0 {
		ms := toMS(r.delay)
		b.DelayMS = &ms
	}
	if r.isMissing {
		b.Reason = "missing_handler"
	}
	if r.outcome == outcomeWait {
		b.Event = withoutNUL(r.event)
		if r.timeout > 0 {
			ms := toMS(r.timeout)
			b.TimeoutMS = &ms
		}
	}
	for _, e := range r.emitted {
		b.Outbound = append(b.Outbound, passage.Outbound{Event: withoutNUL(e.event), Payload: e.payload})
	}
	return b
}

func (s *server) report(ctx context.Context, worker string, results []*result, c *claim) ([]*leased, error) {
	body := struct {
		Worker  string        `json:"worker"`
		Results []*resultBody `json:"results"`
		Claim   *claimBody    `json:"claim,omitempty"`
	}{Worker: worker}
	for _, r := range results {
		body.Results = append(body.Results, resultBodyOf(r))
	}
	if c != nil {
		body.Claim = claimBodyOf(c, "")
	}
	var answer struct {
		Results []struct{ ID, Status, Code, Message string } `json:"results"`
		Tasks   []*taskBody                                  `json:"tasks"`
	}
	// Reports may be repeated, claims not: tasks of an answer that was lost would wait for their leases.
	if err := s.ask(ctx, "/v1/tasks/report", body, c == nil, 0, &answer); err != nil {
		return nil, err
	}
	for i, said := range answer.Results {
		if i < len(results) && said.Code != "" {
			results[i].refused = errorOfCode(said.Code, said.Message, "", "", 500)
		}
	}
	return tasksOf(answer.Tasks), nil
}

func (s *server) notices() []notice { return nil }

func (s *server) openPassage(worker string, task *leased, byPassage bool, lease time.Duration) (passage.Passage, error) {
	return passage.New(passage.Options{InstanceID: task.task.InstanceID, Memory: task.native.memory, ByPassage: byPassage, Lease: lease,
		MaxName: maxName, MaxPayload: s.config.MaxPayload}, &passageExchange{s, worker, task}), nil
}

// maxName is the server's limit for keys and types.
const maxName = 256

// passageExchange is how a run of a function meets the server.
type passageExchange struct {
	server *server
	worker string
	task   *leased
}

func (x *passageExchange) path(verb string) string {
	return "/v1/tasks/" + segment(x.task.task.ID) + "/" + verb
}

func (x *passageExchange) Commit(c *passage.Commit) (*passage.Committed, error) {
	body := struct {
		Worker string `json:"worker"`
		Token  string `json:"token"`
		*passage.Commit
	}{x.worker, x.task.token, c}
	var answer passage.Committed
	// A commit that goes on without a step that has ended cannot be told from its repetition.
	repeat := c.Outcome != "go_on" || len(c.Steps) > 0
	if err := x.server.ask(context.Background(), x.path("commit"), body, repeat, 0, &answer); err != nil {
		return nil, passageError(err)
	}
	return &answer, nil
}

func (x *passageExchange) Heartbeat(extend time.Duration) (string, error) {
	body := map[string]any{"worker": x.worker, "token": x.task.token, "extend_ms": toMS(extend)}
	var answer beatAnswer
	err := x.server.ask(context.Background(), x.path("heartbeat"), body, true, 0, &answer)
	return answer.Stop, passageError(err)
}

func (x *passageExchange) Now() (time.Time, error) {
	status, text, err := x.server.call(context.Background(), request{method: "GET", target: "/v1/clock", isRead: true, repeat: true})
	if err == nil && status >= 400 {
		err = errorOfAnswer(status, text)
	}
	var answer clock
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer.Now, passageError(err)
}

func (x *passageExchange) NewID(now time.Time) string { return newID(now) }

func passageError(err error) error {
	if err == nil {
		return nil
	}
	known := asError(err)
	return &passage.Error{Code: known.Code, Message: known.Message, Detail: known.Detail}
}

// ---- workflow files

const needsLibrary = "checking and drawing workflow files needs libcairn, and this program was built without it"

// checkText finds what needs no library; a server that deploys the workflow finds the rest.
func checkText(_, text string) []Flaw { return checkWorkflow(text) }

// Validate checks the text of a workflow file and returns all mistakes. file is its name, for the
// messages.
func Validate(file, text string) []Flaw { return []Flaw{{Message: needsLibrary}} }

func drawText(file, text, form string) (string, error) {
	return "", unsupported("use the cairn program: cairn graph", needsLibrary)
}
