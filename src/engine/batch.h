/* engine/batch.h - the requests of one commit, while they are being applied.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests that share a commit leave what they would leave one after the other:
 *
 *   1. timers       what has fallen due is applied (batch_timer.c)
 *   2. load         all rows that the requests name are read and locked (batch_load.c)
 *   3. apply        each request at its turn, on rows in memory (batch.c, operation.c)
 *   4. claims       after all others, since one question serves many of them (batch_claim.c)
 *   5. write        what has changed, by a few statements (workset.c)
 *   6. answers      what functions remember, and the rows that controls have made
 *
 * A request with a code has been refused and is passed over; a function that returns a code ends the
 * whole transaction.
 */
#ifndef ENGINE_BATCH_H
#define ENGINE_BATCH_H

#include "core/flow.h"
#include "engine/id_map.h"
#include "engine/local.h"

struct limits;
struct workset_instance;
struct workset_job;

/* Counted while applying, added to the engine's counters once the commit has succeeded. */
#define COUNTER(name) uint64_t name;
struct tally {
    COUNTERS(COUNTER)
};

/* A row that a request names. */
struct row_name {
    struct request *request;
    const char *id; /* of a job, or of an instance */
    int32_t seq;    /* the place of a step; -1: none */
    bool is_job;
    bool is_bare;               /* the step alone is needed: its instance is not locked */
    const cairn_report *report; /* that names it; NULL: another request */
    struct kept_run *run;       /* the rows of a commit's run, if they are known */
    bool is_shared;             /* other requests of the batch name it, too */
};

/* Events in the order in which they happened; a zeroed struct is empty. */
struct event_list {
    struct event_row *items;
    size_t count, room;
};

/* What an event of a job says; what is NULL or 0 is left out. */
struct job_facts {
    const char *worker, *error, *reason;
    const char *token; /* the name of the one that the request came with */
    int32_t attempt;
    int64_t run_at_us, extend_us;
};

/* The same as JSON; NULL: none yet. */
struct job_said {
    struct job_facts facts;
    const char *data;
};

enum { FLOW_SAID = 4 };

/* Facts of steps as JSON, of which a batch has a few again and again. */
struct flow_said {
    const char *status, *worker;
    int32_t retry_count; /* -1: not told */
    const char *data;    /* NULL: none yet */
};

/* A function that was claimed, whose memory is to be read. */
struct passage {
    struct request *request;
    const char *instance_id;
    size_t lease;         /* which of the batch's */
    cairn_memory *memory; /* the request's, as is all below */
    const cairn_step **steps;
    LIST(const cairn_received *) events;
};

/* A function that was leased out, by the token of the request. */
struct given_lease {
    const struct request *request;
    const char *instance_id;
};

/* An event of an instance that gets its id later.  One without a step tells the status that the instance has
 * when what was asked for is done, so that its data is made then. */
struct untold_event {
    struct workset_instance *instance;
    struct event_row event;
    uint64_t turn;                  /* what it is a part of */
    const struct flow_facts *facts; /* without a step; NULL: with one */
    bool is_dropped; /* it would tell a status that the instance has never come to rest in */
};

/* Of a task: its type and group. */
struct lane_name {
    const char *type, *group;
};

/* A step that can be claimed, but that the store does not have as ready: this batch has made it so. */
struct step_in_hand {
    struct flow_step *step;
    struct claim_key key;
    bool is_given; /* to a claim */
};

struct batch {
    struct committer *committer;
    struct local_engine *engine;
    const struct store_ops *ops;
    struct store_tx *tx;
    cairn_error *error; /* says why a function returns a code */
    struct arena arena;
    struct request_queue *requests;
    bool has_workers;         /* it has written what was seen of workers */
    bool has_figures;         /* it has written figures */
    bool is_figures_wanted;   /* writes them even if it is not time */
    struct total_row *totals; /* those that it has written */
    size_t total_count;
    bool has_bulk;      /* a bulk action begins */
    bool has_retention; /* a sweep begins */
    bool is_alone;      /* one request by itself: it may wait for a lock */

    LIST(struct row_name) names;  /* in the order of the requests */
    bool are_places_asked;        /* the steps that they name, and those behind them */
    LIST(struct kept_run *) runs; /* whose texts the rows in the workset use */
    bool is_unlocked;             /* all of them go on, and none is locked */

    /* The workset: struct workset_job and struct workset_instance by id. */
    struct id_map jobs, instances;
    bool has_children; /* jobs were started that were not there when the rows were locked */

    /* Whether new jobs and instances are inserted as far as the next request that they must not
     * overtake. */
    bool are_jobs_ahead, are_starts_ahead;

    struct event_list events;
    struct event_list loose;          /* of subjects whose row is not in hand */
    LIST(struct untold_event) untold; /* of instances, without ids yet */
    bool has_told;                    /* events were written */
    uint64_t turn;                    /* 0: of timers; then each request has its own */
    bool has_seen_lease;  /* of a step whose claim may have been told since this began */
    int64_t next_event;   /* an id that was taken and is not used; 0: none */
    size_t log_size;      /* of what the events of the present row of the log say */
    struct job_said said; /* by the latest event of a job */
    struct flow_said flow_said[FLOW_SAID];
    size_t next_flow_said; /* to be replaced */
    LIST(struct outbox_row) outbox;
    LIST(struct figure_note) figures; /* what is counted once it is committed */
    LIST(struct log_row) logs;
    LIST(const char *) ended; /* ids of jobs and instances, for the requests that wait for it */

    LIST(struct step_in_hand) in_hand; /* in the order of claims */
    bool
        has_places_back; /* leases that limits count have ended, which the store does not know yet */
    LIST(const char *) group_types; /* types of steps that are known to have had a group */
    struct demand *demands;         /* of claims */
    struct claim_group *ahead;      /* asked for jobs before their time; NULL: none */
    struct new_jobs *new_jobs;      /* sent behind completions; NULL: none */
    bool may_ahead, is_sending;     /* is_sending: they are being asked */
    bool
        are_all_completed; /* reports name only jobs that succeeded, and nothing was told before */
    /* Whether there is something of a kind that was left out: asked with the commit.  habit: NULL if not. */
    struct {
        struct claim_habit *habit;
        enum claim_kind kind;
        bool is_any;
    } look;
    /* Whether the store has steps before those in hand: asked before these are known.  demand: NULL if not. */
    struct {
        struct demand *demand;
        struct steps_in_hand told;
        bool is_any;
    } before;
    bool
        is_spoilt; /* what was asked ahead, or was not locked, did not fit: the batch is repeated without that */
    LIST(struct passage) passages;
    LIST(struct given_lease) given;
    LIST(struct lease_view) leases; /* of functions that were claimed */
    struct moment began;            /* before the transaction did */
    uint64_t ready_epochs[EPOCHS];  /* the engine's, at that moment */
    int64_t commit_us;              /* how long the commit before took */
    struct tally tally;
    struct ready_types ready;
    struct ready_types nothing;      /* claims have found that there is no more for these */
    struct limits *limits;           /* locked; NULL: not needed so far */
    struct lane_turn *turns;         /* of lanes; NULL if `limits` is */
    LIST(struct lane_name) released; /* tasks whose tokens go back */
    int64_t due_us; /* the earliest timer known: the store's, and those made here; 0: none */
    bool is_due_known;
    bool is_timed; /* of batch_result, as are the next two */
    size_t timed_count;
    char timed_id[ID_TEXT];
    bool is_stuck;   /* a timer is due that could not be applied: its row is locked elsewhere */
    int64_t late_us; /* how late the latest of the timers was that were applied; 0: in time */
};

/* Rejects a request, which fails alone: the batch goes on. */
#define REFUSE(request, ...) ((request)->code = fail(&(request)->error, __VA_ARGS__), CAIRN_OK)

#define for_each_request(request, batch) \
    for (struct request *request = (batch)->requests->first; request; request = request->next)

/* What operations do to rows, each at its turn; operation.c says which does what. */
typedef cairn_code batch_operation(struct batch *batch, struct request *request);
batch_operation batch_control_job, batch_control_instance, batch_report, batch_heartbeat,
    batch_heartbeats, batch_decide, batch_requeue, batch_signal, batch_claim_outbox,
    batch_ack_outbox, batch_release_outbox, batch_put_registry, batch_deploy,
    batch_commit_passage, batch_start_bulk, batch_stop_bulk, batch_walk_bulk, batch_metrics,
    batch_set_retention, batch_purge, batch_delete_instance, batch_sweep, batch_put_schedule,
    batch_stop_schedule, batch_resume_schedule, batch_trigger_schedule, batch_delete_schedule,
    batch_put_limit, batch_delete_limit;
/* What a request inserts, and in the same statement what the requests behind it insert. */
batch_operation batch_enqueue, batch_start, batch_rerun;

/* ---- batch.c -------------------------------------------------------------------------------- */

/* Begins a transaction without requests; ends it, by a commit if there is no code. */
cairn_code batch_begin(struct committer *committer, struct request_queue *requests,
                       struct batch *ret_batch, cairn_error *reterr);
cairn_code batch_end(struct batch *batch, cairn_code code);

/* Tasks of this type became claimable; NULL: of any type.  version: of a function; else 0. */
void ready_types_add(struct ready_types *ready, const char *type, int32_t version);
void batch_note_ready(struct batch *batch, enum claim_kind kind, const char *type,
                      int32_t version);

/* Claims that wait for what has just become ready join the batch: they get it in the same commit,
 * so that work starts after one and not after two. */
void batch_let_join(struct batch *batch, const struct ready_types *ready);

/* A timer that this batch makes, so that the store need not be asked for it. */
void batch_note_due(struct batch *batch, int64_t at_us);

/* A timer that is due and applied now; of a virtual clock none is late. */
void batch_note_late(struct batch *batch, int64_t due_us);

/* A job or an instance has ended. */
cairn_code batch_note_ended(struct batch *batch, const char *id);

/* Ids for what a request inserts, in out.enqueued. */
cairn_code batch_make_ids(struct batch *batch, struct request *request, size_t count);

/* ---- batch_load.c --------------------------------------------------------------------------- */

/* Requests that name a row which another transaction holds leave the batch. */
cairn_code batch_load(struct batch *batch, struct request_queue *ret_busy);

/* ---- batch_event.c -------------------------------------------------------------------------- */

/* Adds an event to the chain of a job, whose row must be written then. */
cairn_code batch_add_job_event(struct batch *batch, struct job_row *row, enum job_event type,
                               const struct job_facts *facts);
/* Its row has the event already: it is the one with this number, after `prev`. */
cairn_code batch_tell_job_event(struct batch *batch, const struct job_row *row,
                                enum job_event type, const struct job_facts *facts, int64_t id,
                                int64_t prev, int32_t number);
/* instance: NULL if its row is not in hand. */
/* An instance has begun whose row is yet to be inserted: tells what has happened to it since there were so
 * many untold events. */
cairn_code batch_tell_begun(struct batch *batch, size_t untold_count);
cairn_code batch_add_event(struct batch *batch, struct workset_instance *instance,
                           const char *instance_id, const char *type, const char *step,
                           const struct flow_facts *facts);
/* Ids for `count` events that follow each other, greater than `after`. */
cairn_code batch_take_events(struct batch *batch, int64_t after, size_t count,
                             int64_t *ret_first);
/* Gives ids to the events of instances, before their rows are written. */
cairn_code batch_number_events(struct batch *batch);
/* The same for a statement that is asked next and tells the ids: they may be open (store.h). */
cairn_code batch_take_open_events(struct batch *batch, size_t count, int64_t *ret_first);
/* An id that was open, once the store knows it; 0: it was not used. */
int64_t batch_known_event(const struct batch *batch, int64_t id);
/* The rows in hand end with ids that are known now. */
void batch_close_events(struct batch *batch);
/* The store has used ids up to this one. */
void batch_used_events(struct batch *batch, int64_t last);
cairn_code event_list_add(struct arena *arena, struct event_list *list,
                          const struct event_row *event, cairn_error *reterr);
/* Writes all that have ids and are not written yet: twice is as good as once. */
cairn_code batch_append_events(struct batch *batch);
/* The same in the middle of a batch, if it can be done there. */
cairn_code batch_append_early(struct batch *batch);
/* Whether there are any, written or not. */
bool batch_has_events(const struct batch *batch);
/* Events whose ids are not taken yet, or that are written by themselves. */
bool batch_has_late_events(const struct batch *batch);
/* Of the present row of the log; all of them, if none is present. */
size_t batch_used_slots(const struct batch *batch);
/* Whether the trail is to tell that a handler is missing. */
bool batch_may_tell_missing(struct batch *batch, const char *task_type);

/* ---- batch_job.c ---------------------------------------------------------------------------- */

bool request_enqueues_children(const struct request *request);
/* The jobs that a function starts in its commit. */
cairn_code batch_insert_children(struct batch *batch, const struct commit_job *children,
                                 size_t count, cairn_enqueued *ret_enqueued);
/* Decides about one job, adds the event, and notes what it means for timers and workers. */
cairn_code batch_apply_job(struct batch *batch, struct workset_job *job,
                           const struct job_input *input, struct job_verdict *ret_verdict);

/* ---- batch_report.c ------------------------------------------------------------------------- */

/* Jobs that are about to be inserted by one statement. */
struct new_jobs {
    struct job_row *rows;
    cairn_enqueued **enqueued; /* an entry for each row: its id, and what becomes of it */
    size_t count;
};
cairn_code new_jobs_make(struct batch *batch, size_t room, struct new_jobs *ret);
void new_jobs_add(struct batch *batch, struct new_jobs *jobs, const cairn_job_spec *spec,
                  cairn_enqueued *enqueued);
cairn_code new_jobs_insert(struct batch *batch, struct new_jobs *jobs);

/* The jobs that a batch inserts go with the completion of so many others (batch->new_jobs), if it does little else, and
 * claims go behind both. */
cairn_code batch_plan_new_jobs(struct batch *batch, size_t completed);
cairn_code batch_send_new_jobs(struct batch *batch, bool *ret_is_sent);

/* What core is asked by a report about a job. */
struct job_input report_to_input(const struct request *request, const cairn_report *report);

/* The step that a task's id names; NULL: there is none. */
cairn_code batch_find_step(struct batch *batch, const char *task_id,
                           struct workset_instance **ret_instance, struct flow_step **ret_step);
/* Answers a heartbeat of a step, which may be NULL.  Whether its lease was extended. */
bool heartbeat_answer(const char *worker, cairn_beat *beat, struct flow_step *step,
                      int64_t now_us, cairn_error *why);
/* The heartbeat of a request about one task, and its answer. */
cairn_beat request_beat(const struct request *request);
void request_give_beat(struct request *request, const cairn_beat *beat);
/* The task was ended by this very token, but with another outcome. */
cairn_code ended_otherwise(cairn_error *error, const char *id, const char *ended_outcome);
cairn_code step_lease_lost(cairn_error *error, const char *id, const char *worker,
                           const struct step_row *row); /* NULL: there is no such task */

/* lease_check.c: the runner rows that the batch has locked, beside those that it has claimed. */
cairn_code batch_collect_leases(struct batch *batch);

/* ---- batch_control.c ------------------------------------------------------------------------ */

bool request_is_about_instance(enum request_op op); /* a signal, a decision; operation.c */
/* Finds the instance that a requeue is about, so that it can be locked with all others. */
cairn_code batch_find_record_instance(struct batch *batch, struct request *request);
/* Begins an instance anew; its children are stopped first.  The request is refused if they cannot be yet. */
cairn_code batch_restart(struct batch *batch, struct request *request,
                         struct workset_instance *instance, cairn_code *ret_verdict);
/* The instance that a request is about; NULL, and the request is refused, if there is none. */
cairn_code batch_take_instance(struct batch *batch, struct request *request,
                               struct workset_instance **ret_instance);

/* ---- batch_signal.c, batch_outbox.c, batch_registry.c --------------------------------------- */

/* Keeps a signal; unless its id is known, what waits for it is woken. */
cairn_code batch_put_signal(struct workset_instance *instance, struct signal_row *row,
                            enum insert_result *ret_result, bool *ret_is_taken);

cairn_code batch_emit(struct batch *batch, const struct workset_instance *instance,
                      const char *step, const cairn_outbound *events, size_t count);
/* Writes the events that were emitted and are not yet in the store. */
cairn_code batch_append_outbox(struct batch *batch);

/* Refuses a request whose claim names a type that another runtime owns. */
cairn_code batch_check_runtime(struct batch *batch, struct request *request);

/* ---- batch_key.c ---------------------------------------------------------------------------- */

/* Whether it starts or enqueues with on_existing or debounce_ms: then the owners of its keys are looked at,
 * at its own turn. */
bool request_minds_keys(const struct request *request);
/* The ids of these owners, which are locked with all other rows. */
cairn_code batch_list_key_owners(struct batch *batch, const struct request *request,
                                 const char ***ret_ids, size_t *ret_count);

cairn_code batch_enqueue_minding(struct batch *batch, struct request *request);
/* Does what the owner of the key asks for, if there is one.  *ret_is_free: the instance is to be started. */
cairn_code batch_mind_start(struct batch *batch, struct request *request, const char *workflow,
                            bool *ret_is_free);
/* Others have inserted a row with the key meanwhile: everything is tried again. */
cairn_code batch_key_taken(struct batch *batch, const char *key);

/* ---- batch_start.c -------------------------------------------------------------------------- */

bool request_starts_children(const struct request *request);

/* An instance that is run again (batch_rerun.c). */
struct rerun {
    const char *source;            /* its id */
    const char *token;             /* the name of the one that the request came with */
    cairn_start_options start;     /* of the new one */
    int32_t from;                  /* 1 + the place that it begins at; 0: the beginning */
    const char *input, *signal;    /* what arrives at that step */
    const char *made;              /* the input that it is given; NULL: it makes its own */
    const struct step_row **steps; /* of the source, by place; NULL: the row is missing */
    size_t step_count;
};
/* Reads the instance, and what the new one begins with; if that is not clear, the request is refused. */
cairn_code rerun_read(struct batch *batch, struct request *request, struct rerun *ret_rerun);

/* Of which step of a workflow an instance is a child. */
struct lineage {
    const char *parent; /* NULL: not told of its end */
    int32_t seq;        /* its place; -1: of none */
    int32_t round, element;
    int32_t depth; /* how many are above it */
};

struct child {
    const struct commit_start *start;
    const struct definition *definition;
    bool is_unwanted;     /* it is not started */
    struct lineage *step; /* NULL: of none */
};
/* Finds the workflows; if one is not there, the request is refused. */
cairn_code batch_plan_children(struct batch *batch, struct request *request,
                               struct child *children, size_t count);
cairn_code batch_start_children(struct batch *batch, struct child *children, size_t count,
                                cairn_enqueued *ret_started);
/* The same, where no request asks for it.  *ret_flaw: why it cannot be started; NULL: it can.
 * map: an element of this map of the workflow is meant; NULL: all of it. */
struct plan;
cairn_code batch_plan_child(struct batch *batch, struct plan **plans,
                            const cairn_start_options *options, const char *map, const char *id,
                            struct child *ret_child, const char **ret_flaw);

/* batch_children.c: what steps of workflows want: children that are started, or rolled back.
 * *ret_is_done: false if some of them are held by others. */
struct wishes;
cairn_code batch_begin_wishes(struct batch *batch, struct wishes **ret_wishes);
cairn_code batch_add_wishes(struct wishes *wishes, struct workset_instance *parent,
                            bool *ret_is_done);
/* Only those that are to be started.  *ret_is_any: there were some. */
cairn_code batch_add_starts(struct wishes *wishes, struct workset_instance *parent,
                            bool *ret_is_any);
cairn_code batch_grant_wishes(struct wishes *wishes);
/* Cancels the children of steps that are no longer wanted. */
cairn_code batch_end_children(struct batch *batch, struct workset_instance *parent,
                              bool *ret_is_done);

/* batch_family.c: an end is told to the parent, a cancel or abort to the children.  Writes what has
 * changed. */
cairn_code batch_tell_relatives(struct batch *batch);
/* The children that steps want which this batch has reached: they are started in its commit, as far as one portion goes. */
cairn_code batch_start_wanted(struct batch *batch);
/* Whether relatives are to be told of a stop, or of an end that may lead to one. */
bool instance_must_tell(const struct workset_instance *instance);
/* Before an instance begins anew: those that its stop was not told to yet.  *ret_is_done: false if some
 * are held by others. */
cairn_code batch_stop_children(struct batch *batch, struct workset_instance *parent,
                               bool *ret_is_done);

/* Starts what plain SQL has written. */
cairn_code batch_take_intake(struct batch *batch);

/* ---- batch_passage.c, batch_memory.c -------------------------------------------------------- */

/* Memory for a function that was claimed; batch_read_memories() fills it in, for all at once. */
cairn_code batch_add_passage(struct batch *batch, struct request *request,
                             const struct step_row *runner, const cairn_memory **ret_memory);
cairn_code batch_read_memories(struct batch *batch);
/* Untaken signals, into the request's arena. */
cairn_code batch_read_signals(struct batch *batch, struct request *request,
                              const char *instance_id, const cairn_received *const **ret_events,
                              size_t *ret_count);

/* ---- batch_claim.c -------------------------------------------------------------------------- */

bool request_is_claiming(const struct request *request);
const cairn_claim_options *request_claim(const struct request *request);
/* All that a claim names: types, then functions. */
size_t claim_name_count(const cairn_claim_options *claim);
const char *claim_name(const cairn_claim_options *claim, size_t index);
/* Whether it asks for tasks of this type; version: of a function, else 0.  park.c */
bool claim_names(const cairn_claim_options *claim, const char *type, int32_t version);
cairn_code batch_claim(struct batch *batch);
/* What the request's claim asks for, shared with those that ask for the same. */
cairn_code batch_find_demand(struct batch *batch, struct request *request);
/* The commit has told whether there is something of a kind that claims have left out. */
void batch_looked(struct batch *batch);

/* Jobs can be asked for while what is written before them is under way, in one round trip.  Plans this
 * (batch->ahead) for the first claims of the batch, if nothing else can come in between.  are_made: jobs are inserted, for
 * which claims that are parked are to join; NULL: they are completed.  events: how many slots of the present row of the
 * log are used by what comes before. */
cairn_code batch_plan_ahead(struct batch *batch, const struct ready_types *are_made,
                            size_t events);
/* Whether the batch does nothing but `with`, and what may be sent together with it. */
bool batch_is_plain(const struct batch *batch, enum request_op with);
/* Whether the store has steps that come before those that the batch is going to have in hand, and which types are
 * blocked, is asked together with the locks of the steps that are reported.  batch_hand.c */
cairn_code claim_look_ahead(struct batch *batch);
cairn_code claim_looked_ahead(struct batch *batch);

/* What comes before was sent; if not, the claims are not asked ahead. */
cairn_code batch_claim_ahead(struct batch *batch, bool is_sent);
/* Until when it is believed that a store has none of what it had none of now. */
int64_t batch_empty_until_us(const struct batch *batch);

/* Rolls the batch back, to be repeated one question after the other. */
cairn_code batch_spoil(struct batch *batch);

/* The claims that name the same types, functions and runtime ask for the same tasks. */
struct demand {
    const cairn_claim_options *claim; /* the first of them */
    bool is_exhausted[CLAIM_KINDS];   /* the store has no more of this kind for them */
    bool is_final;                    /* one of them does not wait */
    struct claim_habit *habit;        /* kept over batches */

    /* What the store has told of steps: none for them comes before this, and which types of steps in
     * hand the registry blocks. */
    struct claim_key none_before;
    LIST(struct type_in_hand) known_types;
    bool has_step_lanes; /* it names types of steps that have lanes */

    /* A limit has refused tasks; and in how long there is a token for one of them (0: not a question of time). */
    bool is_limited[CLAIM_KINDS];
    int64_t token_in_us;

    struct demand *next;
};

enum { EVENTS_OF_CLAIM = 2 }; /* of each job */

/* One claim, and the tasks that it has been given.  They live in the request's arena. */
struct claim_share {
    struct request *request;
    size_t room;
    LIST(cairn_task) of[CLAIM_KINDS];
};

/* Claims that are answered by the same questions. */
struct claim_group {
    struct claim_share *shares; /* of several: one kind is asked for first, for all of them */
    size_t count, room;         /* room: of all of them */
    size_t taken[CLAIM_KINDS];
    size_t bytes; /* of the values of what was taken */
};

/* The values in one answer are together at most so many bytes, or one item if that is larger. */
enum { ANSWER_BYTES_MAX = 16 * 1024 * 1024 };

/* Lease at most `room` tasks of a kind to the claims of a group (batch_task.c, batch_hand.c).  A claim
 * whose commit had an unknown end finds what is already leased under its token. */
cairn_code claim_take_jobs(struct batch *batch, struct claim_group *group, size_t room);
cairn_code claim_take_steps(struct batch *batch, struct claim_group *group, size_t room);

/* batch_task.c: jobs of lanes (batch_lane.c), which are given to the claims of the group. */
cairn_code claim_lease_job_lanes(struct batch *batch, struct claim_group *group,
                                 const struct lane *lanes, size_t lane_count,
                                 struct job_row *rows, size_t room, size_t *ret_count);

/* batch_task.c: what the store is asked for steps; and those of lanes, which are given to the claims of the
 * group. */
cairn_code claim_want_steps(struct batch *batch, const struct claim_group *group,
                            struct step_claim *ret_wanted);
cairn_code claim_lease_step_lanes(struct batch *batch, struct claim_group *group,
                                  const struct step_claim *wanted, const struct lane *lanes,
                                  size_t lane_count, struct step_row *rows, size_t room,
                                  size_t *ret_count);
/* batch_hand.c: steps in hand that have lanes are written, so that they take their turn in the store. */
cairn_code claim_put_laned(struct batch *batch, const struct demand *demand);

/* batch_task.c: steps that the store leases, and their tasks.  in_hand may be NULL. */
cairn_code claim_lease_steps(struct batch *batch, const struct claim_group *group,
                             struct steps_in_hand *in_hand, struct step_row *rows, size_t room,
                             size_t *ret_count);
cairn_code claim_give_leased(struct batch *batch, struct claim_group *group,
                             struct step_row *rows, size_t count);
/* A step in hand, to the first claim of the group that has room. */
cairn_code claim_give_in_hand(struct batch *batch, struct claim_group *group,
                              struct step_in_hand *in_hand);

#endif
