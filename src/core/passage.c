/* core/passage.c - the words of a commit, and which of them go together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/passage.h"

#include <string.h>

/* Which states a kind of step can be remembered in. */
static bool may_be(enum step_kind kind, enum step_status status)
{
    switch (kind) {
    case KIND_TASK:
        return status == STEP_COMPLETED || status == STEP_FAILED || status == STEP_READY;
    case KIND_SLEEP:
    case KIND_WAIT:
        return status == STEP_COMPLETED || status == STEP_WAITING;
    case KIND_VALUE:
        return status == STEP_COMPLETED;
    case KIND_START:
        return status == STEP_COMPLETED || status == STEP_FAILED;
    default:
        return false;
    }
}

const char *memo_flaw(const struct memo *memo)
{
    bool is_wait = memo->kind == KIND_WAIT;
    if (memo->seq < 1)
        return "a remembered step has a place from 1";
    if (memo->status == STEP_NONE)
        return NULL;
    if (!may_be(memo->kind, memo->status))
        return "this kind of step cannot be remembered in this status";
    if (is_wait && !memo->event)
        return "a wait names its event";
    if (is_wait && memo->status == STEP_COMPLETED && !memo->signal_id)
        return "a completed wait names the signal that it took";
    if (memo->has_compensation && memo->kind != KIND_TASK)
        return "only a task can have a compensation";
    return NULL;
}

/* More commits than this in one edition only begin the next one. */
enum { EDITION_BITS = 20 };

static bool is_first_of_edition(int64_t revision)
{
    return (revision & ((INT64_C(1) << EDITION_BITS) - 1)) == 0;
}

/* A commit that changes several steps begins one edition.  The first revision is never a memory's: the
 * commit goes on to the next one. */
int64_t revision_of_next_edition(int64_t revision)
{
    return is_first_of_edition(revision) ? revision
                                         : ((revision >> EDITION_BITS) + 1) << EDITION_BITS;
}

bool revision_is_of_edition(int64_t known, int64_t revision)
{
    return !is_first_of_edition(known) && known <= revision &&
           known >> EDITION_BITS == revision >> EDITION_BITS;
}
