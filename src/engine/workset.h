/* engine/workset.h - the instances of one batch: read and locked once, changed in memory, written once.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * This is the flow_source that core decides on.  Steps are read when they are asked for and kept by
 * place; what has changed is written before any question that the database answers about several
 * steps, and at the end of the batch.  A step has one row in memory, and nothing in a batch writes
 * a step's row except through it: reports, control, timers, heartbeats and claims alike.
 */
#ifndef ENGINE_WORKSET_H
#define ENGINE_WORKSET_H

#include "core/flow.h"
#include "engine/batch.h"

struct workset_instance {
    struct flow flow; /* first: core hands it back */
    struct instance_row row;
    struct batch *batch;
    bool is_new;     /* inserted by this batch: its steps are not in the store yet */
    bool is_busy;    /* somebody else holds it */
    bool is_bare;    /* only steps of it are in hand: its own row was neither read nor locked */
    bool is_changed; /* by an earlier request of the batch: its row is to be written */
    struct request
        *owed; /* the latest control of it, whose answer is still to be read; or NULL */

    struct flow_step **slots; /* by place, a hash table */
    size_t slot_count, step_count;

    struct flow_event_row *events;
    size_t event_count, event_room;
    bool has_told; /* events of it were written already */

    struct dlq_row *parked; /* records of a new one, until it is known that it is new */
    size_t parked_count;

    struct workset_instance *next;
};

/* Reads and locks the instances that are not there yet.  ids are valid. */
cairn_code workset_load(struct batch *batch, const char **ids, size_t count,
                        cairn_error *reterr);

/* Whether anything has happened to an instance in hand. */
bool workset_has_changed(const struct batch *batch);

/* NULL: it does not exist. */
struct workset_instance *workset_find(const struct batch *batch, const char *id);

/* The same, for a request that is about to change it: what the requests before it have left is
 * settled (the answer that is owed to one of them; the steps of a new instance are written). */
cairn_code workset_take(struct batch *batch, const char *id,
                        struct workset_instance **ret_instance, cairn_error *reterr);

/* A request that has changed it will be answered with the instance as it is now. */
void workset_answer_later(struct workset_instance *instance, struct request *request);

/* Room for steps of an instance whose own row is not needed; nothing if it is there.  False: no
 * memory. */
bool workset_add_bare(struct batch *batch, const char *id);

/* A step that is in hand, whether or not its instance is; NULL: it is not. */
struct flow_step *workset_find_step(const struct batch *batch, const char *instance_id,
                                    int32_t seq);

/* A step as a claim has left it in the store; if it is dirty, it is written with the others. */
cairn_code workset_put_claimed(struct batch *batch, const struct flow_step *step,
                               cairn_error *reterr);

/* An instance that this batch starts, with its plan; not in the workset until workset_adopt(). */
struct workset_instance *workset_new(struct batch *batch, const struct instance_row *row,
                                     const struct step_row *plan, size_t count);
bool workset_adopt(struct batch *batch,
                   struct workset_instance *instance); /* false: no memory */

/* Reads and locks steps ahead, all in one question.  Places of instances that are not in the workset
 * are passed over, as are repeats. */
cairn_code workset_prefetch(struct batch *batch, const struct step_ref *refs, size_t count,
                            cairn_error *reterr);

/* Keeps a row that was read; one that is there already stays, being newer.  NULL: no memory. */
struct flow_step *workset_keep(struct workset_instance *instance, const struct step_row *row);

/* A row that was not planned; written with the others.  NULL: no memory. */
struct flow_step *workset_insert(struct workset_instance *instance, const struct step_row *row);

/* Deletes their rows. */
cairn_code workset_forget(struct workset_instance *instance, struct flow_step **steps,
                          size_t count, cairn_error *reterr);

/* Something has happened to it: a function that goes on from what it has read will notice. */
void workset_revise(struct workset_instance *instance);
void workset_revise_dirty(
    struct workset_instance *instance); /* only if this request changed its row */

/* Writes the changed steps of one instance, so that questions to the store see them. */
cairn_code workset_flush(struct workset_instance *instance, cairn_error *reterr);

/* NULL in *ret_step: no such place. */
cairn_code workset_step(struct workset_instance *instance, int32_t seq,
                        struct flow_step **ret_step, cairn_error *reterr);

/* Records that a new instance has left: parked by what runs without a worker. */
cairn_code workset_write_parked(struct workset_instance *instance, cairn_error *reterr);

/* Writes the steps that have changed, so that claims see them. */
cairn_code workset_write_steps(struct batch *batch, cairn_error *reterr);

cairn_code workset_write_instances(struct batch *batch, cairn_error *reterr);

/* Writes all that has changed: steps, instances, events. */
cairn_code workset_write(struct batch *batch, cairn_error *reterr);

/* Gives the answers that are still owed; all is written. */
cairn_code workset_answer(struct batch *batch, cairn_error *reterr);

/* An event about an instance that is not in the workset (a claim touches steps only). */
cairn_code workset_note(struct batch *batch, const char *instance_id, const char *type,
                        const char *step, const struct flow_facts *facts, cairn_error *reterr);

/* "<instance id>.<place>": split into its parts.  False: it is no step's. */
bool step_id_split(const char *task_id, char instance_id[ID_TEXT], int32_t *ret_seq);
char *step_id_make(struct arena *arena, const char *instance_id, int32_t seq);

/* batch_report.c */
/* The step that a task's id names; NULL: there is none. */
cairn_code batch_find_step(struct batch *batch, const char *task_id,
                           struct workset_instance **ret_instance, struct flow_step **ret_step,
                           cairn_error *reterr);
cairn_code batch_emit(struct batch *batch, const struct workset_instance *instance,
                      const char *step, const cairn_outbound *events, size_t count,
                      cairn_error *reterr);

extern const struct flow_source workset_source; /* workset_source.c */

#endif
