/* tests/sim/batching.c - any sequence of requests leaves the same rows, events and answers, whether
 * each has a commit of its own, or random groups share one, or all of them do, or a commit of all writes what it has
 * gathered at random places, also twice in a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     batching [--from SEED] [--seeds COUNT] [--trace]
 *
 * $CAIRN_TEST_STORE says on which store: memory, sqlite or postgres.  In every round the requests
 * that claim come last, as the committer defines it; the claim that a report makes is made by a
 * request of its own where requests go one by one.  Nothing is due in a round: the clock moves
 * between rounds, and that applies what is due.  The end or stop of an instance with relatives is due at
 * once, and the next claim applies it: so where there are families (in every second life), a round
 * claims and does nothing else, or does not claim.  Among equals a step that its batch has made ready may go
 * first; here it does not, since one by one there is no such step.
 */
#include "batching.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program;

int batching_below(struct batching *batching, int bound)
{
    return (int)rng_below(&batching->rng, (uint64_t)bound);
}

bool batching_chance(struct batching *batching, int percent)
{
    return batching_below(batching, 100) < percent;
}

/* ---- engines ----------------------------------------------------------------------------- */

static void open_side(struct side *side, uint64_t seed)
{
    static struct clock opening;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    struct store *store;
    clock_init_virtual(&opening, SIM_START_US);
    options.virtual_clock = true;
    options.start_us = SIM_START_US;
    options.seed = seed;
    struct store_config config = {
        .url = scratch_store(), .clock = &opening, .lock_wait_ms = 5000};
    cairn_code code = store_open(&config, &store, &error);
    if (!code)
        code = local_engine_new(&options, store, &side->engine, &error);
    if (!code)
        side->engine->is_order_strict = true; /* equals are told apart by their age alone */
    if (!code)
        code = store->ops->session_open(store, SESSION_READER, &side->reader, &error);
    if (code) {
        fprintf(stderr, "could not open a store: %s\n", error.message);
        exit(3);
    }
}

/* Where a batch writes early. */
static int count_flushes(void *arg)
{
    static const int counts[] = {0, 1, 2};
    return counts[rng_below(arg, 3)];
}

static void close_side(struct side *side)
{
    side->engine->store->ops->session_close(side->reader);
    cairn_close(&side->engine->base);
}

static void run(struct side *side)
{
    while (committer_run_once(&side->engine->committers[0]))
        ;
}

static void submit(struct side *side, struct request *request)
{
    side->engine->base.ops->submit(&side->engine->base, request);
}

static void must_be_done(const struct batching *batching, const struct request *request)
{
    if (request && !*(const bool *)request->arg) {
        fprintf(stderr, "seed %llu, round %d: %s was not answered\n",
                (unsigned long long)batching->seed, batching->round,
                request_op_name(request->op));
        _exit(1);
    }
}

/* ---- four ways -------------------------------------------------------------------------- */

static bool is_claiming_too(const struct request *request)
{
    return (request->op == OP_REPORT && request->in.report.is_claiming) ||
           (request->op == OP_COMMIT && request->in.commit.is_claiming);
}

/* The claim of a report or commit as a request of its own, under the same token. */
static struct request *split_claim(struct batching *batching, struct ask *ask)
{
    struct request *request = ask->requests[0];
    if (!is_claiming_too(request))
        return NULL;
    struct ask alone = {.model = request_new(OP_CLAIM)};
    alone.model->in.claim =
        request->op == OP_REPORT ? request->in.report.claim : request->in.commit.claim;
    memcpy(alone.model->token, request->token, sizeof request->token);
    struct request *claim = batching_clone(batching, &alone, 0);
    request_free(alone.model);
    if (request->op == OP_REPORT)
        request->in.report.is_claiming = false;
    else
        request->in.commit.is_claiming = false;
    return claim;
}

static void clone_all(struct batching *batching)
{
    for (size_t i = 0; i < batching->ask_count; i++) {
        struct ask *ask = &batching->asks[i];
        for (int k = 0; k < BATCHING_SIDES; k++)
            ask->requests[k] = batching_clone(batching, ask, k);
        ask->claims[0] = split_claim(batching, ask);
    }
}

/* Claims that are part of other requests are answered after all of these. */
static void run_one_by_one(struct batching *batching)
{
    struct side *side = &batching->sides[0];
    size_t at = 0;
    for (; at < batching->ask_count && batching->asks[at].model->op != OP_CLAIM &&
           batching->asks[at].model->op != OP_OUTBOX_CLAIM;
         at++) {
        submit(side, batching->asks[at].requests[0]);
        run(side);
    }
    for (size_t i = 0; i < at; i++) {
        struct ask *ask = &batching->asks[i];
        if (!ask->claims[0] || ask->requests[0]->code)
            continue;
        submit(side, ask->claims[0]);
        run(side);
    }
    for (; at < batching->ask_count; at++) {
        submit(side, batching->asks[at].requests[0]);
        run(side);
    }
}

/* Where a group may end: before the first that claims too, or behind the last that does not only
 * claim, since a claim is the last of its own commit. */
static bool may_cut(const struct batching *batching, size_t behind)
{
    size_t first = batching->ask_count, last = 0;
    for (size_t i = 0; i < batching->ask_count; i++) {
        const struct request *model = batching->asks[i].model;
        if (is_claiming_too(model) && first == batching->ask_count)
            first = i;
        if (model->op != OP_CLAIM && model->op != OP_OUTBOX_CLAIM)
            last = i;
    }
    return behind < first || behind >= last;
}

static void run_in_groups(struct batching *batching, int which, int percent)
{
    struct side *side = &batching->sides[which];
    for (size_t i = 0; i < batching->ask_count; i++) {
        submit(side, batching->asks[i].requests[which]);
        if (percent && may_cut(batching, i) && batching_chance(batching, percent))
            run(side);
    }
    run(side);
}

/* ---- comparing --------------------------------------------------------------------------- */

static void check_same(const struct batching *batching, const char *what, int which,
                       const struct buf *one_by_one, const struct buf *together)
{
    const char *a = buf_text(one_by_one), *b = buf_text(together);
    size_t same = 0;
    if (strcmp(a, b) == 0)
        return;
    while (a[same] && a[same] == b[same])
        same++;
    size_t from = same > 300 ? same - 300 : 0;
    fprintf(stderr,
            "seed %llu, round %d: %s differ\n--- one by one\n...%.900s\n--- %s\n...%.900s\n",
            (unsigned long long)batching->seed, batching->round, what, a + from,
            which == 1              ? "in groups"
            : which == FLUSHED_SIDE ? "in one commit that writes early"
                                    : "in one commit",
            b + from);
    for (size_t i = 0; i < batching->ask_count; i++)
        fprintf(stderr, "%zu: %s\n", i, request_op_name(batching->asks[i].model->op));
    fprintf(stderr, "replay: CAIRN_TEST_STORE=%s %s --from %llu --seeds 1 --trace\n",
            scratch_kind(), program, (unsigned long long)batching->seed);
    _exit(1);
}

static void dump_answers(const struct batching *batching, int which, struct buf *out)
{
    for (size_t i = 0; i < batching->ask_count; i++) {
        const struct ask *ask = &batching->asks[i];
        buf_printf(out, "\n%zu ", i);
        batching_dump_answer(ask->requests[which], out);
        if (is_claiming_too(ask->model) && !ask->requests[which]->code) {
            const struct request *claim =
                ask->claims[which] ? ask->claims[which] : ask->requests[which];
            buf_printf(out, " and claims %zu", claim->out.page.count);
            struct request shown = {.op = OP_CLAIM, .out.page = claim->out.page};
            batching_dump_answer(&shown, out);
        }
    }
}

static void compare(struct batching *batching)
{
    struct buf answers[BATCHING_SIDES] = {{0}}, rows[BATCHING_SIDES] = {{0}};
    for (int i = 0; i < BATCHING_SIDES; i++) {
        dump_answers(batching, i, &answers[i]);
        batching_dump_rows(batching, i, &rows[i]);
    }
    if (batching->is_tracing)
        printf("# round %d%s\n", batching->round, buf_text(&answers[0]));
    for (int i = 1; i < BATCHING_SIDES; i++) {
        check_same(batching, "the answers", i, &answers[0], &answers[i]);
        check_same(batching, "the rows", i, &rows[0], &rows[i]);
    }
    for (int i = 0; i < BATCHING_SIDES; i++) {
        buf_done(&answers[i]);
        buf_done(&rows[i]);
    }
}

/* ---- a life ------------------------------------------------------------------------------ */

static void move_clock(struct batching *batching)
{
    int64_t ms = batching_chance(batching, 60) ? batching_below(batching, 3000)
                                               : batching_below(batching, 90000);
    for (int i = 0; i < BATCHING_SIDES; i++) {
        struct ask ask = {.model = request_new(OP_CLOCK_ADVANCE)};
        ask.model->in.advance.ms = ms;
        struct request *request = batching_clone(batching, &ask, i);
        submit(&batching->sides[i], request);
        run(&batching->sides[i]);
        must_be_done(batching, request);
        batching->now_us = request->out.now_us;
        request_free(request);
        request_free(ask.model);
    }
}

/* What chance decides in core (jitter) is decided alike. */
static void seed_sides(struct batching *batching)
{
    uint64_t seed = rng_next(&batching->rng);
    for (int i = 0; i < BATCHING_SIDES; i++)
        rng_init(&batching->sides[i].engine->committers[0].rng, seed);
}

static void free_asks(struct batching *batching)
{
    for (size_t i = 0; i < batching->ask_count; i++) {
        struct ask *ask = &batching->asks[i];
        for (int k = 0; k < BATCHING_SIDES; k++) {
            request_free(ask->requests[k]);
            request_free(ask->claims[k]);
        }
        request_free(ask->model);
        *ask = (struct ask){0};
    }
    batching->ask_count = 0;
}

static void play_round(struct batching *batching)
{
    seed_sides(batching);
    if (batching->round == 0)
        batching_draw_deployments(batching);
    else
        batching_draw(batching);
    clone_all(batching);
    run_one_by_one(batching);
    run_in_groups(batching, 1, 40);
    run_in_groups(batching, 2, 0);
    run_in_groups(batching, FLUSHED_SIDE, 0);
    for (size_t i = 0; i < batching->ask_count; i++)
        for (int k = 0; k < BATCHING_SIDES; k++)
            must_be_done(batching, batching->asks[i].requests[k]);
    compare(batching);
    batching_learn(batching);
    free_asks(batching);
    if (batching_chance(batching, 55))
        move_clock(batching);
}

static void play(uint64_t seed, bool is_tracing)
{
    static struct batching batching;
    batching = (struct batching){.seed = seed,
                                 .now_us = SIM_START_US,
                                 .is_tracing = is_tracing,
                                 .has_families = seed % 2 == 0};
    rng_init(&batching.rng, seed + 1);
    for (int i = 0; i < BATCHING_SIDES; i++)
        open_side(&batching.sides[i], seed + 7);
    rng_init(&batching.flush_rng, seed + 3);
    batching.sides[FLUSHED_SIDE].engine->count_flushes = count_flushes;
    batching.sides[FLUSHED_SIDE].engine->flush_arg = &batching.flush_rng;
    for (; batching.round < BATCHING_ROUNDS; batching.round++)
        play_round(&batching);
    for (int i = 0; i < BATCHING_SIDES; i++)
        close_side(&batching.sides[i]);
}

static unsigned long long number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (!text[0] || *end) {
        fprintf(stderr, "\"%s\" is not a number\n", text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    unsigned long long from = 1, seeds = 100;
    bool is_tracing = false;
    program = argv[0];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0) {
            is_tracing = true;
        } else if (strcmp(argv[i], "--from") == 0 && i + 1 < argc) {
            from = number(argv[++i]);
        } else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
            seeds = number(argv[++i]);
        } else {
            fprintf(stderr, "usage: %s [--from SEED] [--seeds COUNT] [--trace]\n", program);
            return 2;
        }
    }
    printf("TAP version 13\n1..1\n");
    for (unsigned long long i = 0; i < seeds; i++)
        play(from + i, is_tracing);
    printf("ok 1 - seeds %llu to %llu: one commit or many, the same end\n", from,
           from + seeds - 1);
    return 0;
}
