/* engine/memories.c - memories of functions that this process has claimed before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/memories.h"

#include "base/mem.h"
#include "core/instance.h"
#include "engine/batch.h"

#include <stdatomic.h>
#include <string.h>

/* Never changed once it is made, so that requests and the cache may share it. */
struct kept_memory {
    atomic_size_t holders; /* the cache, and requests */
    struct arena arena;
    const char *instance_id;
    int64_t revision;
    int32_t before; /* the first place that is not kept */
    cairn_step *steps;
    size_t step_count, bytes;
};

/* ---- texts ---------------------------------------------------------------------------------- */

static bool keep(struct arena *arena, const char **text)
{
    const char *from = *text;
    *text = arena_strdup(arena, from);
    return !from || *text;
}

bool step_keep_texts(struct arena *arena, cairn_step *step)
{
    return keep(arena, &step->id) && keep(arena, &step->name) && keep(arena, &step->kind) &&
           keep(arena, &step->handler) && keep(arena, &step->status) &&
           keep(arena, &step->input) && keep(arena, &step->output) &&
           keep(arena, &step->error) && keep(arena, &step->undo_error) &&
           keep(arena, &step->metadata) && keep(arena, &step->waiting_event) &&
           keep(arena, &step->locked_by);
}

static size_t length(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* What is large; the rest is counted as a constant. */
static size_t weigh(const cairn_step *step)
{
    enum { SHORT_TEXTS = 128 };
    return sizeof *step + SHORT_TEXTS + length(step->name) + length(step->input) +
           length(step->output) + length(step->error) + length(step->metadata);
}

/* ---- holding -------------------------------------------------------------------------------- */

static void let_go(struct kept_memory *kept)
{
    if (atomic_fetch_sub(&kept->holders, 1) > 1)
        return;
    arena_done(&kept->arena);
    mem_free(kept);
}

/* With the lock held. */
static void drop(struct memories *memories, size_t index)
{
    struct kept_memory *kept = memories->items[index];
    memories->bytes -= kept->bytes;
    memories->count--;
    memmove(&memories->items[index], &memories->items[index + 1],
            (memories->count - index) * sizeof *memories->items);
    let_go(kept);
}

static void forget(struct memories *memories, const char *instance_id)
{
    for (size_t i = 0; i < memories->count; i++)
        if (strcmp(memories->items[i]->instance_id, instance_id) == 0) {
            drop(memories, i);
            return;
        }
}

/* In front, since it was used last; others make room. */
static void add(struct memories *memories, struct kept_memory *kept)
{
    forget(memories, kept->instance_id);
    while (memories->count &&
           (memories->count == MEMORIES_MAX || memories->bytes + kept->bytes > MEMORIES_BYTES))
        drop(memories, memories->count - 1);
    memmove(&memories->items[1], &memories->items[0],
            memories->count * sizeof *memories->items);
    memories->items[0] = kept;
    memories->count++;
    memories->bytes += kept->bytes;
}

void memories_init(struct memories *memories)
{
    *memories = (struct memories){.least = MEMORIES_LEAST, .more = MEMORIES_MORE};
    pthread_mutex_init(&memories->lock, NULL);
}

void memories_done(struct memories *memories)
{
    while (memories->count)
        drop(memories, memories->count - 1);
    pthread_mutex_destroy(&memories->lock);
}

void memories_release(struct request *request)
{
    for (size_t i = 0; i < request->known_count; i++)
        let_go(request->known[i]);
    request->known_count = 0;
}

/* ---- before a claim ------------------------------------------------------------------------- */

static cairn_claim_options *claim_of(struct request *request)
{
    switch (request->op) {
    case OP_CLAIM:
        return &request->in.claim;
    case OP_REPORT:
        return request->in.report.is_claiming ? &request->in.report.claim : NULL;
    case OP_COMMIT:
        return request->in.commit.is_claiming ? &request->in.commit.claim : NULL;
    default:
        return NULL;
    }
}

void memories_offer(struct memories *memories, struct request *request)
{
    cairn_claim_options *claim = claim_of(request);
    if (!claim || claim->known_count)
        return;
    pthread_mutex_lock(&memories->lock);
    size_t count = memories->count < MEMORIES_NAMED ? memories->count : MEMORIES_NAMED;
    cairn_known *known = count ? arena_array(&request->arena, count, sizeof *known) : NULL;
    request->known = count ? arena_array(&request->arena, count, sizeof *request->known) : NULL;
    for (size_t i = 0; known && request->known && i < count; i++) {
        struct kept_memory *kept = memories->items[i];
        atomic_fetch_add(&kept->holders, 1);
        request->known[request->known_count++] = kept;
        known[i] = (cairn_known){.size = sizeof *known,
                                 .instance_id = kept->instance_id,
                                 .revision = kept->revision,
                                 .before = kept->before};
    }
    claim->known = known;
    claim->known_count = request->known_count;
    pthread_mutex_unlock(&memories->lock);
}

/* ---- after it ------------------------------------------------------------------------------- */

static const struct kept_memory *find_held(const struct request *request,
                                           const char *instance_id)
{
    for (size_t i = 0; i < request->known_count; i++)
        if (strcmp(request->known[i]->instance_id, instance_id) == 0)
            return request->known[i];
    return NULL;
}

/* What is held, and behind it what came. */
static bool join(struct request *request, cairn_memory *memory, const struct kept_memory *kept)
{
    size_t count = kept->step_count + memory->step_count;
    const cairn_step **steps = arena_array(&request->arena, count, sizeof *steps);
    if (!steps || kept->before != memory->steps_from)
        return false;
    for (size_t i = 0; i < kept->step_count; i++)
        steps[i] = &kept->steps[i];
    for (size_t i = 0; i < memory->step_count; i++)
        steps[kept->step_count + i] = memory->steps[i];
    memory->steps = steps;
    memory->step_count = count;
    memory->steps_from = 1;
    return true;
}

/* How many steps, from the first on, have ended; *ret_before: the place behind them. */
static size_t count_settled(const cairn_memory *memory, int32_t *ret_before)
{
    size_t count = 0;
    *ret_before = memory->places;
    for (; count < memory->step_count; count++)
        if (!step_is_ended((enum step_status)memory->steps[count]->status_code)) {
            *ret_before = memory->steps[count]->seq;
            break;
        }
    return count;
}

/* NULL: memory ran out, or it is too large. */
static struct kept_memory *make(const char *instance_id, const cairn_memory *memory,
                                size_t count, int32_t before)
{
    struct kept_memory *kept = mem_zalloc(sizeof *kept);
    if (!kept)
        return NULL;
    atomic_init(&kept->holders, 1);
    kept->revision = memory->revision;
    kept->before = before;
    kept->instance_id = arena_strdup(&kept->arena, instance_id);
    kept->steps = arena_array(&kept->arena, count, sizeof *kept->steps);
    bool is_good = kept->instance_id && kept->steps;
    for (size_t i = 0; i < count && is_good; i++) {
        kept->steps[i] = *memory->steps[i];
        kept->bytes += weigh(memory->steps[i]);
        is_good =
            kept->bytes <= MEMORIES_BYTES && step_keep_texts(&kept->arena, &kept->steps[i]);
        kept->step_count++;
    }
    if (is_good)
        return kept;
    let_go(kept);
    return NULL;
}

/* Copying is not free, so it is done once for every `more` steps.  known: what was held when
 * the memory came, and is still valid; NULL: none. */
static void keep_memory(struct memories *memories, const char *instance_id,
                        const cairn_memory *memory, const struct kept_memory *known)
{
    int32_t before;
    size_t count = count_settled(memory, &before);
    size_t least = known ? known->step_count + memories->more : memories->least;
    if (known && count < least)
        return;
    struct kept_memory *kept = count < least ? NULL : make(instance_id, memory, count, before);
    pthread_mutex_lock(&memories->lock);
    if (kept)
        add(memories, kept);
    else
        forget(memories, instance_id);
    pthread_mutex_unlock(&memories->lock);
}

static void complete_task(struct memories *memories, struct request *request,
                          const cairn_task *task)
{
    cairn_memory *memory = (cairn_memory *)task->memory; /* the request's own */
    const struct kept_memory *kept = NULL;
    if (!memory)
        return;
    if (memory->steps_from > 1) {
        kept = find_held(request, task->instance_id);
        if (!kept || !join(request, memory, kept))
            return;
    }
    keep_memory(memories, task->instance_id, memory, kept);
}

static bool has_ended(const struct request *request)
{
    enum passage_outcome outcome = request->in.commit.outcome;
    return request->op == OP_COMMIT && (outcome == PASSAGE_COMPLETE || outcome == PASSAGE_FAIL);
}

static void forget_ended(struct memories *memories, const struct request *request)
{
    char id[ID_TEXT];
    int32_t place;
    if (!step_id_split(request->in.commit.task_id, id, &place))
        return;
    pthread_mutex_lock(&memories->lock);
    forget(memories, id);
    pthread_mutex_unlock(&memories->lock);
}

/* A caller that names what it has kept puts the parts together by itself. */
void memories_complete(struct memories *memories, struct request *request)
{
    const cairn_claim_options *claim = claim_of(request);
    if (request->code)
        return;
    if (has_ended(request))
        forget_ended(memories, request);
    if (!claim || claim->known_count != request->known_count)
        return;
    for (size_t i = 0; i < request->out.page.count; i++)
        complete_task(memories, request, &request->out.page.tasks[i]);
}
