//go:build cgo && !cairn_http

package cairn

// #include "capi.h"
import "C"

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"cairn.invalid/cairn/internal/passage"
)

// LibraryVersion returns the version of libcairn; "" without cgo.
func LibraryVersion() string { return C.GoString(C.cairn_version()) }

// library is an engine of libcairn.
type library struct {
	engine *C.cairn_engine
	name   string         // the URL without its password
	pool   sync.Pool      // of []C.cairn_reported
	reads  sync.WaitGroup // that may have been given up
}

func openTransport(ctx context.Context, config Config) (transport, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	faults, failOf := config.trial, ""
	if faults != nil {
		failOf = faults.FailOf
	}
	if hasNUL(config.URL, config.Token, failOf) {
		return nil, errNUL()
	}
	with := C.struct_go_open{seed: C.uint64_t(config.Seed), retry_ms: C.uint32_t(toMS(config.Retry)),
		max_payload: C.size_t(config.MaxPayload), max_batch: C.size_t(config.MaxBatch),
		no_migrate: C.bool(config.NoMigrate), no_timers: C.bool(config.NoTimers), virtual_clock: C.bool(config.VirtualClock)}
	if !config.Start.IsZero() {
		with.start_us = C.int64_t(config.Start.UnixMicro())
	}
	if faults != nil {
		with.is_trial = true
		with.fail, with.crash, with.timeout = C.double(faults.Fail), C.double(faults.Crash), C.double(faults.Timeout)
		with.late, with.twice, with.restart = C.double(faults.Late), C.double(faults.Twice), C.double(faults.Restart)
	}
	var engine *C.cairn_engine
	var why C.cairn_error
	code := C.go_open(cText(config.URL), cTextOrNull(config.Token), cTextOrNull(failOf), with, &engine, &why)
	if err := cError(code, &why); err != nil {
		return nil, err
	}
	return &library{engine: engine, name: C.GoString(C.cairn_url(engine))}, nil
}

// sizes are those of the structs of cairn.h that this package fills or reads.
var sizes = map[string]uintptr{
	"cairn_claim_options": C.sizeof_cairn_claim_options, "cairn_effect": C.sizeof_cairn_effect,
	"cairn_enqueued": C.sizeof_cairn_enqueued, "cairn_error": C.sizeof_cairn_error, "cairn_flaw": C.sizeof_cairn_flaw,
	"cairn_function_code": C.sizeof_cairn_function_code, "cairn_job_spec": C.sizeof_cairn_job_spec,
	"cairn_open_options": C.sizeof_cairn_open_options, "cairn_outbound": C.sizeof_cairn_outbound,
	"cairn_report": C.sizeof_cairn_report, "cairn_reported": C.sizeof_cairn_reported, "cairn_request": C.sizeof_cairn_request,
	"cairn_start_options": C.sizeof_cairn_start_options, "cairn_step_options": C.sizeof_cairn_step_options,
	"cairn_task": C.sizeof_cairn_task,
}

// checkLibrary refuses a libcairn that does not fit the header that this was compiled with: an older one,
// one with another ABI, or one whose structs are shorter.
func checkLibrary() error {
	var major, minor int
	version := LibraryVersion()
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	if n != 2 || major < C.CAIRN_VERSION_MAJOR || major == C.CAIRN_VERSION_MAJOR && minor < C.CAIRN_VERSION_MINOR {
		return newError(ErrMisuse, "libcairn is of version %s; this program was built with %s and needs that or a newer one", version, C.CAIRN_VERSION)
	}
	if abi := int(C.cairn_abi()); abi != C.CAIRN_ABI {
		return newError(ErrMisuse, "libcairn %s has the ABI %d, and this program was built for %d", version, abi, C.CAIRN_ABI)
	}
	return checkSizes(version, sizes)
}

func checkSizes(version string, sizes map[string]uintptr) error {
	for name, size := range sizes {
		if there := uintptr(C.cairn_sizeof(cText(name))); there < size {
			return newError(ErrMisuse, "libcairn %s does not fit: %s has %d bytes there and %d here", version, name, there, size)
		}
	}
	return nil
}

func (l *library) url() string { return l.name }

func (l *library) close() {
	untilDone(&l.reads, func() { l.wake("") })
	C.cairn_close(l.engine)
}

// call waits for a write. A read runs in a goroutine of its own, so that it can be given up.
func (l *library) call(ctx context.Context, r request) (int, []byte, error) {
	if hasNUL(r.method, r.target) {
		return 0, nil, errNUL()
	}
	if !r.isRead || ctx.Done() == nil {
		return l.callNow(r)
	}
	type answer struct {
		status int
		body   []byte
		err    error
	}
	answered := make(chan answer, 1)
	l.reads.Add(1)
	go func() {
		defer l.reads.Done()
		status, body, err := l.callNow(r)
		answered <- answer{status, body, err}
	}()
	select {
	case a := <-answered:
		return a.status, a.body, a.err
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

func (l *library) callNow(r request) (int, []byte, error) {
	var response *C.cairn_response
	var why C.cairn_error
	var body *C.char
	if len(r.body) > 0 {
		body = (*C.char)(unsafe.Pointer(&r.body[0]))
	}
	code := C.go_call(l.engine, cText(r.method), cText(r.target), body, C.size_t(len(r.body)), &response, &why)
	if err := cError(code, &why); err != nil {
		return 0, nil, err
	}
	defer C.cairn_response_free(response)
	var n C.size_t
	text := C.cairn_response_body(response, &n)
	return int(C.cairn_response_status(response)), C.GoBytes(unsafe.Pointer(text), C.int(n)), nil
}

// verdict answers how an instance of a trial has ended, and the story so far. id "": only the story.
func (l *library) verdict(id string, laws []string) ([]byte, error) {
	if hasNUL(append([]string{id}, laws...)...) {
		return nil, errNUL()
	}
	size := room(len(laws) * pointerSize)
	for _, law := range laws {
		size += room(len(law))
	}
	a := newArena(size)
	defer a.free()
	given := (**C.char)(a.take(len(laws) * pointerSize))
	for i, law := range laws {
		unsafe.Slice(given, len(laws))[i] = a.text(law)
	}
	var response *C.cairn_response
	var why C.cairn_error
	code := C.cairn_trial_check(l.engine, cTextOrNull(id), given, C.size_t(len(laws)), &response, &why)
	if err := cError(code, &why); err != nil {
		return nil, err
	}
	defer C.cairn_response_free(response)
	var n C.size_t
	text := C.cairn_response_body(response, &n)
	return C.GoBytes(unsafe.Pointer(text), C.int(n)), nil
}

// ---- tasks

// heldPage is a page of tasks that is freed when the last function of it has begun.
type heldPage struct {
	page  *C.cairn_page
	count atomic.Int32
}

func (h *heldPage) release() {
	if h.count.Add(-1) == 0 {
		C.cairn_page_free(h.page)
	}
}

// nativeTask is the C task of a function, which its passage needs.
type nativeTask struct {
	task *C.cairn_task
	hold *heldPage
}

// free must be called once for each task that is not begun.
func (n *nativeTask) free() {
	if n.hold != nil {
		n.hold.release()
		n.hold = nil
	}
}

func (l *library) claim(ctx context.Context, c *claim) ([]*leased, error) {
	a := newArena(claimSize(c))
	defer a.free()
	var options C.cairn_claim_options
	fillClaim(a, c, &options)
	var page *C.cairn_page
	var why C.cairn_error
	if err := cError(C.cairn_claim(l.engine, &options, &page, &why), &why); err != nil {
		return nil, err
	}
	return takePage(page), nil
}

const pointerSize = int(unsafe.Sizeof(uintptr(0)))

func claimSize(c *claim) int {
	size := room(len(c.worker)) + room(len(c.runtime)) + room(len(c.types)*pointerSize) + room(len(c.functions)*C.sizeof_cairn_function_code)
	for _, t := range c.types {
		size += room(len(t))
	}
	for _, f := range c.functions {
		size += room(len(f.Name))
	}
	return size
}

func fillClaim(a *arena, c *claim, options *C.cairn_claim_options) {
	C.go_claim_init(options)
	options.worker = a.text(c.worker)
	options.runtime = a.textOrNull(c.runtime)
	options.max, options.lease_ms, options.wait_ms = C.uint32_t(c.max), C.uint32_t(toMS(c.lease)), C.uint32_t(toMS(c.wait))
	types := (**C.char)(a.take(len(c.types) * pointerSize))
	for i, t := range c.types {
		unsafe.Slice(types, len(c.types))[i] = a.text(t)
	}
	options.types, options.type_count = types, C.size_t(len(c.types))
	codes := (*C.cairn_function_code)(a.take(len(c.functions) * C.sizeof_cairn_function_code))
	for i, f := range c.functions {
		unsafe.Slice(codes, len(c.functions))[i] = C.cairn_function_code{size: C.sizeof_cairn_function_code,
			name: a.text(f.Name), version: C.int32_t(f.Version), from_version: C.int32_t(f.FromVersion)}
	}
	options.functions, options.function_count = codes, C.size_t(len(c.functions))
}

// takePage makes Go tasks of a page, which it frees unless functions need it.
func takePage(page *C.cairn_page) []*leased {
	if page == nil {
		return nil
	}
	hold := &heldPage{page: page}
	hold.count.Store(1)
	defer hold.release()
	count := int(C.cairn_page_count(page))
	if count == 0 {
		return nil
	}
	pointers := make([]*C.cairn_task, count)
	C.go_tasks(page, &pointers[0])
	tasks := make([]*leased, count)
	for i, t := range pointers {
		tasks[i] = goTask(t)
		if tasks[i].task.Kind == "function" {
			hold.count.Add(1)
			tasks[i].native = nativeTask{t, hold}
			tasks[i].version = int32(t.memory.version)
		}
	}
	return tasks
}

// kinds has the words of tasks, so that no text is made for each task.
var kinds = [...]string{C.CAIRN_TASK_JOB: "job", C.CAIRN_TASK_STEP: "step", C.CAIRN_TASK_COMPENSATION: "compensation", C.CAIRN_TASK_FUNCTION: "function"}

func goTask(t *C.cairn_task) *leased {
	l := &leased{token: C.GoString(t.token)}
	if int(t.kind_code) < len(kinds) {
		l.task.Kind = kinds[t.kind_code]
	}
	if l.task.Kind == "" {
		l.task.Kind = C.GoString(t.kind)
	}
	task := &l.task
	task.ID, task.Type, task.Input = C.GoString(t.id), C.GoString(t._type), goJSON(t.input)
	task.Attempt, task.MaxAttempts, task.LeaseUntil = int32(t.attempt), int32(t.max_attempts), goTime(t.lease_until_us)
	if t.key != nil {
		task.Key = C.GoString(t.key)
	}
	if t.metadata != nil {
		task.Metadata = goJSON(t.metadata)
	}
	task.Deadline = goTime(t.deadline_us)
	if t.instance_id != nil {
		goStepTask(t, task)
	}
	return l
}

func goStepTask(t *C.cairn_task, task *Task) {
	task.InstanceID = C.GoString(t.instance_id)
	if t.step != nil {
		task.Step = C.GoString(t.step)
	}
	if t.reason != nil {
		task.Reason = C.GoString(t.reason)
	}
	if t.signal != nil {
		task.Signal = signalOf(goJSON(t.signal))
	}
}

func (l *library) report(ctx context.Context, worker string, results []*result, c *claim) ([]*leased, error) {
	if hasNUL(worker) {
		return nil, errNUL()
	}
	a := newArena(reportSize(worker, results, c))
	defer a.free()
	reports := make([]C.cairn_report, len(results))
	for i, r := range results {
		fillReport(a, r, &reports[i])
	}
	var options *C.cairn_claim_options
	if c != nil {
		options = (*C.cairn_claim_options)(a.take(C.sizeof_cairn_claim_options))
		fillClaim(a, c, options)
	}
	answers := l.takeAnswers(len(results))
	defer l.pool.Put(&answers)
	var page *C.cairn_page
	var why C.cairn_error
	code := C.cairn_report_many(l.engine, a.text(worker), &reports[0], C.size_t(len(results)), &answers[0], options, &page, &why)
	if err := cError(code, &why); err != nil {
		return nil, err
	}
	for i, r := range results {
		r.refused = cError(answers[i].code, &answers[i].error)
		r.task.native.free()
	}
	return takePage(page), nil
}

func (l *library) takeAnswers(count int) []C.cairn_reported {
	if kept, ok := l.pool.Get().(*[]C.cairn_reported); ok && cap(*kept) >= count {
		return (*kept)[:count]
	}
	return make([]C.cairn_reported, max(count, 16))[:count]
}

func reportSize(worker string, results []*result, c *claim) int {
	size := room(len(worker))
	for _, r := range results {
		size += room(len(r.task.task.ID)) + room(len(r.task.token)) + room(len(r.output)) + room(len(r.err)) + room(len(r.event)) +
			room(len(r.emitted)*C.sizeof_cairn_outbound)
		for _, e := range r.emitted {
			size += room(len(e.event)) + room(len(e.payload))
		}
	}
	if c != nil {
		size += room(C.sizeof_cairn_claim_options) + claimSize(c)
	}
	return size
}

// Delays of less than a millisecond become none, -1 stays.
func delayMS(d time.Duration) C.int64_t {
	if d < 0 {
		return -1
	}
	return C.int64_t(toMS(d))
}

func fillReport(a *arena, r *result, report *C.cairn_report) {
	C.go_report_init(report)
	report.task_id, report.token, report.outcome = a.text(r.task.task.ID), a.text(r.task.token), C.cairn_outcome(r.outcome)
	switch r.outcome {
	case outcomeComplete:
		report.output = a.json(r.output)
	case outcomeFail, outcomeDead, outcomeRetry:
		report.error = a.text(withoutNUL(r.err))
	}
	if r.outcome == outcomeRetry || r.outcome == outcomeRelease {
		report.delay_ms = delayMS(r.delay)
	}
	if r.outcome == outcomeWait {
		report.event = a.text(withoutNUL(r.event))
		if r.timeout > 0 {
			report.timeout_ms = C.int64_t(toMS(r.timeout))
		}
	}
	report.is_missing_handler = C.bool(r.isMissing)
	if len(r.emitted) == 0 {
		return
	}
	outbound := (*C.cairn_outbound)(a.take(len(r.emitted) * C.sizeof_cairn_outbound))
	for i, e := range r.emitted {
		unsafe.Slice(outbound, len(r.emitted))[i] = C.cairn_outbound{size: C.sizeof_cairn_outbound, event: a.text(withoutNUL(e.event)), payload: a.json(e.payload)}
	}
	report.outbound, report.outbound_count = outbound, C.size_t(len(r.emitted))
}

func (l *library) wake(worker string) { C.go_wake(l.engine, cTextOrNull(worker)) }

func (l *library) canWake() bool { return C.GO_CAN_WAKE != 0 }

func (l *library) notices() []notice {
	var response *C.cairn_response
	if C.go_notices(l.engine, &response) <= 0 {
		return nil
	}
	defer C.cairn_response_free(response)
	var n C.size_t
	text := C.cairn_response_body(response, &n)
	return readNotices(C.GoBytes(unsafe.Pointer(text), C.int(n)))
}

func (l *library) openPassage(worker string, task *leased, byPassage bool, lease time.Duration) (passage.Passage, error) {
	return openNativePassage(l.engine, worker, task, byPassage, lease)
}

// ---- workflow files

func checkText(file, text string) []Flaw { return Validate(file, text) }

// Validate checks the text of a workflow file and returns all mistakes. file is its name, for the
// messages.
func Validate(file, text string) []Flaw {
	if hasNUL(file, text) {
		return []Flaw{{Message: "the text has a NUL character"}}
	}
	var page *C.cairn_page
	var why C.cairn_error
	code := C.cairn_workflow_validate(cText(file), cText(text), &page, &why)
	if code == C.CAIRN_OK {
		return nil
	}
	defer C.cairn_page_free(page)
	var flaws []Flaw
	for i := C.size_t(0); i < C.cairn_page_count(page); i++ {
		f := C.cairn_page_flaw(page, i)
		flaws = append(flaws, Flaw{int(f.line), int(f.column), C.GoString(&f.message[0])})
	}
	if flaws == nil {
		flaws = []Flaw{{Message: cError(code, &why).Message}}
	}
	return flaws
}

func drawText(file, text, form string) (string, error) {
	if hasNUL(file, text, form) {
		return "", errNUL()
	}
	var drawn *C.char
	var why C.cairn_error
	if err := cError(C.cairn_workflow_draw(cText(file), cText(text), cText(form), &drawn, &why), &why); err != nil {
		return "", err
	}
	defer C.cairn_text_free(drawn)
	return C.GoString(drawn), nil
}
