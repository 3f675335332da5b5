/* store/memory/table.h - the rows of a memory store, their order, and how a change is undone.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What may change of a row is a version: one block that is never changed, only replaced.  A
 * transaction notes each replaced version in the undo log; a commit frees those, a rollback
 * puts them back.  Room in the log is made before a change, so a change that has begun succeeds
 * and a rollback never fails.
 */
#ifndef STORE_MEMORY_TABLE_H
#define STORE_MEMORY_TABLE_H

#include "core/job.h"
#include "store/memory/event.h"
#include "store/memory/flow_table.h"
#include "store/memory/hash.h"
#include "store/memory/tree.h"
#include "store/store.h"

struct job_version {
    struct job_row row; /* whole; id, type, payload and key point into the job */
};

struct registry_version {
    struct registry_row row;
};

/* A type that some job has, or the registry names. */
struct type {
    struct tree_node by_name;
    struct tree ready;                 /* jobs to be claimed, by (priority, seq) */
    struct tree ready_steps;           /* steps to be claimed; see flow_table.h */
    size_t unfinished;                 /* jobs that wait, are ready or are leased */
    struct registry_version *registry; /* NULL: not registered */
    uint64_t chosen_by;                /* number of the claim that chose it last */
    char name[];
};

struct job {
    struct hash_link by_id, by_key;
    struct tree_node in_type; /* of type->ready */
    struct tree_node in_time; /* of the one tree of the table that its status names */
    struct type *type;
    struct job_version *now;
    struct event_list events;
    char text[];
};

enum undo_kind {
    UNDO_INSERT,
    UNDO_UPDATE,
    UNDO_EVENT,
    UNDO_REGISTRY,
    UNDO_DEFINITION, /* from here on: flow_table.c */
    UNDO_INSTANCE,
    UNDO_INSTANCE_UPDATE,
    UNDO_STEP,
    UNDO_STEP_UPDATE,
    UNDO_STEP_DELETE, /* the step is out of all trees, and goes with the commit */
    UNDO_SIGNAL,
    UNDO_SIGNAL_MARK,
    UNDO_SIGNAL_TAKEN,
    UNDO_OUTBOX,
    UNDO_OUTBOX_UPDATE,
    UNDO_DLQ,
    UNDO_DLQ_CLOSE,
    UNDO_DECISION, /* of the instance: the latest */
    UNDO_LOG       /* likewise */
};

struct undo {
    enum undo_kind kind;
    union { /* what was added or changed; kind says which */
        struct job *job;
        struct type *type;
        struct event_list *list;
        struct definition *definition;
        struct instance *instance;
        struct step *step;
        struct signal *signal;
        struct outbox *outbox;
        struct dlq *dlq;
    };
    void *before;     /* the replaced version; NULL: there was none */
    int32_t taken_by; /* UNDO_SIGNAL_MARK: what it was */
    bool was_taken;   /* UNDO_SIGNAL_TAKEN: what it was */
};

struct table {
    struct job **jobs; /* the one with seq n at n - 1 */
    size_t job_count, job_room;
    struct hash by_id, by_key;
    struct tree types;   /* by name */
    struct tree waiting; /* pending, not ready; by (run_at, seq) */
    struct tree ready;   /* to be claimed; by (run_at, seq) */
    struct tree leased;  /* by (lease_until, seq) */
    uint64_t claim_count;
    struct event_list events; /* all; the one with id n at n - 1 */
    struct flow_table flow;
    struct undo *undos;
    size_t undo_count, undo_room;
};

/* These answer false, or NULL, when memory has run out; the table is then as it was. */
bool table_init(struct table *table);
bool table_insert_job(struct table *table, const struct job_row *row);
bool table_update_job(struct table *table, struct job *job, const struct job_row *row);
bool table_append_event(struct table *table, struct event_list *list,
                        const struct event *event);
bool table_put_registry(struct table *table, const struct registry_row *row);

/* Makes room for one more element of an array; `array` points to a pointer to any type. */
bool array_make_room(void *array, size_t count, size_t *room, size_t size);

/* Room for one more undo is made first; noting it then cannot fail. */
bool table_make_undo_room(struct table *table);
void table_note(struct table *table, struct undo undo);

/* Finds or makes.  A type that a rolled back transaction made stays, and means nothing. */
struct type *table_intern_type(struct table *table, const char *name);

void table_keep(struct table *table); /* commits */
void table_undo(struct table *table); /* rolls back */
void table_done(struct table *table);

/* NULL: there is none. */
struct job *table_find_job(const struct table *table, const char *id);
struct job *table_find_key(const struct table *table, const char *key);
struct type *table_find_type(const struct table *table, const char *name);
struct type *table_seek_type(const struct table *table, const char *from); /* first >= from */
struct type *type_next(const struct type *type);
struct job *type_head(const struct type *type);   /* the ready job to be claimed first */
struct job *timed_first(const struct tree *tree); /* of waiting, ready or leased */
struct job *timed_next(const struct job *job);

/* In the order of claims: (priority, seq). */
int job_compare_turn(const struct job *a, const struct job *b);

#endif
