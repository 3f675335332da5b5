/* engine/request_input.h - what a caller gives with a request (request.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_REQUEST_INPUT_H
#define ENGINE_REQUEST_INPUT_H

#include "cairn.h"
#include "core/passage.h"

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

    /* Of events and logs, which may also have a step; NULL, 0: any.  Types and levels with commas between them. */
    const char *type, *level, *text;
    int32_t attempt;

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
    const char *by; /* of counts: status or stand; NULL: status */
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
    bool is_claiming;   /* also claim, in the same commit */
    cairn_claim_options claim;
};

#endif
