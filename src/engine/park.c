/* engine/park.c - claims that wait for work without holding a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/hash.h"
#include "core/pattern.h"
#include "engine/batch.h"

#include <string.h>

/* When something must be done about it: it has waited long enough, or there is a token for it. */
static int64_t look_at_us(const struct request *request)
{
    bool is_token_first = request->token_at_us && request->token_at_us < request->wait_until_us;
    return is_token_first ? request->token_at_us : request->wait_until_us;
}

static void note_deadline(struct local_engine *engine, const struct request *request)
{
    int64_t at_us = look_at_us(request);
    if (engine->park_deadline_us == 0 || at_us < engine->park_deadline_us)
        engine->park_deadline_us = at_us;
}

void park_add(struct local_engine *engine, struct request *request)
{
    queue_push(&engine->parked, request);
    note_deadline(engine, request);
    if (engine->parked.count == 1)
        pthread_cond_signal(&engine->watch_work);
}

static bool has_code_for(const cairn_claim_options *claim, const char *name, int32_t version)
{
    for (size_t i = 0; version && i < claim->function_count; i++) {
        const cairn_function_code *code = &claim->functions[i];
        int32_t from = code->from_version ? code->from_version : code->version;
        if (from <= version && version <= code->version && strcmp(code->name, name) == 0)
            return true;
    }
    return false;
}

bool claim_names(const cairn_claim_options *claim, const char *type, int32_t version)
{
    return pattern_matches_any(claim->types, claim->type_count, type) ||
           has_code_for(claim, type, version);
}

static bool is_waiting_for(const struct request *request, const struct ready_types *ready)
{
    if (ready->is_place && request->is_limited)
        return true;
    for (size_t i = 0; i < ready->count; i++)
        if (claim_names(request_claim(request), ready->names[i], ready->versions[i]))
            return true;
    return false;
}

/* ---- without asking ------------------------------------------------------------------------- */

#define NOTHING_US (100 * US_PER_MS)

static bool is_same_types(const struct ready_types *types, const struct ready_types *others)
{
    if (types->count != others->count)
        return false;
    for (size_t i = 0; i < types->count; i++)
        if (strcmp(types->names[i], others->names[i]) != 0)
            return false;
    return true;
}

static bool is_claim_for(const cairn_claim_options *claim, const struct ready_types *types)
{
    if (claim->type_count != types->count || claim->function_count || claim->runtime)
        return false;
    for (size_t i = 0; i < types->count; i++)
        if (strcmp(claim->types[i], types->names[i]) != 0)
            return false;
    return true;
}

void park_note_nothing(struct local_engine *engine, const struct ready_types *types)
{
    struct nothing *oldest = engine->nothings;
    for (struct nothing *at = engine->nothings; at < engine->nothings + NOTHING_MAX; at++) {
        if (is_same_types(&at->types, types)) {
            oldest = at;
            break;
        }
        if (at->until_us < oldest->until_us)
            oldest = at;
    }
    *oldest = (struct nothing){.types = *types,
                               .until_us = clock_monotonic_us(&engine->clock) + NOTHING_US};
}

/* What would wake a claim for these types. */
static bool is_woken(const struct ready_types *types, const struct ready_types *ready)
{
    for (size_t i = 0; i < types->count; i++)
        for (size_t k = 0; k < ready->count; k++)
            if (pattern_matches(types->names[i], ready->names[k]))
                return true;
    return false;
}

static void end_nothings(struct local_engine *engine, const struct ready_types *ready)
{
    for (struct nothing *at = engine->nothings; at < engine->nothings + NOTHING_MAX; at++)
        if (at->until_us &&
            (!ready || ready->is_any || ready->is_place || is_woken(&at->types, ready)))
            at->until_us = 0;
}

bool park_unasked(struct local_engine *engine, struct request *request)
{
    const cairn_claim_options *claim = &request->in.claim;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    if (!engine->may_park_unasked || request->op != OP_CLAIM || claim->wait_ms == 0 ||
        engine->is_in_trouble || engine->is_foreign_news)
        return false;
    for (const struct nothing *at = engine->nothings; at < engine->nothings + NOTHING_MAX;
         at++) {
        if (at->until_us <= now_us || !is_claim_for(claim, &at->types))
            continue;
        request->wait_until_us = now_us + claim->wait_ms * US_PER_MS;
        park_add(engine, request);
        return true;
    }
    return false;
}

/* ---- waking --------------------------------------------------------------------------------- */

void park_take(struct local_engine *engine, const struct ready_types *ready, size_t room,
               struct request_queue *ret_taken)
{
    end_nothings(engine, ready);
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(&engine->parked)) != NULL) {
        size_t tasks = request_claim(request)->max;
        bool is_meant =
            tasks <= room && (!ready || ready->is_any || is_waiting_for(request, ready));
        queue_push(is_meant ? ret_taken : &rest, request);
        if (is_meant)
            room -= tasks;
    }
    engine->parked = rest;
}

/* Those who wait for these types go back into the queue, in order. */
void park_wake(struct local_engine *engine, const struct ready_types *ready)
{
    struct request_queue woken = {0};
    park_take(engine, ready, SIZE_MAX, &woken);
    if (woken.count)
        pthread_cond_broadcast(&engine->write_work);
    queue_append(&engine->writes, &woken);
}

/* ---- cairn_wake() --------------------------------------------------------------------------- */

static size_t wake_index(const char *worker)
{
    return 1 + hash_text(HASH_START, worker) % (WAKE_COUNTS - 1);
}

uint32_t park_wakes(const struct local_engine *engine, const struct request *request)
{
    if (!request_is_claiming(request))
        return engine->wakes[0];
    return engine->wakes[wake_index(request_claim(request)->worker)];
}

/* A claim that has found nothing, or cannot look because the store is away.  One whose commit may
 * have succeeded goes on: it may have tasks. */
static bool is_to_end(const struct local_engine *engine, const struct request *request,
                      const char *worker)
{
    if (!request_is_claiming(request) || request->was_unsure ||
        (request->op != OP_CLAIM && !request->is_reported))
        return false;
    return (request->wait_until_us || engine->is_in_trouble) &&
           (!worker || strcmp(request_claim(request)->worker, worker) == 0);
}

static void take_ended(const struct local_engine *engine, struct request_queue *queue,
                       const char *worker, struct request_queue *ret_ended)
{
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(queue)) != NULL)
        queue_push(is_to_end(engine, request, worker) ? ret_ended : &rest, request);
    *queue = rest;
}

void park_end(struct local_engine *engine, const char *worker, struct request_queue *ret_ended)
{
    for (size_t i = 0; !worker && i < WAKE_COUNTS; i++)
        engine->wakes[i]++;
    if (worker)
        engine->wakes[wake_index(worker)]++;
    take_ended(engine, &engine->parked, worker, ret_ended);
    take_ended(engine, &engine->writes, worker, ret_ended);
}

void park_expire(struct local_engine *engine, struct request_queue *ret_expired)
{
    int64_t now_us = clock_monotonic_us(&engine->clock);
    if (engine->park_deadline_us == 0 || now_us < engine->park_deadline_us)
        return;

    struct request_queue rest = {0};
    struct request *request;
    engine->park_deadline_us = 0;
    while ((request = queue_pop(&engine->parked)) != NULL) {
        if (request->wait_until_us <= now_us) {
            queue_push(ret_expired, request);
            continue;
        }
        if (look_at_us(request) <= now_us) {
            queue_push(&engine->writes, request);
            continue;
        }
        note_deadline(engine, request);
        queue_push(&rest, request);
    }
    engine->parked = rest;
}
