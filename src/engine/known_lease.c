/* engine/known_lease.c - leases of functions, as this engine has last written or read them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/known_lease.h"

#include "base/hash.h"
#include "base/mem.h"
#include "engine/batch.h"

#include <stdio.h>
#include <string.h>

/* A lease may be in any of the WAYS slots that its id leads to. */
enum { WAYS = 8, SLOTS = 512 * WAYS, WORKER_TEXT = 128 };

struct known_lease {
    uint64_t turn; /* of the latest change that began or ended; no two slots have the same */
    char instance_id[ID_TEXT];
    char worker[WORKER_TEXT];
    char token[TOKEN_TEXT];
    char given[TOKEN_TEXT]; /* by this engine: the latest */
    enum step_stop stop;
    int64_t locked_until_us;
    struct moment moment;
    int64_t now_us;
    bool is_known;
    struct kept_run *run; /* NULL: not kept */
};

/* ---- rows that are kept --------------------------------------------------------------------- */

/* Of a run with more text than this the rows are read again. */
enum { KEPT_TEXT_MAX = 8 * 1024 };

void kept_run_free(struct kept_run *run)
{
    if (!run)
        return;
    arena_done(&run->arena);
    mem_free(run);
}

static size_t weigh(const struct row_type *type, const void *row)
{
    size_t bytes = 0;
    for (size_t i = 0; i < type->count; i++) {
        const char *text =
            column_is_text(&type->columns[i]) ? member_text(&type->columns[i], row) : NULL;
        bytes += text ? strlen(text) : 0;
    }
    return bytes;
}

/* version: if the row was written and not read.  NULL: it is not worth it, or memory ran out. */
static struct kept_run *keep(const struct lease_view *view, int64_t version)
{
    if (view->instance && view->instance->row_version)
        version = view->instance->row_version;
    if (!view->instance || !version ||
        weigh(&instance_row_type, view->instance) + weigh(&step_row_type, view->row) >
            KEPT_TEXT_MAX)
        return NULL;
    struct kept_run *run = mem_zalloc(sizeof *run);
    if (!run)
        return NULL;
    run->instance = *view->instance;
    run->runner = *view->row;
    run->version = version;
    run->instance.row_version = 0; /* whoever uses it writes it */
    if (row_keep_texts(&instance_row_type, &run->instance, &run->arena) &&
        row_keep_texts(&step_row_type, &run->runner, &run->arena))
        return run;
    kept_run_free(run);
    return NULL;
}

void known_leases_init(struct known_leases *known)
{
    pthread_mutex_init(&known->lock, NULL);
}

void known_leases_done(struct known_leases *known)
{
    for (size_t i = 0; known->slots && i < SLOTS; i++)
        kept_run_free(known->slots[i].run);
    pthread_mutex_destroy(&known->lock);
    mem_free(known->slots);
}

struct moment moment_of(struct local_engine *engine)
{
    return (struct moment){.wall_us = clock_now_us(&engine->clock),
                           .monotonic_us = clock_monotonic_us(&engine->clock)};
}

/* The wall clock may be set; nothing but a virtual clock decides how much virtual time has passed. */
static int64_t passed_since(struct local_engine *engine, const struct moment *then)
{
    struct moment now = moment_of(engine);
    int64_t wall_us = now.wall_us - then->wall_us;
    int64_t monotonic_us = now.monotonic_us - then->monotonic_us;
    return engine->clock.is_virtual || wall_us > monotonic_us ? wall_us : monotonic_us;
}

/* ---- slots, with the lock held -------------------------------------------------------------- */

static struct known_lease *first_way(const struct known_leases *known, const char *instance_id)
{
    return &known->slots[hash_text(HASH_START, instance_id) % (SLOTS / WAYS) * WAYS];
}

/* NULL: none is the lease's. */
static struct known_lease *slot_of(const struct known_leases *known, const char *instance_id)
{
    struct known_lease *slot = known->slots ? first_way(known, instance_id) : NULL;
    for (int i = 0; slot && i < WAYS; i++)
        if (strcmp(slot[i].instance_id, instance_id) == 0)
            return &slot[i];
    return NULL;
}

static void forget(struct known_leases *known, struct known_lease *slot)
{
    slot->turn = ++known->turns;
    slot->is_known = false;
    kept_run_free(slot->run);
    slot->run = NULL;
}

/* The one that it has, or the one that changed longest ago.  NULL: memory ran out. */
static struct known_lease *take_slot(struct known_leases *known, const char *instance_id)
{
    struct known_lease *slot = slot_of(known, instance_id);
    if (!known->slots)
        known->slots = mem_zalloc(SLOTS * sizeof *known->slots);
    if (slot || !known->slots || strlen(instance_id) >= ID_TEXT)
        return slot;
    struct known_lease *first = slot = first_way(known, instance_id);
    for (int i = 1; i < WAYS; i++)
        if (first[i].turn < slot->turn)
            slot = &first[i];
    forget(known, slot);
    slot->given[0] = '\0';
    strcpy(slot->instance_id, instance_id);
    return slot;
}

struct kept_run *known_run_take(struct known_leases *known, const char *instance_id)
{
    struct kept_run *run = NULL;
    pthread_mutex_lock(&known->lock);
    struct known_lease *slot = slot_of(known, instance_id);
    if (slot) {
        run = slot->run;
        slot->run = NULL;
    }
    pthread_mutex_unlock(&known->lock);
    return run;
}

/* ---- learning ------------------------------------------------------------------------------- */

void known_leases_begin(struct local_engine *engine, struct lease_view *views, size_t count,
                        bool is_change)
{
    struct known_leases *known = &engine->known_leases;
    if (count == 0)
        return;
    pthread_mutex_lock(&known->lock);
    for (size_t i = 0; i < count; i++) {
        struct known_lease *slot = take_slot(known, views[i].instance_id);
        if (slot && is_change)
            forget(known, slot);
        views[i].turn = slot ? slot->turn : 0;
    }
    pthread_mutex_unlock(&known->lock);
}

static bool is_learnable(const struct step_row *row)
{
    return row && row->kind == KIND_FUNCTION && row->token && row->locked_by &&
           strlen(row->locked_by) < WORKER_TEXT && strlen(row->token) < TOKEN_TEXT;
}

static void learn(struct known_lease *slot, const struct step_row *row,
                  const struct moment *moment, int64_t now_us)
{
    if (slot->is_known && slot->moment.monotonic_us > moment->monotonic_us)
        return;
    strcpy(slot->worker, row->locked_by);
    strcpy(slot->token, row->token);
    slot->stop = row->stop;
    slot->locked_until_us = row->locked_until_us;
    slot->moment = *moment;
    slot->now_us = now_us;
    slot->is_known = true;
}

void known_leases_end(struct local_engine *engine, const struct lease_view *views, size_t count,
                      bool is_change, bool is_good, const struct moment *moment, int64_t now_us,
                      int64_t version)
{
    struct known_leases *known = &engine->known_leases;
    for (size_t i = 0; i < count; i++) {
        bool is_new = is_good && is_learnable(views[i].row);
        struct kept_run *run = is_new ? keep(&views[i], version) : NULL;
        pthread_mutex_lock(&known->lock);
        struct known_lease *slot = slot_of(known, views[i].instance_id);
        bool is_last = slot && slot->turn == views[i].turn;
        /* What a reader has read during the commit may be what was before it. */
        if (slot && is_change)
            forget(known, slot);
        if (is_last && is_new) {
            learn(slot, views[i].row, moment, now_us);
            struct kept_run *before = slot->run;
            slot->run = run ? run : before;
            run = run ? before : NULL;
        }
        pthread_mutex_unlock(&known->lock);
        kept_run_free(run);
    }
}

void known_lease_is_given(struct local_engine *engine, const char *instance_id,
                          const char *token)
{
    struct known_leases *known = &engine->known_leases;
    pthread_mutex_lock(&known->lock);
    struct known_lease *slot = take_slot(known, instance_id);
    if (slot)
        snprintf(slot->given, sizeof slot->given, "%s", token);
    pthread_mutex_unlock(&known->lock);
}

bool known_lease_is_ours(struct local_engine *engine, const char *instance_id,
                         const char *token)
{
    struct known_leases *known = &engine->known_leases;
    pthread_mutex_lock(&known->lock);
    const struct known_lease *slot = slot_of(known, instance_id);
    bool is_ours = slot && strcmp(slot->given, token) == 0;
    pthread_mutex_unlock(&known->lock);
    return is_ours;
}

/* ---- answering ------------------------------------------------------------------------------ */

static bool copy_known(struct local_engine *engine, const char *instance_id,
                       struct known_lease *ret_lease)
{
    struct known_leases *known = &engine->known_leases;
    pthread_mutex_lock(&known->lock);
    const struct known_lease *slot = slot_of(known, instance_id);
    bool is_known = slot && slot->is_known && strcmp(slot->given, slot->token) == 0;
    if (is_known)
        *ret_lease = *slot;
    pthread_mutex_unlock(&known->lock);
    return is_known;
}

bool known_lease_answer(struct local_engine *engine, struct request *request)
{
    char id[ID_TEXT];
    int32_t place;
    struct known_lease lease;
    cairn_error why;
    if (!step_id_split(request->in.heartbeat.task_id, id, &place) || place != 0 ||
        !copy_known(engine, id, &lease))
        return false;
    int64_t passed_us = passed_since(engine, &lease.moment);
    if (passed_us < 0 || passed_us > KNOWN_FOR_US)
        return false;
    struct flow_step step = {.row = {.kind = KIND_FUNCTION,
                                     .locked_by = lease.worker,
                                     .token = lease.token,
                                     .locked_until_us = lease.locked_until_us,
                                     .stop = lease.stop}};
    cairn_beat beat = request_beat(request);
    heartbeat_answer(request->in.heartbeat.worker, &beat, &step,
                     instant_add(lease.now_us, passed_us), &why);
    if (beat.ret_code)
        return false;
    request_give_beat(request, &beat);
    return true;
}
