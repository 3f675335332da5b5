/* store/postgres/claim.c - leasing what is due.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * claim_jobs.sql looks at the heads of the matching types, and locks of these as many as are
 * wanted, skipping what others hold.  When others held so many that too few were left, and
 * there may be more behind, it looks further: twice as far each time.
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/postgres/postgres.h"

#include <string.h>

cairn_code postgres_sort_patterns(struct arena *arena, const struct job_claim *claim,
                                  struct postgres_types *ret_types, cairn_error *reterr)
{
    size_t count = claim->pattern_count;
    struct postgres_types types = {
        .exact = arena_array(arena, count, sizeof *types.exact),
        .prefixes = arena_array(arena, count, sizeof *types.prefixes),
    };
    if (!types.exact || !types.prefixes)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        const char *pattern = claim->patterns[i];
        if (!pattern_is_prefix(pattern)) {
            types.exact[types.exact_count++] = pattern;
            continue;
        }
        char *prefix = arena_strndup(arena, pattern, strlen(pattern) - 1);
        if (!prefix)
            return fail_memory(reterr);
        types.prefixes[types.prefix_count++] = prefix;
    }
    *ret_types = types;
    return CAIRN_OK;
}

/* One look at `heads` rows.  *ret_is_all: there was nothing behind them. */
static cairn_code try_claim(struct store_tx *tx, const struct job_claim *claim,
                            const struct postgres_types *types, size_t heads,
                            struct job_row *ret_rows, size_t room, size_t *ret_count,
                            bool *ret_is_all, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_texts(&params, types->exact, types->exact_count);
    param_texts(&params, types->prefixes, types->prefix_count);
    param_text(&params, claim->runtime);
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)heads);
    param_int(&params, (int64_t)room);
    param_text(&params, claim->worker);
    param_text(&params, claim->token);
    param_time(&params, claim->lease_until_us);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_CLAIM_JOBS, &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    size_t count = 0;
    *ret_is_all = (size_t)value_int(&reader, 0) < heads;
    for (; reader.row < PQntuples(result); reader.row++)
        if (!PQgetisnull(result, reader.row, 1))
            postgres_read_job(&reader, 1, &ret_rows[count++]);
    *ret_count = count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    struct postgres_types types = {0};
    size_t count = 0;
    bool is_all = false;
    cairn_code code = postgres_sort_patterns(tx->arena, claim, &types, reterr);
    for (size_t heads = room + POSTGRES_SPARE_HEADS; !code && count < room && !is_all;
         heads *= 2) {
        size_t more = 0;
        code = try_claim(tx, claim, &types, heads, ret_rows + count, room - count, &more,
                         &is_all, reterr);
        count += more;
    }
    if (count > 0)
        postgres_note_due(tx, claim->lease_until_us + 1);
    *ret_count = count;
    return code;
}

cairn_code postgres_find_claimed(struct store_tx *tx, const char *worker, const char *token,
                                 struct job_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, worker);
    param_text(&params, token);
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_FIND_CLAIMED, &params, &result, reterr);
    return code ? code : postgres_read_jobs(tx, result, ret_rows, room, ret_count, reterr);
}
