/* tests/unit/fake_engine.c - an engine that writes down what a passage says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake_engine.h"

#include "test.h"

static void say(struct fake_engine *fake, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct fake_engine *fake, const char *format, ...)
{
    size_t len = strlen(fake->said);
    va_list args;
    va_start(args, format);
    vsnprintf(fake->said + len, sizeof fake->said - len, format, args);
    va_end(args);
}

void fake_init(struct fake_engine *fake)
{
    memset(fake, 0, sizeof *fake);
    fake->now_us = 1000000;
    fake->memory = (cairn_memory){.version = 1, .revision = 7, .places = 1};
    for (size_t i = 0; i < FAKE_STEPS; i++)
        fake->step_pointers[i] = &fake->steps[i];
    fake->memory.steps = fake->step_pointers;
    fake->task = (cairn_task){.id = "i.0",
                              .token = "t",
                              .kind = "function",
                              .type = "order",
                              .input = "{}",
                              .instance_id = "i",
                              .step = "order",
                              .attempt = 1,
                              .max_attempts = 3,
                              .memory = &fake->memory};
}

cairn_step *fake_remember(struct fake_engine *fake, const char *key, const char *kind,
                          const char *status, const char *output)
{
    cairn_step *step = &fake->steps[fake->memory.step_count++];
    *step = (cairn_step){.name = key,
                         .kind = kind,
                         .status = status,
                         .output = output,
                         .seq = fake->memory.places++};
    return step;
}

cairn_passage *fake_open(struct fake_engine *fake, cairn_commit_mode mode)
{
    struct passage_options options = {.exchange = fake_exchange,
                                      .exchange_arg = fake,
                                      .worker = "w",
                                      .task = &fake->task,
                                      .commit = mode,
                                      .lease_ms = 3600 * 1000,
                                      .seed = 1};
    cairn_passage *passage = NULL;
    return passage_new(&options, &passage, NULL) ? NULL : passage;
}

static void say_step(struct fake_engine *fake, const struct commit_step *step)
{
    say(fake, " %d.%s %s %s", (int)step->seq, step->key, step->kind, step->status);
    if (strcmp(step->status, "completed") == 0)
        say(fake, " %s", step->output ? step->output : "null");
    if (step->attempts)
        say(fake, " attempts %d/%d", (int)step->attempts, (int)step->max_attempts);
    if (step->error)
        say(fake, " error %s", step->error);
    if (step->delay_ms)
        say(fake, " delay %lld", (long long)step->delay_ms);
    if (step->until_us)
        say(fake, " until %lld", (long long)step->until_us);
    if (step->event)
        say(fake, " event %s timeout %lld", step->event, (long long)step->timeout_ms);
    if (step->signal_id)
        say(fake, " took %s", step->signal_id);
    if (step->compensation)
        say(fake, " undo %s/%d", step->compensation, (int)step->compensation_max_attempts);
    for (size_t i = 0; i < step->outbound_count; i++)
        say(fake, " emit %s %s", step->outbound[i].event,
            step->outbound[i].payload ? step->outbound[i].payload : "null");
    say(fake, ";");
}

static void say_log(struct fake_engine *fake, const struct commit_log *log)
{
    say(fake, " log %s %s", log->level, log->message);
    if (log->data)
        say(fake, " %s", log->data);
    if (log->step)
        say(fake, " of %s/%d", log->step, (int)log->attempt);
    say(fake, ";");
}

static void say_commit(struct fake_engine *fake, const struct commit_input *in)
{
    say(fake, "%s", passage_outcome_name(in->outcome));
    for (size_t i = 0; i < in->step_count; i++)
        say_step(fake, &in->steps[i]);
    for (size_t i = 0; i < in->log_count; i++)
        say_log(fake, &in->logs[i]);
    for (size_t i = 0; i < in->job_count; i++)
        say(fake, " job %s at %d;", in->jobs[i].spec.type, (int)in->jobs[i].seq);
    for (size_t i = 0; i < in->start_count; i++)
        say(fake, " start %s at %d;", in->starts[i].options.workflow, (int)in->starts[i].seq);
    if (in->output)
        say(fake, " output %s", in->output);
    if (in->error)
        say(fake, " error %s", in->error);
    if (in->failed_step)
        say(fake, " of %s", in->failed_step);
    say(fake, "\n");
    fake->revision = in->revision;
}

static const char *status_after(enum passage_outcome outcome)
{
    static const char *const words[PASSAGE_OUTCOME_COUNT] = {[PASSAGE_NONE] = "",
                                                             [PASSAGE_GO_ON] = "running",
                                                             [PASSAGE_COMPLETE] = "completed",
                                                             [PASSAGE_FAIL] = "failed",
                                                             [PASSAGE_SUSPEND] = "waiting",
                                                             [PASSAGE_AGAIN] = "ready",
                                                             [PASSAGE_MISMATCH] = "ready"};
    return words[outcome];
}

static void answer_commit(const struct fake_answer *answer, struct request *request)
{
    const struct commit_input *in = &request->in.commit;
    struct committed_output *out = &request->out.committed;
    bool goes_on = in->outcome == PASSAGE_GO_ON && !answer->is_released;
    out->status = status_after(in->outcome);
    out->stop = answer->stop;
    out->lease_until_us = goes_on ? 99 : 0;
    out->revision = in->revision + 1;
    out->is_conflict = answer->is_conflict;
    out->events = answer->events;
    out->event_count = answer->event_count;
}

cairn_code fake_exchange(void *arg, struct request *request)
{
    struct fake_engine *fake = arg;
    static const struct fake_answer fine = {0};
    if (request->op == OP_CLOCK_NOW) {
        request->out.now_us = fake->now_us;
        return CAIRN_OK;
    }
    const struct fake_answer *answer =
        fake->answered < FAKE_ANSWERS ? &fake->answers[fake->answered++] : &fine;
    if (request->op == OP_COMMIT) {
        say_commit(fake, &request->in.commit);
        answer_commit(answer, request);
    } else {
        say(fake, request->in.heartbeat.extend_ms ? "extend\n" : "look\n");
        fake->extended += request->in.heartbeat.extend_ms > 0;
        request->out.heartbeat.stop = answer->stop;
    }
    request->code = answer->code;
    if (answer->code)
        snprintf(request->error.message, sizeof request->error.message, "%s",
                 answer->message ? answer->message : "no");
    return answer->code;
}

/* ---- steps, and how they go -----------------------------------------------------------------
 */

static cairn_outcome run_code(cairn_work *work, void *arg)
{
    struct code *code = arg;
    code->calls++;
    code->seen = *cairn_work_task(work);
    snprintf(code->seen_key, sizeof code->seen_key, "%s", code->seen.key);
    if (code->fake) {
        snprintf(code->said, sizeof code->said, "%.255s", code->fake->said);
        code->fake->now_us += code->takes_us;
    }
    if (code->output)
        cairn_work_set_output(work, code->output);
    if (code->error)
        cairn_work_set_error(work, code->error);
    if (code->delay_ms)
        cairn_work_set_delay(work, code->delay_ms);
    if (code->emits)
        cairn_work_emit(work, code->emits, "1");
    return code->outcome;
}

cairn_step_options options_of(const char *key, struct code *code)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = key;
    options.run = run_code;
    options.arg = code;
    if (!code->outcome)
        code->outcome = CAIRN_COMPLETE;
    return options;
}

cairn_code do_step(cairn_passage *passage, const char *key, struct code *code,
                   const char **ret_output, cairn_error *reterr)
{
    cairn_step_options options = options_of(key, code);
    return cairn_passage_step(passage, &options, ret_output, reterr);
}

void check_end(cairn_passage *passage, cairn_code code, const char *status)
{
    char seen[24];
    cairn_error error;
    CHECK_OK(cairn_passage_end(passage, code, seen, &error));
    cairn_passage_free(passage);
    CHECK_STR(seen, status);
}

cairn_code start_both(cairn_passage *passage, char job_id[40], char start_id[40])
{
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    job.type = "mail.v1";
    start.workflow = "child";
    cairn_code code = cairn_passage_start_job(passage, NULL, &job, job_id, NULL);
    return code ? code : cairn_passage_start_workflow(passage, "kid", &start, start_id, NULL);
}
