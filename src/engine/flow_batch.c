/* engine/flow_batch.c - what a batch does to instances: reports, heartbeats, signals, control.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_step_id(const char *task_id)
{
    return strchr(task_id, '.') != NULL;
}

static bool is_flow_control(enum request_op op)
{
    return op >= OP_PAUSE && op <= OP_ABORT;
}

static bool names_one_instance(enum request_op op)
{
    return op == OP_SIGNAL || op == OP_DECIDE || is_flow_control(op);
}

/* ---- which instances ------------------------------------------------------------------------ */

static size_t named_instances(const struct request *request)
{
    if (request->code)
        return 0;
    if (request->op == OP_REPORT)
        return request->is_reported ? 0 : request->in.report.count;
    if (request->op == OP_COMMIT)
        return !request->is_reported;
    return names_one_instance(request->op) ? 1 : 0;
}

static bool names_tasks(enum request_op op)
{
    return op == OP_REPORT || op == OP_COMMIT;
}

static const char *named_task(const struct request *request, size_t index)
{
    return request->op == OP_COMMIT ? request->in.commit.task_id
                                    : request->in.report.reports[index].task_id;
}

static const char *the_instance(const struct request *request)
{
    switch (request->op) {
    case OP_SIGNAL:
        return request->in.signal.instance_id;
    case OP_DECIDE:
        return request->in.decide.id;
    default:
        return request->in.control.id;
    }
}

/* The index-th instance that a request names; NULL: that one is no instance's. */
static const char *named_instance(struct batch *batch, const struct request *request,
                                  size_t index, int32_t *ret_seq, bool *ret_is_lost)
{
    char id[ID_TEXT];
    const char *given;
    *ret_seq = -1;
    *ret_is_lost = false;
    if (names_tasks(request->op)) {
        if (!step_id_split(named_task(request, index), id, ret_seq))
            return NULL;
        given = arena_strdup(&batch->arena, id);
        *ret_is_lost = !given;
        return given;
    }
    given = the_instance(request);
    return id_is_valid(given) ? given : NULL;
}

/* How many places of one instance may be read ahead for a request. */
static size_t named_places(const struct request *request)
{
    return request->op == OP_COMMIT ? 1 + request->in.commit.step_count : 2;
}

/* Of a report: the step, and the place after it, where a list goes on.  Of a commit: the function
 * itself, and those of its steps that are remembered already. */
static size_t add_places(const struct batch *batch, const struct request *request,
                         const char *id, int32_t seq, struct step_ref *refs)
{
    const struct world_instance *instance = world_find(batch, id);
    size_t count = 0;
    if (!instance || seq < 0)
        return 0;
    refs[count++] = (struct step_ref){id, seq};
    if (request->op != OP_COMMIT)
        refs[count++] = (struct step_ref){id, seq + 1};
    for (size_t i = 0; request->op == OP_COMMIT && i < request->in.commit.step_count; i++) {
        int32_t place = request->in.commit.steps[i].seq;
        if (place > 0 && place < instance->row.places)
            refs[count++] = (struct step_ref){id, place};
    }
    return count;
}

/* What a request names, in the order of the batch. */
struct named {
    const struct request *request;
    const char *id;
    int32_t seq; /* -1: the instance alone */
};

static cairn_code prefetch_named(struct batch *batch, const struct named *named, size_t count,
                                 cairn_error *reterr)
{
    size_t room = 0, ref_count = 0;
    for (size_t i = 0; i < count; i++)
        room += named_places(named[i].request);
    struct step_ref *refs = arena_array(&batch->arena, room, sizeof *refs);
    if (!refs)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        ref_count +=
            add_places(batch, named[i].request, named[i].id, named[i].seq, refs + ref_count);
    return world_prefetch(batch, refs, ref_count, reterr);
}

/* Instances are locked by one question, and their steps are read ahead by another. */
cairn_code flow_batch_load(struct batch *batch, cairn_error *reterr)
{
    size_t room = 0, count = 0;
    for_each_request(request, batch) room += named_instances(request);
    if (room == 0)
        return CAIRN_OK;
    const char **ids = arena_array(&batch->arena, room, sizeof *ids);
    struct named *named = arena_array(&batch->arena, room, sizeof *named);
    if (!ids || !named)
        return fail_memory(reterr);
    for_each_request(request, batch)
    {
        for (size_t i = 0; i < named_instances(request); i++) {
            bool is_lost;
            struct named *one = &named[count];
            one->request = request;
            one->id = named_instance(batch, request, i, &one->seq, &is_lost);
            if (is_lost)
                return fail_memory(reterr);
            if (one->id)
                ids[count++] = one->id;
        }
    }
    if (count == 0)
        return CAIRN_OK;
    cairn_code code = world_load(batch, ids, count, reterr);
    return code ? code : prefetch_named(batch, named, count, reterr);
}

bool flow_names_busy(const struct batch *batch, const struct request *request)
{
    char id[ID_TEXT];
    int32_t seq;
    for (size_t i = 0; i < named_instances(request); i++) {
        const char *name = id;
        if (!names_tasks(request->op))
            name = the_instance(request);
        else if (!step_id_split(named_task(request, i), id, &seq))
            continue;
        const struct world_instance *instance = world_find(batch, name);
        if (instance && instance->is_busy)
            return true;
    }
    return false;
}

/* ---- reports -------------------------------------------------------------------------------- */

static bool make_outbox_room(struct batch *batch, size_t more)
{
    if (batch->outbox_count + more <= batch->outbox_room)
        return true;
    size_t room = (batch->outbox_count + more) * 2;
    struct outbox_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    if (!rows)
        return false;
    if (batch->outbox_count)
        memcpy(rows, batch->outbox, batch->outbox_count * sizeof *rows);
    batch->outbox = rows;
    batch->outbox_room = room;
    return true;
}

cairn_code flow_emit(struct batch *batch, const struct world_instance *instance,
                     const char *step, const cairn_outbound *events, size_t count,
                     cairn_error *reterr)
{
    if (!make_outbox_room(batch, count))
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        const cairn_outbound *event = &events[i];
        batch->outbox[batch->outbox_count++] = (struct outbox_row){
            .instance_id = instance->row.id,
            .step = step,
            .event = event->event,
            .payload = event->payload ? event->payload : "null",
            .created_at_us = batch->tx->now_us,
        };
    }
    return CAIRN_OK;
}

static void count_outcome(struct tally *tally, const struct flow_step *step,
                          cairn_outcome outcome)
{
    enum step_status status = step->row.status;
    if (outcome == CAIRN_COMPLETE)
        tally->completed++;
    else if (outcome == CAIRN_RELEASE)
        tally->released++;
    else if (status == STEP_READY || status == STEP_COMPENSATION)
        tally->retried++;
    else if (outcome != CAIRN_WAIT)
        tally->failed++;
}

cairn_code flow_find_task(struct batch *batch, const char *task_id,
                          struct world_instance **ret_instance, struct flow_step **ret_step,
                          cairn_error *reterr)
{
    char id[ID_TEXT];
    int32_t seq;
    *ret_instance = NULL;
    *ret_step = NULL;
    if (!step_id_split(task_id, id, &seq))
        return CAIRN_OK;
    *ret_instance = world_find(batch, id);
    return *ret_instance ? world_step(*ret_instance, seq, ret_step, reterr) : CAIRN_OK;
}

cairn_code flow_batch_report(struct batch *batch, struct request *request, size_t index,
                             cairn_error *reterr)
{
    const cairn_report *given = &request->in.report.reports[index];
    cairn_reported *reported = &request->out.reported[index];
    struct world_instance *instance;
    struct flow_step *step;
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    *reported = (cairn_reported){0};
    cairn_code code = flow_find_task(batch, given->task_id, &instance, &step, reterr);
    if (code)
        return code;
    if (step) {
        struct flow_report report = {
            .outcome = given->outcome,
            .worker = request->in.report.worker,
            .token = given->token,
            .output = given->output ? given->output : "null",
            .error = given->error ? given->error : "",
            .event = given->event,
            .delay_us = given->delay_ms < 0 ? -1 : given->delay_ms * US_PER_MS,
            .is_missing_handler = given->is_missing_handler,
            .timeout_us = given->timeout_ms < 0 ? -1 : given->timeout_ms * US_PER_MS,
        };
        code = flow_report(&instance->flow, step, &report, &verdict, reterr);
        if (!code && !verdict.code && !verdict.is_repeated) {
            count_outcome(&batch->tally, step, given->outcome);
            code = flow_emit(batch, instance, step->row.name, given->outbound,
                             given->outbound_count, reterr);
        }
        if (code)
            return code;
        if (verdict.code)
            world_revise_dirty(instance);
        else
            world_revise(instance);
    }
    reported->code = verdict.code;
    if (verdict.code == CAIRN_E_LEASE_LOST) {
        batch->tally.late_reports++;
        lease_lost(&reported->error, given->task_id, request->in.report.worker,
                   step ? step_status_name(step->row.status) : NULL,
                   step ? step->row.locked_by : NULL);
    } else if (verdict.code) {
        fail(&reported->error, verdict.code, "%s", verdict.flaw);
    } else {
        snprintf(reported->status, sizeof reported->status, "%s",
                 step_status_name(step->row.status));
    }
    return CAIRN_OK;
}

/* Changes the lease and nothing else, so the instance need not be locked. */
cairn_code flow_batch_heartbeat(struct batch *batch, struct request *request,
                                cairn_error *reterr)
{
    const struct heartbeat_input *in = &request->in.heartbeat;
    char id[ID_TEXT];
    struct step_ref ref = {.instance_id = id};
    struct flow_step step = {0};
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    bool is_found = false;
    cairn_code code = CAIRN_OK;
    if (step_id_split(in->task_id, id, &ref.seq))
        code = batch->ops->lock_steps(batch->tx, &ref, 1, &step.row, &is_found, reterr);
    if (code)
        return code;
    if (is_found)
        verdict = flow_heartbeat(&step, in->worker, in->token, in->extend_ms * US_PER_MS,
                                 batch->tx->now_us);
    if (verdict.code) {
        batch->tally.late_reports++;
        request->code = lease_lost(&request->error, in->task_id, in->worker,
                                   is_found ? step_status_name(step.row.status) : NULL,
                                   is_found ? step.row.locked_by : NULL);
        return CAIRN_OK;
    }
    request->out.heartbeat.lease_until_us = step.row.locked_until_us;
    request->out.heartbeat.stop = verdict.stop;
    if (!step.is_dirty)
        return CAIRN_OK;
    batch->tally.heartbeats++;
    batch_due(batch, step.row.due_at_us);
    return batch->ops->update_steps(batch->tx, &step.row, 1, reterr);
}

/* ---- signals -------------------------------------------------------------------------------- */

static cairn_code no_such_instance(struct request *request, const char *id)
{
    return request->code = fail(&request->error, CAIRN_E_NOT_FOUND,
                                "instance \"%.64s\" does not exist", id);
}

static cairn_code insert_signal(struct batch *batch, struct world_instance *instance,
                                struct request *request, enum insert_result *ret_result,
                                cairn_error *reterr)
{
    const cairn_signal_options *in = &request->in.signal;
    struct flow_facts facts = NO_FACTS;
    if (!in->id && !request->signal_id[0])
        id_make(&batch->committer->rng, batch->tx->now_us, request->signal_id);
    struct signal_row row = {.instance_id = instance->row.id,
                             .id = in->id ? in->id : request->signal_id,
                             .event = in->event,
                             .payload = in->payload ? in->payload : "null",
                             .received_at_us = batch->tx->now_us,
                             .taken_by = -1};
    cairn_code code = batch->ops->insert_signal(batch->tx, &row, ret_result, reterr);
    if (code || *ret_result != INSERT_DONE)
        return code;
    facts.event = in->event;
    facts.signal_id = row.id;
    return world_source.note(&instance->flow, "signal_received", NULL, &facts, reterr);
}

/* The instance has ended, but the id of a signal may be known from before.  Whether it is, the
 * insert says; if it was not, the row must not stay: the transaction fails, and since each request
 * is then tried alone, only this one does. */
static cairn_code signal_too_late(struct batch *batch, struct world_instance *instance,
                                  struct request *request, cairn_error *reterr)
{
    enum insert_result result = INSERT_DONE;
    bool may_be_known = request->in.signal.id || request->was_unsure;
    if (may_be_known) {
        cairn_code code = insert_signal(batch, instance, request, &result, reterr);
        if (code)
            return code;
    }
    if (result != INSERT_DONE) {
        request->out.signalled = (cairn_signalled){.kept = 1, .existing = !request->was_unsure};
        return CAIRN_OK;
    }
    cairn_error *error = may_be_known ? reterr : &request->error;
    cairn_code code =
        fail(error, CAIRN_E_WRONG_STATE, "cannot signal instance \"%s\": it is %s",
             instance->row.id, instance_status_name(instance->row.status));
    if (may_be_known)
        return code;
    request->code = code;
    return CAIRN_OK;
}

static cairn_code apply_signal(struct batch *batch, struct request *request,
                               cairn_error *reterr)
{
    const cairn_signal_options *in = &request->in.signal;
    struct world_instance *instance = world_find(batch, in->instance_id);
    bool is_awaited = true, is_taken = false;
    enum insert_result result;
    if (!instance) {
        no_such_instance(request, in->instance_id);
        return CAIRN_OK;
    }
    if (instance_is_final(instance->row.status))
        return signal_too_late(batch, instance, request, reterr);
    request->out.signalled = (cairn_signalled){.kept = 1};
    cairn_code code = CAIRN_OK;
    if (in->no_latch)
        code = flow_is_awaited(&instance->flow, in->event, &is_awaited, reterr);
    if (code)
        return code;
    if (!is_awaited) {
        request->out.signalled.kept = 0;
        return CAIRN_OK;
    }
    code = insert_signal(batch, instance, request, &result, reterr);
    if (code)
        return code;
    request->out.signalled.existing = result == INSERT_EXISTING && !request->was_unsure;
    if (result == INSERT_DONE)
        world_revise(instance);
    if (result == INSERT_DONE)
        code = flow_signal(&instance->flow, in->event, &is_taken, reterr);
    request->out.signalled.taken = is_taken;
    return code;
}

/* ---- control -------------------------------------------------------------------------------- */

static cairn_code control(struct flow *flow, const struct request *request,
                          cairn_code *ret_verdict, cairn_error *reterr)
{
    const struct control_input *in = &request->in.control;
    switch (request->op) {
    case OP_PAUSE:
        return flow_pause(flow, ret_verdict, reterr);
    case OP_RESUME:
        return flow_resume(flow, in->is_forced, ret_verdict, reterr);
    case OP_RESTART:
        return flow_restart(flow, ret_verdict, reterr);
    case OP_RETRY:
        return flow_retry(flow, ret_verdict, reterr);
    case OP_CANCEL:
        return flow_cancel(flow, in->by, in->reason, ret_verdict, reterr);
    default:
        return flow_abort(flow, in->by, in->reason, ret_verdict, reterr);
    }
}

/* An earlier try may have been committed after all. */
static bool is_as_asked(enum request_op op, enum instance_status status)
{
    switch (op) {
    case OP_PAUSE:
        return status == INSTANCE_PAUSED;
    case OP_RESUME:
    case OP_RETRY:
        return status == INSTANCE_RUNNING || status == INSTANCE_WAITING_SIGNAL;
    case OP_CANCEL:
        return status == INSTANCE_COMPENSATING || status == INSTANCE_CANCELLED;
    case OP_ABORT:
        return status == INSTANCE_ABORTED;
    default:
        return false;
    }
}

/* What a control asks an instance to become. */
static const char *asked_status(enum request_op op)
{
    switch (op) {
    case OP_PAUSE:
        return instance_status_name(INSTANCE_PAUSED);
    case OP_CANCEL:
        return instance_status_name(INSTANCE_CANCELLED);
    case OP_ABORT:
        return instance_status_name(INSTANCE_ABORTED);
    default:
        return instance_status_name(INSTANCE_RUNNING);
    }
}

static cairn_code apply_control(struct batch *batch, struct request *request,
                                cairn_error *reterr)
{
    cairn_code verdict = CAIRN_OK;
    struct world_instance *instance = world_find(batch, request->in.control.id);
    if (!instance) {
        no_such_instance(request, request->in.control.id);
        return CAIRN_OK;
    }
    enum instance_status before = instance->row.status;
    cairn_code code = control(&instance->flow, request, &verdict, reterr);
    if (code)
        return code;
    if (!verdict)
        world_revise(instance);
    if (verdict && !(request->was_unsure && is_as_asked(request->op, before))) {
        request->code =
            fail(&request->error, verdict, "cannot %s instance \"%s\": %s cannot become %s",
                 request_op_name(request->op), instance->row.id, instance_status_name(before),
                 asked_status(request->op));
        return CAIRN_OK;
    }
    return CAIRN_OK;
}

/* ---- decisions and the DLQ ------------------------------------------------------------------- */

static cairn_code find_human(struct batch *batch, struct world_instance *instance,
                             struct request *request, struct flow_step **ret_step,
                             cairn_error *reterr)
{
    const struct decide_input *in = &request->in.decide;
    struct step_row row;
    *ret_step = NULL;
    cairn_code code = batch->ops->get_step(batch->tx, instance->row.id, in->step, &row, reterr);
    if (code == CAIRN_E_NOT_FOUND) {
        request->code = fail(&request->error, code, "instance \"%s\" has no step \"%.64s\"",
                             instance->row.id, in->step);
        return CAIRN_OK;
    }
    return code ? code : world_step(instance, row.seq, ret_step, reterr);
}

static cairn_code apply_decision(struct batch *batch, struct request *request,
                                 cairn_error *reterr)
{
    const struct decide_input *in = &request->in.decide;
    struct world_instance *instance = world_find(batch, in->id);
    struct flow_step *step;
    cairn_code verdict = CAIRN_OK;
    if (!instance) {
        no_such_instance(request, in->id);
        return CAIRN_OK;
    }
    cairn_code code = find_human(batch, instance, request, &step, reterr);
    if (code || !step)
        return code;
    code = flow_decide(&instance->flow, step, in->is_confirmed, in->by, in->comment, &verdict,
                       reterr);
    if (code)
        return code;
    bool is_decided = step->row.status == (in->is_confirmed ? STEP_CONFIRMED : STEP_REJECTED);
    if (verdict && request->was_unsure && is_decided)
        return CAIRN_OK;
    if (verdict) {
        request->code = fail(&request->error, verdict,
                             "cannot decide about step \"%.64s\": it is %s, nobody is asked",
                             in->step, step_status_name(step->row.status));
        return CAIRN_OK;
    }
    struct decision_row row = {.instance_id = instance->row.id,
                               .step_seq = step->row.seq,
                               .step_name = step->row.name,
                               .decided_by = in->by,
                               .decision = in->is_confirmed ? "confirmed" : "rejected",
                               .comment = in->comment,
                               .decided_at_us = batch->tx->now_us};
    return batch->ops->insert_decision(batch->tx, &row, reterr);
}

static cairn_code find_record(struct batch *batch, struct request *request,
                              struct dlq_row *ret_record, cairn_error *reterr)
{
    const char *id = request->in.requeue.record;
    size_t digits = strspn(id, "0123456789");
    bool is_number = digits > 0 && digits <= 18 && !id[digits];
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (is_number)
        code = batch->ops->get_dlq(batch->tx, strtoll(id, NULL, 10), ret_record, reterr);
    if (code == CAIRN_E_NOT_FOUND)
        request->code = fail(&request->error, code, "DLQ record \"%.64s\" does not exist", id);
    else if (!code && !ret_record->is_open && !request->was_unsure)
        request->code = fail(&request->error, CAIRN_E_WRONG_STATE,
                             "cannot requeue DLQ record %s: it is closed", id);
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

/* Its instance is only known once the record is read; it is locked, and the record read again. */
static cairn_code load_record(struct batch *batch, struct request *request,
                              struct dlq_row *ret_record, struct world_instance **ret_instance,
                              cairn_error *reterr)
{
    *ret_instance = NULL;
    cairn_code code = find_record(batch, request, ret_record, reterr);
    if (code || request->code)
        return code;
    code = world_load(batch, &ret_record->instance_id, 1, reterr);
    struct world_instance *instance = code ? NULL : world_find(batch, ret_record->instance_id);
    if (!instance)
        return code ? code : fail(reterr, CAIRN_E_INTERNAL, "a DLQ record without instance");
    if (instance->is_busy)
        return fail(reterr, CAIRN_E_BUSY, "somebody else holds instance \"%s\"",
                    ret_record->instance_id);
    *ret_instance = instance;
    return find_record(batch, request, ret_record, reterr);
}

static cairn_code apply_requeue(struct batch *batch, struct request *request,
                                cairn_error *reterr)
{
    struct dlq_row record;
    struct world_instance *instance;
    struct flow_step *step;
    cairn_code verdict = CAIRN_OK;
    cairn_code code = load_record(batch, request, &record, &instance, reterr);
    if (code || request->code)
        return code;
    snprintf(request->signal_id, sizeof request->signal_id, "%s", record.instance_id);
    if (!record.is_open)
        return CAIRN_OK; /* an earlier try, whose end was unsure, has done it */
    code = world_step(instance, record.step_seq, &step, reterr);
    if (code || !step)
        return code ? code : fail(reterr, CAIRN_E_INTERNAL, "a DLQ record without step");
    bool is_undo = strncmp(record.reason, "compensation", strlen("compensation")) == 0;
    code = flow_requeue(&instance->flow, step, is_undo, request->in.requeue.input, &verdict,
                        reterr);
    if (!code && !verdict)
        world_revise(instance);
    if (!code && verdict)
        request->code =
            fail(&request->error, verdict, "cannot requeue DLQ record %s: its instance is %s",
                 request->in.requeue.record, instance_status_name(instance->row.status));
    return code;
}

/* ---- the outbox ----------------------------------------------------------------------------- */

static cairn_code claim_outbox(struct batch *batch, struct request *request,
                               cairn_error *reterr)
{
    const struct outbox_input *in = &request->in.outbox;
    size_t count = 0;
    struct outbox_row *rows = arena_array(&batch->arena, in->max, sizeof *rows);
    cairn_outbox_event *events = arena_array(&request->arena, in->max, sizeof *events);
    if (!rows || !events)
        return fail_memory(reterr);
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = batch->ops->claim_outbox(
        batch->tx, in->worker, instant_add(batch->tx->now_us, in->lease_ms * US_PER_MS), rows,
        in->max, &count, reterr);
    batch->tx->arena = arena;
    for (size_t i = 0; i < count && !code; i++) {
        events[i] = (cairn_outbox_event){
            .id = arena_printf(&request->arena, "%lld", (long long)rows[i].id),
            .instance_id = rows[i].instance_id,
            .step = rows[i].step,
            .event = rows[i].event,
            .payload = rows[i].payload,
            .created_at_us = rows[i].created_at_us};
        if (!events[i].id)
            code = fail_memory(reterr);
    }
    request->out.outbox = (struct outbox_output){.items = events, .count = count};
    return code;
}

static cairn_code ack_outbox(struct batch *batch, struct request *request, cairn_error *reterr)
{
    const char *id = request->in.job.id;
    size_t digits = strspn(id, "0123456789");
    bool is_number = digits > 0 && digits <= 18 && !id[digits];
    cairn_code code = is_number
                          ? batch->ops->ack_outbox(batch->tx, strtoll(id, NULL, 10), reterr)
                          : CAIRN_E_NOT_FOUND;
    if (code != CAIRN_E_NOT_FOUND)
        return code;
    request->code =
        fail(&request->error, CAIRN_E_NOT_FOUND, "outbox event \"%.64s\" does not exist", id);
    return CAIRN_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

cairn_code flow_batch_apply(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for_each_request(request, batch)
    {
        if (code || request->code)
            continue;
        if (request->op == OP_SIGNAL)
            code = apply_signal(batch, request, reterr);
        else if (is_flow_control(request->op))
            code = apply_control(batch, request, reterr);
        else if (request->op == OP_DECIDE)
            code = apply_decision(batch, request, reterr);
        else if (request->op == OP_DLQ_REQUEUE)
            code = apply_requeue(batch, request, reterr);
        else if (request->op == OP_OUTBOX_ACK)
            code = ack_outbox(batch, request, reterr);
        else if (request->op == OP_COMMIT && !request->is_reported)
            code = flow_batch_commit(batch, request, reterr);
    }
    if (!code && batch->outbox_count)
        code = batch->ops->append_outbox(batch->tx, batch->outbox, batch->outbox_count, reterr);
    if (!code && batch->log_count)
        code = batch->ops->append_logs(batch->tx, batch->logs, batch->log_count, reterr);
    for_each_request(request, batch)
    {
        if (!code && !request->code && request->op == OP_OUTBOX_CLAIM)
            code = claim_outbox(batch, request, reterr);
    }
    return code;
}

/* The answer to control is the instance as it is now. */
cairn_code flow_batch_show(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for_each_request(request, batch)
    {
        bool is_shown = is_flow_control(request->op) || request->op == OP_DECIDE ||
                        request->op == OP_DLQ_REQUEUE;
        if (code || request->code || !is_shown)
            continue;
        struct arena *arena = batch->tx->arena;
        batch->tx->arena = &request->arena;
        code = flow_read_run(batch->engine, batch->tx, request);
        batch->tx->arena = arena;
        if (code && reterr)
            *reterr = request->error;
    }
    return code;
}
