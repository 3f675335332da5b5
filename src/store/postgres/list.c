/* store/postgres/list.c - lists of jobs and instances: numbers in order, and the rows that match.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/list.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/postgres/postgres.h"

#include <string.h>

cairn_code postgres_limit_time(struct store_tx *tx, uint32_t ms, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    const char *text = arena_printf(tx->arena, "%ums", (unsigned)ms);
    NEED(text, reterr);
    param_text(&params, text);
    return postgres_queue(postgres_session_of(tx), PG_LIMIT_TIME, &params, reterr);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static cairn_code read_numbers(struct store_tx *tx, enum postgres_query query,
                               const struct postgres_params *params, int64_t *ret_numbers,
                               size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, query, params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        ret_numbers[reader.row] = value_int(&reader, 0);
    *ret_count = (size_t)reader.count;
    return CAIRN_OK;
}

/* Up to here sorting the pending jobs is quicker than walking past those that have ended. */
enum { FEW_PENDING = 10000 };

static cairn_code is_few_pending(struct store_tx *tx, bool *ret_few, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(FEW_PENDING + 1));
    int64_t count = 0;
    size_t rows;
    cairn_code code = read_numbers(tx, PG_COUNT_FEW_PENDING, &params, &count, &rows, reterr);
    *ret_few = count <= FEW_PENDING;
    return code;
}

/* The query whose index fits best. */
static cairn_code choose_job_walk(struct store_tx *tx, const struct list_walk *walk,
                                  enum postgres_query *ret_query, cairn_error *reterr)
{
    bool is_few = false;
    cairn_code code = CAIRN_OK;
    *ret_query = PG_WALK_JOBS;
    if (walk->status == JOB_FAILED || walk->status == JOB_CANCELLED)
        *ret_query = PG_WALK_UNSUCCESSFUL_JOBS;
    else if (walk->status == JOB_LEASED)
        *ret_query = PG_WALK_LEASED_JOBS;
    else if (walk->status == JOB_PENDING)
        code = is_few_pending(tx, &is_few, reterr);
    if (is_few)
        *ret_query = PG_WALK_FEW_PENDING_JOBS;
    return code;
}

static cairn_code plan_by_values(struct store_tx *tx, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    return postgres_queue(postgres_session_of(tx), PG_PLAN_BY_VALUES, &params, reterr);
}

static enum postgres_query choose_instance_walk(const struct list_walk *walk)
{
    if (walk->status == INSTANCE_NONE)
        return PG_WALK_INSTANCES;
    return walk->workflow ? PG_WALK_INSTANCES_BY_WORKFLOW : PG_WALK_INSTANCES_BY_STATUS;
}

cairn_code postgres_walk(struct store_tx *tx, const struct list_walk *walk, int64_t *ret_seqs,
                         size_t room, size_t *ret_count, bool *ret_is_exact,
                         cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(walk->from), INT(walk->before), INT(room));
    enum postgres_query query = PG_WALK_INSTANCES;
    if (walk->parent)
        query = PG_WALK_CHILDREN;
    else if (walk->tag)
        query = PG_WALK_TAGGED;
    else if (walk->kind == LIST_JOBS)
        TRY(choose_job_walk(tx, walk, &query, reterr));
    else
        query = choose_instance_walk(walk);
    *ret_is_exact = query != PG_WALK_JOBS && query != PG_WALK_INSTANCES;
    if (*ret_is_exact && walk->kind == LIST_INSTANCES)
        TRY(plan_by_values(tx, reterr));
    if (query == PG_WALK_UNSUCCESSFUL_JOBS)
        param_text(&params, job_status_name((enum job_status)walk->status));
    if (query == PG_WALK_INSTANCES_BY_STATUS || query == PG_WALK_INSTANCES_BY_WORKFLOW)
        param_text(&params, instance_status_name((enum instance_status)walk->status));
    if (query == PG_WALK_INSTANCES_BY_WORKFLOW)
        param_text(&params, walk->workflow);
    if (walk->parent)
        param_text(&params, walk->parent);
    if (walk->tag) {
        param_text(&params, walk->tag->name);
        param_text(&params, walk->tag->value);
        param_text(&params, walk->kind == LIST_JOBS ? "job" : "instance");
    }
    return read_numbers(tx, query, &params, ret_seqs, ret_count, reterr);
}

cairn_code postgres_find_names(struct store_tx *tx, const struct list_names *names,
                               int64_t *ret_seqs, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    bool is_job = names->kind == LIST_JOBS;
    enum postgres_query query = is_job ? PG_FIND_JOB_KEYS : PG_FIND_INSTANCE_KEYS;
    if (names->ids) {
        query = is_job ? PG_FIND_JOB_SEQS : PG_FIND_INSTANCE_SEQS;
        param_uuids(&params, names->ids, names->id_count);
    } else if (names->id_end) {
        query = is_job ? PG_FIND_JOB_ENDS : PG_FIND_INSTANCE_ENDS;
        param_text(&params, names->id_end);
        param_int(&params, names->newest);
    } else {
        if (names->id_from)
            query = is_job ? PG_FIND_JOB_IDS : PG_FIND_INSTANCE_IDS;
        param_text(&params, names->id_from ? names->id_from : names->key_from);
        param_text(&params, names->id_from ? names->id_to : names->key_below);
    }
    param_int(&params, (int64_t)room);
    return read_numbers(tx, query, &params, ret_seqs, ret_count, reterr);
}

/* ---- counts --------------------------------------------------------------------------------- */

static void param_time_or_null(struct postgres_params *params, int64_t us)
{
    if (us)
        param_time(params, us);
    else
        param_text(params, NULL);
}

/* An exact type, and a prefix without its %. */
static void param_pattern(struct postgres_params *params, const char *pattern)
{
    bool is_prefix = pattern && pattern_is_prefix(pattern);
    char *prefix =
        is_prefix ? arena_strndup(params->arena, pattern, strlen(pattern) - 1) : NULL;
    if (is_prefix && !prefix)
        params->failed = true;
    param_text(params, is_prefix ? NULL : pattern);
    param_text(params, prefix);
}

static void param_due(struct postgres_params *params, const struct list_filter *filter,
                      int64_t now_us)
{
    param_time(params, now_us);
    param_text(params, filter->due == DUE_ANY ? NULL : filter->due == DUE_NOW ? "1" : "0");
}

static void param_version(struct postgres_params *params, const struct list_filter *filter)
{
    const char *text = NULL;
    if (filter->version && !(text = arena_printf(params->arena, "%d", (int)filter->version)))
        params->failed = true;
    param_text(params, text);
}

/* Rows of a status and how many of it there are; if there is a third result, it is added to *looked_at. */
static cairn_code read_counts(struct store_tx *tx, enum postgres_query query,
                              const struct postgres_params *params, const struct words *words,
                              uint64_t *ret_counts, size_t *looked_at, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, query, params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        int status = word_from(words, value_text(&reader, 0));
        ret_counts[status] += (uint64_t)value_int(&reader, 1);
        if (looked_at)
            *looked_at += (size_t)value_int(&reader, 2);
    }
    return CAIRN_OK;
}

cairn_code postgres_count_indexed(struct store_tx *tx, enum list_kind kind,
                                  const char *workflow, uint32_t *statuses, size_t room,
                                  uint64_t *ret_counts, cairn_error *reterr)
{
    bool is_job = kind == LIST_JOBS;
    const struct words *words = is_job ? &job_status_words : &instance_status_words;
    uint32_t unknown = is_job ? STATUS_BIT(JOB_SUCCEEDED) : 0;
    struct postgres_params params = {.arena = tx->arena};
    const char *names[INSTANCE_STATUS_COUNT];
    size_t count = 0;
    _Static_assert((int)JOB_STATUS_COUNT <= (int)INSTANCE_STATUS_COUNT, "room for both");
    for (int status = 1; status < words->count; status++)
        if (*statuses & ~unknown & STATUS_BIT(status))
            names[count++] = words->names[status];
    *statuses &= unknown;
    if (!count)
        return CAIRN_OK;
    param_texts(&params, names, count);
    param_int(&params, (int64_t)room);
    if (workflow)
        param_text(&params, workflow);
    return read_counts(tx,
                       is_job     ? PG_COUNT_JOBS_BY_STATUS
                       : workflow ? PG_COUNT_INSTANCES_BY_WORKFLOW
                                  : PG_COUNT_INSTANCES_BY_STATUS,
                       &params, words, ret_counts, NULL, reterr);
}

static enum postgres_query param_job_scan(struct postgres_params *params,
                                          const struct list_walk *walk,
                                          const struct list_filter *filter, int64_t now_us)
{
    param_pattern(params, filter->pattern);
    param_due(params, filter, now_us);
    if (!walk->tag)
        return walk->status == JOB_PENDING ? PG_SCAN_PENDING_JOBS : PG_SCAN_JOBS;
    param_text(params, walk->tag->name);
    param_text(params, walk->tag->value);
    return PG_SCAN_TAGGED_JOBS;
}

static enum postgres_query param_instance_scan(struct postgres_params *params,
                                               const struct list_walk *walk,
                                               const struct list_filter *filter)
{
    param_version(params, filter);
    param_int(params, filter->is_root);
    if (!walk->tag && !walk->workflow)
        return PG_SCAN_INSTANCES;
    param_text(params, walk->tag ? walk->tag->name : walk->workflow);
    param_text(params, walk->tag ? walk->tag->value
                                 : instance_status_name((enum instance_status)walk->status));
    return walk->tag ? PG_SCAN_TAGGED_INSTANCES : PG_SCAN_INSTANCES_BY_WORKFLOW;
}

cairn_code postgres_count_scanned(struct store_tx *tx, const struct list_walk *walk,
                                  const struct list_filter *filter, size_t room,
                                  uint64_t *ret_counts, size_t *ret_looked_at,
                                  cairn_error *reterr)
{
    bool is_job = walk->kind == LIST_JOBS;
    struct postgres_params params =
        PARAMS(tx, INT(walk->from), INT(walk->before), INT((int64_t)room));
    param_time_or_null(&params, filter->from_us);
    param_time_or_null(&params, filter->to_us);
    enum postgres_query query = is_job ? param_job_scan(&params, walk, filter, tx->now_us)
                                       : param_instance_scan(&params, walk, filter);
    *ret_looked_at = 0;
    TRY(plan_by_values(tx, reterr));
    return read_counts(tx, query, &params, is_job ? &job_status_words : &instance_status_words,
                       ret_counts, ret_looked_at, reterr);
}

cairn_code postgres_count_stands(struct store_tx *tx, const struct list_walk *walk,
                                 const struct list_filter *filter, size_t room,
                                 uint64_t *ret_counts, size_t *ret_looked_at,
                                 cairn_error *reterr)
{
    struct postgres_params params =
        PARAMS(tx, INT(walk->from), INT(walk->before), INT((int64_t)room));
    param_time_or_null(&params, filter->from_us);
    param_time_or_null(&params, filter->to_us);
    param_version(&params, filter);
    param_int(&params, filter->is_root);
    param_time(&params, tx->now_us);
    param_text(&params, walk->workflow);
    param_text(&params, instance_status_name((enum instance_status)walk->status));
    *ret_looked_at = 0;
    TRY(plan_by_values(tx, reterr));
    return read_counts(tx, PG_COUNT_STANDS, &params, &stand_words, ret_counts, ret_looked_at,
                       reterr);
}

cairn_code postgres_find_created(struct store_tx *tx, enum list_kind kind, int64_t seq,
                                 int64_t *ret_seq, int64_t *ret_created_us, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(seq));
    TRY(postgres_ask(tx, kind == LIST_JOBS ? PG_FIND_JOB_CREATED : PG_FIND_INSTANCE_CREATED,
                     &params, &reader, reterr));
    if (reader.count == 0)
        return CAIRN_E_NOT_FOUND;
    *ret_seq = value_int(&reader, 0);
    *ret_created_us = value_time(&reader, 1);
    return CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* $1 to $5 of both queries. */
static void param_filter(struct postgres_params *params, const struct list_filter *filter,
                         const int64_t *seqs, size_t count, size_t room)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    for (size_t i = 0; i < count; i++) {
        columns_bigint(&columns, seqs[i]);
        columns_end_row(&columns);
    }
    param_columns_copied(params, &columns);
    param_int(params, (int64_t)room);
    param_int(params, filter->is_row);
    param_time_or_null(params, filter->from_us);
    param_time_or_null(params, filter->to_us);
}

/* Their statuses, and a text that they have. */
static void param_statuses(struct postgres_params *params, const struct list_filter *filter,
                           const struct words *words)
{
    const char *statuses = NULL;
    if (!list_statuses(params->arena, words, filter->statuses, &statuses))
        params->failed = true;
    param_text(params, statuses);
    param_text(params, filter->has);
}

cairn_code postgres_pick_jobs(struct store_tx *tx, const struct list_filter *filter,
                              const int64_t *seqs, size_t count, struct job_row *ret_rows,
                              size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    int lengths = (int)job_row_type.count;
    *ret_count = 0;
    if (count == 0)
        return CAIRN_OK;
    param_filter(&params, filter, seqs, count, room);
    param_pattern(&params, filter->pattern);
    param_due(&params, filter, tx->now_us);
    param_statuses(&params, filter, &job_status_words);
    TRY(postgres_ask(tx, PG_PICK_JOBS, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        struct job_row *row = &ret_rows[reader.row];
        postgres_read_row(&reader, 0, &job_row_type, row);
        row->payload_bytes = value_int(&reader, lengths);
        row->result_bytes = value_int(&reader, lengths + 1);
    }
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_pick_instances(struct store_tx *tx, const struct list_filter *filter,
                                   const int64_t *seqs, size_t count,
                                   struct instance_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    int lengths = (int)instance_row_type.count;
    *ret_count = 0;
    if (count == 0)
        return CAIRN_OK;
    param_filter(&params, filter, seqs, count, room);
    param_version(&params, filter);
    param_int(&params, filter->is_root);
    param_time(&params, tx->now_us);
    param_text(&params, stand_name(filter->stand));
    param_statuses(&params, filter, &instance_status_words);
    param_text(&params, filter->workflow);
    TRY(postgres_ask(tx, PG_PICK_INSTANCES, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        struct instance_row *row = &ret_rows[reader.row];
        postgres_read_row(&reader, 0, &instance_row_type, row);
        row->input_bytes = value_int(&reader, lengths);
        row->output_bytes = value_int(&reader, lengths + 1);
    }
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* ---- errors --------------------------------------------------------------------------------- */

cairn_code postgres_scan_errors(struct store_tx *tx, enum error_kind kind, const char *workflow,
                                int64_t before, struct error_row *ret_rows, size_t room,
                                size_t *ret_count, cairn_error *reterr)
{
    bool is_of_workflow = kind == ERRORS_OF_INSTANCES && workflow;
    enum postgres_query query = kind == ERRORS_OF_JOBS      ? PG_SCAN_JOB_ERRORS
                                : kind == ERRORS_OF_RECORDS ? PG_SCAN_RECORD_ERRORS
                                : is_of_workflow            ? PG_SCAN_WORKFLOW_ERRORS
                                                            : PG_SCAN_INSTANCE_ERRORS;
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(before ? before : INT64_MAX), INT(room));
    if (is_of_workflow)
        param_text(&params, workflow);
    TRY(postgres_ask(tx, query, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        ret_rows[reader.row] = (struct error_row){.seq = value_int(&reader, 0),
                                                  .id = value_text(&reader, 1),
                                                  .workflow = value_text(&reader, 2),
                                                  .type = value_text(&reader, 3),
                                                  .step = value_text(&reader, 4),
                                                  .reason = value_text(&reader, 5),
                                                  .error = value_text(&reader, 6),
                                                  .undo_error = value_text(&reader, 7),
                                                  .at_us = value_time(&reader, 8)};
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
