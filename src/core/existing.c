/* core/existing.c - what becomes of a start or an enqueue whose key is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/existing.h"

#include "core/instance.h"
#include "core/job.h"

/* A deleted job has ended, and not by failing. */
struct key_holder key_holder_of_job(const struct job_row *row)
{
    bool is_deleted = row->deleted_at_us != 0;
    return (struct key_holder){.is_there = true,
                               .is_pending = row->status == JOB_PENDING && !is_deleted,
                               .is_failed = row->status == JOB_FAILED && !is_deleted,
                               .is_ended = job_is_final(row->status)};
}

struct key_holder key_holder_of_instance(const struct instance_row *row)
{
    return (struct key_holder){.is_there = true,
                               .is_failed = row->status == INSTANCE_FAILED,
                               .is_ended = instance_is_final(row->status)};
}

enum existing_act existing_decide(enum on_existing on_existing, bool is_debounced,
                                  const struct key_holder *holder)
{
    if (!holder->is_there)
        return EXISTING_ACT_START;
    if (is_debounced && holder->is_pending)
        return EXISTING_ACT_DEBOUNCE;
    switch (on_existing) {
    case EXISTING_FAIL:
        return EXISTING_ACT_REFUSE;
    case EXISTING_RESTART_FAILED:
        return holder->is_purged   ? EXISTING_ACT_REPLACE
               : holder->is_failed ? EXISTING_ACT_RESTART
                                   : EXISTING_ACT_ANSWER;
    case EXISTING_NEW_IF_ENDED:
        return holder->is_purged || holder->is_ended ? EXISTING_ACT_REPLACE
                                                     : EXISTING_ACT_ANSWER;
    default:
        return EXISTING_ACT_ANSWER;
    }
}
