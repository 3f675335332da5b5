//go:build cgo && !cairn_http

package cairn

// #include "capi.h"
import "C"

import (
	"time"
	"unsafe"

	"cairn.invalid/cairn/internal/passage"
)

// nativePassage is a run of a function whose rules are libcairn's. The guard of the run sees to it that nothing
// is asked of it after its end, which frees it.
type nativePassage struct{ p *C.cairn_passage }

func openNativePassage(engine *C.cairn_engine, worker string, task *leased, byPassage bool, lease time.Duration) (passage.Passage, error) {
	defer task.native.free()
	mode := C.cairn_commit_mode(C.CAIRN_COMMIT_STEP)
	if byPassage {
		mode = C.CAIRN_COMMIT_PASSAGE
	}
	n := &nativePassage{}
	var why C.cairn_error
	err := cError(C.cairn_passage_open(engine, cText(worker), task.native.task, mode, C.uint32_t(toMS(lease)), &n.p, &why), &why)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (n *nativePassage) BeginStep(o *passage.StepOptions) (*passage.Work, []byte, error) {
	undo := o.Undo
	if undo == nil {
		undo = &passage.CommitCompensation{}
	}
	if hasNUL(o.Key, o.Backoff, undo.Handler, undo.Retry.Backoff) {
		return nil, nil, errNUL()
	}
	a := newArena(room(len(o.Key)) + room(len(o.Input)) + room(len(o.Backoff)) + room(len(undo.Handler)) + room(len(undo.Retry.Backoff)) + room(len(undo.Metadata)))
	defer a.free()
	var options C.cairn_step_options
	C.go_step_init(&options)
	options.key, options.input, options.backoff = a.text(o.Key), a.json(o.Input), a.text(o.Backoff)
	options.retries, options.jitter = C.int32_t(o.Retries), C.double(o.Jitter)
	options.base_ms, options.max_ms, options.timeout_ms = C.int64_t(toMS(o.Base)), C.int64_t(toMS(o.Max)), C.int64_t(toMS(o.Timeout))
	options.compensation, options.compensation_backoff, options.compensation_metadata = a.textOrNull(undo.Handler), a.textOrNull(undo.Retry.Backoff), a.json(undo.Metadata)
	options.compensation_max_attempts, options.compensation_timeout_ms = C.int32_t(undo.MaxAttempts), C.int64_t(undo.TimeoutMS)
	options.compensation_base_ms, options.compensation_max_ms, options.compensation_jitter = C.int64_t(undo.Retry.BaseMS), C.int64_t(undo.Retry.MaxMS), C.double(undo.Retry.Jitter)
	options.compensation_once = C.bool(!undo.Idempotent)
	var work *C.cairn_work
	var output *C.char
	var why C.cairn_error
	if err := cError(C.cairn_passage_begin_step(n.p, &options, &work, &output, &why), &why); err != nil {
		return nil, nil, err
	}
	if work == nil {
		return nil, goJSON(output), nil
	}
	task := C.cairn_work_task(work)
	return &passage.Work{ID: C.GoString(task.id), Step: C.GoString(task.step), Key: C.GoString(task.key),
		Attempt: int32(task.attempt), MaxAttempts: int32(task.max_attempts), Native: work}, nil, nil
}

func (n *nativePassage) EndStep(w *passage.Work, end *passage.StepEnd) ([]byte, error) {
	work := w.Native.(*C.cairn_work)
	outcome := C.cairn_outcome(end.Outcome)
	switch outcome {
	case C.CAIRN_COMPLETE:
		C.cairn_work_set_output(work, cJSON(end.Output))
		for _, e := range end.Emitted {
			C.cairn_work_emit(work, cText(withoutNUL(e.Event)), cJSON(e.Payload))
		}
	default:
		C.cairn_work_set_error(work, cText(withoutNUL(end.Error)))
		if outcome == C.CAIRN_RETRY && end.Delay >= 0 {
			C.cairn_work_set_delay(work, C.int64_t(toMS(end.Delay)))
		}
	}
	var output *C.char
	var why C.cairn_error
	err := cError(C.cairn_passage_end_step(n.p, work, outcome, &output, &why), &why)
	return goJSON(output), asErr(err)
}

// cJSON is NULL for nil.
func cJSON(text []byte) *C.char {
	if text == nil {
		return nil
	}
	return cText(unsafe.String(unsafe.SliceData(text), len(text)))
}

func (n *nativePassage) Sleep(key string, d time.Duration) error {
	if hasNUL(key) {
		return errNUL()
	}
	var why C.cairn_error
	return asErr(cError(C.cairn_passage_sleep(n.p, cText(key), C.int64_t(toMS(d)), &why), &why))
}

func (n *nativePassage) SleepUntil(key string, at time.Time) error {
	if hasNUL(key) {
		return errNUL()
	}
	var why C.cairn_error
	return asErr(cError(C.cairn_passage_sleep_until(n.p, cText(key), C.int64_t(at.UnixMicro()), &why), &why))
}

func (n *nativePassage) WaitEvent(key, event string, timeout time.Duration) ([]byte, error) {
	if hasNUL(key, event) {
		return nil, errNUL()
	}
	var payload *C.char
	var why C.cairn_error
	err := cError(C.cairn_passage_wait_event(n.p, cText(key), cText(event), delayMS(timeout), &payload, &why), &why)
	return goJSON(payload), asErr(err)
}

func (n *nativePassage) Now() (time.Time, error) {
	var us C.int64_t
	var why C.cairn_error
	err := cError(C.cairn_passage_now(n.p, &us, &why), &why)
	return goTime(us), asErr(err)
}

func (n *nativePassage) Random() (float64, error) {
	var value C.double
	var why C.cairn_error
	err := cError(C.cairn_passage_random(n.p, &value, &why), &why)
	return float64(value), asErr(err)
}

// idText is the room for an id that C writes.
type idText [40]C.char

func (n *nativePassage) UUID() (string, error) {
	var id idText
	var why C.cairn_error
	err := cError(C.cairn_passage_uuid(n.p, &id[0], &why), &why)
	return C.GoString(&id[0]), asErr(err)
}

func micros(at *time.Time) C.int64_t {
	if at == nil {
		return 0
	}
	return C.int64_t(at.UnixMicro())
}

func (n *nativePassage) StartJob(key string, job *passage.Job) (string, error) {
	if hasNUL(key, job.Type, job.Key) {
		return "", errNUL()
	}
	a := newArena(room(len(job.Type)) + room(len(job.Payload)) + room(len(job.Key)) + room(len(job.Metadata)) + room(len(job.Tags)) + room(len(job.Retry)))
	defer a.free()
	var spec C.cairn_job_spec
	C.go_job_init(&spec)
	spec._type, spec.payload, spec.key = a.text(job.Type), a.json(job.Payload), a.textOrNull(job.Key)
	spec.priority, spec.max_attempts, spec.run_at_us = C.int32_t(job.Priority), C.int32_t(job.MaxAttempts), micros(job.RunAt)
	spec.metadata, spec.tags = a.json(job.Metadata), a.json(job.Tags)
	spec.timeout_ms, spec.retry = C.int64_t(job.TimeoutMS), a.json(job.Retry)
	var id idText
	var why C.cairn_error
	err := cError(C.cairn_passage_start_job(n.p, cText(key), &spec, &id[0], &why), &why)
	return C.GoString(&id[0]), asErr(err)
}

func fillStart(a *arena, start *passage.Start, options *C.cairn_start_options) {
	C.go_start_init(options)
	options.workflow, options.version = a.text(start.Workflow), C.int32_t(start.Version)
	options.input, options.key, options.start_at_us = a.json(start.Input), a.textOrNull(start.Key), micros(start.StartAt)
	options.metadata, options.tags = a.json(start.Metadata), a.json(start.Tags)
}

func startSize(start *passage.Start) int {
	return room(len(start.Workflow)) + room(len(start.Input)) + room(len(start.Key)) + room(len(start.Metadata)) + room(len(start.Tags))
}

func (n *nativePassage) StartWorkflow(key string, start *passage.Start) (string, error) {
	if hasNUL(key, start.Workflow, start.Key) {
		return "", errNUL()
	}
	a := newArena(startSize(start))
	defer a.free()
	var options C.cairn_start_options
	fillStart(a, start, &options)
	var id idText
	var why C.cairn_error
	err := cError(C.cairn_passage_start_workflow(n.p, cText(key), &options, &id[0], &why), &why)
	return C.GoString(&id[0]), asErr(err)
}

func (n *nativePassage) Call(key string, start *passage.Start, timeout time.Duration) ([]byte, error) {
	if hasNUL(key, start.Workflow, start.Key) {
		return nil, errNUL()
	}
	a := newArena(startSize(start))
	defer a.free()
	var options C.cairn_start_options
	fillStart(a, start, &options)
	var output *C.char
	var why C.cairn_error
	err := cError(C.cairn_passage_call(n.p, cText(key), &options, delayMS(timeout), &output, &why), &why)
	return goJSON(output), asErr(err)
}

func (n *nativePassage) Log(level, message string, data []byte) error {
	var why C.cairn_error
	return asErr(cError(C.cairn_passage_log(n.p, cText(level), cText(withoutNUL(message)), cJSON(data), &why), &why))
}

func (n *nativePassage) SetOutput(output []byte) error {
	var why C.cairn_error
	return asErr(cError(C.cairn_passage_set_output(n.p, cJSON(output), &why), &why))
}

func (n *nativePassage) SetError(text string) {
	C.cairn_passage_set_error(n.p, cText(withoutNUL(text)))
}

func (n *nativePassage) End(code string) (string, error) {
	end := C.cairn_code(C.CAIRN_OK)
	if code != "" {
		end = codeOf(code)
	}
	var status [24]C.char
	var why C.cairn_error
	err := cError(C.cairn_passage_end(n.p, end, &status[0], &why), &why)
	C.cairn_passage_free(n.p)
	n.p = nil
	return C.GoString(&status[0]), asErr(err)
}
