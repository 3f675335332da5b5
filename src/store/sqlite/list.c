/* store/sqlite/list.c - lists of jobs and instances: numbers in order, and the rows that match.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/list.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <string.h>

/* ---- Time ---------------------------------------------------------------------------------- */

static int is_too_late(void *connection)
{
    return monotonic_us() > ((struct connection *)connection)->read_until_us;
}

/* How many steps of SQLite's machine pass between two looks at the clock: some 100 us. */
enum { STEPS_A_LOOK = 5000 };

cairn_code sqlite_limit_time(struct store_tx *tx, uint32_t ms, cairn_error *reterr)
{
    struct connection *connection = sqlite_session_of(tx)->connection;
    (void)reterr;
    connection->read_until_us = monotonic_us() + (int64_t)ms * US_PER_MS;
    sqlite3_progress_handler(connection->db, STEPS_A_LOOK, is_too_late, connection);
    return CAIRN_OK;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* Reads rows of one number; other parameters are bound. */
static cairn_code numbers_read(struct query *query, int64_t *ret_numbers, size_t room,
                               size_t *ret_count)
{
    size_t count = 0;
    bind_size(query, ":room", room);
    while (count < room && query_step(query) == SQLITE_ROW)
        ret_numbers[count++] = sqlite3_column_int64(query->handle, 0);
    *ret_count = count;
    return query_ended(query);
}

/* Up to here sorting the pending jobs is quicker than walking past those that have ended. */
enum { FEW_PENDING = 10000 };

static cairn_code is_few_pending(struct store_tx *tx, bool *ret_few, cairn_error *reterr)
{
    int64_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_FEW_PENDING, reterr);
    bind_int(&query, ":room", FEW_PENDING + 1);
    cairn_code code = query_int(&query, &count);
    *ret_few = count <= FEW_PENDING;
    return code;
}

/* The query whose index fits best. */
static cairn_code choose_job_walk(struct store_tx *tx, const struct list_walk *walk,
                                  enum query_number *ret_number, cairn_error *reterr)
{
    bool is_few = false;
    cairn_code code = CAIRN_OK;
    *ret_number = Q_WALK_JOBS;
    if (walk->status == JOB_FAILED || walk->status == JOB_CANCELLED)
        *ret_number = Q_WALK_UNSUCCESSFUL_JOBS;
    else if (walk->status == JOB_LEASED)
        *ret_number = Q_WALK_LEASED_JOBS;
    else if (walk->status == JOB_PENDING)
        code = is_few_pending(tx, &is_few, reterr);
    if (is_few)
        *ret_number = Q_WALK_FEW_PENDING_JOBS;
    return code;
}

static enum query_number choose_instance_walk(const struct list_walk *walk)
{
    if (walk->status == INSTANCE_NONE)
        return Q_WALK_INSTANCES;
    if (walk->workflow)
        return Q_WALK_INSTANCES_BY_WORKFLOW;
    return walk->status == INSTANCE_COMPLETED ? Q_WALK_INSTANCES : Q_WALK_INSTANCES_BY_STATUS;
}

cairn_code sqlite_walk(struct store_tx *tx, const struct list_walk *walk, int64_t *ret_seqs,
                       size_t room, size_t *ret_count, bool *ret_is_exact, cairn_error *reterr)
{
    enum query_number number = Q_WALK_INSTANCES;
    if (walk->parent)
        number = Q_WALK_CHILDREN;
    else if (walk->tag)
        number = Q_WALK_TAGGED;
    else if (walk->kind == LIST_JOBS)
        TRY(choose_job_walk(tx, walk, &number, reterr));
    else
        number = choose_instance_walk(walk);
    *ret_is_exact = number != Q_WALK_JOBS && number != Q_WALK_INSTANCES;

    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    if (number == Q_WALK_UNSUCCESSFUL_JOBS)
        bind_text(&query, ":status", job_status_name((enum job_status)walk->status));
    if (number == Q_WALK_INSTANCES_BY_STATUS || number == Q_WALK_INSTANCES_BY_WORKFLOW)
        bind_text(&query, ":status", instance_status_name((enum instance_status)walk->status));
    if (number == Q_WALK_INSTANCES_BY_WORKFLOW)
        bind_text(&query, ":workflow", walk->workflow);
    if (walk->parent)
        bind_text(&query, ":parent", walk->parent);
    if (walk->tag) {
        bind_text(&query, ":name", walk->tag->name);
        bind_text(&query, ":value", walk->tag->value);
        bind_text(&query, ":kind", walk->kind == LIST_JOBS ? "job" : "instance");
    }
    bind_int(&query, ":from", walk->from);
    bind_int(&query, ":before", walk->before);
    return numbers_read(&query, ret_seqs, room, ret_count);
}

static cairn_code find_ids(struct store_tx *tx, const struct list_names *names,
                           int64_t *ret_seqs, size_t room, size_t *ret_count,
                           cairn_error *reterr)
{
    enum query_number number = names->kind == LIST_JOBS ? Q_FIND_JOB_SEQ : Q_FIND_INSTANCE_SEQ;
    size_t count = 0;
    for (size_t i = 0; i < names->id_count && count < room; i++) {
        cleanup(query_end) struct query query = query_begin(tx, number, reterr);
        bind_text(&query, ":id", names->ids[i]);
        cairn_code code = query_int(&query, &ret_seqs[count]);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        count += !code;
    }
    *ret_count = count;
    return CAIRN_OK;
}

/* Compared here: in SQL that takes twice as long. */
static cairn_code find_ends(struct store_tx *tx, const struct list_names *names,
                            int64_t *ret_seqs, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    bool is_job = names->kind == LIST_JOBS;
    size_t count = 0, end_len = strlen(names->id_end);
    cleanup(query_end) struct query query =
        query_begin(tx, is_job ? Q_LIST_JOB_IDS : Q_LIST_INSTANCE_IDS, reterr);
    bind_int(&query, ":room", names->newest);
    while (count < room && query_step(&query) == SQLITE_ROW) {
        const char *id = (const char *)sqlite3_column_text(query.handle, 1);
        size_t len = (size_t)sqlite3_column_bytes(query.handle, 1);
        if (id && len >= end_len && memcmp(id + len - end_len, names->id_end, end_len) == 0)
            ret_seqs[count++] = sqlite3_column_int64(query.handle, 0);
    }
    *ret_count = count;
    return query_ended(&query);
}

cairn_code sqlite_find_names(struct store_tx *tx, const struct list_names *names,
                             int64_t *ret_seqs, size_t room, size_t *ret_count,
                             cairn_error *reterr)
{
    bool is_job = names->kind == LIST_JOBS;
    enum query_number by_id = is_job ? Q_FIND_JOB_IDS : Q_FIND_INSTANCE_IDS;
    enum query_number by_key = is_job ? Q_FIND_JOB_KEYS : Q_FIND_INSTANCE_KEYS;
    if (names->ids)
        return find_ids(tx, names, ret_seqs, room, ret_count, reterr);
    if (names->id_end)
        return find_ends(tx, names, ret_seqs, room, ret_count, reterr);
    cleanup(query_end) struct query query =
        query_begin(tx, names->id_from ? by_id : by_key, reterr);
    bind_text(&query, ":first", names->id_from ? names->id_from : names->key_from);
    bind_text(&query, ":last", names->id_from ? names->id_to : names->key_below);
    return numbers_read(&query, ret_seqs, room, ret_count);
}

/* ---- Counts -------------------------------------------------------------------------------- */

/* The query that counts a status by an index; QUERY_NUMBER_COUNT: there is none. */
static enum query_number choose_count(enum list_kind kind, const char *workflow, int status)
{
    if (kind == LIST_INSTANCES && workflow)
        return Q_COUNT_INSTANCES_BY_WORKFLOW;
    if (kind == LIST_INSTANCES)
        return status == INSTANCE_COMPLETED ? Q_COUNT_COMPLETED_INSTANCES
                                            : Q_COUNT_INSTANCES_BY_STATUS;
    switch (status) {
    case JOB_PENDING:
        return Q_COUNT_FEW_PENDING;
    case JOB_LEASED:
        return Q_COUNT_JOBS_LEASED;
    case JOB_FAILED:
    case JOB_CANCELLED:
        return Q_COUNT_UNSUCCESSFUL_JOBS;
    default:
        return QUERY_NUMBER_COUNT;
    }
}

cairn_code sqlite_count_indexed(struct store_tx *tx, enum list_kind kind, const char *workflow,
                                uint32_t *statuses, size_t room, uint64_t *ret_counts,
                                cairn_error *reterr)
{
    const struct words *words = kind == LIST_JOBS ? &job_status_words : &instance_status_words;
    for (int status = 1; status < words->count; status++) {
        enum query_number number = choose_count(kind, workflow, status);
        int64_t count = 0;
        if (!(*statuses & STATUS_BIT(status)) || number == QUERY_NUMBER_COUNT)
            continue;
        cleanup(query_end) struct query query = query_begin(tx, number, reterr);
        bind_size(&query, ":room", room);
        if (number != Q_COUNT_FEW_PENDING && number != Q_COUNT_JOBS_LEASED &&
            number != Q_COUNT_COMPLETED_INSTANCES)
            bind_text(&query, ":status", words->names[status]);
        if (number == Q_COUNT_INSTANCES_BY_WORKFLOW)
            bind_text(&query, ":workflow", workflow);
        TRY(query_int(&query, &count));
        ret_counts[status] = (uint64_t)count;
        *statuses &= ~STATUS_BIT(status);
    }
    return CAIRN_OK;
}

static enum query_number choose_scan(const struct list_walk *walk)
{
    if (walk->kind == LIST_JOBS)
        return walk->tag                     ? Q_SCAN_TAGGED_JOBS
               : walk->status == JOB_PENDING ? Q_SCAN_PENDING_JOBS
                                             : Q_SCAN_JOBS;
    return walk->tag        ? Q_SCAN_TAGGED_INSTANCES
           : walk->workflow ? Q_SCAN_INSTANCES_BY_WORKFLOW
                            : Q_SCAN_INSTANCES;
}

static void bind_times(struct query *query, const struct list_filter *filter)
{
    if (filter->from_us)
        bind_int(query, ":created_from", filter->from_us);
    if (filter->to_us)
        bind_int(query, ":created_to", filter->to_us);
}

static void bind_job_scan(struct query *query, const struct list_walk *walk,
                          const struct list_filter *filter)
{
    bind_int(query, ":from_seq", walk->from);
    bind_int(query, ":before_seq", walk->before);
    bind_types(query, filter->pattern);
    if (filter->due != DUE_ANY)
        bind_int(query, ":is_due", filter->due == DUE_NOW);
    if (walk->status == JOB_PENDING && !walk->tag)
        bind_int(query, ":is_timed", filter->from_us || filter->to_us);
}

static void bind_instance(struct query *query, const struct list_filter *filter)
{
    if (filter->version)
        bind_int(query, ":version", filter->version);
    if (filter->is_root)
        bind_int(query, ":is_root", 1);
}

static void bind_instance_scan(struct query *query, const struct list_walk *walk,
                               const struct list_filter *filter)
{
    bind_int(query, ":from", walk->from);
    bind_int(query, ":before", walk->before);
    bind_instance(query, filter);
    if (walk->workflow && !walk->tag) {
        bind_text(query, ":workflow", walk->workflow);
        bind_text(query, ":status", instance_status_name((enum instance_status)walk->status));
    }
}

/* Rows of a word, and whether what it is of matches. */
static cairn_code count_words(struct query *query, const struct words *words,
                              uint64_t *ret_counts, size_t *ret_looked_at)
{
    for (*ret_looked_at = 0; query_step(query) == SQLITE_ROW; ++*ret_looked_at)
        if (sqlite3_column_int(query->handle, 1))
            ret_counts[word_from(words, (const char *)sqlite3_column_text(query->handle, 0))]++;
    return query_ended(query);
}

cairn_code sqlite_count_stands(struct store_tx *tx, const struct list_walk *walk,
                               const struct list_filter *filter, size_t room,
                               uint64_t *ret_counts, size_t *ret_looked_at, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_STANDS, reterr);
    bind_instance_scan(&query, walk, filter);
    bind_times(&query, filter);
    bind_size(&query, ":room", room);
    return count_words(&query, &stand_words, ret_counts, ret_looked_at);
}

cairn_code sqlite_count_scanned(struct store_tx *tx, const struct list_walk *walk,
                                const struct list_filter *filter, size_t room,
                                uint64_t *ret_counts, size_t *ret_looked_at,
                                cairn_error *reterr)
{
    bool is_job = walk->kind == LIST_JOBS;
    const struct words *words = is_job ? &job_status_words : &instance_status_words;
    cleanup(query_end) struct query query = query_begin(tx, choose_scan(walk), reterr);
    (is_job ? bind_job_scan : bind_instance_scan)(&query, walk, filter);
    bind_times(&query, filter);
    bind_size(&query, ":room", room);
    if (walk->tag) {
        bind_text(&query, ":name", walk->tag->name);
        bind_text(&query, ":value", walk->tag->value);
    }
    return count_words(&query, words, ret_counts, ret_looked_at);
}

cairn_code sqlite_find_created(struct store_tx *tx, enum list_kind kind, int64_t seq,
                               int64_t *ret_seq, int64_t *ret_created_us, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(
        tx, kind == LIST_JOBS ? Q_FIND_JOB_CREATED : Q_FIND_INSTANCE_CREATED, reterr);
    bind_int(&query, ":seq", seq);
    TRY(query_find(&query));
    *ret_seq = sqlite3_column_int64(query.handle, 0);
    *ret_created_us = sqlite3_column_int64(query.handle, 1);
    return CAIRN_OK;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static void bind_filter(struct query *query, const struct list_filter *filter,
                        const struct words *words)
{
    const char *statuses = NULL;
    if (!list_statuses(query->arena, words, filter->statuses, &statuses))
        query->rc = SQLITE_NOMEM;
    bind_int(query, ":is_row", filter->is_row);
    bind_text(query, ":statuses", statuses);
    bind_text(query, ":has", filter->has);
    bind_times(query, filter);
}

/* The lengths are the last two results. */
static void read_lengths(struct query *query, int64_t *ret_first, int64_t *ret_second)
{
    int last = sqlite3_column_count(query->handle) - 1;
    *ret_first = sqlite3_column_int64(query->handle, last - 1);
    *ret_second = sqlite3_column_int64(query->handle, last);
}

/* Asks for one number after the other; what else there is to bind is bound.  True: there is a row. */
static bool pick_next(struct query *query, int parameter, int64_t seq)
{
    if (query->rc == SQLITE_ROW || query->rc == SQLITE_DONE)
        query->rc = sqlite3_reset(query->handle);
    bind_int_at(query, parameter, seq);
    return query_step(query) == SQLITE_ROW;
}

cairn_code sqlite_pick_jobs(struct store_tx *tx, const struct list_filter *filter,
                            const int64_t *seqs, size_t count, struct job_row *ret_rows,
                            size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_PICK_JOB, reterr);
    int seq = sqlite3_bind_parameter_index(query.handle, ":seq");
    size_t found = 0;
    bind_filter(&query, filter, &job_status_words);
    bind_types(&query, filter->pattern);
    if (filter->due != DUE_ANY)
        bind_int(&query, ":is_due", filter->due == DUE_NOW);
    for (size_t i = 0; i < count && found < room; i++) {
        struct job_row *row = &ret_rows[found];
        if (!pick_next(&query, seq, seqs[i]))
            continue;
        row_read(&query, &job_row_type, row);
        read_lengths(&query, &row->payload_bytes, &row->result_bytes);
        found++;
    }
    *ret_count = found;
    return query_ended(&query);
}

cairn_code sqlite_pick_instances(struct store_tx *tx, const struct list_filter *filter,
                                 const int64_t *seqs, size_t count,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_PICK_INSTANCE, reterr);
    int seq = sqlite3_bind_parameter_index(query.handle, ":seq");
    size_t found = 0;
    bind_filter(&query, filter, &instance_status_words);
    bind_text(&query, ":workflow", filter->workflow);
    bind_text(&query, ":stand", stand_name(filter->stand));
    bind_instance(&query, filter);
    for (size_t i = 0; i < count && found < room; i++) {
        struct instance_row *row = &ret_rows[found];
        if (!pick_next(&query, seq, seqs[i]))
            continue;
        row_read(&query, &instance_row_type, row);
        read_lengths(&query, &row->input_bytes, &row->output_bytes);
        found++;
    }
    *ret_count = found;
    return query_ended(&query);
}

/* ---- Errors -------------------------------------------------------------------------------- */

static struct error_row read_job_error(struct query *query)
{
    return (struct error_row){.seq = sqlite3_column_int64(query->handle, 0),
                              .id = result_text(query, 1),
                              .type = result_text(query, 2),
                              .error = result_text(query, 3),
                              .at_us = sqlite3_column_int64(query->handle, 4)};
}

static struct error_row read_instance_error(struct query *query)
{
    return (struct error_row){.seq = sqlite3_column_int64(query->handle, 0),
                              .id = result_text(query, 1),
                              .workflow = result_text(query, 2),
                              .error = result_text(query, 3),
                              .undo_error = result_text(query, 4),
                              .at_us = sqlite3_column_int64(query->handle, 5)};
}

static struct error_row read_record_error(struct query *query)
{
    return (struct error_row){.seq = sqlite3_column_int64(query->handle, 0),
                              .workflow = result_text(query, 1),
                              .type = result_text(query, 2),
                              .step = result_text(query, 3),
                              .reason = result_text(query, 4),
                              .error = result_text(query, 5),
                              .at_us = sqlite3_column_int64(query->handle, 6)};
}

cairn_code sqlite_scan_errors(struct store_tx *tx, enum error_kind kind, const char *workflow,
                              int64_t before, struct error_row *ret_rows, size_t room,
                              size_t *ret_count, cairn_error *reterr)
{
    static struct error_row (*const readers[])(struct query *) = {
        [ERRORS_OF_JOBS] = read_job_error,
        [ERRORS_OF_INSTANCES] = read_instance_error,
        [ERRORS_OF_RECORDS] = read_record_error};
    bool is_of_workflow = kind == ERRORS_OF_INSTANCES && workflow;
    enum query_number number = kind == ERRORS_OF_JOBS      ? Q_SCAN_JOB_ERRORS
                               : kind == ERRORS_OF_RECORDS ? Q_SCAN_RECORD_ERRORS
                               : is_of_workflow            ? Q_SCAN_WORKFLOW_ERRORS
                                                           : Q_SCAN_INSTANCE_ERRORS;
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    size_t count = 0;
    bind_int(&query, ":before", before ? before : INT64_MAX);
    bind_size(&query, ":room", room);
    if (is_of_workflow)
        bind_text(&query, ":workflow", workflow);
    for (; count < room && query_step(&query) == SQLITE_ROW; count++)
        ret_rows[count] = readers[kind](&query);
    *ret_count = count;
    return query_ended(&query);
}
