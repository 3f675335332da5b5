/* engine/workers_known.c - what is known of workers, here and in other processes, and whom they serve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/scan.h"
#include "core/pattern.h"
#include "core/why.h"
#include "engine/batch.h"
#include "engine/read.h"
#include "engine/workers.h"

#include <stdlib.h>
#include <string.h>

#define LIVE_US (45 * US_PER_SEC)
#define QUIET_US (10 * US_PER_MIN)
#define ROOM_US (2 * US_PER_SEC) /* a worker claims again at once when it has room */
#define UNKNOWN_US (60 * US_PER_SEC)

enum { KNOWN_MAX = 10000, KNOWN_PORTION = 1000 };

enum worker_state worker_state(const struct known_worker *worker, int64_t now_us)
{
    int64_t silent_us = now_us - worker->seen_us;
    return silent_us < LIVE_US    ? WORKER_LIVE
           : silent_us < QUIET_US ? WORKER_QUIET
                                  : WORKER_GONE;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static cairn_code read_rows(struct question *q, struct known_workers *all)
{
    struct worker_row *rows = arena_array(q->arena, KNOWN_PORTION, sizeof *rows);
    size_t count = 0;
    NEED(rows, q->error);
    TRY(STORE(q, list_workers, rows, KNOWN_PORTION, &count));
    for (size_t i = 0; i < count; i++) {
        struct known_worker *known = list_add(q->arena, all);
        NEED(known, q->error);
        *known = (struct known_worker){.name = rows[i].name,
                                       .process = rows[i].process,
                                       .types = rows[i].types,
                                       .runtime = rows[i].runtime,
                                       .places = rows[i].places,
                                       .free = rows[i].places,
                                       .first_us = rows[i].first_seen_us,
                                       .seen_us = rows[i].last_seen_us,
                                       .errors = -1};
    }
    return CAIRN_OK;
}

static struct known_worker *find_own(struct known_workers *all, const char *name,
                                     const char *process)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].name, name) == 0 &&
            strcmp(all->items[i].process, process) == 0)
            return &all->items[i];
    return NULL;
}

static int32_t errors_of(const struct seen_worker *worker, int64_t now_us)
{
    int64_t span = now_us / (10 * US_PER_MIN);
    int32_t total = 0;
    for (int64_t at = worker->error_span; at > worker->error_span - ERROR_SPANS && at >= 0;
         at--)
        total += span - at < ERROR_SPANS ? worker->errors[at % ERROR_SPANS] : 0;
    return total;
}

/* What this process knows is newer than its rows. */
static cairn_code add_own(struct question *q, const struct seen_worker *seen,
                          struct known_workers *all)
{
    const char *process = q->engine->workers.process;
    struct known_worker *known = find_own(all, seen->name, process);
    if (!known)
        known = list_add(q->arena, all);
    NEED(known, q->error);
    *known = (struct known_worker){.name = arena_strdup(q->arena, seen->name),
                                   .process = process,
                                   .types = arena_strdup(q->arena, seen->types),
                                   .runtime = arena_strdup(q->arena, seen->runtime),
                                   .places = seen->places,
                                   .free = seen->free,
                                   .first_us = seen->first_us,
                                   .seen_us = seen->seen_us,
                                   .is_own = true,
                                   .is_waiting = seen->answered_us &&
                                                 q->tx->now_us - seen->answered_us < ROOM_US,
                                   .errors = errors_of(seen, q->tx->now_us)};
    return known->name && known->types ? CAIRN_OK : fail_memory(q->error);
}

static cairn_code add_all_own(struct question *q, struct known_workers *all)
{
    struct workers *workers = &q->engine->workers;
    cairn_code code = CAIRN_OK;
    pthread_mutex_lock(&workers->lock);
    for (size_t i = 0; i < WORKER_BUCKETS && !code; i++)
        for (const struct seen_worker *it = workers->buckets[i]; it && !code; it = it->next)
            code = add_own(q, it, all);
    pthread_mutex_unlock(&workers->lock);
    return code;
}

/* A claim that waits is being seen now, and has room. */
static void add_parked(struct question *q, struct known_workers *all)
{
    struct local_engine *engine = q->engine;
    pthread_mutex_lock(&engine->lock);
    for (const struct request *it = engine->parked.first; it; it = it->next) {
        struct known_worker *known =
            find_own(all, request_claim(it)->worker, engine->workers.process);
        if (!known)
            continue;
        known->seen_us = q->tx->now_us;
        known->is_waiting = true;
    }
    pthread_mutex_unlock(&engine->lock);
}

static int compare_known(const void *a, const void *b)
{
    const struct known_worker *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    return order ? order : (one->seen_us < other->seen_us) - (one->seen_us > other->seen_us);
}

cairn_code workers_known(struct question *q, struct known_workers *ret_workers)
{
    *ret_workers = (struct known_workers){0};
    TRY(read_rows(q, ret_workers));
    TRY(add_all_own(q, ret_workers));
    add_parked(q, ret_workers);
    if (ret_workers->count)
        qsort(ret_workers->items, ret_workers->count, sizeof *ret_workers->items,
              compare_known);
    return CAIRN_OK;
}

/* ---- whom they serve ------------------------------------------------------------------------- */

static bool item_serves(struct slice item, const char *type, int32_t version)
{
    char name[512];
    int64_t from = 0, to = 0;
    if (slice_is_string(item))
        return slice_unescape(item, name, sizeof name) && pattern_matches(name, type);
    return version && slice_unescape(scan_find(item, "name"), name, sizeof name) &&
           strcmp(name, type) == 0 && slice_int(scan_find(item, "from"), &from) &&
           slice_int(scan_find(item, "to"), &to) && from <= version && version <= to;
}

bool worker_serves(const struct known_worker *worker, const char *type, int32_t version)
{
    struct slice list, item;
    struct scan scan;
    if (!scan_text(worker->types, strlen(worker->types), &list) || !scan_list(list, &scan))
        return false;
    while (scan_item(&scan, &item))
        if (item_serves(item, type, version))
            return true;
    return false;
}

cairn_code worker_types(struct question *q, const struct known_worker *worker,
                        const char *const **ret_types, size_t *ret_count)
{
    LIST(const char *) names = {0};
    struct slice list, item;
    struct scan scan;
    *ret_types = NULL;
    *ret_count = 0;
    if (!scan_text(worker->types, strlen(worker->types), &list) || !scan_list(list, &scan))
        return CAIRN_OK;
    while (scan_item(&scan, &item)) {
        const char **name = list_add(q->arena, &names);
        NEED(name, q->error);
        *name = slice_string(slice_is_string(item) ? item : scan_find(item, "name"), q->arena);
        NEED(*name, q->error);
    }
    *ret_types = names.items;
    *ret_count = names.count;
    return CAIRN_OK;
}

/* Of a worker of another process it is known what it holds, and for how many it asked last. */
static cairn_code has_room(struct question *q, const struct known_worker *worker, bool *ret_has)
{
    size_t jobs = 0, steps = 0, room = worker->places > 0 ? (size_t)worker->places : 1;
    *ret_has = worker->is_waiting;
    if (worker->is_own || worker->is_waiting)
        return CAIRN_OK;
    struct job_row *job_rows = arena_array(q->arena, room, sizeof *job_rows);
    struct step_row *step_rows = arena_array(q->arena, room, sizeof *step_rows);
    NEED(job_rows && step_rows, q->error);
    TRY(STORE(q, list_held_jobs, worker->name, job_rows, room, &jobs));
    TRY(STORE(q, list_held_steps, worker->name, step_rows, room, &steps));
    *ret_has = jobs + steps < room;
    return CAIRN_OK;
}

static cairn_code add_serving(struct question *q, const struct known_worker *worker,
                              bool is_new_name, struct why_type *type)
{
    bool is_roomy = false;
    if (worker_state(worker, q->tx->now_us) != WORKER_LIVE) {
        if (!type->last || worker->seen_us > type->last_seen_us) {
            type->last = worker->name;
            type->last_seen_us = worker->seen_us;
        }
        return CAIRN_OK;
    }
    type->live += is_new_name;
    if (!type->roomy)
        TRY(has_room(q, worker, &is_roomy));
    if (is_roomy)
        type->roomy = worker->name;
    return CAIRN_OK;
}

cairn_code workers_judge(struct question *q, const struct known_workers *workers,
                         const char *name, int32_t version, struct why_type *type)
{
    int64_t now_us = q->tx->now_us;
    const char *last_live = NULL;
    type->is_judged =
        !q->engine->base.options.serves || now_us - question_opened_us(q) >= UNKNOWN_US;
    for (size_t i = 0; i < workers->count; i++) {
        const struct known_worker *worker = &workers->items[i];
        bool is_live = worker_state(worker, now_us) == WORKER_LIVE;
        bool is_runtime = type->runtime && text_is(worker->runtime, type->runtime);
        type->is_runtime_there |= is_live && (is_runtime || !worker->runtime);
        bool is_allowed = !type->runtime || !worker->runtime || is_runtime;
        if (!is_allowed || !worker_serves(worker, name, version))
            continue;
        TRY(add_serving(q, worker, !last_live || strcmp(last_live, worker->name) != 0, type));
        if (is_live)
            last_live = worker->name;
    }
    return CAIRN_OK;
}
