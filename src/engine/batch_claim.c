/* engine/batch_claim.c - which claim is given which tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tasks are of two kinds, jobs and steps, in tables of their own.  While both have work, a claim is
 * given both by turns.  So the store is asked up to three times, and each time it is asked for no
 * more than can be handed out.  For a claim of 5 where it is the jobs' turn:
 *
 *                                              9 jobs       1 job        9 jobs       9 jobs
 *      there are                               9 steps      9 steps      1 step       no steps
 *      ---------------------------------------------------------------------------------------
 *      the kind that was scarcer last time     steps        jobs         jobs         steps
 *      1. ask it for its half                  2 of 2       1 of 3       3 of 3       0 of 2
 *      2. ask the other kind for the rest      3 of 3       4 of 4       1 of 2       5 of 5
 *      3. if 1 was filled, ask again           -            -            1 of 1       -
 *      given                                   j s j s j    j s s s s    j s j j j    j j j j j
 *
 * If the number is odd, the kind whose turn it is gets the extra task.  The next turn has the kind of which
 * the claim got less.  A kind that brought less than it was asked for is exhausted: in this batch it is not
 * asked again by claims that ask for the same.  Once one kind is exhausted, equal claims are answered
 * together, by one question for the other kind.
 *
 * So where there is work of one kind only, the other one has the turn: the first claim finds out that there
 * is nothing of it, and all claims of the batch share the next question.
 *
 * Many stores have work of one kind only.  So a kind of which there was nothing is left out for a moment,
 * as if it were exhausted, by claims that the other kind fills.  Only what other processes make in that
 * moment may have to wait for its end: what this process makes ends it.  When the moment is over, a commit
 * that claims of the other kind asks along whether there is something of it now.
 */
#include "engine/workset.h"

#include "base/hash.h"
#include "core/pattern.h"
#include "engine/held.h"
#include "engine/limit.h"

#include <string.h>

/* A commit stays short, however many claims there are. */
enum { TOGETHER_TASKS_MAX = 1000 };

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

size_t claim_name_count(const cairn_claim_options *claim)
{
    return claim->type_count + claim->function_count;
}

const char *claim_name(const cairn_claim_options *claim, size_t index)
{
    return index < claim->type_count ? claim->types[index]
                                     : claim->functions[index - claim->type_count].name;
}

/* ---- demands -------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_demand(const cairn_claim_options *a, const cairn_claim_options *b)
{
    if (a->type_count != b->type_count || a->function_count != b->function_count ||
        !is_same_text(a->runtime, b->runtime))
        return false;
    for (size_t i = 0; i < claim_name_count(a); i++)
        if (strcmp(claim_name(a, i), claim_name(b, i)) != 0)
            return false;
    for (size_t i = 0; i < a->function_count; i++)
        if (a->functions[i].version != b->functions[i].version ||
            a->functions[i].from_version != b->functions[i].from_version)
            return false;
    return true;
}

/* Whether there could be a task that both would be given. */
static bool is_overlapping(const cairn_claim_options *a, const cairn_claim_options *b)
{
    for (size_t i = 0; i < claim_name_count(a); i++)
        for (size_t k = 0; k < claim_name_count(b); k++)
            if (pattern_overlaps(claim_name(a, i), claim_name(b, k)))
                return true;
    return false;
}

/* Other demands must not change whose turn it is, since claims that have nothing to do with each
 * other may be answered in any order. */
static struct claim_habit *find_habit(struct committer *committer,
                                      const cairn_claim_options *claim)
{
    uint32_t hash = HASH_START;
    for (size_t i = 0; i < claim_name_count(claim); i++)
        hash = hash_text(hash, claim_name(claim, i));
    return &committer->habits[hash_text(hash, claim->runtime) % HABITS];
}

static struct demand *known_demand(struct batch *batch, const cairn_claim_options *claim)
{
    struct demand *demand = batch->demands;
    while (demand && !is_same_demand(demand->claim, claim))
        demand = demand->next;
    return demand;
}

cairn_code batch_find_demand(struct batch *batch, struct request *request)
{
    const cairn_claim_options *claim = request_claim(request);
    bool is_final = request->op == OP_CLAIM && claim->wait_ms == 0;
    struct demand *demand = request->demand = known_demand(batch, claim);
    if (demand) {
        demand->is_final |= is_final;
        return CAIRN_OK;
    }
    demand = request->demand = arena_alloc(&batch->arena, sizeof *demand);
    NEED(demand, batch->error);
    *demand = (struct demand){.claim = claim,
                              .is_final = is_final,
                              .is_exhausted[CLAIM_JOBS] = claim->type_count == 0,
                              .habit = find_habit(batch->committer, claim),
                              .none_before = CLAIM_FIRST,
                              .next = batch->demands};
    batch->demands = demand;
    return CAIRN_OK;
}

/* ---- a kind of which there is nothing ----------------------------------------------------------- */

#define EMPTY_LEAST_US (10 * US_PER_MS)
#define EMPTY_MOST_US (200 * US_PER_MS)
enum { EMPTY_COMMITS = 8 };

/* For some commits, where these take long. */
static int64_t empty_us(const struct batch *batch)
{
    int64_t us = batch->commit_us * EMPTY_COMMITS;
    return us < EMPTY_LEAST_US ? EMPTY_LEAST_US : us > EMPTY_MOST_US ? EMPTY_MOST_US : us;
}

int64_t batch_empty_until_us(const struct batch *batch)
{
    return batch->began.wall_us + empty_us(batch);
}

static void note_empty(const struct batch *batch, struct claim_habit *habit,
                       enum claim_kind kind)
{
    habit->empty[kind].until_us = batch_empty_until_us(batch);
    habit->empty[kind].epoch = batch->ready_epochs[kind];
}

/* Whether limits have refused something, and when. */
static void note_refused(const struct batch *batch, const struct demand *demand,
                         enum claim_kind kind)
{
    demand->habit->empty[kind].is_limited = demand->is_limited[kind];
    demand->habit->empty[kind].place_epoch = batch->ready_epochs[EPOCH_PLACES];
}

/* Whether there may be a place since then for what limits have refused. */
static bool is_place_free(const struct batch *batch, const struct claim_habit *habit,
                          enum claim_kind kind)
{
    return habit->empty[kind].is_limited &&
           (batch->ready.is_place ||
            habit->empty[kind].place_epoch != batch->ready_epochs[EPOCH_PLACES]);
}

static bool is_left_out(const struct batch *batch, const struct demand *demand,
                        enum claim_kind kind)
{
    if (demand->is_exhausted[kind])
        return true;
    bool is_made = batch->ready.is_made[kind] || (kind == CLAIM_STEPS && batch->in_hand.count);
    return !is_made && !is_place_free(batch, demand->habit, kind) &&
           demand->habit->empty[kind].epoch == batch->ready_epochs[kind] &&
           batch->began.wall_us < demand->habit->empty[kind].until_us;
}

/* A kind of which there was nothing is not asked for while the other one has work: whether there is something
 * now is asked with the commit, and counts for the next claim.  Only where claims follow each other. */
#define EMPTY_LOOK_US US_PER_SEC

static bool may_look(const struct batch *batch, const struct demand *demand,
                     enum claim_kind kind)
{
    const struct claim_habit *habit = demand->habit;
    int64_t until_us = habit->empty[kind].until_us, now_us = batch->began.wall_us;
    bool is_made = batch->ready.is_made[kind] || (kind == CLAIM_STEPS && batch->in_hand.count);
    return batch->ops->look_for_tasks && !batch->is_alone && !demand->is_final &&
           !demand->is_exhausted[kind] && !is_made && !is_place_free(batch, habit, kind) &&
           until_us && now_us >= until_us && now_us < until_us + EMPTY_LOOK_US &&
           !habit->empty[!kind].until_us &&
           habit->empty[kind].epoch == batch->ready_epochs[kind];
}

/* Unless the claim had to ask for the kind after all. */
static cairn_code look(struct batch *batch, const struct claim_group *group,
                       enum claim_kind kind)
{
    const struct demand *demand = group->shares->request->demand;
    struct step_claim wanted;
    if (batch->look.habit || !may_look(batch, demand, kind))
        return CAIRN_OK;
    batch->look.habit = demand->habit;
    batch->look.kind = kind;
    TRY(claim_want_steps(batch, group, &wanted));
    return STORE(batch, look_for_tasks, &wanted, kind == CLAIM_STEPS, &batch->look.is_any);
}

static bool is_limited(const struct demand *demand)
{
    return demand->is_limited[CLAIM_JOBS] || demand->is_limited[CLAIM_STEPS];
}

/* What a later claim for the same need not ask for: if this one has taken all that there was. */
static void note_nothing(struct batch *batch, const struct demand *demand)
{
    const cairn_claim_options *claim = demand->claim;
    if (batch->ready.is_made[CLAIM_STEPS] || !demand->is_exhausted[CLAIM_JOBS] ||
        !is_left_out(batch, demand, CLAIM_STEPS) || is_limited(demand) ||
        demand->has_step_lanes || claim->runtime || claim->function_count ||
        lanes_are_known(batch, demand, CLAIM_JOBS) ||
        lanes_are_known(batch, demand, CLAIM_STEPS))
        return;
    batch->nothing = (struct ready_types){0};
    for (size_t i = 0; i < claim->type_count; i++)
        ready_types_add(&batch->nothing, claim->types[i], 0);
    if (batch->nothing.is_any || batch->nothing.count != claim->type_count)
        batch->nothing.count = 0;
}

void batch_looked(struct batch *batch)
{
    if (batch->look.habit && batch->look.is_any)
        batch->look.habit->empty[batch->look.kind].until_us = 0;
    else if (batch->look.habit)
        note_empty(batch, batch->look.habit, batch->look.kind);
    for (const struct demand *demand = batch->demands; demand; demand = demand->next)
        if (!batch->nothing.count)
            note_nothing(batch, demand);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Whether a request's claim is still to be answered; one whose caller has gone is refused. */
static bool is_open(struct request *request)
{
    if (request->code || !request_is_claiming(request) || request->out.page.items ||
        request_is_open(request))
        return false;
    if (!request->is_wanted || request->is_wanted(request))
        return true;
    request->code = fail(&request->error, CAIRN_E_CLOSED, "the caller has gone");
    return false;
}

static bool may_go_together(const struct request *a, const struct request *b)
{
    return !b->was_unsure && a->demand == b->demand &&
           request_claim(a)->lease_ms == request_claim(b)->lease_ms;
}

static void add_share(struct batch *batch, struct claim_group *group, struct request *request)
{
    size_t room = request_claim(request)->max;
    if (!request->token[0])
        token_make(&batch->committer->rng, request->token);
    group->shares[group->count++] = (struct claim_share){.request = request, .room = room};
    group->room += room;
}

static cairn_code make_group(struct batch *batch, struct request *first,
                             struct claim_group *ret_group)
{
    size_t room = first->was_unsure ? 1 : batch->requests->count;
    *ret_group = (struct claim_group){
        .shares = arena_array(&batch->arena, room, sizeof *ret_group->shares)};
    NEED(ret_group->shares, batch->error);
    add_share(batch, ret_group, first);
    return CAIRN_OK;
}

/* ---- how much fits into an answer ----------------------------------------------------------------
 *
 * What is leased is what is answered, so nothing may be leased that does not fit.  A claim whose rows cannot be
 * too large, all of them as long as the longest that was ever seen, is made at once.  Others ask for as many as fit,
 * and again when these were shorter.
 */

static size_t largest_value(const struct batch *batch)
{
    struct local_engine *engine = batch->engine;
    size_t largest = atomic_load_explicit(&engine->value_largest, memory_order_relaxed);
    size_t unknown = atomic_load_explicit(&engine->has_handed_out, memory_order_relaxed)
                         ? 0
                         : engine->base.options.max_payload;
    return largest > unknown ? largest : unknown;
}

static bool may_overflow(const struct batch *batch, size_t room)
{
    return room > 1 && largest_value(batch) > ANSWER_BYTES_MAX / room;
}

/* How many of `room` more tasks a group may ask for: one, if it has nothing. */
static size_t fitting(const struct batch *batch, const struct claim_group *group, size_t room)
{
    size_t largest = largest_value(batch), taken = group->taken[0] + group->taken[1];
    if (largest == 0 || !may_overflow(batch, group->room))
        return room;
    size_t left = group->bytes < ANSWER_BYTES_MAX ? ANSWER_BYTES_MAX - group->bytes : 0;
    size_t fits = left / largest;
    if (fits == 0 && taken == 0)
        fits = 1;
    return fits < room ? fits : room;
}

/* The equal claims that follow the first one, where only one kind is left to be asked for.  None of them
 * overtakes another claim that could want the same tasks. */
static void add_equals(struct batch *batch, struct claim_group *group)
{
    const struct request *first = group->shares->request;
    for (struct request *at = first->next; at && group->room < TOGETHER_TASKS_MAX;
         at = at->next) {
        if (!is_open(at))
            continue;
        if (may_overflow(batch, group->room + request_claim(at)->max))
            break;
        if (may_go_together(first, at))
            add_share(batch, group, at);
        else if (is_overlapping(request_claim(first), request_claim(at)))
            break;
    }
}

/* Asks the store for tasks of one kind, unless it is known that there are none. */
static cairn_code lease_kind(struct batch *batch, struct claim_group *group,
                             enum claim_kind kind, size_t room)
{
    struct demand *demand = group->shares->request->demand;
    size_t before = group->taken[kind];
    if (room == 0 || demand->is_exhausted[kind])
        return CAIRN_OK;
    size_t brought = 0, asked, came;
    do {
        asked = fitting(batch, group, room - brought);
        if (asked > 0)
            TRY(kind == CLAIM_JOBS ? claim_take_jobs(batch, group, asked)
                                   : claim_take_steps(batch, group, asked));
        came = group->taken[kind] - before - brought;
        brought += came;
    } while (asked > 0 && came == asked && brought < room);
    demand->is_exhausted[kind] = came < asked;
    if (brought > 0)
        atomic_store_explicit(&batch->engine->has_handed_out, true, memory_order_relaxed);
    demand->habit->empty[kind].until_us = 0;
    if (before + brought == 0) {
        note_empty(batch, demand->habit, kind);
        note_refused(batch, demand, kind);
    }
    return CAIRN_OK;
}

/* ---- handing out ---------------------------------------------------------------------------- */

static cairn_code hand_out(struct batch *batch, struct claim_share *share,
                           enum claim_kind first)
{
    const cairn_task *one = share->of[first].items, *other = share->of[!first].items;
    size_t ones = share->of[first].count, others = share->of[!first].count;
    struct page_output *page = &share->request->out.page;
    *page = (struct page_output){.tasks = share->of[ones ? first : !first].items,
                                 .count = ones + others};
    if (!ones || !others)
        return CAIRN_OK;
    cairn_task *tasks = arena_array(&share->request->arena, ones + others, sizeof *tasks);
    NEED(tasks, batch->error);
    page->tasks = tasks;
    for (size_t i = 0; i < ones || i < others; i++) {
        if (i < ones)
            *tasks++ = one[i];
        if (i < others)
            *tasks++ = other[i];
    }
    return CAIRN_OK;
}

/* What an earlier try has taken whose commit had an unknown end; nothing, if it was not committed. */
static cairn_code find_again(struct batch *batch, struct request *request)
{
    struct claim_group group;
    TRY(make_group(batch, request, &group));
    TRY(claim_take_jobs(batch, &group, group.room));
    if (group.taken[CLAIM_JOBS] < group.room)
        TRY(claim_take_steps(batch, &group, group.room - group.taken[CLAIM_JOBS]));
    request->was_unsure = group.taken[CLAIM_JOBS] + group.taken[CLAIM_STEPS] > 0;
    return hand_out(batch, group.shares, CLAIM_JOBS);
}

static enum claim_kind turn_of(const struct demand *demand)
{
    return demand->habit->is_steps_turn ? CLAIM_STEPS : CLAIM_JOBS;
}

static void note_turn(struct demand *demand, const struct claim_share *share)
{
    size_t jobs = share->of[CLAIM_JOBS].count, steps = share->of[CLAIM_STEPS].count;
    if ((jobs + steps) % 2)
        demand->habit->is_steps_turn = steps < jobs;
}

/* Whether the jobs for this claim, and its equals, were asked for before its time. */
static bool is_ahead(const struct batch *batch, const struct request *first)
{
    return batch->ahead && batch->ahead->shares->request == first;
}

/* Whether an empty answer need not be sure: a claim that comes with a report and does not wait takes what is quickly
 * found, and one that waits is woken by what comes, where there are threads for it. */
static bool are_quick(const struct batch *batch, const struct claim_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct request *request = group->shares[i].request;
        bool is_waiting = request_claim(request)->wait_ms > 0;
        if (is_waiting ? !batch->engine->may_park_unasked : request->op != OP_REPORT)
            return false;
    }
    return true;
}

static cairn_code claim(struct batch *batch, struct request *first)
{
    struct committer *committer = batch->committer;
    struct demand *demand = first->demand;
    struct claim_group group;
    bool is_asked = is_ahead(batch, first);
    bool has_jobs = is_asked || (!is_left_out(batch, demand, CLAIM_JOBS) &&
                                 !may_look(batch, demand, CLAIM_JOBS));
    bool has_steps = !is_asked && !is_left_out(batch, demand, CLAIM_STEPS) &&
                     !may_look(batch, demand, CLAIM_STEPS);
    bool has_few_steps = has_jobs == has_steps ? committer->has_few_steps : has_jobs;
    enum claim_kind few = has_few_steps ? CLAIM_STEPS : CLAIM_JOBS;
    enum claim_kind many = has_few_steps ? CLAIM_JOBS : CLAIM_STEPS;
    bool has_choice = !demand->is_exhausted[CLAIM_JOBS];
    if (is_asked)
        group = *batch->ahead;
    else
        TRY(make_group(batch, first, &group));

    size_t half = !has_jobs || !has_steps ? 0 : (group.room + (few == turn_of(demand))) / 2;
    TRY(lease_kind(batch, &group, few, half));
    bool is_left = !has_jobs || !has_steps;
    if (!is_asked && (is_left || demand->is_exhausted[few]))
        add_equals(batch, &group);
    TRY(lease_kind(batch, &group, many, group.room - group.taken[few] - group.taken[many]));
    bool is_enough =
        is_left && (are_quick(batch, &group) || (group.taken[many] > 0 && !demand->is_final));
    if (group.taken[few] == half && !is_enough)
        TRY(lease_kind(batch, &group, few, group.room - half - group.taken[many]));
    if (is_left)
        TRY(look(batch, &group, few));

    if (has_choice && group.taken[CLAIM_STEPS] != group.taken[CLAIM_JOBS])
        committer->has_few_steps = group.taken[CLAIM_STEPS] < group.taken[CLAIM_JOBS];
    for (size_t i = 0; i < group.count; i++) {
        TRY(hand_out(batch, &group.shares[i], turn_of(demand)));
        note_turn(demand, &group.shares[i]);
    }
    return CAIRN_OK;
}

static cairn_code claim_one(struct batch *batch, struct request *request)
{
    if (is_ahead(batch, request))
        return claim(batch, request);
    const bool *is_exhausted = request->demand->is_exhausted;
    bool is_hopeless = is_exhausted[CLAIM_JOBS] && is_exhausted[CLAIM_STEPS];
    if ((is_hopeless && !request->was_unsure) || !is_open(request))
        return CAIRN_OK;
    if (request->was_unsure)
        TRY(find_again(batch, request));
    return request->was_unsure ? CAIRN_OK : claim(batch, request);
}

/* ---- ahead ---------------------------------------------------------------------------------------
 *
 * A claim of jobs needs nothing of the answers to the statements before it.  So if a batch does nothing but
 * complete jobs, insert some, and claim, all of these are sent together.  That a request leaves the batch after
 * its claim was sent is rare (its job is held by another transaction, its lease is lost): then all of it is
 * rolled back and repeated, one after the other.
 */

static bool is_plain(const struct batch *batch, const struct request *request,
                     enum request_op with)
{
    bool is_claim = request_is_claiming(request);
    bool is_over =
        request->is_reported || (request->op == OP_REPORT && batch->are_all_completed);
    return !request->code && !request->was_unsure && !request->hold.is_held &&
           (request->op == with || request->op == OP_CLAIM || is_over) &&
           !(request->op == OP_ENQUEUE && request_minds_keys(request)) &&
           !(is_claim && request_claim(request)->runtime);
}

bool batch_is_plain(const struct batch *batch, enum request_op with)
{
    for_each_request (request, batch)
        if (!is_plain(batch, request, with))
            return false;
    return true;
}

/* NULL: there is none, or its caller has gone. */
static struct request *first_claim(struct batch *batch)
{
    for_each_request (request, batch)
        if (request_is_claiming(request))
            return is_open(request) ? request : NULL;
    return NULL;
}

cairn_code batch_plan_ahead(struct batch *batch, const struct ready_types *are_made,
                            size_t events)
{
    enum request_op with = are_made ? OP_ENQUEUE : OP_REPORT;
    bool has_events =
        batch->are_all_completed ? batch_has_late_events(batch) : batch_has_events(batch);
    if (!batch->may_ahead || has_events || batch->ready.is_any)
        return CAIRN_OK;
    if (are_made)
        batch_let_join(batch, are_made);
    struct request *first = batch_is_plain(batch, with) ? first_claim(batch) : NULL;
    if (!first)
        return CAIRN_OK;
    for_each_request (request, batch)
        if (request_is_claiming(request))
            TRY(batch_find_demand(batch, request));
    if (lanes_are_known(batch, first->demand, CLAIM_JOBS) ||
        (!are_made && is_left_out(batch, first->demand, CLAIM_JOBS)) ||
        first->demand->is_exhausted[CLAIM_JOBS] ||
        (!is_left_out(batch, first->demand, CLAIM_STEPS) &&
         !may_look(batch, first->demand, CLAIM_STEPS)))
        return CAIRN_OK;
    struct claim_group *group = arena_alloc(&batch->arena, sizeof *group);
    NEED(group, batch->error);
    TRY(make_group(batch, first, group));
    add_equals(batch, group);
    if (events + group->room * EVENTS_OF_CLAIM <= EVENT_SLOTS &&
        !may_overflow(batch, group->room))
        batch->ahead = group;
    return CAIRN_OK;
}

cairn_code batch_claim_ahead(struct batch *batch, bool is_sent)
{
    struct claim_group *group = batch->ahead;
    if (!is_sent) {
        batch->ahead = NULL;
        return CAIRN_OK;
    }
    batch->is_sending = true;
    cairn_code code = lease_kind(batch, group, CLAIM_JOBS, group->room);
    batch->is_sending = false;
    return code;
}

cairn_code batch_spoil(struct batch *batch)
{
    batch->is_spoilt = true;
    return fail(batch->error, CAIRN_E_BUSY, "a batch went ahead too early");
}

/* Whether all of them are still there. */
static bool is_ahead_whole(const struct batch *batch)
{
    const struct claim_group *group = batch->ahead;
    size_t at = 0;
    for_each_request (request, batch) {
        if (at == group->count || group->shares[at].request != request)
            continue;
        if (request->code)
            return false;
        at++;
    }
    return at == group->count;
}

/* ---- all claims ------------------------------------------------------------------------------ */

cairn_code batch_claim(struct batch *batch)
{
    if (batch->ahead && !is_ahead_whole(batch))
        return batch_spoil(batch);
    if (batch->before.demand && batch->ready.is_made[CLAIM_STEPS]) /* written since it looked */
        batch->before.demand->none_before = CLAIM_FIRST;
    for_each_request (request, batch) {
        if (request->code || !request_is_claiming(request))
            continue;
        request->out.page = (struct page_output){0};
        if (request->op == OP_CLAIM) /* others were checked at their own turn */
            TRY(batch_check_runtime(batch, request));
        TRY(batch_find_demand(batch, request));
    }
    for_each_request (request, batch) {
        if (request->code || !request_is_claiming(request))
            continue;
        TRY(claim_one(batch, request));
        request->is_limited = is_limited(request->demand);
        request->token_in_us = request->demand->token_in_us;
    }
    return CAIRN_OK;
}
