/* engine/batch_event.c - the audit trail of a batch: events of jobs, instances and steps, gathered in
 * the order in which they happen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/hash.h"
#include "base/json.h"
#include "engine/batch.h"

#include <stdio.h>

cairn_code event_list_add(struct arena *arena, struct event_list *list,
                          const struct event_row *event, cairn_error *reterr)
{
    struct event_row *row = list_add(arena, list);
    NEED(row && event->data, reterr);
    *row = *event;
    return CAIRN_OK;
}

cairn_code batch_append_events(struct batch *batch)
{
    struct event_list *events = &batch->events;
    size_t count = events->count;
    if (count == 0)
        return CAIRN_OK;
    events->count = 0;
    batch->has_told = true;
    return STORE(batch, append_events, events->items, count);
}

bool batch_has_events(const struct batch *batch)
{
    return batch->has_told || batch->events.count > 0;
}

/* ---- data ----------------------------------------------------------------------------------- */

static void add_text(struct json_out *out, const char *key, const char *text)
{
    if (!text)
        return;
    json_str(json_key(out, key), text);
}

static void add_time(struct json_out *out, const char *key, int64_t at_us)
{
    if (!at_us)
        return;
    json_time(json_key(out, key), at_us);
}

static const char *job_data(struct batch *batch, const struct job_facts *facts)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    add_text(&out, "worker", facts->worker);
    if (facts->attempt)
        json_int(json_key(&out, "attempt"), facts->attempt);
    add_text(&out, "error", facts->error);
    add_text(&out, "reason", facts->reason);
    add_time(&out, "run_at", facts->run_at_us);
    if (facts->extend_us) {
        char seconds[32];
        snprintf(seconds, sizeof seconds, "%g", (double)facts->extend_us / (double)US_PER_SEC);
        json_raw(json_key(&out, "extended_by_seconds"), seconds);
    }
    json_close(&out, '}');
    return buf_keep(&buf, &batch->arena);
}

static const char *flow_data(struct batch *batch, const struct flow_facts *facts)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    add_text(&out, "step_name", facts->step_name);
    add_text(&out, "status", facts->status);
    if (facts->has_retry_count)
        json_int(json_key(&out, "retry_count"), facts->retry_count);
    add_text(&out, "error", facts->error);
    add_text(&out, "worker", facts->worker);
    add_text(&out, facts->decision ? "decided_by" : "requested_by", facts->by);
    add_text(&out, "decision", facts->decision);
    add_text(&out, "comment", facts->comment);
    add_text(&out, "reason", facts->reason);
    add_text(&out, "event", facts->event);
    add_text(&out, "signal", facts->signal_id);
    add_time(&out, "at", facts->run_at_us);
    json_close(&out, '}');
    return buf_keep(&buf, &batch->arena);
}

/* ---- events --------------------------------------------------------------------------------- */

cairn_code batch_add_job_event(struct batch *batch, const char *job_id, enum job_event type,
                               const struct job_facts *facts)
{
    struct event_row event = {.subject_id = job_id,
                              .type = job_event_name(type),
                              .data = facts ? job_data(batch, facts) : "{}",
                              .at_us = batch->tx->now_us};
    return event_list_add(&batch->arena, &batch->events, &event, batch->error);
}

cairn_code batch_add_event(struct batch *batch, struct event_list *list,
                           const char *instance_id, const char *type, const char *step,
                           const struct flow_facts *facts)
{
    struct event_row event = {.subject_id = instance_id,
                              .type = type,
                              .step = step,
                              .data = flow_data(batch, facts),
                              .at_us = batch->tx->now_us};
    return event_list_add(&batch->arena, list, &event, batch->error);
}

/* Once in missing_throttle_ms for a type, by all committers of this engine; types may share an
 * entry. */
bool batch_may_tell_missing(struct batch *batch, const char *task_type)
{
    struct local_engine *engine = batch->engine;
    int64_t quiet_us = engine->base.options.missing_throttle_ms * US_PER_MS;
    size_t entry = hash_text(HASH_START, task_type) % MISSING_NOTED;
    int64_t *noted_us = &engine->missing_noted_us[entry];
    pthread_mutex_lock(&engine->lock);
    bool is_quiet = *noted_us && batch->tx->now_us - *noted_us < quiet_us;
    if (!is_quiet)
        *noted_us = batch->tx->now_us;
    pthread_mutex_unlock(&engine->lock);
    return !is_quiet;
}
