/* engine/batch_event.c - the audit trail of a batch: events of jobs, instances and steps, gathered in
 * the order in which they happen.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An event gets an id and becomes the end of the chain of its subject's row before that row is written.
 * The ids of a chain rise: if a row has a later event than this batch has ids for, which another
 * committer has written since this transaction began, the batch takes new ids.  All events are written at
 * the end, in one row of the log, or in a few.
 *
 * A claim tells that a step began without having its instance in hand, so the event is in no chain.  If a
 * batch has seen such a step leased, its events happened behind the claim, and get ids that were taken
 * after the step was seen: so those of instances get them as late as can be.
 */
#include "base/hash.h"
#include "base/json.h"
#include "base/sort.h"
#include "core/counter.h"
#include "engine/workset.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A row of the log is not to become so large that reading one of its events takes long. */
enum { LOG_SIZE_MAX = 1 << 20 };

cairn_code event_list_add(struct arena *arena, struct event_list *list,
                          const struct event_row *event, cairn_error *reterr)
{
    struct event_row *row = list_add(arena, list);
    NEED(row && event->data, reterr);
    *row = *event;
    return CAIRN_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const struct event_row *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

/* Jobs are completed before their events are told, and claims may be sent ahead: ids of the present row of the log are
 * given away that no event has yet. */
static bool is_log_open(const struct batch *batch)
{
    bool is_open = batch->ahead != NULL;
    for (size_t i = 0; i < batch->jobs.count && !is_open; i++)
        is_open = ((const struct workset_job *)batch->jobs.entries[i].value)->is_completed;
    return is_open;
}

/* What is written is taken out, and later events get another row of the log. */
static cairn_code append(struct batch *batch, struct event_list *list)
{
    size_t count = list->count;
    list->count = 0;
    batch->has_told |= count > 0;
    return count ? STORE(batch, append_events, list->items, count) : CAIRN_OK;
}

/* Jobs are completed, and instances started in memory, before their events are told. */
cairn_code batch_append_events(struct batch *batch)
{
    sort_items(batch->events.items, batch->events.count, sizeof *batch->events.items,
               compare_ids);
    if (batch->events.count)
        batch->next_event = 0;
    TRY(append(batch, &batch->events));
    return append(batch, &batch->loose);
}

cairn_code batch_append_early(struct batch *batch)
{
    return is_log_open(batch) ? CAIRN_OK : batch_append_events(batch);
}

bool batch_has_events(const struct batch *batch)
{
    return batch->has_told ||
           batch->events.count + batch->loose.count + batch->untold.count > 0;
}

bool batch_has_late_events(const struct batch *batch)
{
    return batch->loose.count + batch->untold.count > 0;
}

/* ---- ids ------------------------------------------------------------------------------------ */

int64_t batch_known_event(const struct batch *batch, int64_t id)
{
    int64_t own = batch->tx->own_event;
    if (id < EVENT_OPEN || own == EVENT_OPEN)
        return id;
    return own ? id - EVENT_OPEN + own : 0;
}

void batch_close_events(struct batch *batch)
{
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        at->row.last_event = batch_known_event(batch, at->row.last_event);
    }
}

size_t batch_used_slots(const struct batch *batch)
{
    return batch->next_event ? (size_t)(batch->next_event % EVENT_SLOTS) : EVENT_SLOTS;
}

void batch_used_events(struct batch *batch, int64_t last)
{
    batch->next_event = batch_known_event(batch, batch->next_event);
    if (last < batch->next_event)
        return;
    batch->next_event = (last + 1) % EVENT_SLOTS ? last + 1 : 0;
}

/* The next row of the log. */
static cairn_code take_number(struct batch *batch, bool may_be_open)
{
    struct store_tx *tx = batch->tx;
    batch->log_size = 0;
    if (batch->is_unlocked && tx->is_own_used)
        return batch_spoil(batch);
    if (!may_be_open || tx->own_event != EVENT_OPEN || tx->is_own_used)
        return STORE(batch, number_events, &batch->next_event);
    batch->next_event = EVENT_OPEN;
    tx->is_own_used = true;
    return CAIRN_OK;
}

static cairn_code take_events(struct batch *batch, int64_t after, size_t count,
                              bool may_be_open, int64_t *ret_first)
{
    assert(count <= EVENT_SLOTS);
    int64_t first = batch->next_event = batch_known_event(batch, batch->next_event);
    int64_t last = first + (int64_t)count - 1;
    bool is_there = first && first > after && (may_be_open || first < EVENT_OPEN) &&
                    first >> EVENT_SLOT_BITS == last >> EVENT_SLOT_BITS;
    if (!is_there || batch->log_size > LOG_SIZE_MAX)
        TRY(take_number(batch, may_be_open));
    if (batch->next_event <= after) /* the first ids are as old as the transaction */
        TRY(take_number(batch, false));
    *ret_first = batch->next_event;
    return CAIRN_OK;
}

cairn_code batch_take_events(struct batch *batch, int64_t after, size_t count,
                             int64_t *ret_first)
{
    return take_events(batch, after, count, false, ret_first);
}

cairn_code batch_take_open_events(struct batch *batch, size_t count, int64_t *ret_first)
{
    return take_events(batch, 0, count, true, ret_first);
}

/* Makes an event the end of a chain. */
static cairn_code extend(struct batch *batch, struct event_row *event, int64_t *last_event,
                         int32_t *event_count)
{
    TRY(take_events(batch, *last_event, 1, batch->is_unlocked, &event->id));
    batch_used_events(batch, event->id);
    event->prev = *last_event;
    event->number = *event_count = counter_after(*event_count);
    *last_event = event->id;
    batch->log_size += strlen(event->data);
    return CAIRN_OK;
}

/* Those that came with the begin of the transaction, and what is left of others, stay unused. */
static cairn_code drop_events(struct batch *batch)
{
    int64_t unused;
    TRY(batch_take_events(batch, 0, 1, &unused));
    batch->next_event = 0;
    return CAIRN_OK;
}

static cairn_code tell(struct batch *batch, struct workset_instance *instance,
                       struct event_row *event)
{
    TRY(extend(batch, event, &instance->row.last_event, &instance->row.event_count));
    instance->is_told = true;
    return event_list_add(&batch->arena,
                          instance->is_adopted ? &batch->events : &instance->events, event,
                          batch->error);
}

/* Tells that the status has become another one, and nothing else. */
static bool is_mere_turn(const char *type)
{
    return strcmp(type, "workflow_running") == 0 || strcmp(type, "workflow_waiting") == 0 ||
           strcmp(type, "workflow_compensating") == 0 || strcmp(type, "workflow_dlq") == 0;
}

static const char *flow_data(struct batch *batch, const struct flow_facts *facts);

/* All of what was asked for is told with the status that it has left: the last event of the instance has
 * it.  What would tell another one, on the way, is dropped. */
static cairn_code settle_status(struct batch *batch, struct untold_event *untold)
{
    struct workset_instance *instance = untold->instance;
    if (!untold->facts)
        return CAIRN_OK;
    bool is_last = !instance->told_status || instance->told_turn != untold->turn;
    instance->told_turn = untold->turn;
    if (is_last)
        instance->told_status = untold->facts->status;
    if (strcmp(untold->facts->status, instance->told_status) == 0)
        return CAIRN_OK;
    untold->is_dropped = is_mere_turn(untold->event.type);
    struct flow_facts facts = *untold->facts;
    facts.status = instance->told_status;
    untold->event.data = flow_data(batch, &facts);
    return untold->event.data ? CAIRN_OK : fail_memory(batch->error);
}

/* The last ones first. */
static cairn_code tell_from(struct batch *batch, size_t first)
{
    struct untold_event *untold = batch->untold.items;
    for (size_t i = batch->untold.count; i > first; i--)
        TRY(settle_status(batch, &untold[i - 1]));
    for (size_t i = first; i < batch->untold.count; i++) {
        untold[i].instance->told_status = NULL;
        if (!untold[i].is_dropped)
            TRY(tell(batch, untold[i].instance, &untold[i].event));
    }
    batch->untold.count = first;
    return CAIRN_OK;
}

cairn_code batch_number_events(struct batch *batch)
{
    if (batch->untold.count == 0)
        return CAIRN_OK;
    if (batch->has_seen_lease)
        TRY(drop_events(batch));
    batch->has_seen_lease = false;
    return tell_from(batch, 0);
}

/* Nobody else knows it, so that no claim of another is to be waited for. */
cairn_code batch_tell_begun(struct batch *batch, size_t untold_count)
{
    return tell_from(batch, untold_count);
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

/* Of the same texts, where they lie. */
static bool is_same_facts(const struct job_facts *a, const struct job_facts *b)
{
    return a->worker == b->worker && a->error == b->error && a->reason == b->reason &&
           a->token == b->token && a->attempt == b->attempt && a->run_at_us == b->run_at_us &&
           a->extend_us == b->extend_us;
}

static const char *job_json(struct batch *batch, const struct job_facts *facts)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    add_text(&out, "worker", facts->worker);
    add_text(&out, "token", facts->token);
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

/* Events of jobs are told in series that say the same. */
static const char *job_data(struct batch *batch, const struct job_facts *facts)
{
    struct job_said *said = &batch->said;
    if (!said->data || !is_same_facts(&said->facts, facts))
        *said = (struct job_said){.facts = *facts, .data = job_json(batch, facts)};
    return said->data;
}

static const char *flow_json(struct batch *batch, const struct flow_facts *facts)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    add_text(&out, "step_name", facts->step_name);
    add_text(&out, "schedule", facts->schedule);
    add_text(&out, "status", facts->status);
    if (facts->has_retry_count)
        json_int(json_key(&out, "retry_count"), facts->retry_count);
    add_text(&out, "error", facts->error);
    add_text(&out, "worker", facts->worker);
    add_text(&out, facts->decision ? "decided_by" : "requested_by", facts->by);
    add_text(&out, "token", facts->token);
    add_text(&out, "decision", facts->decision);
    add_text(&out, "comment", facts->comment);
    add_text(&out, "reason", facts->reason);
    add_text(&out, "event", facts->event);
    add_text(&out, "signal", facts->signal_id);
    add_time(&out, "at", facts->run_at_us);
    json_close(&out, '}');
    return buf_keep(&buf, &batch->arena);
}

/* Most events tell a status and who works on it, and nothing else. */
static const char *flow_data(struct batch *batch, const struct flow_facts *facts)
{
    bool has_more = facts->error || facts->reason || facts->by || facts->event ||
                    facts->signal_id || facts->decision || facts->comment || facts->token ||
                    facts->step_name || facts->schedule || facts->run_at_us;
    if (has_more)
        return flow_json(batch, facts);
    int32_t retry_count = facts->has_retry_count ? facts->retry_count : -1;
    for (size_t i = 0; i < FLOW_SAID; i++) {
        const struct flow_said *said = &batch->flow_said[i];
        if (said->data && said->status == facts->status && said->worker == facts->worker &&
            said->retry_count == retry_count)
            return said->data;
    }
    const char *data = flow_json(batch, facts);
    batch->flow_said[batch->next_flow_said++ % FLOW_SAID] =
        (struct flow_said){facts->status, facts->worker, retry_count, data};
    return data;
}

/* ---- events --------------------------------------------------------------------------------- */

cairn_code batch_add_job_event(struct batch *batch, struct job_row *row, enum job_event type,
                               const struct job_facts *facts)
{
    struct event_row event = {
        .subject_id = row->id, .type = job_event_name(type), .data = job_data(batch, facts)};
    NEED(event.data, batch->error);
    TRY(extend(batch, &event, &row->last_event, &row->event_count));
    return event_list_add(&batch->arena, &batch->events, &event, batch->error);
}

cairn_code batch_tell_job_event(struct batch *batch, const struct job_row *row,
                                enum job_event type, const struct job_facts *facts, int64_t id,
                                int64_t prev, int32_t number)
{
    struct event_row event = {.id = id,
                              .prev = prev,
                              .number = number,
                              .subject_id = row->id,
                              .type = job_event_name(type),
                              .data = facts ? job_data(batch, facts) : "{}"};
    return event_list_add(&batch->arena, &batch->events, &event, batch->error);
}

cairn_code batch_add_event(struct batch *batch, struct workset_instance *instance,
                           const char *instance_id, const char *type, const char *step,
                           const struct flow_facts *facts)
{
    struct event_row event = {
        .subject_id = instance_id, .type = type, .step = step, .data = flow_data(batch, facts)};
    NEED(event.data, batch->error);
    TRY(figures_note_event(batch, instance, type));
    if (!instance)
        return event_list_add(&batch->arena, &batch->loose, &event, batch->error);
    struct flow_facts *kept = step ? NULL : arena_alloc(&batch->arena, sizeof *kept);
    struct untold_event *untold = list_add(&batch->arena, &batch->untold);
    NEED(untold && (kept || step), batch->error);
    if (kept)
        *kept = *facts;
    *untold = (struct untold_event){
        .instance = instance, .event = event, .turn = batch->turn, .facts = kept};
    return CAIRN_OK;
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
