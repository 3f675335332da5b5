/* engine/read.h - requests that change nothing, and the answers to those that do.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each function below answers one operation, or several of the same shape (operation.c says which).
 */
#ifndef ENGINE_READ_H
#define ENGINE_READ_H

#include "engine/local.h"
#include "store/list.h"

/* A request in its transaction. */
struct question {
    struct local_engine *engine;
    const struct store_ops *ops;
    struct store_tx *tx;
    struct request *request;
    struct arena *arena; /* the request's: answers live there */
    cairn_error *error;
    const struct known_workers *workers; /* once they were asked for */
    struct limits *limits;               /* likewise */
    const struct registry_row *registry; /* likewise, in order of names */
    size_t registry_count;
    bool is_registry_whole;   /* what is not in it is not registered */
    struct open_page *open;   /* steps of the instances of a page, once they were read */
    struct known_type *types; /* what was found out about types; read_why.c */
    int depth;                /* of children that are looked at for their parents' sake */
};

/* read.c: answers a request in a transaction that has begun. */
cairn_code read_in(struct local_engine *engine, struct store_tx *tx, struct request *request);

/* The answers to operations: read.c, read_context.c, read_list.c, idle.c,
 * doctor.c. */
typedef cairn_code answer_function(struct question *q);
answer_function answer_clock, answer_stats, answer_metrics, answer_idle, answer_context,
    answer_doctor, answer_why, answer_workers, answer_held, answer_types, answer_about,
    answer_needs, answer_overview, answer_bulk, answer_bulks, answer_retention, answer_job,
    answer_definition, answer_instance, answer_dlq_record;
answer_function answer_list;   /* a page of what the operation lists */
answer_function answer_counts; /* how many of them, by status; read_rows.c */
answer_function answer_definitions, answer_versions, answer_grid; /* read_definitions.c */
answer_function answer_step;      /* one step whole; read_step.c */
answer_function answer_approvals; /* what waits for a decision; read_approvals.c */
answer_function answer_errors,
    answer_records;                          /* errors in groups, dead letters; read_errors.c */
answer_function answer_limit, answer_limits; /* limit.c */
answer_function answer_schedule, answer_schedules,
    answer_schedule_next;      /* what starts by itself; read_schedule.c */
answer_function answer_find;   /* what has a name that begins so; read_find.c */
answer_function answer_rows;   /* a page of jobs or instances; read_rows.c */
answer_function answer_stream; /* the events of everything */
answer_function doctor_flow;   /* what doctor finds of instances and steps; doctor_flow.c */

/* Since when this process has had the store open, by the store's clock. */
int64_t question_opened_us(struct question *q);

/* When the next timer of the store is due; 0: never. */
cairn_code question_next_due(struct question *q, int64_t *ret_due_us);

/* doctor.c: notes a finding: what, which, why, and what to do.  Returns CAIRN_OK. */
cairn_code find(struct question *q, const char *check, const char *result, const char *format,
                ...) format_like(4, 5);
const char *is_or_are(size_t count); /* behind a noun: " is" or "s are" */

/* read_list.c: rows as callers see them. */
typedef cairn_code show_function(struct question *q, const void *row, void *ret_item);
show_function show_job, show_instance, show_record;

/* read_history.c: events and logs of a page; what was looked at of them goes to out.page. */
cairn_code fetch_history(struct question *q, void *rows, size_t room, size_t *ret_count);

/* read_rows.c: a step and a record without payloads. */
show_function show_step_row, show_record_row;

/* The text, cut at a character to this many bytes; NULL: memory ran out, or it is NULL. */
const char *text_cut(struct arena *arena, const char *text, size_t most);

/* read_workers.c: the types of all that can be claimed or is planned, and what is known of them; of what is for later or
 * leased at most so much is looked at.  q->workers is set then. */
cairn_code question_stats(struct question *q, cairn_stats *stats);
cairn_code question_types(struct question *q, size_t most, struct type_item **ret_items,
                          size_t *ret_count);

/* read_errors.c: errors in groups, into page->errors; and the order of groups, for qsort(). */
cairn_code question_errors(struct question *q, const struct error_input *in,
                           struct page_output *ret_page);
int error_item_compare(const void *a, const void *b);

/* list_filter.c: what a request for a list of jobs or instances asks for. */
cairn_code list_filter_of_jobs(const cairn_job_filter *in, struct arena *arena,
                               struct list_filter *ret_filter, cairn_error *reterr);
cairn_code list_filter_of_instances(const cairn_instance_filter *in, struct arena *arena,
                                    struct list_filter *ret_filter, cairn_error *reterr);
cairn_code list_filter_read(struct question *q, struct list_filter *ret_filter);
/* What is wrong with these parts of a filter, for an error; NULL: nothing, or they are not given. */
const char *parent_flaw(const char *parent), *stand_flaw(const char *stand);

/* read_join.c: of a join, what it waits for; nothing of others. */
cairn_code question_wait_for(struct question *q, const struct step_row *row,
                             cairn_step *ret_item);

/* Fills in the public shape of a step, but for what a join waits for. */
cairn_code step_to_public(struct arena *arena, const struct step_row *row, cairn_step *ret_item,
                          cairn_error *reterr);

/* A workflow of this version; 0: the highest. */
cairn_code question_definition(struct question *q, const char *name, int32_t version,
                               struct definition_row *ret_row);

/* The instance that a request is about. */
cairn_code question_instance(struct question *q, const char *id, struct instance_row *ret_row);

#endif
