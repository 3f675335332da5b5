/* engine/bulk.c - bulk actions: asked for, walked in portions, stopped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/bulk.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scan.h"
#include "core/merge_patch.h"
#include "engine/workset.h"

#include <string.h>

enum { PORTION = 100, IDS_MAX = 1000, SAMPLE = 20, COUNTED_MAX = 10000, COUNT_PORTION = 1000 };

#define LEASE_US (10 * US_PER_SEC)
#define LOOK_US (60 * US_PER_SEC) /* another server's action may have been left */
#define COUNT_US (500 * US_PER_MS)

/* ---- checks ---------------------------------------------------------------------------------- */

static cairn_code check_args(struct check *check, const struct bulk_input *in)
{
    struct slice object, key, value;
    struct scan scan;
    size_t count = 0;
    if (!in->args)
        return CAIRN_OK;
    if (strcmp(in->action, "requeue") != 0)
        return check_bad(check, "args", "is for requeue only");
    if (!scan_text(in->args, strlen(in->args), &object) || !scan_object(object, &scan))
        return check_bad(check, "args", "must be an object");
    while (scan_member(&scan, &key, &value)) {
        if (!slice_is(key, "input") && !slice_is(key, "input_patch"))
            return check_bad(check, "args", "may have input or input_patch");
        count++;
    }
    return count == 1 ? CAIRN_OK : check_bad(check, "args", "must have input or input_patch");
}

cairn_code check_bulk_start(struct check *check)
{
    struct bulk_input *in = &check->request->in.bulk;
    const struct bulk_action *action = bulk_action_find(in->on, in->action);
    struct bulk_filter filter;
    if (!action)
        return bulk_action_refuse(in->on, in->action, check->error);
    if (!in->filter == !in->ids)
        return check_bad(check, "filter", "or ids must be given, and only one of them");
    if (in->filter)
        TRY(bulk_filter_read(action->target, in->filter, &check->request->arena, &filter,
                             check->error));
    TRY(check_json(check, "filter", in->filter));
    TRY(check_json(check, "args", in->args));
    TRY(check_args(check, in));
    if (!in->by)
        in->by = check->request->token_name;
    TRY(check_optional(check, "by", in->by));
    TRY(check_comment(check, "reason", in->reason));
    if (action->is_stop && !in->is_dry_run && (!in->by || !in->reason))
        return check_bad(check, in->by ? "reason" : "by",
                         "is missing: who stops many says who and why, as by and reason");
    return CAIRN_OK;
}

/* ---- what is matched ------------------------------------------------------------------------- */

/* How many match, counted up to COUNTED_MAX, and the first of them. */
struct matched {
    int64_t n;
    bool is_more;
    const char *sample[SAMPLE];
    size_t sample_count;
};

static cairn_code count_matched(struct store_tx *tx, enum bulk_target target, const char *json,
                                struct matched *ret_matched, cairn_error *reterr)
{
    struct bulk_object *objects = arena_array(tx->arena, COUNT_PORTION, sizeof *objects);
    struct bulk_filter filter;
    int64_t next = 0, until_us = monotonic_us() + COUNT_US;
    NEED(objects, reterr);
    *ret_matched = (struct matched){0};
    TRY(bulk_filter_read(target, json, tx->arena, &filter, reterr));
    do {
        size_t count = 0;
        TRY(bulk_find(tx, target, &filter, next, objects, COUNT_PORTION, &count, &next,
                      reterr));
        for (size_t i = 0; i < count && ret_matched->sample_count < SAMPLE; i++)
            ret_matched->sample[ret_matched->sample_count++] = objects[i].id;
        ret_matched->n += (int64_t)count;
    } while (next && ret_matched->n < COUNTED_MAX && monotonic_us() < until_us);
    ret_matched->is_more = next != 0;
    return CAIRN_OK;
}

static const char *write_ids(struct arena *arena, const char *const *ids, size_t count)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '[');
    for (size_t i = 0; i < count; i++)
        json_str(&out, ids[i]);
    json_close(&out, ']');
    return buf_keep(&buf, arena);
}

/* The number behind the newest that there is: what comes later is not touched. */
static cairn_code find_bound(struct batch *batch, enum bulk_target target, int64_t *ret_below)
{
    struct bulk_filter all = {.list = {.is_row = true}, .dlq = {.is_row = true}};
    struct bulk_object newest;
    size_t count = 0;
    int64_t next;
    struct list_walk walk = {.kind = target == BULK_JOBS ? LIST_JOBS : LIST_INSTANCES,
                             .before = INT64_MAX};
    bool is_exact;
    *ret_below = 1;
    if (target == BULK_DLQ) {
        TRY(bulk_find(batch->tx, target, &all, 0, &newest, 1, &count, &next, batch->error));
        *ret_below = count ? newest.seq + 1 : 1;
        return CAIRN_OK;
    }
    TRY(STORE(batch, walk, &walk, &newest.seq, 1, &count, &is_exact));
    *ret_below = count ? newest.seq + 1 : 1;
    return CAIRN_OK;
}

/* ---- asking for one -------------------------------------------------------------------------- */

cairn_code bulk_show(struct arena *arena, const struct bulk_row *row,
                     struct bulk_item *ret_item, cairn_error *reterr)
{
    *ret_item = (struct bulk_item){.id = arena_strdup(arena, row->id),
                                   .status = arena_strdup(arena, row->status),
                                   .on = arena_strdup(arena, row->target),
                                   .action = arena_strdup(arena, row->action),
                                   .filter = arena_strdup(arena, row->filter),
                                   .by = arena_strdup(arena, row->started_by),
                                   .reason = arena_strdup(arena, row->reason),
                                   .done = row->done,
                                   .skipped = arena_strdup(arena, row->skipped),
                                   .sample = arena_strdup(arena, row->skipped_sample),
                                   .expected = row->expected,
                                   .started_at_us = row->started_at_us,
                                   .finished_at_us = row->finished_at_us};
    NEED(ret_item->id && ret_item->status && ret_item->skipped && ret_item->sample, reterr);
    return CAIRN_OK;
}

static cairn_code tell(struct batch *batch, const struct bulk_row *row, const char *type)
{
    struct flow_facts facts = NO_FACTS;
    facts.status = row->status;
    facts.by = row->started_by;
    facts.token = row->token;
    facts.reason = row->reason;
    return batch_add_event(batch, NULL, row->id, type, NULL, &facts);
}

static cairn_code answer_dry_run(struct batch *batch, struct request *request,
                                 const struct matched *matched)
{
    struct arena *arena = &request->arena;
    const char **sample = arena_array(arena, SAMPLE, sizeof *sample);
    NEED(sample, batch->error);
    for (size_t i = 0; i < matched->sample_count; i++) {
        sample[i] = arena_strdup(arena, matched->sample[i]);
        NEED(sample[i], batch->error);
    }
    request->out.bulk = (struct bulk_item){.n = matched->n,
                                           .is_more = matched->is_more,
                                           .matched = sample,
                                           .matched_count = matched->sample_count};
    return CAIRN_OK;
}

cairn_code batch_start_bulk(struct batch *batch, struct request *request)
{
    const struct bulk_input *in = &request->in.bulk;
    const struct bulk_action *action = bulk_action_find(in->on, in->action);
    struct matched matched = {.n = (int64_t)in->id_count};
    int64_t below = 0;
    if (in->filter)
        TRY(count_matched(batch->tx, action->target, in->filter, &matched, batch->error));
    for (size_t i = 0; !in->filter && i < in->id_count && i < SAMPLE; i++)
        matched.sample[matched.sample_count++] = in->ids[i];
    if (in->is_dry_run)
        return answer_dry_run(batch, request, &matched);
    TRY(batch_make_ids(batch, request, 1));
    if (in->filter)
        TRY(find_bound(batch, action->target, &below));
    struct bulk_row row = {
        .id = request->out.enqueued[0].id,
        .target = in->on,
        .action = in->action,
        .filter = in->filter,
        .ids = in->ids ? write_ids(&batch->arena, in->ids, in->id_count) : NULL,
        .args = in->args,
        .started_by = in->by,
        .token = request->token_name,
        .reason = in->reason,
        .most = in->limit,
        .per_second = in->per_second,
        .place = in->filter ? below : 0,
        .expected = in->limit && in->limit < matched.n ? in->limit : matched.n,
        .status = "running",
        .skipped = "{}",
        .skipped_sample = "[]",
        .started_at_us = batch->tx->now_us,
        .next_at_us = batch->tx->now_us};
    NEED(row.ids || !in->ids, batch->error);
    TRY(STORE(batch, put_bulk, &row));
    TRY(tell(batch, &row, "bulk_started"));
    batch->has_bulk = true;
    return bulk_show(&request->arena, &row, &request->out.bulk, batch->error);
}

cairn_code batch_stop_bulk(struct batch *batch, struct request *request)
{
    struct bulk_row row;
    cairn_code code = STORE(batch, lock_bulk, request->in.id, &row);
    if (code == CAIRN_E_NOT_FOUND)
        return REFUSE(request, code, "bulk action \"%.64s\" does not exist", request->in.id);
    TRY(code);
    if (strcmp(row.status, "running") == 0) {
        row.status = "stopped";
        row.finished_at_us = batch->tx->now_us;
        TRY(STORE(batch, put_bulk, &row));
        TRY(tell(batch, &row, "bulk_finished"));
    }
    return bulk_show(&request->arena, &row, &request->out.bulk, batch->error);
}

/* ---- a portion ------------------------------------------------------------------------------- */

/* A bulk action while a portion of it is made. */
struct portion {
    struct batch *batch;
    struct bulk_row *row;
    const struct bulk_action *action;
    struct bulk_object objects[PORTION];
    size_t count;
    int64_t next; /* where to go on; 0: there is nothing left */
};

static cairn_code find_listed(struct portion *portion, size_t room)
{
    struct slice list, item;
    struct scan scan;
    int64_t at = 0;
    struct bulk_row *row = portion->row;
    if (!scan_text(row->ids, strlen(row->ids), &list) || !scan_list(list, &scan))
        return CAIRN_OK;
    while (scan_item(&scan, &item)) {
        if (at++ < row->place)
            continue;
        if (portion->count == room) {
            portion->next = at - 1;
            break;
        }
        char *id = slice_string(item, &portion->batch->arena);
        NEED(id, portion->batch->error);
        portion->objects[portion->count++] = (struct bulk_object){.id = id, .seq = at};
    }
    return CAIRN_OK;
}

static cairn_code find_portion(struct portion *portion)
{
    struct bulk_row *row = portion->row;
    struct batch *batch = portion->batch;
    struct bulk_filter filter;
    size_t room = PORTION;
    int64_t left = row->most ? row->most - row->done : PORTION;
    if (row->per_second && (size_t)row->per_second < room)
        room = (size_t)row->per_second;
    if (left < (int64_t)room)
        room = left > 0 ? (size_t)left : 0;
    if (room == 0)
        return CAIRN_OK;
    if (row->ids)
        return find_listed(portion, room);
    TRY(bulk_filter_read(portion->action->target, row->filter, &batch->arena, &filter,
                         batch->error));
    return bulk_find(batch->tx, portion->action->target, &filter, row->place, portion->objects,
                     room, &portion->count, &portion->next, batch->error);
}

/* The rows of all of them, in one statement. */
static cairn_code load_portion(struct portion *portion)
{
    struct batch *batch = portion->batch;
    const char **ids = arena_array(&batch->arena, PORTION, sizeof *ids);
    size_t count = 0;
    NEED(ids, batch->error);
    for (size_t i = 0; i < portion->count; i++) {
        struct bulk_object *object = &portion->objects[i];
        bool is_record = portion->action->target == BULK_DLQ;
        if (is_record && !object->instance_id) {
            struct dlq_row record;
            int64_t number;
            cairn_code code = number_id_read(object->id, &number)
                                  ? STORE(batch, get_dlq, number, &record)
                                  : CAIRN_E_NOT_FOUND;
            if (code && code != CAIRN_E_NOT_FOUND)
                return code;
            object->instance_id = code ? NULL : record.instance_id;
            object->input = code ? NULL : record.input;
        }
        const char *id = is_record ? object->instance_id : object->id;
        if (id && id_is_valid(id))
            ids[count++] = id;
    }
    return portion->action->target == BULK_JOBS ? workset_load_jobs(batch, ids, count)
                                                : workset_load(batch, ids, count);
}

static bool is_held_elsewhere(const struct portion *portion, const struct bulk_object *object)
{
    const struct batch *batch = portion->batch;
    if (portion->action->target == BULK_JOBS) {
        const struct workset_job *job = workset_find_job(batch, object->id);
        return job && job->is_busy;
    }
    const char *id = portion->action->target == BULK_DLQ ? object->instance_id : object->id;
    const struct workset_instance *instance = id ? workset_find(batch, id) : NULL;
    return instance && instance->is_busy;
}

/* The input that a dead letter is requeued with; NULL: its own. */
static cairn_code input_of(struct portion *portion, const struct bulk_object *object,
                           const char **ret_input)
{
    struct batch *batch = portion->batch;
    struct slice args, input, patch;
    struct buf buf = {0};
    *ret_input = NULL;
    if (!portion->row->args ||
        !scan_text(portion->row->args, strlen(portion->row->args), &args))
        return CAIRN_OK;
    input = scan_find(args, "input");
    patch = scan_find(args, "input_patch");
    if (input.text) {
        *ret_input = slice_json(input, &batch->arena);
    } else {
        char *text = slice_json(patch, &batch->arena);
        NEED(text, batch->error);
        merge_patch(object->input ? object->input : "null", text, &buf);
        *ret_input = buf_keep(&buf, &batch->arena);
    }
    NEED(*ret_input, batch->error);
    return CAIRN_OK;
}

/* Does it as a request of its own would; request->code says whether it was refused. */
static cairn_code act(struct portion *portion, const struct bulk_object *object,
                      struct request *request)
{
    struct batch *batch = portion->batch;
    bool is_record = portion->action->target == BULK_DLQ;
    request->token_name = portion->row->token;
    if (request->op == OP_DLQ_REQUEUE) {
        request->in.requeue.record = object->id;
        TRY(input_of(portion, object, &request->in.requeue.input));
    } else if (portion->action->target == BULK_JOBS) {
        request->in.id = object->id;
    } else {
        request->in.control =
            (struct control_input){.id = is_record ? object->instance_id : object->id,
                                   .by = portion->row->started_by,
                                   .reason = portion->row->reason};
    }
    if (is_record && !object->instance_id)
        return REFUSE(request, CAIRN_E_NOT_FOUND, "DLQ record \"%.64s\" does not exist",
                      object->id);
    return engine_operation_of(request->op)->apply(batch, request);
}

/* Nobody waits for an answer. */
static void forget_answer(struct portion *portion, const struct bulk_object *object)
{
    struct batch *batch = portion->batch;
    if (portion->action->target == BULK_JOBS) {
        struct workset_job *job = workset_find_job(batch, object->id);
        if (job)
            job->answer_to = NULL;
        return;
    }
    const char *id = portion->action->target == BULK_DLQ ? object->instance_id : object->id;
    struct workset_instance *instance = id ? workset_find(batch, id) : NULL;
    if (instance)
        instance->answer_to = NULL;
}

static cairn_code note_skipped(struct portion *portion, const struct bulk_object *object,
                               const struct request *request)
{
    struct bulk_row *row = portion->row;
    struct arena *arena = &portion->batch->arena;
    const char *code = cairn_code_name(request->code);
    json_t *counts = json_loads(row->skipped, 0, NULL);
    json_t *sample = json_loads(row->skipped_sample, 0, NULL);
    if (!counts)
        counts = json_object();
    if (!sample)
        sample = json_array();
    json_object_set_new(counts, code,
                        json_integer(json_integer_value(json_object_get(counts, code)) + 1));
    if (json_array_size(sample) < SAMPLE)
        json_array_append_new(sample, json_pack("{s:s, s:s, s:s}", "id", object->id, "code",
                                                code, "message", request->error.message));
    char *one = json_dumps(counts, JSON_COMPACT), *other = json_dumps(sample, JSON_COMPACT);
    row->skipped = one ? arena_strdup(arena, one) : NULL;
    row->skipped_sample = other ? arena_strdup(arena, other) : NULL;
    free(one);
    free(other);
    json_decref(counts);
    json_decref(sample);
    NEED(row->skipped && row->skipped_sample, portion->batch->error);
    return CAIRN_OK;
}

/* One that another transaction holds ends the portion: it is tried with the next one. */
static cairn_code act_on_all(struct portion *portion, bool *ret_is_held)
{
    struct bulk_row *row = portion->row;
    *ret_is_held = false;
    for (size_t i = 0; i < portion->count; i++) {
        const struct bulk_object *object = &portion->objects[i];
        if (is_held_elsewhere(portion, object)) {
            *ret_is_held = true;
            return CAIRN_OK;
        }
        struct request *request = request_new(portion->action->op);
        NEED(request, portion->batch->error);
        cairn_code code = act(portion, object, request);
        forget_answer(portion, object);
        if (!code && request->code)
            code = note_skipped(portion, object, request);
        row->done += !code && !request->code;
        request_free(request);
        TRY(code);
        row->place = object->seq;
    }
    return CAIRN_OK;
}

static cairn_code end_portion(struct portion *portion, bool is_held)
{
    struct bulk_row *row = portion->row;
    struct batch *batch = portion->batch;
    int64_t now_us = batch->tx->now_us;
    bool is_full = row->most && row->done >= row->most;
    bool is_over = !is_held && (!portion->next || is_full);
    if (!is_held && portion->next)
        row->place = portion->next; /* what lies between does not match */
    row->next_at_us = now_us;
    if (row->per_second && portion->count)
        row->next_at_us += US_PER_SEC * (int64_t)portion->count / row->per_second;
    if (is_over) {
        row->status = "done";
        row->finished_at_us = now_us;
        row->locked_by = NULL;
        row->locked_until_us = 0;
    } else {
        row->locked_by = batch->engine->workers.process;
        row->locked_until_us = row->next_at_us + LEASE_US;
    }
    TRY(STORE(batch, put_bulk, row));
    return is_over ? tell(batch, row, "bulk_finished") : CAIRN_OK;
}

/* OP_BULK_STEP: a portion of the oldest action that this process may walk.  out.now_us, out.next_us: the time,
 * and when the next portion may be made (0: there is none). */
cairn_code batch_walk_bulk(struct batch *batch, struct request *request)
{
    struct bulk_row row;
    bool is_held;
    cairn_code code = STORE(batch, take_bulk, batch->engine->workers.process, &row);
    if (code && code != CAIRN_E_NOT_FOUND)
        return code;
    if (!code) {
        struct portion *portion = arena_zalloc(&batch->arena, sizeof *portion);
        NEED(portion, batch->error);
        portion->batch = batch;
        portion->row = &row;
        portion->action = bulk_action_find(row.target, row.action);
        if (!portion->action)
            return fail(batch->error, CAIRN_E_INTERNAL, "bulk action of an unknown kind");
        TRY(find_portion(portion));
        TRY(load_portion(portion));
        TRY(act_on_all(portion, &is_held));
        TRY(end_portion(portion, is_held));
    }
    request->out.now_us = batch->tx->now_us;
    request->out.next_us = 0;
    return STORE(batch, next_bulk, batch->engine->workers.process, &request->out.next_us);
}

/* ---- when ------------------------------------------------------------------------------------ */

int64_t bulk_next_us(struct local_engine *engine)
{
    return engine->bulks.is_busy || engine->base.options.no_timers ? INT64_MAX
                                                                   : engine->bulks.look_us;
}

void bulk_look(struct local_engine *engine)
{
    engine->bulks.look_us = 0;
}

/* As long as a portion took, others have the committer. */
static void on_done(struct request *request)
{
    struct local_engine *engine = request->arg;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    int64_t took_us = now_us - request->in.bulk_step.began_us;
    int64_t wait_us = request->out.next_us - request->out.now_us;
    pthread_mutex_lock(&engine->lock);
    engine->bulks.is_busy = false;
    if (request->code)
        engine->bulks.look_us = now_us + US_PER_SEC;
    else if (!request->out.next_us && engine->bulks.look_us)
        engine->bulks.look_us = engine->base.options.serves ? now_us + LOOK_US : INT64_MAX;
    else if (request->out.next_us)
        engine->bulks.look_us = now_us + (wait_us > took_us ? wait_us : took_us);
    pthread_cond_broadcast(&engine->write_work);
    pthread_mutex_unlock(&engine->lock);
    request_free(request);
}

void bulk_submit(struct local_engine *engine)
{
    struct request *request = request_new(OP_BULK_STEP);
    engine->bulks.look_us = clock_monotonic_us(&engine->clock) + US_PER_SEC;
    if (!request)
        return;
    request->in.bulk_step.began_us = clock_monotonic_us(&engine->clock);
    request->done = on_done;
    request->arg = engine;
    engine->bulks.is_busy = true;
    queue_push(&engine->writes, request);
}

/* ---- questions ------------------------------------------------------------------------------- */

cairn_code answer_bulk(struct question *q)
{
    struct bulk_row row;
    cairn_code code = STORE(q, get_bulk, q->request->in.id, &row);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(q->error, code, "bulk action \"%.64s\" does not exist", q->request->in.id);
    TRY(code);
    return bulk_show(q->arena, &row, &q->request->out.bulk, q->error);
}

cairn_code answer_bulks(struct question *q)
{
    enum { BULKS = 50 };
    struct page_output *page = &q->request->out.page;
    struct bulk_row *rows = arena_array(q->arena, BULKS, sizeof *rows);
    NEED(rows, q->error);
    *page = (struct page_output){0};
    TRY(STORE(q, list_bulks, rows, BULKS, &page->count));
    page->bulks = arena_array(q->arena, BULKS, sizeof *page->bulks);
    NEED(page->bulks, q->error);
    for (size_t i = 0; i < page->count; i++)
        TRY(bulk_show(q->arena, &rows[i], &page->bulks[i], q->error));
    return CAIRN_OK;
}
