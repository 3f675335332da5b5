/* core/existing.h - what becomes of a start or an enqueue whose key is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_EXISTING_H
#define CORE_EXISTING_H

#include "core/rows.h"

/* The job or instance that has the key, as far as it matters. */
struct key_holder {
    bool is_there;   /* some job or instance has the key, or had it until it was purged */
    bool is_purged;  /* of which only the key is left */
    bool is_pending; /* a job that no worker has */
    bool is_failed;
    bool is_ended;
};

struct key_holder key_holder_of_job(const struct job_row *row);
struct key_holder key_holder_of_instance(const struct instance_row *row);

enum existing_act {
    EXISTING_ACT_START,  /* the key is free */
    EXISTING_ACT_ANSWER, /* with the holder, as it is */
    EXISTING_ACT_REFUSE,
    EXISTING_ACT_RESTART,  /* the holder goes on, and is the answer */
    EXISTING_ACT_REPLACE,  /* a new one gets the key */
    EXISTING_ACT_DEBOUNCE, /* the holder waits longer, with the new payload, and is the answer */
};

enum existing_act existing_decide(enum on_existing on_existing, bool is_debounced,
                                  const struct key_holder *holder);

#endif
