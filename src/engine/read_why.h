/* engine/read_why.h - why something has not ended: facts from the store, sentences from core/why.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_READ_WHY_H
#define ENGINE_READ_WHY_H

#include "core/why.h"
#include "engine/read.h"

/* The steps of an instance that are current, leased or held, by place; at most 1000. */
struct open_steps {
    struct step_row *items;
    size_t count, room;
};

cairn_code question_open_steps(struct question *q, const char *id,
                               struct open_steps *ret_steps);

/* Reads the same of many instances ahead, with one question for all of them. */
cairn_code question_read_open(struct question *q, const char *const *ids, size_t count);

/* All sentences, the most urgent first.  `open` is empty for an instance that has ended.  is_list: for
 * a row of a list, so no more is read than its steps need. */
cairn_code why_of_instance(struct question *q, const struct instance_row *row,
                           const struct open_steps *open, bool is_list,
                           struct why_list *ret_list);

/* An instance as callers see it, with its open steps; read_list.c. */
cairn_code show_instance_at(struct question *q, const struct instance_row *row,
                            const struct open_steps *open, cairn_instance *item);

/* What the registry says of a type, and who could take it. */
cairn_code question_type(struct question *q, const char *type, int32_t version,
                         struct why_type *ret_type);

/* Whether it is of a compensation. */
bool is_undo_record(const struct dlq_row *record);

/* What is known of one step. */
cairn_code why_facts_of_step(struct question *q, const struct step_row *row,
                             struct why_step *ret_step);

cairn_code why_of_job(struct question *q, const struct job_row *row, const cairn_why **ret_why);

#endif
