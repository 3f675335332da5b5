/* engine/batch_claim.c - who gets which tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "core/pattern.h"
#include "core/rows.h"
#include "engine/batch.h"

#include <string.h>

bool request_is_claiming(const struct request *request)
{
    return request->op == OP_CLAIM ||
           (request->op == OP_REPORT && request->in.report.is_claiming) ||
           (request->op == OP_COMMIT && request->in.commit.is_claiming);
}

const cairn_claim_options *request_claim(const struct request *request)
{
    switch (request->op) {
    case OP_CLAIM:
        return &request->in.claim;
    case OP_COMMIT:
        return &request->in.commit.claim;
    default:
        return &request->in.report.claim;
    }
}

/* ---- the registry's word --------------------------------------------------------------------
 */

/* Naming a type that another runtime owns is a mistake worth telling; a prefix just passes it
 * by. */
cairn_code batch_check_runtime(struct batch *batch, struct request *request,
                               cairn_error *reterr)
{
    const cairn_claim_options *claim = request_claim(request);
    size_t count = claim->type_count + claim->function_count;
    for (size_t i = 0; claim->runtime && i < count; i++) {
        struct registry_row entry;
        bool is_type = i < claim->type_count;
        const char *name =
            is_type ? claim->types[i] : claim->functions[i - claim->type_count].name;
        if (is_type && pattern_is_prefix(name))
            continue;
        cairn_code code = batch->ops->get_registry(batch->tx, name, &entry, reterr);
        if (code == CAIRN_E_NOT_FOUND)
            continue;
        if (code)
            return code;
        if (strcmp(entry.runtime, claim->runtime) == 0)
            continue;
        request->code =
            fail(&request->error, CAIRN_E_WRONG_RUNTIME,
                 "runtime \"%.64s\" cannot claim type \"%.64s\": it belongs to \"%.64s\"",
                 claim->runtime, name, entry.runtime);
        fail_hint(&request->error, request->code,
                  "change the owner with: cairn registry set %.128s --runtime %.64s", name,
                  claim->runtime);
        return CAIRN_OK;
    }
    return CAIRN_OK;
}

/* ---- claims that would find nothing ---------------------------------------------------------
 */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_code(const cairn_function_code *a, const cairn_function_code *b)
{
    return a->version == b->version && a->from_version == b->from_version &&
           strcmp(a->name, b->name) == 0;
}

static bool is_same_claim(const cairn_claim_options *a, const cairn_claim_options *b)
{
    if (a->type_count != b->type_count || a->function_count != b->function_count ||
        !is_same_text(a->runtime, b->runtime))
        return false;
    for (size_t i = 0; i < a->function_count; i++)
        if (!is_same_code(&a->functions[i], &b->functions[i]))
            return false;
    for (size_t i = 0; i < a->type_count; i++)
        if (strcmp(a->types[i], b->types[i]) != 0)
            return false;
    return true;
}

/* All that a claim names: types, then functions. */
static size_t named_count(const cairn_claim_options *claim)
{
    return claim->type_count + claim->function_count;
}

static const char *named_at(const cairn_claim_options *claim, size_t index)
{
    return index < claim->type_count ? claim->types[index]
                                     : claim->functions[index - claim->type_count].name;
}

/* Whether there could be a task that both would be given. */
static bool is_overlapping(const cairn_claim_options *a, const cairn_claim_options *b)
{
    for (size_t i = 0; i < named_count(a); i++)
        for (size_t k = 0; k < named_count(b); k++)
            if (pattern_overlaps(named_at(a, i), named_at(b, k)))
                return true;
    return false;
}

/* When many workers wait for the same types and one job comes, only the first need ask. */
static bool is_exhausted(const struct batch *batch, const cairn_claim_options *claim,
                         bool is_steps)
{
    for (const struct exhausted_claim *dry = batch->dry; dry; dry = dry->next)
        if (dry->is_steps == is_steps && is_same_claim(dry->claim, claim))
            return true;
    return false;
}

static cairn_code note_exhausted(struct batch *batch, const cairn_claim_options *claim,
                                 bool is_steps, cairn_error *reterr)
{
    struct exhausted_claim *dry = arena_alloc(&batch->arena, sizeof *dry);
    if (!dry)
        return fail_memory(reterr);
    *dry = (struct exhausted_claim){.claim = claim, .is_steps = is_steps, .next = batch->dry};
    batch->dry = dry;
    return CAIRN_OK;
}

/* ---- claiming -------------------------------------------------------------------------------
 */

static cairn_code note_claimed(struct batch *batch, const cairn_claim_options *claim,
                               const struct job_row *row, cairn_error *reterr)
{
    const char *data;
    struct event_facts facts = {.worker = claim->worker, .attempt = row->attempt + 1};
    cairn_code code = event_data(batch, &facts, &data, reterr);
    /* A claimed task starts at once, so both are written here (docs/decisions/0005). */
    if (!code)
        code = batch_add_event(batch, row->id, EVENT_LEASED, data, reterr);
    if (!code)
        code = batch_add_event(batch, row->id, EVENT_STARTED, data, reterr);
    batch_note_due(batch, row->lease_until_us + 1);
    batch->tally.claimed++;
    return code;
}

static void row_to_task(const struct job_row *row, const char *token, cairn_task *ret_task)
{
    *ret_task = (cairn_task){
        .id = row->id,
        .token = token,
        .kind = task_kind_name(TASK_JOB),
        .kind_code = CAIRN_TASK_JOB,
        .type = row->type,
        .input = row->payload,
        .key = row->key,
        .attempt = row->attempt + 1,
        .max_attempts = row->max_attempts,
        .lease_until_us = row->lease_until_us,
    };
}

/* The rows go straight into the request's arena, where its answer lives. */
static cairn_code take_rows(struct batch *batch, struct request *request, struct job_row *rows,
                            size_t room, size_t *ret_count, bool *ret_is_new,
                            cairn_error *reterr)
{
    const cairn_claim_options *claim = request_claim(request);
    struct job_claim wanted = {
        .worker = claim->worker,
        .token = request->token,
        .patterns = claim->types,
        .pattern_count = claim->type_count,
        .runtime = claim->runtime,
        .lease_until_us = instant_add(batch->tx->now_us, claim->lease_ms * US_PER_MS),
    };
    *ret_is_new = !request->was_unsure;
    if (request->was_unsure) /* what an earlier try took, if it was committed after all */
        return batch->ops->find_claimed(batch->tx, claim->worker, request->token, rows, room,
                                        ret_count, reterr);
    return batch->ops->claim_jobs(batch->tx, &wanted, rows, room, ret_count, reterr);
}

static cairn_code claim_jobs(struct batch *batch, struct request *request, size_t room,
                             cairn_task *ret_tasks, size_t *ret_count, cairn_error *reterr)
{
    const cairn_claim_options *claim = request_claim(request);
    size_t count = 0;
    bool is_new;
    struct job_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = take_rows(batch, request, rows, room, &count, &is_new, reterr);
    batch->tx->arena = arena;
    for (size_t i = 0; i < count && !code; i++) {
        row_to_task(&rows[i], request->token, &ret_tasks[i]);
        if (is_new)
            code = note_claimed(batch, claim, &rows[i], reterr);
    }
    *ret_count = count;
    return code;
}

/* What one kind of tasks brings to a claim. */
struct share {
    cairn_code (*claim)(struct batch *batch, struct request *request, size_t room,
                        cairn_task *ret_tasks, size_t *ret_count, cairn_error *reterr);
    bool is_steps;
    cairn_task *tasks;
    size_t count;
};

static cairn_code bring(struct batch *batch, struct request *request, struct share *share,
                        size_t room, size_t *ret_more, cairn_error *reterr)
{
    *ret_more = 0;
    cairn_code code =
        share->claim(batch, request, room, share->tasks + share->count, ret_more, reterr);
    share->count += *ret_more;
    return code;
}

/* Asks for one kind, unless it is known that there is nothing. */
static cairn_code ask(struct batch *batch, struct request *request, struct share *share,
                      size_t room, cairn_error *reterr)
{
    const cairn_claim_options *claim = request_claim(request);
    size_t more;
    if (room == 0 || is_exhausted(batch, claim, share->is_steps))
        return CAIRN_OK;
    cairn_code code = bring(batch, request, share, room, &more, reterr);
    return code || more == room ? code : note_exhausted(batch, claim, share->is_steps, reterr);
}

/* Each kind gets half, and what the other leaves: so the first to be asked may be asked again. */
static cairn_code claim_halves(struct batch *batch, struct request *request,
                               struct share *first, struct share *second, size_t half,
                               cairn_error *reterr)
{
    size_t max = request_claim(request)->max;
    cairn_code code = ask(batch, request, first, half, reterr);
    if (!code)
        code = ask(batch, request, second, max - first->count, reterr);
    if (!code && first->count == half)
        code = ask(batch, request, first, max - first->count - second->count, reterr);
    return code;
}

/* All that an earlier try of this claim took. */
static cairn_code find_again(struct batch *batch, struct request *request, struct share *jobs,
                             struct share *steps, cairn_error *reterr)
{
    size_t max = request_claim(request)->max, more;
    cairn_code code = bring(batch, request, jobs, max, &more, reterr);
    if (!code && jobs->count < max)
        code = bring(batch, request, steps, max - jobs->count, &more, reterr);
    return code;
}

static size_t alternate(const struct share *first, const struct share *second,
                        cairn_task *tasks)
{
    size_t count = 0;
    for (size_t i = 0; i < first->count || i < second->count; i++) {
        if (i < first->count)
            tasks[count++] = first->tasks[i];
        if (i < second->count)
            tasks[count++] = second->tasks[i];
    }
    return count;
}

/* Whose turn it is, for claims like this one: others must not change it, since claims that have
 * nothing to do with each other may be answered in any order. */
static bool *turn_of(struct committer *committer, const cairn_claim_options *claim)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < named_count(claim); i++)
        for (const char *at = named_at(claim, i); *at; at++)
            hash = (hash ^ (unsigned char)*at) * 16777619u;
    for (const char *at = claim->runtime; at && *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return &committer->is_steps_turn[hash % TURNS];
}

/* An odd number of tasks: the other kind begins the next time. */
static void note_turn(bool *is_steps_turn, size_t count)
{
    if (count % 2)
        *is_steps_turn = !*is_steps_turn;
}

/* Jobs and steps alternate while both have work.  Whose turn it is gets the odd one; asked first is
 * who brought less the last time: of a kind without work the question is cheap, and the other can
 * then bring all in one. */
static cairn_code claim_for(struct batch *batch, struct request *request, cairn_error *reterr)
{
    const cairn_claim_options *claim = request_claim(request);
    struct committer *committer = batch->committer;
    struct share jobs = {.claim = claim_jobs};
    struct share steps = {.claim = claim_take_steps, .is_steps = true};
    bool *is_steps_turn = turn_of(committer, claim);
    struct share *turn = *is_steps_turn ? &steps : &jobs;
    struct share *other = *is_steps_turn ? &jobs : &steps;
    jobs.tasks = arena_array(&batch->arena, claim->max, sizeof *jobs.tasks);
    steps.tasks = arena_array(&batch->arena, claim->max, sizeof *steps.tasks);
    cairn_task *tasks = arena_array(&request->arena, claim->max, sizeof *tasks);
    if (!jobs.tasks || !steps.tasks || !tasks)
        return fail_memory(reterr);
    if (!request->token[0])
        token_make(&committer->rng, request->token);
    if (request->was_unsure) {
        cairn_code code = find_again(batch, request, &jobs, &steps, reterr);
        size_t found = code ? 0 : alternate(&jobs, &steps, tasks);
        request->out.page = (struct page_output){.items = tasks, .count = found};
        if (code || found)
            return code;
        request->was_unsure = false; /* it was not committed */
    }

    struct share *few = committer->has_few_steps ? &steps : &jobs;
    struct share *many = committer->has_few_steps ? &jobs : &steps;
    size_t half = (claim->max + (few == turn)) / 2;
    cairn_code code = claim_halves(batch, request, few, many, half, reterr);
    if (code)
        return code;
    size_t count = alternate(turn, other, tasks);
    note_turn(is_steps_turn, count);
    if (jobs.count != steps.count)
        committer->has_few_steps = steps.count < jobs.count;
    request->out.page = (struct page_output){.items = tasks, .count = count};
    return CAIRN_OK;
}

/* ---- claims that are alike ------------------------------------------------------------------ */

/* A commit stays short, however many claims there are. */
enum { TOGETHER_TASKS_MAX = 1000 };

/* Whether a request's claim is still to be made; one whose caller has gone is refused. */
static bool is_claim_open(struct request *request)
{
    if (request->code || !request_is_claiming(request) || request->out.page.tasks)
        return false;
    if (!request->is_wanted || request->is_wanted(request))
        return true;
    request->code = fail(&request->error, CAIRN_E_CLOSED, "the caller has gone");
    return false;
}

static bool may_go_together(const struct request *a, const struct request *b)
{
    return !b->was_unsure && request_claim(a)->lease_ms == request_claim(b)->lease_ms &&
           is_same_claim(request_claim(a), request_claim(b));
}

static cairn_code add_share(struct batch *batch, struct request *request,
                            struct claim_share *ret_share, cairn_error *reterr)
{
    size_t room = request_claim(request)->max;
    *ret_share = (struct claim_share){
        .request = request,
        .room = room,
        .tasks = arena_array(&request->arena, room, sizeof(cairn_task)),
    };
    if (!request->token[0])
        token_make(&batch->committer->rng, request->token);
    return ret_share->tasks ? CAIRN_OK : fail_memory(reterr);
}

/* There are no jobs, so nobody has to choose: this claim and those like it that follow are one
 * question for steps.  None of them overtakes another claim that could want the same tasks. */
static cairn_code claim_together(struct batch *batch, struct request *first,
                                 cairn_error *reterr)
{
    size_t count = 0, room = 0;
    struct claim_share *shares =
        arena_array(&batch->arena, batch->requests->count, sizeof *shares);
    if (!shares)
        return fail_memory(reterr);
    cairn_code code = add_share(batch, first, &shares[count++], reterr);
    room = shares->room;
    for (struct request *at = first->next; at && !code && room < TOGETHER_TASKS_MAX;
         at = at->next) {
        if (!request_is_claiming(at) || !is_claim_open(at))
            continue;
        if (!may_go_together(first, at)) {
            if (is_overlapping(request_claim(first), request_claim(at)))
                break;
            continue;
        }
        code = add_share(batch, at, &shares[count], reterr);
        room += shares[count++].room;
    }
    if (!code)
        code = claim_take_steps_together(batch, shares, count, reterr);
    bool is_all = true;
    for (size_t i = 0; i < count && !code; i++) {
        shares[i].request->out.page =
            (struct page_output){.items = shares[i].tasks, .count = shares[i].count};
        is_all &= shares[i].count == shares[i].room;
        note_turn(turn_of(batch->committer, request_claim(first)), shares[i].count);
    }
    return code || is_all ? code : note_exhausted(batch, request_claim(first), true, reterr);
}

static cairn_code claim_one(struct batch *batch, struct request *request, cairn_error *reterr)
{
    const cairn_claim_options *claim = request_claim(request);
    bool is_without_jobs =
        !request->was_unsure && (claim->type_count == 0 || is_exhausted(batch, claim, false));
    if (is_without_jobs && is_exhausted(batch, claim, true))
        return CAIRN_OK;
    if (!is_claim_open(request))
        return CAIRN_OK;
    return is_without_jobs ? claim_together(batch, request, reterr)
                           : claim_for(batch, request, reterr);
}

cairn_code batch_claim(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for_each_request (request, batch) {
        if (!request->code && request_is_claiming(request))
            request->out.page = (struct page_output){0};
    }
    for_each_request (request, batch) {
        if (!code && !request->code && request->op == OP_CLAIM)
            code = batch_check_runtime(batch, request, reterr);
    }
    for_each_request (request, batch) {
        if (!code && !request->code && request_is_claiming(request))
            code = claim_one(batch, request, reterr);
    }
    return code;
}
