/* engine/request.h - one call, from the caller to the engine and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every public function and every JSON route becomes a request; the local engine carries it out
 * in a commit, the remote one sends it to a server.  A request owns an arena: inputs are copied
 * there before it is submitted, outputs are put there before it is done, and both go with
 * request_free().
 */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include "base/arena.h"
#include "base/random.h"
#include "cairn.h"
#include "core/passage.h"
#include "request_op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enqueue_input {
    cairn_job_spec *specs;
    size_t count;
};

struct report_input {
    const char *worker;
    cairn_report *reports;
    size_t count;
    bool is_claiming; /* also claim, in the same commit */
    cairn_claim_options claim;
};

struct heartbeat_input {
    const char *worker, *task_id, *token;
    uint32_t extend_ms; /* 0: only look */
};

struct heartbeats_input {
    const char *worker;
    cairn_beat *beats; /* also the answers */
    size_t count;
};

struct wake_input {
    const char *worker;
};

struct context_input {
    const char *worker, *task_id, *token;
    const char *step; /* whose output; NULL: those of all */
};

struct page_input {
    const char *id; /* of the job or instance that the items belong to; else NULL */
    const char *cursor;
    uint32_t limit;
    bool is_newest; /* events: the newest come first */
    bool is_row;    /* without payloads, but with how they begin */

    /* Of records of the dead letter queue; NULL: any. */
    const char *workflow, *step, *group;

    const char *kind; /* of workflows: workflow or function; NULL: any */
    bool is_dead;     /* of outbox events: those that were given up, not those that wait */
};

/* Lists of jobs and of instances.  is_row: without payloads, but with how they begin. */
struct job_list_input {
    cairn_job_filter filter;
    const char *group; /* of their error; NULL: any */
    bool is_row;
};

struct instance_list_input {
    cairn_instance_filter filter;
    const char *group;
    bool is_row;
};

struct approval_input {
    const char *workflow; /* NULL: of all */
    const char *cursor;
    uint32_t limit;
    bool is_decided; /* the newest decisions, instead of what waits */
};

/* GET /v1/stream, which http/ answers. */
struct stream_input {
    const char *cursor, *subject, *types;
    int64_t digest_ms;
};

struct error_input {
    const char *of, *workflow, *type; /* the last two: NULL: any */
    int64_t since_us;                 /* 0: at any time */
    uint32_t limit;
    size_t most; /* how many are looked at; 0: as many as a client may ask for */
};

struct overview_input {
    const char *range; /* of its series; NULL: an hour */
};

struct bulk_input {
    const char *on, *action, *filter, *args, *by, *reason; /* filter, args: JSON objects */
    const char *const *ids;
    size_t id_count;
    int64_t limit; /* 0: none */
    int32_t per_second;
    bool is_dry_run;
};

/* Ages are JSON: objects of them, by status; NULL: they stay as they are. */
struct retention_input {
    const char *jobs, *instances, *keys_ms;
};

struct purge_input {
    int64_t older_than_ms; /* -1: however young */
    const char *status, *workflow, *type, *cursor;
    bool is_dry_run;
};

enum { SCHEDULE_NEXT_MAX = 1000 };

struct schedule_next_input {
    const char *name;
    int32_t count;
};

struct find_input {
    const char *q;
};

struct deploy_input {
    const char *file; /* its name, for errors */
    const char *text;
    size_t len;
    bool is_function_only; /* a workflow is refused */
};

struct control_input {
    const char *id, *by, *reason;
    bool is_forced;
    int32_t generation; /* of the instance when the latest try was applied */
};

struct decide_input {
    const char *id, *step, *by, *comment; /* the instance and the step's name */
    bool is_confirmed;
};

struct requeue_input {
    const char *record; /* its id */
    const char *input;  /* JSON; NULL: the step's own */
};

struct rerun_input {
    const char *id;    /* the instance */
    const char *from;  /* a step's name; NULL: the beginning */
    const char *input; /* JSON, of that step or of the instance; NULL: as it was */
};

struct definition_input {
    const char *name;
    int32_t version; /* 0: the highest */
    uint32_t limit;  /* of a grid: how many instances */
};

struct outbox_input {
    const char *worker;
    uint32_t max, lease_ms;
};

struct outbox_release_input {
    const char *id, *worker;
    const char *error;    /* why it could not be delivered; NULL: it was not tried */
    int64_t delay_ms;     /* -1: the backoff after an error, else at once */
    int32_t max_attempts; /* 0: it is never given up */
};

/* ---- a function's commit -------------------------------------------------------------------- */

/* What a run wants remembered of a step, new or changed. */
struct commit_step {
    int32_t seq;        /* its place: a known one, or the next free one, in order */
    const char *key;    /* with its "#2" */
    const char *kind;   /* task, sleep, wait, value, start */
    const char *status; /* completed, failed, ready (to be called again), waiting (sleep, wait),
                         * forgotten (its row goes; a key may be remembered anew) */
    const char *input, *output; /* JSON; NULL: null */
    const char *error;          /* failed, ready */
    int32_t attempts;           /* calls that ended in an error */
    int32_t max_attempts;
    int64_t delay_ms;   /* ready: until the next call; a sleep: how long */
    int64_t until_us;   /* a sleep: until then, instead of delay_ms; 0: not given */
    const char *event;  /* a wait */
    int64_t timeout_ms; /* a wait; -1: without end */
    const char
        *signal_id; /* a completed wait: the signal that it took from the task's events */
    const char *compensation;          /* the type that undoes it; NULL: none */
    int32_t compensation_max_attempts; /* -1: not given */
    int64_t compensation_timeout_ms;
    const char
        *compensation_backoff; /* how it is retried; NULL: not given, nor the next three */
    int64_t compensation_base_ms, compensation_max_ms;
    double compensation_jitter;
    bool is_compensation_idempotent;   /* false: one call at most */
    const char *compensation_metadata; /* a JSON object; NULL: none */
    const cairn_outbound *outbound;    /* what its code emitted */
    size_t outbound_count;
};

struct commit_log {
    const char *level, *message, *data, *step; /* data, step: NULL: none */
    int32_t attempt;
};

struct commit_job {
    const char *id; /* made by the run, or for a schedule */
    int32_t seq; /* the step that remembers it; its output is put right if the key is known */
    cairn_job_spec spec;
    const char *schedule; /* that records it; NULL: none */
};

struct commit_start {
    const char *id;
    int32_t seq;
    cairn_start_options options;
    const char *schedule; /* that starts it; NULL: none */
};

struct commit_input {
    const char *worker, *task_id, *token;
    int64_t revision; /* that was read */
    struct commit_step *steps;
    size_t step_count;
    struct commit_log *logs;
    size_t log_count;
    struct commit_job *jobs;
    size_t job_count;
    struct commit_start *starts;
    size_t start_count;
    enum passage_outcome outcome;
    const char *output, *error,
        *failed_step;   /* failed_step: whose error it is; NULL: its own */
    uint32_t extend_ms; /* GO_ON */
    bool
        is_lease_fresh; /* GO_ON: it need not be extended; a server is not told, and extends it */
    bool is_claiming;   /* also claim, in the same commit */
    cairn_claim_options claim;
};

struct committed_output {
    const char *status;      /* of the function's step now: a constant text */
    const char *stop;        /* why it is to end, as for a heartbeat; NULL: it is not */
    int64_t lease_until_us;  /* 0: the lease has ended */
    int64_t revision;        /* to be said with the next commit */
    cairn_enqueued *started; /* jobs, then instances, as asked for; NULL: none */
    bool
        is_conflict; /* the revision was another one: events holds all untaken ones, read anew */
    const cairn_received *const *events;
    size_t event_count;
};

/* An event of the stream: the id of its job or instance, and the event. */
struct stream_event {
    const char *subject;
    cairn_event event;
};

/* How a payload begins, and how long it is. */
struct preview {
    const char *text; /* NULL: there is none */
    int64_t bytes;
};

/* Items of lists without payloads: these members of `base` are NULL, and errors are cut. */
struct job_item {
    cairn_job base;
    struct preview payload, result;
};

struct instance_item {
    cairn_instance base;
    const char *kind; /* workflow or function */
    int32_t parent_seq;
    struct preview input, output;
};

struct step_item {
    cairn_step base;
    struct preview input, output;
};

/* A step that waits for a decision, or what was decided. */
struct approval_item {
    const char *instance_id, *workflow, *key, *step;
    int32_t version, seq;

    /* Waiting. */
    int64_t since_us, deadline_at_us;
    const char *on_timeout, *input, *metadata;

    /* Decided. */
    const char *by, *decision, *comment;
    int64_t at_us;
};

/* A workflow, with all its versions.  Lists are JSON. */
struct summary_item {
    const char *name, *kind, *versions, *counts, *figures;
    int32_t newest;
    int64_t last_start_at_us;
};

struct version_item {
    const char *name, *kind, *hash;
    int32_t version;
    int64_t created_at_us;
};

/* An instance and how far each of its steps came. */
struct grid_item {
    const char *id, *key, *status, *took_ms, *cells;
    int64_t created_at_us;
};

struct grid_output {
    const char **steps;
    struct grid_item *instances;
    size_t step_count, instance_count;
};

/* A call of a step's handler, or of its compensation. */
struct attempt_item {
    const char *kind, *worker, *outcome, *error; /* outcome NULL: it goes on */
    int32_t n;
    int64_t started_at_us, ended_at_us;
};

struct step_whole {
    cairn_step base;
    const char *instance_id;
    struct attempt_item *attempts;
    size_t attempt_count;
    int32_t previous_seq; /* -1: none is known */
    const cairn_why *why;
};

struct signal_item {
    const char *id, *event, *payload;
    int64_t received_at_us;
    int32_t taken_by; /* the place of a step; -1: it is kept */
};

struct outbox_item {
    cairn_outbox_event base;
    const char *claimed_by, *last_error;
    int64_t claimed_until_us, acked_at_us, dead_at_us;
    int32_t attempts;
};

struct dlq_item {
    cairn_dlq_record base;
    struct preview input;
};

/* Errors that are alike. */
struct error_item {
    const char *group, *workflow, *step, *type, *pattern, *sample, *newest;
    bool is_undo;
    int64_t n, first_at_us, last_at_us;
};

/* How many there are of a status. */
struct status_count {
    const char *status;
    int64_t n;
    bool is_more; /* than n */
};

/* Something whose name begins with what was asked for. */
struct found_item {
    const char *kind; /* instance, job, workflow, function or type */
    const char *id;   /* of a workflow or type its name */
    const char *title;
    const char *status; /* NULL: it has none */
    int64_t at_us;      /* when it was created; 0: unknown */
};

/* A list: the items under the name of their type, and where the next page begins (NULL: this was the
 * last one; of the stream it is always set). */
struct page_output {
    union {
        void *items;
        cairn_task *tasks;
        cairn_job *jobs;
        cairn_event *events;
        cairn_registry_entry *registry;
        cairn_workflow *definitions;
        cairn_instance *instances;
        cairn_step *steps;
        cairn_outbox_event *outbox;
        cairn_dlq_record *dlq;
        cairn_decision *decisions;
        cairn_log *logs;
        struct stream_event *stream;
        cairn_finding *findings;
        struct status_count *counts;
        struct found_item *found;
        struct error_item *errors;
        struct bulk_item *bulks;
        cairn_why *whys;
        cairn_schedule *schedules;
        cairn_schedule_run *schedule_runs;
        cairn_schedule_time *schedule_times;
        cairn_limit *limits;
    };
    size_t count;
    const char *next;
    bool is_row;           /* items are struct job_item and the like */
    int64_t scanned_to_us; /* the search was cut short: how far back it came; else 0 */
    int64_t
        n; /* of a counted list: how many there are in all; of groups: how many were looked at */
    bool is_more; /* of groups: not all were looked at */
};

/* The instance's input, and outputs of finished steps. */
struct step_output {
    const char *step, *output;
};

struct context_output {
    const char *input;
    struct step_output *items;
    size_t count, room;
};

struct worker_item {
    const char *name, *state, *runtime, *via;
    const char *const *types;
    size_t type_count;
    int32_t holds, places;
    int32_t errors; /* within an hour; -1: not known */
    int64_t first_seen_us, last_seen_us;
};

/* A task that a worker holds. */
struct held_item {
    const char *id, *kind, *type, *instance_id, *step; /* the last two: NULL for a job */
    int32_t call;
    int64_t since_us, lease_until_us;
};

struct type_item {
    const char *type, *runtime;
    int64_t ready, later, leased, oldest_ready_us;
    int32_t workers_live;
    int32_t is_served; /* -1: not known yet */
    bool is_enabled;
};

/* A bulk action; of a dry run only what it has matched. */
struct bulk_item {
    const char *id, *status, *on, *action, *filter, *by, *reason, *skipped, *sample;
    int64_t done, expected, started_at_us, finished_at_us;
    int64_t n; /* that match, and whether there are more */
    bool is_more;
    const char *const *matched;
    size_t matched_count;
};

struct retention_output {
    const char *jobs, *instances, *keys_ms; /* JSON */
    int64_t set_at_us;                      /* 0: nobody has set it */
};

struct purge_output {
    int64_t jobs, instances;
    const char *next; /* NULL: there is no more */
};

/* What /metrics tells. */
struct metrics_output {
    cairn_stats stats;            /* the counters are those of all processes */
    const struct total_sum *sums; /* of types and workflows */
    size_t sum_count;
    const struct total *all;
    const struct type_item *types; /* those that are labels, and "other" */
    size_t type_count;
    int64_t now_us, approvals, dead;
    uint64_t size_bytes;
    int32_t schema;
    const char *store; /* its kind */
};

/* What waits for a person. */
struct needs_output {
    int64_t at_us, approvals, dead;
};

struct about_output {
    const char *kind, *product; /* of the store */
    int32_t schema;
    bool is_clock_virtual;
    int64_t started_us;
};

struct request {
    enum request_op op;
    struct arena arena;

    union {
        struct enqueue_input enqueue;
        cairn_claim_options claim;
        struct report_input report;
        struct heartbeat_input heartbeat;
        struct heartbeats_input heartbeats;
        struct context_input context;
        struct wake_input wake;
        const char
            *id; /* also that of `page`, `control`, `decide` and `rerun`, which begin with it */
        struct job_list_input job_list;
        struct page_input page;
        struct deploy_input deploy;
        cairn_start_options start;
        cairn_signal_options signal;
        struct control_input control;
        struct decide_input decide;
        struct requeue_input requeue;
        struct rerun_input rerun;
        struct definition_input definition;
        struct instance_list_input instance_list;
        struct approval_input approvals;
        struct error_input errors;
        struct find_input find;
        struct stream_input stream;
        struct overview_input overview;
        struct bulk_input bulk;
        struct {
            int64_t began_us; /* monotonic */
        } bulk_step;
        struct retention_input retention;
        struct purge_input purge;
        struct outbox_input outbox;
        struct outbox_release_input release;
        struct commit_input commit;
        cairn_registry_spec registry;
        cairn_schedule_spec schedule;
        cairn_limit_spec limit;
        struct schedule_next_input schedule_next;
        struct {
            int64_t ms;
            uint64_t seed; /* 0: chance goes on as it was */
        } advance;
        struct {
            bool is_next_wanted;
        } clock;
    } in;

    struct {
        cairn_enqueued *enqueued; /* in.enqueue.count of them */
        cairn_reported *reported; /* in.report.count of them */
        struct page_output page;
        struct {
            int64_t lease_until_us;
            const char *stop; /* NULL or a constant text */
        } heartbeat;
        const char **whys; /* heartbeats: why they were refused; NULL: they were not */
        bool is_idle;
        bool is_existing; /* deploy: it was there */
        cairn_signalled signalled;
        struct committed_output committed;
        struct context_output context;
        cairn_stats stats;
        int64_t now_us, next_us;
        struct about_output about;
        struct needs_output needs;
        const char *overview; /* JSON */
        const struct metrics_output *metrics;
        struct bulk_item bulk;
        struct retention_output retention;
        struct purge_output purged;
        struct grid_output *grid;
        struct {
            int32_t attempts;
            bool is_dead;
            int64_t next_us; /* when it comes again; 0: never */
        } released;
    } out;

    cairn_code code; /* how it ended, and why */
    cairn_error error;

    /* Called exactly once, from any thread, when the request has ended; may free it. */
    void (*done)(struct request *request);
    void *arg;

    /* The name of the token that it came with, which the events of what it changes tell; NULL: none. */
    const char *token_name;
    const char *role; /* of that token, for GET /v1/me; NULL: there are no tokens */
    const char *page; /* the one that the program serves, for GET /v1/about; NULL: none */

    /* Asked right before a claim is given tasks; false: the caller has gone.
     * NULL: always wanted. */
    bool (*is_wanted)(struct request *request);

    /* OP_JOB_GET and OP_INSTANCE_GET: it is answered when the job or instance has ended, or after
     * this time as it is then.  0: at once; -1: without limit.  See engine/await.h. */
    int64_t await_ms;

    /* A question whether the store answers: it waits this long, and not at all while the engine
     * knows that the store is away.  0: an ordinary request, which waits retry_ms. */
    uint32_t probe_ms;

    /* The engine's own, while it has the request. */
    struct request *next;
    int64_t give_up_us;    /* monotonic: until when an unreachable store is tried again */
    int64_t wait_until_us; /* monotonic: until when a claim, or await_ms, waits; 0: it
                            * does not */
    bool is_limited;       /* of a claim that waits: a limit has refused tasks */
    int64_t token_in_us;   /* in how long there is a token for one; 0: not a question of time */
    int64_t token_at_us;   /* the same, monotonic */
    char await_id[40];     /* what await_ms waits for, kept while the arena is emptied */
    char token[24];        /* of the claim, kept over tries */
    struct demand *demand; /* of the claim, in this batch */
    struct kept_memory **known; /* what the claim names, held until the end; memories.c */
    size_t known_count;
    char signal_id[40];   /* of a signal that was given none, kept over tries */
    char instance_id[40]; /* of a requeue: its record's instance, which the answer shows */
    uint32_t wakes;       /* wake-ups before it was submitted; see park.c */
    bool is_reported;     /* its reports are committed; only its claim still waits */
    bool was_unsure;      /* the result of an earlier commit is unknown */
    bool is_unfinished;   /* a part of it is committed, and it goes on in another commit */
    int64_t purged_count; /* by the commits before that */
};

struct request *request_new(enum request_op op);                /* NULL: memory ran out */
void request_free(struct request *request);                     /* may be NULL */
void request_freep(struct request **request);                   /* for cleanup() */
const char *request_instance_id(const struct request *request); /* of one about an instance */

/* Requests in order (queue.c).  A zeroed struct is empty. */
struct request_queue {
    struct request *first, *last;
    size_t count;
};

void queue_push(struct request_queue *queue, struct request *request);
struct request *queue_pop(struct request_queue *queue); /* NULL: empty */
void queue_append(struct request_queue *queue,
                  struct request_queue *more); /* more is emptied */
void queue_prepend(struct request_queue *queue, struct request_queue *more); /* likewise */

/* Ends the requests: with the code and error that they have, or with this one. */
void queue_end(struct request_queue *queue, const cairn_error *why); /* NULL: their own */

/* task_id.c: a task's id is a job's, or "<instance id>.<place>" of a step. */
bool is_step_id(const char *task_id); /* ids of jobs have no dot */

/* False: no step can have this id. */
bool step_id_split(const char *task_id, char instance_id[ID_TEXT], int32_t *ret_seq);
char *step_id_make(struct arena *arena, const char *instance_id, int32_t seq);

/* The number that an event or record has as its id.  False: none has this one. */
bool number_id_read(const char *id, int64_t *ret_number);

/* operation.c */
const char *request_op_name(enum request_op op);
bool request_is_read(enum request_op op); /* it changes nothing */

/* Whether it keeps within the limits; sets its code and error if not.  Also cuts error texts and
 * fills in defaults. */
cairn_code request_check(const cairn_open_options *limits, struct request *request);

#endif
