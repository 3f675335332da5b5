/* store/memory/flow_message.c - definitions, signals, outbox, dead letters, logs: their rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/flow_table.h"

#include "base/mem.h"
#include "store/memory/block.h"
#include "store/memory/table.h"

#include <assert.h>
#include <string.h>

static const size_t definition_texts[] = {offsetof(struct definition_row, name),
                                          offsetof(struct definition_row, hash),
                                          offsetof(struct definition_row, content)};
static const size_t signal_texts[] = {offsetof(struct signal_row, id),
                                      offsetof(struct signal_row, event),
                                      offsetof(struct signal_row, payload)};
static const size_t outbox_fixed[] = {offsetof(struct outbox_row, step),
                                      offsetof(struct outbox_row, event),
                                      offsetof(struct outbox_row, payload)};
static const size_t outbox_changing[] = {offsetof(struct outbox_row, claimed_by)};
static const size_t decision_texts[] = {
    offsetof(struct decision_row, step_name), offsetof(struct decision_row, decided_by),
    offsetof(struct decision_row, decision), offsetof(struct decision_row, comment)};
static const size_t log_texts[] = {
    offsetof(struct log_row, level), offsetof(struct log_row, message),
    offsetof(struct log_row, data), offsetof(struct log_row, step)};
static const size_t dlq_texts[] = {
    offsetof(struct dlq_row, workflow),  offsetof(struct dlq_row, step_name),
    offsetof(struct dlq_row, step_type), offsetof(struct dlq_row, input),
    offsetof(struct dlq_row, error),     offsetof(struct dlq_row, reason)};

/* ---- order ------------------------------------------------------------------------------- */

static int compare_definition(const struct tree_node *a, const struct tree_node *b)
{
    const struct definition_row *x = &container_of(a, struct definition, by_name)->row;
    const struct definition_row *y = &container_of(b, struct definition, by_name)->row;
    int order = strcmp(x->name, y->name);
    return order ? order : compare_int(x->version, y->version);
}

#define SIGNAL_ROW(node, member) (&container_of(node, struct signal, member)->row)

static int compare_signal_seq(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(SIGNAL_ROW(a, by_seq)->seq, SIGNAL_ROW(b, by_seq)->seq);
}

static int compare_signal_id(const struct tree_node *a, const struct tree_node *b)
{
    return strcmp(SIGNAL_ROW(a, by_id)->id, SIGNAL_ROW(b, by_id)->id);
}

static int compare_untaken(const struct tree_node *a, const struct tree_node *b)
{
    const struct signal_row *x = SIGNAL_ROW(a, in_untaken), *y = SIGNAL_ROW(b, in_untaken);
    int order = strcmp(x->event, y->event);
    return order ? order : compare_int(x->seq, y->seq);
}

static int compare_unread(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(SIGNAL_ROW(a, in_unread)->seq, SIGNAL_ROW(b, in_unread)->seq);
}

static int compare_outbox(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(container_of(a, struct outbox, in_open)->now->row.id,
                       container_of(b, struct outbox, in_open)->now->row.id);
}

static int compare_instance_outbox(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(container_of(a, struct outbox, in_instance)->now->row.id,
                       container_of(b, struct outbox, in_instance)->now->row.id);
}

static int compare_open_dlq(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(container_of(b, struct dlq, in_open)->row.id,
                       container_of(a, struct dlq, in_open)->row.id);
}

static int compare_instance_dlq(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(container_of(b, struct dlq, in_instance)->row.id,
                       container_of(a, struct dlq, in_instance)->row.id);
}

void flow_init_messages(struct flow_table *flow)
{
    flow->definitions.compare = compare_definition;
    flow->open_outbox.compare = compare_outbox;
    flow->open_dlq.compare = compare_open_dlq;
}

void instance_init_messages(struct instance *instance)
{
    instance->signals.compare = compare_signal_seq;
    instance->signal_ids.compare = compare_signal_id;
    instance->untaken.compare = compare_untaken;
    instance->unread.compare = compare_unread;
    instance->open_dlq.compare = compare_instance_dlq;
    instance->open_outbox.compare = compare_instance_outbox;
}

/* ---- freeing ----------------------------------------------------------------------------- */

static void outbox_free(struct outbox *outbox)
{
    mem_free(outbox->now);
    mem_free(outbox);
}

void instance_free_messages(struct instance *instance)
{
    struct tree_node *node;
    while ((node = tree_first(&instance->signals))) {
        tree_remove(&instance->signals, node);
        mem_free(container_of(node, struct signal, by_seq));
    }
    for (size_t i = 0; i < instance->decision_count; i++)
        mem_free(instance->decisions[i]);
    mem_free(instance->decisions);
    for (size_t i = 0; i < instance->log_count; i++)
        mem_free(instance->logs[i]);
    mem_free(instance->logs);
}

void flow_done_messages(struct flow_table *flow)
{
    struct tree_node *node;
    while ((node = tree_first(&flow->definitions))) {
        tree_remove(&flow->definitions, node);
        mem_free(container_of(node, struct definition, by_name));
    }
    for (size_t i = 0; i < flow->outbox_count; i++)
        outbox_free(flow->outbox[i]);
    for (size_t i = 0; i < flow->dlq_count; i++)
        mem_free(flow->dlq[i]);
    mem_free(flow->outbox);
    mem_free(flow->dlq);
}

/* ---- changes ----------------------------------------------------------------------------- */

bool table_put_definition(struct table *table, const struct definition_row *row)
{
    struct definition own = {.row = *row};
    struct definition *definition = table_make_undo_room(table)
                                        ? block_new(&own, sizeof own, TEXTS(definition_texts))
                                        : NULL;
    if (!definition)
        return false;
    tree_add(&table->flow.definitions, &definition->by_name);
    table_note(table, (struct undo){.kind = UNDO_DEFINITION, .definition = definition});
    return true;
}

/* A signal that is not taken is in two trees more. */
static void enter_signal(struct signal *signal)
{
    if (signal->row.taken_by >= 0)
        return;
    tree_add(&signal->instance->untaken, &signal->in_untaken);
    tree_add(&signal->instance->unread, &signal->in_unread);
}

static void leave_signal(struct signal *signal)
{
    if (signal->row.taken_by >= 0)
        return;
    tree_remove(&signal->instance->untaken, &signal->in_untaken);
    tree_remove(&signal->instance->unread, &signal->in_unread);
}

bool table_insert_signal(struct table *table, struct instance *instance,
                         const struct signal_row *row, int64_t *ret_seq)
{
    struct signal *signal =
        table_make_undo_room(table)
            ? mem_zalloc(sizeof *signal + texts_size(TEXTS(signal_texts), row))
            : NULL;
    if (!signal)
        return false;
    signal->row = *row;
    texts_put(TEXTS(signal_texts), &signal->row, signal->text);
    signal->instance = instance;
    signal->row.instance_id = instance->now->row.id;
    signal->row.seq = *ret_seq = ++table->flow.last_signal_seq;
    tree_add(&instance->signals, &signal->by_seq);
    tree_add(&instance->signal_ids, &signal->by_id);
    enter_signal(signal);
    table_note(table, (struct undo){.kind = UNDO_SIGNAL, .signal = signal});
    return true;
}

static void set_taken_by(struct signal *signal, int32_t taken_by)
{
    leave_signal(signal);
    signal->row.taken_by = taken_by;
    enter_signal(signal);
}

bool table_mark_signal(struct table *table, struct signal *signal, int32_t taken_by)
{
    if (!table_make_undo_room(table))
        return false;
    table_note(table, (struct undo){.kind = UNDO_SIGNAL_MARK,
                                    .signal = signal,
                                    .taken_by = signal->row.taken_by});
    set_taken_by(signal, taken_by);
    return true;
}

bool table_keep_signal_taken(struct table *table, struct signal *signal)
{
    if (!table_make_undo_room(table))
        return false;
    table_note(table, (struct undo){.kind = UNDO_SIGNAL_TAKEN,
                                    .signal = signal,
                                    .was_taken = signal->row.was_taken});
    signal->row.was_taken = true;
    return true;
}

/* An event that is not acknowledged is in two trees. */
static void enter_outbox(struct flow_table *flow, struct outbox *outbox)
{
    if (outbox->now->is_acknowledged)
        return;
    tree_add(&flow->open_outbox, &outbox->in_open);
    tree_add(&outbox->instance->open_outbox, &outbox->in_instance);
}

static void leave_outbox(struct flow_table *flow, struct outbox *outbox)
{
    if (outbox->now->is_acknowledged)
        return;
    tree_remove(&flow->open_outbox, &outbox->in_open);
    tree_remove(&outbox->instance->open_outbox, &outbox->in_instance);
}

static struct outbox *outbox_new(struct instance *instance, const struct outbox_row *row)
{
    struct outbox *outbox = mem_zalloc(sizeof *outbox + texts_size(TEXTS(outbox_fixed), row));
    if (!outbox)
        return NULL;
    struct outbox_version version = {.row = *row};
    texts_put(TEXTS(outbox_fixed), &version.row, outbox->text);
    version.row.instance_id = instance->now->row.id;
    outbox->instance = instance;
    outbox->now = block_new(&version, sizeof version, TEXTS(outbox_changing));
    if (outbox->now)
        return outbox;
    mem_free(outbox);
    return NULL;
}

bool table_append_outbox(struct table *table, struct instance *instance,
                         const struct outbox_row *row)
{
    struct flow_table *flow = &table->flow;
    if (!table_make_undo_room(table) ||
        !array_make_room(&flow->outbox, flow->outbox_count, &flow->outbox_room,
                         sizeof *flow->outbox))
        return false;
    struct outbox *outbox = outbox_new(instance, row);
    if (!outbox)
        return false;
    flow->outbox[flow->outbox_count++] = outbox;
    outbox->now->row.id = (int64_t)flow->outbox_count;
    enter_outbox(flow, outbox);
    table_note(table, (struct undo){.kind = UNDO_OUTBOX, .outbox = outbox});
    return true;
}

static void set_outbox(struct flow_table *flow, struct outbox *outbox,
                       struct outbox_version *version)
{
    leave_outbox(flow, outbox);
    outbox->now = version;
    enter_outbox(flow, outbox);
}

bool table_update_outbox(struct table *table, struct outbox *outbox,
                         const struct outbox_version *version)
{
    struct outbox_version *own =
        table_make_undo_room(table)
            ? block_new(version, sizeof *version, TEXTS(outbox_changing))
            : NULL;
    if (!own)
        return false;
    table_note(table, (struct undo){
                          .kind = UNDO_OUTBOX_UPDATE, .outbox = outbox, .before = outbox->now});
    set_outbox(&table->flow, outbox, own);
    return true;
}

static void open_dlq(struct flow_table *flow, struct dlq *dlq)
{
    dlq->row.is_open = true;
    tree_add(&flow->open_dlq, &dlq->in_open);
    tree_add(&dlq->instance->open_dlq, &dlq->in_instance);
}

static void shut_dlq(struct flow_table *flow, struct dlq *dlq)
{
    dlq->row.is_open = false;
    tree_remove(&flow->open_dlq, &dlq->in_open);
    tree_remove(&dlq->instance->open_dlq, &dlq->in_instance);
}

bool table_append_dlq(struct table *table, struct instance *instance, const struct dlq_row *row)
{
    struct flow_table *flow = &table->flow;
    if (!table_make_undo_room(table) ||
        !array_make_room(&flow->dlq, flow->dlq_count, &flow->dlq_room, sizeof *flow->dlq))
        return false;
    struct dlq *dlq = mem_zalloc(sizeof *dlq + texts_size(TEXTS(dlq_texts), row));
    if (!dlq)
        return false;
    dlq->row = *row;
    texts_put(TEXTS(dlq_texts), &dlq->row, dlq->text);
    dlq->instance = instance;
    dlq->row.instance_id = instance->now->row.id;
    flow->dlq[flow->dlq_count++] = dlq;
    dlq->row.id = (int64_t)flow->dlq_count;
    if (row->is_open)
        open_dlq(flow, dlq);
    table_note(table, (struct undo){.kind = UNDO_DLQ, .dlq = dlq});
    return true;
}

bool table_append_decision(struct table *table, struct instance *instance,
                           const struct decision_row *row)
{
    if (!table_make_undo_room(table) ||
        !array_make_room(&instance->decisions, instance->decision_count,
                         &instance->decision_room, sizeof *instance->decisions))
        return false;
    struct decision decision = {.row = *row};
    struct decision *own = block_new(&decision, sizeof decision, TEXTS(decision_texts));
    if (!own)
        return false;
    own->row.instance_id = instance->now->row.id;
    instance->decisions[instance->decision_count++] = own;
    table_note(table, (struct undo){.kind = UNDO_DECISION, .instance = instance});
    return true;
}

bool table_append_log(struct table *table, struct instance *instance, const struct log_row *row)
{
    if (!table_make_undo_room(table) ||
        !array_make_room(&instance->logs, instance->log_count, &instance->log_room,
                         sizeof *instance->logs))
        return false;
    struct log log = {.row = *row};
    struct log *own = block_new(&log, sizeof log, TEXTS(log_texts));
    if (!own)
        return false;
    own->row.id = ++table->flow.last_log_id;
    own->row.instance_id = instance->now->row.id;
    instance->logs[instance->log_count++] = own;
    table_note(table, (struct undo){.kind = UNDO_LOG, .instance = instance});
    return true;
}

bool table_close_dlq(struct table *table, struct dlq *dlq)
{
    assert(dlq->row.is_open);
    if (!table_make_undo_room(table))
        return false;
    table_note(table, (struct undo){.kind = UNDO_DLQ_CLOSE, .dlq = dlq});
    shut_dlq(&table->flow, dlq);
    return true;
}

/* ---- undoing ----------------------------------------------------------------------------- */

static void undo_signal(struct flow_table *flow, struct signal *signal)
{
    struct instance *instance = signal->instance;
    flow->last_signal_seq--;
    leave_signal(signal);
    tree_remove(&instance->signal_ids, &signal->by_id);
    tree_remove(&instance->signals, &signal->by_seq);
    mem_free(signal);
}

static void undo_outbox_update(struct flow_table *flow, struct outbox *outbox,
                               struct outbox_version *before)
{
    struct outbox_version *undone = outbox->now;
    set_outbox(flow, outbox, before);
    mem_free(undone);
}

void flow_undo_message(struct flow_table *flow, struct undo *undo)
{
    switch (undo->kind) {
    case UNDO_DEFINITION:
        tree_remove(&flow->definitions, &undo->definition->by_name);
        mem_free(undo->definition);
        break;
    case UNDO_SIGNAL:
        undo_signal(flow, undo->signal);
        break;
    case UNDO_SIGNAL_MARK:
        set_taken_by(undo->signal, undo->taken_by);
        break;
    case UNDO_SIGNAL_TAKEN:
        undo->signal->row.was_taken = undo->was_taken;
        break;
    case UNDO_OUTBOX:
        flow->outbox_count--;
        leave_outbox(flow, undo->outbox);
        outbox_free(undo->outbox);
        break;
    case UNDO_OUTBOX_UPDATE:
        undo_outbox_update(flow, undo->outbox, undo->before);
        break;
    case UNDO_DLQ:
        flow->dlq_count--;
        if (undo->dlq->row.is_open)
            shut_dlq(flow, undo->dlq);
        mem_free(undo->dlq);
        break;
    case UNDO_DLQ_CLOSE:
        open_dlq(flow, undo->dlq);
        break;
    case UNDO_DECISION:
        mem_free(undo->instance->decisions[--undo->instance->decision_count]);
        break;
    case UNDO_LOG:
        flow->last_log_id--;
        mem_free(undo->instance->logs[--undo->instance->log_count]);
        break;
    default:
        assert(!"an undo that nobody knows");
    }
}
