/* engine/request_output.h - what a request brings back (request.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_REQUEST_OUTPUT_H
#define ENGINE_REQUEST_OUTPUT_H

#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    int32_t attempts, max_attempts; /* calls of the step that it is at; max -1: not known */
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
/* A limit in the metrics. */
struct limit_item {
    const char *name;
    int64_t taken, waiting;
    int64_t is_full; /* 1 or 0; of "other" how many are */
};

struct metrics_output {
    cairn_stats stats;            /* the counters are those of all processes */
    const struct total_sum *sums; /* of types and workflows */
    size_t sum_count;
    const struct total *all;
    const struct type_item *types; /* those that are labels, and "other" */
    size_t type_count;
    const struct limit_item *limits;
    size_t limit_count;
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
    bool is_hearing; /* of ends in other processes */
    int64_t started_us;
};

#endif
