/* store/memory/flow_mail.c - the verbs for signals, outbox, events, dead letters and logs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "base/error.h"
#include "store/memory/block.h"

#include <assert.h>
#include <string.h>

static void assert_writer(const struct store_tx *tx)
{
    assert(tx->session->kind == SESSION_WRITER);
}

/* The instance to which something is added: it must be there. */
static cairn_code need_instance(struct store_tx *tx, const char *id, const char *what,
                                struct instance **ret_instance, cairn_error *reterr)
{
    *ret_instance = flow_find_instance(&tx_table(tx)->flow, id);
    if (*ret_instance)
        return CAIRN_OK;
    return fail(reterr, CAIRN_E_STORE, "cannot add %s: instance \"%s\" does not exist", what,
                id);
}

/* ---- signals ----------------------------------------------------------------------------- */

#define SIGNAL_ROW(node, member) (&container_of(node, struct signal, member)->row)

static int probe_signal_id(const struct tree_node *node, const void *key)
{
    return strcmp(SIGNAL_ROW(node, by_id)->id, key);
}

/* NULL: the id is not known. */
static struct signal *find_signal_id(const struct instance *instance, const char *id)
{
    struct tree_node *node = tree_seek(&instance->signal_ids, probe_signal_id, id);
    return node && probe_signal_id(node, id) == 0 ? container_of(node, struct signal, by_id)
                                                  : NULL;
}

cairn_code memory_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr)
{
    (void)reterr;
    const struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    const struct signal *known = instance ? find_signal_id(instance, id) : NULL;
    if (!known)
        return CAIRN_E_NOT_FOUND;
    ret_row->seq = known->row.seq;
    ret_row->was_taken = known->row.was_taken;
    return CAIRN_OK;
}

cairn_code memory_insert_signal(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance;
    cairn_code code = need_instance(tx, row->instance_id, "a signal", &instance, reterr);
    if (code)
        return code;
    const struct signal *known = find_signal_id(instance, row->id);
    if (known) {
        row->seq = known->row.seq;
        row->was_taken = known->row.was_taken;
        *ret_result = INSERT_EXISTING;
        return CAIRN_OK;
    }
    *ret_result = INSERT_DONE;
    return table_insert_signal(tx_table(tx), instance, row, &row->seq) ? CAIRN_OK
                                                                       : fail_memory(reterr);
}

static bool copy_signal(struct store_tx *tx, const struct signal_row *row,
                        struct signal_row *ret_row)
{
    static const size_t texts[] = {
        offsetof(struct signal_row, instance_id), offsetof(struct signal_row, id),
        offsetof(struct signal_row, event), offsetof(struct signal_row, payload)};
    *ret_row = *row;
    return texts_copy(TEXTS(texts), ret_row, tx->arena);
}

static int probe_event(const struct tree_node *node, const void *key)
{
    return strcmp(SIGNAL_ROW(node, in_untaken)->event, key);
}

cairn_code memory_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row, cairn_error *reterr)
{
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    struct tree_node *node =
        instance ? tree_seek(&instance->untaken, probe_event, event) : NULL;
    while (node && probe_event(node, event) == 0 &&
           SIGNAL_ROW(node, in_untaken)->received_at_us > until_us)
        node = tree_next(node);
    if (!node || probe_event(node, event) != 0)
        return CAIRN_E_NOT_FOUND;

    return copy_signal(tx, SIGNAL_ROW(node, in_untaken), ret_row) ? CAIRN_OK
                                                                  : fail_memory(reterr);
}

static int probe_unread(const struct tree_node *node, const void *key)
{
    return SIGNAL_ROW(node, in_unread)->seq > *(const int64_t *)key ? 1 : -1;
}

cairn_code memory_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++, after = 0) {
        struct instance *instance = flow_find_instance(&tx_table(tx)->flow, ids[i]);
        struct tree_node *node =
            instance ? tree_seek(&instance->unread, probe_unread, &after) : NULL;
        for (; node && found < room; node = tree_next(node))
            if (!copy_signal(tx, SIGNAL_ROW(node, in_unread), &ret_rows[found++]))
                return fail_memory(reterr);
    }
    *ret_count = found;
    return CAIRN_OK;
}

static int probe_signal_seq(const struct tree_node *node, const void *key)
{
    return compare_int(SIGNAL_ROW(node, by_seq)->seq, *(const int64_t *)key);
}

cairn_code memory_mark_signal(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    struct tree_node *node =
        instance ? tree_seek(&instance->signals, probe_signal_seq, &signal_seq) : NULL;
    int32_t mark = signal_seq ? taken_by : -1;
    for (; node && (!signal_seq || probe_signal_seq(node, &signal_seq) == 0);
         node = tree_next(node)) {
        struct signal *signal = container_of(node, struct signal, by_seq);
        bool is_meant = signal_seq || taken_by == -1 || signal->row.taken_by == taken_by;
        if (is_meant && signal->row.taken_by != mark &&
            !table_mark_signal(tx_table(tx), signal, mark))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    struct tree_node *node =
        instance ? tree_seek(&instance->signals, probe_signal_seq, &signal_seq) : NULL;
    if (!node || probe_signal_seq(node, &signal_seq) != 0)
        return CAIRN_OK;
    struct signal *signal = container_of(node, struct signal, by_seq);
    return table_keep_signal_taken(tx_table(tx), signal) ? CAIRN_OK : fail_memory(reterr);
}

/* ---- outbox ------------------------------------------------------------------------------ */

cairn_code memory_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct instance *instance;
        cairn_code code =
            need_instance(tx, rows[i].instance_id, "an outbox event", &instance, reterr);
        if (code)
            return code;
        if (!table_append_outbox(tx_table(tx), instance, &rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

/* Whether it may be claimed now; after one that is claimed its instance has nothing more. */
static bool is_outbox_free(struct store_tx *tx, struct outbox *outbox)
{
    uint64_t number = tx_table(tx)->flow.outbox_claims;
    const struct outbox_row *row = &outbox->now->row;
    if (outbox->instance->held_by == number)
        return false;
    if (!row->claimed_by || row->claimed_until_us <= tx->now_us)
        return true;
    outbox->instance->held_by = number;
    return false;
}

static bool take_outbox(struct store_tx *tx, struct outbox *outbox, const char *worker,
                        int64_t until_us, struct outbox_row *ret_row)
{
    static const size_t texts[] = {
        offsetof(struct outbox_row, instance_id), offsetof(struct outbox_row, step),
        offsetof(struct outbox_row, event), offsetof(struct outbox_row, payload),
        offsetof(struct outbox_row, claimed_by)};
    struct outbox_version next = *outbox->now;
    next.row.claimed_by = worker;
    next.row.claimed_until_us = until_us;
    if (!table_update_outbox(tx_table(tx), outbox, &next))
        return false;
    *ret_row = outbox->now->row;
    return texts_copy(TEXTS(texts), ret_row, tx->arena);
}

cairn_code memory_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    assert_writer(tx);
    struct flow_table *flow = &tx_table(tx)->flow;
    size_t count = 0;
    flow->outbox_claims++;
    struct tree_node *next;
    for (struct tree_node *node = tree_first(&flow->open_outbox); node && count < room;
         node = next) {
        struct outbox *outbox = container_of(node, struct outbox, in_open);
        next = tree_next(node); /* before the row leaves its place and comes back */
        if (!is_outbox_free(tx, outbox))
            continue;
        if (!take_outbox(tx, outbox, worker, until_us, &ret_rows[count++]))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr)
{
    assert_writer(tx);
    struct flow_table *flow = &tx_table(tx)->flow;
    if (id < 1 || (uint64_t)id > flow->outbox_count)
        return CAIRN_E_NOT_FOUND;
    struct outbox *outbox = flow->outbox[id - 1];
    *ret_earlier = 0;
    if (outbox->now->is_acknowledged)
        return CAIRN_OK;
    struct tree_node *oldest = tree_first(&outbox->instance->open_outbox);
    if (oldest != &outbox->in_instance) {
        *ret_earlier = container_of(oldest, struct outbox, in_instance)->now->row.id;
        return CAIRN_OK;
    }
    struct outbox_version next = *outbox->now;
    next.is_acknowledged = true;
    return table_update_outbox(tx_table(tx), outbox, &next) ? CAIRN_OK : fail_memory(reterr);
}

/* ---- events ------------------------------------------------------------------------------ */

cairn_code memory_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct instance *instance;
        cairn_code code =
            need_instance(tx, events[i].instance_id, "an event", &instance, reterr);
        if (code)
            return code;
        struct event event = {.row = events[i]};
        event.row.instance_id = instance->now->row.id;
        event.row.at_us = tx->now_us;
        if (!table_append_event(tx_table(tx), &instance->events, &event))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_list_flow_events(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    static const size_t texts[] = {
        offsetof(struct flow_event_row, instance_id), offsetof(struct flow_event_row, type),
        offsetof(struct flow_event_row, step), offsetof(struct flow_event_row, data)};
    struct table *table = tx_table(tx);
    struct instance *instance =
        instance_id ? flow_find_instance(&table->flow, instance_id) : NULL;
    static const struct event_list none;
    const struct event_list *list = instance      ? &instance->events
                                    : instance_id ? &none
                                                  : &table->events;
    size_t count = 0;
    for (size_t i = event_after(list, after); i < list->count && count < room; i++) {
        ret_rows[count] = list->events[i]->row;
        if (!texts_copy(TEXTS(texts), &ret_rows[count++], tx->arena))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

/* ---- dead letters ------------------------------------------------------------------------ */

cairn_code memory_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct instance *instance;
        cairn_code code =
            need_instance(tx, rows[i].instance_id, "a dead letter", &instance, reterr);
        if (code)
            return code;
        if (!table_append_dlq(tx_table(tx), instance, &rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    struct tree_node *node = instance ? tree_first(&instance->open_dlq) : NULL;
    while (node) {
        struct dlq *dlq = container_of(node, struct dlq, in_instance);
        node = tree_next(node);
        if (seq != -1 && dlq->row.step_seq != seq)
            continue;
        if (!table_close_dlq(tx_table(tx), dlq))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

static bool copy_dlq(struct store_tx *tx, const struct dlq *dlq, struct dlq_row *ret_row)
{
    static const size_t texts[] = {
        offsetof(struct dlq_row, instance_id), offsetof(struct dlq_row, workflow),
        offsetof(struct dlq_row, step_name),   offsetof(struct dlq_row, step_type),
        offsetof(struct dlq_row, input),       offsetof(struct dlq_row, error),
        offsetof(struct dlq_row, reason)};
    *ret_row = dlq->row;
    return texts_copy(TEXTS(texts), ret_row, tx->arena);
}

/* Both trees have the newest first. */
static int probe_open_before(const struct tree_node *node, const void *key)
{
    return container_of(node, struct dlq, in_open)->row.id < *(const int64_t *)key ? 1 : -1;
}

static int probe_instance_before(const struct tree_node *node, const void *key)
{
    return container_of(node, struct dlq, in_instance)->row.id < *(const int64_t *)key ? 1 : -1;
}

cairn_code memory_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr)
{
    struct flow_table *flow = &tx_table(tx)->flow;
    struct instance *instance = instance_id ? flow_find_instance(flow, instance_id) : NULL;
    int64_t before = before_id ? before_id : INT64_MAX;
    struct tree_node *node = NULL;
    size_t count = 0;
    if (instance)
        node = tree_seek(&instance->open_dlq, probe_instance_before, &before);
    else if (!instance_id)
        node = tree_seek(&flow->open_dlq, probe_open_before, &before);
    for (; node && count < room; node = tree_next(node)) {
        struct dlq *dlq = instance ? container_of(node, struct dlq, in_instance)
                                   : container_of(node, struct dlq, in_open);
        if (!copy_dlq(tx, dlq, &ret_rows[count++]))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr)
{
    const struct flow_table *flow = &tx_table(tx)->flow;
    if (id < 1 || (uint64_t)id > flow->dlq_count)
        return CAIRN_E_NOT_FOUND;
    return copy_dlq(tx, flow->dlq[id - 1], ret_row) ? CAIRN_OK : fail_memory(reterr);
}

/* ---- decisions --------------------------------------------------------------------------- */

cairn_code memory_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance;
    cairn_code code = need_instance(tx, row->instance_id, "a decision", &instance, reterr);
    if (!code && !table_append_decision(tx_table(tx), instance, row))
        code = fail_memory(reterr);
    return code;
}

cairn_code memory_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    static const size_t texts[] = {
        offsetof(struct decision_row, instance_id), offsetof(struct decision_row, step_name),
        offsetof(struct decision_row, decided_by), offsetof(struct decision_row, decision),
        offsetof(struct decision_row, comment)};
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    size_t total = instance ? instance->decision_count : 0, count = 0;
    for (size_t i = (size_t)after; i < total && count < room; i++) {
        ret_rows[count] = instance->decisions[i]->row;
        ret_rows[count].id = (int64_t)i + 1;
        if (!texts_copy(TEXTS(texts), &ret_rows[count++], tx->arena))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

/* ---- logs -------------------------------------------------------------------------------- */

cairn_code memory_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct instance *instance;
        cairn_code code = need_instance(tx, rows[i].instance_id, "a log", &instance, reterr);
        if (code)
            return code;
        struct log_row row = rows[i];
        row.at_us = tx->now_us;
        if (!table_append_log(tx_table(tx), instance, &row))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

/* The index of the first log with a greater id. */
static size_t log_after(const struct instance *instance, int64_t after)
{
    size_t low = 0, high = instance->log_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (instance->logs[middle]->row.id > after)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

cairn_code memory_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    static const size_t texts[] = {
        offsetof(struct log_row, instance_id), offsetof(struct log_row, level),
        offsetof(struct log_row, message), offsetof(struct log_row, data),
        offsetof(struct log_row, step)};
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    size_t count = 0;
    for (size_t i = instance ? log_after(instance, after) : 0;
         instance && i < instance->log_count && count < room; i++) {
        ret_rows[count] = instance->logs[i]->row;
        if (!texts_copy(TEXTS(texts), &ret_rows[count++], tx->arena))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}
