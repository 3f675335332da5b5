/* tests/sim/batching_dump.c - answers and rows as texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Left out is what a failed try may change: numbers from a database's sequences.  Their order is
 * seen in the order of the lists.
 */
#include "batching.h"
#include "store/list.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS_MAX = 512 };

static void add(struct buf *out, const char *text)
{
    buf_printf(out, " %s", text ? text : "-");
}

/* What the engine wrote itself: PostgreSQL keeps the value of JSON and not its blanks, so a step that is
 * handed over in memory may have others. */
static void add_json(struct buf *out, const char *text)
{
    json_t *tree = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    char *plain =
        tree ? json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    add(out, plain ? plain : text);
    free(plain);
    json_decref(tree);
}

static void add_time(struct buf *out, int64_t at_us)
{
    buf_printf(out, " %lld", (long long)(at_us ? at_us - SIM_START_US : -1));
}

/* ---- answers ----------------------------------------------------------------------------- */

static void add_received(struct buf *out, const cairn_received *const *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, " [%s %s %s]", events[i]->id, events[i]->event, events[i]->payload);
}

static void add_memory(struct buf *out, const cairn_memory *memory)
{
    if (!memory)
        return;
    buf_printf(out, " revision %lld places %d forced %d", (long long)memory->revision,
               memory->places, memory->is_forced);
    for (size_t i = 0; i < memory->step_count; i++)
        buf_printf(out, " (%s %s %s)", memory->steps[i]->name, memory->steps[i]->status,
                   memory->steps[i]->output ? memory->steps[i]->output : "-");
    add_received(out, memory->events, memory->event_count);
}

static void add_tasks(struct buf *out, const struct page_output *page)
{
    for (size_t i = 0; i < page->count; i++) {
        const cairn_task *task = &page->tasks[i];
        buf_printf(out, "\n  %s %s %s %s %d/%d", task->id, task->token, task->kind, task->type,
                   task->attempt, task->max_attempts);
        add_json(out, task->input);
        add(out, task->key);
        add(out, task->reason);
        add_json(out, task->signal);
        add_time(out, task->lease_until_us);
        add_memory(out, task->memory);
    }
}

static void add_enqueued(struct buf *out, const cairn_enqueued *items, size_t count)
{
    for (size_t i = 0; items && i < count; i++)
        buf_printf(out, " %s %d", items[i].id, items[i].existing);
}

static void add_instance(struct buf *out, const cairn_instance *instance)
{
    buf_printf(out, " %s %s generation %d", instance->id, instance->status,
               instance->generation);
    add(out, instance->output);
    add(out, instance->last_error);
    for (size_t i = 0; i < instance->current_step_count; i++)
        add(out, instance->current_steps[i]);
}

static void add_committed(struct buf *out, const struct request *request)
{
    const struct committed_output *answer = &request->out.committed;
    add(out, answer->status);
    add(out, answer->stop);
    add_time(out, answer->lease_until_us);
    buf_printf(out, " revision %lld conflict %d", (long long)answer->revision,
               answer->is_conflict);
    add_enqueued(out, answer->started,
                 request->in.commit.job_count + request->in.commit.start_count);
    add_received(out, answer->events, answer->event_count);
}

static void add_reported(struct buf *out, const struct request *request)
{
    for (size_t i = 0; i < request->in.report.count; i++) {
        const cairn_reported *reported = &request->out.reported[i];
        buf_printf(out, " %s %s", cairn_code_name(reported->code), reported->status);
        if (reported->code)
            buf_printf(out, " %s %s", reported->error.message, reported->error.detail);
    }
}

static void add_outbox(struct buf *out, const struct page_output *page)
{
    for (size_t i = 0; i < page->count; i++)
        buf_printf(out, "\n  %s %s %s", page->outbox[i].instance_id, page->outbox[i].step,
                   page->outbox[i].event);
}

static void add_jobs(struct buf *out, const struct page_output *page)
{
    for (size_t i = 0; i < page->count; i++)
        buf_printf(out, " %s %s %s", page->jobs[i].id, page->jobs[i].status,
                   page->jobs[i].result ? page->jobs[i].result : "-");
}

static bool answers_jobs(enum request_op op)
{
    return op == OP_JOB_CANCEL || op == OP_JOB_DELETE || op == OP_JOB_RETRY;
}

void batching_dump_answer(const struct request *request, struct buf *out)
{
    buf_printf(out, "%s: %s", request_op_name(request->op), cairn_code_name(request->code));
    if (request->code) {
        bool has_own_number = request->op == OP_DLQ_REQUEUE || request->op == OP_OUTBOX_ACK;
        add(out, has_own_number ? "" : request->error.message);
        add(out, request->error.detail);
        return;
    }
    switch (request->op) {
    case OP_ENQUEUE:
        add_enqueued(out, request->out.enqueued, request->in.enqueue.count);
        return;
    case OP_START:
    case OP_RERUN:
        add_enqueued(out, request->out.enqueued, 1);
        return;
    case OP_CLAIM:
        add_tasks(out, &request->out.page);
        return;
    case OP_REPORT:
        add_reported(out, request);
        return;
    case OP_COMMIT:
        add_committed(out, request);
        return;
    case OP_HEARTBEAT:
        add(out, request->out.heartbeat.stop);
        add_time(out, request->out.heartbeat.lease_until_us);
        return;
    case OP_HEARTBEATS:
        for (size_t i = 0; i < request->in.heartbeats.count; i++) {
            const cairn_beat *beat = &request->in.heartbeats.beats[i];
            add(out, beat->ret_code ? request->out.whys[i] : beat->ret_stop);
            add_time(out, beat->ret_lease_until_us);
        }
        return;
    case OP_SIGNAL:
        buf_printf(out, " existing %d taken %d kept %d", request->out.signalled.existing,
                   request->out.signalled.taken, request->out.signalled.kept);
        return;
    case OP_OUTBOX_CLAIM:
        add_outbox(out, &request->out.page);
        return;
    case OP_DEPLOY:
        buf_printf(out, " %s existing %d", request->out.page.definitions[0].hash,
                   request->out.is_existing);
        return;
    default:
        if (request->out.page.count && answers_jobs(request->op))
            add_jobs(out, &request->out.page);
        else if (request->out.page.count && request->op != OP_REGISTRY_PUT)
            add_instance(out, &request->out.page.instances[0]);
    }
}

/* ---- rows -------------------------------------------------------------------------------- */

/* A look at one store. */
struct look {
    const struct store_ops *ops;
    struct store_tx *tx;
    struct arena arena;
    struct buf *out;
};

static void must(cairn_code code, const cairn_error *error)
{
    if (!code)
        return;
    fprintf(stderr, "could not read the rows: %s\n", error->message);
    exit(3);
}

static void open_look(const struct batching *batching, int side, struct look *look)
{
    cairn_error error = {0};
    look->ops = batching->sides[side].engine->store->ops;
    must(look->ops->begin(batching->sides[side].reader, &look->arena, &look->tx, &error),
         &error);
}

static void close_look(struct look *look)
{
    look->ops->rollback(look->tx);
    arena_done(&look->arena);
}

static void dump_step(struct buf *out, const struct step_row *row)
{
    buf_printf(out, "\n  %d %s %s %d/%d undo %d commit %lld ready %d held %d stop %d left %d",
               row->seq, row->name, step_status_name(row->status), row->attempts,
               row->max_attempts, row->compensation_attempts, (long long)row->commit_no,
               row->is_ready, row->is_held, row->stop, row->remaining);
    const char *texts[] = {row->input,     row->output,       row->error,    row->task_type,
                           row->locked_by, row->token,        row->ended_by, row->ended_token,
                           row->signal,    row->waiting_event};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add(out, texts[i]);
    int64_t times[] = {row->next_run_at_us, row->started_at_us,   row->finished_at_us,
                       row->due_at_us,      row->locked_until_us, row->call_until_us,
                       row->deadline_at_us, row->updated_at_us};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        add_time(out, times[i]);
    buf_printf(out, " timed_out %d copied %d", row->is_timed_out, row->is_copied);
}

static void dump_instance_row(struct buf *out, const struct instance_row *row)
{
    buf_printf(out, "\n%s %s v%d %s generation %d goal %d failed %d undo %d %d..%d below %lld",
               row->id, row->workflow, row->version, instance_status_name(row->status),
               row->generation, row->goal, row->is_undo_failed, row->undo_first, row->undo_from,
               row->undo_to, (long long)row->undo_below);
    buf_printf(out, " commits %lld counts %d %d %d %d %d %d revision %lld places %d %d %d",
               (long long)row->commits, row->active_count, row->wait_count, row->sleep_count,
               row->decision_count, row->parked_count, row->awaited_count,
               (long long)row->revision, row->places, row->is_forced, row->is_woken);
    buf_printf(out, " children %d telling %d told %d", row->child_count, row->is_telling,
               row->is_told);
    const char *texts[] = {row->key,     row->input,        row->output,    row->last_error,
                           row->stop_by, row->stop_reason,  row->paused_by, row->paused_reason,
                           row->parent,  row->parent_event, row->source,    row->rerun_input};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add(out, texts[i]);
    int64_t times[] = {row->start_at_us, row->created_at_us, row->updated_at_us,
                       row->started_at_us, row->finished_at_us};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        add_time(out, times[i]);
}

static void dump_flow_events(struct look *look, const char *id)
{
    cairn_error error = {0};
    size_t count = 0;
    static struct event_row rows[ROWS_MAX];
    must(look->ops->list_events(look->tx, id, 0, rows, ROWS_MAX, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        buf_printf(look->out, "\n  + %s", rows[i].type);
        add(look->out, rows[i].step);
        add(look->out, rows[i].data);
        add_time(look->out, rows[i].at_us);
    }
}

static void dump_messages(struct look *look, const char *id)
{
    cairn_error error = {0};
    size_t count = 0;
    static struct signal_row signals[ROWS_MAX];
    must(look->ops->list_signals(look->tx, &id, 1, 0, signals, ROWS_MAX, &count, &error),
         &error);
    for (size_t i = 0; i < count; i++)
        buf_printf(look->out, "\n  signal %s %s %s", signals[i].id, signals[i].event,
                   signals[i].payload);
    static struct log_row logs[ROWS_MAX];
    must(look->ops->list_logs(look->tx, id, 0, logs, ROWS_MAX, &count, &error), &error);
    for (size_t i = 0; i < count; i++)
        buf_printf(look->out, "\n  log %s", logs[i].message);
    static struct decision_row decisions[ROWS_MAX];
    must(look->ops->list_decisions(look->tx, id, 0, decisions, ROWS_MAX, &count, &error),
         &error);
    for (size_t i = 0; i < count; i++)
        buf_printf(look->out, "\n  decision %s %s", decisions[i].step_name,
                   decisions[i].decision);
}

static void dump_instances(struct look *look)
{
    cairn_error error = {0};
    size_t step_count = 0;
    struct list_filter all = {0};
    struct list_end end;
    static struct instance_row rows[ROWS_MAX];
    static struct step_row steps[ROWS_MAX];
    must(list_instances(look->tx, &all, rows, ROWS_MAX, &end, &error), &error);
    for (size_t i = 0; i < end.count; i++) {
        dump_instance_row(look->out, &rows[i]);
        must(look->ops->list_steps(look->tx, rows[i].id, -1, false, steps, ROWS_MAX,
                                   &step_count, &error),
             &error);
        for (size_t k = 0; k < step_count; k++)
            dump_step(look->out, &steps[k]);
        dump_flow_events(look, rows[i].id);
        dump_messages(look, rows[i].id);
    }
}

static void dump_job(struct look *look, const char *id)
{
    cairn_error error = {0};
    size_t count = 0;
    struct job_row row;
    must(look->ops->get_job(look->tx, id, &row, &error), &error);
    buf_printf(look->out, "\n%s %s %s %d/%d ready %d", row.id, row.type,
               job_status_name(row.status), row.attempt, row.max_attempts, row.is_ready);
    const char *texts[] = {row.key,         row.leased_by,  row.token,  row.ended_by,
                           row.ended_token, row.last_error, row.result, row.payload};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add(look->out, texts[i]);
    int64_t times[] = {row.run_at_us, row.lease_until_us, row.created_at_us, row.updated_at_us,
                       row.deleted_at_us};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        add_time(look->out, times[i]);
    static struct event_row events[ROWS_MAX];
    must(look->ops->list_events(look->tx, id, 0, events, ROWS_MAX, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        buf_printf(look->out, "\n  + %s %s", events[i].type, events[i].data);
        add_time(look->out, events[i].at_us);
    }
}

/* Deleted ones are in no list. */
static void dump_jobs(struct look *look, const struct batching *batching)
{
    cairn_error error = {0};
    struct list_filter all = {0};
    struct list_end end;
    static struct job_row rows[ROWS_MAX];
    must(list_jobs(look->tx, &all, rows, ROWS_MAX, &end, &error), &error);
    buf_str(look->out, "\njobs");
    for (size_t i = 0; i < end.count; i++)
        add(look->out, rows[i].id);
    for (size_t i = 0; i < batching->job_count; i++)
        dump_job(look, batching->jobs[i]);
}

static void dump_records(struct look *look)
{
    cairn_error error = {0};
    size_t count = 0;
    static struct dlq_row rows[ROWS_MAX];
    must(look->ops->list_dlq(look->tx, NULL, 0, rows, ROWS_MAX, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        buf_printf(look->out, "\nrecord %s %s", rows[i].instance_id, rows[i].step_name);
        add(look->out, rows[i].input);
        add(look->out, rows[i].error);
        add(look->out, rows[i].reason);
    }
}

static void dump_catalogue(struct look *look)
{
    cairn_error error = {0};
    size_t count = 0;
    static struct definition_row definitions[ROWS_MAX];
    static struct registry_row entries[ROWS_MAX];
    must(look->ops->list_definitions(look->tx, NULL, 0, definitions, ROWS_MAX, &count, &error),
         &error);
    for (size_t i = 0; i < count; i++)
        buf_printf(look->out, "\n%s %d %s", definitions[i].name, definitions[i].version,
                   definitions[i].hash);
    must(look->ops->list_registry(look->tx, NULL, entries, ROWS_MAX, &count, &error), &error);
    for (size_t i = 0; i < count; i++)
        buf_printf(look->out, "\n%s %s %d", entries[i].name, entries[i].runtime,
                   entries[i].is_enabled);
}

void batching_dump_rows(struct batching *batching, int side, struct buf *out)
{
    struct look look = {.out = out};
    open_look(batching, side, &look);
    dump_instances(&look);
    dump_jobs(&look, batching);
    dump_records(&look);
    dump_catalogue(&look);
    close_look(&look);
}

bool batching_find_record(const struct batching *batching, int side, int index, char ret_id[24])
{
    cairn_error error = {0};
    size_t count = 0;
    struct look look = {0};
    open_look(batching, side, &look);
    static struct dlq_row rows[ROWS_MAX];
    must(look.ops->list_dlq(look.tx, NULL, 0, rows, ROWS_MAX, &count, &error), &error);
    bool is_there = (size_t)index < count;
    if (is_there)
        snprintf(ret_id, 24, "%lld", (long long)rows[index].id);
    close_look(&look);
    return is_there;
}
