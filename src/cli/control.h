/* cli/control.h - one change to each of the ids that a command names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CONTROL_H
#define CLI_CONTROL_H

#include "cli/call.h"

struct control {
    const char *path;            /* "/v1/jobs/" */
    const char *method, *suffix; /* of the route */
    const char *body;            /* NULL: none */
    const char *done;            /* what has become of it, in a word; NULL: its status */

    const struct args *args; /* from here on control_run()'s own */
    cairn_engine *engine;
    size_t count; /* JSON items printed so far */
};

int control_run(const struct args *args, struct control *control);

/* For a command's `about`. */
#define CONTROL_MANY(thing)                                                                \
    " \"-\" reads ids from standard input. After a refusal the others are still done, "    \
    "and the exit code is 1. With -o json one id gives the " thing "; several, or \"-\", " \
    "give {\"items\": [...], \"next\": null}, where a refused one is {\"id\", \"code\", "  \
    "\"message\"}."

#endif
