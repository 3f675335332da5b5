/* tests/sim/retention.c - what engines remove and start by themselves, behind the rounds of a life.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A policy with short ages is set and the clock moves on.  Engines sweep, people purge, delete, stop and begin anew, one
 * request at a time, with faults and crashes.  After every commit the rows are compared with those before:
 *
 *   - What is gone had ended, was old enough, and had neither an open dead letter nor an event to deliver.
 *   - It is gone whole: no row of any table is left behind, and what stays has all of its history.
 *   - A child goes with its parent, in the same commit, or its parent has a mark.
 *   - What has a mark stays ended until it is gone; in the end it is gone, unless a descendant lives.
 *   - Its key is kept if it is not too old, and a start with it answers the old id.
 *   - In the end nothing is left that should have gone.
 *
 * A schedule records a job for each of its times, once, whichever engines apply them.
 */
#include "sim.h"

#include "base/buf.h"
#include "core/retention.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 30, HELD_IDS_MAX = 64, SCHEDULE_S = 20, LEAST_MS = 1000 };

/* Ages of ends, as they are drawn; and what a request of this round may remove. */
struct sweeping {
    struct sim *sim;
    struct retention_row policy;
    char unacked[HELD_IDS_MAX]
                [ID_TEXT]; /* instances with events that nobody has acknowledged */
    size_t unacked_count;
    char marked[HELD_IDS_MAX][ID_TEXT]; /* instances whose descendants are being purged */
    size_t marked_count;
    int64_t schedule_us; /* when it was set */
    bool is_done;        /* the request of this moment is answered */
};

/* Rows that belong to something that is not there. */
static const char *const orphans[][2] = {
    {"a step", "workflow_step WHERE id >> 20 NOT IN (SELECT seq FROM workflow_instance)"},
    {"a signal", "workflow_signal WHERE instance_id NOT IN (SELECT id FROM workflow_instance)"},
    {"an outbox event",
     "workflow_outbox WHERE instance_id NOT IN (SELECT id FROM workflow_instance)"},
    {"a decision",
     "workflow_human_decision WHERE instance_id NOT IN (SELECT id FROM workflow_instance)"},
    {"a dead letter",
     "workflow_dlq WHERE instance_id NOT IN (SELECT id FROM workflow_instance)"},
    {"a line of a log",
     "workflow_log WHERE instance_id NOT IN (SELECT id FROM workflow_instance)"},
    {"a tag of a job",
     "workflow_tag WHERE kind = 'job' AND seq NOT IN (SELECT seq FROM workflow_run)"},
    {"a tag of an instance",
     "workflow_tag WHERE kind = 'instance' AND seq NOT IN (SELECT seq FROM workflow_instance)"},
    {"a post of events",
     "workflow_event_post WHERE workflow_id NOT IN"
     " (SELECT id FROM workflow_instance UNION ALL SELECT id FROM workflow_run)"},
    {"a mark of a purge", "workflow_purge WHERE id NOT IN (SELECT id FROM workflow_instance)"},
    {"a mark of a row of events",
     "workflow_event_gone WHERE log_id NOT IN (SELECT id FROM workflow_event_log)"},
    {"an event", "workflow_event_stream WHERE workflow_id NOT IN"
                 " (SELECT id FROM workflow_instance UNION ALL SELECT id FROM workflow_run"
                 "  UNION ALL SELECT id FROM workflow_schedule)"},
    {"a child", "workflow_instance AS c WHERE c.parent IS NOT NULL"
                " AND c.parent NOT IN (SELECT id FROM workflow_instance)"},
    {"a cut history of an instance",
     "workflow_instance AS i WHERE i.event_count >"
     " (SELECT count(*) FROM workflow_event AS e WHERE e.workflow_id = i.id)"},
    {"a cut history of a job",
     "workflow_run AS r WHERE r.event_count >"
     " (SELECT count(*) FROM workflow_event AS e WHERE e.workflow_id = r.id)"},
};

/* ---- requests -------------------------------------------------------------------------------- */

static void note_done(struct request *request)
{
    *(bool *)request->arg = true;
}

static struct request *make(enum request_op op)
{
    struct request *request = request_new(op);
    if (!request)
        abort();
    return request;
}

static const char *keep(struct request *request, const char *text)
{
    const char *copy = arena_strdup(&request->arena, text);
    if (!copy)
        abort();
    return copy;
}

/* ---- what may go ----------------------------------------------------------------------------- */

static bool is_unacked(const struct sweeping *sweeping, const char *id)
{
    for (size_t i = 0; i < sweeping->unacked_count; i++)
        if (strcmp(sweeping->unacked[i], id) == 0)
            return true;
    return false;
}

static int note_unacked(void *arg, int columns, char **values, char **names)
{
    struct sweeping *sweeping = arg;
    (void)columns, (void)names;
    if (sweeping->unacked_count == HELD_IDS_MAX)
        abort();
    snprintf(sweeping->unacked[sweeping->unacked_count++], ID_TEXT, "%s", values[0]);
    return 0;
}

static void look_at_outbox(struct sweeping *sweeping)
{
    sweeping->unacked_count = 0;
    sim_ask(sweeping->sim,
            "SELECT DISTINCT instance_id FROM workflow_outbox WHERE acknowledged_at IS NULL",
            note_unacked, sweeping);
}

static bool is_marked(const struct sweeping *sweeping, const char *id)
{
    for (size_t i = 0; i < sweeping->marked_count; i++)
        if (strcmp(sweeping->marked[i], id) == 0)
            return true;
    return false;
}

static int note_marked(void *arg, int columns, char **values, char **names)
{
    struct sweeping *sweeping = arg;
    (void)columns, (void)names;
    if (sweeping->marked_count == HELD_IDS_MAX)
        abort();
    snprintf(sweeping->marked[sweeping->marked_count++], ID_TEXT, "%s", values[0]);
    return 0;
}

static void look_at_marks(struct sweeping *sweeping)
{
    sweeping->marked_count = 0;
    sim_ask(sweeping->sim, "SELECT id FROM workflow_purge", note_marked, sweeping);
}

static int64_t age_of_instance(const struct sweeping *sweeping, const struct instance_row *row)
{
    struct retention_row policy = sweeping->policy;
    const int64_t *age_ms = retention_of_instance(&policy, row->status);
    return age_ms ? *age_ms : RETENTION_NEVER;
}

static int64_t age_of_job(const struct sweeping *sweeping, const struct job_row *row,
                          int64_t *ret_ended_us)
{
    struct retention_row policy = sweeping->policy;
    const int64_t *age_ms = retention_of_job(&policy, retention_job_end(row, ret_ended_us));
    return age_ms ? *age_ms : RETENTION_NEVER;
}

static bool is_held(const struct sweeping *sweeping, const struct seen_instance *instance)
{
    return instance->record_count > 0 || instance->row.is_telling ||
           is_unacked(sweeping, instance->row.id);
}

static const struct seen_instance *parent_of(const struct snapshot *snapshot,
                                             const struct seen_instance *child)
{
    return child->row.parent ? snapshot_find(snapshot, child->row.parent) : NULL;
}

/* ---- laws ------------------------------------------------------------------------------------ */

static void law_of_key_kept(struct sweeping *sweeping, const char *kind, const char *key,
                            const char *id, int64_t ended_us)
{
    struct sim *sim = sweeping->sim;
    int64_t keys_ms = sweeping->policy.keys;
    bool is_wanted =
        keys_ms < 0 || retention_due_us(keys_ms, ended_us) > clock_now_us(&sim->clock);
    char sql[256];
    snprintf(sql, sizeof sql, "workflow_key WHERE kind = '%s' AND key = '%s' AND id = '%s'",
             kind, key, id);
    if ((sim_count(sim, sql) == 1) != is_wanted)
        sim_broken(sim, "%s %s is purged, and its key %s %s", kind, id, key,
                   is_wanted ? "is not kept" : "is still kept");
}

static bool has_mark(struct sim *sim, const char *id)
{
    char sql[128];
    snprintf(sql, sizeof sql, "workflow_purge WHERE id = '%s'", id);
    return sim_count(sim, sql) == 1;
}

/* What was marked is gone, or as it was. */
static void law_of_marks(struct sweeping *sweeping)
{
    struct sim *sim = sweeping->sim;
    for (size_t i = 0; i < sweeping->marked_count; i++) {
        const char *id = sweeping->marked[i];
        const struct seen_instance *now = snapshot_find(sim->now, id);
        if (now && !instance_is_final(now->row.status))
            sim_broken(sim, "%s is being purged and is %s", id,
                       instance_status_name(now->row.status));
        if (now && !has_mark(sim, id))
            sim_broken(sim, "%s was being purged and has no mark any more", id);
    }
}

static void law_of_purged(struct sweeping *sweeping, const struct seen_instance *gone,
                          bool is_by_policy)
{
    struct sim *sim = sweeping->sim;
    const struct instance_row *row = &gone->row;
    const struct seen_instance *parent = parent_of(sim->before, gone);
    int64_t age_ms = age_of_instance(sweeping, row);
    if (!instance_is_final(row->status))
        sim_broken(sim, "%s is purged and was %s", row->id, instance_status_name(row->status));
    if (is_held(sweeping, gone))
        sim_broken(sim, "%s is purged, and something held it", row->id);
    if (parent && snapshot_find(sim->now, row->parent) && !has_mark(sim, row->parent))
        sim_broken(sim, "%s is purged before its parent", row->id);
    if (is_by_policy && !parent && !is_marked(sweeping, row->id) &&
        (age_ms < 0 ||
         retention_due_us(age_ms, row->finished_at_us) > clock_now_us(&sim->clock)))
        sim_broken(sim, "%s is purged too early", row->id);
    if (row->key)
        law_of_key_kept(sweeping, "instance", row->key, row->id, row->finished_at_us);
}

static void law_of_purged_job(struct sweeping *sweeping, const struct job_row *row,
                              bool is_by_policy)
{
    struct sim *sim = sweeping->sim;
    int64_t ended_us = 0, age_ms = age_of_job(sweeping, row, &ended_us);
    if (!ended_us)
        sim_broken(sim, "job %s is purged and was %s", row->id, job_status_name(row->status));
    if (is_by_policy &&
        (age_ms < 0 || retention_due_us(age_ms, ended_us) > clock_now_us(&sim->clock)))
        sim_broken(sim, "job %s is purged too early", row->id);
    if (row->key)
        law_of_key_kept(sweeping, "job", row->key, row->id, ended_us);
}

static void laws_of_purge(struct sweeping *sweeping, bool is_by_policy)
{
    struct sim *sim = sweeping->sim;
    if (sim->before == sim->now) /* nothing was written */
        return;
    law_of_marks(sweeping);
    for (size_t i = 0; i < sim->before->instance_count; i++)
        if (!snapshot_find(sim->now, sim->before->instances[i].row.id))
            law_of_purged(sweeping, &sim->before->instances[i], is_by_policy);
    for (size_t i = 0; i < sim->before->job_count; i++)
        if (!snapshot_job(sim->now, sim->before->jobs[i].row.id))
            law_of_purged_job(sweeping, &sim->before->jobs[i].row, is_by_policy);
    for (size_t i = 0; i < sizeof orphans / sizeof *orphans; i++)
        if (sim_count(sim, orphans[i][1]))
            sim_broken(sim, "%s is left behind", orphans[i][0]);
}

/* Whether a family has nothing that keeps it. */
static bool is_free(const struct sweeping *sweeping, const struct seen_instance *instance)
{
    const struct snapshot *now = sweeping->sim->now;
    if (!instance_is_final(instance->row.status) || is_held(sweeping, instance))
        return false;
    for (size_t i = 0; i < now->instance_count; i++)
        if (parent_of(now, &now->instances[i]) == instance &&
            !is_free(sweeping, &now->instances[i]))
            return false;
    return true;
}

static void law_of_leftovers(struct sweeping *sweeping)
{
    struct sim *sim = sweeping->sim;
    int64_t now_us = clock_now_us(&sim->clock);
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *instance = &sim->now->instances[i];
        int64_t age_ms = age_of_instance(sweeping, &instance->row);
        if (!is_free(sweeping, instance))
            continue;
        if (age_ms >= 0 && !parent_of(sim->now, instance) &&
            retention_due_us(age_ms, instance->row.finished_at_us) <= now_us)
            sim_broken(sim, "%s is old and still there", instance->row.id);
        if (has_mark(sim, instance->row.id))
            sim_broken(sim, "the purge of %s was begun and not finished", instance->row.id);
    }
    for (size_t i = 0; i < sim->now->job_count; i++) {
        int64_t ended_us = 0;
        int64_t age_ms = age_of_job(sweeping, &sim->now->jobs[i].row, &ended_us);
        if (age_ms >= 0 && ended_us && retention_due_us(age_ms, ended_us) <= now_us)
            sim_broken(sim, "job %s is old and still there", sim->now->jobs[i].row.id);
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Runs the engine until it has answered; the laws hold after each of its commits. */
static cairn_code ask(struct sweeping *sweeping, struct request *request, bool is_by_policy)
{
    struct sim *sim = sweeping->sim;
    struct sim_engine *own = &sim->engines[sim_below(sim, ENGINES)];
    int engine = (int)(own - sim->engines);
    int tries = 0;
    request->done = note_done;
    request->arg = &sweeping->is_done;
    sweeping->is_done = false;
    look_at_outbox(sweeping);
    sim_trace(sim, "engine %d: %s", engine, request_op_name(request->op));
    own->engine->base.ops->submit(&own->engine->base, request);
    while (!sweeping->is_done) {
        if (++tries == 50)
            faulty_calm(own->faulty);
        if (tries == 100)
            sim_broken(sim, "engine %d does not answer", engine);
        look_at_marks(sweeping);
        if (!sim->is_calm && sim_chance(sim, 3))
            engine_crash(sim, engine);
        else
            sim_run_engine(sim, engine);
        snapshot_take(sim);
        laws_of_purge(sweeping, is_by_policy);
    }
    return request->code;
}

static void ask_and_forget(struct sweeping *sweeping, struct request *request,
                           bool is_by_policy)
{
    ask(sweeping, request, is_by_policy);
    request_free(request);
}

static int64_t draw_age_ms(struct sim *sim)
{
    static const int64_t ages_ms[] = {LEAST_MS, LEAST_MS, 10000, 60000, -1};
    return ages_ms[sim_below(sim, 5)];
}

static void write_age(struct buf *out, const char *before, int64_t age_ms)
{
    if (age_ms < 0)
        buf_printf(out, "%snull", before);
    else
        buf_printf(out, "%s%" PRId64, before, age_ms);
}

static void set_policy(struct sweeping *sweeping)
{
    struct sim *sim = sweeping->sim;
    struct retention_row *policy = &sweeping->policy;
    struct request *request = make(OP_RETENTION_SET);
    struct buf jobs = {0}, instances = {0}, keys = {0};
    *policy = (struct retention_row){.jobs_succeeded = draw_age_ms(sim),
                                     .jobs_failed = draw_age_ms(sim),
                                     .jobs_cancelled = draw_age_ms(sim),
                                     .instances_completed = draw_age_ms(sim),
                                     .instances_failed = draw_age_ms(sim),
                                     .instances_cancelled = draw_age_ms(sim),
                                     .instances_aborted = draw_age_ms(sim),
                                     .keys = draw_age_ms(sim)};
    write_age(&jobs, "{\"succeeded\":", policy->jobs_succeeded);
    write_age(&jobs, ",\"failed\":", policy->jobs_failed);
    write_age(&jobs, ",\"cancelled\":", policy->jobs_cancelled);
    buf_printf(&jobs, "}");
    write_age(&instances, "{\"completed\":", policy->instances_completed);
    write_age(&instances, ",\"failed\":", policy->instances_failed);
    write_age(&instances, ",\"cancelled\":", policy->instances_cancelled);
    write_age(&instances, ",\"aborted\":", policy->instances_aborted);
    buf_printf(&instances, "}");
    write_age(&keys, "", policy->keys);
    request->in.retention =
        (struct retention_input){.jobs = keep(request, buf_text(&jobs)),
                                 .instances = keep(request, buf_text(&instances)),
                                 .keys_ms = keep(request, buf_text(&keys))};
    sim_trace(sim, "keep jobs %s, instances %s, keys %s", buf_text(&jobs), buf_text(&instances),
              buf_text(&keys));
    buf_done(&jobs);
    buf_done(&instances);
    buf_done(&keys);
    cairn_code code = ask(sweeping, request, false);
    request_free(request);
    if (code == CAIRN_E_CLOSED) /* the engine has crashed */
        set_policy(sweeping);
    else if (code)
        sim_broken(sim, "the policy is refused: %s", cairn_code_name(code));
}

static void sweep(struct sweeping *sweeping)
{
    ask_and_forget(sweeping, make(OP_RETENTION_STEP), true);
}

static const struct seen_instance *some_seen(struct sim *sim)
{
    return sim->now->instance_count
               ? &sim->now->instances[sim_below(sim, (int)sim->now->instance_count)]
               : NULL;
}

static void purge_by_hand(struct sweeping *sweeping)
{
    struct request *request = make(OP_PURGE);
    request->in.purge = (struct purge_input){.older_than_ms = LEAST_MS};
    if (sim_chance(sweeping->sim, 50))
        request->in.purge.status = "failed,cancelled";
    ask_and_forget(sweeping, request, false);
}

static void delete_some(struct sweeping *sweeping)
{
    const struct seen_instance *some = some_seen(sweeping->sim);
    if (!some)
        return;
    struct request *request = make(OP_INSTANCE_DELETE);
    request->in.id = keep(request, some->row.id);
    bool may_go = instance_is_final(some->row.status);
    if (!ask(sweeping, request, false) && !may_go)
        sim_broken(sweeping->sim, "%s is deleted and had not ended", request->in.id);
    request_free(request);
}

static void control_some(struct sweeping *sweeping)
{
    static const enum request_op ops[] = {OP_CANCEL, OP_ABORT, OP_ABORT, OP_RESTART, OP_RETRY};
    const struct seen_instance *some = some_seen(sweeping->sim);
    if (!some)
        return;
    struct request *request = make(ops[sim_below(sweeping->sim, 5)]);
    request->in.control = (struct control_input){
        .id = keep(request, some->row.id), .by = "ann", .reason = "why not"};
    ask_and_forget(sweeping, request, false);
}

/* Delivers what there is. */
static void deliver_some(struct sweeping *sweeping)
{
    struct request *claim = make(OP_OUTBOX_CLAIM);
    claim->in.outbox = (struct outbox_input){.worker = "d", .max = 8, .lease_ms = 1000};
    bool is_given = !ask(sweeping, claim, false);
    for (size_t i = 0; is_given && i < claim->out.page.count; i++) {
        struct request *ack = make(OP_OUTBOX_ACK);
        ack->in.id = keep(ack, claim->out.page.outbox[i].id);
        ask_and_forget(sweeping, ack, false);
    }
    request_free(claim);
}

/* A start with the key of one that was purged. */
static int note_key(void *arg, int columns, char **values, char **names)
{
    char(*found)[2][ID_TEXT] = arg;
    (void)columns, (void)names;
    snprintf((*found)[0], ID_TEXT, "%s", values[0]);
    snprintf((*found)[1], ID_TEXT, "%s", values[1]);
    return 0;
}

static void enqueue_again(struct sweeping *sweeping)
{
    struct sim *sim = sweeping->sim;
    char kept[2][ID_TEXT] = {{0}};
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    sim_ask(sim,
            "SELECT key, id FROM workflow_key WHERE kind = 'job' ORDER BY random() LIMIT 1",
            note_key, &kept);
    if (!kept[0][0])
        return;
    struct request *request = make(OP_ENQUEUE);
    spec.type = "j";
    spec.key = keep(request, kept[0]);
    request->in.enqueue = (struct enqueue_input){.specs = &spec, .count = 1};
    if (!ask(sweeping, request, false) && (!request->out.enqueued[0].existing ||
                                           strcmp(request->out.enqueued[0].id, kept[1]) != 0))
        sim_broken(sim, "the key %s is kept for job %s, and %s has it", kept[0], kept[1],
                   request->out.enqueued[0].id);
    request_free(request);
}

/* ---- a schedule ------------------------------------------------------------------------------ */

static void set_schedule(struct sweeping *sweeping)
{
    struct request *request = make(OP_SCHEDULE_PUT);
    request->in.schedule = (cairn_schedule_spec)CAIRN_SCHEDULE_DEFAULTS;
    request->in.schedule.name = "s";
    request->in.schedule.every_ms = SCHEDULE_S * 1000;
    request->in.schedule.task = "scheduled";
    request->in.schedule.overlap = "allow";
    request->in.schedule.catch_up = "all";
    sweeping->schedule_us = clock_now_us(&sweeping->sim->clock);
    cairn_code code = ask(sweeping, request, false);
    request_free(request);
    if (code == CAIRN_E_CLOSED)
        set_schedule(sweeping);
    else if (code)
        sim_broken(sweeping->sim, "the schedule is refused: %s", cairn_code_name(code));
}

/* A claim, before which timers are applied. */
static void apply_timers(struct sweeping *sweeping)
{
    struct request *request = make(OP_CLAIM);
    static const char *types[] = {"nothing"};
    request->in.claim = (cairn_claim_options)CAIRN_CLAIM_DEFAULTS;
    request->in.claim.worker = "t";
    request->in.claim.types = types;
    request->in.claim.type_count = 1;
    ask_and_forget(sweeping, request, false);
}

/* Each time that has come is a job, or was one. */
static void law_of_schedule(struct sweeping *sweeping)
{
    struct sim *sim = sweeping->sim;
    int64_t times =
        (clock_now_us(&sim->clock) - sweeping->schedule_us) / (SCHEDULE_S * US_PER_SEC);
    int64_t runs =
        sim_count(sim, "workflow_schedule_run WHERE schedule = 's' AND run_id IS NOT NULL");
    int64_t owners = sim_count(sim, "(SELECT at FROM workflow_schedule_run GROUP BY at)");
    if (runs != times || owners != times)
        sim_broken(sim,
                   "%lld times of the schedule have come, %lld runs of %lld times were made",
                   (long long)times, (long long)runs, (long long)owners);
}

/* ---- the play -------------------------------------------------------------------------------- */

static void act(struct sweeping *sweeping)
{
    int what = sim_below(sweeping->sim, 100);
    if (what < 50)
        sweep(sweeping);
    else if (what < 58)
        purge_by_hand(sweeping);
    else if (what < 66)
        delete_some(sweeping);
    else if (what < 74)
        control_some(sweeping);
    else if (what < 82)
        deliver_some(sweeping);
    else if (what < 90)
        enqueue_again(sweeping);
    else
        apply_timers(sweeping);
}

void retention_play(struct sim *sim)
{
    struct sweeping sweeping = {.sim = sim};
    set_policy(&sweeping);
    set_schedule(&sweeping);
    for (int i = 0; i < ROUNDS; i++, sim->round++) {
        if (sim_chance(sim, 60))
            sim_set_clock(sim, clock_now_us(&sim->clock) + sim_below(sim, 8000) * US_PER_MS);
        act(&sweeping);
    }
    sim->is_calm = true;
    for (int i = 0; i < ENGINES; i++)
        faulty_calm(sim->engines[i].faulty);
    deliver_some(&sweeping);
    apply_timers(&sweeping);
    for (int i = 0; i < 12;
         i++) { /* the longest age, and several sweeps that each end in a portion */
        sim_set_clock(sim, clock_now_us(&sim->clock) + 10 * US_PER_SEC);
        apply_timers(&sweeping);
        for (int k = 0; k < 8; k++)
            sweep(&sweeping);
    }
    look_at_outbox(&sweeping);
    law_of_leftovers(&sweeping);
    law_of_schedule(&sweeping);
}
