/* tests/sim/differential_function.c - functions on two engines: commits of all kinds, and passages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "differential.h"
#include "engine/engine.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { STEPS_AT_ONCE = 4 };

void twin_deploy_function(struct twins *twins)
{
    char text[128];
    for (int version = 1; version <= 2; version++) {
        snprintf(text, sizeof text,
                 "{\"function\": \"f%d\", \"version\": %d, \"dlq\": %s, \"max_attempts\": %d}",
                 twins->functions, version, twin_below(twins, 4) ? "false" : "true",
                 1 + twin_below(twins, 3));
        for_both(side, twins) twin_answer(
            side, "deploy", cairn_workflow_deploy(side->engine, "f.json", text, NULL, NULL));
    }
    twins->functions++;
}

/* ---- texts ------------------------------------------------------------------------------- */

static void add_received(struct buf *out, const cairn_received *const *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "\n    event %s", events[i]->event);
        twin_add_text(out, events[i]->id);
        twin_add_json(out, events[i]->payload);
        twin_add_time(out, events[i]->received_at_us);
    }
}

void twin_add_memory(struct buf *out, const cairn_memory *memory)
{
    if (!memory)
        return;
    buf_printf(out, "\n  version %d, revision %lld, %d places, forced %d", memory->version,
               (long long)memory->revision, memory->places, memory->is_forced);
    for (size_t i = 0; i < memory->step_count; i++)
        twin_add_step(out, memory->steps[i]);
    add_received(out, memory->events, memory->event_count);
}

void twin_add_logs(struct side *side, const char *instance_id, struct buf *out)
{
    cairn_error error = {0};
    cairn_page *logs = NULL;
    CHECK_OK(cairn_instance_logs(side->engine, instance_id, NULL, 1000, &logs, &error));
    for (size_t i = 0; i < cairn_page_count(logs); i++) {
        const cairn_log *log = cairn_page_log(logs, i);
        buf_printf(out, "\n  log %s %d", log->level, log->attempt);
        twin_add_text(out, log->message);
        twin_add_text(out, log->step);
        twin_add_json(out, log->data);
        twin_add_time(out, log->at_us);
    }
    cairn_page_free(logs);
}

/* Functions start children, which nobody else is told of. */
void twin_learn_instances(struct twins *twins)
{
    cairn_error error = {0};
    cairn_page *page = NULL;
    CHECK_OK(cairn_instance_list(twins->sides[0].engine, NULL, &page, &error));
    twins->instance_count = 0;
    for (size_t i = cairn_page_count(page); i > 0 && twins->instance_count < SUBJECTS_MAX; i--)
        snprintf(twins->instances[twins->instance_count++], 40, "%s",
                 cairn_page_instance(page, i - 1)->id);
    cairn_page_free(page);
}

/* ---- what a client knows ----------------------------------------------------------------- */

static void know_step(struct known_memory *memory, int32_t seq, const char *key,
                      const char *kind)
{
    if (memory->step_count == KNOWN_MAX)
        return;
    struct known_step *step = &memory->steps[memory->step_count++];
    step->seq = seq;
    snprintf(step->key, sizeof step->key, "%s", key);
    snprintf(step->kind, sizeof step->kind, "%s", kind);
}

static void know_signal(struct known_memory *memory, const cairn_received *event)
{
    char *known = memory->signals[strcmp(event->event, "e0") != 0];
    if (!known[0])
        snprintf(known, sizeof memory->signals[0], "%s", event->id);
}

void twin_learn_memory(struct known_task *known, const cairn_memory *memory)
{
    known->memory = (struct known_memory){.is_there = memory != NULL};
    if (!memory)
        return;
    known->memory.revision = memory->revision;
    known->memory.places = memory->places;
    for (size_t i = 0; i < memory->step_count; i++)
        know_step(&known->memory, memory->steps[i]->seq, memory->steps[i]->name,
                  memory->steps[i]->kind);
    for (size_t i = 0; i < memory->event_count; i++)
        know_signal(&known->memory, memory->events[i]);
}

/* ---- a commit ---------------------------------------------------------------------------- */

/* What both are told; the texts last until both have answered. */
struct draft {
    struct commit_step steps[STEPS_AT_ONCE];
    char keys[STEPS_AT_ONCE][32], ids[STEPS_AT_ONCE][40], outputs[STEPS_AT_ONCE][64];
    size_t step_count;
    int32_t next; /* place */
    char instance[40];
    struct commit_log logs[2];
    struct commit_job jobs[STEPS_AT_ONCE];
    struct commit_start starts[STEPS_AT_ONCE];
    cairn_outbound outbound;
    struct commit_input in;
};

static const char *pick(struct twins *twins, const char *const *words, int count)
{
    return words[twin_below(twins, count)];
}

/* Mostly what this kind can be. */
static const char *draw_status(struct twins *twins, const char *kind)
{
    static const char *const task[] = {"completed", "completed", "failed", "ready"};
    static const char *const wait[] = {"waiting", "waiting", "completed"};
    static const char *const any[] = {"completed", "failed",  "ready",
                                      "waiting",   "running", "forgotten"};
    if (twin_below(twins, 20) == 0)
        return pick(twins, any, 6);
    if (strcmp(kind, "task") == 0)
        return pick(twins, task, 4);
    if (strcmp(kind, "sleep") == 0 || strcmp(kind, "wait") == 0)
        return pick(twins, wait, 3);
    return "completed";
}

/* The next place under a new key, a known one, or some place. */
static void draw_place(struct twins *twins, const struct known_memory *memory,
                       struct draft *draft, struct commit_step *step)
{
    static const char *const kinds[] = {"task", "task", "wait", "sleep", "value", "start"};
    char *key = draft->keys[draft->step_count];
    int what = twin_below(twins, 100);
    step->kind = twin_below(twins, 60) ? pick(twins, kinds, 6) : "join";
    snprintf(key, 32, "k%d", twin_below(twins, 1000));
    step->key = key;
    if (what < 20 && memory->step_count) {
        const struct known_step *known =
            &memory->steps[twin_below(twins, (int)memory->step_count)];
        snprintf(key, 32, "%s", known->key);
        step->seq = known->seq;
        if (twin_below(twins, 8))
            step->kind = known->kind;
    } else if (what < 94) {
        step->seq = draft->next++;
    } else {
        step->seq = twin_below(twins, 8) - 1;
    }
}

static void draw_wait(struct twins *twins, const struct known_memory *memory,
                      struct commit_step *step)
{
    int event = twin_below(twins, 2);
    step->event = twin_below(twins, 30) ? event ? "e1" : "e0" : NULL;
    step->timeout_ms = twin_below(twins, 2) ? -1 : twin_below(twins, 3000);
    if (strcmp(step->status, "completed") == 0)
        step->signal_id = memory->signals[event][0] && twin_below(twins, 5)
                              ? memory->signals[event]
                              : "unheard";
}

static void draw_start(struct twins *twins, struct draft *draft, const struct commit_step *step)
{
    size_t index = (size_t)(step - draft->steps);
    struct commit_input *in = &draft->in;
    char id[ID_TEXT];
    id_make(&twins->rng, twins->now_us, id);
    snprintf(draft->ids[index], sizeof draft->ids[index], "%s", id);
    snprintf(draft->outputs[index], sizeof draft->outputs[index], "{\"id\": \"%s\"}", id);
    if (twin_below(twins, 2)) {
        struct commit_job *job = &draft->jobs[in->job_count++];
        *job = (struct commit_job){
            .id = draft->ids[index], .seq = step->seq, .spec = CAIRN_JOB_DEFAULTS};
        job->spec.type = "j";
        job->spec.key = twin_below(twins, 3) ? NULL : "same";
    } else {
        struct commit_start *start = &draft->starts[in->start_count++];
        *start = (struct commit_start){
            .id = draft->ids[index], .seq = step->seq, .options = CAIRN_START_DEFAULTS};
        start->options.workflow = twin_below(twins, 12) ? "w0" : "unknown";
        start->options.key = twin_below(twins, 3) ? NULL : "same";
        if (twin_below(twins, 2)) {
            start->options.tell_instance = draft->instance;
            start->options.tell_event = twin_below(twins, 2) ? "e0" : "e1";
        }
    }
}

static void draw_step(struct twins *twins, const struct known_memory *memory,
                      struct draft *draft)
{
    struct commit_step *step = &draft->steps[draft->step_count];
    size_t index = draft->step_count;
    *step = (struct commit_step){.max_attempts = 1 + twin_below(twins, 3), .timeout_ms = -1};
    draw_place(twins, memory, draft, step);
    draft->step_count++;
    step->status = draw_status(twins, step->kind);
    step->attempts = twin_below(twins, 3);
    step->input = twin_below(twins, 2) ? "{\"b\": 1, \"a\": [2]}" : NULL;
    snprintf(draft->outputs[index], sizeof draft->outputs[index], "{\"n\": %d}",
             twin_below(twins, 100));
    step->output = draft->outputs[index];
    step->error = strcmp(step->status, "completed") ? "oops" : NULL;
    step->delay_ms = twin_below(twins, 3000);
    if (strcmp(step->kind, "wait") == 0)
        draw_wait(twins, memory, step);
    if (strcmp(step->kind, "start") == 0)
        draw_start(twins, draft, step);
    if (strcmp(step->kind, "task") == 0 && twin_below(twins, 3) == 0) {
        step->compensation = "u";
        step->compensation_max_attempts = twin_below(twins, 3);
        step->is_compensation_idempotent = true;
    }
    if (strcmp(step->kind, "task") == 0 && twin_below(twins, 6) == 0) {
        step->outbound = &draft->outbound;
        step->outbound_count = 1;
    }
}

static void draw_logs(struct twins *twins, struct draft *draft)
{
    draft->in.log_count = (size_t)twin_below(twins, 3);
    for (size_t i = 0; i < draft->in.log_count; i++)
        draft->logs[i] = (struct commit_log){.level = i ? "warn" : "info",
                                             .message = "said",
                                             .data = i ? "{\"b\": 1, \"a\": 2}" : NULL,
                                             .step = i ? "k1" : NULL,
                                             .attempt = (int32_t)i};
}

static void draw_commit(struct twins *twins, const struct known_task *task,
                        struct draft *ret_draft)
{
    static const enum passage_outcome outcomes[] = {
        PASSAGE_GO_ON,   PASSAGE_GO_ON,   PASSAGE_GO_ON,    PASSAGE_GO_ON, PASSAGE_SUSPEND,
        PASSAGE_SUSPEND, PASSAGE_SUSPEND, PASSAGE_COMPLETE, PASSAGE_FAIL,  PASSAGE_MISMATCH};
    const struct known_memory *memory = &task->memory;
    *ret_draft = (struct draft){.next = memory->places ? memory->places : 1,
                                .outbound = CAIRN_OUTBOUND_DEFAULTS};
    struct commit_input *in = &ret_draft->in;
    ret_draft->outbound.event = "told";
    snprintf(ret_draft->instance, sizeof ret_draft->instance, "%.*s",
             (int)strcspn(task->id, "."), task->id);
    int count = twin_below(twins, STEPS_AT_ONCE);
    for (int i = 0; i < count; i++)
        draw_step(twins, memory, ret_draft);
    draw_logs(twins, ret_draft);
    in->worker = task->worker;
    in->task_id = task->id;
    in->token = twin_below(twins, 20) ? task->token : "0123456789abcdef";
    in->revision = memory->revision - (twin_below(twins, 10) == 0);
    in->step_count = ret_draft->step_count;
    in->outcome = outcomes[twin_below(twins, 10)];
    in->output = in->outcome == PASSAGE_COMPLETE ? "{\"z\": 1.5, \"n\": 2}" : NULL;
    in->error = in->outcome == PASSAGE_FAIL || in->outcome == PASSAGE_MISMATCH ? "no" : NULL;
    in->failed_step = twin_below(twins, 2) && count ? ret_draft->keys[0] : NULL;
    in->extend_ms = in->outcome == PASSAGE_GO_ON ? 1000 + (uint32_t)twin_below(twins, 9000) : 0;
}

static void *copy(struct request *request, const void *items, size_t count, size_t size)
{
    void *array = arena_array(&request->arena, count + 1, size);
    CHECK(array, "memory ran out");
    return count ? memcpy(array, items, count * size) : array;
}

static void add_committed(struct side *side, const struct request *request)
{
    const struct committed_output *out = &request->out.committed;
    struct buf *text = &side->answer;
    twin_answer(side, "commit", request->code);
    if (request->code) {
        twin_add_text(text, request->error.message);
        return;
    }
    buf_printf(text, " revision %lld, conflict %d", (long long)out->revision, out->is_conflict);
    twin_add_text(text, out->status);
    twin_add_text(text, out->stop);
    twin_add_time(text, out->lease_until_us);
    size_t count = request->in.commit.job_count + request->in.commit.start_count;
    for (size_t i = 0; out->started && i < count; i++)
        buf_printf(text, " %s %d", out->started[i].id, out->started[i].existing);
    add_received(text, out->events, out->event_count);
    for (size_t i = 0; i < request->out.page.count; i++) {
        twin_add_text(text, request->out.page.tasks[i].id);
        twin_add_text(text, request->out.page.tasks[i].token);
        twin_add_memory(text, request->out.page.tasks[i].memory);
    }
}

static void add_subject(char list[SUBJECTS_MAX][40], size_t *count, const cairn_enqueued *added)
{
    if (!added->existing && *count < SUBJECTS_MAX)
        snprintf(list[(*count)++], 40, "%s", added->id);
}

/* What the client goes on with, and what there is to look at. */
static void learn_commit(struct twins *twins, struct known_task *task,
                         const struct draft *draft, const struct request *request)
{
    const struct committed_output *out = &request->out.committed;
    const struct commit_input *in = &request->in.commit;
    if (request->code)
        return;
    for (size_t i = 0; i < draft->step_count; i++)
        if (draft->steps[i].seq >= task->memory.places)
            know_step(&task->memory, draft->steps[i].seq, draft->steps[i].key,
                      draft->steps[i].kind);
    task->memory.revision = out->revision;
    task->memory.places = draft->next;
    for (size_t i = 0; out->started && i < in->job_count; i++)
        add_subject(twins->jobs, &twins->job_count, &out->started[i]);
    for (size_t i = 0; out->started && i < in->start_count; i++)
        add_subject(twins->instances, &twins->instance_count, &out->started[in->job_count + i]);
    if (out->is_conflict)
        memset(task->memory.signals, 0, sizeof task->memory.signals);
    for (size_t i = 0; i < out->event_count; i++)
        know_signal(&task->memory, out->events[i]);
    struct known_task from = *task; /* the list may grow under it */
    for (size_t i = 0; i < request->out.page.count; i++)
        twin_learn(twins, from.worker, &request->out.page.tasks[i]);
}

static void send(struct twins *twins, struct side *side, struct known_task *task,
                 const struct draft *draft, const cairn_claim_options *claim)
{
    struct request *request = request_new(OP_COMMIT);
    CHECK(request, "memory ran out");
    struct commit_input *in = &request->in.commit;
    *in = draft->in;
    in->steps = copy(request, draft->steps, in->step_count, sizeof *in->steps);
    in->logs = copy(request, draft->logs, in->log_count, sizeof *in->logs);
    in->jobs = copy(request, draft->jobs, in->job_count, sizeof *in->jobs);
    in->starts = copy(request, draft->starts, in->start_count, sizeof *in->starts);
    if (claim) {
        in->is_claiming = true;
        in->claim = *claim;
    }
    engine_run(side->engine, request);
    add_committed(side, request);
    if (side != twins->sides) /* the last to be asked */
        learn_commit(twins, task, draft, request);
    request_free(request);
}

/* Mostly of the passage that was claimed last. */
static struct known_task *pick_task(struct twins *twins)
{
    if (twin_below(twins, 12) == 0)
        return &twins->tasks[twin_below(twins, (int)twins->task_count)];
    for (size_t i = twins->task_count; i > 0; i--)
        if (twins->tasks[i - 1].memory.is_there && twin_below(twins, 4))
            return &twins->tasks[i - 1];
    return &twins->tasks[twins->task_count - 1];
}

void twin_commit(struct twins *twins)
{
    static const char *const all = "%";
    struct draft draft;
    struct known_task *task = pick_task(twins);
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    draw_commit(twins, task, &draft);
    claim.worker = task->worker;
    claim.types = (const char **)&all;
    claim.type_count = 1;
    claim.lease_ms = 5000;
    bool is_claiming = twin_below(twins, 5) == 0;
    int times = twin_below(twins, 12) ? 1 : 2; /* its answer may get lost */
    for (int i = 0; i < times; i++)
        for_both(side, twins) send(twins, side, task, &draft, is_claiming ? &claim : NULL);
}

/* ---- a passage --------------------------------------------------------------------------- */

static cairn_outcome call_step(cairn_work *work, void *arg)
{
    const cairn_task *task = cairn_work_task(work);
    (void)arg;
    if (task->attempt == 1) {
        cairn_work_set_error(work, "oops");
        return CAIRN_FAIL;
    }
    cairn_work_set_output(work, "{\"b\": 1, \"a\": 2}");
    return CAIRN_COMPLETE;
}

/* Two steps side by side; the second is the first to end. */
static cairn_code run_both(cairn_passage *passage)
{
    static const char *const keys[] = {"x", "y"};
    cairn_work *works[2] = {NULL, NULL};
    cairn_code code = CAIRN_OK;
    for (int i = 0; i < 2 && !code; i++) {
        cairn_step_options step = CAIRN_STEP_DEFAULTS;
        step.key = keys[i];
        code = cairn_passage_begin_step(passage, &step, &works[i], NULL, NULL);
    }
    for (int i = 1; i >= 0; i--) {
        if (!works[i])
            continue;
        cairn_outcome outcome = call_step(works[i], NULL);
        cairn_code ended = cairn_passage_end_step(passage, works[i], outcome, NULL, NULL);
        code = code ? code : ended;
    }
    return code;
}

static cairn_code run_child(cairn_passage *passage)
{
    cairn_start_options child = CAIRN_START_DEFAULTS;
    const char *output = NULL;
    child.workflow = "w0";
    cairn_code code = cairn_passage_call(passage, "ask", &child, 9000, &output, NULL);
    if (code == CAIRN_E_STEP_FAILED || code == CAIRN_E_TIMED_OUT)
        return CAIRN_OK;
    return code ? code : cairn_passage_set_output(passage, output, NULL);
}

static cairn_code run_code(cairn_passage *passage)
{
    double number;
    char id[40];
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    step.key = "s";
    step.run = call_step;
    step.compensation = "u";
    spec.type = "j";
    cairn_passage_log(passage, "info", "it begins", "{\"b\": 1}", NULL);
    cairn_code code = cairn_passage_random(passage, &number, NULL);
    if (!code)
        code = cairn_passage_step(passage, &step, NULL, NULL);
    if (!code)
        code = run_both(passage);
    if (!code)
        code = run_child(passage);
    if (!code)
        code = cairn_passage_start_job(passage, NULL, &spec, id, NULL);
    if (!code)
        code = cairn_passage_sleep(passage, NULL, 700, NULL);
    if (!code)
        code = cairn_passage_wait_event(passage, NULL, "e0", 5000, NULL, NULL);
    if (code == CAIRN_E_TIMED_OUT)
        code = cairn_passage_uuid(passage, id, NULL);
    if (!code)
        cairn_passage_log(passage, "warn", "it ends", NULL, NULL);
    return code;
}

void twin_run_passage(struct side *side, const char *worker, const cairn_task *task,
                      bool is_passage_mode)
{
    cairn_passage *passage;
    char status[24] = "";
    cairn_error error = {0};
    CHECK_OK(cairn_passage_open(side->engine, worker, task,
                                is_passage_mode ? CAIRN_COMMIT_PASSAGE : CAIRN_COMMIT_STEP,
                                24 * 3600 * 1000, &passage, &error));
    cairn_code code = cairn_passage_end(passage, run_code(passage), status, &error);
    cairn_passage_free(passage);
    twin_answer(side, " passage", code);
    twin_add_text(&side->answer, status);
}
