/* store/memory/flow_table.h - the rows of workflows in a memory store, and their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As in table.h: what may change of a row is a version that is only replaced, and every change
 * is noted in the table's one undo log.  A step is in those trees that its version says;
 * entering and leaving them cannot fail.  Steps of an instance are a tree, too: one that was
 * deleted leaves nothing behind, and its place costs nothing.
 */
#ifndef STORE_MEMORY_FLOW_TABLE_H
#define STORE_MEMORY_FLOW_TABLE_H

#include "core/instance.h"
#include "store/memory/event.h"
#include "store/memory/hash.h"
#include "store/memory/tree.h"
#include "store/store.h"

struct table;
struct type;
struct undo;

struct definition {
    struct definition_row row; /* first: block_new() */
    struct tree_node by_name;
};

struct instance_version {
    struct instance_row row;
};

struct instance {
    struct hash_link by_id;
    struct tree_node by_key, by_status, by_workflow, by_both, by_start;
    struct instance_version *now;
    struct tree steps, names;        /* all, by place and by name */
    struct tree current;             /* what lock_current_steps() reads, by place */
    struct tree committed;           /* highest commit number first */
    struct tree signals, signal_ids; /* all, by seq and by id */
    struct tree untaken, unread;     /* those not taken, by (event, seq) and by seq */
    struct tree open_dlq;            /* by id */
    struct tree open_outbox;         /* not acknowledged, by id */
    struct event_list events;
    struct decision **decisions; /* oldest first */
    size_t decision_count, decision_room;
    struct log **logs; /* oldest first */
    size_t log_count, log_room;
    uint64_t held_by; /* number of the outbox claim that may take no more from it */
    char text[];
};

struct step_version {
    struct step_row row;
    struct type *type; /* in whose ready_steps it is; NULL: not to be claimed */
};

struct step {
    struct tree_node by_place, by_name, in_current, in_committed;
    struct tree_node
        in_type; /* of type->ready_steps: (version, -priority, next_run_at, instance, seq) */
    struct tree_node in_due; /* of promotable or timers: (due_at, instance, seq) */
    struct tree_node in_lease;
    struct instance *instance;
    struct step_version *now;
    char text[];
};

struct signal {
    struct tree_node by_seq, by_id, in_untaken, in_unread;
    struct instance *instance;
    struct signal_row row; /* of which taken_by and was_taken may change */
    char text[];
};

struct outbox_version {
    struct outbox_row row;
    bool is_acknowledged;
};

struct outbox {
    struct tree_node in_open, in_instance;
    struct instance *instance;
    struct outbox_version *now;
    char text[];
};

struct dlq {
    struct tree_node in_open, in_instance; /* newest first */
    struct instance *instance;
    struct dlq_row row; /* of which is_open may change */
    char text[];
};

struct decision {
    struct decision_row row; /* first: block_new() */
};

struct log {
    struct log_row row; /* first: block_new() */
};

struct flow_table {
    struct tree definitions; /* by (name, version) */

    struct instance **instances; /* the one with seq n at n - 1 */
    size_t instance_count, instance_room;
    struct hash by_id;
    struct tree keys;        /* those with a key, by (key, workflow) */
    struct tree by_status;   /* by (status, -seq) */
    struct tree by_workflow; /* by (workflow, -seq) */
    struct tree by_both;     /* by (workflow, status, -seq) */
    struct tree starting;    /* pending, by (start_at, seq) */
    uint64_t status_counts[INSTANCE_STATUS_COUNT];

    struct tree promotable, timers; /* steps with due_at: those promote_steps() takes, others */
    struct tree leased;             /* running or in compensation; by (token, worker, turn) */
    struct step_counts step_counts;

    int64_t last_signal_seq, last_log_id;
    struct outbox **outbox; /* the one with id n at n - 1 */
    size_t outbox_count, outbox_room;
    struct tree open_outbox; /* not acknowledged, by id */
    uint64_t outbox_claims;
    struct dlq **dlq; /* the one with id n at n - 1 */
    size_t dlq_count, dlq_room;
    struct tree open_dlq; /* newest first */
};

bool flow_init(struct flow_table *flow); /* false: memory ran out */
void flow_undo(struct flow_table *flow, struct undo *undo);
void flow_keep(struct undo *undo); /* what was deleted goes */
void flow_done(struct flow_table *flow);

/* These answer false when memory has run out; the table is then as it was. */
bool table_insert_instance(struct table *table, const struct instance_row *row);
bool table_update_instance(struct table *table, struct instance *instance,
                           const struct instance_row *row);
bool table_insert_step(struct table *table, struct instance *instance,
                       const struct step_row *row);
bool table_update_step(struct table *table, struct step *step, const struct step_row *row);
bool table_delete_step(struct table *table, struct step *step);
bool table_put_definition(struct table *table, const struct definition_row *row);
bool table_insert_signal(struct table *table, struct instance *instance,
                         const struct signal_row *row, int64_t *ret_seq);
bool table_mark_signal(struct table *table, struct signal *signal, int32_t taken_by);
bool table_keep_signal_taken(struct table *table, struct signal *signal);
bool table_append_outbox(struct table *table, struct instance *instance,
                         const struct outbox_row *row);
bool table_update_outbox(struct table *table, struct outbox *outbox,
                         const struct outbox_version *version);
bool table_append_dlq(struct table *table, struct instance *instance,
                      const struct dlq_row *row);
bool table_append_decision(struct table *table, struct instance *instance,
                           const struct decision_row *row);
bool table_append_log(struct table *table, struct instance *instance,
                      const struct log_row *row);
bool table_close_dlq(struct table *table, struct dlq *dlq);

/* NULL: there is none. */
struct instance *flow_find_instance(const struct flow_table *flow, const char *id);
struct instance *flow_find_key(const struct flow_table *flow, const char *workflow,
                               const char *key);
struct step *instance_step(const struct instance *instance, int32_t seq);
struct step *instance_step_from(const struct instance *instance, int32_t from); /* first >= */

/* In the order of a claim without aging. */
int step_order_turn(const struct step *a, const struct step *b);
int step_compare_turn(const struct tree_node *a, const struct tree_node *b); /* by in_type */

/* ---- parts that flow_table.c and flow_message.c share ------------------------------------ */

void instance_init_messages(struct instance *instance); /* the orders of its trees */
void instance_free_messages(struct instance *instance);
void flow_init_messages(struct flow_table *flow);
void flow_done_messages(struct flow_table *flow);
void flow_undo_message(struct flow_table *flow, struct undo *undo);

#endif
