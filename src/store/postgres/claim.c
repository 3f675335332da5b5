/* store/postgres/claim.c - leasing jobs that are due, and steps that are ready.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * claim_jobs and claim_steps look at the heads of the matching types, and lock of these as many as
 * are wanted, skipping what others hold.  When others held so many that too few were left, and there
 * may be more behind them, they look further: twice as far each time.  walk.c says where they look.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

/* A claim looks at a few more than wanted: what other claimers hold costs no second look. */
enum { SPARE_HEADS = 8 };

/* ---- what is claimed ------------------------------------------------------------------------ */

/* A claim under way. */
struct taking {
    const struct claim_kind *kind;
    struct mark_set *marks;
    struct step_claim claim; /* of jobs: base alone.  Its holders: those that have got no row */
    struct postgres_types types;
    char *rows;
    size_t room, count;
    size_t served;      /* rows whose holders are no longer among the claim's */
    bool is_whole;      /* the walk begins at the beginning, whatever the marks say */
    int64_t look_at_us; /* of jobs: when to look at their leases */
    uint64_t
        not_held; /* of rows that were ever asked for: those that others of ours do not hold */
    bool is_virtual; /* the clock */
};

/* How jobs differ from steps. */
struct claim_kind {
    enum claimed_kind claimed;
    const struct row_type *type;
    enum postgres_query claim, check;
    bool (*is_held_by)(const void *row, const struct claim_holder *holder);
    int (*compare)(const void *one, const void *other); /* NULL: the query has sorted them */
    /* NULL: nothing is there to be read behind the columns of a row. */
    void (*read_more)(struct postgres_reader *reader, struct taking *taking, void *row);
    void (*add_params)(struct postgres_params *params, const struct taking *taking,
                       const struct claim_walk *walk);
    void (*note_due)(struct store_tx *tx, int64_t due_us);
};

void param_holders(struct postgres_params *params, const struct job_claim *claim, size_t room)
{
    size_t count = claim->holders ? room : 1;
    struct claim_holder one = {claim->worker, claim->token};
    const struct claim_holder *holders = claim->holders ? claim->holders : &one;
    struct postgres_columns columns = {0};
    for (size_t i = 0; i < count; i++) {
        columns_text(&columns, holders[i].worker);
        columns_text(&columns, holders[i].token);
        columns_end_row(&columns);
    }
    param_columns_copied(params, &columns);
    param_time(params, claim->lease_until_us);
}

/* Whether claim_jobs_of_type is enough. */
static bool is_one_type(const struct taking *taking, const struct claim_walk *walk)
{
    return taking->kind->claim == PG_CLAIM_JOBS && !walk->is_marked && walk->range_count == 1 &&
           walk->gap_count == 0 && taking->room - taking->count <= LEASE_ROW_JOBS;
}

static void add_job_params(struct postgres_params *params, const struct taking *taking,
                           const struct claim_walk *walk)
{
    param_holders(params, &taking->claim.base, taking->room - taking->count);
    param_time(params, taking->look_at_us);
    param_int(params, taking->claim.base.event_id);
    param_int(params, taking->claim.base.events_each);
    param_text(params, taking->is_virtual ? "t" : "f");
    if (is_one_type(taking, walk)) {
        param_text(params, walk->ranges->type);
        return;
    }
    param_ranges(params, walk);
    param_gaps(params, walk);
    param_text(params, walk->is_marked ? "t" : "f");
}

static bool is_job_held_by(const void *job, const struct claim_holder *holder)
{
    const struct job_row *row = job;
    return strcmp(row->token, holder->token) == 0 &&
           strcmp(row->leased_by, holder->worker) == 0;
}

static int compare_jobs(const void *one, const void *other)
{
    const struct job_row *a = one, *b = other;
    int order = (a->priority > b->priority) - (a->priority < b->priority);
    return order ? order : (a->seq > b->seq) - (a->seq < b->seq);
}

/* Its chain: what is claimed next has later events.  Their ids are known by now. */
static void read_chain(struct postgres_reader *reader, struct taking *taking, void *row)
{
    struct job_row *job = row;
    if (taking->claim.base.event_id >= EVENT_OPEN)
        taking->claim.base.event_id = 0;
    job->prev_event = value_int(reader, PQnfields(reader->result) - 1);
    if (job->last_event >= taking->claim.base.event_id)
        taking->claim.base.event_id = job->last_event + 1;
}

static const struct claim_kind jobs = {
    .claimed = CLAIMED_JOBS,
    .type = &job_row_type,
    .claim = PG_CLAIM_JOBS,
    .check = PG_CHECK_JOBS,
    .is_held_by = is_job_held_by,
    .compare = compare_jobs,
    .read_more = read_chain,
    .add_params = add_job_params,
    .note_due = postgres_note_due,
};

static bool is_step_held_by(const void *step, const struct claim_holder *holder)
{
    const struct step_row *row = step;
    return strcmp(row->token, holder->token) == 0 &&
           strcmp(row->locked_by, holder->worker) == 0;
}

/* Where the steps in hand stand, and how many of each type there are; if there are none, every row comes
 * before them. */
static void add_in_hand(struct postgres_params *params, const struct steps_in_hand *in_hand)
{
    const struct claim_key *first = in_hand ? &in_hand->first : &CLAIM_LAST;
    struct postgres_columns types = {.count = 2};
    for (size_t i = 0; in_hand && i < in_hand->type_count; i++) {
        columns_text(&types, in_hand->types[i].name);
        columns_bigint(&types, (int64_t)in_hand->types[i].count);
        columns_end_row(&types);
    }
    param_double(params, (double)first->priority);
    param_time_or_ends(params, first->since_us);
    param_int(params, first->instance_seq);
    param_int(params, first->seq);
    param_columns_copied(params, &types);
    param_int(params, in_hand && in_hand->is_alone);
}

/* Whether more is asked than claim_steps can answer. */
static bool is_beside(const struct taking *taking, const struct claim_walk *walk)
{
    return taking->claim.in_hand || walk->gap_count;
}

static void add_step_params(struct postgres_params *params, const struct taking *taking,
                            const struct claim_walk *walk)
{
    param_holders(params, &taking->claim.base, taking->room - taking->count);
    param_double(params, taking->claim.aging_rate);
    if (!is_beside(taking, walk))
        return;
    param_gaps(params, walk);
    add_in_hand(params, taking->claim.in_hand);
}

/* The last column: the numbers of the types in hand that the registry blocks; negative: that have lanes. */
static void read_blocked(struct postgres_reader *reader, struct steps_in_hand *in_hand)
{
    const char *at = PQgetvalue(reader->result, 0, PQnfields(reader->result) - 1);
    for (char *end; in_hand && *at; at = end) {
        long number = strtol(at, &end, 10);
        size_t index = number < 0 ? (size_t)-number : (size_t)number;
        if (index < 1 || index > in_hand->type_count)
            return;
        in_hand->types[index - 1].is_blocked = true;
        in_hand->types[index - 1].is_laned = number < 0;
    }
}

static const struct claim_kind steps = {
    .claimed = CLAIMED_STEPS,
    .type = &step_row_type,
    .claim = PG_CLAIM_STEPS,
    .check = PG_CHECK_STEPS,
    .is_held_by = is_step_held_by,
    .add_params = add_step_params,
    .note_due = postgres_note_flow_due,
};

static cairn_code begin_jobs(struct store_tx *tx, const struct job_claim *claim,
                             struct job_row *rows, size_t room, struct taking *ret_taking,
                             cairn_error *reterr)
{
    *ret_taking = (struct taking){
        .kind = &jobs,
        .marks = &postgres_store_of(tx->session)->job_marks,
        .claim = {.base = *claim},
        .rows = (char *)rows,
        .room = room,
        .look_at_us = postgres_lease_look(tx, LEASE_FIRST_LOOK_US, claim->lease_until_us),
        .is_virtual = tx->session->store->clock->is_virtual};
    return postgres_sort_patterns(tx->arena, claim, NULL, 0, &ret_taking->types, reterr);
}

/* Functions are of one type in some versions. */
cairn_code postgres_sort_step_patterns(struct arena *arena, const struct step_claim *claim,
                                       struct postgres_types *ret_types, cairn_error *reterr)
{
    struct exact_type *more = arena_array(arena, claim->function_count, sizeof *more);
    if (!more)
        return fail_memory(reterr);
    for (size_t i = 0; i < claim->function_count; i++) {
        const struct function_range *range = &claim->functions[i];
        more[i] = (struct exact_type){
            .name = range->name,
            .lowest = step_rank(range->from, 0),
            .highest = step_rank(range->to, STEP_PRIORITY_MASK),
        };
    }
    return postgres_sort_patterns(arena, &claim->base, more, claim->function_count, ret_types,
                                  reterr);
}

static cairn_code begin_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *rows, size_t room, struct taking *ret_taking,
                              cairn_error *reterr)
{
    *ret_taking = (struct taking){.kind = &steps,
                                  .marks = &postgres_store_of(tx->session)->step_marks,
                                  .claim = *claim,
                                  .rows = (char *)rows,
                                  .room = room};
    return postgres_sort_step_patterns(tx->arena, claim, &ret_taking->types, reterr);
}

/* ---- one look ------------------------------------------------------------------------------- */

static cairn_code plan_claim(struct store_tx *tx, const struct taking *taking, size_t heads,
                             struct claim_walk *ret_walk, struct postgres_params *ret_params,
                             cairn_error *reterr)
{
    TRY(postgres_plan_walk(tx->arena, taking->marks, taking->is_whole, &taking->types, ret_walk,
                           reterr));
    *ret_params = (struct postgres_params){.arena = tx->arena};
    if (taking->kind == &steps)
        param_ranges(ret_params, ret_walk);
    param_text(ret_params, taking->claim.base.runtime);
    param_time(ret_params, tx->now_us);
    param_int(ret_params, (int64_t)heads);
    param_int(ret_params, (int64_t)(taking->room - taking->count));
    taking->kind->add_params(ret_params, taking, ret_walk);
    return CAIRN_OK;
}

static enum postgres_query query_of(const struct taking *taking, const struct claim_walk *walk)
{
    if (is_one_type(taking, walk))
        return PG_CLAIM_JOBS_OF_TYPE;
    return taking->kind == &steps && is_beside(taking, walk) ? PG_CLAIM_STEPS_BESIDE
                                                             : taking->kind->claim;
}

static cairn_code run_claim(struct store_tx *tx, const struct taking *taking, size_t heads,
                            struct claim_walk *ret_walk, struct postgres_reader *ret_reader,
                            cairn_error *reterr)
{
    struct postgres_params params;
    TRY(plan_claim(tx, taking, heads, ret_walk, &params, reterr));
    return postgres_ask(tx, query_of(taking, ret_walk), &params, ret_reader, reterr);
}

/* Keeps the holders that have got no row, in order: a row that changed meanwhile was passed over,
 * and so was its holder. */
static cairn_code drop_holders(struct store_tx *tx, struct taking *taking, cairn_error *reterr)
{
    const struct claim_kind *kind = taking->kind;
    const char *rows = taking->rows + taking->served * kind->type->size;
    const struct claim_holder *given = taking->claim.base.holders;
    size_t count = taking->count - taking->served, room = taking->room - taking->served;
    size_t left = 0, at = 0;
    if (count == 0 || !given)
        return CAIRN_OK;
    struct claim_holder *holders = arena_array(tx->arena, room, sizeof *holders);
    bool *is_seen = arena_array(tx->arena, count, sizeof *is_seen);
    if (!holders || !is_seen)
        return fail_memory(reterr);
    for (size_t i = 0; i < room; i++) {
        for (at = 0; at < count; at++)
            if (!is_seen[at] && kind->is_held_by(rows + at * kind->type->size, &given[i]))
                break;
        if (at < count)
            is_seen[at] = true;
        else
            holders[left++] = given[i];
    }
    taking->claim.base.holders = holders;
    taking->served = taking->count;
    return CAIRN_OK;
}

/* The rows that came last, which are in order nearly always. */
static void sort_last(const struct taking *taking, size_t count)
{
    const struct claim_kind *kind = taking->kind;
    size_t size = kind->type->size;
    char *first = taking->rows + (taking->count - count) * size;
    for (size_t i = 1; i < count && kind->compare; i++)
        if (kind->compare(first + (i - 1) * size, first + i * size) > 0) {
            qsort(first, count, size, kind->compare);
            return;
        }
}

/* ---- claims of others ------------------------------------------------------------------------
 *
 * A claim that does not get enough has tried all heads that it saw.  If it had to pass over many more of them
 * than claims of this process may hold, another process claims here as well.  A few may be held by anybody.
 */

enum { MEETING_ROWS = 32 };

static void note_asked(struct store_tx *tx, struct taking *taking)
{
    enum claimed_kind kind = taking->kind->claimed;
    struct claimed_rows *claimed = &postgres_store_of(tx->session)->claimed[kind];
    uint64_t *own = &postgres_session_of(tx)->tx.claimed[kind];
    uint64_t ended = atomic_load(&claimed->ended);
    atomic_fetch_add(&claimed->asked, taking->room);
    *own += taking->room;
    taking->not_held = ended + *own;
}

/* How many rows other claims of this process may hold. */
static uint64_t held_by_ours(struct store_tx *tx, const struct taking *taking)
{
    struct postgres_store *store = postgres_store_of(tx->session);
    return atomic_load(&store->claimed[taking->kind->claimed].asked) - taking->not_held;
}

static void look_for_others(struct store_tx *tx, const struct taking *taking,
                            const struct walk_told *told, size_t wanted)
{
    struct store *store = tx->session->store;
    if (taking->kind != &jobs || told->taken >= wanted)
        return;
    if (told->heads - told->taken >= held_by_ours(tx, taking) + MEETING_ROWS)
        atomic_store(&store->met_us, clock_monotonic_us(store->clock));
}

/* One look at `heads` rows.  *ret_is_all: there was nothing behind them. */
static cairn_code try_claim(struct store_tx *tx, struct taking *taking, size_t heads,
                            bool *ret_is_all, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    const struct row_type *type = taking->kind->type;
    struct claim_walk walk; /* what it has read */
    TRY(drop_holders(tx, taking, reterr));
    TRY(run_claim(tx, taking, heads, &walk, &reader, reterr));

    struct walk_told told = postgres_read_told(&reader, taking->marks);
    read_blocked(&reader, taking->claim.in_hand);
    if (taking->claim.base.is_laned)
        *taking->claim.base.is_laned |= value_bool(&reader, CLAIM_LANED);
    look_for_others(tx, taking, &told, taking->room - taking->count);
    struct claimed_key *keys = arena_array(tx->arena, (size_t)reader.count, sizeof *keys);
    size_t count = 0;
    if (!keys)
        return fail_memory(reterr);
    for (; reader.row < reader.count; reader.row++) {
        if (PQgetisnull(reader.result, reader.row, CLAIM_ROW))
            continue;
        keys[count++] = postgres_read_key(&reader);
        void *row = taking->rows + taking->count++ * type->size;
        postgres_read_row(&reader, CLAIM_ROW, type, row);
        if (taking->kind->read_more)
            taking->kind->read_more(&reader, taking, row);
    }
    sort_last(taking, count);
    *ret_is_all = told.heads < heads && told.taken == count;
    postgres_walked(taking->marks, &walk, &told, tx->session->store->clock->is_virtual, keys,
                    count);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* ---- the claim ------------------------------------------------------------------------------ */

/* Takes what can be taken from where the walk begins.  A claim of steps looks behind those that another committer
 * has just claimed: its question costs more than a few rows. */
static cairn_code claim_from_marks(struct store_tx *tx, struct taking *taking,
                                   cairn_error *reterr)
{
    bool is_all = false;
    size_t held = taking->kind == &steps ? (size_t)held_by_ours(tx, taking) : 0;
    for (size_t heads = taking->room - taking->count + SPARE_HEADS + held;
         taking->count < taking->room && !is_all; heads *= 2)
        TRY(try_claim(tx, taking, heads, &is_all, reterr));
    return CAIRN_OK;
}

bool postgres_is_marking(struct mark_set *marks)
{
    pthread_mutex_lock(&marks->lock);
    bool answer = marks->pace.is_marking;
    pthread_mutex_unlock(&marks->lock);
    return answer;
}

/* Whether rows were wanted that were not there.  Steps in hand are there. */
static bool is_short(const struct taking *taking)
{
    const struct steps_in_hand *in_hand = taking->claim.in_hand;
    size_t count = taking->count;
    for (size_t i = 0; in_hand && i < in_hand->type_count; i++)
        count += in_hand->types[i].is_blocked ? 0 : in_hand->types[i].count;
    return count < taking->room && !(in_hand && in_hand->is_alone);
}

/* Claims that follow each other find in time what lies below the marks, or is of an unknown type. */
static cairn_code claim_all(struct store_tx *tx, struct taking *taking, size_t *ret_count,
                            cairn_error *reterr)
{
    note_asked(tx, taking);
    for (bool is_more = true; is_more;) {
        TRY(claim_from_marks(tx, taking, reterr));
        TRY(postgres_check_below(tx, taking->marks, taking->kind->check, is_short(taking),
                                 &is_more, reterr));
        is_more &= taking->count < taking->room;
    }
    if (taking->count == 0 && is_short(taking) && taking->claim.base.is_final &&
        postgres_is_marking(taking->marks)) {
        taking->is_whole = true;
        TRY(claim_from_marks(tx, taking, reterr));
    }
    if (taking->count > 0)
        taking->kind->note_due(tx, taking->claim.base.lease_until_us + 1);
    *ret_count = taking->count;
    return CAIRN_OK;
}

cairn_code postgres_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    struct taking taking;
    bool is_done;
    TRY(postgres_lease_announced(tx, claim, ret_rows, room, ret_count, &is_done, reterr));
    TRY(begin_jobs(tx, claim, ret_rows, room, &taking, reterr));
    if (is_done) {
        taking.count = *ret_count;
        sort_last(&taking, *ret_count);
        return CAIRN_OK;
    }
    return claim_all(tx, &taking, ret_count, reterr);
}

cairn_code postgres_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                                struct step_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    struct taking taking;
    TRY(begin_steps(tx, claim, ret_rows, room, &taking, reterr));
    return claim_all(tx, &taking, ret_count, reterr);
}

/* ---- whether there is something --------------------------------------------------------------- */

/* From the marks on; where these are in use, there may be something before them. */
cairn_code postgres_look_for_tasks(struct store_tx *tx, const struct step_claim *claim,
                                   bool is_steps, bool *ret_is_any, cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    struct taking taking;
    struct claim_walk walk;
    struct postgres_params params;
    struct step_claim one = *claim; /* nothing is leased, so that any holder will do */
    one.base.holders = NULL;
    *ret_is_any = true;
    TRY(is_steps ? begin_steps(tx, &one, NULL, 0, &taking, reterr)
                 : begin_jobs(tx, &one.base, NULL, 0, &taking, reterr));
    if (postgres_is_marking(taking.marks))
        return CAIRN_OK;
    TRY(plan_claim(tx, &taking, 1, &walk, &params, reterr));
    enum postgres_query query = query_of(&taking, &walk);
    session->tx.look =
        (struct postgres_look){.query = query, .is_any = ret_is_any, .in_hand = claim->in_hand};
    return postgres_send(session, query, &params, reterr);
}

void postgres_looked(struct store_tx *tx)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_look look = postgres_session_of(tx)->tx.look;
    cairn_error ignored;
    if (!look.is_any || postgres_take(tx, look.query, &reader, &ignored))
        return;
    postgres_session_of(tx)->tx.look = (struct postgres_look){0};
    *look.is_any = value_int(&reader, 0) > 0 || value_bool(&reader, CLAIM_LANED);
    if (look.query == PG_CLAIM_STEPS_BESIDE)
        read_blocked(&reader, look.in_hand);
}

/* ---- what was claimed ----------------------------------------------------------------------- */

static cairn_code find_claimed(struct store_tx *tx, enum postgres_query query,
                               const char *worker, const char *token,
                               const struct row_type *type, void *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(worker), TEXT(token), INT(room));
    return postgres_read_rows(tx, query, &params, type, ret_rows, room, ret_count, reterr);
}

cairn_code postgres_find_claimed(struct store_tx *tx, const char *worker, const char *token,
                                 struct job_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    return find_claimed(tx, PG_FIND_CLAIMED, worker, token, &job_row_type, ret_rows, room,
                        ret_count, reterr);
}

cairn_code postgres_find_claimed_steps(struct store_tx *tx, const char *worker,
                                       const char *token, struct step_row *ret_rows,
                                       size_t room, size_t *ret_count, cairn_error *reterr)
{
    return find_claimed(tx, PG_FIND_CLAIMED_STEPS, worker, token, &step_row_type, ret_rows,
                        room, ret_count, reterr);
}
