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
#include "engine/request_input.h"
#include "engine/request_output.h"
#include "request_op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a request that is answered later than it was committed (engine/held.h). */
struct hold {
    const char *
        *ids; /* instances whose descendants are to be told of a stop; in the request's arena */
    size_t count;
    bool is_told;      /* they were, in this try */
    bool is_foreign;   /* it stops a run that another engine has leased out, in this try */
    bool is_again;     /* it could not be carried out yet, in this try */
    bool is_held;      /* it is committed, and waits for the others */
    int64_t left;      /* children that are yet to be told, when it was looked at last */
    int64_t pause_us;  /* between two looks; 0: none */
    int64_t look_us;   /* monotonic: the next look */
    int64_t answer_us; /* monotonic: not answered before */
};

struct request {
    enum request_op op;
    struct arena arena;
    size_t value_bytes; /* of the longest value that was checked */

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
    int64_t await_from_us; /* monotonic: since when it waits for an end */
    bool is_limited;       /* of a claim that waits: a limit has refused tasks */
    int64_t token_in_us;   /* in how long there is a token for one; 0: not a question of time */
    int64_t token_at_us;   /* the same, monotonic */
    char await_id[40];     /* what await_ms waits for, kept while the arena is emptied */
    char token[24];        /* of the claim, kept over tries */
    struct demand *demand; /* of the claim, in this batch */
    struct kept_memory **known; /* what the claim names, held until the end; memories.c */
    size_t known_count;
    char signal_id[40];      /* of a signal that was given none, kept over tries */
    char instance_id[40];    /* of a requeue: its record's instance, which the answer shows */
    uint32_t wakes;          /* wake-ups before it was submitted; see park.c */
    uint8_t left_count;      /* batches that have left it in the queue; see committer.c */
    bool is_reported;        /* its reports are committed; only its claim still waits */
    bool was_unsure;         /* the result of an earlier commit is unknown */
    bool is_advancing;       /* OP_CLOCK_ADVANCE: it has had a turn, */
    int64_t advance_left_us; /* and so much of it is left */
    bool is_unfinished;      /* a part of it is committed, and it goes on in another commit */
    int64_t purged_count;    /* by the commits before that */
    struct hold hold;
    uint32_t looks; /* of cairn_end_unwanted(), when it was last asked for */
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
