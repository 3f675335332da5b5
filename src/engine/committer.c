/* engine/committer.c - takes all that waits, commits it, answers everyone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"
#include "engine/bulk.h"
#include "engine/held.h"
#include "engine/read.h"
#include "engine/retention.h"

#include <assert.h>
#include <string.h>

/* A store that cannot be reached is left alone for a while, longer each time. */
enum { REST_FIRST_US = 20 * 1000, REST_LONGEST_US = 1000 * 1000 };

/* Between two notices of commits that the store has refused. */
#define REFUSAL_PAUSE_US (60 * US_PER_SEC)

/* However little patience a caller has, the store is given this long to answer. */
enum { STORE_PATIENCE_MS = 1000 };

/* Rows that one transaction may touch, so that a commit stays short. */
enum { BATCH_WEIGHT_MAX = 5000 };

/* A commit of a function takes as long as the reports of so many jobs. */
enum { COMMIT_ROWS = 8 };

static size_t weight(const struct request *request)
{
    size_t rows = 1;
    if (request->op == OP_ENQUEUE)
        rows += request->in.enqueue.count;
    if (request->op == OP_REPORT)
        rows += request->in.report.count;
    if (request->op == OP_HEARTBEATS)
        rows += request->in.heartbeats.count;
    if (request->op == OP_COMMIT)
        rows += COMMIT_ROWS + request->in.commit.step_count;
    if (request_is_claiming(request))
        rows += request_claim(request)->max;
    return rows;
}

/* As far as it matters: no more than `most`, and a little. */
static size_t queue_weight(const struct request_queue *queue, size_t most)
{
    size_t rows = 0;
    for (const struct request *at = queue->first; at && rows < most; at = at->next)
        rows += weight(at);
    return rows;
}

/* Moving the clock has transactions of its own; bulk actions and purges change rows that no workset has, and much. */
static bool is_taken_alone(enum request_op op)
{
    return op == OP_CLOCK_ADVANCE || op == OP_BULK_STEP || op == OP_RETENTION_STEP ||
           op == OP_PURGE || op == OP_INSTANCE_DELETE;
}

/* A commit that ends a run and claims the next needs statements that others do without: the claim, the
 * runner's row, what the next one remembers.  Even for a single run they cost what thirty steps do.  So where
 * statements cost that much, such commits are left in the queue while enough others go on, until there are
 * many, and by two batches at most. */
enum { LEFT_MOST = 2, LEFT_MANY = 24, OTHERS_LEAST = 16 };

static bool is_end_with_claim(const struct request *request)
{
    return request->op == OP_COMMIT && request_is_claiming(request);
}

static bool must_leave_ends(const struct local_engine *engine)
{
    size_t ends = 0, others = 0, seen = 0;
    if (engine->committer_count == 1)
        return false;
    for (const struct request *at = engine->writes.first; at && seen < BATCH_MAX;
         at = at->next, seen++) {
        bool is_end = is_end_with_claim(at);
        if (is_end && at->left_count == LEFT_MOST)
            return false;
        ends += is_end;
        others += at->op == OP_COMMIT && !is_end;
    }
    return ends < LEFT_MANY && others >= OTHERS_LEAST;
}

static void take_batch(struct local_engine *engine, struct request_queue *ret_batch)
{
    struct request_queue left = {0};
    bool is_leaving = must_leave_ends(engine);
    size_t taken = 0;
    while (engine->writes.first && ret_batch->count < BATCH_MAX) {
        struct request *next = engine->writes.first;
        bool is_alone = is_taken_alone(next->op);
        if (is_leaving && is_end_with_claim(next)) {
            next->left_count++;
            queue_push(&left, queue_pop(&engine->writes));
            continue;
        }
        taken += weight(next);
        if (ret_batch->count && (is_alone || taken > BATCH_WEIGHT_MAX))
            break;
        queue_push(ret_batch, queue_pop(&engine->writes));
        if (is_alone)
            break;
    }
    queue_prepend(&engine->writes, &left);
}

int64_t store_deadline_us(const struct local_engine *engine,
                          const struct request_queue *requests)
{
    int64_t now_us = clock_monotonic_us(&engine->clock);
    int64_t least_us = now_us + STORE_PATIENCE_MS * US_PER_MS;
    int64_t deadline_us = now_us + engine->base.options.retry_ms * US_PER_MS;
    for (const struct request *it = requests->first; it; it = it->next)
        if (it->give_up_us > now_us && it->give_up_us < deadline_us)
            deadline_us = it->give_up_us;
    return deadline_us < least_us ? least_us : deadline_us;
}

/* Whether a try is due that has no other purpose than to find the store again. */
static bool must_look_for_store(const struct local_engine *engine)
{
    return engine->is_in_trouble && !engine->clock.is_virtual;
}

/* When what this process keeps in memory is to be written: monotonic.  With the lock held. */
static int64_t own_next_us(struct local_engine *engine)
{
    int64_t workers_us = workers_next_us(engine), figures_us = figures_next_us(engine);
    int64_t bulk_us = bulk_next_us(engine), sweep_us = retention_next_us(engine);
    int64_t next_us = figures_us < workers_us ? figures_us : workers_us;
    if (sweep_us < next_us)
        next_us = sweep_us;
    return bulk_us < next_us ? bulk_us : next_us;
}

/* ---- waiting for more --------------------------------------------------------------------------
 *
 * Few large commits cost less than many small ones, so requests wait for more of them, twice.
 *
 * Callers who have just been answered often have their next request at once.  The next batch waits for
 * them, for a moment that is short beside a commit.
 *
 * While a committer is at work, a second one begins only if there is much to do, or if the first takes long,
 * as one does that waits for a lock.  If other processes claim from the same store, much to do is no reason:
 * their commits run beside ours, and claims at the same time pass over each other's rows.
 *
 * Where there is a second one and only a few callers, none of them waits for another: what they would save
 * by a common commit is little, and a job begins a whole commit earlier.
 */

/* What may be waited for after a commit, as a part of what it took. */
enum { ANSWERED_PART = 8, ANSWERED_LONGEST_US = 500 };

/* What a second committer begins for. */
enum {
    MUCH_ROWS = 256,
    LONG_COMMITS = 4,
    LONG_LEAST_US = 10 * 1000,
    LONG_MOST_US = 100 * 1000
};

/* Of one commit. */
enum { FEW_REQUESTS = 2 };

/* A number of rows that never wait. */
#define NEVER SIZE_MAX

/* How long another process counts whose claims were in the way. */
#define COMPANY_US US_PER_SEC

/* Without threads there is nobody who could come meanwhile. */
static void gather(struct local_engine *engine, size_t rows, int64_t longest_us)
{
    engine->gathering.wanted = engine->has_threads ? rows : 0;
    engine->gathering.until_us = clock_monotonic_us(&engine->clock) + longest_us;
}

static bool has_company(const struct local_engine *engine)
{
    int64_t met_us = atomic_load(&engine->store->met_us);
    return met_us && clock_monotonic_us(&engine->clock) - met_us < COMPANY_US;
}

static bool are_few(const struct local_engine *engine, const struct request_queue *requests)
{
    return engine->committer_count > 1 && requests->count <= FEW_REQUESTS &&
           !has_company(engine);
}

/* What another committer begins for while this batch is under way. */
static size_t rows_beside(const struct local_engine *engine, const struct request_queue *batch)
{
    return has_company(engine) ? NEVER : are_few(engine, batch) ? 1 : MUCH_ROWS;
}

/* What the next batch waits for after these requests are answered. */
static size_t rows_after(const struct local_engine *engine,
                         const struct request_queue *requests)
{
    if (has_company(engine) && engine->gathering.at_work > 1)
        return NEVER;
    return are_few(engine, requests) ? 0 : queue_weight(requests, MUCH_ROWS);
}

/* How long a committer may be at work before it takes long. */
static int64_t long_us(const struct local_engine *engine)
{
    int64_t us = engine->gathering.commit_us * LONG_COMMITS;
    return us < LONG_LEAST_US ? LONG_LEAST_US : us > LONG_MOST_US ? LONG_MOST_US : us;
}

/* Questions that wanted a commit before them go to the reader now. */
static void pass_on_questions(struct committer *committer, struct request_queue *requests)
{
    struct local_engine *engine = committer->engine;
    struct request_queue rest = {0};
    struct request *request;
    while ((request = queue_pop(requests)) != NULL) {
        bool is_question = request->op == OP_METRICS && !request->code;
        if (is_question && engine->has_reader) {
            pthread_mutex_lock(&engine->lock);
            queue_push(&engine->reads, request);
            pthread_cond_signal(&engine->read_work);
            pthread_mutex_unlock(&engine->lock);
            continue;
        }
        if (is_question)
            request->code = read_run(engine, committer->session, request);
        queue_push(&rest, request);
    }
    *requests = rest;
}

/* What takes several commits goes on behind those that wait. */
static void put_unfinished_back(struct local_engine *engine, struct request_queue *requests)
{
    struct request *request = requests->first;
    if (requests->count != 1 || !request->is_unfinished || request->code)
        return;
    request->purged_count = request->out.purged.instances;
    pthread_mutex_lock(&engine->lock);
    queue_push(&engine->writes, queue_pop(requests));
    committer_wake(engine);
    pthread_mutex_unlock(&engine->lock);
}

/* Answers the callers of a commit. */
static void answer(struct local_engine *engine, struct request_queue *requests,
                   int64_t commit_us)
{
    int64_t most_us = commit_us / ANSWERED_PART;
    pthread_mutex_lock(&engine->lock);
    size_t rows = rows_after(engine, requests);
    engine->gathering.commit_us = commit_us;
    gather(engine, rows, long_us(engine));
    pthread_mutex_unlock(&engine->lock);
    queue_end(requests, NULL);
    pthread_mutex_lock(&engine->lock);
    if (engine->gathering.wanted == rows && rows != NEVER) /* no batch has begun meanwhile */
        gather(engine, rows, most_us < ANSWERED_LONGEST_US ? most_us : ANSWERED_LONGEST_US);
    pthread_mutex_unlock(&engine->lock);
}

static bool is_gathered(const struct local_engine *engine)
{
    size_t wanted = engine->gathering.wanted;
    return wanted != NEVER && queue_weight(&engine->writes, wanted) >= wanted;
}

static bool may_begin(const struct local_engine *engine)
{
    return is_gathered(engine) ||
           clock_monotonic_us(&engine->clock) >= engine->gathering.until_us;
}

void committer_wake(struct local_engine *engine)
{
    if (engine->writes.count == 1 || is_gathered(engine))
        pthread_cond_signal(&engine->write_work);
}

/* ---- when ------------------------------------------------------------------------------------ */

int64_t committer_next_us(const struct committer *committer)
{
    const struct local_engine *engine = committer->engine;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    int64_t next_us = INT64_MAX;
    if (engine->writes.count)
        next_us = committer->rest_until_us;
    if (engine->writes.count && !is_gathered(engine) && next_us < engine->gathering.until_us)
        next_us = engine->gathering.until_us;
    if (committer->index == 0) {
        bool has_errand = engine->is_foreign_news || must_look_for_store(engine);
        if (has_errand && committer->rest_until_us < next_us)
            next_us = committer->rest_until_us;
        if (engine->park_deadline_us && engine->park_deadline_us < next_us)
            next_us = engine->park_deadline_us;
        int64_t held_us = held_next_us(engine);
        if (held_us < next_us)
            next_us = held_us;
        int64_t due_us = timers_next_us(engine);
        if (due_us < committer->rest_until_us)
            due_us = committer->rest_until_us;
        if (due_us < next_us)
            next_us = due_us;
        int64_t own_us = own_next_us(committer->engine);
        if (own_us < committer->rest_until_us)
            own_us = committer->rest_until_us;
        if (own_us < next_us)
            next_us = own_us;
    }
    return next_us <= now_us ? 0 : next_us;
}

/* ---- after a commit ------------------------------------------------------------------------ */

static struct request *unwanted(struct request *request)
{
    request->code = fail(&request->error, CAIRN_E_CLOSED, "the caller has gone");
    return request;
}

/* Parks a claim that found nothing, unless something has become claimable since it looked. */
static void settle_empty(struct local_engine *engine, struct request *request, bool has_news,
                         struct request_queue *ret_woken)
{
    const cairn_claim_options *claim = request_claim(request);
    int64_t now_us = clock_monotonic_us(&engine->clock);
    if (request->wait_until_us == 0)
        request->wait_until_us = now_us + claim->wait_ms * US_PER_MS;
    bool is_token_timed =
        request->token_in_us && !engine->clock.is_virtual; /* advance.c wakes it */
    request->token_at_us = is_token_timed ? now_us + request->token_in_us : 0;
    if (request->wakes != park_wakes(engine, request))
        queue_push(ret_woken, request);
    else if (unwanted_since(engine, request))
        queue_push(ret_woken, unwanted(request));
    else if (has_news)
        queue_push(&engine->writes, request);
    else
        park_add(engine, request);
}

/* What was known before a commit began. */
struct known {
    int64_t at_us; /* monotonic */
    uint64_t ready_epochs[EPOCHS];
    struct timer_watch timers;
};

static void settle(struct committer *committer, const struct known *before,
                   struct batch_result *result)
{
    struct local_engine *engine = committer->engine;
    struct request_queue woken = {0};
    struct request *request;
    committer->backoff_us = 0;
    committer->rest_until_us = 0;

    pthread_mutex_lock(&engine->lock);
    timers_note(engine, result, &before->timers);
    bool has_news =
        memcmp(engine->ready_epochs, before->ready_epochs, sizeof engine->ready_epochs) != 0;
    for (enum claim_kind kind = 0; kind < CLAIM_KINDS; kind++)
        engine->ready_epochs[kind] += result->ready.is_made[kind];
    engine->ready_epochs[EPOCH_PLACES] += result->ready.is_place;
    if (result->ready.count || result->ready.is_any || result->ready.is_place)
        park_wake(engine, &result->ready);
    while ((request = queue_pop(&result->empty)) != NULL)
        settle_empty(engine, request, has_news, &woken);
    while ((request = queue_pop(&result->held)) != NULL)
        held_add(engine, request, &woken);
    if (!has_news && result->nothing.count)
        park_note_nothing(engine, &result->nothing);
    if (engine->committer_count > 1 && engine->parked.count)
        pthread_cond_broadcast(&engine->write_work);
    pthread_mutex_unlock(&engine->lock);
    queue_end(&woken, NULL);
}

/* Anything may have changed: what waits looks again.  With the lock held. */
static void look_at_all(struct local_engine *engine)
{
    note_any_ready(engine);
    timers_ask(engine);
    park_wake(engine, NULL);
}

/* ---- when it failed ------------------------------------------------------------------------ */

static void rest(struct committer *committer)
{
    int64_t longer = committer->backoff_us * 2;
    committer->backoff_us = longer < REST_FIRST_US     ? REST_FIRST_US
                            : longer > REST_LONGEST_US ? REST_LONGEST_US
                                                       : longer;
    committer->rest_until_us =
        clock_monotonic_us(&committer->engine->clock) + committer->backoff_us;
}

static bool has_time(const struct request *request, int64_t now_us)
{
    return request->give_up_us > now_us || request->wait_until_us > now_us;
}

/* The store may come back: requests that have time left wait for it, in the same order. */
static void try_later(struct committer *committer, struct request_queue *requests,
                      const cairn_error *why, bool is_unsure)
{
    struct local_engine *engine = committer->engine;
    struct request_queue later = {0}, over = {0};
    struct request *request;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    while ((request = queue_pop(requests)) != NULL) {
        request->was_unsure |= is_unsure;
        queue_push(has_time(request, now_us) ? &later : &over, request);
    }
    rest(committer);
    bool is_lost = why->code == CAIRN_E_UNREACHABLE && !engine->clock.is_virtual;
    pthread_mutex_lock(&engine->lock);
    bool is_news = is_lost && !engine->is_in_trouble;
    if (is_lost) {
        engine->is_in_trouble = true;
        engine->trouble = *why;
    }
    if (is_news)
        engine->trouble_us = now_us;
    if (is_unsure) /* it may have changed anything, and a second try will not say so */
        look_at_all(engine);
    if (is_unsure)
        waits_look(engine);
    queue_prepend(&engine->writes, &later);
    pthread_mutex_unlock(&engine->lock);
    if (is_news)
        notice_tell(&engine->base, CAIRN_NOTICE_ERROR, "store_lost", NULL, "lost the store: %s",
                    why->message);
    queue_end(&over, why);
}

static void commit_all(struct committer *committer, struct request_queue *requests,
                       bool is_alone);

static bool is_store_lost(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool is_lost = engine->is_in_trouble;
    pthread_mutex_unlock(&engine->lock);
    return is_lost;
}

/* The database rejected the batch because of one request: each is tried alone, so that only that one
 * fails.  If the store is lost on the way, the others wait for it together. */
static void commit_each(struct committer *committer, struct request_queue *requests)
{
    struct local_engine *engine = committer->engine;
    struct request *request;
    while (!is_store_lost(engine) && (request = queue_pop(requests)) != NULL) {
        struct request_queue one = {0};
        queue_push(&one, request);
        commit_all(committer, &one, true);
    }
    if (!requests->count)
        return;
    pthread_mutex_lock(&engine->lock);
    queue_prepend(&engine->writes, requests);
    pthread_mutex_unlock(&engine->lock);
}

static cairn_code open_session(struct committer *committer, cairn_error *reterr)
{
    struct store *store = committer->engine->store;
    if (committer->session)
        return CAIRN_OK;
    return store->ops->session_open(store, SESSION_WRITER, &committer->session, reterr);
}

/* The store has answered, whatever it said. */
static void note_reached(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool is_news = engine->is_in_trouble;
    int64_t after_ms = (clock_monotonic_us(&engine->clock) - engine->trouble_us) / US_PER_MS;
    engine->is_in_trouble = false;
    pthread_mutex_unlock(&engine->lock);
    const struct notice_fact facts[] = {{"after_ms", after_ms}, {0}};
    if (is_news)
        notice_tell(&engine->base, CAIRN_NOTICE_INFO, "store_recovered", facts,
                    "the store answers again after %lld ms", (long long)after_ms);
}

/* The disk is full, the tables are gone: callers are told, and so is the operator, once in a while. */
static void tell_refused(struct local_engine *engine, const cairn_error *why)
{
    if (cairn_code_http_status(why->code) < 500 || why->code == CAIRN_E_CLOSED)
        return;
    pthread_mutex_lock(&engine->lock);
    int64_t now_us = clock_monotonic_us(&engine->clock);
    const struct notice_fact facts[] = {{"left_out", engine->refusals_untold}, {0}};
    bool is_told = !engine->refusal_us || now_us - engine->refusal_us >= REFUSAL_PAUSE_US;
    engine->refusals_untold = is_told ? 0 : engine->refusals_untold + 1;
    if (is_told)
        engine->refusal_us = now_us;
    pthread_mutex_unlock(&engine->lock);
    if (is_told)
        notice_tell(&engine->base, CAIRN_NOTICE_ERROR, "commit_failed", facts, "%s",
                    why->message);
}

/* The store has refused what timers or requests have made: it is tried without timers, and then the timers by themselves. */
static void commit_untimed(struct committer *committer, struct request_queue *requests,
                           const cairn_error *why, bool is_alone)
{
    committer->timing = (struct timing){.is_off = true};
    if (requests->count)
        commit_all(committer, requests, is_alone);
    else
        tell_refused(committer->engine, why);
    committer->timing = (struct timing){0};
    timers_take_care(committer);
}

static void commit_all(struct committer *committer, struct request_queue *requests,
                       bool is_alone)
{
    struct local_engine *engine = committer->engine;
    struct batch_result result = {.is_begin_failed = true};
    cairn_error why = {0};

    pthread_mutex_lock(&engine->lock);
    struct known before = {.at_us = clock_monotonic_us(&engine->clock),
                           .timers = engine->timers};
    memcpy(before.ready_epochs, engine->ready_epochs, sizeof before.ready_epochs);
    pthread_mutex_unlock(&engine->lock);

    cairn_code code = open_session(committer, &why);
    if (!code) {
        committer->session->deadline_us = store_deadline_us(engine, requests);
        code = batch_commit(committer, requests, is_alone, &result, &why);
    }
    why.code = code;
    if (code != CAIRN_E_UNREACHABLE && !result.is_begin_failed)
        note_reached(engine);
    if (!code) {
        settle(committer, &before, &result);
        put_unfinished_back(engine, requests);
        pass_on_questions(committer, requests);
        answer(engine, requests, clock_monotonic_us(&engine->clock) - before.at_us);
        commit_each(committer, &result.busy);
    } else if (code == CAIRN_E_UNREACHABLE ||
               (code_is_transient(code) && result.is_begin_failed)) {
        try_later(committer, requests, &why, result.is_unsure);
    } else if (result.is_timed && code == CAIRN_E_STORE && !committer->timing.is_off) {
        commit_untimed(committer, requests, &why, is_alone);
    } else if (requests->count > 1) {
        commit_each(committer, requests);
    } else if (code_is_transient(code)) {
        try_later(committer, requests, &why, false);
    } else {
        if (!requests->count)
            rest(committer); /* only timers were due */
        tell_refused(engine, &why);
        queue_end(requests, &why);
    }
}

/* ---- one round ----------------------------------------------------------------------------- */

/* Another process has committed: waiting claims look again, and it may have set a timer. */
static void note_foreign_commit(struct committer *committer)
{
    struct local_engine *engine = committer->engine;
    cairn_error why;
    if (!open_session(committer, &why) &&
        !engine->store->ops->is_changed_elsewhere(committer->session))
        return;
    pthread_mutex_lock(&engine->lock);
    look_at_all(engine);
    if (engine->store->ops->ask_due_ms == 0) /* else the watcher knows whether it was an end */
        waits_look(engine);
    pthread_mutex_unlock(&engine->lock);
}

static void advance(struct committer *committer, struct request_queue *batch)
{
    struct request *request = batch->first;
    request->code = clock_advance(committer, request);
    if (code_is_transient(request->code)) {
        cairn_error why = request->error;
        why.code = request->code;
        try_later(committer, batch, &why, false);
    } else {
        answer(committer->engine, batch, 0); /* nobody is to be waited for */
    }
}

/* While the store is away: takes the requests whose time is over, so that they are answered
 * for another try.  With the lock held. */
static void take_timed_out(struct local_engine *engine, struct request_queue *ret_over)
{
    struct request_queue rest = {0};
    struct request *request;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    while ((request = queue_pop(&engine->writes)) != NULL)
        queue_push(has_time(request, now_us) ? &rest : ret_over, request);
    engine->writes = rest;
}

static void end_work(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool is_last = --engine->gathering.at_work == 0;
    if (is_last && engine->gathering.wanted == NEVER) {
        engine->gathering.wanted = 0;
        pthread_cond_broadcast(&engine->write_work);
    }
    pthread_mutex_unlock(&engine->lock);
}

bool committer_run_once(struct committer *committer)
{
    struct local_engine *engine = committer->engine;
    struct request_queue batch = {0}, expired = {0};

    pthread_mutex_lock(&engine->lock);
    if (committer_next_us(committer) != 0) {
        pthread_mutex_unlock(&engine->lock);
        return false;
    }
    bool has_news = false;
    if (committer->index == 0) {
        park_expire(engine, &expired);
        held_run(engine, &expired);
        has_news = engine->is_foreign_news;
        engine->is_foreign_news = false;
    }
    pthread_mutex_unlock(&engine->lock);

    queue_end(&expired, NULL);
    if (has_news)
        note_foreign_commit(committer);

    pthread_mutex_lock(&engine->lock);
    bool is_awake = committer->rest_until_us <= clock_monotonic_us(&engine->clock);
    cairn_error trouble = engine->trouble;
    if (is_awake && engine->is_in_trouble)
        take_timed_out(engine, &expired);
    if (committer->index == 0 && is_awake &&
        bulk_next_us(engine) <= clock_monotonic_us(&engine->clock))
        bulk_submit(engine);
    if (committer->index == 0 && is_awake &&
        retention_next_us(engine) <= clock_monotonic_us(&engine->clock))
        retention_submit(engine);
    bool is_due = committer->index == 0 && is_awake &&
                  (timers_are_due(engine) || must_look_for_store(engine) ||
                   own_next_us(engine) <= clock_monotonic_us(&engine->clock));
    if (is_awake && (is_due || may_begin(engine)))
        take_batch(engine, &batch);
    bool is_at_work = batch.count > 0;
    if (is_at_work)
        gather(engine, rows_beside(engine, &batch), long_us(engine));
    engine->gathering.at_work += is_at_work;
    pthread_mutex_unlock(&engine->lock);

    queue_end(&expired, &trouble);
    if (batch.first && batch.first->op == OP_CLOCK_ADVANCE) {
        advance(committer, &batch);
    } else if (batch.count || is_due) {
        commit_all(committer, &batch, false);
    }
    if (is_at_work)
        end_work(engine);
    return true;
}
