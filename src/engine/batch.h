/* engine/batch.h - the requests of one commit, while they are being applied.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests that share a commit leave what they would leave one after the other.  All rows that they
 * name are read and locked by a few questions; then the requests are applied in the order in which
 * they came, to rows in memory (batch_order.c); what has changed is written by a few statements.
 * Claims come last.  A request with a code has been refused and is passed over; a function that
 * returns a code ends the whole transaction.
 */
#ifndef ENGINE_BATCH_H
#define ENGINE_BATCH_H

#include "engine/local.h"

/* Counted while applying, added to the engine's counters once the commit has succeeded. */
struct tally {
    uint64_t enqueued, claimed, completed, failed, retried, cancelled, released, heartbeats;
    uint64_t lease_expiries, late_reports, started;
    uint64_t passages, passage_commits, passage_conflicts;
};

/* A claim that brought less of one kind than it could take: another like it would bring nothing. */
struct exhausted_claim {
    const cairn_claim_options *claim;
    bool is_steps; /* or jobs */
    struct exhausted_claim *next;
};

/* A function that was claimed, whose memory is to be read. */
struct passage {
    struct request *request;
    const char *instance_id;
    cairn_memory *memory; /* the request's, as is all below */
    const cairn_step **steps;
    const cairn_received **events;
    size_t event_room;
};

/* What one of several claims that are made together may take, and has got. */
struct claim_share {
    struct request *request;
    size_t room, count;
    cairn_task *tasks;
};

struct batch {
    struct committer *committer;
    struct local_engine *engine;
    const struct store_ops *ops;
    struct store_tx *tx;
    struct arena arena;
    struct request_queue *requests;
    bool is_alone; /* one request by itself: it may wait for a lock */

    /* The rows that requests name: sorted by id, each once. */
    const char **ids;
    struct job_row *rows;
    enum lock_result *locks;
    bool *is_dirty;
    struct request *
        *owed; /* the latest control of each, whose answer is still to be read; or NULL */
    size_t id_count;
    bool has_children; /* jobs were started that were not there when the rows were locked */

    /* Whether new jobs and instances are inserted as far as the next request that they must not
     * overtake. */
    bool are_jobs_ahead, are_starts_ahead;

    struct job_event_row *events;
    size_t event_count, event_room;

    struct workset_instance *instances;       /* instances in hand */
    struct workset_instance **instance_slots; /* the same by id, a hash table */
    size_t instance_slot_count, instance_count;
    struct flow_event_row *flow_events;
    size_t flow_event_count, flow_event_room;
    struct outbox_row *outbox;
    size_t outbox_count, outbox_room;
    struct log_row *logs;
    size_t log_count, log_room;

    /* Jobs and instances that have ended, for those who wait for it. */
    const char **ended;
    size_t ended_count, ended_room;

    struct exhausted_claim *dry;
    struct passage *passages;
    size_t passage_count, passage_room;
    struct tally tally;
    struct ready_types ready;
    int64_t due_us; /* the earliest timer known: the store's, and those made here; 0: none */
    bool is_due_known;
    bool is_stuck;   /* a timer is due that could not be applied: somebody holds its row */
    int64_t late_us; /* how late the latest of the timers was that were applied; 0: in time */
};

#define for_each_request(request, batch) \
    for (struct request *request = (batch)->requests->first; request; request = request->next)

/* batch.c: once it is committed, adds what was counted to the engine's counters, and wakes those who
 * wait for the end of something. */
void batch_count(struct batch *batch);
/* A job or an instance has ended. */
cairn_code batch_ended(struct batch *batch, const char *id, cairn_error *reterr);

/* batch_event.c */
struct event_facts {
    const char *worker; /* NULL: left out */
    int32_t attempt;    /* 0: left out */
    const char *error, *reason;
    int64_t run_at_us, extend_us; /* 0: left out */
};
cairn_code batch_add_event(struct batch *batch, const char *job_id, enum job_event type,
                           const char *data, cairn_error *reterr);
cairn_code event_data(struct batch *batch, const struct event_facts *facts,
                      const char **ret_data, cairn_error *reterr);
cairn_code batch_append_events(struct batch *batch, cairn_error *reterr);

/* batch_order.c: applies the requests, claims aside, one after the other. */
cairn_code batch_apply_in_order(struct batch *batch, cairn_error *reterr);

/* batch_insert.c */
/* The jobs of a request, and in the same statement those of the requests behind it. */
cairn_code batch_enqueue(struct batch *batch, struct request *first, cairn_error *reterr);
bool request_enqueues_children(const struct request *request);
/* What a function starts in its commit. */
cairn_code batch_insert_children(struct batch *batch, const struct commit_job *jobs,
                                 size_t count, cairn_enqueued *ret_enqueued,
                                 cairn_error *reterr);

/* batch_job.c */
cairn_code batch_lock(struct batch *batch, cairn_error *reterr);
cairn_code batch_report(struct batch *batch, struct request *request, cairn_error *reterr);
cairn_code batch_heartbeat_job(struct batch *batch, struct request *request,
                               cairn_error *reterr);
cairn_code batch_control_job(struct batch *batch, struct request *request, cairn_error *reterr);
bool request_is_job_control(enum request_op op);
/* Writes the rows that have changed, and gives the answers that are still owed. */
cairn_code batch_write_jobs(struct batch *batch, cairn_error *reterr);
cairn_code batch_put_registry(struct batch *batch, struct request *request,
                              cairn_error *reterr);

/* Decides about one row, notes the event and what it means for timers and workers. */
cairn_code batch_apply(struct batch *batch, struct job_row *row, const struct job_input *input,
                       struct job_verdict *ret_verdict, cairn_error *reterr);

/* Whether a request names a row that somebody else holds. */
bool request_names_busy_row(const struct batch *batch, const struct request *request);

/* A job of this type became claimable; NULL: of any type. */
void batch_note_ready(struct batch *batch, const char *type);
void batch_note_ready_version(struct batch *batch, const char *type,
                              int32_t version); /* a function */

/* A timer that is due and applied now; of a virtual clock none is late. */
void batch_late(struct batch *batch, int64_t due_us);

/* A timer that this batch makes, so that nobody needs to ask the store for it. */
void batch_note_due(struct batch *batch, int64_t at_us);

/* Sorts ids and drops repeats; how many are left. */
size_t ids_sort_unique(const char **ids, size_t count);

/* batch_load.c: which instances and steps a batch names. */
cairn_code batch_load_instances(struct batch *batch, cairn_error *reterr);
bool request_names_busy_instance(const struct batch *batch, const struct request *request);

/* batch_report.c */
cairn_code batch_report_step(struct batch *batch, struct request *request, size_t index,
                             cairn_error *reterr);
void batch_heartbeat_step(struct batch *batch, struct request *request);
bool is_step_id(const char *task_id);
/* The task was ended by this very token, but with another outcome. */
cairn_code ended_otherwise(cairn_error *error, const char *id, const char *ended_outcome);
cairn_code lease_lost(cairn_error *error, const char *id, const char *worker,
                      const char *status, const char *holder);

/* batch_control.c */
bool request_is_control(enum request_op op); /* of instances */
/* The answer to control is the instance as it is now. */
cairn_code batch_show_instance(struct batch *batch, struct request *request,
                               cairn_error *reterr);
cairn_code batch_control_instance(struct batch *batch, struct request *request,
                                  cairn_error *reterr);
cairn_code batch_decide(struct batch *batch, struct request *request, cairn_error *reterr);
cairn_code batch_requeue(struct batch *batch, struct request *request, cairn_error *reterr);
/* Finds the instance that a requeue is about, so that it can be locked with all others. */
cairn_code batch_find_record_instance(struct batch *batch, struct request *request,
                                      cairn_error *reterr);
cairn_code no_such_instance(struct request *request, const char *id);

/* batch_signal.c */
cairn_code batch_signal(struct batch *batch, struct request *request, cairn_error *reterr);

/* batch_outbox.c */
cairn_code batch_claim_outbox(struct batch *batch, struct request *request,
                              cairn_error *reterr);
cairn_code batch_ack_outbox(struct batch *batch, struct request *request, cairn_error *reterr);
/* Writes the events that were emitted and are not yet in the store. */
cairn_code batch_append_outbox(struct batch *batch, cairn_error *reterr);

/* batch_start.c */
cairn_code batch_deploy(struct batch *batch, struct request *request, cairn_error *reterr);
/* The instance of a request, and in the same statement those of the requests behind it. */
cairn_code batch_start(struct batch *batch, struct request *first, cairn_error *reterr);

bool request_starts_children(const struct request *request);

struct child {
    const struct commit_start *start;
    const struct definition *definition;
    struct workset_instance *instance;
};
/* Finds the workflows; if one is not there, the request is refused. */
cairn_code batch_plan_children(struct batch *batch, struct request *request,
                               struct child *children, size_t count, cairn_error *reterr);
cairn_code batch_start_children(struct batch *batch, struct child *children, size_t count,
                                cairn_enqueued *ret_started, cairn_error *reterr);

/* batch_passage.c */
cairn_code batch_commit_passage(struct batch *batch, struct request *request,
                                cairn_error *reterr);

/* batch_memory.c: what claimed functions remember. */
/* Memory for a passage; what is in it is read by batch_read_memories(), for all at once. */
cairn_code batch_add_passage(struct batch *batch, struct request *request,
                             const struct step_row *runner, const cairn_memory **ret_memory,
                             cairn_error *reterr);
cairn_code batch_read_memories(struct batch *batch, cairn_error *reterr);
/* Untaken signals, into the request's arena. */
cairn_code batch_read_signals(struct batch *batch, struct request *request,
                              const char *instance_id, const cairn_received *const **ret_events,
                              size_t *ret_count, cairn_error *reterr);

/* batch_timer_steps.c */
cairn_code timers_apply_steps(struct batch *batch, int64_t *ret_due_us, cairn_error *reterr);

/* batch_claim_steps.c */
/* Claims that are alike but for who makes them; none of unsure end. */
cairn_code claim_take_steps_together(struct batch *batch, struct claim_share *shares,
                                     size_t count, cairn_error *reterr);
cairn_code claim_take_steps(struct batch *batch, struct request *request, size_t room,
                            cairn_task *ret_tasks, size_t *ret_count, cairn_error *reterr);

/* batch_claim.c */
bool request_is_claiming(const struct request *request);
const cairn_claim_options *request_claim(const struct request *request);
/* Refuses a request whose claim names a type that another runtime owns. */
cairn_code batch_check_runtime(struct batch *batch, struct request *request,
                               cairn_error *reterr);
cairn_code batch_claim(struct batch *batch, cairn_error *reterr);

#endif
