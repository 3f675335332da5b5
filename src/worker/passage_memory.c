/* worker/passage_memory.c - what a function remembers: steps by key, and signals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/passage.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---------------------------------------------------------------------------------- */

/* The key of that text, made if it is new; NULL: memory ran out. */
static struct key *obtain(struct cairn_passage *passage, const char *text)
{
    struct key *key = id_map_find(&passage->keys, text);
    if (key)
        return key;
    key = arena_zalloc(&passage->arena, sizeof *key);
    char *copy = arena_strdup(&passage->arena, text);
    if (!key || !copy || !id_map_add(&passage->keys, &passage->arena, copy, key))
        return NULL;
    key->text = copy;
    return key;
}

/* The key of a step that is remembered. */
static struct key *find_key(const struct cairn_passage *passage, const cairn_step *row)
{
    return id_map_find(&passage->keys, row->name);
}

/* The second use of "mail" is "mail#2". */
static struct key *next_use(struct cairn_passage *passage, const char *text)
{
    struct key *first = obtain(passage, text);
    if (!first || ++first->uses == 1)
        return first;
    char *numbered = arena_printf(&passage->arena, "%s#%u", text, (unsigned)first->uses);
    return numbered ? obtain(passage, numbered) : NULL;
}

cairn_code memory_fill(struct cairn_passage *passage)
{
    const cairn_memory *memory = passage->task.memory;
    passage->revision = memory->revision;
    passage->places = memory->places > 1 ? memory->places : 1;
    passage->has_gaps = (size_t)(passage->places - 1) > memory->step_count;
    for (size_t i = 0; i < memory->step_count; i++) {
        struct key *key = obtain(passage, memory->steps[i]->name);
        if (!key)
            return CAIRN_E_OUT_OF_MEMORY;
        key->row = memory->steps[i];
        if (!passage->frontier || key->row->seq >= passage->frontier->row->seq)
            passage->frontier = key;
        if (key->row->seq >= passage->places)
            passage->places = key->row->seq + 1;
        passage->unvisited++;
    }
    return memory_replace_events(passage, memory->events, memory->event_count);
}

int32_t memory_past_effects(const struct cairn_passage *passage, const char *key)
{
    const cairn_memory *memory = passage->task.memory;
    int32_t effect = memory->effect;
    for (size_t i = 0; i < memory->effect_count; i++)
        if (strcmp(memory->effects[i]->step, key) == 0)
            effect = memory->effects[i]->effect;
    return effect > 1 ? effect - 1 : 0;
}

bool memory_is_passed(const struct cairn_passage *passage)
{
    return passage->has_new || !passage->frontier || passage->frontier->is_visited;
}

/* ---- matching ------------------------------------------------------------------------------ */

/* The words of kinds, as the calls are named. */
static const char *kind_word(const char *kind)
{
    if (strcmp(kind, "task") == 0)
        return "step";
    return strcmp(kind, "value") == 0 ? "remembered value" : kind;
}

static const cairn_step *first_unvisited(const struct cairn_passage *passage)
{
    const cairn_memory *memory = passage->task.memory;
    for (size_t i = 0; i < memory->step_count; i++)
        if (!find_key(passage, memory->steps[i])->is_visited)
            return memory->steps[i];
    return NULL;
}

static cairn_code mismatch(struct cairn_passage *passage, const cairn_step *row,
                           const char *key, const char *kind)
{
    passage->over_step = row->name;
    return passage_over(
        passage, CAIRN_E_VERSION_MISMATCH,
        "remembered is the %s \"%.90s\", but the code asks for the %s \"%.90s\"",
        kind_word(row->kind), row->name, kind_word(kind), key);
}

/* The new code was accepted: the row is deleted, and its key may be remembered again. */
static cairn_code forget(struct cairn_passage *passage, struct key *key)
{
    const cairn_step *row = key->row;
    key->row = NULL;
    if (!buffer_step(passage, key->text, row->kind, "forgotten", row->seq))
        return passage->over;
    return CAIRN_OK;
}

cairn_code memory_forget_retries(struct cairn_passage *passage)
{
    const cairn_memory *memory = passage->task.memory;
    bool may_stray = memory->is_forced || passage->has_gaps;
    for (size_t i = 0; may_stray && i < memory->step_count; i++) {
        struct key *key = find_key(passage, memory->steps[i]);
        bool is_left = key->row && !key->is_visited && strcmp(key->row->status, "ready") == 0;
        if (is_left && forget(passage, key))
            return CAIRN_E_OUT_OF_MEMORY;
    }
    return CAIRN_OK;
}

/* Nothing is done under a key that cannot be kept. */
static cairn_code too_long(struct cairn_passage *passage, const char *key)
{
    fail(&passage->last, CAIRN_E_TOO_LARGE, "key \"%.60s...\" is too long", key);
    return fail_detail(&passage->last, CAIRN_E_TOO_LARGE, "%zu bytes, %zu are allowed",
                       strlen(key), passage->max_name);
}

cairn_code memory_check_complete(struct cairn_passage *passage)
{
    if (!passage->unvisited || passage->task.memory->is_forced || passage->has_gaps)
        return CAIRN_OK;
    const cairn_step *row = first_unvisited(passage);
    size_t others = passage->unvisited - 1;
    char more[40] = "";
    if (others)
        snprintf(more, sizeof more, ", nor for %zu more", others);
    passage->over_step = row->name;
    return passage_over(
        passage, CAIRN_E_VERSION_MISMATCH,
        "remembered is the %s \"%.90s\", but the code has completed without asking for it%s",
        kind_word(row->kind), row->name, more);
}

static cairn_code too_many(struct cairn_passage *passage, const struct key *key)
{
    fail(&passage->last, CAIRN_E_TOO_LARGE, "the function has too many steps");
    return fail_detail(&passage->last, CAIRN_E_TOO_LARGE,
                       "%d are allowed, \"%.90s\" is one more", FUNCTION_STEPS_MAX, key->text);
}

static void visit(struct cairn_passage *passage, struct key *key)
{
    if (key->row && !key->is_visited)
        passage->unvisited--;
    key->is_visited = true;
}

/* A new place stays free.  By that gap the next run knows that the code may come by here again, and may
 * then take another way. */
void memory_unask(struct cairn_passage *passage, const char *text)
{
    size_t len = strcspn(text, "#");
    char *base = arena_strndup(&passage->arena, text, len);
    struct key *key = id_map_find(&passage->keys, text);
    struct key *first = base ? id_map_find(&passage->keys, base) : NULL;
    uint32_t use = text[len] ? (uint32_t)strtoul(text + len + 1, NULL, 10) : 1;
    if (first && first->uses == use) /* the latest, so that the next one is this one again */
        first->uses--;
    if (key->row && key->is_visited)
        passage->unvisited++;
    key->is_visited = false;
    passage->has_gaps = true;
}

cairn_code memory_ask(struct cairn_passage *passage, const char *text, const char *kind,
                      struct asked *ret_asked)
{
    bool is_forced = passage->task.memory->is_forced;
    TRY(passage_check_key(passage, text));
    struct key *key = next_use(passage, text);
    if (!key)
        return passage_no_memory(passage);
    if (strlen(key->text) > passage->max_name)
        return too_long(passage, key->text);
    bool is_match = key->row && strcmp(key->row->kind, kind) == 0;
    if (key->row && !is_match && !is_forced)
        return mismatch(passage, key->row, key->text, kind);
    /* After a retry has forgotten some, the code may take another way than the one remembered. */
    if (!key->row && passage->unvisited && !is_forced && !passage->has_gaps)
        return mismatch(passage, first_unvisited(passage), key->text, kind);

    bool is_new = !key->row || !is_match;
    if (is_new &&
        passage->places > FUNCTION_STEPS_MAX) /* nothing is done that cannot be kept */
        return too_many(passage, key);

    visit(passage, key);
    if (key->row && !is_match && forget(passage, key))
        return passage->over;
    *ret_asked = (struct asked){
        .key = key->text, .row = key->row, .seq = key->row ? key->row->seq : passage->places++};
    passage->has_new |= !key->row;
    return CAIRN_OK;
}

/* ---- signals ------------------------------------------------------------------------------- */

static bool was_taken(const struct cairn_passage *passage, const char *id)
{
    for (size_t i = 0; i < passage->taken.count; i++)
        if (strcmp(passage->taken.items[i], id) == 0)
            return true;
    return false;
}

/* The texts of those that are kept must live as long as the run. */
cairn_code memory_replace_events(struct cairn_passage *passage,
                                 const cairn_received *const *events, size_t count)
{
    bool *is_taken = arena_array(&passage->arena, count, sizeof *is_taken);
    if (!is_taken)
        return CAIRN_E_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        is_taken[i] = was_taken(passage, events[i]->id);
    passage->events = events;
    passage->event_count = count;
    passage->is_taken = is_taken;
    return CAIRN_OK;
}

cairn_code memory_take_event(struct cairn_passage *passage, const char *event,
                             const cairn_received **ret_event)
{
    *ret_event = NULL;
    for (size_t i = 0; i < passage->event_count; i++) {
        if (passage->is_taken[i] || strcmp(passage->events[i]->event, event) != 0)
            continue;
        const char **taken = list_add(&passage->arena, &passage->taken);
        if (!taken)
            return passage_no_memory(passage);
        *taken = passage->events[i]->id;
        passage->is_taken[i] = true;
        *ret_event = passage->events[i];
        break;
    }
    return CAIRN_OK;
}
