/* engine/workset.h - the rows of one batch: read and locked once, changed in memory, written once.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *      requests          workset                         store
 *      --------          -------                         -----
 *      name rows  ---->  load        <---- lock ------   jobs, instances, steps
 *      change them --->  take, step  <---- lock ------   more steps, as core asks for them
 *                        write       ----- update --->   what has changed, each row once
 *
 * A row has one copy in memory, and nothing in a batch changes a row except through it: reports,
 * control, timers, heartbeats and claims alike.  What has changed is written before any question
 * that the database answers about several rows, and at the end of the batch.  Before claims only steps are
 * written that the store still has as ready: those that have become so are given to claims from memory.
 *
 * For instances the workset is the flow_source that core decides on.  Steps are read when they are
 * asked for and kept by place.
 */
#ifndef ENGINE_WORKSET_H
#define ENGINE_WORKSET_H

#include "core/flow.h"
#include "engine/batch.h"

struct workset_job {
    struct job_row row; /* without payload and result */
    bool is_busy;       /* another transaction holds it; only its id is known */
    bool is_dirty;
    bool is_completed;         /* by complete_jobs(): its report is yet to be answered */
    struct request *answer_to; /* the latest control of it, which is yet to be answered */
};

struct workset_instance {
    struct flow flow; /* first: core hands it back */
    struct instance_row row;
    struct batch *batch;
    bool is_new;      /* inserted by this batch: its steps are not in the store yet */
    bool is_adopted;  /* in the workset; a new one is not before its key is known to be free */
    bool is_busy;     /* another transaction holds it */
    bool was_telling; /* when it was read */
    bool has_started; /* the children that its steps wanted */
    const struct kept_run *known; /* not locked, and to be as it was kept; NULL: it is locked */
    bool is_bare;    /* only steps of it are in hand: its own row was neither read nor locked */
    bool is_changed; /* by an earlier request of the batch: its row is to be written */
    bool is_written; /* and was */
    bool
        is_told; /* its chain has grown: its row is to be written, though it need not have changed */
    bool
        is_early; /* its steps are to be written before lanes are looked at, or leases counted */
    struct request *answer_to; /* the latest control of it, which is yet to be answered */
    uint64_t told_turn;        /* batch_event.c: of the events that are looked at */
    const char *told_status;   /* the one that it came to rest in then; NULL: none was told */

    struct flow_step **slots; /* by place, a hash table */
    size_t slot_count, step_count;

    /* Of its steps that were asked for. */
    LIST(struct step_children *) children;
    LIST(struct elements_row) elements; /* that are not written yet */

    /* Of one that is not adopted: its events and DLQ records so far. */
    struct event_list events;
    LIST(struct dlq_row) parked;
};

/* ---- jobs (workset.c) ----------------------------------------------------------------------- */

/* Completes jobs that no other request of the batch names, as far as complete_jobs() can, and adds those.
 * The rows are as job_complete() makes them, sorted by id. */
cairn_code workset_complete_jobs(struct batch *batch, struct job_row *rows, size_t count);

/* Reads and locks the jobs that are not there yet.  ids are valid. */
cairn_code workset_load_jobs(struct batch *batch, const char *const *ids, size_t count);
/* Adds a row that this transaction has locked. */
cairn_code workset_add_job(struct batch *batch, const struct job_row *row,
                           struct workset_job **ret_job);
struct workset_job *workset_find_job(const struct batch *batch, const char *id); /* or NULL */

/* The same, for a request that is about to change it: an earlier request that is yet to be answered
 * with this row is answered first.  NULL in *ret_job: it does not exist. */
cairn_code workset_take_job(struct batch *batch, const char *id, struct workset_job **ret_job);

/* Writes the jobs that have changed, then answers the controls of jobs. */
cairn_code workset_write_jobs(struct batch *batch);

/* ---- instances (workset.c) ------------------------------------------------------------------ */

/* Reads and locks the instances that are not there yet.  ids are valid. */
cairn_code workset_load(struct batch *batch, const char *const *ids, size_t count);
/* The same, and what else `lock` names by the same round trip, which is not there, either; NULL: nothing. */
cairn_code workset_load_with(struct batch *batch, const char *const *ids, size_t count,
                             struct flow_lock *lock);
/* Of none of them is anything in the workset.  Sorts the places. */
cairn_code workset_load_flow(struct batch *batch, const char *const *ids, size_t count,
                             struct flow_lock *lock, struct step_ref *refs);
cairn_code workset_keep_flow(struct batch *batch,
                             const struct flow_lock *lock); /* then its steps */
/* Adds an instance that this transaction has locked. */
cairn_code workset_add(struct batch *batch, const struct instance_row *row);
struct workset_instance *workset_find(const struct batch *batch, const char *id); /* or NULL */

/* As workset_take_job(); the steps of a new instance are written, too. */
cairn_code workset_take(struct batch *batch, const char *id,
                        struct workset_instance **ret_instance);

/* Room for steps of an instance whose own row is not needed; nothing if it is there.  False: memory
 * ran out. */
bool workset_add_bare(struct batch *batch, const char *id);

/* An instance that this batch starts, with its plan; not in the workset until workset_adopt(). */
struct workset_instance *workset_new(struct batch *batch, const struct instance_row *row,
                                     const struct step_row *plan, size_t count);
cairn_code workset_adopt(struct batch *batch, struct workset_instance *instance);

/* The DLQ records that a new instance has made. */
cairn_code workset_write_parked(struct workset_instance *instance);

/* Something has happened to it: a function that goes on from what it has read will notice. */
void workset_revise(struct workset_instance *instance);
/* Only if this request has changed its row. */
void workset_revise_dirty(struct workset_instance *instance);

/* ---- steps (workset_step.c) ----------------------------------------------------------------- */

/* NULL in *ret_step: no such place. */
cairn_code workset_step(struct workset_instance *instance, int32_t seq,
                        struct flow_step **ret_step);

/* A step that is in hand, whether or not its instance is; NULL: it is not. */
struct flow_step *workset_find_step(const struct batch *batch, const char *instance_id,
                                    int32_t seq);

/* Reads and locks steps ahead, all in one question.  Places of instances that are not in the
 * workset are passed over, as are repeats. */
cairn_code workset_prefetch(struct batch *batch, const struct step_ref *refs, size_t count);

/* Keeps a row that was read; one that is there already stays, being newer.  NULL: memory ran out. */
struct flow_step *workset_keep(struct workset_instance *instance, const struct step_row *row);

/* Fills batch->in_hand: the steps that can be claimed and are not in the store as such. */
cairn_code workset_list_in_hand(struct batch *batch);

/* A step as a claim has left it in the store; if it is dirty, it is written with the others. */
cairn_code workset_put_claimed(struct batch *batch, const struct flow_step *step);

/* ---- writing -------------------------------------------------------------------------------- */

/* workset_step.c: the changed steps of one instance (NULL: of all): those that are to be inserted, to be
 * updated, or of the latter only those that the store has as ready; the last two: of instances that are early. */
enum steps_part { STEPS_NEW, STEPS_OLD, STEPS_OFFERED, STEPS_EARLY_NEW, STEPS_EARLY_OLD };
cairn_code workset_write_changed(struct batch *batch, struct workset_instance *only,
                                 enum steps_part part);

/* The changed steps of instances that are early, which then are no longer in hand. */
cairn_code workset_write_early(struct batch *batch);

/* Leases of these types count from now on. */
void workset_count_leases(struct batch *batch, const char *types);

/* The changed steps of one instance, so that questions to the store see them. */
cairn_code workset_flush(struct workset_instance *instance);

/* The changed steps and instances. */
cairn_code workset_write_rows(struct batch *batch);

/* The changed steps and instances, and the events so far: at the end of a batch, or in the middle of it. */
cairn_code workset_write(struct batch *batch);
cairn_code workset_write_now(struct batch *batch);

/* Answers the controls of instances; all is written. */
cairn_code workset_answer(struct batch *batch);

/* map.c, parts of it too. */
cairn_code map_elements(struct flow *flow, const struct flow_step *step,
                        const struct children_row *row, const char *list, int32_t *ret_count,
                        const char **ret_flaw);
cairn_code map_collect(struct flow *flow, const struct children_row *row,
                       const char **ret_output);
/* Elements of a map from this one on, as far as they are in one portion; at most `wanted`. */
cairn_code map_read(struct batch *batch, const struct children_row *row, int32_t first,
                    const char **ret_items, int32_t wanted, int32_t *ret_count);

extern const struct flow_source workset_source; /* workset_source.c */

/* join.c, part of it: {"status", "strategy", "completed": [...], "failed": [...], "outputs": {step:
 * output}}: the last element of each branch that has arrived or failed, in order of commits. */
cairn_code join_output(struct flow *flow, const struct flow_step *join, bool is_won,
                       const char **ret_output);

#endif
