/* tests/faulty/faulty.c - a store around another one that fails on cue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "faulty/pass.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/random.h"

#include <assert.h>
#include <pthread.h>

struct faulty_tx {
    struct store_tx base;
    struct store_tx *inner;
    bool is_broken; /* an error has been reported: only rollback() may follow */
};

struct faulty_store {
    struct store base;
    struct store *inner;
    struct store_ops ops; /* as the inner one: its name, its writers, whether it can watch */

    pthread_mutex_t mutex; /* of all below */
    struct rng rng;
    double chance;
    struct faulty_rule *rules; /* .call is absolute here */
    size_t rule_count;
    uint64_t calls[FAULTY_VERB_COUNT];
    uint64_t failures;
};

struct faulty_session {
    struct store_session base;
    struct store_session *inner;
    struct faulty_tx tx;
};

static struct faulty_store *faulty(struct store *store)
{
    return (struct faulty_store *)store;
}

static struct faulty_tx *faulty_tx(struct store_tx *tx)
{
    return (struct faulty_tx *)tx;
}

/* ---- when to fail ------------------------------------------------------------------------ */

static bool applies(const struct faulty_rule *rule, const uint64_t *calls,
                    enum faulty_verb verb)
{
    if (rule->verb != verb && rule->verb != FAULTY_ANY)
        return false;
    uint64_t call = calls[rule->verb];
    return call >= rule->call && call - rule->call < rule->times;
}

static struct fault draw_fault(struct faulty_store *store, enum faulty_verb verb)
{
    struct fault fault = {0};
    if (store->chance <= 0 || rng_unit(&store->rng) >= store->chance)
        return fault;
    fault.code = rng_below(&store->rng, 2) ? CAIRN_E_UNREACHABLE : CAIRN_E_BUSY;
    if (verb == FAULTY_COMMIT && rng_below(&store->rng, 2))
        fault = (struct fault){.code = CAIRN_E_UNREACHABLE, .moment = FAULTY_AFTER};
    return fault;
}

/* Rules come before the plan, the oldest first. */
static struct fault next_fault(struct store *base, enum faulty_verb verb)
{
    struct faulty_store *store = faulty(base);
    struct fault fault = {0};
    struct faulty_rule rule = {0};
    pthread_mutex_lock(&store->mutex);
    store->calls[verb]++;
    store->calls[FAULTY_ANY]++;
    for (size_t i = 0; i < store->rule_count && !fault.code; i++)
        if (applies(&store->rules[i], store->calls, verb)) {
            rule = store->rules[i];
            fault = (struct fault){rule.code, rule.moment};
        }
    if (!fault.code)
        fault = draw_fault(store, verb);
    if (fault.code)
        store->failures++;
    pthread_mutex_unlock(&store->mutex);
    if (rule.meanwhile)
        rule.meanwhile(rule.arg);
    return fault;
}

static cairn_code say_failed(struct fault fault, enum faulty_verb verb, cairn_error *reterr)
{
    fail(reterr, fault.code, "could not %s: the test lets it fail", faulty_verb_names[verb]);
    return fail_detail(reterr, fault.code, "%s",
                       fault.moment == FAULTY_BEFORE ? "before it was done"
                                                     : "after it was done");
}

/* ---- opening ----------------------------------------------------------------------------- */

cairn_code faulty_open(const struct store_config *config, struct store **ret_store,
                       cairn_error *reterr)
{
    (void)ret_store;
    return fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": a store is wrapped, not opened",
                config->url);
}

void faulty_close(struct store *base)
{
    struct faulty_store *store = faulty(base);
    store->inner->ops->close(store->inner);
    pthread_mutex_destroy(&store->mutex);
    mem_free(store->rules);
    mem_free(store);
}

cairn_code faulty_session_open(struct store *store, enum session_kind kind,
                               struct store_session **ret_session, cairn_error *reterr)
{
    struct store *inner = faulty(store)->inner;
    if (inner->clock != store->clock) /* an engine gives its own clock to the store it gets */
        inner->clock = store->clock;
    struct fault fault = next_fault(store, FAULTY_SESSION_OPEN);
    if (fault.code && fault.moment == FAULTY_BEFORE)
        return say_failed(fault, FAULTY_SESSION_OPEN, reterr);

    struct faulty_session *session = mem_zalloc(sizeof *session);
    if (!session)
        return fail_memory(reterr);
    session->base = (struct store_session){.store = store, .kind = kind};
    cairn_code code = inner->ops->session_open(inner, kind, &session->inner, reterr);
    if (!code && fault.code) {
        inner->ops->session_close(session->inner);
        code = say_failed(fault, FAULTY_SESSION_OPEN, reterr);
    }
    if (code) {
        mem_free(session);
        return code;
    }
    *ret_session = &session->base;
    return CAIRN_OK;
}

void faulty_session_close(struct store_session *base)
{
    struct faulty_session *session = (struct faulty_session *)base;
    faulty(base->store)->inner->ops->session_close(session->inner);
    mem_free(session);
}

void faulty_forget(struct store *store, struct store_session *base)
{
    struct store *inner = faulty(store)->inner;
    inner->ops->forget(inner, base ? ((struct faulty_session *)base)->inner : NULL);
}

/* ---- transactions ------------------------------------------------------------------------ */

/* What a verb may change. */
static void copy_facts(struct store_tx *to, const struct store_tx *from)
{
    to->now_us = from->now_us;
    to->own_event = from->own_event;
    to->is_own_used = from->is_own_used;
    to->is_version_wanted = from->is_version_wanted;
    to->row_version = from->row_version;
}

cairn_code faulty_begin(struct store_session *base, struct arena *arena,
                        struct store_tx **ret_tx, cairn_error *reterr)
{
    struct faulty_session *session = (struct faulty_session *)base;
    struct store *inner = faulty(base->store)->inner;
    struct fault fault = next_fault(base->store, FAULTY_BEGIN);
    if (fault.code && fault.moment == FAULTY_BEFORE)
        return say_failed(fault, FAULTY_BEGIN, reterr);

    session->tx = (struct faulty_tx){.base = {.session = base, .arena = arena}};
    session->inner->deadline_us = base->deadline_us;
    cairn_code code = inner->ops->begin(session->inner, arena, &session->tx.inner, reterr);
    if (!code && fault.code) {
        inner->ops->rollback(session->tx.inner);
        code = say_failed(fault, FAULTY_BEGIN, reterr);
    }
    if (code)
        return code;
    copy_facts(&session->tx.base, session->tx.inner);
    *ret_tx = &session->tx.base;
    return CAIRN_OK;
}

static struct store_tx *inner_tx(struct store_tx *tx)
{
    struct faulty_tx *own = faulty_tx(tx);
    assert(!own->is_broken); /* after an error only rollback() may follow */
    copy_facts(own->inner, tx);
    own->inner->arena = tx->arena;
    return own->inner;
}

static const struct store_ops *inner_ops(struct store_tx *tx)
{
    return faulty(tx->session->store)->inner->ops;
}

cairn_code faulty_commit(struct store_tx *tx, unsigned news, cairn_error *reterr)
{
    struct store_tx *inner = inner_tx(tx);
    struct fault fault = next_fault(tx->session->store, FAULTY_COMMIT);
    if (fault.code && fault.moment == FAULTY_BEFORE) {
        inner_ops(tx)->rollback(inner);
        return say_failed(fault, FAULTY_COMMIT, reterr);
    }
    cairn_code code = inner_ops(tx)->commit(inner, news, reterr);
    copy_facts(tx, inner);
    if (!code && fault.code)
        return say_failed(fault, FAULTY_COMMIT, reterr);
    return code;
}

uint64_t faulty_round_trips(const struct store_session *base)
{
    return base ? ((const struct faulty_session *)base)->inner->round_trips : 0;
}

void faulty_rollback(struct store_tx *tx)
{
    inner_ops(tx)->rollback(faulty_tx(tx)->inner);
}

/* ---- verbs ------------------------------------------------------------------------------- */

struct faulty_call faulty_enter(struct store_tx *tx, enum faulty_verb verb, cairn_error *reterr)
{
    struct faulty_call call = {.tx = faulty_tx(tx),
                               .verb = verb,
                               .ops = inner_ops(tx),
                               .inner = inner_tx(tx),
                               .fault = next_fault(tx->session->store, verb)};
    if (call.fault.code && call.fault.moment == FAULTY_BEFORE)
        call.code = say_failed(call.fault, verb, reterr);
    return call;
}

struct faulty_call faulty_enter_as_writer(struct store_tx *tx, enum faulty_verb verb,
                                          cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    return faulty_enter(tx, verb, reterr);
}

cairn_code faulty_leave(struct faulty_call *call, cairn_error *reterr)
{
    struct faulty_tx *tx = call->tx;
    cairn_code code = call->code;
    copy_facts(&tx->base, tx->inner);
    if (call->fault.code && (!code || code == CAIRN_E_NOT_FOUND))
        code = say_failed(call->fault, call->verb, reterr);
    if (code && code != CAIRN_E_NOT_FOUND)
        tx->is_broken = true;
    return code;
}

unsigned faulty_watch(struct store *store, int stop_fd, int timeout_ms)
{
    struct store *inner = faulty(store)->inner;
    atomic_store(&inner->are_ends_wanted, atomic_load(&store->are_ends_wanted));
    inner->wake_fd = store->wake_fd;
    return inner->ops->watch(inner, stop_fd, timeout_ms);
}

bool faulty_is_hearing(struct store *store)
{
    struct store *inner = faulty(store)->inner;
    return inner->ops->is_hearing(inner);
}

bool faulty_is_changed_elsewhere(struct store_session *base)
{
    struct store_session *inner = ((struct faulty_session *)base)->inner;
    return faulty(base->store)->inner->ops->is_changed_elsewhere(inner);
}

/* ---- wrapping ---------------------------------------------------------------------------- */

struct store *faulty_wrap(struct store *inner, uint64_t seed, double chance)
{
    struct faulty_store *store = mem_zalloc(sizeof *store);
    if (!store)
        return NULL;
    if (pthread_mutex_init(&store->mutex, NULL)) {
        mem_free(store);
        return NULL;
    }
    store->inner = inner;
    store->chance = chance;
    rng_init(&store->rng, seed);
    store->ops = faulty_ops;
    store->ops.name = inner->ops->name;
    store->ops.writers = inner->ops->writers;
    store->ops.ask_due_ms = inner->ops->ask_due_ms;
    if (!inner->ops->send_insert_jobs)
        store->ops.send_insert_jobs = NULL;
    if (!inner->ops->send_complete_jobs)
        store->ops.send_complete_jobs = NULL;
    if (!inner->ops->look_for_tasks)
        store->ops.look_for_tasks = NULL;
    if (!inner->ops->lock_flow)
        store->ops.lock_flow = NULL;
    if (!inner->ops->advance_instances)
        store->ops.advance_instances = NULL;
    if (!inner->ops->send_memories)
        store->ops.send_memories = NULL;
    store->base = (struct store){.ops = &store->ops, .clock = inner->clock};
    return &store->base;
}

bool faulty_add(struct store *base, const struct faulty_rule *rule)
{
    struct faulty_store *store = faulty(base);
    assert((rule->code || rule->meanwhile) && rule->call >= 1 &&
           rule->verb < FAULTY_VERB_COUNT);
    pthread_mutex_lock(&store->mutex);
    struct faulty_rule *rules =
        mem_realloc(store->rules, (store->rule_count + 1) * sizeof *rules);
    if (rules) {
        store->rules = rules;
        struct faulty_rule *own = &rules[store->rule_count++];
        *own = *rule;
        own->call += store->calls[rule->verb];
        if (own->times == 0)
            own->times = 1;
    }
    pthread_mutex_unlock(&store->mutex);
    return rules;
}

void faulty_calm(struct store *base)
{
    struct faulty_store *store = faulty(base);
    pthread_mutex_lock(&store->mutex);
    store->rule_count = 0;
    store->chance = 0;
    pthread_mutex_unlock(&store->mutex);
}

uint64_t faulty_calls(struct store *base, enum faulty_verb verb)
{
    struct faulty_store *store = faulty(base);
    pthread_mutex_lock(&store->mutex);
    uint64_t calls = store->calls[verb];
    pthread_mutex_unlock(&store->mutex);
    return calls;
}

uint64_t faulty_failures(struct store *base)
{
    struct faulty_store *store = faulty(base);
    pthread_mutex_lock(&store->mutex);
    uint64_t failures = store->failures;
    pthread_mutex_unlock(&store->mutex);
    return failures;
}

const char *faulty_verb_name(enum faulty_verb verb)
{
    return faulty_verb_names[verb];
}
