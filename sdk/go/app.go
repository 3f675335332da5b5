package cairn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Handler executes a task and returns its result as JSON. Middleware wraps it.
type Handler func(ctx context.Context, task *Task) (json.RawMessage, error)

// App has the handlers of a program. It knows no engine: a worker brings the two together.
type App struct {
	lock       sync.Mutex
	handlers   []handler
	functions  []function
	middleware []func(Handler) Handler
	outbox     func(ctx context.Context, event *OutboxEvent) error
	included   []*App
	flaws      []error
}

// A handler executes tasks of one type, or of all types with a prefix.
type handler struct {
	pattern string
	call    Handler
}

// NewApp returns an app without handlers.
func NewApp() *App { return &App{} }

// Use adds middleware around every call of a handler or function. The first is outermost.
func (a *App) Use(middleware func(next Handler) Handler) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.middleware = append(a.middleware, middleware)
}

// Outbox sets what delivers events that handlers emit. An event is acknowledged if deliver
// returns nil; otherwise it comes again.
func (a *App) Outbox(deliver func(ctx context.Context, event *OutboxEvent) error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.outbox != nil {
		a.flaws = append(a.flaws, newError(ErrMisuse, "the app has two outbox handlers"))
	}
	a.outbox = deliver
}

// Include adds all handlers of another app, within its middleware and then this app's. A type
// that both handle is a mistake that Run reports.
func (a *App) Include(other *App) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.included = append(a.included, other)
}

// Handle registers the handler of a task type, or of all types with a prefix: "billing.%". An
// exact type goes before a prefix, and a longer prefix before a shorter one.
func Handle[P, R any](app *App, taskType string, fn func(ctx context.Context, payload P) (R, error)) {
	call := func(ctx context.Context, task *Task) (json.RawMessage, error) {
		var payload P
		codec := task.Engine.config.Codec
		if err := decodePayload(codec, task.Input, &payload); err != nil {
			return nil, deadPayload(err)
		}
		value, err := fn(ctx, payload)
		if err != nil {
			return nil, err
		}
		return encodeResult(codec, value)
	}
	app.lock.Lock()
	defer app.lock.Unlock()
	app.handlers = append(app.handlers, handler{taskType, call})
}

// routes is an app as a worker uses it: all handlers, with their middleware around them.
type routes struct {
	exact     map[string]Handler
	prefixes  []handler // longest first is not needed: find compares lengths
	functions []function
	outbox    []func(ctx context.Context, event *OutboxEvent) error
	flaws     []error
}

// flatten collects an app's handlers and those of the apps that it includes.
func (a *App) flatten(r *routes, around func(Handler) Handler) {
	a.lock.Lock()
	defer a.lock.Unlock()
	r.flaws = append(r.flaws, a.flaws...)
	middleware := a.middleware
	wrap := func(call Handler) Handler {
		for i := len(middleware) - 1; i >= 0; i-- {
			call = middleware[i](call)
		}
		return around(call)
	}
	for _, h := range a.handlers {
		r.add(h.pattern, wrap(h.call))
	}
	for _, f := range a.functions {
		f.wrap = wrap
		r.addFunction(f)
	}
	if a.outbox != nil {
		r.outbox = append(r.outbox, a.outbox)
	}
	for _, other := range a.included {
		other.flatten(r, wrap)
	}
}

func (r *routes) add(pattern string, call Handler) {
	prefix, isPrefix := strings.CutSuffix(pattern, "%")
	switch {
	case pattern == "":
		r.flaws = append(r.flaws, newError(ErrMisuse, "a handler has no type"))
	case strings.Contains(prefix, "%"):
		r.flaws = append(r.flaws, newError(ErrMisuse, "the type %q has a %% that is not at its end", pattern))
	case r.has(pattern):
		r.flaws = append(r.flaws, newError(ErrMisuse, "the type %q has two handlers", pattern))
	case isPrefix:
		r.prefixes = append(r.prefixes, handler{prefix, call})
	default:
		r.exact[pattern] = call
	}
}

func (r *routes) has(pattern string) bool {
	for _, h := range r.prefixes {
		if h.pattern+"%" == pattern {
			return true
		}
	}
	return r.exact[pattern] != nil
}

func (r *routes) addFunction(f function) {
	for _, known := range r.functions {
		if known.name == f.name && known.version == f.version {
			r.flaws = append(r.flaws, newError(ErrMisuse, "the function %q has two handlers for version %d", f.name, f.version))
			return
		}
	}
	r.functions = append(r.functions, f)
}

// find is the handler of a type; nil: there is none.
func (r *routes) find(taskType string) Handler {
	if call := r.exact[taskType]; call != nil {
		return call
	}
	var best *handler
	for i := range r.prefixes {
		h := &r.prefixes[i]
		if strings.HasPrefix(taskType, h.pattern) && (best == nil || len(h.pattern) > len(best.pattern)) {
			best = h
		}
	}
	if best == nil {
		return nil
	}
	return best.call
}

// maxTypes is how many types and prefixes a claim may name.
const maxTypes = 100

// types is what a worker claims: the prefixes, and the types that no prefix covers.
func (r *routes) types() []string {
	var types []string
	for i, h := range r.prefixes {
		if !r.isCovered(h.pattern, i) {
			types = append(types, h.pattern+"%")
		}
	}
	for taskType := range r.exact {
		if !r.isCovered(taskType, -1) {
			types = append(types, taskType)
		}
	}
	return types
}

// isCovered reports whether another prefix than the one with this index covers a type or prefix.
func (r *routes) isCovered(text string, own int) bool {
	for i, h := range r.prefixes {
		if i != own && strings.HasPrefix(text, h.pattern) {
			return true
		}
	}
	return false
}

func (a *App) routes() (*routes, error) {
	r := &routes{exact: map[string]Handler{}}
	a.flatten(r, func(call Handler) Handler { return call })
	if len(r.flaws) > 0 {
		return nil, r.flaws[0]
	}
	if len(r.outbox) > 1 {
		return nil, newError(ErrMisuse, "the app has %d outbox handlers; one is allowed", len(r.outbox))
	}
	if len(r.exact)+len(r.prefixes)+len(r.functions)+len(r.outbox) == 0 {
		return nil, newError(ErrMisuse, "the app has no handlers")
	}
	if n := len(r.types()); n > maxTypes || len(r.functions) > maxTypes {
		return nil, newError(ErrMisuse, "the app has handlers of %s; a worker can claim %d types and prefixes, and as many functions", plural(n, "type"), maxTypes)
	}
	return r, nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
