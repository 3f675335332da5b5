/* engine/held.c - requests that are answered later than they were committed, without a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/held.h"

#include "engine/workset.h"

#include <string.h>

/* Between two looks at a family that somebody else has locked. */
enum { PAUSE_FIRST_US = 1000, PAUSE_LONGEST_US = 20 * 1000 };

/* ---- in a batch ----------------------------------------------------------------------------- */

void hold_forget(struct request *request)
{
    struct hold *hold = &request->hold;
    hold->is_told = hold->is_foreign = hold->is_again = false;
    if (!hold->is_held)
        hold->count = 0;
}

cairn_code batch_hold_for(struct batch *batch, struct request *request, const char *id)
{
    struct hold *hold = &request->hold;
    for (size_t i = 0; i < hold->count; i++)
        if (strcmp(hold->ids[i], id) == 0)
            return CAIRN_OK;
    /* Room for twice as many whenever the number is a power of two. */
    if ((hold->count & (hold->count - 1)) == 0) {
        const char **more =
            arena_array(&request->arena, hold->count ? hold->count * 2 : 1, sizeof *more);
        NEED(more, batch->error);
        if (hold->count)
            memcpy(more, hold->ids, hold->count * sizeof *more);
        hold->ids = more;
    }
    hold->ids[hold->count] = arena_strdup(&request->arena, id);
    NEED(hold->ids[hold->count], batch->error);
    hold->count++;
    return CAIRN_OK;
}

static bool is_any_telling(const struct batch *batch)
{
    for (size_t i = 0; i < batch->instances.count; i++) {
        const struct workset_instance *at = batch->instances.entries[i].value;
        if (at->row.is_telling)
            return true;
    }
    return false;
}

cairn_code batch_hold(struct batch *batch)
{
    if (!is_any_telling(batch))
        return CAIRN_OK;
    for (size_t i = 0; i < batch->names.count; i++) {
        const struct row_name *name = &batch->names.items[i];
        const struct workset_instance *instance =
            name->is_job || name->is_bare ? NULL : workset_find(batch, name->id);
        if (!name->request->code && instance && instance_must_tell(instance))
            TRY(batch_hold_for(batch, name->request, name->id));
    }
    return CAIRN_OK;
}

/* How many children are left to be told below one of its instances.  A failure may stop others, once the parent was
 * told of it: then it is looked at from the parent on. */
static cairn_code count_left(struct batch *batch, const char **id, int64_t *ret_left)
{
    for (bool is_up = true; is_up;) {
        struct instance_row row;
        bool is_found;
        TRY(STORE(batch, count_untold, *id, ret_left));
        if (*ret_left)
            return CAIRN_OK;
        TRY(STORE(batch, read_instances, id, 1, &row, &is_found));
        is_up = is_found && row.status == INSTANCE_FAILED && row.parent && row.parent_seq >= 0;
        if (is_up && row.is_telling && !row.is_told) {
            *ret_left = 1;
            return CAIRN_OK;
        }
        if (is_up)
            *id = row.parent;
    }
    return CAIRN_OK;
}

cairn_code batch_look_held(struct batch *batch, struct request *request)
{
    struct hold *hold = &request->hold;
    int64_t left = 0, all = 0;
    for (size_t i = 0; i < hold->count; i++) {
        const char *id = hold->ids[i]; /* if this try fails, the next begins there again */
        TRY(count_left(batch, &id, &left));
        all += left;
    }
    hold->is_told = all == 0;
    bool has_moved = all < hold->left;
    hold->left = all;
    hold->pause_us = has_moved                               ? 0
                     : hold->pause_us * 2 < PAUSE_FIRST_US   ? PAUSE_FIRST_US
                     : hold->pause_us * 2 > PAUSE_LONGEST_US ? PAUSE_LONGEST_US
                                                             : hold->pause_us * 2;
    if (hold->is_told || clock_monotonic_us(&batch->engine->clock) < request->give_up_us)
        return CAIRN_OK;
    return REFUSE(request, CAIRN_E_BUSY, "the instance is stopped; %lld children will be told",
                  (long long)all);
}

/* ---- after a commit ------------------------------------------------------------------------- */

bool hold_after(const struct local_engine *engine, struct request *request)
{
    struct hold *hold = &request->hold;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    if (hold->is_again && now_us < request->give_up_us) {
        hold->pause_us = PAUSE_FIRST_US;
        request->code = CAIRN_OK;
        return true;
    }
    if (request->code)
        return false;
    if (!hold->is_held && hold->count)
        hold->left = INT64_MAX;
    if (hold->is_foreign && !engine->clock.is_virtual)
        hold->answer_us = now_us + KNOWN_FOR_US + 1; /* up to that time, and then no more */
    hold->is_held |= hold->count || hold->answer_us;
    return request_is_open(request) || hold->answer_us > now_us;
}

/* Without threads and with a virtual clock nobody moves the time that it would wait for. */
static bool can_wait(const struct local_engine *engine)
{
    return engine->has_threads || !engine->clock.is_virtual;
}

static void let_look(struct local_engine *engine, struct request *request)
{
    queue_push(&engine->writes, request);
    committer_wake(engine);
}

void held_add(struct local_engine *engine, struct request *request,
              struct request_queue *ret_done)
{
    struct hold *hold = &request->hold;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    bool must_look = hold->is_again || request_is_open(request);
    hold->look_us = must_look ? now_us + hold->pause_us : hold->answer_us;
    if (unwanted_since(engine, request)) {
        request->code = fail(&request->error, CAIRN_E_CLOSED, "the caller has gone");
        queue_push(ret_done, request);
    } else if (hold->look_us > now_us && can_wait(engine)) {
        queue_push(&engine->held, request);
        if (engine->committer_count > 1)
            pthread_cond_broadcast(&engine->write_work); /* the first looks after them */
    } else if (must_look) {
        let_look(engine, request);
    } else {
        queue_push(ret_done, request);
    }
}

int64_t held_next_us(const struct local_engine *engine)
{
    int64_t next_us = INT64_MAX;
    for (const struct request *at = engine->held.first; at; at = at->next)
        if (at->hold.look_us < next_us)
            next_us = at->hold.look_us;
    return next_us;
}

void held_run(struct local_engine *engine, struct request_queue *ret_done)
{
    struct request_queue rest = {0};
    struct request *request;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    if (!engine->held.count)
        return;
    while ((request = queue_pop(&engine->held)) != NULL) {
        if (request->hold.look_us > now_us)
            queue_push(&rest, request);
        else if (request->hold.is_again || request_is_open(request))
            let_look(engine, request);
        else
            queue_push(ret_done, request);
    }
    engine->held = rest;
}
