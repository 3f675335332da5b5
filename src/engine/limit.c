/* engine/limit.c - limits: what may be asked, and what it changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/limit.h"

#include "base/error.h"
#include "engine/check.h"
#include "engine/read.h"
#include "engine/workset.h"

#include <string.h>

enum { LIMITS_AT_ONCE = 64, LIMIT_NAME_MAX = 128 };

/* ---- checks ---------------------------------------------------------------------------------- */

cairn_code check_limit(struct check *check)
{
    const cairn_limit_spec *in = &check->request->in.limit;
    TRY(check_text(check, "name", in->name, LIMIT_NAME_MAX));
    TRY(check_pattern(check, "types", in->types));
    TRY(check_range(check, "concurrency", in->concurrency, 0, LIMIT_N_MAX));
    TRY(check_range(check, "rate.n", in->rate_n, 0, LIMIT_N_MAX));
    TRY(check_range(check, "rate.per_ms", in->rate_per_ms, 0, LIMIT_PER_MAX_MS));
    if (!in->rate_n != !in->rate_per_ms)
        return check_bad(check, "rate", "needs both n and per_ms, from 1");
    if (!in->concurrency && !in->rate_n)
        return check_bad(check, "concurrency", "or rate must be given");
    return CAIRN_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

cairn_code limits_list(const struct store_ops *ops, struct store_tx *tx,
                       struct limit_row **ret_rows, size_t *ret_count, cairn_error *reterr)
{
    LIST(struct limit_row) rows = {0};
    for (size_t count = LIMITS_AT_ONCE; count == LIMITS_AT_ONCE;) {
        struct limit_row some[LIMITS_AT_ONCE];
        const char *after = rows.count ? rows.items[rows.count - 1].name : NULL;
        TRY(ops->list_limits(tx, after, some, LIMITS_AT_ONCE, &count, reterr));
        for (size_t i = 0; i < count; i++) {
            struct limit_row *row = list_add(tx->arena, &rows);
            NEED(row, reterr);
            *row = some[i];
        }
    }
    *ret_rows = rows.items;
    *ret_count = rows.count;
    return CAIRN_OK;
}

static const char *keep(struct arena *arena, const char *text, bool *failed)
{
    const char *copy = arena_strdup(arena, text);
    *failed |= !copy;
    return copy;
}

/* As users see it, in the arena.  figures: NULL: not known. */
static bool show(struct arena *arena, const struct limit_row *row,
                 const struct limit_figures *figures, cairn_limit *ret_limit)
{
    bool failed = false;
    cairn_limit_rate *rate = arena_zalloc(arena, sizeof *rate);
    if (!rate)
        return false;
    *rate = (cairn_limit_rate){.n = row->rate_n, .per_ms = row->rate_per_ms};
    *ret_limit = (cairn_limit){.name = keep(arena, row->name, &failed),
                               .types = keep(arena, row->types, &failed),
                               .concurrency = row->concurrency,
                               .rate = row->rate_n ? rate : NULL,
                               .per_group = row->is_per_group,
                               .created_at_us = row->created_at_us,
                               .updated_at_us = row->updated_at_us,
                               .taken = figures ? (int32_t)figures->taken : -1,
                               .waiting = figures ? (int32_t)figures->waiting : -1};
    return !failed;
}

static cairn_code answer_with(struct arena *arena, struct request *request,
                              const struct limit_row *row, const struct limit_figures *figures,
                              cairn_error *reterr)
{
    cairn_limit *item = arena_zalloc(arena, sizeof *item);
    NEED(item && show(arena, row, figures, item), reterr);
    request->out.page = (struct page_output){.limits = item, .count = 1};
    return CAIRN_OK;
}

static cairn_code no_limit(cairn_error *reterr, const char *name)
{
    return fail(reterr, CAIRN_E_NOT_FOUND, "limit \"%.128s\" does not exist", name);
}

cairn_code answer_limit(struct question *q)
{
    struct limit_row row;
    cairn_code code = STORE(q, get_limit, q->request->in.id, &row);
    if (code)
        return code == CAIRN_E_NOT_FOUND ? no_limit(q->error, q->request->in.id) : code;
    struct limit_figures figures;
    TRY(question_limits(q, &row, 1, &figures));
    return answer_with(q->arena, q->request, &row, &figures, q->error);
}

cairn_code answer_limits(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    size_t room = in->limit + 1, count = 0;
    struct page_output *page = &q->request->out.page;
    struct limit_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_limit *items = arena_array(q->arena, room, sizeof *items);
    struct limit_figures *figures = arena_array(q->arena, room, sizeof *figures);
    NEED(rows && items && figures, q->error);
    TRY(STORE(q, list_limits, in->cursor, rows, room, &count));
    *page = (struct page_output){.limits = items, .count = count < room ? count : in->limit};
    TRY(question_limits(q, rows, page->count, figures));
    for (size_t i = 0; i < page->count; i++)
        NEED(show(q->arena, &rows[i], &figures[i], &items[i]), q->error);
    if (count == room)
        page->next = items[in->limit - 1].name;
    return CAIRN_OK;
}

/* ---- changing -------------------------------------------------------------------------------- */

/* Claims that were refused look again. */
static void note_changed(struct batch *batch)
{
    batch->ready.is_any = true;
    batch->limits = NULL;
    batch->turns = NULL;
}

static cairn_code check_room(struct batch *batch, struct request *request)
{
    struct limit_row *rows = NULL;
    size_t count = 0;
    TRY(limits_list(batch->ops, batch->tx, &rows, &count, batch->error));
    if (count < LIMITS_MAX)
        return CAIRN_OK;
    return REFUSE(request, CAIRN_E_TOO_LARGE,
                  "there are %d limits already, and more are not allowed", LIMITS_MAX);
}

static bool is_same(const struct limit_row *a, const struct limit_row *b)
{
    return strcmp(a->types, b->types) == 0 && a->concurrency == b->concurrency &&
           a->rate_n == b->rate_n && a->rate_per_ms == b->rate_per_ms &&
           a->is_per_group == b->is_per_group;
}

cairn_code batch_put_limit(struct batch *batch, struct request *request)
{
    const cairn_limit_spec *in = &request->in.limit;
    int64_t now_us = batch->tx->now_us;
    struct limit_row old, row = {.name = in->name,
                                 .types = in->types,
                                 .concurrency = in->concurrency,
                                 .rate_n = in->rate_n,
                                 .rate_per_ms = in->rate_per_ms,
                                 .is_per_group = in->per_group,
                                 .created_at_us = now_us,
                                 .updated_at_us = now_us};
    note_changed(batch);
    cairn_code code = STORE(batch, get_limit, in->name, &old);
    if (code == CAIRN_E_NOT_FOUND) {
        TRY(check_room(batch, request));
    } else {
        TRY(code);
        if (is_same(&old, &row))
            return answer_with(&request->arena, request, &old, NULL, batch->error);
        row.created_at_us = old.created_at_us;
        /* A bucket of another rate says nothing. */
        if (old.rate_n != row.rate_n || old.rate_per_ms != row.rate_per_ms ||
            old.is_per_group != row.is_per_group)
            TRY(STORE(batch, delete_limit, in->name));
    }
    if (request->code)
        return CAIRN_OK;
    TRY(STORE(batch, put_limit, &row));
    workset_count_leases(batch, row.types);
    return answer_with(&request->arena, request, &row, NULL, batch->error);
}

cairn_code batch_delete_limit(struct batch *batch, struct request *request)
{
    struct limit_row row;
    note_changed(batch);
    cairn_code code = STORE(batch, get_limit, request->in.id, &row);
    if (code == CAIRN_E_NOT_FOUND) {
        request->code = no_limit(&request->error, request->in.id);
        return CAIRN_OK;
    }
    TRY(code);
    TRY(STORE(batch, delete_limit, request->in.id));
    return answer_with(&request->arena, request, &row, NULL, batch->error);
}
