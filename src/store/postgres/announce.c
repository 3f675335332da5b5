/* store/postgres/announce.c - new jobs that are inserted as leased, for a claim that waits for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Few new jobs that send_insert_jobs() announces are not sent at once.  If a claim follows that would be given all of them
 * and nothing else, one statement inserts them as leased; it sees itself whether there is another job for the claim,
 * and then inserts nothing.  Otherwise they are sent before whatever comes next.
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/counter.h"
#include "core/pattern.h"
#include "store/postgres/postgres.h"

#include <string.h>

/* A lease row has room for as many. */
enum { ANNOUNCED_MAX = LEASE_ROW_JOBS };

/* Where there is other work, it is not tried again for a while. */
#define OTHER_WORK_US (20 * US_PER_MS)

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

/* Whether one statement takes them. */
static bool are_few(const struct job_row *rows, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count && i < ANNOUNCED_MAX; i++)
        bytes +=
            length_of(rows[i].payload) + length_of(rows[i].metadata) + length_of(rows[i].tags);
    return count <= ANNOUNCED_MAX && bytes < POSTGRES_PORTION / 2;
}

/* New types, which only an answer makes known to the marks, are found from the beginning alone. */
cairn_code postgres_send_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                     bool *ret_is_sent, cairn_error *reterr)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    *ret_is_sent = false;
    if (postgres_is_marking(&store->job_marks))
        return CAIRN_OK;
    if (monotonic_us() < atomic_load(&store->other_work_us) + OTHER_WORK_US ||
        !are_few(rows, count))
        return postgres_send_new_jobs(tx, rows, count, ret_is_sent, reterr);
    postgres_session_of(tx)->tx.announced = (struct announced_jobs){rows, count};
    *ret_is_sent = true;
    return CAIRN_OK;
}

cairn_code postgres_send_announced(struct postgres_session *session, cairn_error *reterr)
{
    struct announced_jobs jobs = session->tx.announced;
    bool is_sent;
    session->tx.announced = (struct announced_jobs){0};
    return jobs.count ? postgres_send_new_jobs(&session->tx.base, jobs.rows, jobs.count,
                                               &is_sent, reterr)
                      : CAIRN_OK;
}

/* ---- with a claim ----------------------------------------------------------------------------- */

/* Whether the claim would be given it, if nothing else were there. */
static bool is_wanted(const struct job_claim *claim, const struct job_row *row)
{
    return row->status == JOB_PENDING && row->is_ready &&
           pattern_matches_any(claim->patterns, claim->pattern_count, row->type);
}

static bool are_exact(const struct job_claim *claim)
{
    for (size_t i = 0; i < claim->pattern_count; i++)
        if (pattern_is_prefix(claim->patterns[i]))
            return false;
    return true;
}

/* Whether the claim's events, which begin at its event_id, are known to follow the row's. */
static bool is_followed(const struct job_claim *claim, const struct job_row *row)
{
    return !claim->events_each ||
           (row->last_event < claim->event_id &&
            (row->last_event == 0 ||
             (row->last_event >= EVENT_OPEN) == (claim->event_id >= EVENT_OPEN)));
}

/* Which of the rows the claim takes, in its order; false: not just these, or it is not known. */
static bool choose(const struct announced_jobs *jobs, const struct job_claim *claim,
                   size_t room, size_t *ret_places, size_t *ret_count)
{
    size_t count = 0;
    if (claim->runtime || !are_exact(claim))
        return false;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job_row *row = &jobs->rows[i];
        size_t at = count;
        if (!is_wanted(claim, row))
            continue;
        if ((row->group && *row->group) || count == room || !is_followed(claim, row))
            return false;
        for (; at > 0 && jobs->rows[ret_places[at - 1]].priority > row->priority; at--)
            ret_places[at] = ret_places[at - 1];
        ret_places[at] = i;
        count++;
    }
    *ret_count = count;
    return count > 0;
}

static void lease(const struct store_tx *tx, const struct job_claim *claim, size_t number,
                  struct job_row *row)
{
    struct claim_holder one = {claim->worker, claim->token};
    const struct claim_holder *holder = claim->holders ? &claim->holders[number] : &one;
    row->status = JOB_LEASED;
    row->is_ready = false;
    row->leased_by = holder->worker;
    row->token = holder->token;
    row->lease_until_us = claim->lease_until_us;
    row->updated_at_us = tx->now_us;
    row->event_count = counter_of((int64_t)row->event_count + claim->events_each);
    if (claim->events_each)
        row->last_event = claim->event_id + (int64_t)(number + 1) * claim->events_each - 1;
}

/* The rows as they are to be inserted; NULL: memory ran out. */
static struct job_row *lease_chosen(struct store_tx *tx, const struct announced_jobs *jobs,
                                    const struct job_claim *claim, const size_t *places,
                                    size_t count)
{
    struct job_row *rows = arena_array(tx->arena, jobs->count, sizeof *rows);
    if (!rows)
        return NULL;
    memcpy(rows, jobs->rows, jobs->count * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        lease(tx, claim, i, &rows[places[i]]);
    return rows;
}

static cairn_code ask(struct store_tx *tx, const struct job_row *rows, size_t count,
                      const struct job_claim *claim, struct postgres_reader *ret_reader,
                      cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    for (size_t i = 0; i < count; i++)
        columns_row(&columns, &job_row_type, COLUMNS_INSERT, &rows[i]);
    param_columns(&params, &columns);
    param_texts(&params, claim->patterns, claim->pattern_count);
    param_time(&params, postgres_lease_look(tx, LEASE_FIRST_LOOK_US, claim->lease_until_us));
    return postgres_ask(tx, PG_INSERT_LEASED_JOBS, &params, ret_reader, reterr);
}

/* The event that a row had before the claim: as far before its last one as it was planned. */
static int64_t event_before(const struct announced_jobs *jobs, const struct job_row *planned,
                            const struct job_row *row)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->rows[i].last_event && strcmp(planned[i].id, row->id) == 0)
            return row->last_event - (planned[i].last_event - jobs->rows[i].last_event);
    return 0;
}

/* Those that were new. */
static void read_leased(struct postgres_reader *reader, const struct announced_jobs *jobs,
                        const struct job_row *planned, struct job_row *ret_rows,
                        size_t *ret_count)
{
    for (; reader->row < reader->count; reader->row++) {
        struct job_row *row = &ret_rows[*ret_count];
        postgres_read_row(reader, 2, &job_row_type, row);
        if (row->status != JOB_LEASED)
            continue;
        row->prev_event = event_before(jobs, planned, row);
        ++*ret_count;
    }
}

cairn_code postgres_lease_announced(struct store_tx *tx, const struct job_claim *claim,
                                    struct job_row *ret_rows, size_t room, size_t *ret_count,
                                    bool *ret_is_done, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_session *session = postgres_session_of(tx);
    struct announced_jobs jobs = session->tx.announced;
    size_t places[ANNOUNCED_MAX], count;
    *ret_count = 0;
    *ret_is_done = false;
    if (!choose(&jobs, claim, room, places, &count))
        return CAIRN_OK;
    struct job_row *rows = lease_chosen(tx, &jobs, claim, places, count);
    if (!rows)
        return fail_memory(reterr);
    session->tx.announced = (struct announced_jobs){0};
    TRY(ask(tx, rows, jobs.count, claim, &reader, reterr));
    if (reader.count == 0) {
        atomic_store(&postgres_store_of(tx->session)->other_work_us, monotonic_us());
        session->tx.announced = jobs;
        return CAIRN_OK;
    }
    read_leased(&reader, &jobs, rows, ret_rows, ret_count);
    postgres_note_due(tx, claim->lease_until_us + 1);
    postgres_keep(session, PG_INSERT_JOBS, &reader);
    *ret_is_done = true;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
