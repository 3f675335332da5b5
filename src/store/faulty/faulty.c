/* store/faulty/faulty.c - a store around another one that fails on cue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/faulty/pass.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/random.h"

#include <assert.h>
#include <pthread.h>

static const char *const verb_names[FAULTY_VERB_COUNT] = {
    [FAULTY_ANY] = "any verb",
    [FAULTY_SESSION_OPEN] = "session_open",
    [FAULTY_BEGIN] = "begin",
    [FAULTY_COMMIT] = "commit",
    [FAULTY_INSERT_JOBS] = "insert_jobs",
    [FAULTY_LOCK_JOBS] = "lock_jobs",
    [FAULTY_LOCK_EXPIRED_JOBS] = "lock_expired_jobs",
    [FAULTY_UPDATE_JOBS] = "update_jobs",
    [FAULTY_CLAIM_JOBS] = "claim_jobs",
    [FAULTY_FIND_CLAIMED] = "find_claimed",
    [FAULTY_PROMOTE_JOBS] = "promote_jobs",
    [FAULTY_APPEND_EVENTS] = "append_events",
    [FAULTY_PUT_REGISTRY] = "put_registry",
    [FAULTY_NEXT_DUE] = "next_due",
    [FAULTY_GET_JOB] = "get_job",
    [FAULTY_LIST_JOBS] = "list_jobs",
    [FAULTY_LIST_EVENTS] = "list_events",
    [FAULTY_GET_REGISTRY] = "get_registry",
    [FAULTY_LIST_REGISTRY] = "list_registry",
    [FAULTY_COUNT_JOBS] = "count_jobs",
    [FAULTY_LIST_TYPES] = "list_types",
    [FAULTY_INSPECT] = "inspect",
    [FAULTY_PUT_DEFINITION] = "put_definition",
    [FAULTY_INSERT_INSTANCES] = "insert_instances",
    [FAULTY_INSERT_STEPS] = "insert_steps",
    [FAULTY_LOCK_INSTANCES] = "lock_instances",
    [FAULTY_UPDATE_INSTANCES] = "update_instances",
    [FAULTY_LOCK_STEPS] = "lock_steps",
    [FAULTY_LOCK_CURRENT_STEPS] = "lock_current_steps",
    [FAULTY_LOCK_STEPS_BETWEEN] = "lock_steps_between",
    [FAULTY_LOCK_COMMITTED_STEPS] = "lock_committed_steps",
    [FAULTY_UPDATE_STEPS] = "update_steps",
    [FAULTY_DELETE_STEPS] = "delete_steps",
    [FAULTY_SEND_STEP_CLAIM] = "send_step_claim",
    [FAULTY_CLAIM_STEPS] = "claim_steps",
    [FAULTY_LIST_READY_TYPES] = "list_ready_types",
    [FAULTY_FIND_CLAIMED_STEPS] = "find_claimed_steps",
    [FAULTY_PROMOTE_STEPS] = "promote_steps",
    [FAULTY_FIND_DUE_STEPS] = "find_due_steps",
    [FAULTY_FIND_DUE_INSTANCES] = "find_due_instances",
    [FAULTY_INSERT_SIGNAL] = "insert_signal",
    [FAULTY_FIND_SIGNAL] = "find_signal",
    [FAULTY_MARK_SIGNAL] = "mark_signal",
    [FAULTY_KEEP_SIGNAL_TAKEN] = "keep_signal_taken",
    [FAULTY_GET_SIGNAL] = "get_signal",
    [FAULTY_LIST_SIGNALS] = "list_signals",
    [FAULTY_APPEND_OUTBOX] = "append_outbox",
    [FAULTY_CLAIM_OUTBOX] = "claim_outbox",
    [FAULTY_ACK_OUTBOX] = "ack_outbox",
    [FAULTY_APPEND_FLOW_EVENTS] = "append_flow_events",
    [FAULTY_APPEND_DLQ] = "append_dlq",
    [FAULTY_APPEND_LOGS] = "append_logs",
    [FAULTY_INSERT_DECISION] = "insert_decision",
    [FAULTY_LIST_DECISIONS] = "list_decisions",
    [FAULTY_CLOSE_DLQ] = "close_dlq",
    [FAULTY_NEXT_FLOW_DUE] = "next_flow_due",
    [FAULTY_GET_DEFINITION] = "get_definition",
    [FAULTY_LIST_DEFINITIONS] = "list_definitions",
    [FAULTY_GET_INSTANCE] = "get_instance",
    [FAULTY_READ_INSTANCES] = "read_instances",
    [FAULTY_LIST_INSTANCES] = "list_instances",
    [FAULTY_LIST_STEPS] = "list_steps",
    [FAULTY_READ_STEPS] = "read_steps",
    [FAULTY_LIST_MEMOS] = "list_memos",
    [FAULTY_GET_STEP] = "get_step",
    [FAULTY_LIST_FLOW_EVENTS] = "list_flow_events",
    [FAULTY_LIST_LOGS] = "list_logs",
    [FAULTY_LIST_DLQ] = "list_dlq",
    [FAULTY_GET_DLQ] = "get_dlq",
    [FAULTY_COUNT_INSTANCES] = "count_instances",
    [FAULTY_COUNT_STEPS] = "count_steps",
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
struct fault faulty_next(struct store *base, enum faulty_verb verb)
{
    struct faulty_store *store = faulty(base);
    struct fault fault = {0};
    pthread_mutex_lock(&store->mutex);
    store->calls[verb]++;
    store->calls[FAULTY_ANY]++;
    for (size_t i = 0; i < store->rule_count && !fault.code; i++)
        if (applies(&store->rules[i], store->calls, verb))
            fault = (struct fault){store->rules[i].code, store->rules[i].moment};
    if (!fault.code)
        fault = draw_fault(store, verb);
    if (fault.code)
        store->failures++;
    pthread_mutex_unlock(&store->mutex);
    return fault;
}

static cairn_code say_failed(struct fault fault, enum faulty_verb verb, cairn_error *reterr)
{
    fail(reterr, fault.code, "could not %s: the test lets it fail", verb_names[verb]);
    return fail_detail(reterr, fault.code, "%s",
                       fault.moment == FAULTY_BEFORE ? "before it was done"
                                                     : "after it was done");
}

/* ---- opening ----------------------------------------------------------------------------- */

static cairn_code faulty_open(const struct store_config *config, struct store **ret_store,
                              cairn_error *reterr)
{
    (void)ret_store;
    return fail(reterr, CAIRN_E_BAD_INPUT, "cannot open \"%s\": a store is wrapped, not opened",
                config->url);
}

static void faulty_close(struct store *base)
{
    struct faulty_store *store = faulty(base);
    store->inner->ops->close(store->inner);
    pthread_mutex_destroy(&store->mutex);
    mem_free(store->rules);
    mem_free(store);
}

static cairn_code faulty_session_open(struct store *store, enum session_kind kind,
                                      struct store_session **ret_session, cairn_error *reterr)
{
    struct store *inner = faulty(store)->inner;
    if (inner->clock != store->clock) /* an engine gives its own clock to the store it gets */
        inner->clock = store->clock;
    struct fault fault = faulty_next(store, FAULTY_SESSION_OPEN);
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

static void faulty_session_close(struct store_session *base)
{
    struct faulty_session *session = (struct faulty_session *)base;
    session->inner->store->ops->session_close(session->inner);
    mem_free(session);
}

/* ---- transactions ------------------------------------------------------------------------ */

static cairn_code faulty_begin(struct store_session *base, struct arena *arena,
                               struct store_tx **ret_tx, cairn_error *reterr)
{
    struct faulty_session *session = (struct faulty_session *)base;
    struct store *inner = faulty(base->store)->inner;
    struct fault fault = faulty_next(base->store, FAULTY_BEGIN);
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
    session->tx.base.now_us = session->tx.inner->now_us;
    *ret_tx = &session->tx.base;
    return CAIRN_OK;
}

struct store_tx *faulty_inner_tx(struct store_tx *tx)
{
    struct faulty_tx *own = faulty_tx(tx);
    assert(!own->is_broken); /* after an error only rollback() may follow */
    own->inner->now_us = tx->now_us;
    own->inner->arena = tx->arena;
    return own->inner;
}

const struct store_ops *faulty_inner_ops(struct store_tx *tx)
{
    return faulty(tx->session->store)->inner->ops;
}

static cairn_code faulty_commit(struct store_tx *tx, bool is_ready_made, cairn_error *reterr)
{
    struct store_tx *inner = faulty_inner_tx(tx);
    struct fault fault = faulty_next(tx->session->store, FAULTY_COMMIT);
    if (fault.code && fault.moment == FAULTY_BEFORE) {
        faulty_inner_ops(tx)->rollback(inner);
        return say_failed(fault, FAULTY_COMMIT, reterr);
    }
    cairn_code code = faulty_inner_ops(tx)->commit(inner, is_ready_made, reterr);
    if (!code && fault.code)
        return say_failed(fault, FAULTY_COMMIT, reterr);
    return code;
}

static void faulty_rollback(struct store_tx *tx)
{
    faulty_inner_ops(tx)->rollback(faulty_tx(tx)->inner);
}

/* ---- verbs ------------------------------------------------------------------------------- */

cairn_code faulty_end_call(struct store_tx *tx, enum faulty_verb verb, struct fault fault,
                           cairn_code code, cairn_error *reterr)
{
    tx->now_us = faulty_tx(tx)->inner->now_us;
    if (fault.code && (!code || code == CAIRN_E_NOT_FOUND))
        code = say_failed(fault, verb, reterr);
    if (code && code != CAIRN_E_NOT_FOUND)
        faulty_tx(tx)->is_broken = true;
    return code;
}

cairn_code faulty_refuse(struct store_tx *tx, enum faulty_verb verb, struct fault fault,
                         cairn_error *reterr)
{
    faulty_tx(tx)->is_broken = true;
    return say_failed(fault, verb, reterr);
}

static cairn_code faulty_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                     enum insert_result *ret_results, cairn_error *reterr)
{
    pass_on(FAULTY_INSERT_JOBS, insert_jobs(inner, rows, count, ret_results, reterr));
}

static cairn_code faulty_lock_jobs(struct store_tx *tx, const char *const *ids, size_t count,
                                   bool may_wait, struct job_row *ret_rows,
                                   enum lock_result *ret_results, cairn_error *reterr)
{
    pass_on(FAULTY_LOCK_JOBS,
            lock_jobs(inner, ids, count, may_wait, ret_rows, ret_results, reterr));
}

static cairn_code faulty_lock_expired_jobs(struct store_tx *tx, struct job_row *ret_rows,
                                           size_t room, size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LOCK_EXPIRED_JOBS,
            lock_expired_jobs(inner, ret_rows, room, ret_count, reterr));
}

static cairn_code faulty_update_jobs(struct store_tx *tx, const struct job_row *rows,
                                     size_t count, cairn_error *reterr)
{
    pass_on(FAULTY_UPDATE_JOBS, update_jobs(inner, rows, count, reterr));
}

static cairn_code faulty_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                                    struct job_row *ret_rows, size_t room, size_t *ret_count,
                                    cairn_error *reterr)
{
    pass_on(FAULTY_CLAIM_JOBS, claim_jobs(inner, claim, ret_rows, room, ret_count, reterr));
}

static cairn_code faulty_find_claimed(struct store_tx *tx, const char *worker,
                                      const char *token, struct job_row *ret_rows, size_t room,
                                      size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_FIND_CLAIMED,
            find_claimed(inner, worker, token, ret_rows, room, ret_count, reterr));
}

static cairn_code faulty_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                                      cairn_error *reterr)
{
    pass_on(FAULTY_PROMOTE_JOBS, promote_jobs(inner, limit, ret_count, reterr));
}

static cairn_code faulty_append_events(struct store_tx *tx, const struct job_event_row *events,
                                       size_t count, cairn_error *reterr)
{
    pass_on(FAULTY_APPEND_EVENTS, append_events(inner, events, count, reterr));
}

static cairn_code faulty_put_registry(struct store_tx *tx, const struct registry_row *row,
                                      cairn_error *reterr)
{
    pass_on(FAULTY_PUT_REGISTRY, put_registry(inner, row, reterr));
}

static cairn_code faulty_next_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    pass_on(FAULTY_NEXT_DUE, next_due(inner, ret_due_us, reterr));
}

static cairn_code faulty_get_job(struct store_tx *tx, const char *id, struct job_row *ret_row,
                                 cairn_error *reterr)
{
    pass_on(FAULTY_GET_JOB, get_job(inner, id, ret_row, reterr));
}

static cairn_code faulty_list_jobs(struct store_tx *tx, const struct job_filter *filter,
                                   struct job_row *ret_rows, size_t room, size_t *ret_count,
                                   cairn_error *reterr)
{
    pass_on(FAULTY_LIST_JOBS, list_jobs(inner, filter, ret_rows, room, ret_count, reterr));
}

static cairn_code faulty_list_events(struct store_tx *tx, const char *job_id, int64_t after,
                                     struct job_event_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_EVENTS,
            list_events(inner, job_id, after, ret_rows, room, ret_count, reterr));
}

static cairn_code faulty_get_registry(struct store_tx *tx, const char *name,
                                      struct registry_row *ret_row, cairn_error *reterr)
{
    pass_on(FAULTY_GET_REGISTRY, get_registry(inner, name, ret_row, reterr));
}

static cairn_code faulty_list_registry(struct store_tx *tx, const char *after,
                                       struct registry_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_REGISTRY,
            list_registry(inner, after, ret_rows, room, ret_count, reterr));
}

static cairn_code faulty_count_jobs(struct store_tx *tx, struct job_counts *ret_counts,
                                    cairn_error *reterr)
{
    pass_on(FAULTY_COUNT_JOBS, count_jobs(inner, ret_counts, reterr));
}

static cairn_code faulty_list_types(struct store_tx *tx, const char **ret_types, size_t room,
                                    size_t *ret_count, cairn_error *reterr)
{
    pass_on(FAULTY_LIST_TYPES, list_types(inner, ret_types, room, ret_count, reterr));
}

static cairn_code faulty_inspect(struct store_tx *tx, struct store_facts *ret_facts,
                                 cairn_error *reterr)
{
    pass_on(FAULTY_INSPECT, inspect(inner, ret_facts, reterr));
}

static bool faulty_watch(struct store *store, int stop_fd, int timeout_ms)
{
    struct store *inner = faulty(store)->inner;
    return inner->ops->watch(inner, stop_fd, timeout_ms);
}

static bool faulty_is_changed_elsewhere(struct store_session *base)
{
    struct store_session *inner = ((struct faulty_session *)base)->inner;
    return inner->store->ops->is_changed_elsewhere(inner);
}

/* ---- wrapping ---------------------------------------------------------------------------- */

static const struct store_ops faulty_ops = {
    .open = faulty_open,
    .close = faulty_close,
    .session_open = faulty_session_open,
    .session_close = faulty_session_close,
    .begin = faulty_begin,
    .commit = faulty_commit,
    .rollback = faulty_rollback,
    .insert_jobs = faulty_insert_jobs,
    .lock_jobs = faulty_lock_jobs,
    .lock_expired_jobs = faulty_lock_expired_jobs,
    .update_jobs = faulty_update_jobs,
    .claim_jobs = faulty_claim_jobs,
    .find_claimed = faulty_find_claimed,
    .promote_jobs = faulty_promote_jobs,
    .append_events = faulty_append_events,
    .put_registry = faulty_put_registry,
    .next_due = faulty_next_due,
    .get_job = faulty_get_job,
    .list_jobs = faulty_list_jobs,
    .list_events = faulty_list_events,
    .get_registry = faulty_get_registry,
    .list_registry = faulty_list_registry,
    .count_jobs = faulty_count_jobs,
    .list_types = faulty_list_types,
    .inspect = faulty_inspect,
    .put_definition = faulty_put_definition,
    .insert_instances = faulty_insert_instances,
    .insert_steps = faulty_insert_steps,
    .lock_instances = faulty_lock_instances,
    .update_instances = faulty_update_instances,
    .lock_steps = faulty_lock_steps,
    .lock_current_steps = faulty_lock_current_steps,
    .lock_steps_between = faulty_lock_steps_between,
    .lock_committed_steps = faulty_lock_committed_steps,
    .update_steps = faulty_update_steps,
    .delete_steps = faulty_delete_steps,
    .send_step_claim = faulty_send_step_claim,
    .claim_steps = faulty_claim_steps,
    .list_ready_types = faulty_list_ready_types,
    .find_claimed_steps = faulty_find_claimed_steps,
    .promote_steps = faulty_promote_steps,
    .find_due_steps = faulty_find_due_steps,
    .find_due_instances = faulty_find_due_instances,
    .insert_signal = faulty_insert_signal,
    .find_signal = faulty_find_signal,
    .mark_signal = faulty_mark_signal,
    .keep_signal_taken = faulty_keep_signal_taken,
    .get_signal = faulty_get_signal,
    .list_signals = faulty_list_signals,
    .append_outbox = faulty_append_outbox,
    .claim_outbox = faulty_claim_outbox,
    .ack_outbox = faulty_ack_outbox,
    .append_flow_events = faulty_append_flow_events,
    .append_dlq = faulty_append_dlq,
    .append_logs = faulty_append_logs,
    .insert_decision = faulty_insert_decision,
    .list_decisions = faulty_list_decisions,
    .close_dlq = faulty_close_dlq,
    .next_flow_due = faulty_next_flow_due,
    .get_definition = faulty_get_definition,
    .list_definitions = faulty_list_definitions,
    .get_instance = faulty_get_instance,
    .read_instances = faulty_read_instances,
    .list_instances = faulty_list_instances,
    .list_steps = faulty_list_steps,
    .read_steps = faulty_read_steps,
    .list_memos = faulty_list_memos,
    .get_step = faulty_get_step,
    .list_flow_events = faulty_list_flow_events,
    .list_logs = faulty_list_logs,
    .list_dlq = faulty_list_dlq,
    .get_dlq = faulty_get_dlq,
    .count_instances = faulty_count_instances,
    .count_steps = faulty_count_steps,
    .watch = faulty_watch,
    .is_changed_elsewhere = faulty_is_changed_elsewhere,
};

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
    if (!inner->ops->watch)
        store->ops.watch = NULL;
    if (!inner->ops->send_step_claim)
        store->ops.send_step_claim = NULL;
    store->base = (struct store){.ops = &store->ops, .clock = inner->clock};
    return &store->base;
}

bool faulty_add(struct store *base, const struct faulty_rule *rule)
{
    struct faulty_store *store = faulty(base);
    assert(rule->code && rule->call >= 1 && rule->verb < FAULTY_VERB_COUNT);
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
    return verb_names[verb];
}
