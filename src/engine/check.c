/* engine/check.c - what may be asked, operation by operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/check.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/word.h"
#include "core/backoff.h"
#include "core/instance.h"
#include "core/job.h"
#include "core/tag.h"

#include <stdio.h>
#include <string.h>

/* ---- ids ------------------------------------------------------------------------------------ */

cairn_code check_nothing(struct check *check)
{
    (void)check;
    return CAIRN_OK;
}

cairn_code check_id(struct check *check)
{
    return check_present(check, "id", check->request->in.id);
}

/* A worker speaks of a task that it holds. */
cairn_code check_lease(struct check *check, const char *worker, const char *task_id,
                       const char *token)
{
    TRY(check_name(check, "worker", worker));
    TRY(check_present(check, "id", task_id));
    return check_present(check, "token", token);
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static cairn_code check_on_existing(struct check *check, const char *word, const char *key)
{
    enum on_existing on_existing = on_existing_from(word);
    if (word && !on_existing)
        return check_bad(check, "on_existing",
                         "must be return, fail, restart_failed or new_if_ended");
    if (on_existing > EXISTING_RETURN && !key)
        return check_bad(check, "on_existing", "needs a key");
    return CAIRN_OK;
}

static cairn_code check_debounce(struct check *check, const cairn_job_spec *spec)
{
    TRY(check_ms(check, "debounce_ms", spec->debounce_ms, 0));
    if (spec->debounce_ms && !spec->key)
        return check_bad(check, "debounce_ms", "needs a key");
    if (spec->debounce_ms && spec->run_at_us)
        return check_bad(check, "debounce_ms", "says when it runs, as run_at does: give one");
    return CAIRN_OK;
}

cairn_code check_job_spec(struct check *check, cairn_job_spec *spec)
{
    if (!spec->payload)
        spec->payload = "{}";
    TRY(check_name(check, "type", spec->type));
    TRY(check_json(check, "payload", spec->payload));
    TRY(check_optional(check, "key", spec->key));
    TRY(check_task_group(check, spec->group));
    TRY(metadata_check(spec->metadata, check->error));
    TRY(tags_check(spec->tags, check->error));
    TRY(check_range(check, "max_attempts", spec->max_attempts, 1, INT32_MAX));
    TRY(check_ms(check, "timeout_ms", spec->timeout_ms, 0));
    TRY(retry_check(spec->retry, check->error));
    TRY(check_on_existing(check, spec->on_existing, spec->key));
    TRY(check_debounce(check, spec));
    return check_range(check, "run_at", spec->run_at_us, 0, INSTANT_MAX);
}

cairn_code check_enqueue(struct check *check)
{
    struct enqueue_input *in = &check->request->in.enqueue;
    TRY(check_count(check, "jobs", in->count, 1));
    for (size_t i = 0; i < in->count; i++) {
        cairn_code code = check_job_spec(check, &in->specs[i]);
        if (code && in->count > 1 && !check->error->detail[0])
            fail_detail(check->error, code, "in job %zu of %zu", i + 1, in->count);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code check_registry(struct check *check)
{
    const cairn_registry_spec *in = &check->request->in.registry;
    TRY(check_name(check, "workflow_name", in->workflow_name));
    TRY(check_runtime(check, "runtime", in->runtime));
    return check_comment(check, "description", in->description);
}

cairn_code check_advance(struct check *check)
{
    return check_ms(check, "ms", check->request->in.advance.ms, 0);
}

/* ---- claims, reports, heartbeats ------------------------------------------------------------ */

static cairn_code check_function(struct check *check, const cairn_function_code *function)
{
    TRY(check_name(check, "function", function->name));
    TRY(check_range(check, "version", function->version, 1, INT32_MAX));
    return check_range(check, "from_version", function->from_version, 0, function->version);
}

static cairn_code check_known(struct check *check, const cairn_known *known)
{
    TRY(check_name(check, "instance_id", known->instance_id));
    TRY(check_range(check, "revision", known->revision, 0, INT64_MAX));
    return check_range(check, "before", known->before, 1, INT32_MAX);
}

static cairn_code check_served(struct check *check, const cairn_claim_options *claim)
{
    TRY(check_count(check, "types", claim->type_count, claim->function_count == 0));
    for (size_t i = 0; i < claim->type_count; i++)
        TRY(check_pattern(check, "type", claim->types[i]));
    TRY(check_count(check, "functions", claim->function_count, 0));
    for (size_t i = 0; i < claim->function_count; i++)
        TRY(check_function(check, &claim->functions[i]));
    return claim->runtime ? check_runtime(check, "runtime", claim->runtime) : CAIRN_OK;
}

cairn_code check_claim_options(struct check *check, const cairn_claim_options *claim)
{
    TRY(check_name(check, "worker", claim->worker));
    TRY(check_served(check, claim));
    TRY(check_count(check, "known", claim->known_count, 0));
    for (size_t i = 0; i < claim->known_count; i++)
        TRY(check_known(check, &claim->known[i]));
    TRY(check_range(check, "max", claim->max, 1, (int64_t)check->limits->max_batch));
    return check_range(check, "lease_ms", claim->lease_ms, 1, UINT32_MAX);
}

cairn_code check_claim(struct check *check)
{
    return check_claim_options(check, &check->request->in.claim);
}

cairn_code check_idle(struct check *check)
{
    return check_served(check, &check->request->in.claim);
}

cairn_code check_outbound(struct check *check, const cairn_outbound *events, size_t count)
{
    TRY(check_count(check, "outbound", count, 0));
    for (size_t i = 0; i < count; i++) {
        TRY(check_name(check, "event", events[i].event));
        TRY(check_json(check, "payload", events[i].payload));
    }
    return CAIRN_OK;
}

static cairn_code check_report(struct check *check, cairn_report *report)
{
    bool is_waiting = report->outcome == CAIRN_WAIT;
    TRY(check_present(check, "id", report->task_id));
    TRY(check_present(check, "token", report->token));
    TRY(check_range(check, "outcome", report->outcome, CAIRN_COMPLETE, CAIRN_WAIT));
    TRY(check_ms(check, "delay_ms", report->delay_ms, -1));
    if (report->outcome == CAIRN_COMPLETE)
        TRY(check_json(check, "output", report->output));
    if (is_waiting) {
        TRY(check_name(check, "event", report->event));
        TRY(check_ms(check, "timeout_ms", report->timeout_ms, -1));
    }
    if (report->outbound_count && !is_waiting && report->outcome != CAIRN_COMPLETE)
        return check_bad(check, "outbound", "goes only with complete and wait");
    TRY(check_outbound(check, report->outbound, report->outbound_count));
    return check_trim_error(check, &report->error);
}

cairn_code check_reports(struct check *check)
{
    struct report_input *in = &check->request->in.report;
    TRY(check_name(check, "worker", in->worker));
    TRY(check_count(check, "results", in->count, in->is_claiming ? 0 : 1));
    for (size_t i = 0; i < in->count; i++)
        TRY(check_report(check, &in->reports[i]));
    return in->is_claiming ? check_claim_options(check, &in->claim) : CAIRN_OK;
}

cairn_code check_heartbeat(struct check *check)
{
    const struct heartbeat_input *in = &check->request->in.heartbeat;
    return check_lease(check, in->worker, in->task_id, in->token);
}

cairn_code check_heartbeats(struct check *check)
{
    const struct heartbeats_input *in = &check->request->in.heartbeats;
    TRY(check_name(check, "worker", in->worker));
    TRY(check_count(check, "tasks", in->count, 1));
    for (size_t i = 0; i < in->count; i++)
        TRY(check_lease(check, in->worker, in->beats[i].task_id, in->beats[i].token));
    return CAIRN_OK;
}

cairn_code check_context(struct check *check)
{
    const struct context_input *in = &check->request->in.context;
    TRY(check_lease(check, in->worker, in->task_id, in->token));
    return check_optional(check, "step", in->step);
}

/* ---- workflows and instances ---------------------------------------------------------------- */

cairn_code check_deploy(struct check *check)
{
    struct deploy_input *in = &check->request->in.deploy;
    if (!in->text || in->len == 0)
        return check_bad(check, "workflow", "is empty");
    TRY(check_size(check, "workflow", in->len));
    if (!in->file)
        in->file = "workflow";
    return check_text(check, "file", in->file, check->limits->max_error);
}

cairn_code check_definition(struct check *check)
{
    const struct definition_input *in = &check->request->in.definition;
    TRY(check_name(check, "name", in->name));
    return check_range(check, "version", in->version, 0, INT32_MAX);
}

cairn_code check_start_options(struct check *check, cairn_start_options *in)
{
    if (!in->input)
        in->input = "{}";
    TRY(check_name(check, "workflow", in->workflow));
    TRY(check_range(check, "version", in->version, 0, INT32_MAX));
    TRY(check_json(check, "input", in->input));
    TRY(check_optional(check, "key", in->key));
    TRY(check_task_group(check, in->group));
    TRY(metadata_check(in->metadata, check->error));
    TRY(tags_check(in->tags, check->error));
    if (in->tell_instance || in->tell_event) {
        TRY(check_name(check, "tell_instance", in->tell_instance));
        TRY(check_name(check, "tell_event", in->tell_event));
    }
    TRY(check_on_existing(check, in->on_existing, in->key));
    return check_range(check, "start_at", in->start_at_us, 0, INSTANT_MAX);
}

cairn_code check_start(struct check *check)
{
    return check_start_options(check, &check->request->in.start);
}

cairn_code check_signal(struct check *check)
{
    cairn_signal_options *in = &check->request->in.signal;
    if (!in->payload)
        in->payload = "null";
    TRY(check_present(check, "id", in->instance_id));
    TRY(check_name(check, "event", in->event));
    TRY(check_json(check, "payload", in->payload));
    return check_optional(check, "id", in->id);
}

/* An instance keeps by whom it was stopped and why, so both must be given. */
/* Who asks: the body says so, else the token that the request came with. */
static const char *who_asks(const struct check *check, const char *by)
{
    return by ? by : check->request->token_name;
}

static cairn_code check_by(struct check *check, const char *by)
{
    if (!by)
        return fail(check->error, CAIRN_E_BAD_INPUT, "field \"by\" is missing");
    return check_name(check, "by", by);
}

/* Who asks for it, and why, may be left out. */
cairn_code check_control(struct check *check)
{
    struct control_input *in = &check->request->in.control;
    TRY(check_present(check, "id", in->id));
    in->by = who_asks(check, in->by);
    if (in->by)
        TRY(check_name(check, "by", in->by));
    return check_comment(check, "reason", in->reason);
}

cairn_code check_stop(struct check *check)
{
    struct control_input *in = &check->request->in.control;
    TRY(check_present(check, "id", in->id));
    in->by = who_asks(check, in->by);
    TRY(check_by(check, in->by));
    return check_text(check, "reason", in->reason, check->limits->max_error);
}

cairn_code check_decide(struct check *check)
{
    struct decide_input *in = &check->request->in.decide;
    TRY(check_present(check, "id", in->id));
    TRY(check_name(check, "step", in->step));
    in->by = who_asks(check, in->by);
    TRY(check_by(check, in->by));
    return check_comment(check, "comment", in->comment);
}

cairn_code check_requeue(struct check *check)
{
    const struct requeue_input *in = &check->request->in.requeue;
    TRY(check_present(check, "id", in->record));
    return check_json(check, "input", in->input);
}

cairn_code check_rerun(struct check *check)
{
    const struct rerun_input *in = &check->request->in.rerun;
    TRY(check_present(check, "id", in->id));
    TRY(check_optional(check, "from", in->from));
    return check_json(check, "input", in->input);
}

cairn_code check_outbox_claim(struct check *check)
{
    const struct outbox_input *in = &check->request->in.outbox;
    TRY(check_name(check, "worker", in->worker));
    TRY(check_range(check, "max", in->max, 1, (int64_t)check->limits->max_batch));
    return check_range(check, "lease_ms", in->lease_ms, 1, UINT32_MAX);
}

cairn_code check_outbox_release(struct check *check)
{
    struct outbox_release_input *in = &check->request->in.release;
    TRY(check_present(check, "id", in->id));
    TRY(check_name(check, "worker", in->worker));
    TRY(check_ms(check, "delay_ms", in->delay_ms, -1));
    TRY(check_range(check, "max_attempts", in->max_attempts, 0, INT32_MAX));
    return check_trim_error(check, &in->error);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static cairn_code check_page(struct check *check, const char *cursor, uint32_t limit)
{
    TRY(check_range(check, "limit", limit, 1, 1000));
    if (cursor && strlen(cursor) > check->limits->max_name)
        return check_bad(check, "cursor", "is invalid");
    return CAIRN_OK;
}

/* Cursors of lists that are in order of number. */
cairn_code check_number_page(struct check *check, const char *cursor, uint32_t limit)
{
    int64_t number;
    TRY(check_page(check, cursor, limit));
    if (cursor && !number_id_read(cursor, &number))
        return check_bad(check, "cursor", "is invalid");
    return CAIRN_OK;
}

cairn_code check_text_list(struct check *check)
{
    const struct page_input *in = &check->request->in.page;
    return check_page(check, in->cursor, in->limit);
}

cairn_code check_number_list(struct check *check)
{
    const struct page_input *in = &check->request->in.page;
    return check_number_page(check, in->cursor, in->limit);
}

cairn_code check_part_list(struct check *check)
{
    TRY(check_present(check, "id", check->request->in.page.id));
    return check_number_list(check);
}

static cairn_code check_levels(struct check *check, const char *levels)
{
    char level[8];
    for (size_t len; *levels; levels += len + (levels[len] == ',')) {
        len = strcspn(levels, ",");
        snprintf(level, sizeof level, "%.*s", (int)(len < sizeof level ? len : 0), levels);
        TRY(check_level(check, level));
    }
    return CAIRN_OK;
}

cairn_code check_history(struct check *check)
{
    const struct page_input *in = &check->request->in.page;
    TRY(check_optional(check, "step", in->step));
    TRY(check_optional(check, "type", in->type));
    TRY(check_optional(check, "level", in->level));
    TRY(check_optional(check, "text", in->text));
    if (in->type && !words_are_patterns(in->type))
        return check_bad(check, "type", "is not a pattern: % may stand only at the end");
    if (in->level)
        TRY(check_levels(check, in->level));
    return check_part_list(check);
}
