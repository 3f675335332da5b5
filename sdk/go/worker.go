package cairn

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// WorkerConfig says how a worker works. The zero value is usable.
type WorkerConfig struct {
	Name        string        // "": host, process and a random suffix
	Runtime     string        // "": "go"; "*": any
	Concurrency int           // handlers that run at the same time; 0: 4
	Lease       time.Duration // extended automatically while a handler runs; 0: 30 s
	Look        time.Duration // how often a running task is asked whether it is still wanted; 0: 2 s
	Prefetch    int           // tasks that are claimed ahead; 0: only what is executed is claimed
	Grace       time.Duration // how long handlers may take after a stop; 0: as long as they take
	UntilIdle   bool          // Run returns when nothing is left to do
}

func (c WorkerConfig) withDefaults() WorkerConfig {
	if c.Name == "" {
		c.Name = workerName()
	}
	if c.Runtime == "" {
		c.Runtime = "go"
	}
	if c.Runtime == "*" {
		c.Runtime = ""
	}
	if c.Concurrency == 0 {
		c.Concurrency = 4
	}
	if c.Lease == 0 {
		c.Lease = 30 * time.Second
	}
	if c.Look == 0 {
		c.Look = 2 * time.Second
	}
	return c
}

var runtimeName = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,63}$`)

func (c WorkerConfig) check() error {
	if c.Concurrency < 1 || c.Prefetch < 0 {
		return newError(ErrBadInput, "Concurrency is %d and Prefetch %d; they must not be negative", c.Concurrency, c.Prefetch)
	}
	if c.Lease < time.Millisecond || c.Look < time.Millisecond || c.Grace < 0 {
		return newError(ErrBadInput, "Lease and Look must be at least 1 ms, Grace must not be negative")
	}
	if c.Runtime != "" && !runtimeName.MatchString(c.Runtime) {
		return newError(ErrBadInput, "runtime %q must be 1 to 64 of a-z, 0-9, _, . and -, and begin with a letter", c.Runtime)
	}
	return nil
}

func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // it never fails
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), hex.EncodeToString(suffix[:]))
}

// Worker claims tasks and executes them with the handlers of an app.
//
// Run is its loop. Handlers run in goroutines ("hands"); one more extends leases. Everything that
// they share is behind the lock, and a word to `woken` makes the loop look again.
type Worker struct {
	engine *Engine
	app    *App
	config WorkerConfig
	hasRun atomic.Bool
	routes *routes
	claim  claim
	values context.Context // of Run, without its end
	offset time.Duration   // of the store's clock from ours

	woken   chan struct{} // holds one
	held    chan struct{} // holds one: tasks were claimed, whose leases are to be kept
	answers chan func()   // of requests of the loop, executed by the loop

	lock        sync.Mutex
	queue       []*leased // claimed and not begun
	running     map[*call]struct{}
	hands       int       // goroutines that execute handlers
	finished    []*result // to be reported
	executed    int
	isEnding    bool // nothing more is claimed or begun
	isGraceOver bool

	// Of the loop alone.
	promised    int  // slots that a claim under way may fill
	isClaimOut  bool // a waiting claim is under way
	isReportOut bool
	isCheckOut  bool // whether there is anything left to do is being asked
	isEmpty     bool // the latest claim brought nothing
	isAway      bool // the store cannot be reached, and the log says so
	err         error
	now         time.Time // of this turn, so that a rest does not end in the middle of it
	claimRest   rest
	reportRest  rest
	idlePause   time.Duration

	outboxTold chan struct{} // holds one: events were emitted
	outboxLock sync.Mutex
}

// NewWorker returns a worker. It does nothing before Run.
func (e *Engine) NewWorker(app *App, config WorkerConfig) *Worker {
	return &Worker{engine: e, app: app, config: config.withDefaults(), running: map[*call]struct{}{},
		woken: make(chan struct{}, 1), held: make(chan struct{}, 1), answers: make(chan func()), outboxTold: make(chan struct{}, 1)}
}

// Work runs a worker: NewWorker and Run.
func (e *Engine) Work(ctx context.Context, app *App, config WorkerConfig) (int, error) {
	return e.NewWorker(app, config).Run(ctx)
}

// Run claims tasks and executes them until the context ends, or with UntilIdle until nothing is
// left to do. It returns how many tasks were executed. After the end of the context nothing more
// is claimed, handlers may finish within Grace, and the error is nil. A worker runs once.
func (w *Worker) Run(ctx context.Context) (int, error) {
	if err := w.begin(ctx); err != nil {
		return 0, err
	}
	defer w.engine.workers.Done()
	if err := w.deployFunctions(ctx); err != nil {
		return 0, err
	}
	w.compareClocks(ctx)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(w.engine.work, cancel)
	defer unhook()

	helpers := w.startHelpers()
	w.loop(stop.Done())
	helpers()
	return w.executed, w.err
}

// begin checks everything that can be wrong before the first claim.
func (w *Worker) begin(ctx context.Context) error {
	if w.hasRun.Swap(true) {
		return newError(ErrMisuse, "a worker runs once; make another one")
	}
	if err := w.config.check(); err != nil {
		return err
	}
	routes, err := w.app.routes()
	if err != nil {
		return err
	}
	w.routes, w.values = routes, context.WithoutCancel(ctx)
	w.claim = claim{worker: w.config.Name, types: routes.types(), runtime: w.config.Runtime, lease: w.config.Lease}
	for _, f := range routes.functions {
		w.claim.functions = append(w.claim.functions, functionCode{f.name, f.version, f.fromVersion})
	}
	w.engine.lock.Lock()
	defer w.engine.lock.Unlock()
	if w.engine.isStopping {
		return errClosed()
	}
	w.engine.workers.Add(1)
	return nil
}

// compareClocks learns how far the store's clock is from ours, for deadlines. If the store cannot be
// asked, they are taken to be the same.
func (w *Worker) compareClocks(ctx context.Context) {
	if now, err := w.engine.Now(ctx); err == nil {
		w.offset = time.Until(now)
	}
}

// startHelpers starts the goroutines beside the loop; the function that it returns ends them.
func (w *Worker) startHelpers() func() {
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	start := func(run func(context.Context)) {
		all.Add(1)
		w.engine.spawn(func() {
			defer all.Done()
			run(ctx)
		})
	}
	start(w.keepLeases)
	if len(w.routes.outbox) > 0 {
		start(w.deliverOutbox)
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// wake makes the loop look again.
func (w *Worker) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// loop looks at what has come, sends what is due, and sleeps.
func (w *Worker) loop(stop <-chan struct{}) {
	var graceOver <-chan time.Time
	for {
		w.now = time.Now()
		w.sendReport()
		w.checkIdle()
		w.sendClaim()
		if w.isOver() {
			return
		}
		timer := time.NewTimer(w.untilRestOver())
		select {
		case answer := <-w.answers:
			answer()
		case <-w.woken:
		case <-timer.C:
		case <-stop:
			stop = nil
			w.end(nil)
			if w.config.Grace > 0 {
				graceOver = time.After(w.config.Grace)
			}
		case <-graceOver:
			graceOver = nil
			w.endGrace()
		}
		timer.Stop()
	}
}

// request makes a request in a goroutine; the loop executes what it returns.
func (w *Worker) request(send func() func()) {
	w.engine.spawn(func() { w.answers <- send() })
}

// end makes the worker claim and begin nothing more; tasks that were claimed ahead are released.
func (w *Worker) end(err error) {
	if err != nil && w.err == nil {
		w.err = err
	}
	w.lock.Lock()
	w.isEnding = true
	for _, task := range w.queue {
		w.finished = append(w.finished, releaseOf(task))
	}
	w.queue = nil
	w.lock.Unlock()
	w.interruptClaim()
}

func releaseOf(task *leased) *result { return &result{task: task, outcome: outcomeRelease} }

// interruptClaim makes a claim that waits return.
func (w *Worker) interruptClaim() {
	if w.isClaimOut {
		w.engine.link.wake(w.config.Name)
	}
}

func (w *Worker) endGrace() {
	w.lock.Lock()
	w.isGraceOver = true
	w.lock.Unlock()
	w.stopAll("shutdown")
}

func (w *Worker) isOver() bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	isBusy := len(w.running) > 0 || len(w.finished) > 0 || w.isReportOut || w.isClaimOut || w.isCheckOut
	if w.isEnding && w.isClaimOut { // it may have begun to wait after the first wake
		w.engine.link.wake(w.config.Name)
	}
	return w.isEnding && !isBusy
}

// freeSlots is how many tasks the worker has room for.
func (w *Worker) freeSlots() int {
	held := len(w.queue) + len(w.running) + w.promised
	return max(0, min(w.config.Concurrency+w.config.Prefetch-held, w.engine.config.MaxBatch))
}

// ---- claiming

// How long a claim waits for a task.
const (
	claimWait     = 20 * time.Second
	shortWait     = time.Second // of a library that cannot be woken
	idleWait      = time.Second // with UntilIdle, while handlers run
	firstIdleWait = 20 * time.Millisecond
)

func (w *Worker) sendClaim() {
	w.lock.Lock()
	slots, isEnding, isBusy := w.freeSlots(), w.isEnding, len(w.running) > 0
	w.lock.Unlock()
	if isEnding || slots == 0 || w.isClaimOut || w.isReportOut || w.isCheckOut || w.claimRest.isOn(w.now) {
		return
	}
	c := w.claim
	c.max, c.wait = slots, claimWait
	if !w.engine.link.canWake() {
		c.wait = shortWait
	}
	if w.config.UntilIdle {
		c.wait = w.idlePause
		if isBusy && w.engine.link.canWake() {
			c.wait = idleWait
		}
	}
	w.isClaimOut, w.promised = true, w.promised+slots
	w.request(func() func() {
		tasks, err := w.engine.link.claim(context.Background(), &c)
		return func() { w.claimAnswered(tasks, err, slots) }
	})
}

func (w *Worker) claimAnswered(tasks []*leased, err error, slots int) {
	w.isClaimOut = false
	w.promised -= slots
	switch {
	case err == nil:
		w.claimRest = rest{}
		w.isBack()
		w.isEmpty = len(tasks) == 0
		w.take(tasks)
	case isRetryable(err) && !isCode(err, ErrClosed):
		w.claimRest.begin()
		w.goneAway(err)
	default:
		w.end(err)
	}
}

// take begins tasks, or keeps them for later.
func (w *Worker) take(tasks []*leased) {
	if len(tasks) == 0 {
		return
	}
	w.idlePause = 0
	now := time.Now()
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, task := range tasks {
		task.extendedAt, task.lookAt = now, now.Add(w.lookPause())
		task.task.Worker, task.task.Engine = w.config.Name, w.engine
		task.task.lease = lease{task.task.ID, task.token}
		if w.isEnding {
			w.finished = append(w.finished, releaseOf(task))
			continue
		}
		w.queue = append(w.queue, task)
	}
	select {
	case w.held <- struct{}{}:
	default:
	}
	for wanted := min(len(w.queue), w.config.Concurrency-len(w.running)); w.hands < w.config.Concurrency && wanted > 0; wanted-- {
		w.hands++
		w.engine.spawn(w.hand)
	}
}

// goneAway and isBack tell once that the store cannot be reached, and once that it is back.
func (w *Worker) goneAway(err error) {
	if !w.isAway {
		w.isAway = true
		w.engine.config.Logger.Warn("the store cannot be reached; the worker waits for it", "worker", w.config.Name, "error", oneLine(err))
	}
}

func (w *Worker) isBack() {
	if w.isAway {
		w.isAway = false
		w.engine.config.Logger.Info("the store can be reached again", "worker", w.config.Name)
	}
}

// ---- until idle

// checkIdle ends a worker that has nothing left to do, and asks the engine whether that is so.
func (w *Worker) checkIdle() {
	w.lock.Lock()
	isBusy := len(w.queue) > 0 || len(w.running) > 0 || len(w.finished) > 0
	isEnding := w.isEnding
	w.lock.Unlock()
	if !w.config.UntilIdle || isEnding || isBusy || w.isReportOut || w.isCheckOut {
		return
	}
	if w.isClaimOut {
		w.interruptClaim()
		return
	}
	if !w.isEmpty {
		return
	}
	w.isCheckOut = true
	c := w.claim
	w.request(func() func() {
		isIdle, err := w.engine.isIdle(context.Background(), &c)
		delivered := err == nil && isIdle && w.drainOutbox()
		return func() { w.idleAnswered(isIdle && !delivered, err) }
	})
}

func (w *Worker) idleAnswered(isIdle bool, err error) {
	w.isCheckOut, w.isEmpty = false, false
	switch {
	case err != nil && isRetryable(err) && !isCode(err, ErrClosed):
		w.claimRest.begin()
		w.goneAway(err)
	case err != nil && !isCode(err, ErrForbidden): // a token that may not ask: the claims must do
		w.end(err)
	case isIdle || err != nil:
		w.end(nil)
	default: // another worker holds something that may come back
		w.idlePause = min(max(2*w.idlePause, firstIdleWait), idleWait)
	}
}

// ---- resting after a failure

// A rest is a pause after a failed request, each longer than the one before.
type rest struct {
	length time.Duration
	until  time.Time
}

const (
	firstRest   = 50 * time.Millisecond
	longestRest = 5 * time.Second
)

func (r *rest) begin() {
	r.length = min(max(2*r.length, firstRest), longestRest)
	r.until = time.Now().Add(r.length)
}

func (r *rest) isOn(now time.Time) bool { return now.Before(r.until) }

// untilRestOver is how long the loop may sleep. What a rest has held back in this turn is sent when
// the rest is over, even if that is now.
func (w *Worker) untilRestOver() time.Duration {
	sleep := time.Hour
	if w.isClaimOut && w.isEnding { // only the loop sets it
		sleep = 20 * time.Millisecond
	}
	for _, r := range []*rest{&w.claimRest, &w.reportRest} {
		if r.isOn(w.now) {
			sleep = min(sleep, time.Until(r.until)+time.Millisecond)
		}
	}
	return sleep
}
