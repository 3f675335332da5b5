/* engine/check_commit.c - what a passage may commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "core/effect.h"
#include "engine/batch.h"
#include "engine/check.h"

#include <string.h>

static cairn_code check_json_or_none(struct check *check, const char *what, const char *text)
{
    return text ? check_json(check, what, text) : CAIRN_OK;
}

/* A passage fills its buffer without knowing the engine's limits. */
static cairn_code check_entries(struct check *check, const char *what, size_t count)
{
    if (count <= COMMIT_ENTRIES_MAX)
        return CAIRN_OK;
    fail(check->error, CAIRN_E_TOO_LARGE, "%s has too many entries", what);
    return fail_detail(check->error, CAIRN_E_TOO_LARGE, "%zu, %d are allowed", count,
                       COMMIT_ENTRIES_MAX);
}

static cairn_code check_ms(struct check *check, const char *what, int64_t ms, int64_t least)
{
    return check_range(check, what, ms, least, INSTANT_MAX / US_PER_MS);
}

static cairn_code check_compensation(struct check *check, const struct commit_step *step)
{
    cairn_code code = check_name(check, "compensation", step->compensation);
    if (!code)
        code =
            check_range(check, "max_attempts", step->compensation_max_attempts, 0, INT32_MAX);
    return code ? code : check_ms(check, "timeout_ms", step->compensation_timeout_ms, 0);
}

static cairn_code check_numbers(struct check *check, const struct commit_step *step)
{
    cairn_code code = check_range(check, "seq", step->seq, 1, FUNCTION_STEPS_MAX);
    if (code && step->seq > FUNCTION_STEPS_MAX) {
        code = fail(check->error, CAIRN_E_TOO_LARGE, "the function has too many steps");
        return fail_detail(check->error, code, "%d are allowed", FUNCTION_STEPS_MAX);
    }
    if (!code)
        code = check_range(check, "attempts", step->attempts, 0, INT32_MAX);
    if (!code)
        code = check_range(check, "max_attempts", step->max_attempts, 1, INT32_MAX);
    if (!code)
        code = check_ms(check, "delay_ms", step->delay_ms, 0);
    if (!code)
        code = check_range(check, "until", step->until_us, 0, INSTANT_MAX);
    return code ? code : check_ms(check, "timeout_ms", step->timeout_ms, -1);
}

static bool is_forgotten(const struct commit_step *step)
{
    return strcmp(step->status, "forgotten") == 0;
}

/* Words that exist; which of them go together, core knows. */
static cairn_code check_words(struct check *check, const struct commit_step *step)
{
    if (!step->status)
        return check_bad(check, "status", "is missing");
    if (!is_forgotten(step) && !step_status_from(step->status))
        return check_bad(check, "status", "does not exist");
    if (!step->kind)
        return check_bad(check, "kind", "is missing");
    return step_kind_from(step->kind) ? CAIRN_OK : check_bad(check, "kind", "does not exist");
}

static cairn_code check_texts(struct check *check, struct commit_step *step)
{
    cairn_code code = check_json_or_none(check, "input", step->input);
    if (!code)
        code = check_json_or_none(check, "output", step->output);
    if (!code)
        code = check_optional(check, "event", step->event);
    if (!code)
        code = check_optional(check, "signal_id", step->signal_id);
    if (!code && !step->error && !strcmp(step->status, "failed"))
        step->error = "";
    if (!code && !step->error && !strcmp(step->status, "ready"))
        step->error = "";
    return code ? code : check_trim_error(check, &step->error);
}

static cairn_code check_step(struct check *check, struct commit_step *step)
{
    if (step->max_attempts == 0)
        step->max_attempts = 1;
    cairn_code code = check_name(check, "key", step->key);
    if (!code && effect_is_reserved(step->key))
        code =
            check_bad(check, "key", "ends in ~ and a number, which numbers a step's effects");
    if (!code)
        code = check_words(check, step);
    if (!code)
        code = check_numbers(check, step);
    if (!code)
        code = check_texts(check, step);
    if (!code && step->compensation)
        code = check_compensation(check, step);
    return code ? code : check_outbound(check, step->outbound, step->outbound_count);
}

static bool is_level(const char *level)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    for (size_t i = 0; level && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(level, levels[i]) == 0)
            return true;
    return false;
}

static cairn_code check_log(struct check *check, const struct commit_log *log)
{
    if (!is_level(log->level)) {
        cairn_code code = check_bad(check, "level", "does not exist");
        return fail_hint(check->error, code, "debug, info, warn or error");
    }
    cairn_code code = CAIRN_OK;
    if (!log->message || log->message[0])
        code = check_text(check, "message", log->message, check->limits->max_payload);
    if (!code)
        code = check_json_or_none(check, "data", log->data);
    if (!code)
        code = check_optional(check, "step", log->step);
    return code ? code : check_range(check, "attempt", log->attempt, 0, INT32_MAX);
}

static cairn_code check_child_id(struct check *check, const char *id, int32_t seq)
{
    if (!id || !id_is_valid(id))
        return check_bad(check, "id", id ? "is not a UUID" : "is missing");
    return check_range(check, "seq", seq, 1, FUNCTION_STEPS_MAX);
}

static cairn_code check_children(struct check *check, struct commit_input *in)
{
    cairn_code code = check_entries(check, "jobs", in->job_count);
    for (size_t i = 0; i < in->job_count && !code; i++) {
        code = check_child_id(check, in->jobs[i].id, in->jobs[i].seq);
        if (!code)
            code = check_spec(check, &in->jobs[i].spec);
    }
    if (!code)
        code = check_entries(check, "instances", in->start_count);
    for (size_t i = 0; i < in->start_count && !code; i++) {
        code = check_child_id(check, in->starts[i].id, in->starts[i].seq);
        if (!code)
            code = check_start(check, &in->starts[i].options);
    }
    return code;
}

static cairn_code check_outcome(struct check *check, struct commit_input *in)
{
    cairn_code code = CAIRN_OK;
    if (in->outcome == PASSAGE_NONE)
        return check_bad(check, "outcome", "does not exist");
    if (in->outcome == PASSAGE_COMPLETE && !in->output)
        in->output = "null";
    if (in->output)
        code = check_json(check, "output", in->output);
    if (!in->error)
        in->error = "";
    if (!code)
        code = check_trim_error(check, &in->error);
    if (!code)
        code = check_optional(check, "failed_step", in->failed_step);
    if (!code && in->outcome == PASSAGE_GO_ON)
        code = check_range(check, "extend_ms", in->extend_ms, 1, UINT32_MAX);
    return code;
}

/* Says where in a list something is wrong. */
static cairn_code at(struct check *check, cairn_code code, const char *list, size_t index)
{
    if (code && !check->error->detail[0])
        fail_detail(check->error, code, "in %s[%zu]", list, index);
    return code;
}

cairn_code check_commit(struct check *check)
{
    struct commit_input *in = &check->request->in.commit;
    cairn_code code = check_name(check, "worker", in->worker);
    if (!code && (!in->task_id || !in->token))
        code = check_bad(check, in->task_id ? "token" : "id", "is missing");
    if (!code)
        code = check_outcome(check, in);
    if (!code)
        code = check_entries(check, "steps", in->step_count);
    for (size_t i = 0; i < in->step_count && !code; i++)
        code = at(check, check_step(check, &in->steps[i]), "steps", i);
    if (!code)
        code = check_entries(check, "logs", in->log_count);
    for (size_t i = 0; i < in->log_count && !code; i++)
        code = at(check, check_log(check, &in->logs[i]), "logs", i);
    if (!code)
        code = check_children(check, in);
    return code || !in->is_claiming ? code : check_claim(check, &in->claim);
}
