/* engine/check_commit.c - what a run of a function may commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "core/effect.h"
#include "definition/element.h"
#include "engine/batch.h"
#include "engine/check.h"

#include <string.h>

static cairn_code check_retry(struct check *check, const struct commit_step *step)
{
    enum backoff_kind kind;
    double jitter = step->compensation_jitter;
    if (!step->compensation_backoff)
        return CAIRN_OK;
    if (!backoff_from(step->compensation_backoff, &kind))
        return check_bad(check, "backoff", "does not exist");
    TRY(check_ms(check, "base_ms", step->compensation_base_ms, 0));
    TRY(check_ms(check, "max_ms", step->compensation_max_ms, 0));
    return jitter >= 0 && jitter <= 1 ? CAIRN_OK
                                      : check_bad(check, "jitter", "must be from 0 to 1");
}

/* As in workflow files: one that is not idempotent is called once at most. */
static cairn_code check_compensation(struct check *check, struct commit_step *step)
{
    bool is_idempotent = step->is_compensation_idempotent;
    if (!step->compensation)
        return CAIRN_OK;
    TRY(check_name(check, "compensation", step->compensation));
    if (step->compensation_max_attempts == -1)
        step->compensation_max_attempts = is_idempotent ? ATTEMPTS_DEFAULT : 1;
    TRY(check_range(check, "max_attempts", step->compensation_max_attempts, 0, INT32_MAX));
    if (!is_idempotent && step->compensation_max_attempts > 1)
        return check_bad(check, "max_attempts",
                         "must be 0 or 1, since a compensation that is not idempotent is "
                         "called once");
    TRY(check_retry(check, step));
    TRY(metadata_check(step->compensation_metadata, check->error));
    return check_ms(check, "timeout_ms", step->compensation_timeout_ms, 0);
}

static cairn_code check_numbers(struct check *check, const struct commit_step *step)
{
    if (step->seq > FUNCTION_STEPS_MAX) {
        fail(check->error, CAIRN_E_TOO_LARGE, "the function has too many steps");
        return fail_detail(check->error, CAIRN_E_TOO_LARGE, "%d are allowed",
                           FUNCTION_STEPS_MAX);
    }
    TRY(check_range(check, "seq", step->seq, 1, FUNCTION_STEPS_MAX));
    TRY(check_range(check, "attempts", step->attempts, 0, INT32_MAX));
    TRY(check_range(check, "max_attempts", step->max_attempts, 1, INT32_MAX));
    TRY(check_ms(check, "delay_ms", step->delay_ms, 0));
    TRY(check_range(check, "until", step->until_us, 0, INSTANT_MAX));
    return check_ms(check, "timeout_ms", step->timeout_ms, -1);
}

/* Words that exist; core decides which of them go together. */
static cairn_code check_words(struct check *check, const struct commit_step *step)
{
    TRY(check_present(check, "status", step->status));
    if (strcmp(step->status, "forgotten") != 0 && !step_status_from(step->status))
        return check_bad(check, "status", "does not exist");
    TRY(check_present(check, "kind", step->kind));
    return step_kind_from(step->kind) ? CAIRN_OK : check_bad(check, "kind", "does not exist");
}

static cairn_code check_texts(struct check *check, struct commit_step *step)
{
    TRY(check_json(check, "input", step->input));
    TRY(check_json(check, "output", step->output));
    TRY(check_optional(check, "event", step->event));
    TRY(check_optional(check, "signal_id", step->signal_id));
    bool has_error = !strcmp(step->status, "failed") || !strcmp(step->status, "ready");
    if (!step->error && has_error)
        step->error = "";
    return check_trim_error(check, &step->error);
}

static cairn_code check_step(struct check *check, struct commit_step *step)
{
    if (step->max_attempts == 0)
        step->max_attempts = 1;
    TRY(check_name(check, "key", step->key));
    if (effect_is_reserved(step->key))
        return check_bad(check, "key",
                         "ends in ~ and a number, which numbers a step's effects");
    TRY(check_words(check, step));
    TRY(check_numbers(check, step));
    TRY(check_texts(check, step));
    TRY(check_compensation(check, step));
    return check_outbound(check, step->outbound, step->outbound_count);
}

static cairn_code check_log(struct check *check, const struct commit_log *log)
{
    TRY(check_level(check, log->level));
    if (!log->message || log->message[0])
        TRY(check_text(check, "message", log->message, check->limits->max_payload));
    TRY(check_json(check, "data", log->data));
    TRY(check_optional(check, "step", log->step));
    return check_range(check, "attempt", log->attempt, 0, INT32_MAX);
}

static cairn_code check_child_id(struct check *check, const char *id, int32_t seq)
{
    TRY(check_present(check, "id", id));
    if (!id_is_valid(id))
        return check_bad(check, "id", "is not a UUID");
    return check_range(check, "seq", seq, 1, FUNCTION_STEPS_MAX);
}

static bool is_instance_of(const char *id, const char *task_id)
{
    size_t len = strlen(id);
    return strncmp(task_id, id, len) == 0 && task_id[len] == '.';
}

/* A run may be repeated, and its steps say what it has started: a key that is known is found. */
static cairn_code check_found(struct check *check, const char *on_existing, int64_t debounce_ms)
{
    if (on_existing_from(on_existing) > EXISTING_RETURN)
        return check_bad(check, "on_existing", "can only be return for what a function starts");
    if (debounce_ms)
        return check_bad(check, "debounce_ms", "is not for what a function starts");
    return CAIRN_OK;
}

static cairn_code check_children(struct check *check, struct commit_input *in)
{
    TRY(check_entries(check, "jobs", in->job_count, COMMIT_ENTRIES_MAX));
    for (size_t i = 0; i < in->job_count; i++) {
        TRY(check_child_id(check, in->jobs[i].id, in->jobs[i].seq));
        const cairn_job_spec *spec = &in->jobs[i].spec;
        TRY(check_job_spec(check, &in->jobs[i].spec));
        TRY(check_found(check, spec->on_existing, spec->debounce_ms));
    }
    TRY(check_entries(check, "instances", in->start_count, COMMIT_ENTRIES_MAX));
    for (size_t i = 0; i < in->start_count; i++) {
        TRY(check_child_id(check, in->starts[i].id, in->starts[i].seq));
        TRY(check_start_options(check, &in->starts[i].options));
        TRY(check_found(check, in->starts[i].options.on_existing, 0));
        const char *parent = in->starts[i].options.tell_instance;
        if (parent && !is_instance_of(parent, in->task_id))
            return check_bad(check, "tell_instance", "is not the function's own instance");
    }
    return CAIRN_OK;
}

static cairn_code check_outcome(struct check *check, struct commit_input *in)
{
    if (in->outcome == PASSAGE_NONE)
        return check_bad(check, "outcome", "does not exist");
    if (in->outcome == PASSAGE_COMPLETE && !in->output)
        in->output = "null";
    if (!in->error)
        in->error = "";
    TRY(check_json(check, "output", in->output));
    TRY(check_trim_error(check, &in->error));
    TRY(check_optional(check, "failed_step", in->failed_step));
    if (in->outcome == PASSAGE_GO_ON)
        TRY(check_range(check, "extend_ms", in->extend_ms, 1, UINT32_MAX));
    return CAIRN_OK;
}

/* Says where in a list something is wrong. */
static cairn_code at(struct check *check, cairn_code code, const char *list, size_t index)
{
    if (code && !check->error->detail[0])
        fail_detail(check->error, code, "in %s[%zu]", list, index);
    return code;
}

/* A run fills its buffer without knowing the engine's limits. */
cairn_code check_commit(struct check *check)
{
    struct commit_input *in = &check->request->in.commit;
    TRY(check_lease(check, in->worker, in->task_id, in->token));
    TRY(check_outcome(check, in));
    TRY(check_entries(check, "steps", in->step_count, COMMIT_ENTRIES_MAX));
    for (size_t i = 0; i < in->step_count; i++)
        TRY(at(check, check_step(check, &in->steps[i]), "steps", i));
    TRY(check_entries(check, "logs", in->log_count, COMMIT_ENTRIES_MAX));
    for (size_t i = 0; i < in->log_count; i++)
        TRY(at(check, check_log(check, &in->logs[i]), "logs", i));
    TRY(check_children(check, in));
    return in->is_claiming ? check_claim_options(check, &in->claim) : CAIRN_OK;
}
