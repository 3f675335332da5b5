/* store/postgres/claim.c - leasing what is due.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * claim_jobs.sql looks at the heads of the matching types, and locks of these as many as are
 * wanted, skipping what others hold.  When others held so many that too few were left, and
 * there may be more behind, it looks further: twice as far each time.  walk.c says where it looks.
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

/* ---- patterns ------------------------------------------------------------------------------- */

static int compare_texts(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static int compare_types(const void *one, const void *other)
{
    const struct exact_type *a = one, *b = other;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->lowest > b->lowest) - (a->lowest < b->lowest);
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Of sorted prefixes those that are within another follow it. */
static void drop_inner_prefixes(struct postgres_types *types)
{
    size_t kept = 0;
    for (size_t i = 0; i < types->prefix_count; i++)
        if (kept == 0 || !begins_with(types->prefixes[i], types->prefixes[kept - 1]))
            types->prefixes[kept++] = types->prefixes[i];
    types->prefix_count = kept;
}

/* Repeated ones, and those that a prefix brings: the last prefix that is not greater. */
static void drop_inner_types(struct postgres_types *types)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < types->exact_count; i++) {
        const struct exact_type *type = &types->exact[i];
        while (at < types->prefix_count && strcmp(types->prefixes[at], type->name) <= 0)
            at++;
        bool is_within = at > 0 && begins_with(type->name, types->prefixes[at - 1]);
        bool is_again = kept > 0 && compare_types(type, &types->exact[kept - 1]) == 0;
        if (!is_within && !is_again)
            types->exact[kept++] = *type;
    }
    types->exact_count = kept;
}

cairn_code postgres_sort_patterns(struct arena *arena, const struct job_claim *claim,
                                  const struct exact_type *more, size_t more_count,
                                  struct postgres_types *ret_types, cairn_error *reterr)
{
    size_t count = claim->pattern_count;
    struct postgres_types types = {
        .exact = arena_array(arena, count + more_count, sizeof *types.exact),
        .prefixes = arena_array(arena, count, sizeof *types.prefixes),
    };
    if (!types.exact || !types.prefixes)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        const char *pattern = claim->patterns[i];
        if (!pattern_is_prefix(pattern)) {
            types.exact[types.exact_count++] =
                (struct exact_type){pattern, INT64_MIN, INT64_MAX};
            continue;
        }
        char *prefix = arena_strndup(arena, pattern, strlen(pattern) - 1);
        if (!prefix)
            return fail_memory(reterr);
        types.prefixes[types.prefix_count++] = prefix;
    }
    for (size_t i = 0; i < more_count; i++)
        types.exact[types.exact_count++] = more[i];
    qsort(types.exact, types.exact_count, sizeof *types.exact, compare_types);
    qsort(types.prefixes, types.prefix_count, sizeof *types.prefixes, compare_texts);
    drop_inner_prefixes(&types);
    drop_inner_types(&types);
    *ret_types = types;
    return CAIRN_OK;
}

/* ---- claiming ------------------------------------------------------------------------------- */

static cairn_code note_walk(struct store_tx *tx, struct claim_walk *walk,
                            const struct walk_told *told, const struct job_row *rows,
                            size_t count, cairn_error *reterr)
{
    struct claimed_key *keys = arena_array(tx->arena, count + 1, sizeof *keys);
    if (!keys)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct claimed_key){rows[i].type, rows[i].priority, rows[i].seq >> 8};
    postgres_walked(&postgres_store_of(tx->session)->job_marks, walk, told,
                    tx->session->store->clock->is_virtual, told->heads, keys, count);
    return CAIRN_OK;
}

/* One look at `heads` rows.  *ret_is_all: there was nothing behind them. */
static cairn_code try_claim(struct store_tx *tx, const struct job_claim *claim,
                            const struct postgres_types *types, size_t heads,
                            struct job_row *ret_rows, size_t room, size_t *ret_count,
                            bool *ret_is_all, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct mark_set *marks = &postgres_store_of(tx->session)->job_marks;
    struct postgres_params params = {.arena = tx->arena};
    struct claim_walk walk;
    cairn_code code = postgres_plan_walk(tx->arena, marks, types, &walk, reterr);
    if (code)
        return code;
    param_walk(&params, &walk);
    param_text(&params, claim->runtime);
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)heads);
    param_int(&params, (int64_t)room);
    param_text(&params, claim->worker);
    param_text(&params, claim->token);
    param_time(&params, claim->lease_until_us);
    code = postgres_run(postgres_session_of(tx), PG_CLAIM_JOBS, &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    size_t count = 0;
    struct walk_told told = postgres_read_told(&reader, marks);
    told.end = told.extra >> 8; /* of the last seq given */
    for (; reader.row < PQntuples(result); reader.row++)
        if (!PQgetisnull(result, reader.row, WALK_COLUMNS))
            postgres_read_job(&reader, WALK_COLUMNS, &ret_rows[count++]);
    *ret_is_all = told.heads < heads && told.taken == count;
    *ret_count = count;
    if (reader.failed)
        return fail_memory(reterr);
    return note_walk(tx, &walk, &told, ret_rows, count, reterr);
}

/* Takes what can be taken from where the walk begins. */
static cairn_code claim_from_marks(struct store_tx *tx, const struct job_claim *claim,
                                   const struct postgres_types *types, struct job_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    bool is_all = false;
    *ret_count = 0;
    for (size_t heads = room + POSTGRES_SPARE_HEADS; !code && *ret_count < room && !is_all;
         heads *= 2) {
        size_t more = 0;
        code = try_claim(tx, claim, types, heads, ret_rows + *ret_count, room - *ret_count,
                         &more, &is_all, reterr);
        *ret_count += more;
    }
    return code;
}

cairn_code postgres_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    struct mark_set *marks = &postgres_store_of(tx->session)->job_marks;
    struct postgres_types types = {0};
    size_t count = 0;
    cairn_code code = postgres_sort_patterns(tx->arena, claim, NULL, 0, &types, reterr);
    for (bool is_more = true; !code && is_more;) {
        size_t more = 0;
        is_more = false;
        code =
            claim_from_marks(tx, claim, &types, ret_rows + count, room - count, &more, reterr);
        count += more;
        if (!code)
            code =
                postgres_check_below(tx, marks, PG_CHECK_JOBS, count < room, &is_more, reterr);
        is_more &= count < room;
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
